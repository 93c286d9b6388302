//! Runs in one file, to send to somebody: `.omni`, a compressed archive of the directory of a run.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::store::{Run, SCHEDULE, StoreError, read};

/// What may be in a run. Anything else in a bundle is somebody else's.
const PARTS: [&str; 5] = ["run.json", "report.json", "trace", "spec", SCHEDULE];

/// More than this is not unpacked, so that a small file cannot fill a disk.
const MOST_BYTES: u64 = 4 << 30;

/// Packs the directory of a run into a file.
pub fn pack(directory: &Path, file: &Path) -> Result<(), StoreError> {
    read(directory)?;
    let wrong = |error: io::Error| StoreError::file(file, error);
    let mut archive =
        tar::Builder::new(GzEncoder::new(BufWriter::new(File::create(file).map_err(wrong)?), Compression::default()));
    archive.mode(tar::HeaderMode::Deterministic);
    for name in PARTS {
        let part = directory.join(name);
        if part.is_dir() {
            let mut files: Vec<PathBuf> = Vec::new();
            for entry in fs::read_dir(&part).map_err(|error| StoreError::file(&part, error))? {
                files.push(entry.map_err(|error| StoreError::file(&part, error))?.path());
            }
            files.sort();
            for path in files.iter().filter(|path| path.is_file()) {
                let inside = Path::new(name).join(path.file_name().unwrap_or_default());
                archive.append_path_with_name(path, inside).map_err(|error| StoreError::file(path, error))?;
            }
        } else if part.is_file() {
            archive.append_path_with_name(&part, name).map_err(|error| StoreError::file(&part, error))?;
        }
    }
    let mut out = archive.into_inner().and_then(GzEncoder::finish).map_err(wrong)?;
    out.flush().map_err(wrong)
}

/// Unpacks a file into a directory, and says what the run is.
pub fn unpack(file: &Path, directory: &Path) -> Result<Run, StoreError> {
    let wrong = |error: io::Error| StoreError::file(file, error);
    let damaged = |why: String| StoreError::Damaged { path: file.to_owned(), why };
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(File::open(file).map_err(wrong)?)));
    let mut left = MOST_BYTES;
    let entries = archive.entries().map_err(|error| damaged(format!("this is no bundle: {error}")))?;
    for entry in entries {
        let mut entry = entry.map_err(|error| damaged(format!("it breaks off or is damaged: {error}")))?;
        let path = entry.path().map_err(wrong)?.into_owned();
        if !belongs(&path) || !entry.header().entry_type().is_file() {
            return Err(damaged(format!("`{}` is no part of a run", path.display())));
        }
        left = left.checked_sub(entry.size()).ok_or_else(|| damaged("it is too large".to_owned()))?;
        let to = directory.join(&path);
        fs::create_dir_all(to.parent().unwrap_or(directory)).map_err(|error| StoreError::file(&to, error))?;
        let mut out = File::create(&to).map_err(|error| StoreError::file(&to, error))?;
        io::copy(&mut entry, &mut out).map_err(|error| damaged(format!("it breaks off or is damaged: {error}")))?;
    }
    if !directory.join("run.json").is_file() {
        return Err(damaged("it has no `run.json`".to_owned()));
    }
    read(directory)
}

/// True for a path that stays inside, and that a run may have.
fn belongs(path: &Path) -> bool {
    let names: Option<Vec<&str>> = path
        .components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    names.is_some_and(|names| names.len() <= 2 && names.first().is_some_and(|first| PARTS.contains(first)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{run, store};

    #[test]
    fn what_is_packed_is_unpacked() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let (file, to) = (directory.path().join("a.omni"), directory.path().join("to"));
        pack(&store.path("abc123"), &file).unwrap();
        assert_eq!(unpack(&file, &to).unwrap(), run("abc123", 5));
        assert_eq!(fs::read(to.join("trace/000.seg")).unwrap(), [7; 100]);
        assert!(to.join("spec/Queue.tla").is_file());
        // The same run gives the same bytes.
        let again = directory.path().join("b.omni");
        pack(&store.path("abc123"), &again).unwrap();
        assert_eq!(fs::read(&file).unwrap(), fs::read(&again).unwrap());
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let file = directory.path().join("a.omni");
        pack(&store.path("abc123"), &file).unwrap();
        let bytes = fs::read(&file).unwrap();
        let mut refused = 0;
        for end in 0..bytes.len() {
            fs::write(&file, &bytes[..end]).unwrap();
            let to = tempfile::tempdir().unwrap();
            match unpack(&file, to.path()) {
                // Only the padding behind the last part may be missing.
                Ok(found) => {
                    assert_eq!(found, run("abc123", 5));
                    assert!(to.path().join("spec/Queue.tla").is_file());
                }
                Err(_) => refused += 1,
            }
        }
        assert!(refused > bytes.len() / 2, "{refused} of {}", bytes.len());
    }

    /// A bundle with one entry that nobody would pack.
    fn hostile(file: &Path, kind: tar::EntryType, name: &str) {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(if kind.is_file() { 4 } else { 0 });
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        if kind.is_symlink() {
            header.set_link_name("/tmp").unwrap();
        }
        header.set_cksum();
        let mut archive = tar::Builder::new(GzEncoder::new(File::create(file).unwrap(), Compression::default()));
        archive.append(&header, &b"evil"[..header.size().unwrap() as usize]).unwrap();
        archive.into_inner().unwrap().finish().unwrap();
    }

    #[test]
    fn entries_that_lead_elsewhere_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.omni");
        let entries = [
            (tar::EntryType::Regular, "../evil"),
            (tar::EntryType::Regular, "trace/../../evil"),
            (tar::EntryType::Symlink, "trace"),
            (tar::EntryType::Symlink, "run.json"),
        ];
        for (kind, name) in entries {
            hostile(&file, kind, name);
            let error = unpack(&file, &directory.path().join("to")).unwrap_err().to_string();
            assert!(error.ends_with("is no part of a run"), "{error}");
            assert!(!directory.path().join("evil").exists());
        }
    }

    #[test]
    fn nothing_is_written_outside() {
        assert!(belongs(Path::new("run.json")) && belongs(Path::new("trace/000.seg")));
        for path in ["../run.json", "/etc/passwd", "trace/../../x", "other", "trace/a/b", ""] {
            assert!(!belongs(Path::new(path)), "{path}");
        }
    }
}
