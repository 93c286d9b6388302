//! The times that a database reports: timestamps of transactions, or PostgreSQL's snapshots.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A timestamp of a database. Hybrid clocks have two parts, which compare in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The first part.
    pub physical: u64,
    /// The second part; 0 if the clock has one.
    pub logical: u64,
}

impl Stamp {
    /// The stamp of a transaction that has none.
    pub(crate) const NONE: Stamp = Stamp { physical: u64::MAX, logical: u64::MAX };

    /// A timestamp with one part.
    pub fn new(physical: u64) -> Stamp {
        Stamp { physical, logical: 0 }
    }

    /// The greatest timestamp that is less than this one.
    pub fn before(self) -> Stamp {
        match (self.physical, self.logical) {
            (0, 0) => self,
            (physical, 0) => Stamp { physical: physical - 1, logical: u64::MAX },
            (physical, logical) => Stamp { physical, logical: logical - 1 },
        }
    }

    /// The stamp, unless it stands for none.
    pub(crate) fn known(self) -> Option<Stamp> {
        (self != Stamp::NONE).then_some(self)
    }
}

impl Display for Stamp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.logical {
            0 => write!(f, "{}", self.physical),
            logical => write!(f, "{}.{logical}", self.physical),
        }
    }
}

/// A snapshot of PostgreSQL: the transactions that had ended when it was taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The first transaction number that is not visible, and neither are later ones.
    end: u64,
    /// Earlier ones that were in progress. Invariant: sorted, less than `end`, and `end - 1` is not among them, so that
    /// equal snapshots are equal values.
    running: Vec<u64>,
}

impl Snapshot {
    /// The snapshot with the transactions below `end`, without those that were running.
    pub fn new(end: u64, mut running: Vec<u64>) -> Snapshot {
        running.sort_unstable();
        running.dedup();
        running.retain(|&xid| xid < end);
        let mut end = end;
        while running.last().is_some_and(|&last| last + 1 == end) {
            running.pop();
            end -= 1;
        }
        Snapshot { end, running }
    }

    /// True if the transaction of this number had ended.
    pub fn sees(&self, xid: u64) -> bool {
        xid < self.end && self.running.binary_search(&xid).is_err()
    }

    /// The first transaction number that is not visible, and neither are later ones.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The number of transaction numbers that it sees.
    pub(crate) fn size(&self) -> u64 {
        self.end - self.running.len() as u64
    }

    /// A transaction number that this snapshot sees and the other one does not.
    pub(crate) fn beyond(&self, other: &Snapshot) -> Option<u64> {
        let hidden = other.running.iter().copied().find(|&xid| self.sees(xid));
        hidden.or_else(|| (other.end < self.end).then(|| self.end - 1))
    }
}

impl FromStr for Snapshot {
    type Err = String;

    /// The text of `pg_current_snapshot()`: `xmin:xmax:in-progress`.
    fn from_str(text: &str) -> Result<Snapshot, String> {
        let wrong = || format!("expected a snapshot `xmin:xmax:xid,...`, found `{text}`");
        let mut parts = text.split(':');
        let (Some(min), Some(end), Some(running), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        number(min)?;
        let running: Result<Vec<u64>, String> =
            running.split(',').filter(|text| !text.is_empty()).map(number).collect();
        Ok(Snapshot::new(number(end)?, running?))
    }
}

impl Display for Snapshot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let running: Vec<String> = self.running.iter().map(u64::to_string).collect();
        write!(f, "{}:{}:{}", self.running.first().unwrap_or(&self.end), self.end, running.join(","))
    }
}

/// The times of all transactions.
#[derive(Clone, Debug, Default)]
pub(crate) enum Clock {
    /// They have none.
    #[default]
    None,
    /// When each took its snapshot and when it committed, or `Stamp::NONE`.
    Stamps(Vec<(Stamp, Stamp)>),
    /// The snapshot of each, and its number if it wrote.
    Snapshots(Vec<(Option<Snapshot>, Option<u64>)>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_read_and_compared() {
        let snapshot = |text: &str| text.parse::<Snapshot>().expect("a snapshot");
        let early = snapshot("733:736:733,735");
        assert_eq!(early.to_string(), "733:735:733");
        assert_eq!([732, 733, 734, 735, 736].map(|xid| early.sees(xid)), [true, false, true, false, false]);
        let late = snapshot("735:737:735");
        assert_eq!((early.beyond(&late), late.beyond(&early)), (None, Some(733)));
        assert_eq!(snapshot("734:736:734").beyond(&early), Some(733));
        assert_eq!(early.beyond(&snapshot("734:736:734")), Some(734));
        assert!("733:736".parse::<Snapshot>().is_err());
        assert!("733:x:".parse::<Snapshot>().is_err());
    }
}
