//! Names for operations and processes.
//!
//! Both are dense numbers, so that data per operation or per process is an array.

use std::fmt;

/// One operation of a history, numbered in the order in which operations start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

impl OpId {
    /// The index of this operation in an array with one entry per operation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One process: a thread, a client, a session. It runs one operation at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// The index of this process in an array with one entry per process.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for OpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T{}", self.0)
    }
}
