//! What was written: records as a file holds them, before anything is claimed about what they mean.

use std::fmt;
use std::sync::Arc;

use crate::{Call, End, ProcessId};

/// Everything that was read from one recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The name of each process. Names that are numbers print as `T3`.
    pub processes: Vec<Arc<str>>,
    /// The operations, in the order in which they were written.
    pub records: Vec<Record>,
    /// What kept the reader from reading further, one entry for each place where the recording breaks off.
    pub cuts: Vec<Cut>,
}

/// One operation as it was written. Times are in whatever unit the recorder used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who called it.
    pub process: ProcessId,
    /// A time before the operation began.
    pub start: u64,
    /// A time after the operation ended, if it did.
    pub end: End,
    /// What was called.
    pub call: Call,
}

/// A place where a recording breaks off. What stands before it was read, and is a recording of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The part of the recording: a file or segment name, or empty.
    pub part: String,
    /// How many bytes of that part were read as whole records.
    pub at_byte: u64,
    /// What stands there instead of a whole record.
    pub found: String,
}

impl Trace {
    /// The process of this name, added if it is new. Costs time linear in the number of processes.
    pub fn process(&mut self, name: &str) -> ProcessId {
        let index = self.processes.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.processes.push(name.into());
            self.processes.len() - 1
        });
        ProcessId(index as u32)
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, space) = (&self.part, if self.part.is_empty() { "" } else { " " });
        write!(f, "{part}{space}breaks off after {} bytes: {}", self.at_byte, self.found)
    }
}
