//! The settings of a project, which `fuzz` and `lineup` read.

use std::path::{Path, PathBuf};

use omnilink_judge::{Complaint, InputError};
use omnilink_settings::{FILE_NAME, ReadError, Settings};

use crate::exit::Exit;
use crate::terminal::{complain, print_complaints};

/// Reads this file, or the one in the directory. Returns its path too, which messages name.
pub(crate) fn read_settings(directory: &Path, file: Option<&Path>) -> Result<(PathBuf, Settings), Exit> {
    let file = file.map_or_else(|| directory.join(FILE_NAME), Path::to_owned);
    // A path below the current directory is shown relative to it.
    let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
    let settings = Settings::read(&file).map_err(|error| match &error {
        ReadError::Io { error, .. } => {
            let help = "`omnilink init` sets up a harness with its settings";
            let message = format!("cannot be read: {error}");
            complain(&file.display().to_string(), &InputError { message, help: Some(help.into()) })
        }
        ReadError::Parse { .. } => {
            print_complaints(&[Complaint::of_settings(&error)]);
            Exit::Wrong
        }
    })?;
    Ok((file, settings))
}
