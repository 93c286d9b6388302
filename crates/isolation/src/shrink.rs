//! The smallest history that is still rejected.
//!
//! A search begins with the transactions that the violation names, and with those of its keys if the first are not rejected by
//! themselves. It leaves out transactions and then micro-operations, in parts that become smaller, as long as the rest is
//! rejected for the same reason. All checks together read a bounded number of micro-operations, so the search of a large
//! history ends early and its result is larger.

use omnilink_history::Halt;

use crate::check::Rejection;
use crate::decide::{Decision, decide};
use crate::effort::{ALL_WAYS, Effort};
use crate::evidence::{Edge, Violation, Why};
use crate::level::Level;
use crate::model::{Choice, Model, ReadAnomaly};
use crate::transactions::{MicroId, NONE, Transactions, TxnId};

/// The most micro-operations that the checks of a search read.
const WORK: usize = 1_500_000;

/// The most conflicts of a check.
const CONFLICTS: u64 = 20_000;

/// A history that is rejected by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smallest {
    /// Its transactions.
    pub txns: Vec<TxnId>,
    /// Its micro-operations.
    pub micros: Vec<MicroId>,
}

impl Rejection {
    /// The smallest history that is still rejected at [`level`](Rejection::level) and that a bounded search finds. `None` if it
    /// finds none, or if reads are ambiguous.
    pub fn smallest(&self, txns: &Transactions, halt: &Halt) -> Option<Smallest> {
        if self.choices > 1 || !txns.repeated.is_empty() {
            return None;
        }
        let reason = match self.violation {
            Violation::Read(bad) => Some(bad.anomaly),
            _ => None,
        };
        let mut search = Search { level: self.level, effort: Effort::default(), halt, left: WORK, reason };
        let named = self.named(txns);
        let (part, origin) = match search.part(txns, &named) {
            Some(found) => found,
            None => {
                let of_keys = with_keys_of(txns, &named);
                search.part(txns, &of_keys)?
            }
        };
        let all: Vec<TxnId> = part.ids().collect();
        let kept = search.minimize(all, |txns| part.keep(|txn| txns.binary_search(&txn).is_ok(), |_| true));
        let micros = kept.iter().flat_map(|&txn| part.micros_of(txn)).collect();
        let micros = search.minimize(micros, |micros| {
            let has_txn = |txn: TxnId| kept.binary_search(&txn).is_ok();
            part.keep(has_txn, |micro| micros.binary_search(&micro).is_ok())
        });
        let micros: Vec<MicroId> = micros.into_iter().map(|micro| origin[micro.0 as usize]).collect();
        let mut txns: Vec<TxnId> = micros.iter().map(|&micro| txns.txn_of(micro)).collect();
        txns.dedup();
        Some(Smallest { txns, micros })
    }

    /// The transactions of the violation, and those whose writes its reads returned.
    fn named(&self, txns: &Transactions) -> Vec<TxnId> {
        let mut named = Vec::new();
        let mut cite = |micro: MicroId| {
            named.push(txns.txn_of(micro));
            let read = txns.micros[micro.0 as usize];
            let last = txns.list(read).last().copied().or((!read.is_write()).then_some(read.at));
            let writer =
                last.and_then(|version| txns.versions.get(version as usize)).map_or(NONE, |version| version.writer);
            named.extend((writer != NONE).then(|| txns.txn_of(MicroId(writer))));
        };
        let mut edges: Vec<&Edge> = Vec::new();
        match &self.violation {
            Violation::Read(bad) => [bad.read, bad.other].into_iter().for_each(&mut cite),
            Violation::LostUpdate { first, second } => {
                [first.0, first.1, second.0, second.1].into_iter().for_each(&mut cite);
            }
            Violation::Core(core) => return core.clone(),
            Violation::Cycle(cycle) => edges.extend(&cycle.edges),
        }
        while let Some(edge) = edges.pop() {
            match &edge.why {
                Why::Session | Why::Time => {}
                Why::Read { write, read } | Why::Missed { read, write } => {
                    [*write, *read].into_iter().for_each(&mut cite);
                }
                Why::Version { first, second } => [*first, *second].into_iter().for_each(&mut cite),
                Why::Forced { write, read, path } => {
                    [*write, *read].into_iter().for_each(&mut cite);
                    edges.extend(path);
                }
            }
        }
        if let Violation::Cycle(cycle) = &self.violation {
            named.extend(cycle.txns());
        }
        named.sort_unstable();
        named.dedup();
        named
    }
}

/// The transactions that use a key which one of these writes or reads.
fn with_keys_of(txns: &Transactions, named: &[TxnId]) -> Vec<TxnId> {
    let mut is_key = vec![false; txns.keys.len()];
    for &txn in named {
        txns.micros[txns.range(txn.0)].iter().for_each(|micro| is_key[micro.key as usize] = true);
    }
    let uses = |txn: &TxnId| txns.micros[txns.range(txn.0)].iter().any(|micro| is_key[micro.key as usize]);
    txns.ids().filter(|txn| named.binary_search(txn).is_ok() || uses(txn)).collect()
}

/// A search with bounded work.
struct Search<'a> {
    level: Level,
    effort: Effort,
    halt: &'a Halt,
    left: usize,
    /// The anomaly of a read that no level allows.
    reason: Option<ReadAnomaly>,
}

impl Search<'_> {
    /// The history of these transactions if it is rejected, with the micro-operations of the whole history.
    fn part(&mut self, txns: &Transactions, kept: &[TxnId]) -> Option<(Transactions, Vec<MicroId>)> {
        let size: usize = kept.iter().map(|txn| txns.range(txn.0).len()).sum();
        if size > self.left {
            return None;
        }
        let (part, origin) = txns.keep_with_origin(|txn| kept.binary_search(&txn).is_ok(), |_| true);
        self.is_rejected(&part).then_some((part, origin))
    }

    /// True if a history is rejected for the same reason.
    fn is_rejected(&mut self, part: &Transactions) -> bool {
        self.left = self.left.saturating_sub(part.micro_count().max(1));
        let effort = Effort { conflicts: self.effort.conflicts.min(CONFLICTS), ..self.effort };
        match (Model::new(part, &Choice::default()), self.reason) {
            (Err(bad), reason) => reason == Some(bad.anomaly),
            (Ok(_), Some(_)) => false,
            (Ok(model), None) => {
                matches!(decide(&model, self.level, &effort, ALL_WAYS, self.halt), Decision::Rejected)
            }
        }
    }

    /// Leaves items out, in parts that become smaller, as long as the rest is rejected.
    fn minimize<T: Copy>(&mut self, mut kept: Vec<T>, part: impl Fn(&[T]) -> Transactions) -> Vec<T> {
        let mut size = kept.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < kept.len() {
                if self.left == 0 || self.halt.is_raised() {
                    return kept;
                }
                let end = kept.len().min(at + size);
                let fewer: Vec<T> = kept[..at].iter().chain(&kept[end..]).copied().collect();
                if self.is_rejected(&part(&fewer)) {
                    kept = fewer;
                } else {
                    at = end;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        kept
    }
}

/// Transactions that are rejected by themselves; without any of them, they are accepted, unless the limit was reached.
pub(crate) fn smallest_core(model: &Model<'_>, level: Level, effort: &Effort, halt: &Halt) -> Vec<TxnId> {
    let mut search = Search { level, effort: *effort, halt, left: WORK, reason: None };
    let all = model.ids.iter().map(|&id| TxnId(id)).collect();
    search.minimize(all, |kept| only(model.txns, kept))
}

/// The history of these transactions, which are sorted.
pub(crate) fn only(txns: &Transactions, kept: &[TxnId]) -> Transactions {
    txns.keep(|txn| kept.binary_search(&txn).is_ok(), |_| true)
}
