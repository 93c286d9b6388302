//! Readers and writers of recordings, one module per format.
//!
//! A reader turns bytes into a [`Trace`](crate::Trace) and claims nothing about meaning. What it cannot understand is a
//! [`FormatError`] that says where; a recording that merely breaks off is read up to there, and the trace says so in
//! [`Trace::cuts`](crate::Trace::cuts).

use std::fmt;

use thiserror::Error;

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
