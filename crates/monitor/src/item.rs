//! What comes in: operations, and the progress of processes.

use std::sync::Arc;

use history::format::json::Json;
use history::format::jsonl;
use history::{Call, End};

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Its process.
    pub process: Arc<str>,
    /// Its number in its process, from 0; `None` if operations are not numbered, and losses are not noticed.
    pub seq: Option<u64>,
    /// A time before it began.
    pub start: u64,
    /// Its end.
    pub end: End,
    /// The call.
    pub call: Call,
}

/// A line of input.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An operation.
    Operation(Item),
    /// A process will not start an operation before a time.
    Progress {
        /// The process.
        process: Arc<str>,
        /// The time.
        time: u64,
        /// The number of its operations so far, if they are numbered.
        operations: Option<u64>,
        /// Whether it starts no operation any more.
        is_last: bool,
    },
    /// Nothing: an empty line, a comment or an event.
    Nothing,
}

/// Reads a line: an operation in JSON Lines, with its `seq` if operations are numbered, or the progress of a process,
/// `{"process": "a", "progress": 12, "operations": 3, "is_last": true}`.
pub fn read_line(line: &str) -> Result<Line, String> {
    let text = line.trim();
    if text.starts_with("{") && text.contains("\"progress\"") {
        return read_progress(text);
    }
    let mut trace = jsonl::read(format!("{text}\n").as_bytes()).map_err(|error| error.to_string())?;
    let Some(record) = trace.records.pop() else { return Ok(Line::Nothing) };
    let process = trace.processes[record.process.index()].clone();
    let seq = jsonl::seq_of(text);
    Ok(Line::Operation(Item { process, seq, start: record.start, end: record.end, call: record.call }))
}

fn read_progress(text: &str) -> Result<Line, String> {
    let json = Json::parse(text).map_err(|problem| problem.message)?;
    let Json::Object(fields) = &json else { return Err("not an object".to_owned()) };
    const KEYS: [&str; 4] = ["process", "progress", "operations", "is_last"];
    if let Some((key, _)) = fields.iter().find(|(key, _)| !KEYS.contains(&&**key)) {
        return Err(format!("unknown key `{key}`: the keys are `{}`", KEYS.join("`, `")));
    }
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(value) = json.field(name) else { return Ok(None) };
        value.to_string().parse().map(Some).map_err(|_| format!("`{name}` is {value}, not a number from 0"))
    };
    let process = match json.field("process") {
        Some(Json::Text(process)) => Arc::from(&**process),
        Some(Json::Number(process)) => Arc::from(process.to_string()),
        _ => return Err("`process` is missing, or neither a number nor a string".to_owned()),
    };
    let time = number("progress")?.ok_or("`progress` is missing")?;
    let is_last = match json.field("is_last").map(ToString::to_string).as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => return Err(format!("`is_last` is {other}, not a truth value")),
    };
    Ok(Line::Progress { process, time, operations: number("operations")?, is_last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_operations_or_progress() {
        let line = r#"{"process": "a", "action": "read", "args": [1], "results": [2], "start": 3, "end": 4, "seq": 5}"#;
        let Ok(Line::Operation(item)) = read_line(line) else { panic!("an operation") };
        assert_eq!((item.seq, item.start, item.call.meta.len()), (Some(5), 3, 0));
        let progress = read_line(r#"{"process": "a", "progress": 12, "operations": 3, "is_last": true}"#);
        let expected = Line::Progress { process: "a".into(), time: 12, operations: Some(3), is_last: true };
        assert_eq!(progress, Ok(expected));
        assert_eq!(read_line("# a comment"), Ok(Line::Nothing));
        let wrong = |line: &str| read_line(line).unwrap_err();
        insta::assert_snapshot!(wrong(r#"{"progress": 12}"#), @"`process` is missing, or neither a number nor a string");
        insta::assert_snapshot!(wrong(r#"{"process": "a", "progress": -1}"#), @"`progress` is -1, not a number from 0");
        insta::assert_snapshot!(wrong(r#"{"process": "a", "progress": 1, "last": true}"#), @"unknown key `last`: the keys are `process`, `progress`, `operations`, `is_last`");
    }
}
