//! The runtime that controls programs, as a file.
//!
//! The runtime is built with this crate and embedded in it, so both always speak the same protocol. A program linked
//! with it finds it where it was installed. The directory name is a hash of the library, so another version goes into
//! another directory and never overwrites a file that a process has mapped.

use std::fs;
use std::hash::Hasher as _;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use fnv::FnvHasher;

use crate::newfile::NewFile;

/// The library's bytes, which are embedded compressed; empty on unsupported platforms.
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libomnilink_sched.so.gz"));
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).expect("the build script packed it");
    bytes
});

/// The file name that programs are linked against.
pub(crate) const FILE: &str = "libomnilink_sched.so";

/// An installed runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    directory: PathBuf,
}

/// Why there is no runtime.
#[derive(Debug, thiserror::Error)]
pub enum NoRuntime {
    /// Unsupported platform.
    #[error("unsupported platform: programs can be controlled only on x86-64 Linux with the GNU C library")]
    Elsewhere,
    /// The library cannot be written.
    #[error("{path}: cannot write the runtime: {error}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Runtime {
    /// Writes the runtime below a directory, unless it is already there.
    pub fn install(directory: &Path) -> Result<Runtime, NoRuntime> {
        if BYTES.is_empty() {
            return Err(NoRuntime::Elsewhere);
        }
        let runtime = Runtime { directory: directory.join(format!("{:016x}", fingerprint(&BYTES))) };
        let wrong = |error| NoRuntime::Write { path: runtime.path(), error };
        fs::create_dir_all(&runtime.directory).map_err(wrong)?;
        // The path is linked into programs, so it must not depend on their working directory.
        let runtime = Runtime { directory: fs::canonicalize(&runtime.directory).map_err(wrong)? };
        write(&runtime.path(), &BYTES, false).map_err(|error| NoRuntime::Write { path: runtime.path(), error })?;
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

    /// The runtime's directory, which also holds its kit.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The library's bytes, for inspection.
pub(crate) fn bytes() -> &'static [u8] {
    &BYTES
}

/// Writes a file atomically, unless it already has these contents.
pub(crate) fn write(path: &Path, bytes: &[u8], is_executable: bool) -> io::Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let mut file = NewFile::with_mode(path, if is_executable { 0o755 } else { 0o644 })?;
    file.write_all(bytes)?;
    file.commit()
}

/// Names file contents; not resistant to attacks.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_written_once_and_whole() {
        let directory = tempfile::tempdir().unwrap();
        let first = Runtime::install(directory.path()).unwrap();
        let changed = || fs::metadata(first.path()).unwrap().modified().unwrap();
        let before = changed();
        assert_eq!(Runtime::install(directory.path()).unwrap(), first);
        assert_eq!(changed(), before);
        fs::write(first.path(), "torn").unwrap();
        Runtime::install(directory.path()).unwrap();
        assert_eq!(fs::read(first.path()).unwrap(), *BYTES);
        assert_eq!(fs::read_dir(first.directory()).unwrap().count(), 1);
    }
}
