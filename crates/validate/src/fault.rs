//! Why there is no verdict, and the state in which an invariant breaks.

use omnilink_history::OpId;
use omnilink_search::{CheckError, ReplayError, TooMany, Unconfirmed};
use omnilink_tla::error::EvalError;
use omnilink_tla::machine::State;

/// An evaluation error of the specification. Not a verdict.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{error}")]
pub struct Fault {
    /// The operation whose step was evaluated.
    pub op: Option<OpId>,
    /// The state in which the step was evaluated.
    pub state: Option<State>,
    /// The error.
    pub error: Box<EvalError>,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The specification could not be evaluated.
    #[error("{0}")]
    Fault(Fault),
    /// A witness failed its replay: `RandomElement` or a bug.
    #[error("the order found was not confirmed when it was replayed: {0}")]
    Unconfirmed(Unconfirmed),
    /// An order satisfies the invariants in one evaluation and violates one in another: `RandomElement` or a bug.
    #[error("the specification does not give the same answer twice")]
    Unrepeatable,
    /// Too many assumptions.
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

impl From<ReplayError<Fault>> for NoAnswer {
    fn from(error: ReplayError<Fault>) -> NoAnswer {
        CheckError::from(error).into()
    }
}

impl From<CheckError<Fault>> for NoAnswer {
    fn from(error: CheckError<Fault>) -> NoAnswer {
        match error {
            CheckError::Spec(fault) => NoAnswer::Fault(fault),
            CheckError::Unconfirmed(error) => NoAnswer::Unconfirmed(error),
        }
    }
}

/// The first state of an order that violates an invariant.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The invariant, by its index in the program.
    pub(crate) invariant: usize,
    /// The state.
    pub(crate) state: State,
}
