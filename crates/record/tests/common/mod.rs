//! Helpers for the tests of the recorder: reading a trace back, and finding the examples.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use omnilink_history::format::binary::{read_all, ReadError, SegmentReader};
use omnilink_history::format::text;
use omnilink_history::Trace;

/// The segments of a directory, in the order in which they were begun.
pub(crate) fn segments(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).expect("the directory is there").map(|entry| entry.expect("it can be listed").path());
    let mut segments: Vec<PathBuf> = entries.filter(|path| path.extension().map_or(false, |it| it == "seg")).collect();
    segments.sort();
    segments
}

/// Reads a directory as a trace.
pub(crate) fn read(directory: &Path) -> Result<Trace, ReadError> {
    let open = |path: &PathBuf| {
        SegmentReader::new(
            path.file_name().expect("segments have names").to_string_lossy(),
            File::open(path).expect("it was listed"),
        )
    };
    read_all(segments(directory).iter().map(open).collect::<Result<Vec<_>, _>>()?)
}

/// A trace for display.
#[allow(dead_code, reason = "not every test prints")]
pub(crate) fn print(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    text::write(trace, &mut bytes).expect("memory can be written to");
    trace.cuts.iter().for_each(|cut| bytes.extend(format!("{cut}\n").bytes()));
    String::from_utf8(bytes).expect("text is UTF-8")
}

/// The program of an example, which is built beside the tests.
#[allow(dead_code, reason = "not every test runs one")]
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its name");
    let path = test.parent().and_then(Path::parent).expect("tests stand in `deps`").join("examples").join(name);
    assert!(path.exists(), "`cargo test` builds `{}`; build it with `--examples`", path.display());
    path
}
