//! The operations that an object program has recorded.
//!
//! A trace of a few operations is read for every execution, so nothing but its segments is read: the manifest says only
//! what the caller has ordered, and a segment that breaks off shows in the operations.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use omnilink_history::End;
use omnilink_history::format::binary::SegmentReader;
use thiserror::Error;

use crate::observed::Operation;
use crate::run::{Answer, SerialRun, Thread, results_text};

/// Why a trace cannot be read.
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
