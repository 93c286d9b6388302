//! Readers and writers of recordings, one module per format.
//!
//! A reader turns bytes into a [`Trace`](crate::Trace) and claims nothing about meaning. What it cannot understand is a
//! [`FormatError`] that says where; a recording that merely breaks off is read up to there, and the trace says so in
//! [`Trace::cuts`](crate::Trace::cuts). `FORMAT.md` specifies the formats that are our own.

pub mod binary;
mod detect;
mod edn;
pub mod jepsen;
mod json;
pub mod jsonl;
pub mod msgpack;
pub mod porcupine;
mod schemas;
pub mod text;

use std::{fmt, io};

use thiserror::Error;

pub use self::detect::Format;

/// How deep a value may nest in a trace that we read or write: `<<<<1>>>>` has depth two.
pub const MAX_DEPTH: usize = 32;

/// Why bytes could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct FormatError {
    /// Where.
    pub at: Location,
    /// What is wrong there, in lower case and without a full stop, quoting the input in backticks.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Why a trace could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file could not be written.
    #[error("cannot write the trace: {0}")]
    Io(#[from] io::Error),
    /// The format has no way to say this.
    #[error("`{call}` cannot be written in this format: {why}")]
    Unwritable {
        /// The operation, as people read it.
        call: String,
        /// What about it.
        why: String,
    },
}

/// A place in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line, counted from one.
    Line(usize),
    /// A byte of a file or segment, counted from zero.
    Byte(u64),
    /// A byte of one part of a recording that has several.
    Part(String, u64),
}

/// Why an operation that failed cannot have a latest time as well.
const FAILED_BY: &str = "it failed, and has a time at which it took effect at the latest";

/// What is wrong with a text that a reader of forms or values stops at.
#[derive(Debug)]
struct Problem {
    /// The byte where it shows.
    at: usize,
    message: String,
    /// True if the text ends where the form goes on, so that nothing is wrong with what stands there.
    is_end: bool,
}

impl FormatError {
    /// An error without advice.
    pub fn new(at: Location, message: impl Into<String>) -> FormatError {
        FormatError { at, message: message.into(), help: None }
    }

    /// The same error with advice.
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

/// An error about a key that the format does not have, with the one that was probably meant.
fn unknown_key(at: Location, key: &str, known: &[&str]) -> FormatError {
    let hint = suggest::hint(key, known.iter().copied());
    let help = hint.unwrap_or_else(|| format!("the keys are `{}`", known.join("`, `")));
    FormatError::new(at, format!("unknown key `{key}`")).help(help)
}
