//! The logs that Porcupine, a linearizability checker, is tested with: one event per line, in two layouts.
//!
//! In both, the index of an event in the file is its time, and a completion belongs to the last invocation of its
//! process. An operation without a completion is unfinished. If its process continues all the same, its next
//! operations belong to a new process whose name has one more prime: after `3` comes `3'`, then `3''`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::format::edn::{Form, Reader};
use crate::format::error::{FormatError, Location};
use crate::format::reader::{TraceReader, first_line, utf8};
use crate::{Call, End, Halt, ProcessId, Record, Schema, Trace, Value};

/// Reads a log of a key-value store: `put(key, value)`, `append(key, value)` and `get(key) = value`.
///
/// Each line is a map such as `{:process 0, :type :invoke, :f :get, :key "7", :value nil}`; the type is `:invoke` or
/// `:ok`. Every line must be an event.
pub fn read_kv(input: &str) -> Result<Trace, FormatError> {
    KeyValue.read(input.as_bytes(), &Halt::default())
}

/// The reader of [`read_kv`].
pub(super) struct KeyValue;

impl TraceReader for KeyValue {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        let line = first_line(first_bytes);
        line.starts_with("{:process") && line.contains(":key ")
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        let actions = [
            schema("put", &["key", "value"], &[]),
            schema("append", &["key", "value"], &[]),
            schema("get", &["key"], &["value"]),
        ];
        let mut log = Log::new(actions);
        for (index, line) in utf8(bytes)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if halt.is_raised() {
                break;
            }
            kv_event(line).and_then(|event| log.add(event)).map_err(|message| at(index, message))?;
        }
        Ok(log.finish())
    }
}

/// Reads a log of an etcd register: `read() = value`, `write(value)` and `cas(from, to) = ok`.
///
/// An event is a line of Jepsen's logger: process, type, action and value. A `cas` that fails has compared, so it
/// finishes with the result `FALSE`. A read that fails has timed out; it changed and returned nothing. Any other
/// operation that times out, which its type `:info` says, is unfinished. Lines of other loggers, and of processes
/// that are not numbers, are not events.
pub fn read_etcd(input: &str) -> Result<Trace, FormatError> {
    Etcd.read(input.as_bytes(), &Halt::default())
}

/// The reader of [`read_etcd`].
pub(super) struct Etcd;

impl TraceReader for Etcd {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        first_line(first_bytes).contains("jepsen.util - ")
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        let actions = [
            schema("read", &[], &["value"]),
            schema("write", &["value"], &[]),
            schema("cas", &["from", "to"], &["ok"]),
        ];
        let mut log = Log::new(actions);
        for (index, line) in utf8(bytes)?.lines().enumerate() {
            if halt.is_raised() {
                break;
            }
            if let Some(words) = etcd_words(line) {
                etcd_event(words).and_then(|event| log.add(event)).map_err(|message| at(index, message))?;
            }
        }
        Ok(log.finish())
    }
}

fn at(index: usize, message: String) -> FormatError {
    FormatError::new(Location::Line(index + 1), message)
}

/// One line of a log.
struct Event {
    process: u64,
    action: Arc<str>,
    step: Step,
}

enum Step {
    /// It starts, with these arguments.
    Invoke(Vec<Value>),
    /// It returned, with these results.
    Ok(Vec<Value>),
    /// It had no effect and returned nothing.
    Fail,
    /// It is unknown whether it takes effect.
    Info,
}

/// The trace so far, and the current operation of each process.
struct Log {
    actions: [Arc<Schema>; 3],
    trace: Trace,
    processes: HashMap<u64, Client>,
    time: u64,
}

struct Client {
    id: ProcessId,
    name: String,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    /// The last record, at this index, waits for its completion.
    Busy(usize),
    /// The last operation is unfinished.
    Lost,
}

fn schema(action: &str, args: &[&str], results: &[&str]) -> Arc<Schema> {
    let names = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
    Arc::new(Schema { action: action.into(), args: names(args), results: names(results) })
}

impl Log {
    fn new(actions: [Arc<Schema>; 3]) -> Log {
        Log { actions, trace: Trace::default(), processes: HashMap::new(), time: 0 }
    }

    fn add(&mut self, event: Event) -> Result<(), String> {
        let Event { process, action, step } = event;
        let Some(schema) = self.actions.iter().find(|schema| schema.action == action) else {
            return Err(format!("unknown action `{action}`"));
        };
        let time = self.time;
        self.time += 1;
        if let Step::Invoke(args) = step {
            let call = Call::new(schema.clone(), args);
            let call = call.ok_or_else(|| format!("`{action}` is invoked with the wrong number of arguments"))?;
            let client =
                self.processes.entry(process).or_insert_with(|| Client::new(&mut self.trace, process.to_string()));
            if client.state != State::Idle {
                *client = Client::new(&mut self.trace, format!("{}'", client.name));
            }
            client.state = State::Busy(self.trace.records.len());
            self.trace.records.push(Record { process: client.id, start: time, end: None.into(), call });
            return Ok(());
        }
        let Some((client, place)) = self.processes.get_mut(&process).and_then(Client::busy) else {
            return Err(format!("process {process} completes `{action}` without having invoked it"));
        };
        let record = &mut self.trace.records[place];
        if record.call.action() != &*action {
            return Err(format!("process {process} completes `{action}`, but it invoked `{}`", record.call.action()));
        }
        match step {
            Step::Ok(results) => {
                let values = record.call.args().iter().cloned().chain(results);
                record.call =
                    Call::new(schema.clone(), values).ok_or_else(|| format!("`{action}` has no such result"))?;
            }
            Step::Fail => record.call.failed = true,
            Step::Info | Step::Invoke(_) => {
                client.state = State::Lost;
                return Ok(());
            }
        }
        record.end = End::At(time);
        client.state = State::Idle;
        Ok(())
    }

    fn finish(self) -> Trace {
        self.trace
    }
}

impl Client {
    fn new(trace: &mut Trace, name: String) -> Client {
        trace.processes.push(name.as_str().into());
        Client { id: ProcessId(trace.processes.len() as u32 - 1), name, state: State::Idle }
    }

    /// The client with the index of its current record, if there is one.
    fn busy(&mut self) -> Option<(&mut Client, usize)> {
        if let State::Busy(place) = self.state { Some((self, place)) } else { None }
    }
}

fn kv_event(line: &str) -> Result<Event, String> {
    let mut reader = Reader::new(line);
    let form = reader.form().map_err(|problem| problem.message)?;
    let Some(Form::Map(fields)) = form else { return Err("an event must be a map".into()) };
    reader.blank().map_err(|problem| problem.message)?;
    if reader.peek().is_some() {
        return Err("something follows the event on its line".into());
    }
    let field = |wanted: &str| {
        let mut fields = fields.iter().filter(|(key, _)| key.name() == Some(wanted));
        match (fields.next(), fields.next()) {
            (Some((_, form)), None) => Ok(form),
            (None, _) => Err(format!("an event has no `:{wanted}`")),
            (Some(_), Some(_)) => Err(format!("an event has `:{wanted}` twice")),
        }
    };
    let process = match field("process")? {
        Form::Atom(Value::Int(process)) => u64::try_from(*process).ok(),
        _ => None,
    };
    let process = process.ok_or("`:process` is not a number")?;
    let action: Arc<str> = field("f")?.name().ok_or("`:f` is not a keyword")?.into();
    let is_get = *action == *"get";
    let (key, value) = (field("key")?.clone().into_value()?, field("value")?.clone().into_value()?);
    let step = match field("type")?.name() {
        Some("invoke") if is_get => Step::Invoke(vec![key]),
        Some("invoke") => Step::Invoke(vec![key, value]),
        Some("ok") if is_get => Step::Ok(vec![value]),
        Some("ok") => Step::Ok(Vec::new()),
        _ => return Err("`:type` is neither `:invoke` nor `:ok`".into()),
    };
    Ok(Event { process, action, step })
}

/// Process, type, action and value, if the line is an event.
fn etcd_words(line: &str) -> Option<(u64, &str, &str, &str)> {
    let rest = line.strip_prefix("INFO")?.trim_start().strip_prefix("jepsen.util")?.trim_start().strip_prefix('-')?;
    let (process, rest) = word(rest);
    let (kind, rest) = word(rest);
    let (action, value) = word(rest);
    Some((process.parse().ok()?, kind, action, value.trim()))
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

fn etcd_event((process, kind, action, value): (u64, &str, &str, &str)) -> Result<Event, String> {
    let name = action.strip_prefix(':').ok_or_else(|| format!("`{action}` is not an action"))?;
    let given = Reader::new(value).form().map_err(|problem| problem.message)?;
    let given = given.ok_or("an event has no value")?.into_value()?;
    let step = match (kind, name) {
        (":invoke", "read") => Step::Invoke(Vec::new()),
        (":invoke", "cas") => Step::Invoke(given.as_tuple().map(<[Value]>::to_vec).unwrap_or_default()),
        (":invoke", _) => Step::Invoke(vec![given]),
        (":ok", "read") => Step::Ok(vec![given]),
        (":ok", "cas") => Step::Ok(vec![Value::Bool(true)]),
        (":ok", _) => Step::Ok(Vec::new()),
        (":fail", "cas") if given.as_tuple().is_some() => Step::Ok(vec![Value::Bool(false)]),
        (":fail", "read") => Step::Fail,
        (":info", _) => Step::Info,
        _ => return Err(format!("`{name}` cannot end with `{kind} {value}`")),
    };
    Ok(Event { process, action: name.into(), step })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::History;
    use crate::format::damage::damaged;

    fn check(trace: Result<Trace, FormatError>) -> String {
        let trace = match trace {
            Ok(trace) => trace,
            Err(error) => return error.to_string(),
        };
        let show = |record: &Record| {
            let process = &trace.processes[record.process.index()];
            format!("{process} [{} {}] {}", record.start, record.end, record.call)
        };
        let shown: Vec<String> = trace.records.iter().map(show).collect();
        assert!(History::new(trace).is_ok());
        shown.join("\n")
    }

    const KV: &str = "\
{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x\"}
{:process 1, :type :invoke, :f :get, :key \"0\", :value nil}
{:process 0, :type :ok, :f :append, :key \"0\", :value \"x\"}
{:process 1, :type :ok, :f :get, :key \"0\", :value \"x\"}

{:process 0, :type :invoke, :f :put, :key \"0\", :value \"\"}
";

    const ETCD: &str = "\
INFO  jepsen.core - setting up
INFO  jepsen.util - 3\t:invoke\t:read\tnil
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 3\t:ok\t:read\tnil
INFO  jepsen.util - 3   :invoke :cas    [1 2]
INFO  jepsen.util - 3   :fail   :cas    [1 2]
INFO  jepsen.util - 3\t:invoke\t:cas\t[2 3]
INFO  jepsen.util - 3\t:ok\t:cas\t[2 3]
INFO  jepsen.util - 3\t:invoke\t:write\t4
INFO  jepsen.util - 3\t:info\t:write\t:timed-out
INFO  jepsen.util - 3\t:invoke\t:read\tnil
INFO  jepsen.util - 3\t:fail\t:read\t:timed-out
INFO  jepsen.util - 3\t:invoke\t:write\t5
INFO  jepsen.util - 3\t:invoke\t:write\t6
INFO  jepsen.util - 3\t:ok\t:write\t6
";

    #[test]
    fn operations_of_a_key_value_store() {
        insta::assert_snapshot!(check(read_kv(KV)), @r#"
        0 [0 2] append(key: "0", value: "x")
        1 [1 3] get(key: "0") = value: "x"
        0 [4 ...] put(key: "0", value: "")
        "#);
    }

    #[test]
    fn operations_of_an_etcd_register() {
        insta::assert_snapshot!(check(read_etcd(ETCD)), @r"
        3 [0 1] read() = value: nil
        3 [2 3] cas(from: 1, to: 2) = ok: FALSE
        3 [4 5] cas(from: 2, to: 3) = ok: TRUE
        3 [6 ...] write(value: 4)
        3' [8 9] read() failed
        3' [10 ...] write(value: 5)
        3'' [11 12] write(value: 6)
        ");
    }

    #[test]
    fn errors_name_the_line() {
        insta::assert_snapshot!(check(read_kv("\nhello")), @"line 2: an event must be a map");
        insta::assert_snapshot!(
            check(read_kv("{:process 0, :type :ok, :f :get, :key 1, :value 2}")),
            @"line 1: process 0 completes `get` without having invoked it"
        );
        insta::assert_snapshot!(
            check(read_kv("{:process 0, :type :invoke, :f :pop, :key 1, :value 2}")),
            @"line 1: unknown action `pop`"
        );
        insta::assert_snapshot!(
            check(read_kv("{:process 0, :f :get, :key 1, :value 2}")),
            @"line 1: an event has no `:type`"
        );
        insta::assert_snapshot!(
            check(read_etcd("INFO jepsen.util - 3 :invoke :cas 5")),
            @"line 1: `cas` is invoked with the wrong number of arguments"
        );
        insta::assert_snapshot!(
            check(read_etcd("INFO jepsen.util - 3 :fail :write 5")),
            @"line 1: `write` cannot end with `:fail 5`"
        );
        insta::assert_snapshot!(
            check(read_etcd("INFO jepsen.util - 3 :invoke :write")),
            @"line 1: an event has no value"
        );
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(input in any::<String>()) {
            let _ = read_kv(&input);
            let _ = read_etcd(&format!("INFO jepsen.util - 3{input}"));
        }

        #[test]
        fn damaged_logs_never_panic(
            at in any::<prop::sample::Index>(),
            with in "[\\[\\]{}\":0-9a-z\t\n ]{0,3}",
            length in 0usize..9,
        ) {
            for (log, read) in [(KV, read_kv as fn(&str) -> _), (ETCD, read_etcd)] {
                let _: Result<Trace, FormatError> = read(&damaged(log, &at, &with, length));
            }
        }
    }
}
