//! When an operation ran.
//!
//! An unfinished operation may carry a *latest time*: its outcome is unknown, but it cannot have taken effect after
//! that time. An interval is two numbers. For a finished operation they are in order: start, end. Without an end and
//! a latest time, the end is [`NEVER`]. With a latest time they are reversed: the first instant after the latest
//! time, then the start. So no bit of a time is lost, and equal intervals are equal numbers.

use std::fmt;

/// When an operation ran. Both ends belong to it: a clock may tick slower than operations run, so two operations of
/// different processes that share only an end point are concurrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    first: u64,  // The start if `first <= second`, otherwise the first time after the latest one.
    second: u64, // The end, or `NEVER`, if `first <= second`, otherwise the start.
}

const _: () = assert!(size_of::<Interval>() == 16, "a history holds millions of intervals");

/// The end of an operation without an end. No clock in a trace reads this value.
const NEVER: u64 = u64::MAX;

/// The recorded end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// It returned before this time.
    At(u64),
    /// It is unfinished: its outcome is unknown.
    Unknown {
        /// The time after which it cannot have taken effect, if one is known.
        latest: Option<u64>,
    },
}

impl Interval {
    /// Returns `None` if the operation would end before it starts, or at the end of time.
    pub fn new(start: u64, end: u64) -> Option<Interval> {
        (start <= end && end < NEVER).then_some(Interval { first: start, second: end })
    }

    /// An operation whose end was never recorded: it may take effect at any time after its start, or not at all.
    pub fn unfinished(start: u64) -> Interval {
        Interval { first: start, second: NEVER }
    }

    /// An unfinished operation that takes effect at `latest` at the latest, or not at all. Returns `None` if that is
    /// before its start, or at the end of time.
    pub fn unknown(start: u64, latest: u64) -> Option<Interval> {
        (start <= latest && latest < NEVER).then(|| Interval { first: latest + 1, second: start })
    }

    /// A time before the operation took effect.
    pub fn start(self) -> u64 {
        self.first.min(self.second)
    }

    /// A time after the operation took effect, if it is known to have taken effect.
    pub fn end(self) -> Option<u64> {
        (!self.is_unfinished()).then_some(self.second)
    }

    /// True if no end was recorded.
    pub fn is_unfinished(self) -> bool {
        self.second == NEVER || self.is_bounded()
    }

    /// The time after which an unfinished operation cannot have taken effect, if there is one.
    pub fn latest(self) -> Option<u64> {
        self.is_bounded().then(|| self.first - 1)
    }

    /// The end, or else the latest time, or else a number larger than every recorded time.
    pub fn deadline(self) -> u64 {
        if self.is_bounded() { self.first - 1 } else { self.second }
    }

    /// True if this operation can only have taken effect before the other began.
    pub fn precedes(self, other: Interval) -> bool {
        self.deadline() < other.start()
    }

    /// True if it is unfinished and has a latest time.
    fn is_bounded(self) -> bool {
        self.first > self.second
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{} {}]", self.start(), End::from(*self))
    }
}

impl End {
    /// The end, if one was recorded.
    pub fn at(self) -> Option<u64> {
        if let End::At(end) = self { Some(end) } else { None }
    }

    /// True if no end was recorded.
    pub fn is_unknown(self) -> bool {
        matches!(self, End::Unknown { .. })
    }
}

impl From<Option<u64>> for End {
    fn from(end: Option<u64>) -> End {
        end.map_or(End::Unknown { latest: None }, End::At)
    }
}

impl From<Interval> for End {
    fn from(interval: Interval) -> End {
        interval.end().map_or(End::Unknown { latest: interval.latest() }, End::At)
    }
}

/// Prints `9` for an end, `...` for no end, and `..9` for a latest time.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::At(end) => write!(f, "{end}"),
            End::Unknown { latest: None } => f.write_str("..."),
            End::Unknown { latest: Some(latest) } => write!(f, "..{latest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(interval: Interval) -> String {
        let (end, latest, is_unfinished) = (interval.end(), interval.latest(), interval.is_unfinished());
        assert_eq!(end.is_none(), is_unfinished, "only unfinished operations lack an end");
        assert_eq!(interval.deadline(), end.or(latest).unwrap_or(u64::MAX));
        let sign = if is_unfinished { "?" } else { "" };
        format!("{interval} {}{sign}", interval.start())
    }

    #[test]
    fn intervals_keep_their_times() {
        const LAST: u64 = u64::MAX - 1;
        assert_eq!(check(Interval::new(3, 9).unwrap()), "[3 9] 3");
        assert_eq!(check(Interval::new(3, 3).unwrap()), "[3 3] 3");
        assert_eq!(check(Interval::new(LAST, LAST).unwrap()), format!("[{LAST} {LAST}] {LAST}"));
        assert_eq!(check(Interval::unfinished(3)), "[3 ...] 3?");
        assert_eq!(check(Interval::unfinished(u64::MAX)), format!("[{0} ...] {0}?", u64::MAX));
        assert_eq!(check(Interval::unknown(3, 9).unwrap()), "[3 ..9] 3?");
        assert_eq!(check(Interval::unknown(3, 3).unwrap()), "[3 ..3] 3?");
        assert_eq!(check(Interval::unknown(0, 0).unwrap()), "[0 ..0] 0?");
        assert_eq!(check(Interval::unknown(LAST, LAST).unwrap()), format!("[{LAST} ..{LAST}] {LAST}?"));
    }

    #[test]
    fn intervals_do_not_run_backwards() {
        assert_eq!(Interval::new(3, 2), None);
        assert_eq!(Interval::new(3, u64::MAX), None);
        assert_eq!(Interval::unknown(3, 2), None);
        assert_eq!(Interval::unknown(3, u64::MAX), None);
    }

    #[test]
    fn an_unfinished_operation_precedes_starts_after_its_latest_time() {
        let unknown = Interval::unknown(3, 9).unwrap();
        assert!(unknown.precedes(Interval::new(10, 11).unwrap()));
        assert!(!unknown.precedes(Interval::new(9, 11).unwrap()));
        assert!(!Interval::unfinished(3).precedes(Interval::new(10, 11).unwrap()));
        assert!(Interval::new(1, 2).unwrap().precedes(unknown));
    }
}
