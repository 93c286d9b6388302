//! The file with a monitor's state: replaced as a whole, by one monitor at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// A file, or none.
pub(super) struct Stored {
    path: PathBuf,
    /// Held while this monitor runs: another one waits until the system has released it.
    _lock: Option<File>,
    problem: Option<String>,
}

impl Stored {
    pub(super) fn new(path: Option<&Path>) -> Stored {
        let Some(path) = path else { return Stored { path: PathBuf::new(), _lock: None, problem: None } };
        let lock = beside(path, ".lock");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let locked = opened.and_then(|file| {
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            Ok(file)
        });
        let (lock, problem) = match locked {
            Ok(file) => (Some(file), None),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                (None, Some("another monitor is using it".to_owned()))
            }
            Err(error) => (None, Some(error.to_string())),
        };
        Stored { path: path.to_owned(), _lock: lock, problem }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The text that was written last, if there is one.
    pub(super) fn read(&self) -> Result<Option<String>, String> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.path.as_os_str().is_empty() {
            return Ok(None);
        }
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Replaces it, completely or not at all, also if the machine fails.
    pub(super) fn write(&self, text: &str) -> io::Result<()> {
        replace(&self.path, &beside(&self.path, ".new"), &[text.as_bytes()])?;
        if let Some(directory) = self.path.parent().filter(|directory| !directory.as_os_str().is_empty()) {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }
}

/// Replaces a file by way of a new one, completely or not at all. The name is durable only when the directory was
/// synchronized.
pub(super) fn replace(path: &Path, new: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = File::create(new)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.sync_all()?;
    fs::rename(new, path)
}

/// The path of a file that belongs to another one.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
