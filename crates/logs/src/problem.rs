//! Why a log cannot be checked. A problem is not a verdict.

use omnilink_tla::error::EvalError;
use omnilink_tla::resolve::Errors;
use omnilink_validate::Problem;

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The mapping or the log is wrong.
    #[error("{}", .0.first().map_or("", |problem| &problem.message))]
    Problems(Vec<Problem>),
    /// An expression of the mapping has errors.
    #[error("an expression of the mapping is wrong")]
    Expression(Box<Errors>),
    /// The specification or the mapping could not be evaluated.
    #[error("{error}")]
    Evaluation {
        /// The error.
        error: Box<EvalError>,
        /// The event that was evaluated, and the state in which it was.
        note: Option<String>,
    },
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::Problems(vec![problem])
    }
}

impl From<Errors> for Failure {
    fn from(errors: Errors) -> Failure {
        Failure::Expression(Box::new(errors))
    }
}

impl From<Box<EvalError>> for Failure {
    fn from(error: Box<EvalError>) -> Failure {
        Failure::Evaluation { error, note: None }
    }
}
