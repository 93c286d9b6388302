//! The file with a monitor's state: replaced as a whole, by one monitor at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::WatchError;

/// The file, for one monitor.
pub(crate) struct StateFile {
    path: PathBuf,
    /// Held while this monitor runs: another one waits until the system has released it.
    _lock: File,
}

impl StateFile {
    /// Locks the file, which need not exist.
    pub(crate) fn open(path: &Path) -> Result<StateFile, WatchError> {
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(beside(path, ".lock"));
        let locked = opened.and_then(|file| {
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            Ok(file)
        });
        match locked {
            Ok(lock) => Ok(StateFile { path: path.to_owned(), _lock: lock }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(WatchError::at(path, "another monitor is using it"))
            }
            Err(error) => Err(WatchError::at(path, error)),
        }
    }

    /// Reads the last stored text, if there is one.
    pub(crate) fn read(&self) -> Result<Option<String>, WatchError> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(WatchError::at(&self.path, error)),
        }
    }

    /// Replaces the text, completely or not at all, even if the machine fails.
    pub(crate) fn write(&self, text: &str) -> Result<(), WatchError> {
        self.replace(text).map_err(|error| WatchError::at(&self.path, error))
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let new = beside(&self.path, ".new");
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, &self.path)?;
        // The name is durable only after the directory was synchronized.
        match self.path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            Some(directory) => File::open(directory)?.sync_all(),
            None => Ok(()),
        }
    }
}

/// The path of a companion of a file.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
