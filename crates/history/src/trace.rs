//! Records as a file holds them, before they are interpreted.

use std::fmt;
use std::sync::Arc;

use crate::{Call, End, ProcessId};

/// The contents of one trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The name of each process. Names that are numbers print as `T3`.
    pub processes: Vec<Arc<str>>,
    /// The operations, in the order in which they were written.
    pub records: Vec<Record>,
    /// What happened beside the operations, in the order in which it was written.
    pub events: Vec<Event>,
    /// Why the reader stopped, one entry for each place where the trace breaks off.
    pub cuts: Vec<Cut>,
    /// Why operations are missing, one sentence for each loss. Unlike a cut, a loss may concern any time, so such a
    /// trace is no basis for a verdict, and [`History::new`](crate::History::new) refuses it.
    pub losses: Vec<String>,
    /// Remarks of the reader, for people.
    pub notes: Vec<String>,
}

/// Something that is not an operation and has no influence on a verdict: a fault, or a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub name: Arc<str>,
    /// When it began, in the unit of the operations.
    pub start: u64,
    /// When it ended, if it lasted and that is known.
    pub end: Option<u64>,
    /// The nodes that it happened to; none if it concerns all.
    pub nodes: Vec<Arc<str>>,
    /// Anything else, for people.
    pub note: String,
}

/// One operation as written. Times are in the unit of the recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The calling process.
    pub process: ProcessId,
    /// A time before the operation began.
    pub start: u64,
    /// A time after the operation ended, if it did.
    pub end: End,
    /// The call.
    pub call: Call,
}

/// A place where a trace breaks off. The part before it was read, and is a valid trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The part of the trace: a file or segment name, or empty.
    pub part: String,
    /// The number of bytes of that part that were read as whole records.
    pub at_byte: u64,
    /// The contents found there instead of a whole record.
    pub found: String,
}

impl Trace {
    /// The process of this name, added if it is new. Takes time linear in the number of processes.
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
