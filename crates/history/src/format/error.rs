//! Why bytes could not be understood, and where.

use std::fmt;

use thiserror::Error;

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

/// An error about an unknown key, with the closest known one.
pub(super) fn unknown_key(at: Location, key: &str, known: &[&str]) -> FormatError {
    let hint = omnilink_suggest::hint(key, known.iter().copied());
    let help = hint.unwrap_or_else(|| format!("the keys are `{}`", known.join("`, `")));
    FormatError::new(at, format!("unknown key `{key}`")).help(help)
}
