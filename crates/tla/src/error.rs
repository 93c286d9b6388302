//! Evaluation errors.
//!
//! An error is never "disabled" and never "false": it stops the evaluation and is reported.

use thiserror::Error;

use crate::source::Site;
use crate::value::Value;

/// The result of an evaluation: a value, or the reason why it has none.
pub type Result<T> = std::result::Result<T, Box<EvalError>>;

/// Why an expression could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EvalError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// The message.
    pub message: String,
    /// The innermost expression that has no value; `None` until the error reaches an expression with a known
    /// location.
    pub site: Option<Site>,
    /// How to fix it.
    pub help: Option<String>,
    /// The calls that led there, innermost first: the name of the operator and the location of the call.
    pub calls: Vec<(String, Site)>,
    /// The function, sequence or record that was applied outside its domain, if it is a value.
    pub applied: Option<Value>,
    /// True if an operator got a sequence that is too short, such as `Head`: no index or field is missing.
    pub is_too_short: bool,
}

/// The kinds of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// Values of different kinds were compared, as in `1 = "a"`.
    Incomparable,
    /// A value of another kind was expected, as in `1 + TRUE`.
    WrongKind,
    /// A function was applied outside its domain, a field does not exist, a sequence is too short.
    OutsideDomain,
    /// `CHOOSE` found nothing, or no arm of `CASE` is true.
    NoChoice,
    /// Overflow, division by zero.
    Arithmetic,
    /// An infinite set had to be enumerated, or an unbounded formula decided.
    NotEnumerable,
    /// A variable was read before it had a value, or never got one.
    Unassigned,
    /// `Assert` failed, or an assumption.
    Assertion,
    /// A set is too large, or the recursion too deep.
    Limit,
    /// Evaluated by TLC but not here, or by neither.
    Unsupported,
    /// The world stopped the evaluation: there is no mistake, but time or memory ran out before the value was found.
    Stopped,
}

impl EvalError {
    /// An error without a location yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Box<EvalError> {
        let message = message.into();
        let (site, help, calls, applied) = (None, None, Vec::new(), None);
        Box::new(EvalError { kind, message, site, help, calls, applied, is_too_short: false })
    }

    /// An operator got a sequence that is too short.
    pub(crate) fn too_short(message: impl Into<String>) -> Box<EvalError> {
        let mut error = EvalError::new(ErrorKind::OutsideDomain, message);
        error.is_too_short = true;
        error
    }

    /// The same error with a help text.
    pub fn help(mut self: Box<EvalError>, help: impl Into<String>) -> Box<EvalError> {
        self.help = Some(help.into());
        self
    }

    /// The same error with the function that was applied outside its domain.
    pub(crate) fn applied(mut self: Box<EvalError>, function: &Value) -> Box<EvalError> {
        self.applied = Some(function.clone());
        self
    }
}
