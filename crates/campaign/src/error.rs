//! Why a campaign cannot begin or go on.

use std::fmt::Display;

use explore::{ControlError, StoreError};
use judge::{Failed, InputError};

/// Why a campaign cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something is wrong with what is named.
    #[error("{about}: {}", error.message)]
    About {
        /// What it is about.
        about: String,
        /// What is wrong with it.
        error: InputError,
    },
    /// A run that was kept cannot be found or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The specification cannot be used.
    #[error("the specification cannot be used")]
    Spec(Failed),
    /// Somebody wanted to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn about(about: impl Display, message: impl Display) -> Error {
        Error::About { about: about.to_string(), error: InputError { message: message.to_string(), help: None } }
    }

    pub(crate) fn with_help(about: impl Display, message: impl Display, help: impl Display) -> Error {
        let error = InputError { message: message.to_string(), help: Some(help.to_string()) };
        Error::About { about: about.to_string(), error }
    }
}

impl From<ControlError> for Error {
    fn from(error: ControlError) -> Error {
        match error {
            ControlError::Interrupted => Error::Interrupted,
            error => Error::about("the harness", error),
        }
    }
}
