//! Readers and writers of traces, one module per format.
//!
//! A reader turns bytes into a [`Trace`](crate::Trace) without interpreting it. Input that it cannot understand is a
//! [`FormatError`] with a location; a trace that merely breaks off is read up to there, and
//! [`Trace::cuts`](crate::Trace::cuts) says so. `FORMAT.md` specifies our own formats.

pub mod binary;
mod detect;
mod edn;
mod gaps;
pub mod jepsen;
pub mod json;
pub mod jsonl;
mod lanes;
pub mod msgpack;
mod node;
pub mod otlp;
pub mod porcupine;
mod schemas;
pub mod text;

use std::sync::Arc;
use std::{fmt, io};

use thiserror::Error;

pub use self::detect::Format;
use crate::{Call, End};

/// How deep a value may nest in a trace that we read or write: `<<<<1>>>>` has depth two.
pub const MAX_DEPTH: usize = 32;

/// Why bytes could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct FormatError {
    /// The location.
    pub at: Location,
    /// The error, in lower case and without a full stop, quoting the input in backticks.
    pub message: String,
    /// A fix.
    pub help: Option<String>,
}

/// Why a trace could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file could not be written.
    #[error("cannot write the trace: {0}")]
    Io(#[from] io::Error),
    /// The format cannot express this operation.
    #[error("`{call}` cannot be written in this format: {why}")]
    Unwritable {
        /// The operation, for display.
        call: String,
        /// Why not.
        why: String,
    },
}

/// A location in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line, counted from one.
    Line(usize),
    /// A byte of a file or segment, counted from zero.
    Byte(u64),
    /// A byte of one part of a trace that has several.
    Part(String, u64),
}

/// An operation that arrives by itself, with its number in its process.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
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

/// Why a failed operation cannot be written with a latest time.
const FAILED_BY: &str = "it failed, but has a latest time";

/// Why an operation that is blocked cannot be written.
const BLOCKED_BUT: &str = "it is blocked, but failed or has results";

/// The error at which a reader of forms or values stops.
#[derive(Debug)]
pub struct Problem {
    /// The byte at which it occurs.
    pub at: usize,
    /// The message.
    pub message: String,
    /// True if the text ends inside the form, so that the part before the end is not wrong.
    pub is_end: bool,
}

impl FormatError {
    /// An error without help.
    pub fn new(at: Location, message: impl Into<String>) -> FormatError {
        FormatError { at, message: message.into(), help: None }
    }

    /// The error without its location, and its help in a line of its own.
    pub fn full(&self) -> String {
        match &self.help {
            Some(help) => format!("{}\nhelp: {help}", self.message),
            None => self.message.clone(),
        }
    }

    /// The same error with help.
    pub fn help(self, help: impl Into<String>) -> FormatError {
        FormatError { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Line(line) => write!(f, "line {line}"),
            Location::Byte(byte) => write!(f, "byte {byte}"),
            Location::Part(part, byte) => write!(f, "{part}, byte {byte}"),
        }
    }
}

/// A text of ASCII with up to `length` bytes replaced, for tests that readers survive.
#[cfg(test)]
fn damaged(text: &str, at: &proptest::sample::Index, with: &str, length: usize) -> String {
    let at = at.index(text.len());
    let end = (at + length).min(text.len());
    format!("{}{with}{}", &text[..at], &text[end..])
}

/// An error about an unknown key, with the closest known one.
fn unknown_key(at: Location, key: &str, known: &[&str]) -> FormatError {
    let hint = omnilink_suggest::hint(key, known.iter().copied());
    let help = hint.unwrap_or_else(|| format!("the keys are `{}`", known.join("`, `")));
    FormatError::new(at, format!("unknown key `{key}`")).help(help)
}
