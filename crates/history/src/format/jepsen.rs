//! Histories of Jepsen, in EDN or JSON.
//!
//! A history is a list of events, as one form per event or as one list of them all. An event is a map: the action of
//! the client (`:f`), the client (`:process`), whether the operation starts or how it ended (`:type`), and its
//! argument or result (`:value`). All other fields are kept as metadata. In JSON the same maps have strings for
//! keywords, with or without their colon.
//!
//! **Time.** The index of an event in the file is its time: Jepsen writes events in the order in which they happened,
//! and its own checkers use that order. The field `time` is metadata.
//!
//! **Pairs.** A process has one operation at a time, so a completion belongs to the last invocation of its process.
//! `ok` is finished, `fail` is failed, and `info` or no completion at all is unfinished. The index of an `info` says
//! when the client stopped waiting and bounds nothing, so the operation has no latest time. Where the completion
//! repeats a key of the invocation with another value, the metadata has it as `end-` and the key.
//!
//! **Calls.** The names follow the models: `:value` is the argument `value` and the result `value`, and the pair that
//! `cas` takes is its arguments `from` and `to`. Which of these an action has is decided once for all its calls. It
//! takes an argument if any of its invocations has one. It has a result if any of its completions carries a value
//! that its invocation did not; `read` and `dequeue` always do, even where their invocation already carries it.
//!
//! **Keys.** Jepsen runs many objects at once by making each value a pair of key and value. The key becomes a first
//! argument `key` if the pair is tagged as such, or if no other reading is sensible: every operation of the file
//! carries a pair, every completion repeats its key, there are reads, and all of them ask for `[key nil]`.
//!
//! **Others.** A process that is not a number is not a client but, mostly, the nemesis that injects faults. Its
//! events are not operations but events of the trace, from the time at which it begins something to the time at which
//! that is done. What has `start` in its name lasts until the same with `stop`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::format::edn::{Form, Reader, first_form};
use crate::format::error::{FormatError, Location, Problem};
use crate::format::json::{self, Json};
use crate::format::reader::{TraceReader, text_of, utf8};
use crate::{Call, Cut, Event as Fault, Halt, ProcessId, Record, Schema, Trace, Value};

/// Reads a history in either notation.
pub fn read(input: &str) -> Result<Trace, FormatError> {
    Jepsen.read(input.as_bytes(), &Halt::default())
}

/// The reader of both notations.
pub(super) struct Jepsen;

impl TraceReader for Jepsen {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        // Every event has a type.
        let text = text_of(first_bytes);
        let has_type = text.contains(":type") || text.contains("\"type\"");
        first_form(text).starts_with(['{', '[', '(', '#']) && has_type
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        let input = utf8(bytes)?;
        let mut events = Events::default();
        let outcome = if is_json(input) { events.read_json(input, halt) } else { events.read_edn(input, halt) };
        let mut trace = Trace::default();
        match outcome {
            Ok(()) => {}
            Err(Problem { is_end: true, message, .. }) => {
                if let Some(at) = events.is_damaged(input) {
                    return Err(locate(
                        input,
                        problem(at, format!("{message}, and the form that begins here is not closed")),
                    )
                    .help("events follow it, so this is not where the recording breaks off"));
                }
                trace.cuts.push(Cut { part: String::new(), at_byte: events.whole as u64, found: message });
            }
            Err(problem) => return Err(locate(input, problem)),
        }
        if halt.is_raised() {
            return Ok(trace);
        }
        let (pairs, faults) = pair(events.list).map_err(|problem| locate(input, problem))?;
        trace.events = faults;
        let shape = Shape::new(&pairs);
        let mut schemas: BTreeMap<(Arc<str>, bool), Arc<Schema>> = BTreeMap::new();
        let mut processes = HashMap::new();
        for pair in pairs {
            let process = *processes.entry(pair.process).or_insert_with(|| {
                trace.processes.push(pair.process.to_string().into());
                ProcessId(trace.processes.len() as u32 - 1)
            });
            let has_key = shape.has_key(&pair.invocation);
            let schema = schemas
                .entry((pair.invocation.f.clone(), has_key))
                .or_insert_with(|| Arc::new(shape.schema(&pair.invocation.f, has_key)));
            let is_over = |completion: &&(u64, Event)| completion.1.kind != Kind::Info;
            let end = pair.completion.as_ref().filter(is_over).map(|completion| completion.0);
            trace.records.push(Record { process, start: pair.start, end: end.into(), call: shape.call(schema, pair) });
        }
        Ok(trace)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// One event of a history.
#[derive(Clone, Debug)]
struct Event {
    at: usize, // The byte where it starts.
    kind: Kind,
    process: Value, // Clients have numbers.
    f: Arc<str>,
    value: Option<Value>,
    has_key: bool, // The value is marked as a pair of key and value.
    rest: Vec<(Arc<str>, Value)>,
}

/// The events of a text, and their length in bytes.
#[derive(Default)]
struct Events {
    list: Vec<Event>,
    whole: usize,
}

/// An invocation with its completion, and the time of each.
struct Pair {
    process: i64,
    start: u64,
    invocation: Event,
    completion: Option<(u64, Event)>,
}

/// The shape of the operations of a history, decided once so that all calls of an action agree.
struct Shape {
    are_keyed: bool,
    actions: BTreeMap<Arc<str>, Action>,
}

#[derive(Clone, Debug)]
struct Action {
    is_source: bool,   // It exists to return a value, like `read`.
    is_sink: bool,     // It exists to take a value, like `write`.
    is_spread: bool,   // The argument is always a pair, and each half is a separate argument.
    has_value: bool,   // Some invocation has a value,
    is_echoed: bool,   // which its completion repeats,
    is_answered: bool, // or replaces by another value.
    gives: bool,
}

fn locate(input: &str, problem: Problem) -> FormatError {
    let before = input.as_bytes().get(..problem.at).unwrap_or(input.as_bytes());
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    FormatError::new(Location::Line(line), problem.message)
}

fn problem(at: usize, message: impl Into<String>) -> Problem {
    Problem { at, message: message.into(), is_end: false }
}

/// The keys of an event are keywords in EDN, so a map that starts with a string is JSON.
fn is_json(input: &str) -> bool {
    let rest = input.trim_start();
    let rest = rest.strip_prefix('[').unwrap_or(rest).trim_start();
    rest.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'))
}

impl Events {
    fn read_edn(&mut self, input: &str, halt: &Halt) -> Result<(), Problem> {
        let mut reader = Reader::new(input);
        reader.blank()?;
        let close = if reader.eat('[') {
            Some(']')
        } else if reader.eat('(') {
            Some(')')
        } else {
            None
        };
        loop {
            if halt.is_raised() {
                return Ok(());
            }
            reader.blank()?;
            let at = reader.at();
            let Some(form) = reader.form()? else { break };
            let fields = match form {
                Form::Map(fields) => fields,
                Form::Tagged(_, form) => match *form {
                    Form::Map(fields) => fields,
                    _ => return Err(problem(at, "an event must be a map")),
                },
                _ => return Err(problem(at, "an event must be a map")),
            };
            self.list.push(Event::new(at, fields).map_err(|message| problem(at, message))?);
            self.whole = reader.at();
        }
        if let Some(close) = close {
            if reader.peek().is_none() {
                return Err(Problem {
                    at: input.len(),
                    message: format!("the text ends before `{close}`"),
                    is_end: true,
                });
            }
            if reader.eat(close) {
                reader.blank()?;
            }
        }
        match reader.peek() {
            Some(next) => Err(problem(reader.at(), format!("unexpected `{next}`"))),
            None => Ok(()),
        }
    }

    /// Where the first unreadable event begins, if whole events follow it. Then it was not written last.
    fn is_damaged(&self, input: &str) -> Option<usize> {
        let rest = input[self.whole..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let rest = if self.whole == 0 { rest.trim_start_matches(['[', '(']).trim_start() } else { rest };
        let begins_event = |(place, _): (usize, &str)| {
            let fields = match is_json(input) {
                true => json::Reader::new(rest, place).value().ok().and_then(json_fields),
                false => match Reader::new(&rest[place..]).form() {
                    Ok(Some(Form::Map(fields))) => Some(fields),
                    _ => None,
                },
            };
            fields.is_some_and(|fields| Event::new(0, fields).is_ok())
        };
        rest.match_indices('{').any(begins_event).then_some(input.len() - rest.len())
    }

    fn read_json(&mut self, input: &str, halt: &Halt) -> Result<(), Problem> {
        let mut reader = json::Reader::new(input, 0);
        reader.blank();
        let is_list = reader.eat(b'[');
        reader.blank();
        while reader.peek().is_some_and(|next| !(is_list && next == b']')) {
            if halt.is_raised() {
                return Ok(());
            }
            let at = reader.at();
            let fields = json_fields(reader.value()?).ok_or_else(|| problem(at, "an event must be an object"))?;
            self.list.push(Event::new(at, fields).map_err(|message| problem(at, message))?);
            self.whole = reader.at();
            reader.blank();
            if is_list && reader.peek() != Some(b']') {
                if !reader.eat(b',') {
                    return Err(reader.expected("`,` or `]`"));
                }
                reader.blank();
            }
        }
        if is_list && !reader.eat(b']') {
            return Err(reader.expected("`]`"));
        }
        reader.blank();
        match reader.peek() {
            Some(_) => Err(reader.expected("the end of the text")),
            None => Ok(()),
        }
    }
}

/// The fields of an event. A writer that includes the colons of keywords includes all of them.
fn json_fields(json: Json) -> Option<Vec<(Form<'static>, Form<'static>)>> {
    let Json::Object(fields) = json else { return None };
    let has_colons = fields.iter().any(|(key, _)| key.starts_with(':'));
    Some(fields.into_iter().map(|(key, value)| (json_text(key, has_colons), form(value, has_colons))).collect())
}

fn form(json: Json, has_colons: bool) -> Form<'static> {
    match json {
        Json::Null => Form::Atom(Value::Nil),
        Json::Bool(bool) => Form::Atom(Value::Bool(bool)),
        Json::Number(number) => Form::Atom(number),
        Json::Text(text) => json_text(text, has_colons),
        Json::Array(values) => Form::Sequence(values.into_iter().map(|value| form(value, has_colons)).collect()),
        Json::Object(fields) => Form::Map(
            fields.into_iter().map(|(key, value)| (json_text(key, has_colons), form(value, has_colons))).collect(),
        ),
    }
}

fn json_text(text: String, has_colons: bool) -> Form<'static> {
    match text.strip_prefix(':') {
        Some(name) if has_colons => Form::Keyword(name.to_string().into()),
        _ => Form::Atom(Value::str(text)),
    }
}

impl Event {
    fn new(at: usize, fields: Vec<(Form<'_>, Form<'_>)>) -> Result<Event, String> {
        let (mut kind, mut process, mut f, mut value) = (None, None, None, None);
        let mut has_key = false;
        let mut rest: Vec<(Arc<str>, Value)> = Vec::new();
        for (key, form) in fields {
            let Some(key) = key.name() else { return Err("a key of an event is not a keyword".into()) };
            let is_repeated = match key {
                "type" => kind.replace(Kind::new(form.name().unwrap_or_default())?).is_some(),
                "process" => process.replace(client(form.into_value()?)).is_some(),
                "f" => {
                    let name = form.name().ok_or("`:f` is not a keyword")?;
                    f.replace(Arc::from(name)).is_some()
                }
                "value" => {
                    has_key = matches!(&form, Form::Tagged(tag, pair) if is_key_tag(tag)
                        && matches!(&**pair, Form::Sequence(halves) if halves.len() == 2));
                    value.replace(form.into_value()?).is_some()
                }
                _ => {
                    let is_repeated = rest.iter().any(|(other, _)| **other == *key);
                    rest.push((key.into(), form.into_value()?));
                    is_repeated
                }
            };
            if is_repeated {
                return Err(format!("an event has `:{key}` twice"));
            }
        }
        let missing = |key| format!("an event has no `:{key}`");
        Ok(Event {
            at,
            kind: kind.ok_or_else(|| missing("type"))?,
            process: process.filter(|process| *process != Value::Nil).ok_or_else(|| missing("process"))?,
            f: f.ok_or_else(|| missing("f"))?,
            value,
            has_key,
            rest,
        })
    }

    /// The value, without its key if it has one.
    fn plain(&self, has_key: bool) -> Value {
        match self.halves() {
            Some((_, value)) if has_key => value.clone(),
            _ => self.value.clone().unwrap_or_default(),
        }
    }

    /// The halves of a value that is a pair.
    fn halves(&self) -> Option<(&Value, &Value)> {
        halves(self.value.as_ref()?)
    }
}

/// What others than clients do: who did it, the event, and whether it was said to be done.
#[derive(Default)]
struct Faults(Vec<(Value, Fault, bool)>);

impl Faults {
    /// Most things are said twice: that they begin, and that they are done.
    fn add(&mut self, event: Event, time: u64) {
        let Event { process, f, value, .. } = event;
        let note = value.filter(|value| *value != Value::Nil).map(|value| value.to_string()).unwrap_or_default();
        let begun = f.replace("stop", "start");
        let mut before = self.0.iter_mut().rev().filter(|(by, ..)| *by == process);
        if begun != *f
            && let Some((_, fault, _)) = before.by_ref().find(|(_, fault, _)| *fault.name == *begun)
        {
            fault.end = Some(time);
            return;
        }
        let last = self.0.iter_mut().rev().find(|(by, ..)| *by == process);
        match last.filter(|(_, fault, is_done)| !is_done && *fault.name == *f) {
            Some((_, fault, is_done)) => {
                (fault.note, *is_done) = (note, true);
                fault.end = Some(time).filter(|_| !f.contains("start"));
            }
            None => {
                let fault = Fault { name: f, start: time, end: None, nodes: Vec::new(), note };
                self.0.push((process, fault, false));
            }
        }
    }
}

impl Kind {
    fn new(name: &str) -> Result<Kind, String> {
        match name {
            "invoke" => Ok(Kind::Invoke),
            "ok" => Ok(Kind::Ok),
            "fail" => Ok(Kind::Fail),
            "info" => Ok(Kind::Info),
            _ => Err(format!("unrecognized `:type` `{name}` (expected `invoke`, `ok`, `fail` or `info`)")),
        }
    }
}

/// Some exporters to JSON make strings of all processes.
fn client(process: Value) -> Value {
    process.as_str().and_then(|name| name.parse().ok()).map_or(process, Value::Int)
}

fn is_key_tag(tag: &str) -> bool {
    tag.starts_with("jepsen.independent") || tag == "clojure.lang.MapEntry"
}

fn halves(value: &Value) -> Option<(&Value, &Value)> {
    match value.as_tuple()? {
        [first, second] => Some((first, second)),
        _ => None,
    }
}

/// Finds the completion of each invocation.
fn pair(events: Vec<Event>) -> Result<(Vec<Pair>, Vec<Fault>), Problem> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut open: HashMap<i64, usize> = HashMap::new();
    let mut faults = Faults::default();
    for (event, time) in events.into_iter().zip(0..) {
        let process = match event.process {
            Value::Int(process) => process,
            Value::Big(ref process) => {
                let message = format!("process {} has a number of more than 64 bits", process.digits());
                return Err(problem(event.at, message));
            }
            _ => {
                faults.add(event, time);
                continue;
            }
        };
        if event.kind == Kind::Invoke {
            open.insert(process, pairs.len());
            pairs.push(Pair { process, start: time, invocation: event, completion: None });
            continue;
        }
        let Some(index) = open.remove(&process) else {
            return Err(problem(
                event.at,
                format!("process {process} completes `{}` without having invoked it", event.f),
            ));
        };
        let invoked = &pairs[index].invocation.f;
        if *invoked != event.f {
            let message = format!("process {process} completes `{}`, but it invoked `{invoked}`", event.f);
            return Err(problem(event.at, message));
        }
        pairs[index].completion = Some((time, event));
    }
    Ok((pairs, faults.0.into_iter().map(|(_, fault, _)| fault).collect()))
}

impl Pair {
    /// The end of the operation, if it ended and that counts as an observation.
    fn ok(&self) -> Option<&Event> {
        self.completion.as_ref().map(|(_, event)| event).filter(|event| event.kind == Kind::Ok)
    }
}

impl Shape {
    fn new(pairs: &[Pair]) -> Shape {
        let mut shape = Shape { are_keyed: are_keyed(pairs), actions: BTreeMap::new() };
        for pair in pairs {
            let has_key = shape.has_key(&pair.invocation);
            let f = &pair.invocation.f;
            let action = shape.actions.entry(f.clone()).or_insert_with(|| Action::new(f));
            let given = pair.invocation.plain(has_key);
            let got = pair.ok().filter(|completion| completion.value.is_some()).map(|ok| ok.plain(has_key));
            action.add(&given, got.as_ref());
        }
        shape
    }

    fn has_key(&self, invocation: &Event) -> bool {
        self.are_keyed || invocation.has_key
    }

    fn schema(&self, f: &Arc<str>, has_key: bool) -> Schema {
        let action = &self.actions[f];
        let mut args: Vec<Arc<str>> = if has_key { vec!["key".into()] } else { Vec::new() };
        if action.is_spread {
            args.extend(["from".into(), "to".into()]);
        } else if action.takes() {
            args.push("value".into());
        }
        let results = if action.gives { vec!["value".into()] } else { Vec::new() };
        Schema { action: f.clone(), args, results }
    }

    fn call(&self, schema: &Arc<Schema>, pair: Pair) -> Call {
        let has_key = self.has_key(&pair.invocation);
        let action = &self.actions[&pair.invocation.f];
        let mut values = Vec::with_capacity(4);
        if has_key {
            values.push(pair.invocation.halves().map(|(key, _)| key.clone()).unwrap_or_default());
        }
        let given = pair.invocation.plain(has_key);
        match halves(&given) {
            Some((from, to)) if action.is_spread => values.extend([from.clone(), to.clone()]),
            _ if action.takes() => values.push(given),
            _ => {}
        }
        if let Some(completion) = pair.ok().filter(|_| action.gives) {
            values.push(completion.plain(has_key));
        }
        let mut call =
            Call::new(schema.clone(), values).expect("a value for each argument, and for each result of `ok`");
        call.failed = pair.completion.as_ref().is_some_and(|(_, completion)| completion.kind == Kind::Fail);
        call.meta = pair.meta().into();
        call
    }
}

impl Action {
    fn new(f: &str) -> Action {
        Action {
            is_source: matches!(f, "read" | "dequeue"),
            is_sink: matches!(f, "write" | "enqueue" | "add"),
            is_spread: f == "cas",
            has_value: false,
            is_echoed: false,
            is_answered: false,
            gives: matches!(f, "read" | "dequeue"),
        }
    }

    /// Takes one more operation into account: its argument, and its result if its completion has one.
    fn add(&mut self, given: &Value, got: Option<&Value>) {
        let has_value = *given != Value::Nil;
        self.has_value |= has_value;
        self.is_echoed |= has_value && got == Some(given);
        self.is_answered |= has_value && got.is_some_and(|got| got != given);
        self.gives |= got.is_some_and(|got| got != given && !(self.is_sink && *got == Value::Nil));
        self.is_spread &= halves(given).is_some();
    }

    /// Some tools copy the result of a read into its invocation, which does not make it an argument.
    fn takes(&self) -> bool {
        self.is_sink || (self.has_value && !(self.is_source && self.is_echoed && !self.is_answered))
    }
}

/// True if all values are pairs of key and value, though nothing says so. See the head of this file.
fn are_keyed(pairs: &[Pair]) -> bool {
    let has_key = |pair: &Pair| {
        let Some((key, value)) = pair.invocation.halves() else { return false };
        let is_repeated = |completion: &Event| completion.halves().is_some_and(|(other, _)| other == key);
        let is_question = *pair.invocation.f != *"read" || *value == Value::Nil;
        *key != Value::Nil && is_question && pair.ok().is_none_or(is_repeated)
    };
    pairs.iter().any(|pair| *pair.invocation.f == *"read") && pairs.iter().all(has_key)
}

impl Pair {
    fn meta(self) -> Vec<(Arc<str>, Value)> {
        let Pair { invocation, completion, .. } = self;
        let mut meta = invocation.rest;
        if let Some((_, completion)) = completion {
            // The value of a failure is not a result.
            let value = completion
                .value
                .filter(|value| completion.kind != Kind::Ok && Some(value) != invocation.value.as_ref());
            let given = meta.len();
            for (key, value) in completion.rest.into_iter().chain(value.map(|value| ("end-value".into(), value))) {
                match meta[..given].iter().find(|(other, _)| *other == key) {
                    Some((_, other)) if *other == value => {}
                    Some(_) => meta.push((format!("end-{key}").into(), value)),
                    None => meta.push((key, value)),
                }
            }
        }
        meta
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::History;
    use crate::format::damage::damaged;

    /// The operations of a trace, one per line, with their times and metadata.
    fn show(trace: &Trace) -> String {
        let records = trace.records.iter().map(|record| {
            let process = &trace.processes[record.process.index()];
            let meta: String = record.call.meta.iter().map(|(key, value)| format!(" {key}={value}")).collect();
            format!("{process} [{} {}] {}{meta}", record.start, record.end, record.call)
        });
        records.chain(trace.cuts.iter().map(Cut::to_string)).collect::<Vec<_>>().join("\n")
    }

    fn check(input: &str) -> String {
        read(input).map_or_else(|error| error.to_string(), |trace| show(&trace))
    }

    const REGISTER: &str = "\
{:type :invoke, :f :write, :value 1, :process 0, :time 10, :index 0}
{:type :info, :f :start, :process :nemesis, :value nil}
{:type :invoke, :f :read, :value nil, :process 1, :time 11}
{:type :ok, :f :write, :value 1, :process 0, :time 12, :index 3}
{:type :ok, :f :read, :value 1, :process 1, :time 13, :node \"n1\"}
{:type :invoke, :f :cas, :value [1 2], :process 0}
{:type :fail, :f :cas, :value [1 2], :process 0, :error :not-equal}
{:type :invoke, :f :cas, :value [1 3], :process 1}
{:type :info, :f :cas, :value :timed-out, :process 1}
{:type :invoke, :f :read, :value nil, :process 2}
";

    const REGISTER_JSON: &str = "\
{\"type\":\"invoke\",\"f\":\"write\",\"value\":1,\"process\":0,\"time\":10,\"index\":0}
{\"type\":\"info\",\"f\":\"start\",\"process\":\"nemesis\",\"value\":null}
{\"type\":\"invoke\",\"f\":\"read\",\"value\":null,\"process\":1,\"time\":11}
{\"type\":\"ok\",\"f\":\"write\",\"value\":1,\"process\":0,\"time\":12,\"index\":3}
{\"type\":\"ok\",\"f\":\"read\",\"value\":1,\"process\":1,\"time\":13,\"node\":\"n1\"}
{\"type\":\"invoke\",\"f\":\"cas\",\"value\":[1,2],\"process\":0}
{\"type\":\"fail\",\"f\":\"cas\",\"value\":[1,2],\"process\":0,\"error\":\"not-equal\"}
{\"type\":\"invoke\",\"f\":\"cas\",\"value\":[1,3],\"process\":1}
{\"type\":\"info\",\"f\":\"cas\",\"value\":\"timed-out\",\"process\":1}
{\"type\":\"invoke\",\"f\":\"read\",\"value\":null,\"process\":2}
";

    const REGISTER_SHOWN: &str = "\
0 [0 3] write(value: 1) time=10 index=0 end-time=12 end-index=3
1 [2 4] read() = value: 1 time=11 end-time=13 node=\"n1\"
0 [5 6] cas(from: 1, to: 2) failed error=\"not-equal\"
1 [7 ...] cas(from: 1, to: 3) end-value=\"timed-out\"
2 [9 ...] read()";

    #[test]
    fn a_register_reads_the_same_in_every_notation() {
        assert_eq!(check(REGISTER), REGISTER_SHOWN);
        assert_eq!(check(&format!("; a comment\n[{REGISTER}]\n")), REGISTER_SHOWN);
        assert_eq!(check(&format!("({})", REGISTER.replace('{', "#jepsen.history.Op{"))), REGISTER_SHOWN);
        assert_eq!(check(REGISTER_JSON), REGISTER_SHOWN);
        assert_eq!(check(&format!(" [{}]", REGISTER_JSON.trim_end().replace('\n', ",\n"))), REGISTER_SHOWN);
        let keywords = ["type", "f", "value", "process", "time", "index", "error", "node"].into_iter();
        let with_colons = keywords.fold(REGISTER_JSON.to_string(), |json, keyword| {
            json.replace(&format!("\"{keyword}\":"), &format!("\":{keyword}\":"))
        });
        assert_eq!(check(&with_colons.replace("\"not-equal", "\":not-equal")), REGISTER_SHOWN);
    }

    #[test]
    fn faults_last_until_they_are_stopped() {
        let trace = read(
            "
            {:process :nemesis :type :info :f :start-partition :value :majority}
            {:process :nemesis :type :info :f :start-partition :value [:isolated {\"n1\" #{\"n2\"}}]}
            {:process 0 :type :invoke :f :read}
            {:process :nemesis :type :info :f :kill :value :all} {:process :nemesis :type :info :f :kill :value :killed}
            {:process :nemesis :type :info :f :stop-partition} {:process :nemesis :type :info :f :stop-partition}
        ",
        );
        let shown = |event: &Fault| format!("{} {} {:?} {}", event.name, event.start, event.end, event.note);
        let shown: Vec<String> = trace.expect("a history").events.iter().map(shown).collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        start-partition 0 Some(6) <<"isolated", [n1 |-> {"n2"}]>>
        kill 3 Some(4) "killed"
        "#);
    }

    #[test]
    fn other_objects_take_and_give_values() {
        insta::assert_snapshot!(check("
            {:process 0 :type :invoke :f :enqueue :value 1} {:process 0 :type :ok :f :enqueue :value 1}
            {:process 0 :type :invoke :f :dequeue} {:process 0 :type :ok :f :dequeue :value 1}
            {:process 0 :type :invoke :f :acquire} {:process 0 :type :ok :f :acquire}
            {:process 0 :type :invoke :f :txn :value [[:append 1 2]]}
            {:process 0 :type :ok :f :txn :value [[:append 1 2]]}
            {:process 0 :type :invoke :f :txn :value [[:r 1 nil]]} {:process 0 :type :ok :f :txn :value [[:r 1 [2]]]}
            {:process 0 :type :invoke :f :txn :value [[:r 1 nil]]}
        "), @r#"
        0 [0 1] enqueue(value: 1)
        0 [2 3] dequeue() = value: 1
        0 [4 5] acquire()
        0 [6 7] txn(value: <<<<"append", 1, 2>>>>) = value: <<<<"append", 1, 2>>>>
        0 [8 9] txn(value: <<<<"r", 1, nil>>>>) = value: <<<<"r", 1, <<2>>>>>>
        0 [10 ...] txn(value: <<<<"r", 1, nil>>>>)
        "#);
        insta::assert_snapshot!(check("
            {:process 0 :type :invoke :f :add :value 1} {:process 0 :type :ok :f :add :value nil}
            {:process 0 :type :invoke :f :read} {:process 0 :type :ok :f :read :value #{2 1}}
        "), @r"
        0 [0 1] add(value: 1)
        0 [2 3] read() = value: {1, 2}
        ");
    }

    #[test]
    fn a_read_that_foretells_its_result_takes_no_argument() {
        let echoed = "{:process 0 :type :invoke :f :read :value 1} {:process 0 :type :ok :f :read :value 1}";
        insta::assert_snapshot!(check(echoed), @"0 [0 1] read() = value: 1");
        insta::assert_snapshot!(check("{:process 0 :type :invoke :f :read :value 1}"), @"0 [0 ...] read(value: 1)");
    }

    #[test]
    fn keys_are_split_off_where_they_are_certain() {
        let keyed = "
            {:process 0 :type :invoke :f :write :value [7 1]} {:process 0 :type :ok :f :write :value [7 1]}
            {:process 0 :type :invoke :f :read :value [7 nil]} {:process 0 :type :ok :f :read :value [7 1]}
            {:process 0 :type :invoke :f :cas :value [7 [1 2]]} {:process 0 :type :ok :f :cas :value [7 [1 2]]}
        ";
        insta::assert_snapshot!(check(keyed), @r"
        0 [0 1] write(key: 7, value: 1)
        0 [2 3] read(key: 7) = value: 1
        0 [4 5] cas(key: 7, from: 1, to: 2)
        ");
        insta::assert_snapshot!(
            check("{:process 0 :type :invoke :f :write :value #jepsen.independent.Tuple [7 1]}"),
            @"0 [0 ...] write(key: 7, value: 1)"
        );
        insta::assert_snapshot!(
            check("{:process 0 :type :invoke :f :write :value [7 1]}"),
            @"0 [0 ...] write(value: <<7, 1>>)"
        );
        // A register with versions also carries pairs, but it answers with another version than it was asked for.
        insta::assert_snapshot!(check("
            {:process 0 :type :invoke :f :read :value [nil nil]} {:process 0 :type :ok :f :read :value [1 5]}
        "), @"0 [0 1] read(value: <<nil, nil>>) = value: <<1, 5>>");
    }

    #[test]
    fn a_history_that_breaks_off_is_read_up_to_there() {
        let whole = "{:process 0 :type :invoke :f :a}";
        insta::assert_snapshot!(check(&format!("[{whole}\n{{:process")), @r"
        0 [0 ...] a()
        breaks off after 33 bytes: the text ends inside a map
        ");
        insta::assert_snapshot!(check(&format!("[{whole}")), @r"
        0 [0 ...] a()
        breaks off after 33 bytes: the text ends before `]`
        ");
        insta::assert_snapshot!(check("[{\"process\":0,\"type\":\"invoke\",\"f\":\"a\"},\n{\"f"), @r"
        0 [0 ...] a()
        breaks off after 38 bytes: the text ends inside a string
        ");
        insta::assert_snapshot!(check(""), @"");
        insta::assert_snapshot!(check("[]"), @"");
    }

    #[test]
    fn a_history_that_is_damaged_in_the_middle_is_refused() {
        let whole = "{:process 0 :type :invoke :f :a}\n";
        for damage in ["{:process 0 :type", "[", "\"", "{:process 0 :value [{:a 1}"] {
            let shown = check(&format!("{whole}{damage}\n{{:process 1 :type :invoke :f :a}}\n"));
            assert!(shown.starts_with("line 2: the text ends inside"), "{damage}: {shown}");
        }
        let json = "{\"process\":0,\"type\":\"invoke\",\"f\":\"a\"}\n";
        insta::assert_snapshot!(check(&format!("{json}{{\"process\":0,\"f\":\n{json}")), @"line 2: expected `,` or `}`, found the end of the text, and the form that begins here is not closed");
    }

    #[test]
    fn errors_name_the_line() {
        let invoke = "{:process 0 :type :invoke :f :a}\n";
        insta::assert_snapshot!(
            check(&format!("{invoke}{{:process 0 :type :ok :f :b}}")),
            @"line 2: process 0 completes `b`, but it invoked `a`"
        );
        insta::assert_snapshot!(
            check("\n{:process 0 :type :ok :f :b}"),
            @"line 2: process 0 completes `b` without having invoked it"
        );
        insta::assert_snapshot!(check("{:type :ok :f :b}"), @"line 1: an event has no `:process`");
        insta::assert_snapshot!(
            check("{:process 0 :type :done :f :b}"),
            @"line 1: unrecognized `:type` `done` (expected `invoke`, `ok`, `fail` or `info`)"
        );
        insta::assert_snapshot!(check("{:f :a :f :b}"), @"line 1: an event has `:f` twice");
        insta::assert_snapshot!(check(&format!("{invoke}7")), @"line 2: an event must be a map");
        insta::assert_snapshot!(check(&format!("[{invoke}] 7")), @"line 2: unexpected `7`");
        insta::assert_snapshot!(check(&format!("{invoke}{invoke}{{:a\n1 2x}}")), @"line 4: `2x` is not a number");
        insta::assert_snapshot!(check("{\"f\": 1}\n{"), @"line 1: `:f` is not a keyword");
        insta::assert_snapshot!(
            check("{\"process\":0,\"type\":\"invoke\",\"f\":\"a\"}\n{\"a\":\nx}"),
            @"line 3: expected a value, found `x`"
        );
    }

    #[test]
    fn hostile_depth_is_refused() {
        let deep = "[".repeat(1_000_000);
        insta::assert_snapshot!(check(&format!("{{:value {deep}")), @"line 1: forms nest deeper than 128");
        insta::assert_snapshot!(check(&format!("{{\"value\": {deep}")), @"line 1: a value is nested deeper than 128");
    }

    #[test]
    fn operations_after_a_crash_are_rejected_by_the_history() {
        let input = "{:process 0 :type :invoke :f :a} {:process 0 :type :info :f :a} {:process 0 :type :invoke :f :a}";
        assert!(History::new(read(input).unwrap()).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(input in any::<String>()) {
            let _ = read(&input);
        }

        #[test]
        fn damaged_histories_never_panic(
            at in any::<prop::sample::Index>(),
            with in "[\\[\\](){}\"\\\\#:_;0-9a-z ]{0,3}",
            length in 0usize..9,
        ) {
            let _ = read(&damaged(REGISTER, &at, &with, length));
        }
    }
}
