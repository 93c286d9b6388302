//! JSON Lines: one operation per line, for people and for programs in any language. `FORMAT.md` specifies it.

use std::collections::BTreeMap;
use std::io::Write;
use std::str;
use std::sync::Arc;

use crate::format::error::{FormatError, Location, Problem, unknown_key};
use crate::format::gaps::{self, Numbered, Numbers};
use crate::format::json::Json;
use crate::format::lanes;
use crate::format::own::{BLOCKED_BUT, FAILED_BY, MAX_DEPTH, WriteError, is_skipped};
use crate::format::reader::{TraceReader, first_line};
pub use crate::format::schemas::Fields;
use crate::format::schemas::Schemas;
use crate::{Call, Cut, End, Event, Halt, ProcessId, Record, Trace, Value};

const KEYS: [&str; 12] =
    ["process", "action", "args", "results", "start", "end", "failed", "outcome", "latest", "meta", "seq", "count"];

const EVENT_KEYS: [&str; 5] = ["event", "start", "end", "nodes", "note"];

/// Reads a trace. A last line that breaks off is a loss, because lines are in any order: the operation in it may be the
/// write that an earlier line reads. Any other unreadable line is an error.
pub fn read(bytes: &[u8]) -> Result<Trace, FormatError> {
    JsonLines.read(bytes, &Halt::default())
}

/// A lower bound on the length of a line that holds an operation.
const SHORTEST: usize = 40;

/// The reader of whole files.
pub(super) struct JsonLines;

impl TraceReader for JsonLines {
    fn detect(&self, first_bytes: &[u8]) -> bool {
        let line = first_line(first_bytes);
        let has = |key: &str| line.contains(key);
        let is_beside_operations = has("\"process\"") && (has("\"progress\"") || has("\"clock_error\""));
        line.starts_with('{') && (has("\"action\"") || line.starts_with("{\"event\"") || is_beside_operations)
    }

    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
        let mut lines = Lines::default();
        // Capacity for all lines at once, so that no record is moved; a shorter line has no operation.
        let count = bytes.iter().filter(|&&byte| byte == b'\n').count();
        lines.trace.records.reserve(count.min(bytes.len() / SHORTEST));
        let cut = visit_lines(bytes, halt, |json, line| lines.add(json, line))?;
        lines.cut(bytes, cut);
        if halt.is_raised() { Ok(lines.trace) } else { lines.finish() }
    }
}

/// Visits the JSON values of lines, with the numbers of the lines. Skips empty lines and comments, and stops when `halt`
/// is raised.
///
/// Returns where the text breaks off if it ends inside the last line. Any other unreadable line is an error.
fn visit_lines(
    bytes: &[u8],
    halt: &Halt,
    mut visit: impl FnMut(Json, usize) -> Result<(), FormatError>,
) -> Result<Option<Cut>, FormatError> {
    let mut offset = 0;
    for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        if halt.is_raised() {
            break;
        }
        let is_last = !line.ends_with(b"\n");
        let text = line.trim_ascii();
        let json = match str::from_utf8(text) {
            _ if is_skipped(text) => Ok(None),
            Ok(text) => Json::parse(text).map(Some),
            Err(error) => Err(Problem {
                at: error.valid_up_to(),
                message: "a byte that is not UTF-8".into(),
                is_end: error.error_len().is_none(),
            }),
        };
        match json {
            Ok(None) => {}
            Ok(Some(json)) => visit(json, number)?,
            Err(problem) if is_last && (problem.is_end || text == b"/") => {
                let found = "the last line is incomplete".to_owned();
                return Ok(Some(Cut { part: String::new(), at_byte: offset, found }));
            }
            Err(problem) => {
                let before = String::from_utf8_lossy(&text[..problem.at]).chars().count();
                let message = format!("column {}: {}", before + 1, problem.message);
                return Err(FormatError::new(Location::Line(number), message));
            }
        }
        offset += line.len() as u64;
    }
    Ok(None)
}

/// The trace that lines are.
#[derive(Default)]
struct Lines {
    trace: Trace,
    schemas: Schemas,
    /// Each with its process, its line, and its record.
    numbered: Vec<(ProcessId, Number, usize, usize)>,
    clock_errors: BTreeMap<ProcessId, u64>,
    /// The processes that said that they are over, with the number of their operations.
    totals: BTreeMap<String, u64>,
}

impl Lines {
    /// Adds the operation or event in a line.
    fn add(&mut self, json: Json, line: usize) -> Result<(), FormatError> {
        let at = |wrong: Wrong| wrong.at(Location::Line(line));
        // Only a monitor needs to know how far a process is, but not how many operations there were.
        if json.field("progress").is_some() {
            self.totals.extend(total(&json));
            return Ok(());
        }
        if is_event(&json) {
            self.trace.events.push(read_event(json).map_err(at)?);
            return Ok(());
        }
        if json.field("clock_error").is_some() {
            let (process, error) = read_clock_error(json).map_err(at)?;
            let process = self.schemas.process(&mut self.trace, &process);
            let largest = self.clock_errors.entry(process).or_default();
            *largest = error.max(*largest);
            return Ok(());
        }
        let (record, number) = read_record(json, &mut self.trace, &mut self.schemas).map_err(at)?;
        if number != Number::default() {
            self.numbered.push((record.process, number, line, self.trace.records.len()));
        }
        self.trace.records.push(record);
        Ok(())
    }

    /// Notes that the text breaks off inside a line, which may be an operation.
    fn cut(&mut self, text: &[u8], cut: Option<Cut>) {
        let Some(cut) = cut else { return };
        let rest = text.get(cut.at_byte as usize..).unwrap_or_default().trim_ascii();
        match ["{\"event\"", "{\"progress\"", "/"].iter().any(|beginning| rest.starts_with(beginning.as_bytes())) {
            true => self.trace.cuts.push(cut),
            false => {
                let line = text.iter().filter(|&&byte| byte == b'\n').count() + 1;
                self.trace.losses.push(format!("line {line}, the last one, is incomplete"));
            }
        }
    }

    /// The trace, with the losses that numbers show.
    fn finish(mut self) -> Result<Trace, FormatError> {
        if !self.numbered.is_empty() {
            find_gaps(&self.numbered, &self.totals, &mut self.trace)?;
            sort_by_number(&self.numbered, &mut self.trace);
        }
        lanes::widen(&mut self.trace, &self.clock_errors);
        Ok(self.trace)
    }
}

/// The number of an operation in its process, and the number of operations that the process has had with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Number {
    seq: Option<u64>,
    count: Option<u64>,
}

/// The process that says with this line that it is over, and the number of its operations.
fn total(json: &Json) -> Option<(String, u64)> {
    let text = |name: &str| json.field(name).map(ToString::to_string);
    let process = match json.field("process")? {
        Json::Text(process) => process.clone(),
        process => process.to_string(),
    };
    let is_last = text("is_last").as_deref() == Some("true");
    let operations = text("operations")?.parse().ok()?;
    is_last.then_some((process, operations))
}

/// Finds operations that are missing. Each number comes with its line.
fn find_gaps(
    numbered: &[(ProcessId, Number, usize, usize)],
    totals: &BTreeMap<String, u64>,
    trace: &mut Trace,
) -> Result<(), FormatError> {
    let names = trace.processes.clone();
    let mut processes: BTreeMap<&str, Numbers> = BTreeMap::new();
    for record in &trace.records {
        processes.entry(&names[record.process.index()]).or_default().without += 1;
    }
    for (process, number, ..) in numbered {
        let numbers = processes.entry(&names[process.index()]).or_default();
        numbers.given.extend(number.seq);
        numbers.without -= u64::from(number.seq.is_some());
        numbers.count = numbers.count.max(number.count);
    }
    for (process, total) in totals {
        processes.entry(process).or_default().total = Some(*total);
    }
    for (process, _, line, _) in numbered {
        let name = &*names[process.index()];
        if processes[name].without > 0 && !processes[name].given.is_empty() {
            let message = format!("some operations of `{}` have a `seq`, and some do not", name.escape_debug());
            return Err(FormatError::new(Location::Line(*line), message));
        }
    }
    gaps::find(processes, "seq", "count", trace);
    Ok(())
}

/// Puts the operations of each process into the order of their numbers, which counts where times are equal.
fn sort_by_number(numbered: &[(ProcessId, Number, usize, usize)], trace: &mut Trace) {
    let mut by_process: BTreeMap<ProcessId, Vec<(u64, usize)>> = BTreeMap::new();
    for (process, number, _, record) in numbered {
        by_process.entry(*process).or_default().extend(number.seq.map(|seq| (seq, *record)));
    }
    for numbers in by_process.into_values().filter(|numbers| !numbers.is_sorted()) {
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        let records: Vec<Record> = sorted.iter().map(|(_, record)| trace.records[*record].clone()).collect();
        for ((_, place), record) in numbers.into_iter().zip(records) {
            trace.records[place] = record;
        }
    }
}

/// Reads operations line by line, as they come.
#[derive(Debug, Default)]
pub struct Live {
    schemas: Schemas,
    processes: Trace,
}

/// The most processes and shapes of calls that lines share.
const MOST_SHARED: usize = 100_000;

impl Live {
    /// The operation of a line that was parsed; `None` for an event.
    pub fn operation(&mut self, json: Json) -> Result<Option<Numbered>, String> {
        if is_event(&json) {
            return read_event(json).map(|_| None).map_err(message);
        }
        if self.schemas.len() > MOST_SHARED {
            *self = Live::default();
        }
        let wrong = |wrong: Wrong| wrong.at(Location::Line(1)).message;
        let (record, Number { seq, .. }) = read_record(json, &mut self.processes, &mut self.schemas).map_err(wrong)?;
        let process = self.processes.processes[record.process.index()].clone();
        Ok(Some(Numbered { process, seq, start: record.start, end: record.end, call: record.call }))
    }
}

/// Writes a trace, one operation or event per line.
pub fn write(trace: &Trace, mut out: impl Write) -> Result<(), WriteError> {
    for event in &trace.events {
        writeln!(out, "{}", write_event(event))?;
    }
    for record in &trace.records {
        let line = write_record(trace, record);
        let line = line.map_err(|why| WriteError::Unwritable { call: record.call.to_string(), why })?;
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// Arguments or results as in a line: a name, empty for a positional one, and a value.
pub fn read_fields_of(text: &str) -> Result<Fields, String> {
    Json::parse(text).map_err(|problem| problem.message).and_then(|json| read_fields("the text", json).map_err(message))
}

/// The same as text.
pub fn write_fields_of(names: &[Arc<str>], values: &[Value]) -> Result<String, String> {
    write_fields(names, values).map(|json| json.to_string())
}

/// Arguments or results, if their text was read already.
pub(super) fn fields_of(json: Json) -> Result<Fields, String> {
    read_fields("the value", json).map_err(message)
}

/// A value, if its text was read already.
pub(super) fn value_of(json: Json) -> Result<Value, String> {
    read_value(json, 0).map_err(message)
}

/// A value as in a line.
pub fn read_value_of(text: &str) -> Result<Value, String> {
    Json::parse(text).map_err(|problem| problem.message).and_then(|json| read_value(json, 0).map_err(message))
}

/// The same as text.
pub fn write_value_of(value: &Value) -> Result<String, String> {
    write_value(value, 0).map(|json| json.to_string())
}

fn message(wrong: Wrong) -> String {
    wrong.message
}

/// The error in a line.
struct Wrong {
    message: String,
    help: Option<&'static str>,
    /// The keys that there are, if the message is another one.
    known_keys: Option<&'static [&'static str]>,
}

impl Wrong {
    fn new(message: impl Into<String>) -> Wrong {
        Wrong { message: message.into(), help: None, known_keys: None }
    }

    fn help(self, help: &'static str) -> Wrong {
        Wrong { help: Some(help), ..self }
    }

    fn at(self, at: Location) -> FormatError {
        if let Some(keys) = self.known_keys {
            return unknown_key(at, &self.message, keys);
        }
        FormatError { at, message: self.message, help: self.help.map(str::to_owned) }
    }
}

fn read_record(json: Json, trace: &mut Trace, schemas: &mut Schemas) -> Result<(Record, Number), Wrong> {
    let Json::Object(fields) = json else {
        return Err(Wrong::new(format!("a line is {}, not an object", json.kind())));
    };
    let (mut process, mut action, mut start, mut end, mut failed) = (None, None, None, None, false);
    let (mut is_unknown, mut blocked, mut latest, mut number) = (false, false, None, Number::default());
    let (mut args, mut results, mut meta) = (Fields::new(), None, Vec::new());
    for (key, json) in fields {
        match key.as_str() {
            "process" => process = Some(read_process(json)?),
            "action" => action = Some(read_action(json)?),
            "args" => args = read_fields("args", json)?,
            "results" => results = Some(json),
            "start" => start = Some(read_time("start", &json)?),
            "end" if matches!(json, Json::Null) => {}
            "end" => end = Some(read_time("end", &json)?),
            "failed" => match json {
                Json::Bool(bool) => failed = bool,
                other => return Err(Wrong::new(format!("`failed` is {}, not `true` or `false`", other.kind()))),
            },
            "outcome" => match json {
                Json::Text(text) if text == "unknown" => is_unknown = true,
                Json::Text(text) if text == "blocked" => blocked = true,
                Json::Text(text) => {
                    return Err(Wrong::new(format!(
                        "`outcome` is `{}`, not `unknown` or `blocked`",
                        text.escape_debug()
                    ))
                    .help("an operation that returned has an `end`, and one that had no effect is `failed`"));
                }
                other => {
                    return Err(Wrong::new(format!(
                        "`outcome` is {}, not the string `unknown` or `blocked`",
                        other.kind()
                    )));
                }
            },
            "latest" if matches!(json, Json::Null) => {}
            "latest" => latest = Some(read_time("latest", &json)?),
            "seq" => number.seq = Some(read_number("seq", &json)?),
            "count" => number.count = Some(read_number("count", &json)?),
            "meta" => match json {
                Json::Object(fields) => meta = read_names(fields)?,
                other => return Err(Wrong::new(format!("`meta` is {}, not an object", other.kind()))),
            },
            _ => return Err(Wrong { known_keys: Some(&KEYS), ..Wrong::new(key) }),
        }
    }
    let missing = |key: &str| Wrong::new(format!("the key `{key}` is missing"));
    let process = schemas.process(trace, &process.ok_or_else(|| missing("process"))?);
    let action = action.ok_or_else(|| missing("action"))?;
    let start = start.ok_or_else(|| missing("start"))?;
    if end.is_some() && (is_unknown || latest.is_some()) {
        let help = "leave out `end`: the time at which a client stops waiting does not bound its operation; \
                    give its bound, if known, as `latest`";
        let field = if is_unknown { "`outcome` is unknown" } else { "there is a `latest` time" };
        return Err(Wrong::new(format!("{field}, but there is an `end`")).help(help));
    }
    if failed && (is_unknown || latest.is_some()) {
        return Err(Wrong::new("a failed operation cannot have an unknown outcome"));
    }
    if blocked && (end.is_some() || latest.is_some()) {
        return Err(Wrong::new("`outcome` is blocked, but there is an `end` or a `latest` time"));
    }
    if blocked && failed {
        return Err(Wrong::new(BLOCKED_BUT));
    }
    let results = match results {
        None => Fields::new(),
        Some(Json::Null) if end.is_none() => Fields::new(), // Programs that write every key do this.
        Some(json) => read_fields("results", json)?,
    };
    if end.is_none() && !results.is_empty() {
        let help = "an unfinished operation has no results; leave them out, or add its `end`";
        return Err(Wrong::new("there are `results` but no `end`").help(help));
    }
    let mut call = schemas.call(&action, args, results);
    (call.failed, call.blocked) = (failed, blocked);
    call.meta = meta.into();
    Ok((Record { process, start, end: end.map_or(End::Unknown { latest }, End::At), call }, number))
}

/// True for the line of an event.
fn is_event(json: &Json) -> bool {
    matches!(json, Json::Object(fields) if fields.iter().any(|(key, _)| key == "event"))
}

/// True if a line that can be read has an operation.
pub(super) fn is_operation_line(line: &[u8]) -> bool {
    let json = str::from_utf8(line).ok().and_then(|text| Json::parse(text).ok());
    json.is_some_and(|json| ["event", "progress", "clock_error"].iter().all(|key| json.field(key).is_none()))
}

/// The process of a clock, and the largest difference between its time and true time.
fn read_clock_error(json: Json) -> Result<(String, u64), Wrong> {
    let Json::Object(fields) = json else { unreachable!("a line with a key is an object") };
    let (mut process, mut error) = (None, None);
    for (key, json) in fields {
        match key.as_str() {
            "process" => process = Some(read_process(json)?),
            "clock_error" => error = Some(read_time("clock_error", &json)?),
            _ => return Err(Wrong { known_keys: Some(&["process", "clock_error"]), ..Wrong::new(key) }),
        }
    }
    let missing = |key: &str| Wrong::new(format!("the key `{key}` is missing"));
    Ok((process.ok_or_else(|| missing("process"))?, error.ok_or_else(|| missing("clock_error"))?))
}

fn read_event(json: Json) -> Result<Event, Wrong> {
    let Json::Object(fields) = json else { unreachable!("an event is an object") };
    let (mut event, mut start) = (Event::default(), None);
    let text = |key: &str, json: Json| match json {
        Json::Text(text) => Ok(text),
        other => Err(Wrong::new(format!("`{key}` is {}, not a string", other.kind()))),
    };
    for (key, json) in fields {
        match key.as_str() {
            "event" => event.name = text("event", json)?.into(),
            "note" => event.note = text("note", json)?,
            "start" => start = Some(read_time("start", &json)?),
            "end" if matches!(json, Json::Null) => {}
            "end" => event.end = Some(read_time("end", &json)?),
            "nodes" => match json {
                Json::Array(nodes) => {
                    let nodes = nodes.into_iter().map(|node| Ok(text("nodes", node)?.into()));
                    event.nodes = nodes.collect::<Result<_, Wrong>>()?;
                }
                other => return Err(Wrong::new(format!("`nodes` is {}, not an array of strings", other.kind()))),
            },
            _ => return Err(Wrong { known_keys: Some(&EVENT_KEYS), ..Wrong::new(key) }),
        }
    }
    event.start = start.ok_or_else(|| Wrong::new("the key `start` is missing"))?;
    if event.end.is_some_and(|end| end < event.start) {
        return Err(Wrong::new(format!("the event `{}` ends before it starts", event.name.escape_debug())));
    }
    Ok(event)
}

fn time(time: u64) -> Json {
    Json::Number(Value::integer(&time.to_string()).expect("digits"))
}

fn write_event(event: &Event) -> Json {
    let mut fields: Vec<(String, Json)> =
        vec![("event".into(), Json::Text(event.name.to_string())), ("start".into(), time(event.start))];
    if let Some(end) = event.end {
        fields.push(("end".into(), time(end)));
    }
    if !event.nodes.is_empty() {
        let nodes = event.nodes.iter().map(|node| Json::Text(node.to_string()));
        fields.push(("nodes".into(), Json::Array(nodes.collect())));
    }
    if !event.note.is_empty() {
        fields.push(("note".into(), Json::Text(event.note.clone())));
    }
    Json::Object(fields)
}

fn read_process(json: Json) -> Result<String, Wrong> {
    match json {
        Json::Text(name) => Ok(name),
        Json::Number(number) if !matches!(number, Value::Float(_)) => Ok(number.to_string()),
        other => Err(Wrong::new(format!("`process` is {}, not an integer or a string", other.kind()))),
    }
}

fn read_action(json: Json) -> Result<String, Wrong> {
    match json {
        Json::Text(name) => Ok(name),
        other => Err(Wrong::new(format!("`action` is {}, not a string", other.kind()))),
    }
}

fn read_time(key: &str, json: &Json) -> Result<u64, Wrong> {
    let Json::Number(number) = json else {
        return Err(Wrong::new(format!("`{key}` is {}, not an integer", json.kind())));
    };
    let is_integer = !matches!(number, Value::Float(_));
    number.to_string().parse().map_err(|_| match number < &Value::Int(0) {
        true if is_integer => Wrong::new(format!("`{key}` is {number}, but times cannot be negative")),
        _ => Wrong::new(format!("`{key}` is {number}, which is not an integer of 64 bits"))
            .help("times are integers; count in a smaller unit, such as nanoseconds, instead of fractions"),
    })
}

fn read_number(key: &str, json: &Json) -> Result<u64, Wrong> {
    let number = if let Json::Number(number) = json { number.to_string().parse().ok() } else { None };
    number.ok_or_else(|| Wrong::new(format!("`{key}` is not an integer of 64 bits from 0 on")))
}

/// Arguments or results: named in an object, positional in an array, or a single one by itself.
fn read_fields(key: &str, json: Json) -> Result<Fields, Wrong> {
    match json {
        Json::Object(fields) => match fields.as_slice() {
            [(name, _)] if is_reserved(name) => Err(Wrong::new(format!("`{key}` is a value with `{name}`"))
                .help("an object gives names to arguments or results; put a single set or function into an array")),
            _ => read_names(fields),
        },
        Json::Array(elements) => {
            elements.into_iter().map(|element| Ok((Arc::from(""), read_value(element, 0)?))).collect()
        }
        scalar => Ok(vec![(Arc::from(""), read_value(scalar, 0)?)]),
    }
}

fn read_names(fields: Vec<(String, Json)>) -> Result<Fields, Wrong> {
    fields.into_iter().map(|(name, json)| Ok((name.into(), read_value(json, 0)?))).collect()
}

fn is_reserved(name: &str) -> bool {
    matches!(name, "#set" | "#fun")
}

fn read_value(json: Json, depth: usize) -> Result<Value, Wrong> {
    let is_nested = matches!(json, Json::Array(_) | Json::Object(_));
    if is_nested && depth == MAX_DEPTH {
        return Err(Wrong::new(too_deep()));
    }
    match json {
        Json::Null => Ok(Value::Nil),
        Json::Bool(bool) => Ok(Value::Bool(bool)),
        Json::Number(number) => Ok(number),
        Json::Text(text) => Ok(Value::str(text)),
        Json::Array(elements) => Ok(Value::tuple(read_elements(elements, depth)?)),
        Json::Object(mut fields) => match fields.as_slice() {
            [(name, Json::Array(_))] if is_reserved(name) => {
                let Some((name, Json::Array(elements))) = fields.pop() else { unreachable!("it was just matched") };
                if name == "#set" {
                    Ok(Value::set(read_elements(elements, depth)?))
                } else {
                    read_function(elements, depth)
                }
            }
            [(name, other)] if is_reserved(name) => {
                Err(Wrong::new(format!("`{name}` is {}, not an array", other.kind())))
            }
            _ => {
                let pairs = fields.into_iter().map(|(name, json)| Ok((Value::str(name), read_value(json, depth + 1)?)));
                let pairs: Result<Vec<_>, Wrong> = pairs.collect();
                Ok(Value::function(pairs?).expect("no key occurs twice"))
            }
        },
    }
}

fn read_elements(elements: Vec<Json>, depth: usize) -> Result<Vec<Value>, Wrong> {
    elements.into_iter().map(|element| read_value(element, depth + 1)).collect()
}

fn read_function(elements: Vec<Json>, depth: usize) -> Result<Value, Wrong> {
    let mut pairs = Vec::with_capacity(elements.len());
    for element in elements {
        let pair = match element {
            Json::Array(pair) => <[Json; 2]>::try_from(pair).ok(),
            _ => None,
        };
        let [argument, result] = pair.ok_or_else(|| Wrong::new("`#fun` is not an array of pairs"))?;
        pairs.push((read_value(argument, depth + 1)?, read_value(result, depth + 1)?));
    }
    Value::function(pairs).ok_or_else(|| Wrong::new("`#fun` has two results for one argument"))
}

fn too_deep() -> String {
    format!("a value is nested deeper than {MAX_DEPTH}")
}

fn write_record(trace: &Trace, record: &Record) -> Result<Json, String> {
    let call: &Call = &record.call;
    if record.end.is_unknown() && !call.results().is_empty() {
        return Err("it has results but no end".into());
    }
    let name = &trace.processes[record.process.index()];
    let number = Value::integer(name).filter(|number| number.to_string() == **name);
    let mut line = vec![
        ("process".to_owned(), number.map_or_else(|| Json::Text((**name).into()), Json::Number)),
        ("action".to_owned(), Json::Text(call.action().into())),
    ];
    if !call.args().is_empty() {
        line.push(("args".into(), write_fields(&call.schema().args, call.args())?));
    }
    if !call.results().is_empty() {
        line.push(("results".into(), write_fields(&call.schema().results, call.results())?));
    }
    line.push(("start".into(), time(record.start)));
    match record.end {
        _ if call.blocked && (call.failed || !call.results().is_empty()) => return Err(BLOCKED_BUT.into()),
        _ if call.blocked => line.push(("outcome".into(), Json::Text("blocked".into()))),
        End::At(end) => line.push(("end".into(), time(end))),
        End::Unknown { latest: None } => {}
        End::Unknown { latest: Some(_) } if call.failed => return Err(FAILED_BY.into()),
        End::Unknown { latest: Some(latest) } => {
            line.push(("outcome".into(), Json::Text("unknown".into())));
            line.push(("latest".into(), time(latest)));
        }
    }
    if call.failed {
        line.push(("failed".into(), Json::Bool(true)));
    }
    if !call.meta.is_empty() {
        line.push(("meta".into(), write_names(call.meta.iter().map(|(name, value)| (name, value)))?));
    }
    Ok(Json::Object(line))
}

fn write_fields(names: &[Arc<str>], values: &[Value]) -> Result<Json, String> {
    if names.iter().all(|name| name.is_empty()) {
        return values.iter().map(|value| write_value(value, 0)).collect::<Result<_, _>>().map(Json::Array);
    }
    if let [name] = names
        && is_reserved(name)
    {
        return Err(format!("a single field has the reserved name `{name}`"));
    }
    write_names(names.iter().zip(values))
}

fn write_names<'a>(fields: impl Iterator<Item = (&'a Arc<str>, &'a Value)>) -> Result<Json, String> {
    let mut object: Vec<(String, Json)> = Vec::new();
    for (name, value) in fields {
        if object.iter().any(|(other, _)| **other == **name) {
            return Err(format!("the name `{name}` occurs twice"));
        }
        object.push(((**name).into(), write_value(value, 0)?));
    }
    Ok(Json::Object(object))
}

fn write_value(value: &Value, depth: usize) -> Result<Json, String> {
    let is_nested = matches!(value, Value::Tuple(_) | Value::Set(_) | Value::Function(_));
    if is_nested && depth == MAX_DEPTH {
        return Err(too_deep());
    }
    let elements = |elements: &[Value]| -> Result<Json, String> {
        elements.iter().map(|each| write_value(each, depth + 1)).collect::<Result<_, _>>().map(Json::Array)
    };
    let marked = |mark: &str, json| Json::Object(vec![(mark.to_owned(), json)]);
    Ok(match value {
        Value::Nil => Json::Null,
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Int(_) | Value::Big(_) | Value::Float(_) => Json::Number(value.clone()),
        Value::Str(text) => Json::Text((**text).into()),
        Value::Tuple(tuple) => elements(tuple)?,
        Value::Set(set) => marked("#set", elements(set.elements())?),
        Value::Function(function) => {
            let names: Option<Vec<&str>> = function.pairs().iter().map(|(name, _)| name.as_str()).collect();
            let results = function.pairs().iter().map(|(_, result)| write_value(result, depth + 1));
            match names {
                Some(names) if !matches!(names.as_slice(), [name] if is_reserved(name)) => {
                    let fields = names.into_iter().zip(results).map(|(name, result)| Ok((name.to_owned(), result?)));
                    Json::Object(fields.collect::<Result<_, String>>()?)
                }
                _ => {
                    let arguments = function.pairs().iter().map(|(argument, _)| write_value(argument, depth + 1));
                    let pairs =
                        arguments.zip(results).map(|(argument, result)| Ok(Json::Array(vec![argument?, result?])));
                    marked("#fun", Json::Array(pairs.collect::<Result<Vec<_>, String>>()?))
                }
            }
        }
    })
}

#[cfg(test)]
mod tests;
