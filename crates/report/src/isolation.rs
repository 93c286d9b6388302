//! Isolation of transactions in a report: the anomaly of a rejected history, and the levels that hold.
//!
//! A transaction is an operation of the history; its reads and writes are its accesses, in the order of the program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{OpRef, Order};
use crate::wording::clean;

/// The level that was checked, and those that hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Isolation {
    /// The level, as in messages.
    pub level: String,
    /// The number of reads and writes of all transactions.
    pub accesses: u64,
    /// The strongest levels for each order; none if they were not searched for.
    pub strongest: Vec<StrongestLevels>,
}

/// The strongest levels in one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrongestLevels {
    /// The order.
    pub order: Order,
    /// The levels that hold and that no other one implies.
    pub levels: Vec<String>,
    /// Levels that were not decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
}

/// Transactions that no order explains at the level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// Its name, such as `write skew`.
    pub name: String,
    /// The transactions that take part.
    pub transactions: Vec<Involved>,
    /// Why transactions come before each other; none if one read is wrong by itself, or if no cycle is common to all orders.
    pub edges: Vec<Precedes>,
    /// The accesses that show it, besides those of edges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<AccessRef>,
}

/// A transaction that takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Involved {
    /// Its name in the sentences, such as `T1`.
    pub label: String,
    /// The transaction.
    pub op: OpRef,
    /// Its first accesses, as printed.
    pub accesses: Vec<String>,
    /// True if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

/// A transaction comes before another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Precedes {
    /// The first: an index into [`Anomaly::transactions`].
    pub from: usize,
    /// The second.
    pub to: usize,
    /// The kind of reason.
    pub kind: Precedence,
    /// The reason, in a sentence.
    pub reason: String,
    /// The accesses that prove it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<AccessRef>,
}

/// Why a transaction comes before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Precedence {
    /// It is earlier in their session.
    Session,
    /// It ended before the other one began.
    Time,
    /// The other one read its write.
    Read,
    /// Its version of a key is older.
    Version,
    /// It read a version older than the other one's.
    Missed,
    /// A third transaction sees its write, and returned that of the other one.
    Forced,
}

/// A read or a write of a transaction that takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccessRef {
    /// The transaction: an index into [`Anomaly::transactions`].
    pub transaction: usize,
    /// An index into its accesses.
    pub access: usize,
}

impl Anomaly {
    /// All references to accesses.
    pub(crate) fn references(&self) -> impl Iterator<Item = &AccessRef> {
        self.edges.iter().flat_map(|edge| &edge.accesses).chain(&self.accesses)
    }
}

impl Isolation {
    /// The strongest levels in a line; nothing if they were not searched for.
    pub(crate) fn strongest_text(&self) -> Option<String> {
        let of_order = |found: &StrongestLevels| {
            let mut levels = if found.levels.is_empty() { "none".to_owned() } else { clean(&found.levels.join(", ")) };
            if !found.undecided.is_empty() {
                levels += &format!(" (not decided: {})", clean(&found.undecided.join(", ")));
            }
            let order = match found.order {
                Order::None => "no order",
                Order::Program => "session order",
                Order::RealTime => "real time",
            };
            format!("{levels} in {order}")
        };
        let all: Vec<String> = self.strongest.iter().map(of_order).collect();
        (!all.is_empty()).then(|| format!("strongest levels: {}", all.join("; ")))
    }
}
