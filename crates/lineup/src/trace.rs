//! The operations that an object program has recorded.
//!
//! The operations of a test are few, and read for every execution, so only the segments of a trace are read: the manifest
//! holds only facts that the caller has ordered, and a segment that breaks off shows in the operations.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use omnilink_history::End;
use omnilink_history::format::binary::SegmentReader;
use thiserror::Error;

use crate::observed::Operation;
use crate::run::{Answer, SerialRun, Thread, results_text};

/// The reason why a trace cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {message}", path.display())]
pub struct UnreadableTrace {
    path: PathBuf,
    message: String,
}

/// The segments of a trace.
pub fn segments(trace: &Path) -> impl Iterator<Item = PathBuf> {
    (0..).map(|number| trace.join(format!("{number:03}.seg"))).take_while(|path| path.exists())
}

/// The operations of a trace, by start.
pub fn read_trace(trace: &Path) -> Result<Vec<Operation>, UnreadableTrace> {
    let mut operations = Vec::new();
    for path in segments(trace) {
        let wrong = |error: &dyn Display| UnreadableTrace { path: path.clone(), message: error.to_string() };
        let file = File::open(&path).map_err(|error| wrong(&error))?;
        let mut segment = SegmentReader::new(path.to_string_lossy(), Pages(file)).map_err(|error| wrong(&error))?;
        let Some(process) = segment.process() else { continue };
        let thread = process.parse::<Thread>().map_err(|error| wrong(&error))?;
        while let Some(record) = segment.next_record().map_err(|error| wrong(&error))? {
            let returned = match record.end {
                End::At(end) => Some((end, results_text(&record.call))),
                End::Unknown { .. } => None,
            };
            operations.push(Operation { thread, start: record.start, returned });
        }
    }
    operations.sort_by_key(|operation| operation.start);
    Ok(operations)
}

impl SerialRun {
    /// These operations, one after the other.
    pub fn of(operations: &[Operation]) -> SerialRun {
        let answer = |operation: &Operation| match &operation.returned {
            Some((_, results)) => Answer::Returned(results.clone()),
            None => Answer::Blocked,
        };
        SerialRun { steps: operations.iter().map(|operation| (operation.thread, answer(operation))).collect() }
    }
}

/// Reads a file page by page. Segments are much longer than the operations of a test.
struct Pages(File);

impl Read for Pages {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(4096);
        self.0.read(&mut buffer[..length])
    }
}

#[cfg(test)]
mod tests {
    use omnilink_history::format::{binary, text};

    use super::*;

    /// The operations of a trace with these segments.
    fn check(operations: &str) -> Result<Vec<Operation>, String> {
        let directory = tempfile::tempdir().unwrap();
        let open = |id: omnilink_history::ProcessId, _: &str| {
            File::create(directory.path().join(format!("{:03}.seg", id.index())))
        };
        binary::write(&text::read(operations.as_bytes()).unwrap(), open).unwrap();
        let shown = |error: UnreadableTrace| error.to_string().rsplit('/').next().unwrap_or_default().to_owned();
        read_trace(directory.path()).map_err(shown)
    }

    #[test]
    fn operations_of_all_segments_are_read_by_start() {
        let (main, column) = (Thread::Main, Thread::Column(0));
        let read =
            check("T0 [3 9] take() = 1, 2\nT0 [10 ...] take() blocked\nmain [1 2] init()\nmain [11 12] size() = 0\n");
        let expected = vec![
            Operation::returned(main, 1, 2, ""),
            Operation::returned(column, 3, 9, "1, 2"),
            Operation::pending(column, 10),
            Operation::returned(main, 11, 12, "0"),
        ];
        assert_eq!(read, Ok(expected.clone()));
        let run = SerialRun::of(&expected[..3]);
        let answers: Vec<String> = run.steps.iter().map(|(thread, answer)| format!("{thread}{answer}")).collect();
        assert_eq!(answers, ["main", "0 = 1, 2", "0 blocks"]);
        assert_eq!(check(""), Ok(Vec::new()));
    }

    #[test]
    fn a_segment_is_read_whatever_its_length() {
        let lines: String = (0..3000).map(|time| format!("T0 [{time} {time}] take() = {time}\n")).collect();
        let read = check(&lines).unwrap();
        assert_eq!((read.len(), &read[2999]), (3000, &Operation::returned(Thread::Column(0), 2999, 2999, "2999")));
    }

    #[test]
    fn a_process_that_is_no_thread_is_named() {
        let other = "000.seg: expected a thread, `main` or a number below 36, found `client`";
        assert_eq!(check("client [1 2] take()\n"), Err(other.to_owned()));
    }

    #[test]
    fn segments_are_numbered_without_gaps() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["000.seg", "001.seg", "003.seg", "manifest.json"] {
            File::create(directory.path().join(name)).unwrap();
        }
        let found: Vec<PathBuf> = segments(directory.path()).collect();
        assert_eq!(found, ["000.seg", "001.seg"].map(|name| directory.path().join(name)));
    }
}
