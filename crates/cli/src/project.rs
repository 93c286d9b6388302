//! The settings of a project, which `fuzz` and `lineup` read.

use std::path::{Path, PathBuf};

use judge::InputError;
use settings::{FILE_NAME, ReadError, Settings};

use crate::exit::Exit;
use crate::terminal::complain;

/// Reads this file, or the one in the directory. Returns its path too, which messages name.
pub(crate) fn read_settings(directory: &Path, file: Option<&Path>) -> Result<(PathBuf, Settings), Exit> {
    let file = file.map_or_else(|| directory.join(FILE_NAME), Path::to_owned);
    // A path below the current directory is shown relative to it.
    let file = file.strip_prefix(".").map(Path::to_owned).unwrap_or(file);
    let wrong = |message, help| complain(&file.display().to_string(), &InputError { message, help });
    let settings = Settings::read(&file).map_err(|error| match error {
        ReadError::Io { error, .. } => {
            let help = "`omnilink init` sets up a harness with its settings";
            wrong(format!("cannot be read: {error}"), Some(help.into()))
        }
        ReadError::Parse { error, .. } => wrong(error.to_string(), None),
    })?;
    Ok((file, settings))
}
