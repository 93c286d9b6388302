//! The errors that end a campaign.

use std::fmt::Display;

use omnilink_explore::{ControlError, StoreError};
use omnilink_judge::{Failed, InputError};

/// The reason why a campaign cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The named thing has an error.
    #[error("{about}: {}", error.message)]
    About {
        /// Its name.
        about: String,
        /// The error.
        error: InputError,
    },
    /// A stored run cannot be found or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The specification has errors.
    #[error("invalid specification")]
    Spec(Failed),
    /// An execution did not follow decisions that led to it before.
    #[error("the same decisions led to another execution: the harness is nondeterministic")]
    Diverged,
    /// The user asked to stop.
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
