//! Levels: an isolation, and the order in which transactions have to take effect.
//!
//! An isolation says which transactions a transaction sees, given a commit order. A level holds if a commit order exists that
//! contains the order, the edges from each write to its reads, and the known part of the version orders, so that each read
//! returned the last write among those that its transaction sees. The lattice is read-committed < monotonic-atomic-view <
//! read-atomic < causal < prefix and parallel-snapshot < snapshot < serializable; prefix and parallel-snapshot are
//! incomparable.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use omnilink_history::Precedence;
use thiserror::Error;

/// The transactions that a transaction sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// For each read, its writer only.
    ReadCommitted,
    /// For each read, its writer, and those that earlier reads of the transaction returned.
    MonotonicAtomicView,
    /// The transactions before it in the order, and those that it read from.
    ReadAtomic,
    /// The same, transitively.
    Causal,
    /// A prefix of the commit order.
    Prefix,
    /// The same as causal, and earlier transactions that wrote a common key.
    ParallelSnapshot,
    /// A prefix of the commit order with all earlier transactions that wrote a common key.
    Snapshot,
    /// All earlier transactions.
    Serializable,
}

impl Isolation {
    /// All of them, weaker ones first.
    pub const ALL: [Isolation; 8] = [
        Isolation::ReadCommitted,
        Isolation::MonotonicAtomicView,
        Isolation::ReadAtomic,
        Isolation::Causal,
        Isolation::Prefix,
        Isolation::ParallelSnapshot,
        Isolation::Snapshot,
        Isolation::Serializable,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "read-committed",
            Isolation::MonotonicAtomicView => "monotonic-atomic-view",
            Isolation::ReadAtomic => "read-atomic",
            Isolation::Causal => "causal",
            Isolation::Prefix => "prefix",
            Isolation::ParallelSnapshot => "parallel-snapshot",
            Isolation::Snapshot => "snapshot",
            Isolation::Serializable => "serializable",
        }
    }

    /// True if every history that this level accepts is accepted by the other one.
    pub fn implies(self, weaker: Isolation) -> bool {
        match (self, weaker) {
            (Isolation::Prefix, Isolation::ParallelSnapshot) | (Isolation::ParallelSnapshot, Isolation::Prefix) => {
                false
            }
            _ => weaker <= self,
        }
    }

    /// True if a transaction that reads a version and writes its key directly follows the writer of the version.
    pub(crate) fn forbids_lost_updates(self) -> bool {
        matches!(self, Isolation::ParallelSnapshot | Isolation::Snapshot | Isolation::Serializable)
    }

    /// True if the level follows from edges that every commit order has, without a choice.
    pub fn is_polynomial(self) -> bool {
        self <= Isolation::Causal
    }
}

impl Display for Isolation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An isolation and an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// The transactions that a transaction sees.
    pub isolation: Isolation,
    /// The order that counts.
    pub order: Precedence,
}

/// A name that is not a level.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LevelError {
    /// There is no such level.
    #[error("unrecognized isolation level `{0}`")]
    Unknown(String),
    /// The name has different meanings in different systems.
    #[error(
        "`repeatable-read` has no single meaning: for single rows it is `serializable` in the standard's theory, \
         `snapshot` in PostgreSQL, and neither in MySQL"
    )]
    RepeatableRead,
    /// Without version orders it is always true.
    #[error("`read-uncommitted` accepts every history whose version orders are unknown; use `read-committed`")]
    ReadUncommitted,
}

/// Orders, weaker ones first.
pub const ORDERS: [Precedence; 3] = [Precedence::None, Precedence::Program, Precedence::RealTime];

/// The name of an order on the command line.
pub fn order_name(order: Precedence) -> &'static str {
    match order {
        Precedence::None => "none",
        Precedence::Program => "session",
        Precedence::RealTime => "real-time",
    }
}

impl Level {
    /// Names that stand for an isolation and an order other than the isolation's own name.
    pub const NAMED: [(&'static str, Isolation, Precedence); 4] = [
        ("strong-session-snapshot", Isolation::Snapshot, Precedence::Program),
        ("strong-snapshot", Isolation::Snapshot, Precedence::RealTime),
        ("strong-session-serializable", Isolation::Serializable, Precedence::Program),
        ("strict-serializable", Isolation::Serializable, Precedence::RealTime),
    ];

    /// The same isolation in another order.
    pub fn with_order(self, order: Precedence) -> Level {
        Level { order, ..self }
    }
}

impl FromStr for Level {
    type Err = LevelError;

    /// A bare name has the weakest order that the literature gives it, so that *rejected* is true under every reading.
    fn from_str(text: &str) -> Result<Level, LevelError> {
        match text {
            "repeatable-read" => return Err(LevelError::RepeatableRead),
            "read-uncommitted" => return Err(LevelError::ReadUncommitted),
            _ => {}
        }
        if let Some((_, isolation, order)) = Level::NAMED.into_iter().find(|(name, ..)| *name == text) {
            return Ok(Level { isolation, order });
        }
        let isolation = Isolation::ALL.into_iter().find(|isolation| isolation.name() == text);
        let isolation = isolation.ok_or_else(|| LevelError::Unknown(text.to_owned()))?;
        let order = if isolation == Isolation::Causal { Precedence::Program } else { Precedence::None };
        Ok(Level { isolation, order })
    }
}

impl Display for Level {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Level { isolation, order } = *self;
        if let Some((name, ..)) = Level::NAMED.into_iter().find(|&(_, i, o)| (i, o) == (isolation, order)) {
            return f.write_str(name);
        }
        match order {
            Precedence::None => write!(f, "{isolation}"),
            Precedence::Program => write!(f, "{isolation} in session order"),
            Precedence::RealTime => write!(f, "{isolation} in real time"),
        }
    }
}

/// True if the order contains the other one.
pub(crate) fn contains(order: Precedence, weaker: Precedence) -> bool {
    let rank = |order| ORDERS.iter().position(|known| *known == order);
    rank(weaker) <= rank(order)
}
