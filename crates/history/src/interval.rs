//! When an operation ran.

use std::fmt;

/// When an operation ran. Both ends belong to it: a clock may tick slower than operations run, so two operations of
/// different processes that share only an end point are concurrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    start: u64, // Invariant: start <= end.
    end: u64,   // `NEVER` if no end was recorded.
}

/// The end of an operation that has none. No clock that a trace can carry reads this.
const NEVER: u64 = u64::MAX;

impl Interval {
    /// Returns `None` if the operation would end before it starts, or at the end of time.
    pub fn new(start: u64, end: u64) -> Option<Interval> {
        (start <= end && end < NEVER).then_some(Interval { start, end })
    }

    /// An operation whose end was never recorded: it may take effect at any time after its start, or not at all.
    pub fn unfinished(start: u64) -> Interval {
        Interval { start, end: NEVER }
    }

    /// A time before the operation took effect.
    pub fn start(self) -> u64 {
        self.start
    }

    /// A time after the operation took effect, if there is one.
    pub fn end(self) -> Option<u64> {
        (self.end != NEVER).then_some(self.end)
    }

    /// True if no end was recorded.
    pub fn is_unfinished(self) -> bool {
        self.end == NEVER
    }

    /// The end as a number that is larger than every recorded time if there is none.
    pub fn deadline(self) -> u64 {
        self.end
    }

    /// True if this one was over before the other began.
    pub fn precedes(self, other: Interval) -> bool {
        self.end < other.start
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end() {
            Some(end) => write!(f, "[{} {}]", self.start, end),
            None => write!(f, "[{} ...]", self.start),
        }
    }
}
