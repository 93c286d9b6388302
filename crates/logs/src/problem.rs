//! Why a log cannot be checked. A problem is not a verdict.

use omnilink_tla::error::EvalError;
use omnilink_tla::resolve::Errors;
use omnilink_tla::source::Site;

/// A mistake in the mapping, in the log, or in what one says about the other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The message, in one sentence.
    pub message: String,
    /// The place in the settings or in the specification.
    pub place: Option<Site>,
    /// Further information: the line of the log.
    pub note: Option<String>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), place: None, note: None, help: None }
    }

    pub(crate) fn at(mut self, site: Site) -> Problem {
        self.place = Some(site);
        self
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Problem {
        self.note = Some(note.into());
        self
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

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
