//! Finds and reads the file `omnilink.toml`.
//!
//! Settings are read from the file beside the specification, unless the user names another. Without a file beside
//! the specification, every setting has its default; a file that the user names must exist.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{BadSettings, Settings};

/// The name of the file, beside a specification or in a harness directory.
pub const FILE_NAME: &str = "omnilink.toml";

/// Why a settings file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened, or is not text.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The file is text, but not settings.
    #[error("{}: {error}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Its text, which the span in `error` refers to.
        text: String,
        /// The cause.
        error: Box<BadSettings>,
    },
}

impl Settings {
    /// Reads a settings file.
    pub fn read(path: &Path) -> Result<Settings, ReadError> {
        let text = fs::read_to_string(path).map_err(|error| ReadError::Io { path: path.to_owned(), error })?;
        Settings::parse(&text).map_err(|error| ReadError::Parse { path: path.to_owned(), text, error: error.into() })
    }

    /// Reads the settings of a specification, and returns them with the path of their file. The file is `file`, or
    /// else [`FILE_NAME`] beside the specification; if neither exists, the settings are the defaults, without a
    /// path.
    pub fn read_for(spec: &Path, file: Option<&Path>) -> Result<(Settings, Option<PathBuf>), ReadError> {
        let beside = spec.with_file_name(FILE_NAME);
        match file.or_else(|| beside.is_file().then_some(&*beside)) {
            Some(path) => Ok((Settings::read(path)?, Some(path.to_owned()))),
            None => Ok((Settings::default(), None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files, and returns the file read for `Queue.tla` with its `process`.
    fn check(files: &[(&str, &str)], named: Option<&str>) -> String {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let named = named.map(|name| directory.path().join(name));
        let shown = match Settings::read_for(&directory.path().join("Queue.tla"), named.as_deref()) {
            Ok((settings, Some(path))) => format!("{}: {:?}", path.display(), settings.process),
            Ok((settings, None)) => format!("no file: {:?}", settings.process),
            Err(error) => error.to_string(),
        };
        shown.replace(&format!("{}/", directory.path().display()), "")
    }

    #[test]
    fn a_named_file_overrides_the_one_beside_the_specification() {
        let files = [("omnilink.toml", "process = \"p\""), ("other.toml", "process = \"q\"")];
        insta::assert_snapshot!(check(&files, None), @r#"omnilink.toml: Some("p")"#);
        insta::assert_snapshot!(check(&files, Some("other.toml")), @r#"other.toml: Some("q")"#);
        insta::assert_snapshot!(check(&files[1..], None), @"no file: None");
    }

    #[test]
    fn errors_name_the_file() {
        insta::assert_snapshot!(check(&[], Some("other.toml")), @"other.toml: No such file or directory (os error 2)");
        insta::assert_snapshot!(check(&[("omnilink.toml", "process = 1")], None), @"
        omnilink.toml: TOML parse error at line 1, column 11
          |
        1 | process = 1
          |           ^
        invalid type: integer `1`, expected a string
        ");
    }
}
