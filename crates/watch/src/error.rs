//! Why a watch cannot begin, or ended early.

use std::fmt::Display;
use std::path::Path;

use thiserror::Error;

/// Why a watch cannot begin, or ended early.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{about}: {message}")]
pub struct WatchError {
    /// The file, the source or the address that it is about.
    pub about: String,
    /// The reason.
    pub message: String,
}

impl WatchError {
    /// An error about something with a name.
    pub fn new(about: impl Into<String>, message: impl Display) -> WatchError {
        WatchError { about: about.into(), message: message.to_string() }
    }

    /// An error about a file.
    pub fn at(path: &Path, message: impl Display) -> WatchError {
        WatchError::new(path.display().to_string(), message)
    }
}
