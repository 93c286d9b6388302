//! Why the steps of a specification cannot be followed.

use omnilink_tla::error::EvalError;
use thiserror::Error;

/// The maximum number of possible states.
pub const MOST_STATES: usize = 10_000;

/// Why the specification cannot be followed.
#[derive(Debug, Error)]
pub enum Lost {
    /// An evaluation failed.
    #[error("{}", .0.message)]
    Evaluation(Box<EvalError>),
    /// Too many states are possible.
    #[error("more than {MOST_STATES} states of the specification agree with the answers")]
    States,
    /// An action is neither internal nor an outcome of a call.
    #[error(
        "the action `{0}` is no outcome of a call; name it under `internal` in omnilink.toml if the system takes it by itself"
    )]
    Action(String),
}

impl From<Box<EvalError>> for Lost {
    fn from(error: Box<EvalError>) -> Lost {
        Lost::Evaluation(error)
    }
}
