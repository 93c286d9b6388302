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

/// The name that a name may have been meant to be.
pub(crate) fn closest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = name.to_lowercase();
    let distance = |other: &str| strsim::damerau_levenshtein(&lower, &other.to_lowercase());
    let closest = names.min_by_key(|other| distance(other))?;
    (distance(closest) <= 1 + name.len() / 4).then_some(closest)
}
