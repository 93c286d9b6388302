//! Histories of S2, a service for streams of records: the lines that `collect-history` of its verification writes.
//!
//! Each line is a JSON object with an event, `client_id` and `op_id`. The event is the start of an operation or its
//! finish, and the line of an event is its time.
//!
//! | started | operation |
//! |---|---|
//! | `Append` | `append(num_records, record_hashes, set_fencing_token, fencing_token, match_seq_num) = tail` |
//! | `Read` | `read() = tail, stream_hash` |
//! | `CheckTail` | `check-tail() = tail` |
//!
//! After `AppendDefiniteFailure`, `ReadFailure` and `CheckTailFailure`, an operation failed: it had no effect. After
//! `AppendIndefiniteFailure`, and without a finish, its outcome is unknown. A client that continues after such an
//! operation does so as a new process whose name has one more prime. `op_id` is a note.

use std::collections::HashMap;

use super::clients::Clients;
use super::json::Json;
use super::node::Node;
use super::schemas::{Fields, Schemas};
use super::{FormatError, detect, jsonl};
use crate::{Call, End, Halt, ProcessId, Record, Trace, Value};

/// Reads a history. A last line that breaks off is a cut.
pub fn read(bytes: &[u8]) -> Result<Trace, FormatError> {
    read_until(bytes, &Halt::default())
}

/// Reads a trace, stopping when `halt` is raised.
pub fn read_until(bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
    let mut log = Log::default();
    let cut = jsonl::visit_lines(bytes, halt, |json, line| log.add(&json, line))?;
    log.trace.cuts.extend(cut);
    Ok(log.trace)
}

/// True if a history may begin with this line, which may break off.
pub(super) fn detect(first_line: &str) -> bool {
    let Some(("event", event)) = detect::first_key(first_line) else { return false };
    matches!(detect::first_key(event), Some(("Start" | "Finish", _)))
}

#[derive(Default)]
struct Log {
    trace: Trace,
    schemas: Schemas,
    clients: Clients,
    operations: HashMap<u64, Operation>,
}

/// An operation that was started.
struct Operation {
    client: u64,
    process: ProcessId,
    kind: Kind,
    /// The index of its record.
    place: usize,
    is_over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Append,
    Read,
    CheckTail,
}

enum Finish {
    Success(Fields),
    /// It had no effect.
    Failure,
    Unknown,
}

impl Kind {
    fn action(self) -> &'static str {
        match self {
            Kind::Append => "append",
            Kind::Read => "read",
            Kind::CheckTail => "check-tail",
        }
    }
}

impl Log {
    fn add(&mut self, json: &Json, line: usize) -> Result<(), FormatError> {
        let node = Node::document(json, line);
        node.only(&["event", "client_id", "op_id"])?;
        let (client, id) = (node.required("client_id")?.unsigned()?, node.required("op_id")?.unsigned()?);
        let event = node.required("event")?;
        event.only(&["Start", "Finish"])?;
        match (event.field("Start"), event.field("Finish")) {
            (Some(start), None) => self.start(&start, client, id),
            (None, Some(finish)) => self.finish(&finish, client, id),
            _ => Err(event.error("expected either `Start` or `Finish`")),
        }
    }

    fn start(&mut self, node: &Node<'_>, client: u64, id: u64) -> Result<(), FormatError> {
        let (kind, args) = read_start(node)?;
        if self.operations.contains_key(&id) {
            return Err(node.error(format!("operation {id} starts twice")));
        }
        let mut call = self.schemas.call(kind.action(), args, Fields::new());
        call.meta = [("op_id".into(), integer(id))].into();
        let process = self.clients.call(&mut self.trace, client);
        let place = self.trace.records.len();
        self.operations.insert(id, Operation { client, process, kind, place, is_over: false });
        let end = End::Unknown { latest: None };
        self.trace.records.push(Record { process, start: node.line as u64, end, call });
        Ok(())
    }

    fn finish(&mut self, node: &Node<'_>, client: u64, id: u64) -> Result<(), FormatError> {
        let (kind, finish) = read_finish(node)?;
        let Some(operation) = self.operations.get_mut(&id) else {
            return Err(node.error(format!("operation {id} finishes without a start")));
        };
        let started = operation.kind.action();
        if operation.client != client {
            let message = format!("operation {id} of client {} finishes as one of client {client}", operation.client);
            return Err(node.error(message));
        }
        if operation.is_over {
            return Err(node.error(format!("operation {id} finishes twice")));
        }
        if operation.kind != kind {
            return Err(node.error(format!("operation {id} is `{started}`, but finishes as `{}`", kind.action())));
        }
        operation.is_over = true;
        let record = &mut self.trace.records[operation.place];
        match finish {
            Finish::Unknown => return Ok(()),
            Finish::Failure => record.call.failed = true,
            Finish::Success(results) => {
                let call: &Call = &record.call;
                let args = call.schema().args.iter().cloned().zip(call.args().iter().cloned()).collect();
                let finished = self.schemas.call(started, args, results);
                let started = std::mem::replace(&mut record.call, finished);
                record.call.meta = started.meta;
            }
        }
        record.end = End::At(node.line as u64);
        self.clients.finish(client, operation.process);
        Ok(())
    }
}

fn read_start(node: &Node<'_>) -> Result<(Kind, Fields), FormatError> {
    match node.json {
        Json::Text(name) if name == "Read" => Ok((Kind::Read, Fields::new())),
        Json::Text(name) if name == "CheckTail" => Ok((Kind::CheckTail, Fields::new())),
        Json::Text(name) => Err(node.error(format!("unsupported operation `{}`", name.escape_debug()))),
        _ => {
            let (name, append) = only_field(node)?;
            if name != "Append" {
                return Err(node.error(format!("unsupported operation `{}`", name.escape_debug())));
            }
            const KEYS: [&str; 5] =
                ["num_records", "record_hashes", "set_fencing_token", "fencing_token", "match_seq_num"];
            append.only(&KEYS)?;
            let count = append.required("num_records")?.unsigned()?;
            let list = append.required("record_hashes")?;
            let hashes = list.elements()?.map(|hash| hash.unsigned().map(integer)).collect::<Result<Vec<_>, _>>()?;
            if hashes.len() as u64 != count {
                return Err(list.error(format!("number of hashes: expected {count}, found {}", hashes.len())));
            }
            let token = |key| append.field(key).map_or(Ok(Value::Nil), |token| token.text().map(Value::str));
            let position = append.field("match_seq_num").map_or(Ok(Value::Nil), |at| at.unsigned().map(integer))?;
            let values = [integer(count), Value::tuple(hashes), token(KEYS[2])?, token(KEYS[3])?, position];
            Ok((Kind::Append, KEYS.into_iter().map(Into::into).zip(values).collect()))
        }
    }
}

fn read_finish(node: &Node<'_>) -> Result<(Kind, Finish), FormatError> {
    if let Json::Text(name) = node.json {
        return match name.as_str() {
            "AppendDefiniteFailure" => Ok((Kind::Append, Finish::Failure)),
            "AppendIndefiniteFailure" => Ok((Kind::Append, Finish::Unknown)),
            "ReadFailure" => Ok((Kind::Read, Finish::Failure)),
            "CheckTailFailure" => Ok((Kind::CheckTail, Finish::Failure)),
            _ => Err(node.error(format!("unsupported result `{}`", name.escape_debug()))),
        };
    }
    let (name, success) = only_field(node)?;
    let (kind, keys): (Kind, &[&str]) = match name {
        "AppendSuccess" => (Kind::Append, &["tail"]),
        "ReadSuccess" => (Kind::Read, &["tail", "stream_hash"]),
        "CheckTailSuccess" => (Kind::CheckTail, &["tail"]),
        _ => return Err(node.error(format!("unsupported result `{}`", name.escape_debug()))),
    };
    success.only(keys)?;
    let results = keys.iter().map(|key| Ok(((*key).into(), integer(success.required(key)?.unsigned()?))));
    Ok((kind, Finish::Success(results.collect::<Result<_, FormatError>>()?)))
}

/// The field of an object that has one.
fn only_field<'a>(node: &'a Node<'a>) -> Result<(&'a str, Node<'a>), FormatError> {
    let mut fields = node.fields()?;
    match (fields.next(), fields.next()) {
        (Some(field), None) => Ok(field),
        _ => Err(node.error("expected an object with one key")),
    }
}

fn integer(integer: u64) -> Value {
    Value::integer(&integer.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::History;
    use crate::format::damaged;

    /// The operations for display, or the error.
    fn check(text: &str) -> String {
        let trace = match read(text.as_bytes()) {
            Ok(trace) => trace,
            Err(error) => return error.to_string(),
        };
        let show = |record: &Record| {
            let process = &trace.processes[record.process.index()];
            let id: Vec<String> = record.call.meta.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            let call = record.call.to_string().replace(", set_fencing", ",\n  set_fencing");
            format!("{process} [{} {}] {call} | {}", record.start, record.end, id.join(", "))
        };
        let shown: Vec<String> =
            trace.records.iter().map(show).chain(trace.cuts.iter().map(ToString::to_string)).collect();
        assert!(History::new(trace).is_ok());
        shown.join("\n")
    }

    /// A line of client 1, operation 7.
    fn line(event: &str) -> String {
        format!(r#"{{"event":{{{event}}},"client_id":1,"op_id":7}}"#)
    }

    const APPEND: &str = r#""Start":{"Append":{"num_records":2,"record_hashes":[5,18446744073709551615],"#;

    fn sample() -> String {
        [
            &line(&format!(r#"{APPEND}"set_fencing_token":null,"fencing_token":"t1","match_seq_num":4}}}}"#)),
            r#"{"event":{"Start":"Read"},"client_id":2,"op_id":8}"#,
            &line(r#""Finish":{"AppendSuccess":{"tail":6}}"#),
            r#"{"event":{"Finish":{"ReadSuccess":{"tail":6,"stream_hash":9}}},"client_id":2,"op_id":8}"#,
            r#"{"event":{"Start":"CheckTail"},"client_id":2,"op_id":9}"#,
            r#"{"event":{"Finish":"CheckTailFailure"},"client_id":2,"op_id":9}"#,
            r#"{"event":{"Start":{"Append":{"num_records":0,"record_hashes":[]}}},"client_id":2,"op_id":10}"#,
            r#"{"event":{"Start":"CheckTail"},"client_id":2,"op_id":11}"#,
            r#"{"event":{"Finish":{"CheckTailSuccess":{"tail":6}}},"client_id":2,"op_id":11}"#,
            r#"{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":2,"op_id":10}"#,
            r#"{"event":{"Start":"Read"},"client_id":3,"op_id":12}"#,
        ]
        .join("\n")
    }

    #[test]
    fn starts_and_finishes_are_operations() {
        insta::assert_snapshot!(check(&sample()), @r#"
        1 [1 3] append(num_records: 2, record_hashes: <<5, 18446744073709551615>>,
          set_fencing_token: nil, fencing_token: "t1", match_seq_num: 4) = tail: 6 | op_id: 7
        2 [2 4] read() = tail: 6, stream_hash: 9 | op_id: 8
        2 [5 6] check-tail() failed | op_id: 9
        2 [7 ...] append(num_records: 0, record_hashes: <<>>,
          set_fencing_token: nil, fencing_token: nil, match_seq_num: nil) | op_id: 10
        2' [8 9] check-tail() = tail: 6 | op_id: 11
        3 [11 ...] read() | op_id: 12
        "#);
    }

    #[test]
    fn a_last_line_that_breaks_off_is_a_cut() {
        insta::assert_snapshot!(check(&format!("{}\n{}", line(r#""Start":"Read""#), r#"{"event":{"Fin"#)), @r"
        1 [1 ...] read() | op_id: 7
        breaks off after 51 bytes: the last line is incomplete
        ");
    }

    #[test]
    fn errors_name_the_line() {
        let start = line(r#""Start":"Read""#);
        let after = |event: &str| format!("{start}\n{}", line(event));
        let read = r#""Finish":{"ReadSuccess":{"tail":1,"stream_hash":2}}"#;
        let inputs = [
            line(r#""Start":"Trim""#),
            line(r#""Start":{"Trim":{}}"#),
            line(r#""Start":{}"#),
            line(r#""Start":5"#),
            line(r#""Start":{"Append":{"num_records":2,"record_hashes":[1]}}"#),
            line(r#""Start":{"Append":{"num_records":0,"record_hashes":[],"sync":true}}"#),
            line(r#""Start":"Read","Finish":"ReadFailure""#),
            line(read),
            after(r#""Start":"Read""#),
            after(r#""Finish":"CheckTailFailure""#),
            after(r#""Finish":{"ReadSuccess":{"tail":1}}"#),
            after(r#""Finish":{"Success":{"tail":1}}"#),
            after(r#""Finish":"Lost""#),
            after(read).replace("1,\"op_id\":7}\n", "2,\"op_id\":7}\n"),
            format!("{}\n{}", after(read), line(read)),
            line(read).replace('7', "-7"),
            "{]\n".into(),
        ];
        insta::assert_snapshot!(inputs.map(|input| check(&input)).join("\n"), @r"
        line 1: event.Start: unsupported operation `Trim`
        line 1: event.Start: unsupported operation `Trim`
        line 1: event.Start: expected an object with one key
        line 1: event.Start: expected an object, found an integer
        line 1: event.Start.Append.record_hashes: number of hashes: expected 2, found 1
        line 1: event.Start.Append: unknown key `sync`
        line 1: event: expected either `Start` or `Finish`
        line 1: event.Finish: operation 7 finishes without a start
        line 2: event.Start: operation 7 starts twice
        line 2: event.Finish: operation 7 is `read`, but finishes as `check-tail`
        line 2: event.Finish.ReadSuccess: `stream_hash` is missing
        line 2: event.Finish: unsupported result `Success`
        line 2: event.Finish: unsupported result `Lost`
        line 2: event.Finish: operation 7 of client 2 finishes as one of client 1
        line 3: event.Finish: operation 7 finishes twice
        line 1: op_id: -7 is not an integer of 64 bits
        line 1: column 2: expected a key in quotes, found `]`
        ");
    }

    proptest! {
        #[test]
        fn damaged_histories_never_panic(
            at in any::<prop::sample::Index>(),
            with in "[\\[\\]{}\":0-9a-zA-Z,\n-]{0,3}",
            length in 0usize..9,
        ) {
            let _ = read(damaged(&sample(), &at, &with, length).as_bytes()).map(History::new);
        }
    }
}
