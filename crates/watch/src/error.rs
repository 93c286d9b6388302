//! Errors of a watch.

use std::fmt::Display;
use std::path::Path;

use thiserror::Error;

/// The reason why a watch cannot begin, or ended early.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{about}: {message}")]
pub struct WatchError {
    /// The file, the source or the address.
    pub about: String,
    /// The reason.
    pub message: String,
}

impl WatchError {
    /// Makes an error with the name of its subject.
    pub fn new(about: impl Into<String>, message: impl Display) -> WatchError {
        WatchError { about: about.into(), message: message.to_string() }
    }

    /// Makes an error about a file.
    pub fn at(path: &Path, message: impl Display) -> WatchError {
        WatchError::new(path.display().to_string(), message)
    }
}
