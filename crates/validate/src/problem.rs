//! What is wrong with a recording, or with how it and a specification belong together. Never a verdict.

use tla::source::Site;

/// Something that keeps a recording from being checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// Where in the specification it shows, and what stands there.
    pub place: Option<(Site, String)>,
    /// What to do about it.
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
