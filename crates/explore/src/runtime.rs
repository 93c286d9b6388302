//! The runtime that programs are controlled with, as a file.
//!
//! It was built together with this crate and is part of it, so that the two always agree about what they say to each
//! other. A program that was linked with it finds it where it was installed, and its directory is named after what is in
//! it: another version goes to another directory, and never into a file that some process has mapped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What it is made of; nothing where there is none.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libomnilink_sched.so"));

/// Its file name, which programs look for.
pub(crate) const FILE: &str = "libomnilink_sched.so";

/// The runtime in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    directory: PathBuf,
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum NoRuntime {
    /// There is none for this machine.
    #[error("programs can be controlled on x86-64 Linux with the GNU C library only")]
    Elsewhere,
    /// It cannot be written.
    #[error("{path}: the runtime cannot be written: {error}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Runtime {
    /// Writes it somewhere below a directory, if it is not there yet.
    pub fn install(directory: &Path) -> Result<Runtime, NoRuntime> {
        if BYTES.is_empty() {
            return Err(NoRuntime::Elsewhere);
        }
        let runtime = Runtime { directory: directory.join(format!("{:016x}", fingerprint(BYTES))) };
        let wrong = |error| NoRuntime::Write { path: runtime.path(), error };
        fs::create_dir_all(&runtime.directory).map_err(wrong)?;
        // A path that is written into programs must mean the same wherever they run.
        let runtime = Runtime { directory: fs::canonicalize(&runtime.directory).map_err(wrong)? };
        write(&runtime.path(), BYTES, false).map_err(|error| NoRuntime::Write { path: runtime.path(), error })?;
        Ok(runtime)
    }

    /// The runtime that was installed in exactly this directory.
    pub fn at(directory: &Path) -> Runtime {
        Runtime { directory: directory.into() }
    }

    /// The library.
    pub fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// The directory that it is in, together with what belongs to it.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The library itself, to look into.
pub(crate) fn bytes() -> &'static [u8] {
    BYTES
}

/// Writes a file whole or not at all, unless it is there like this already.
pub(crate) fn write(path: &Path, bytes: &[u8], is_executable: bool) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    let mode = if is_executable { 0o755 } else { 0o644 };
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    let file = builder.tempfile_in(directory)?;
    fs::write(file.path(), bytes)?;
    file.persist(path)?;
    Ok(())
}

/// FNV-1a: names what is in a file, for people who compare names and not for anybody who attacks.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_once_and_whole() {
        let directory = tempfile::tempdir().unwrap();
        let first = Runtime::install(directory.path()).unwrap();
        let changed = || fs::metadata(first.path()).unwrap().modified().unwrap();
        let before = changed();
        assert_eq!(Runtime::install(directory.path()).unwrap(), first);
        assert_eq!(changed(), before);
        fs::write(first.path(), "torn").unwrap();
        Runtime::install(directory.path()).unwrap();
        assert_eq!(fs::read(first.path()).unwrap(), BYTES);
        assert_eq!(fs::read_dir(first.directory()).unwrap().count(), 1);
    }
}
