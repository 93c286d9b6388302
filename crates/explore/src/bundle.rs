//! Runs as single files to share: `.omni`, a compressed archive of a run's directory.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::newfile::NewFile;
use crate::store::{Run, SCHEDULE, SCRIPT, StoreError, read};

/// The parts of a run. A bundle with anything else is rejected.
const PARTS: [&str; 6] = ["run.json", "report.json", "trace", "spec", SCHEDULE, SCRIPT];

/// At most this many bytes are unpacked, so that a small file cannot fill a disk.
const MOST_BYTES: u64 = 4 << 30;

/// A bundle has at most this many files.
const MOST_FILES: usize = 10_000;

/// The path of a file in a bundle is at most this long: longer ones need headers of arbitrary size.
const LONGEST_NAME: usize = 100;

/// The largest file of a part that is read into memory as a whole, which a trace is not.
fn most_bytes(part: &str) -> u64 {
    match part {
        "run.json" | "spec" => 16 << 20,
        "report.json" | SCHEDULE | SCRIPT => 256 << 20,
        _ => MOST_BYTES,
    }
}

/// The contents of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The names of the files, each with its size.
    pub files: Vec<(String, u64)>,
}

/// Packs the directory of a run into a file. A run does not contain environment variables.
pub fn pack(directory: &Path, file: &Path) -> Result<Packed, StoreError> {
    read(directory)?;
    let wrong = |error: io::Error| StoreError::file(file, error);
    let mut archive = tar::Builder::new(GzEncoder::new(NewFile::create(file).map_err(wrong)?, Compression::default()));
    archive.mode(tar::HeaderMode::Deterministic);
    archive.follow_symlinks(false);
    let mut packed = Packed { files: Vec::new() };
    for (name, path, size) in files(directory)? {
        archive.append_path_with_name(&path, &name).map_err(|error| StoreError::file(&path, error))?;
        packed.files.push((name, size));
    }
    let out = archive.into_inner().and_then(GzEncoder::finish).map_err(wrong)?;
    out.commit().map_err(wrong)?;
    Ok(packed)
}

/// The files of a run: name in the bundle, path, and size.
fn files(directory: &Path) -> Result<Vec<(String, PathBuf, u64)>, StoreError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for name in PARTS {
        let part = directory.join(name);
        let wrong = |error: io::Error| StoreError::file(&part, error);
        match fs::symlink_metadata(&part) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(error)),
            Ok(metadata) if metadata.is_dir() => {
                let entries = fs::read_dir(&part).map_err(wrong)?.map(|entry| entry.map(|entry| entry.path()));
                let mut inside = entries.collect::<io::Result<Vec<_>>>().map_err(wrong)?;
                inside.sort();
                paths.extend(inside);
            }
            Ok(_) => paths.push(part),
        }
    }
    let damaged = |path: &Path, why: String| StoreError::Damaged { path: path.to_owned(), why };
    if paths.len() > MOST_FILES {
        return Err(damaged(directory, format!("{} files (a bundle has at most {MOST_FILES})", paths.len())));
    }
    let file = |path: PathBuf| {
        let metadata = fs::symlink_metadata(&path).map_err(|error| StoreError::file(&path, error))?;
        if metadata.is_symlink() {
            return Err(damaged(&path, "unsupported: symbolic link".to_owned()));
        }
        if !metadata.is_file() {
            return Err(damaged(&path, "unsupported: not a regular file".to_owned()));
        }
        let inside = path.strip_prefix(directory).ok().and_then(Path::to_str).map(str::to_owned);
        let inside = inside.ok_or_else(|| damaged(&path, "its name is not UTF-8".to_owned()))?;
        if inside.len() > LONGEST_NAME {
            return Err(damaged(&path, format!("its name is longer than {LONGEST_NAME} bytes")));
        }
        let most = most_bytes(inside.split('/').next().unwrap_or_default());
        if metadata.len() > most {
            return Err(damaged(&path, format!("larger than {most} bytes")));
        }
        Ok((inside, path, metadata.len()))
    };
    paths.into_iter().map(file).collect()
}

/// Unpacks a file into a directory and returns the run.
///
/// The number of entries and their sizes are checked before anything is read or written for them, and headers that
/// announce names of arbitrary length are rejected.
pub fn unpack(file: &Path, directory: &Path) -> Result<Run, StoreError> {
    let wrong = |error: io::Error| StoreError::file(file, error);
    let damaged = |why: String| StoreError::Damaged { path: file.to_owned(), why };
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(File::open(file).map_err(wrong)?)));
    let (mut left, mut files) = (MOST_BYTES, 0);
    let entries = archive.entries().map_err(|error| damaged(format!("not a bundle: {error}")))?;
    for entry in entries.raw(true) {
        let mut entry = entry.map_err(|error| damaged(format!("truncated or damaged: {error}")))?;
        let path = entry.path().map_err(wrong)?.into_owned();
        if !belongs(&path) || !entry.header().entry_type().is_file() {
            return Err(damaged(format!("`{}` is not part of a run", path.display())));
        }
        files += 1;
        if files > MOST_FILES {
            return Err(damaged(format!("more than {MOST_FILES} files")));
        }
        let part = path.iter().next().and_then(|part| part.to_str()).unwrap_or_default();
        if entry.size() > most_bytes(part) {
            return Err(damaged(format!("`{}` is larger than {} bytes", path.display(), most_bytes(part))));
        }
        left = left.checked_sub(entry.size()).ok_or_else(|| damaged("too large".to_owned()))?;
        let to = directory.join(&path);
        fs::create_dir_all(to.parent().unwrap_or(directory)).map_err(|error| StoreError::file(&to, error))?;
        let mut out = File::create(&to).map_err(|error| StoreError::file(&to, error))?;
        io::copy(&mut entry, &mut out).map_err(|error| damaged(format!("truncated or damaged: {error}")))?;
    }
    if !directory.join("run.json").is_file() {
        return Err(damaged("no `run.json`".to_owned()));
    }
    // The user knows the bundle, and not the directory.
    read(directory).map_err(|error| match error {
        StoreError::Version { found, expected, .. } => StoreError::Version { path: file.to_owned(), found, expected },
        StoreError::Damaged { why, .. } => damaged(format!("run.json: {why}")),
        error => error,
    })
}

/// Whether a path stays inside and is a part of a run.
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
    use std::io::Write as _;

    use super::*;
    use crate::store::tests::{run, store};

    #[test]
    fn unpacking_restores_a_packed_run() {
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
    fn damaged_bundles_are_rejected() {
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

    #[test]
    fn errors_in_a_run_name_the_bundle() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.omni");
        let error = |from: &str, to: &str| {
            let changed = serde_json::to_string(&run("abc123", 5)).unwrap().replace(from, to);
            let mut header = tar::Header::new_gnu();
            header.set_size(changed.len() as u64);
            let mut archive = tar::Builder::new(GzEncoder::new(File::create(&file).unwrap(), Compression::default()));
            archive.append_data(&mut header, "run.json", changed.as_bytes()).unwrap();
            archive.into_inner().unwrap().finish().unwrap();
            let error = unpack(&file, &directory.path().join("to")).unwrap_err().to_string();
            error.strip_prefix(&format!("{}/", directory.path().display())).unwrap().to_owned()
        };
        insta::assert_snapshot!(error("run/1", "run/2"), @"a.omni: unsupported version `omnilink.run/2` (expected `omnilink.run/1`)");
        insta::assert_snapshot!(error("Queue.tla", ".."), @"a.omni: run.json: `..` is not a specification name");
    }

    /// A bundle with one malicious entry.
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
    fn entries_outside_the_run_are_rejected() {
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
            assert!(error.ends_with("is not part of a run"), "{error}");
            assert!(!directory.path().join("evil").exists());
        }
    }

    /// A bundle of these entries, each with a name, a kind, and the size that its header announces.
    fn bundle(file: &Path, entries: impl Iterator<Item = (String, tar::EntryType, u64)>) {
        let mut out = GzEncoder::new(File::create(file).unwrap(), Compression::fast());
        for (name, kind, size) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(size);
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            out.write_all(header.as_bytes()).unwrap();
        }
        out.finish().unwrap();
    }

    #[test]
    fn sizes_are_checked_before_reading() {
        let directory = tempfile::tempdir().unwrap();
        let (file, to) = (directory.path().join("a.omni"), directory.path().join("to"));
        let refused = |entries: &[(&str, tar::EntryType, u64)]| {
            bundle(&file, entries.iter().map(|&(name, kind, size)| (name.to_owned(), kind, size)));
            let error = unpack(&file, &to).unwrap_err().to_string();
            error.rsplit_once(".omni: ").unwrap().1.to_owned()
        };
        // Read as a whole, the name would take as much memory as its header says.
        insta::assert_snapshot!(
            refused(&[("././@LongLink", tar::EntryType::GNULongName, 3 << 30)]),
            @"`././@LongLink` is not part of a run"
        );
        insta::assert_snapshot!(refused(&[("pax", tar::EntryType::XHeader, 3 << 30)]), @"`pax` is not part of a run");
        insta::assert_snapshot!(
            refused(&[("run.json", tar::EntryType::Regular, 1 << 30)]),
            @"`run.json` is larger than 16777216 bytes"
        );
        insta::assert_snapshot!(
            refused(&[("trace/0.seg", tar::EntryType::Regular, 5 << 30)]),
            @"`trace/0.seg` is larger than 4294967296 bytes"
        );
        assert!(!to.exists());
    }

    #[test]
    fn the_number_of_files_is_limited() {
        let directory = tempfile::tempdir().unwrap();
        let (file, to) = (directory.path().join("a.omni"), directory.path().join("to"));
        bundle(&file, (0..60_000).map(|number| (format!("trace/{number}.seg"), tar::EntryType::Regular, 0)));
        assert!(fs::metadata(&file).unwrap().len() < 1 << 20);
        let error = unpack(&file, &to).unwrap_err().to_string();
        assert!(error.ends_with("more than 10000 files"), "{error}");
        assert_eq!(fs::read_dir(to.join("trace")).unwrap().count(), MOST_FILES);
    }

    #[test]
    fn links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let (secret, file) = (directory.path().join("secret"), directory.path().join("a.omni"));
        fs::write(&secret, "secret").unwrap();
        let refused = |part: &str, target: &Path| {
            let link = store.path("abc123").join(part);
            std::os::unix::fs::symlink(target, &link).unwrap();
            let error = pack(&store.path("abc123"), &file).unwrap_err().to_string();
            assert!(error.ends_with("unsupported: symbolic link"), "{error}");
            assert!(!file.exists());
            fs::remove_file(&link).unwrap();
        };
        refused("trace/link.seg", &secret);
        refused("report.json", &secret);
        fs::remove_dir_all(store.path("abc123").join("spec")).unwrap();
        refused("spec", directory.path());
    }

    #[test]
    fn variables_of_the_environment_stay_out() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let file = directory.path().join("a.omni");
        let packed = pack(&store.path("abc123"), &file).unwrap();
        let names: Vec<&str> = packed.files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["run.json", "trace/000.seg", "spec/Queue.tla", "script"]);
        let run: serde_json::Value =
            serde_json::from_slice(&fs::read(store.path("abc123").join("run.json")).unwrap()).unwrap();
        let fields: Vec<&String> = run["environment"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["omnilink", "system", "processor", "cores"]);
    }

    #[test]
    fn nothing_is_written_outside() {
        assert!(belongs(Path::new("run.json")) && belongs(Path::new("trace/000.seg")));
        for path in ["../run.json", "/etc/passwd", "trace/../../x", "other", "trace/a/b", ""] {
            assert!(!belongs(Path::new(path)), "{path}");
        }
    }
}
