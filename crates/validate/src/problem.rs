//! Problems of a trace or a log, or of the mapping between it and a specification. A problem is not a verdict.

use omnilink_tla::source::Site;

/// Why a trace or a log cannot be checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// The message, in one sentence.
    pub message: String,
    /// The location in the specification or in the settings, and a label for it.
    pub place: Option<(Site, String)>,
    /// Further information: the line of a log.
    pub note: Option<String>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), ..Problem::default() }
    }

    /// The same, with its place.
    pub fn at(mut self, site: Site, label: impl Into<String>) -> Problem {
        self.place = Some((site, label.into()));
        self
    }

    /// The same, with further information.
    pub fn note(mut self, note: impl Into<String>) -> Problem {
        self.note = Some(note.into());
        self
    }

    /// The same, with a way to fix it if one is known.
    pub fn help(mut self, help: impl Into<Option<String>>) -> Problem {
        self.help = help.into();
        self
    }
}
