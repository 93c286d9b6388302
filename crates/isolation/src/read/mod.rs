//! Readers of transactions: JSON Lines with a field `txn`, Jepsen's histories in EDN and JSON, histories of dbcop, histories with the
//! timestamps of Chronos, and texts of other checkers.

mod chronos;
mod dbcop;
mod edn;
mod jepsen;
mod jsonl;
mod line;
mod text;

use omnilink_history::Halt;
use omnilink_history::format::json::Json;
use omnilink_history::format::{Format, FormatError, Location};
use thiserror::Error;

pub use crate::single::Transaction;
use crate::transactions::{BuildError, Transactions};

/// Why transactions could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The bytes cannot be understood.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The transactions are not a history.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl ReadError {
    /// A fix, if there is one.
    pub fn help(&self) -> Option<&str> {
        match self {
            ReadError::Format(error) => error.help.as_deref(),
            ReadError::Build(_) => None,
        }
    }
}

/// The same as [`transactions`] for histories of Jepsen, without the reader for their common form: tests compare both.
#[doc(hidden)]
pub fn jepsen_plainly(bytes: &[u8], halt: &Halt) -> Result<Transactions, ReadError> {
    jepsen::read(Format::Jepsen, bytes, halt)
}

/// Reads transactions in any of the formats.
pub fn transactions(bytes: &[u8], halt: &Halt) -> Result<Transactions, ReadError> {
    if dbcop::is_binary(bytes) {
        return dbcop::read_binary(bytes);
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| FormatError::new(Location::Byte(error.valid_up_to() as u64), "a byte that is not UTF-8"))?;
    let is_progress = |line: &str| line.starts_with('{') && line.contains("\"progress\"") && !line.contains("\"txn\"");
    let is_comment =
        |line: &&str| line.is_empty() || line.starts_with("//") || line.starts_with('#') || is_progress(line);
    let first = text.lines().map(str::trim).find(|line| !is_comment(line)).unwrap_or_default();
    let is_access = |line: &str, names: &[&str]| names.iter().any(|name| line.starts_with(name));
    let is_ours = |line: &str| ["\"txn\"", "\"versions\""].iter().any(|key| line.contains(key));
    if first.is_empty() || (first.starts_with('{') && is_ours(first) && !first.contains("\"type\"")) {
        return jsonl::read(text, halt);
    }
    if is_access(first, &["r(", "w("]) {
        return text::read_calls(text);
    }
    if is_access(first, &["r ", "w ", "---", "==="]) {
        return text::read_blocks(text);
    }
    let is_event = |line: &str| line.contains(":=") || line.contains("==");
    if first.starts_with('[') && is_event(first.split(']').next().unwrap_or_default()) {
        return dbcop::read_text(text);
    }
    if let Some(result) = read_document(text) {
        return result;
    }
    if first.starts_with(['{', '[', '('])
        && let Some(builder) = edn::read(text)
    {
        return Ok(builder.finish()?);
    }
    match Format::detect(&bytes[..bytes.len().min(4096)]) {
        Some(format @ (Format::Jepsen | Format::JsonLines)) => jepsen::read(format, bytes, halt),
        _ => Err(FormatError::new(Location::Line(1), "unrecognized format of transactions")
            .help("JSON Lines have a field `txn`; Jepsen's histories have operations `:f :txn`")
            .into()),
    }
}

/// Reads a text that is one JSON document of dbcop or Chronos.
fn read_document(text: &str) -> Option<Result<Transactions, ReadError>> {
    /// The bytes in which the fields that identify a format are found.
    const HEAD: usize = 4_096;
    let head: String = text.chars().take(HEAD).collect();
    let is_chronos = text.trim_start().starts_with('[') && head.contains("\"sts\"") && head.contains("\"ops\"");
    let is_dbcop = text.trim_start().starts_with('{') && head.contains("\"data\"") && head.contains("\"params\"");
    if !is_chronos && !is_dbcop {
        return None;
    }
    let json = match Json::parse(text) {
        Ok(json) => json,
        Err(problem) => {
            return Some(Err(FormatError::new(Location::Byte(problem.at as u64), problem.message).into()));
        }
    };
    match &json {
        Json::Array(txns) if txns.first().is_some_and(chronos::is_txn) => Some(chronos::read(txns)),
        Json::Object(_) => Some(dbcop::read_json(&json)),
        _ => None,
    }
}
