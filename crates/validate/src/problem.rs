//! Problems of a trace, or of the mapping between a trace and a specification. A problem is not a verdict.

use omnilink_tla::source::Site;

/// Why a trace cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The message, in one sentence.
    pub message: String,
    /// The location in the specification, and a label for it.
    pub place: Option<(Site, String)>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), place: None, help: None }
    }

    pub(crate) fn at(mut self, site: Site, label: impl Into<String>) -> Problem {
        self.place = Some((site, label.into()));
        self
    }

    pub(crate) fn help(mut self, help: Option<String>) -> Problem {
        self.help = help;
        self
    }
}
