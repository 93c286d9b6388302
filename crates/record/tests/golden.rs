//! The recorder writes exactly the bytes in `tests/golden/recorder`, and they decode to the text beside them.
//!
//! `UPDATE_GOLDEN=1` rewrites the files.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{example, print, read, segments};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/recorder")
}

/// The names and bytes of all segments in a directory.
fn bytes(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    segments(directory).iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

fn check(script: &Path) {
    let (expected, expected_text) = (script.with_extension(""), script.with_extension("txt"));
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let status = Command::new(example("script")).arg(&trace).stdin(File::open(script).unwrap()).status().unwrap();
    assert!(status.success(), "{}", script.display());
    let text = print(&read(&trace).unwrap());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let _ = fs::remove_dir_all(&expected);
        fs::create_dir(&expected).unwrap();
        bytes(&trace).iter().for_each(|(name, bytes)| fs::write(expected.join(name), bytes).unwrap());
        fs::write(&expected_text, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&expected_text).unwrap(), "{}", script.display());
    assert!(bytes(&trace) == bytes(&expected), "{} gives other bytes", script.display());
}

#[test]
fn scripts_give_the_same_bytes_as_ever() {
    let entries = fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path());
    let scripts: Vec<PathBuf> = entries.filter(|path| path.extension().map_or(false, |it| it == "script")).collect();
    assert!(scripts.len() >= 10, "{} scripts", scripts.len());
    scripts.iter().for_each(|script| check(script));
}

/// Every kind of record that a recorder writes, and both forms of its length, occur in some script.
#[test]
fn scripts_cover_every_kind_of_record() {
    let (mut kinds, mut long) = ([false; 10], false);
    for entry in fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for (_, bytes) in bytes(&entry) {
            let mut at = 10 + usize::from(bytes[9]);
            while at < bytes.len() {
                let (prefix, body) = match bytes[at] {
                    255 => (5, u32::from_le_bytes(bytes[at + 1..at + 5].try_into().unwrap()) as usize),
                    short => (1, usize::from(short)),
                };
                long |= prefix == 5;
                kinds[usize::from(bytes[at + prefix])] = true;
                at += prefix + body;
            }
        }
    }
    // Operations in one record (02) are for writers that know the outcome of a call before it begins.
    assert_eq!((kinds, long), ([false, true, false, true, true, true, true, true, true, true], true));
}
