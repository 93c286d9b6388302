//! Isolation of transactions in a report: the anomaly of a rejected history, and the levels that hold.
//!
//! A transaction is an operation of the history; its reads and writes are its accesses, in the order of the program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{OpRef, Order, Report};
use crate::finding::{Finding, Note};
use crate::wording::{brief, clean, count};

/// The most accesses of a transaction, and the maximum width of one, in a line of text.
const ACCESSES: usize = 8;
const WIDTH: usize = 60;

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

impl Report {
    /// The number of operations and of processes, in the words for the history: transactions and sessions.
    pub(crate) fn sizes(&self) -> [String; 2] {
        let words = if self.isolation.is_some() { ["transaction", "session"] } else { ["operation", "process"] };
        let operations = self.history.operations.unwrap_or(self.stats.returned);
        [count(operations, words[0]), count(self.history.processes as u64, words[1])]
    }
}

impl Finding {
    pub(crate) fn of_anomaly(report: &Report, sentence: &str, anomaly: &Anomaly) -> Finding {
        let of_txn = |txn: &Involved| {
            let mut accesses: Vec<String> =
                txn.accesses.iter().take(ACCESSES).map(|access| brief(&clean(access), WIDTH)).collect();
            if txn.has_more || txn.accesses.len() > ACCESSES {
                accesses.push("...".to_owned());
            }
            let op = report.op(txn.op);
            let text = accesses.join("  ");
            format!("{} is {}: {text} {}", clean(&txn.label), clean(&op.name), op.interval())
        };
        let label = |txn: usize| clean(&anomaly.transactions[txn].label);
        let of_edge = |edge: &Precedes| format!("{} → {}: {}", label(edge.from), label(edge.to), clean(&edge.reason));
        let mut notes: Vec<Note> = anomaly.transactions.iter().map(of_txn).map(Note::Note).collect();
        notes.extend(anomaly.edges.iter().map(of_edge).map(Note::Note));
        notes.extend(report.isolation.as_ref().and_then(Isolation::strongest_text).map(Note::Help));
        Finding { is_warning: false, title: clean(sentence), marks: Vec::new(), notes }
    }
}
