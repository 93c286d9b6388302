//! Why an expression has no value.
//!
//! An error is never "disabled" and never "false": whoever meets one stops and shows it.

use thiserror::Error;

use crate::source::Site;

/// What evaluating gives: a value, or why there is none.
pub type Result<T> = std::result::Result<T, Box<EvalError>>;

/// Why an expression could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EvalError {
    /// What sort of mistake it is.
    pub kind: ErrorKind,
    /// In words.
    pub message: String,
    /// The innermost expression that has no value; none while it is still on its way to one that knows its place.
    pub site: Option<Site>,
    /// What to do about it.
    pub help: Option<String>,
    /// The calls that led there, innermost first: the name of the operator and where it was called.
    pub calls: Vec<(String, Site)>,
}

/// Sorts of mistakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// Values of different kinds were compared, as in `1 = "a"`.
    Incomparable,
    /// A value of another kind was needed, as in `1 + TRUE`.
    WrongKind,
    /// A function was applied outside its domain, a field does not exist, a sequence is too short.
    OutsideDomain,
    /// `CHOOSE` found nothing, or no arm of `CASE` is true.
    NoChoice,
    /// Overflow, division by zero.
    Arithmetic,
    /// An infinite set was to be enumerated, or something unbounded to be decided.
    NotEnumerable,
    /// A variable was read before it had a value, or never got one.
    Unassigned,
    /// `Assert` failed, or an assumption.
    Assertion,
    /// A set is too large, or the recursion too deep.
    Limit,
    /// TLC would evaluate it and we do not, or neither does.
    Unsupported,
    /// The world asked to stop: nothing is wrong, but there was no time or memory left to find the value.
    Stopped,
}

impl EvalError {
    /// An error that does not know its place yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Box<EvalError> {
        Box::new(EvalError { kind, message: message.into(), site: None, help: None, calls: Vec::new() })
    }

    /// The same error with advice.
    pub fn help(mut self: Box<EvalError>, help: impl Into<String>) -> Box<EvalError> {
        self.help = Some(help.into());
        self
    }
}
