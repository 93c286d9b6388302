//! The three verdicts, and why a check may stop without an answer.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

/// The result of a check. An error in the spec or the trace is not a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<W, E> {
    /// The spec allows the history, and this shows how.
    Accepted(W),
    /// No order of the operations is allowed, and this shows where every order gets stuck.
    Rejected(E),
    /// The check stopped before it was decided.
    Inconclusive(Stop),
}

/// Why a check stopped before it was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Time ran out.
    Time,
    /// Memory ran out.
    Memory,
    /// The frontier exceeded its limit.
    Width,
    /// The user interrupted it.
    Interrupted,
    /// Operations are missing from the trace.
    Incomplete,
}

impl Stop {
    /// Every reason.
    pub const ALL: [Stop; 5] = [Stop::Time, Stop::Memory, Stop::Width, Stop::Interrupted, Stop::Incomplete];
}

/// Asks running work to stop early. A thread that watches limits raises it; loops over the input and evaluations poll it
/// and return their partial results. The thread that started the work polls it too, and discards incomplete results.
#[derive(Debug, Default)]
pub struct Halt(AtomicU8); // Zero, or an index into `Stop::ALL` counted from one.

impl Halt {
    /// Ends the work for this reason, if it is the first.
    pub fn raise(&self, stop: Stop) {
        let place = Stop::ALL.iter().position(|known| *known == stop).map_or(Stop::ALL.len(), |place| place + 1);
        let _ = self.0.compare_exchange(0, place as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why the work has to end, if it has to.
    pub fn reason(&self) -> Option<Stop> {
        Stop::ALL.get(usize::from(self.0.load(Ordering::Relaxed)).checked_sub(1)?).copied()
    }

    /// True if the work has to end.
    pub fn is_raised(&self) -> bool {
        self.reason().is_some()
    }
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
            Stop::Incomplete => "operations are missing from the trace",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        for stop in Stop::ALL {
            let halt = Halt::default();
            assert_eq!(halt.reason(), None);
            halt.raise(stop);
            halt.raise(Stop::Time);
            assert_eq!(halt.reason(), Some(stop));
        }
    }
}
