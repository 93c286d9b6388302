//! Files that are written atomically.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is written next to its path and renamed to it once complete. Until [`NewFile::commit`] has succeeded,
/// the previous file stays; a file dropped before leaves nothing.
///
/// An existing path that is not a regular file, such as a pipe or a device, is written directly.
#[derive(Debug)]
pub struct NewFile {
    out: BufWriter<Target>,
}

#[derive(Debug)]
enum Target {
    Beside { file: NamedTempFile, place: PathBuf },
    Direct(File),
}

impl NewFile {
    /// Starts a file. Its directory must exist.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        NewFile::with_mode(path, 0o666)
    }

    /// Starts a file that has these permissions, less those that the user's mask takes away, if it is new.
    pub(crate) fn with_mode(path: &Path, mode: u32) -> io::Result<NewFile> {
        // The target of a link is replaced, and the link stays.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let known = match fs::metadata(&place) {
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(&place)?;
                return Ok(NewFile { out: BufWriter::new(Target::Direct(file)) });
            }
            Ok(metadata) => Some(metadata.permissions()),
            Err(_) => None,
        };
        let directory = place.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let permissions = Permissions::from_mode(mode);
        let file = tempfile::Builder::new().prefix(".omnilink-").permissions(permissions).tempfile_in(directory);
        // The temporary name is of no use to the user.
        let file = file.map_err(|error| io::Error::from(error.kind()))?;
        if let Some(permissions) = known {
            file.as_file().set_permissions(permissions)?;
        }
        Ok(NewFile { out: BufWriter::new(Target::Beside { file, place }) })
    }

    /// Moves the file to its path.
    pub fn commit(self) -> io::Result<()> {
        match self.out.into_inner().map_err(io::IntoInnerError::into_error)? {
            Target::Beside { file, place } => file.persist(place).map(drop).map_err(|error| error.error),
            Target::Direct(mut file) => file.flush(),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Beside { file, .. } => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Beside { file, .. } => file.flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

/// Writes a text to a file atomically.
pub fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_its_place_once_it_is_complete() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report");
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(&[b'x'; 1 << 17]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before");
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        write_file(&path, "after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_device_is_written_and_not_replaced() {
        let error = write_file(Path::new("/dev/full"), "text").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        write_file(Path::new("/dev/null"), "text").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(&link, "after").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"after");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
