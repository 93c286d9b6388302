//! The three answers, and why there may be none.

use std::fmt;

/// What a check found. An error in the spec or the trace is none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<W, E> {
    /// The spec allows the history, and this shows how.
    Accepted(W),
    /// No order of the operations is allowed, and this shows where every order gets stuck.
    Rejected(E),
    /// The check stopped before it knew.
    Inconclusive(Stop),
}

/// Why a check stopped before it knew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Time ran out.
    Time,
    /// Memory ran out.
    Memory,
    /// More configurations were possible at once than allowed.
    Width,
    /// Somebody asked it to.
    Interrupted,
}

impl<W, E> Verdict<W, E> {
    /// True if the spec allows the history.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Verdict::Accepted(_))
    }

    /// True if the spec does not allow the history.
    pub fn is_rejected(&self) -> bool {
        matches!(self, Verdict::Rejected(_))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Time => "the time limit was reached",
            Stop::Memory => "the memory limit was reached",
            Stop::Width => "the limit on simultaneous configurations was reached",
            Stop::Interrupted => "interrupted",
        })
    }
}
