//! Reports of etcd's robustness tests: the operations of clients, as `client-N/operations.json` holds them.
//!
//! Such a file is a sequence of JSON objects, each an operation of Porcupine (`ClientId`, `Input`, `Call`, `Output`,
//! `Return`) whose input is a request and whose output is a response or an error. Times are nanoseconds of one clock,
//! and numbers of clients differ between files, so the files of a report can be joined into one.
//!
//! | request | operation |
//! |---|---|
//! | `range` of one key | `get(key) = value, mod_revision, version` |
//! | any other `range` | `range(start, end, limit, keys_only, at) = kvs, count` |
//! | `txn` that only puts one key | `put(key, value)`, or `put_with_lease(key, value, lease)` |
//! | `txn` that only deletes one key | `delete(key) = ok` |
//! | `txn` that only gets one key or range | `get` or `range` |
//! | any other `txn` | `txn(conditions, success, failure) = ok, results` |
//! | `leaseGrant`, `leaseRevoke` | `lease_grant(lease)`, `lease_revoke(lease)` |
//! | `compact` | `compact(at) = ok`, with `error` if it was refused |
//! | `defragment` | `defragment()` |
//!
//! The revision of a response is the note `revision`, and its member is the note `member`. A key that does not exist
//! has the value `nil`, and 0 as version and revision. A value of 20 bytes or more is an integer, its hash, because
//! etcd records no more of it.
//!
//! An error leaves the outcome unknown, unless the request only reads: then it failed, which is known to have had no
//! effect. The message is the note `error`. Unknown requests, responses and keys are errors of the reader.

use super::clients::Clients;
use super::node::{self, Node};
use super::schemas::{Fields, Schemas};
use super::{FormatError, detect};
use crate::{End, Halt, Record, Trace, Value};

/// Reads the operations of a report.
pub fn read(input: &str) -> Result<Trace, FormatError> {
    read_until(input, &Halt::default())
}

/// Reads a trace, stopping when `halt` is raised.
pub fn read_until(input: &str, halt: &Halt) -> Result<Trace, FormatError> {
    let mut report = Report::default();
    let torn = node::visit_documents(input, halt, |operation| report.add(operation))?;
    // Clients follow each other, so operations of any time may be missing.
    let losses = torn.map(|line| format!("the text ends inside the operation that begins in line {line}"));
    report.trace.losses.extend(losses);
    Ok(report.trace)
}

/// True if a file that begins like this is a report.
pub(super) fn detect(text: &str) -> bool {
    matches!(detect::first_key(text), Some(("ClientId", _)))
}

/// The shortest value of which etcd records a hash.
const SHORTEST_HASHED: usize = 20;

#[derive(Default)]
struct Report {
    trace: Trace,
    schemas: Schemas,
    clients: Clients,
}

impl Report {
    fn add(&mut self, node: &Node<'_>) -> Result<(), FormatError> {
        node.only(&["ClientId", "Input", "Call", "Output", "Return", "Metadata"])?;
        let client = node.required("ClientId")?.unsigned()?;
        let (start, end) = (node.required("Call")?.unsigned()?, node.required("Return")?.unsigned()?);
        let request = Request::read(&node.required("Input")?)?;
        let output = node.required("Output")?;
        let (action, args) = request.call();
        let Response { results, outcome, notes } = Response::read(&request, &output)?;
        let process = self.clients.call(&mut self.trace, client);
        let mut call = self.schemas.call(action, args, results);
        call.failed = outcome == Outcome::Failed;
        call.meta = notes.into();
        let end = if outcome == Outcome::Unknown { End::Unknown { latest: None } } else { End::At(end) };
        if !end.is_unknown() {
            self.clients.finish(client, process);
        }
        self.trace.records.push(Record { process, start, end, call });
        Ok(())
    }
}

/// A request, `EtcdRequest` in etcd.
enum Request {
    Range(Range),
    Txn(Txn),
    LeaseGrant(Value),
    LeaseRevoke(Value),
    Compact(Value),
    Defragment,
}

/// The keys from `start` up to but not including `end`, or `start` alone if `end` is empty.
struct Range {
    start: String,
    end: String,
    limit: i128,
    keys_only: bool,
    /// The revision to read at, or 0 for the latest.
    at: i128,
}

struct Txn {
    conditions: Vec<Value>,
    success: Vec<Step>,
    failure: Vec<Step>,
}

/// One step of a transaction, `EtcdOperation` in etcd.
enum Step {
    Range(Range),
    Put { key: String, value: Value, lease: i128 },
    Delete { key: String },
}

impl Request {
    fn read(node: &Node<'_>) -> Result<Request, FormatError> {
        node.only(&["Type", "LeaseGrant", "LeaseRevoke", "Range", "Txn", "Defragment", "Compact"])?;
        let kind = node.required("Type")?;
        match kind.text()? {
            "range" => Range::read(&node.required("Range")?, true).map(Request::Range),
            "txn" => Txn::read(&node.required("Txn")?).map(Request::Txn),
            "leaseGrant" => only_integer(&node.required("LeaseGrant")?, "LeaseID").map(Request::LeaseGrant),
            "leaseRevoke" => only_integer(&node.required("LeaseRevoke")?, "LeaseID").map(Request::LeaseRevoke),
            "compact" => only_integer(&node.required("Compact")?, "Revision").map(Request::Compact),
            "defragment" => node.required("Defragment")?.only(&[]).map(|()| Request::Defragment),
            other => Err(kind.error(format!("unsupported request `{}`", other.escape_debug()))),
        }
    }

    /// The action and its arguments.
    fn call(&self) -> (&'static str, Fields) {
        match self {
            Request::Range(range) => range.call(),
            Request::Txn(txn) => match txn.single() {
                Some(step) => step.call(),
                None => {
                    let steps = |steps: &[Step]| Value::tuple(steps.iter().map(Step::value));
                    let conditions = Value::tuple(txn.conditions.iter().cloned());
                    let (success, failure) = (steps(&txn.success), steps(&txn.failure));
                    ("txn", fields([("conditions", conditions), ("success", success), ("failure", failure)]))
                }
            },
            Request::LeaseGrant(lease) => ("lease_grant", fields([("lease", lease.clone())])),
            Request::LeaseRevoke(lease) => ("lease_revoke", fields([("lease", lease.clone())])),
            Request::Compact(at) => ("compact", fields([("at", at.clone())])),
            Request::Defragment => ("defragment", Fields::new()),
        }
    }

    /// True if it changes nothing.
    fn is_read(&self) -> bool {
        match self {
            Request::Range(_) => true,
            Request::Txn(txn) => txn.success.iter().chain(&txn.failure).all(|step| matches!(step, Step::Range(_))),
            _ => false,
        }
    }

    /// The results in the response of a request that was carried out.
    fn results(&self, output: &Node<'_>) -> Result<Fields, FormatError> {
        match self {
            Request::Range(range) => range.results(&output.required("Range")?, &["KVs", "Count"]),
            Request::Txn(txn) => txn.results(&output.required("Txn")?),
            Request::LeaseGrant(_) => output.required("LeaseGrant")?.only(&["LeaseID"]).map(|()| Fields::new()),
            Request::LeaseRevoke(_) => output.required("LeaseRevoke")?.only(&[]).map(|()| Fields::new()),
            Request::Compact(_) => output.required("Compact")?.only(&[]).map(|()| fields([("ok", Value::Bool(true))])),
            Request::Defragment => output.required("Defragment")?.only(&[]).map(|()| Fields::new()),
        }
    }
}

impl Range {
    /// Reads a range. Only a request of its own, and no step of a transaction, reads at an earlier revision.
    fn read(node: &Node<'_>, has_revision: bool) -> Result<Range, FormatError> {
        let keys = ["Start", "End", "Limit", "KeysOnly", "Revision"];
        node.only(&keys[..if has_revision { 5 } else { 4 }])?;
        Ok(Range {
            start: text(node, "Start")?,
            end: text(node, "End")?,
            limit: integer(node, "Limit")?,
            keys_only: flag(node, "KeysOnly")?,
            at: integer(node, "Revision")?,
        })
    }

    /// True if it reads the latest value of one key.
    fn is_get(&self) -> bool {
        self.end.is_empty() && self.limit == 0 && !self.keys_only && self.at == 0
    }

    fn call(&self) -> (&'static str, Fields) {
        if self.is_get() {
            return ("get", fields([("key", Value::str(&*self.start))]));
        }
        let args = [
            ("start", Value::str(&*self.start)),
            ("end", Value::str(&*self.end)),
            ("limit", number(self.limit)),
            ("keys_only", Value::Bool(self.keys_only)),
            ("at", number(self.at)),
        ];
        ("range", fields(args))
    }

    fn results(&self, node: &Node<'_>, keys: &[&str]) -> Result<Fields, FormatError> {
        node.only(keys)?;
        let mut pairs = Vec::new();
        if let Some(list) = node.field("KVs") {
            for pair in list.elements()? {
                pairs.push(Pair::read(&pair)?);
            }
        }
        let count = integer(node, "Count")?;
        if !self.is_get() {
            let pairs = pairs.into_iter().map(|pair| pair.value(self.keys_only));
            return Ok(fields([("kvs", Value::tuple(pairs)), ("count", number(count))]));
        }
        let mut pairs = pairs.into_iter();
        let (value, mod_revision, version) = match (pairs.next(), pairs.next()) {
            (None, _) if count == 0 => (Value::Nil, 0, 0),
            (Some(pair), None) if pair.key == self.start && count == 1 => (pair.value, pair.mod_revision, pair.version),
            _ => return Err(node.error(format!("expected at most the key `{}`", self.start.escape_debug()))),
        };
        Ok(fields([("value", value), ("mod_revision", number(mod_revision)), ("version", number(version))]))
    }
}

/// A key with its value, `KeyValue` in etcd.
struct Pair {
    key: String,
    value: Value,
    mod_revision: i128,
    version: i128,
}

impl Pair {
    fn read(node: &Node<'_>) -> Result<Pair, FormatError> {
        node.only(&["Key", "Value", "ModRevision", "Version"])?;
        let (mod_revision, version) = (integer(node, "ModRevision")?, integer(node, "Version")?);
        Ok(Pair { key: text(node, "Key")?, value: value_or_hash(node)?, mod_revision, version })
    }

    fn value(self, keys_only: bool) -> Value {
        let value = (!keys_only).then_some(("value", self.value));
        let revisions = [("mod_revision", number(self.mod_revision)), ("version", number(self.version))];
        record([("key", Value::str(self.key))].into_iter().chain(value).chain(revisions))
    }
}

impl Txn {
    fn read(node: &Node<'_>) -> Result<Txn, FormatError> {
        node.only(&["Conditions", "OperationsOnSuccess", "OperationsOnFailure"])?;
        let mut txn = Txn { conditions: Vec::new(), success: Vec::new(), failure: Vec::new() };
        if let Some(list) = node.field("Conditions") {
            for condition in list.elements()? {
                txn.conditions.push(read_condition(&condition)?);
            }
        }
        for (key, steps) in [("OperationsOnSuccess", &mut txn.success), ("OperationsOnFailure", &mut txn.failure)] {
            if let Some(list) = node.field(key) {
                for step in list.elements()? {
                    steps.push(Step::read(&step)?);
                }
            }
        }
        Ok(txn)
    }

    /// The only step, if it depends on nothing.
    fn single(&self) -> Option<&Step> {
        match self.success.as_slice() {
            [step] if self.conditions.is_empty() && self.failure.is_empty() => Some(step),
            _ => None,
        }
    }

    fn results(&self, node: &Node<'_>) -> Result<Fields, FormatError> {
        node.only(&["Failure", "Results"])?;
        let has_failed = flag(node, "Failure")?;
        let steps = if has_failed { &self.failure } else { &self.success };
        let list = node.field("Results");
        let found = match &list {
            Some(list) => list.elements()?.collect(),
            None => Vec::new(),
        };
        if found.len() != steps.len() {
            return Err(node.error(format!("number of results: expected {}, found {}", steps.len(), found.len())));
        }
        match (self.single(), found.as_slice()) {
            (Some(step), [found]) => step.results(found),
            (Some(_), _) => Err(node.error("a transaction without conditions failed")),
            (None, _) => {
                let results = steps.iter().zip(&found).map(|(step, found)| step.result(found));
                let results = Value::tuple(results.collect::<Result<Vec<_>, _>>()?);
                Ok(fields([("ok", Value::Bool(!has_failed)), ("results", results)]))
            }
        }
    }
}

/// A comparison of a key's version, or of the revision of its last change.
fn read_condition(node: &Node<'_>) -> Result<Value, FormatError> {
    node.only(&["Key", "ExpectedRevision", "ExpectedVersion"])?;
    let (revision, version) = (integer(node, "ExpectedRevision")?, integer(node, "ExpectedVersion")?);
    let expected = match (revision, version) {
        (revision, 0) => ("mod_revision", number(revision)),
        (0, version) => ("version", number(version)),
        _ => return Err(node.error("expected a revision or a version, found both")),
    };
    Ok(record([("key", Value::str(text(node, "Key")?)), expected]))
}

impl Step {
    fn read(node: &Node<'_>) -> Result<Step, FormatError> {
        node.only(&["Type", "Range", "Put", "Delete"])?;
        let kind = node.required("Type")?;
        match kind.text()? {
            "range-operation" => Range::read(&node.required("Range")?, false).map(Step::Range),
            "put-operation" => {
                let put = node.required("Put")?;
                put.only(&["Key", "Value", "LeaseID"])?;
                Ok(Step::Put { key: text(&put, "Key")?, value: value_or_hash(&put)?, lease: integer(&put, "LeaseID")? })
            }
            "delete-operation" => {
                let delete = node.required("Delete")?;
                delete.only(&["Key"])?;
                Ok(Step::Delete { key: text(&delete, "Key")? })
            }
            other => Err(kind.error(format!("unsupported operation `{}`", other.escape_debug()))),
        }
    }

    fn call(&self) -> (&'static str, Fields) {
        match self {
            Step::Range(range) => range.call(),
            Step::Put { key, value, lease: 0 } => {
                ("put", fields([("key", Value::str(&**key)), ("value", value.clone())]))
            }
            Step::Put { key, value, lease } => {
                let args = [("key", Value::str(&**key)), ("value", value.clone()), ("lease", number(*lease))];
                ("put_with_lease", fields(args))
            }
            Step::Delete { key } => ("delete", fields([("key", Value::str(&**key))])),
        }
    }

    /// The step as a record: its action, as `op`, with its arguments.
    fn value(&self) -> Value {
        let (action, args) = self.call();
        let args = args.iter().map(|(name, value)| (&**name, value.clone()));
        record([("op", Value::str(action))].into_iter().chain(args))
    }

    /// Its results as those of an operation.
    fn results(&self, node: &Node<'_>) -> Result<Fields, FormatError> {
        let keys = ["KVs", "Count", "Deleted"];
        match self {
            Step::Range(range) => range.results(node, &keys),
            Step::Put { .. } => node.only(&keys).map(|()| Fields::new()),
            Step::Delete { .. } => {
                node.only(&keys)?;
                match integer(node, "Deleted")? {
                    count @ (0 | 1) => Ok(fields([("ok", Value::Bool(count == 1))])),
                    count => Err(node.error(format!("expected at most 1 deleted key, found {count}"))),
                }
            }
        }
    }

    /// Its results as one value: a record, or whether a key was deleted, or `TRUE`.
    fn result(&self, node: &Node<'_>) -> Result<Value, FormatError> {
        let results = self.results(node)?;
        Ok(match (self, results.as_slice()) {
            (Step::Range(_), results) => record(results.iter().map(|(name, value)| (&**name, value.clone()))),
            (_, [(_, ok)]) => ok.clone(),
            _ => Value::Bool(true),
        })
    }
}

/// A response, `MaybeEtcdResponse` in etcd.
struct Response {
    results: Fields,
    outcome: Outcome,
    notes: Fields,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Finished,
    Failed,
    Unknown,
}

const RESPONSE_KEYS: [&str; 12] = [
    "Txn",
    "Range",
    "LeaseGrant",
    "LeaseRevoke",
    "Defragment",
    "Compact",
    "ClientError",
    "Revision",
    "member-id",
    "Persisted",
    "PersistedRevision",
    "Error",
];

impl Response {
    fn read(request: &Request, node: &Node<'_>) -> Result<Response, FormatError> {
        node.only(&RESPONSE_KEYS)?;
        // The tests infer such responses from other files while they check; no client has seen one.
        if flag(node, "Persisted")? || integer(node, "PersistedRevision")? != 0 {
            return Err(node.error("unsupported response `Persisted`"));
        }
        let mut notes = Vec::new();
        let error = text(node, "Error")?;
        if !error.is_empty() {
            let outcome = if request.is_read() { Outcome::Failed } else { Outcome::Unknown };
            return Ok(Response { results: Fields::new(), outcome, notes: fields([("error", Value::str(error))]) });
        }
        // A compaction has no revision, which is written as -1.
        let revision = integer(node, "Revision")?;
        if revision > 0 {
            notes.push(("revision", number(revision)));
        }
        let member = text(node, "member-id")?;
        if !member.is_empty() {
            notes.push(("member", Value::str(member)));
        }
        let refusal = text(node, "ClientError")?;
        let results = match request {
            _ if refusal.is_empty() => request.results(node)?,
            Request::Compact(_) => fields([("ok", Value::Bool(false)), ("error", Value::str(refusal))]),
            _ => return Err(node.error(format!("unsupported `ClientError` `{}`", refusal.escape_debug()))),
        };
        Ok(Response { results, outcome: Outcome::Finished, notes: fields(notes) })
    }
}

/// The field `Value` of a node: a string, or an integer that is the hash of a long one.
fn value_or_hash(node: &Node<'_>) -> Result<Value, FormatError> {
    let Some(value) = node.field("Value") else { return Ok(Value::str("")) };
    value.only(&["Value", "Hash"])?;
    match (text(&value, "Value")?, integer(&value, "Hash")?) {
        // Puts in transactions hold whole values, and the responses to reads hold their hashes.
        (text, 0) if text.len() >= SHORTEST_HASHED => Ok(Value::Int(i64::from(fnv(&text)))),
        (text, 0) => Ok(Value::str(text)),
        (text, hash) if text.is_empty() => Ok(number(hash)),
        _ => Err(value.error("expected a value or a hash, found both")),
    }
}

/// FNV-1a with 32 bits, the hash that etcd records.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn only_integer(node: &Node<'_>, key: &str) -> Result<Value, FormatError> {
    node.only(&[key])?;
    Ok(number(integer(node, key)?))
}

/// A field, or the zero value of its type, as in Go.
fn integer(node: &Node<'_>, key: &str) -> Result<i128, FormatError> {
    node.field(key).map_or(Ok(0), |field| field.integer())
}

fn text(node: &Node<'_>, key: &str) -> Result<String, FormatError> {
    node.field(key).map_or(Ok(String::new()), |field| field.text().map(str::to_owned))
}

fn flag(node: &Node<'_>, key: &str) -> Result<bool, FormatError> {
    node.field(key).map_or(Ok(false), |field| field.flag())
}

fn number(integer: i128) -> Value {
    Value::integer(&integer.to_string()).unwrap_or_default()
}

fn fields<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Fields {
    fields.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn record<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::record(fields).expect("no name occurs twice")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::History;
    use crate::format::damaged;

    /// The operations for display, with their notes, or the error.
    fn check(input: &str) -> String {
        let trace = match read(input) {
            Ok(trace) => trace,
            Err(error) => return error.to_string(),
        };
        let show = |record: &Record| {
            let process = &trace.processes[record.process.index()];
            let notes: Vec<String> =
                record.call.meta.iter().map(|(name, note)| format!("\n  | {name}: {note}")).collect();
            let call = record.call.to_string().replace(") = ", ")\n  = ").replace(">>, ", ">>,\n    ");
            format!("{process} [{} {}] {call}{}", record.start, record.end, notes.concat())
        };
        let shown: Vec<String> = trace.records.iter().map(show).chain(trace.losses.iter().cloned()).collect();
        assert!(!trace.losses.is_empty() || History::new(trace).is_ok());
        shown.join("\n")
    }

    /// An operation of client 1.
    fn operation(input: &str, output: &str) -> String {
        format!(r#"{{"ClientId": 1, "Input": {{{input}}}, "Call": 10, "Output": {{{output}}}, "Return": 20}}"#)
    }

    /// A transaction as etcd writes it, with every key.
    fn txn(conditions: &str, success: &str, failure: &str) -> String {
        format!(
            r#""Type": "txn", "LeaseGrant": null, "LeaseRevoke": null, "Range": null,
            "Txn": {{"Conditions": {conditions},
            "OperationsOnSuccess": {success}, "OperationsOnFailure": {failure}}}, "Defragment": null, "Compact": null"#
        )
    }

    const PUT: &str = r#"{"Type": "put-operation", "Range": {"Start": "", "End": "", "Limit": 0, "KeysOnly": false},
        "Put": {"Key": "a", "Value": {"Value": "1"}, "LeaseID": 0}, "Delete": {"Key": ""}}"#;
    const GET: &str = r#"{"Type": "range-operation", "Range": {"Start": "a"}}"#;
    const DELETE: &str = r#"{"Type": "delete-operation", "Delete": {"Key": "a"}}"#;
    const PAIR: &str = r#"{"Key": "a", "Value": {"Value": "1"}, "ModRevision": 2, "Version": 1}"#;

    /// Operations of most kinds.
    fn sample() -> String {
        let done = r#""Txn": {"Failure": false, "Results": [{"KVs": null, "Count": 0, "Deleted": 0}]}, "Range": null,
            "ClientError": "", "Revision": 2, "member-id": "8e9e05c52164694d", "Persisted": false, "Error": """#;
        let found = format!(r#""Range": {{"KVs": [{PAIR}], "Count": 1}}, "Revision": 2"#);
        let swapped =
            format!(r#""Txn": {{"Failure": true, "Results": [{{"KVs": [{PAIR}], "Count": 1}}]}}, "Revision": 3"#);
        let next = |client: u32, at: u32, line: String| {
            let line = line.replace(r#""ClientId": 1"#, &format!(r#""ClientId": {client}"#));
            line.replace(r#""Call": 10"#, &format!(r#""Call": {at}"#)).replace(": 20}", &format!(": {}}}", at + 5))
        };
        [
            next(1, 10, operation(&txn("null", &format!("[{PUT}]"), "null"), done)),
            next(1, 20, operation(r#""Type": "range", "Range": {"Start": "a", "Revision": 0}"#, &found)),
            next(1, 30, operation(r#""Type": "range", "Range": {"Start": "a", "End": "b", "Revision": 2}"#, &found)),
            next(2, 40, operation(&txn("[]", &format!("[{DELETE}]"), "[]"), r#""Error": "context canceled""#)),
            next(2, 50, operation(r#""Type": "range", "Range": {"Start": "a"}"#, r#""Error": "EOF", "Revision": 0"#)),
            next(
                2,
                60,
                operation(
                    &txn(
                        r#"[{"Key": "a", "ExpectedRevision": 7}]"#,
                        &format!("[{PUT}, {DELETE}]"),
                        &format!("[{GET}]"),
                    ),
                    &swapped,
                ),
            ),
        ]
        .join("\n")
    }

    #[test]
    fn requests_are_operations() {
        insta::assert_snapshot!(check(&sample()), @r#"
        1 [10 15] put(key: "a", value: "1")
          | revision: 2
          | member: "8e9e05c52164694d"
        1 [20 25] get(key: "a")
          = value: "1", mod_revision: 2, version: 1
          | revision: 2
        1 [30 35] range(start: "a", end: "b", limit: 0, keys_only: FALSE, at: 2)
          = kvs: <<[key |-> "a", mod_revision |-> 2, value |-> "1", version |-> 1]>>,
            count: 1
          | revision: 2
        2 [40 ...] delete(key: "a")
          | error: "context canceled"
        2' [50 55] get(key: "a") failed
          | error: "EOF"
        2' [60 65] txn(conditions: <<[key |-> "a", mod_revision |-> 7]>>,
            success: <<[key |-> "a", op |-> "put", value |-> "1"], [key |-> "a", op |-> "delete"]>>,
            failure: <<[key |-> "a", op |-> "get"]>>)
          = ok: FALSE, results: <<[mod_revision |-> 2, value |-> "1", version |-> 1]>>
          | revision: 3
        "#);
    }

    #[test]
    fn transactions_of_one_step_are_operations_on_a_key() {
        let check = |step: &str, result: &str| {
            let output = format!(r#""Txn": {{"Results": [{result}]}}, "Revision": 4"#);
            check(&operation(&txn("null", &format!("[{step}]"), "null"), &output))
        };
        insta::assert_snapshot!(check(GET, &format!(r#"{{"KVs": [{PAIR}], "Count": 1}}"#)), @r#"
        1 [10 20] get(key: "a")
          = value: "1", mod_revision: 2, version: 1
          | revision: 4
        "#);
        insta::assert_snapshot!(check(GET, "{}"), @r#"
        1 [10 20] get(key: "a")
          = value: nil, mod_revision: 0, version: 0
          | revision: 4
        "#);
        insta::assert_snapshot!(check(DELETE, r#"{"Deleted": 1}"#), @r#"
        1 [10 20] delete(key: "a")
          = ok: TRUE
          | revision: 4
        "#);
        insta::assert_snapshot!(check(&PUT.replace(r#""LeaseID": 0"#, r#""LeaseID": 9"#), "{}"), @r#"
        1 [10 20] put_with_lease(key: "a", value: "1", lease: 9)
          | revision: 4
        "#);
        insta::assert_snapshot!(
            check(DELETE, r#"{"Deleted": 2}"#),
            @"line 1: Output.Txn.Results[0]: expected at most 1 deleted key, found 2"
        );
        insta::assert_snapshot!(
            check(GET, r#"{"KVs": [{"Key": "b"}], "Count": 1}"#),
            @"line 1: Output.Txn.Results[0]: expected at most the key `a`"
        );
        insta::assert_snapshot!(check(GET, ""), @"line 1: Output.Txn: number of results: expected 1, found 0");
    }

    #[test]
    fn transactions_of_several_steps_have_several_results() {
        let input = txn(
            r#"[{"Key": "a", "ExpectedRevision": 0}, {"Key": "b", "ExpectedVersion": 2}]"#,
            &format!("[{PUT}, {GET}]"),
            "null",
        );
        let results = format!(r#"[{{}}, {{"KVs": [{PAIR}], "Count": 1}}]"#);
        let output = format!(r#""Txn": {{"Results": {results}}}, "Revision": 5"#);
        insta::assert_snapshot!(check(&operation(&input, &output)), @r#"
        1 [10 20] txn(conditions: <<[key |-> "a", mod_revision |-> 0], [key |-> "b", version |-> 2]>>,
            success: <<[key |-> "a", op |-> "put", value |-> "1"], [key |-> "a", op |-> "get"]>>,
            failure: <<>>)
          = ok: TRUE, results: <<TRUE, [mod_revision |-> 2, value |-> "1", version |-> 1]>>
          | revision: 5
        "#);
    }

    #[test]
    fn long_values_are_hashes() {
        let long = PUT.replace(r#"{"Value": "1"}"#, r#"{"Value": "01234567890123456789"}"#);
        let hash = PUT.replace(r#"{"Value": "1"}"#, r#"{"Hash": 4159713113}"#);
        let put = |step: &str| operation(&txn("null", &format!("[{step}]"), "null"), r#""Txn": {"Results": [{}]}"#);
        insta::assert_snapshot!(check(&put(&long)), @r#"1 [10 20] put(key: "a", value: 2945867837)"#);
        insta::assert_snapshot!(check(&put(&hash)), @r#"1 [10 20] put(key: "a", value: 4159713113)"#);
        assert_eq!(["", "a", "foobar"].map(fnv), [0x811c_9dc5, 0xe40c_292c, 0xbf9c_f968]);
    }

    #[test]
    fn other_requests() {
        insta::assert_snapshot!(
            check(&operation(r#""Type": "leaseGrant", "LeaseGrant": {"LeaseID": 5}"#, r#""LeaseGrant": {}"#)),
            @"1 [10 20] lease_grant(lease: 5)"
        );
        insta::assert_snapshot!(
            check(&operation(r#""Type": "leaseRevoke", "LeaseRevoke": {"LeaseID": 5}"#, r#""Error": "EOF""#)),
            @r#"
            1 [10 ...] lease_revoke(lease: 5)
              | error: "EOF"
            "#
        );
        insta::assert_snapshot!(
            check(&operation(r#""Type": "compact", "Compact": {"Revision": 5}"#, r#""Compact": {}, "Revision": -1"#)),
            @r"
            1 [10 20] compact(at: 5)
              = ok: TRUE
            "
        );
        let compacted = r#""ClientError": "required revision has been compacted""#;
        insta::assert_snapshot!(check(&operation(r#""Type": "compact", "Compact": {"Revision": 5}"#, compacted)), @r#"
        1 [10 20] compact(at: 5)
          = ok: FALSE, error: "required revision has been compacted"
        "#);
        insta::assert_snapshot!(
            check(&operation(r#""Type": "defragment", "Defragment": {}"#, r#""Defragment": {}, "Revision": -1"#)),
            @"1 [10 20] defragment()"
        );
    }

    #[test]
    fn anything_else_is_an_error() {
        let get = r#""Type": "range", "Range": {"Start": "a"}"#;
        let inputs = [
            operation(r#""Type": "watch""#, ""),
            operation(r#""Type": "range""#, ""),
            operation(r#""Type": "range", "Range": {"Start": "a", "Sort": 1}"#, ""),
            operation(&txn("null", r#"[{"Type": "nested"}]"#, "null"), ""),
            operation(&txn("null", &format!("[{PUT}]"), "null"), r#""Txn": {"Failure": true}"#),
            operation(&txn("null", &format!("[{PUT}]"), "null"), r#""Txn": {"Results": []}"#),
            operation(get, r#""Txn": {}"#),
            operation(get, r#""Persisted": true"#),
            operation(get, r#""ClientError": "no""#),
            operation(get, r#""Range": {"KVs": [], "Count": 7}"#),
            operation(get, r#""Status": 1"#),
            operation(get, r#""Error": 1"#),
            operation(get, "").replace("10", "-10"),
            "\n5".into(),
            "\n{]".into(),
            operation(get, r#""Error": "EOF""#) + "\n{\"ClientId",
        ];
        insta::assert_snapshot!(inputs.map(|input| check(&input)).join("\n"), @r#"
        line 1: Input.Type: unsupported request `watch`
        line 1: Input: `Range` is missing
        line 1: Input.Range: unknown key `Sort`
        line 1: Input.Txn.OperationsOnSuccess[0].Type: unsupported operation `nested`
        line 1: Output.Txn: a transaction without conditions failed
        line 1: Output.Txn: number of results: expected 1, found 0
        line 1: Output: `Range` is missing
        line 1: Output: unsupported response `Persisted`
        line 1: Output: unsupported `ClientError` `no`
        line 1: Output.Range: expected at most the key `a`
        line 1: Output: unknown key `Status`
        line 1: Output.Error: expected a string, found an integer
        line 1: Call: -10 is not an integer of 64 bits
        line 2: expected an object, found an integer
        line 2: expected a key in quotes, found `]`
        1 [10 20] get(key: "a") failed
          | error: "EOF"
        the text ends inside the operation that begins in line 2
        "#);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(input in any::<String>()) {
            let _ = read(&format!("{{\"ClientId\": {input}"));
        }

        #[test]
        fn damaged_reports_never_panic(
            at in any::<prop::sample::Index>(),
            with in "[\\[\\]{}\":0-9a-zA-Z, -]{0,3}",
            length in 0usize..9,
        ) {
            let _ = read(&damaged(&sample(), &at, &with, length)).map(History::new);
        }
    }
}
