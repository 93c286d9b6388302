//! Lines of input: operations, transactions, and the progress of processes.

use std::sync::Arc;

pub use omnilink_history::format::Numbered as Item;
use omnilink_history::format::json::Json;
use omnilink_history::format::jsonl;
use omnilink_isolation::read::Transaction;

/// A line of input.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An operation.
    Operation(Item),
    /// A transaction.
    Transaction(Box<Transaction>),
    /// The progress of a process: it starts no operation before a time.
    Progress {
        /// The process.
        process: Arc<str>,
        /// The time.
        time: u64,
        /// The number of operations of the process so far, if they are numbered.
        operations: Option<u64>,
        /// Whether the process starts no further operation.
        is_last: bool,
    },
    /// Nothing: an empty line, a comment or an event.
    Nothing,
}

impl Line {
    /// The process of an operation or a transaction.
    pub fn process(&self) -> Option<&Arc<str>> {
        match self {
            Line::Operation(item) => Some(&item.process),
            Line::Transaction(txn) => Some(&txn.process),
            Line::Progress { .. } | Line::Nothing => None,
        }
    }
}

/// Reads lines. Calls of the same shape share its schemas.
#[derive(Debug, Default)]
pub struct Lines(jsonl::Live);

impl Lines {
    /// Reads a line: an operation in JSON Lines, with its `seq` if operations are numbered, a transaction, which has a field
    /// `txn`, or the progress of a process, `{"process": "a", "progress": 12, "operations": 3, "is_last": true}`.
    pub fn read(&mut self, line: &str) -> Result<Line, String> {
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') || text.starts_with("//") {
            return Ok(Line::Nothing);
        }
        let json = Json::parse(text).map_err(|problem| problem.message)?;
        match json.field("progress") {
            Some(_) => read_progress(&json),
            None if json.field("txn").is_some() => Transaction::read(&json).map(|txn| Line::Transaction(Box::new(txn))),
            None => match self.0.operation(json)? {
                Some(item) if item.seq == Some(u64::MAX) => {
                    Err(format!("`seq` is {}: the number after it is too large", u64::MAX))
                }
                item => Ok(item.map_or(Line::Nothing, Line::Operation)),
            },
        }
    }
}

fn read_progress(json: &Json) -> Result<Line, String> {
    let Json::Object(fields) = json else { return Err("not an object".to_owned()) };
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
        let Ok(Line::Operation(item)) = Lines::default().read(line) else { panic!("an operation") };
        assert_eq!((item.seq, item.start, item.call.meta.len()), (Some(5), 3, 0));
        let progress = Lines::default().read(r#"{"process": "a", "progress": 12, "operations": 3, "is_last": true}"#);
        let expected = Line::Progress { process: "a".into(), time: 12, operations: Some(3), is_last: true };
        assert_eq!(progress, Ok(expected));
        assert_eq!(Lines::default().read("# a comment"), Ok(Line::Nothing));
        let wrong = |line: &str| Lines::default().read(line).unwrap_err();
        let last = line.replace("5}", "18446744073709551615}");
        insta::assert_snapshot!(wrong(&last), @"`seq` is 18446744073709551615: the number after it is too large");
        insta::assert_snapshot!(wrong(r#"{"progress": 12}"#), @"`process` is missing, or neither a number nor a string");
        insta::assert_snapshot!(wrong(r#"{"process": "a", "progress": -1}"#), @"`progress` is -1, not a number from 0");
        insta::assert_snapshot!(wrong(r#"{"process": "a", "progress": 1, "last": true}"#), @"unknown key `last`: the keys are `process`, `progress`, `operations`, `is_last`");
    }
}
