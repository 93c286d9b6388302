//! Leaves parts of a history out, as long as the rest is rejected.
//!
//! A search leaves items out in groups that become smaller, as long as the rest is rejected for the same reason. All checks
//! together read a bounded number of micro-operations, so the search of a large history ends early and its result is larger.

use omnilink_history::Halt;

use crate::decide::{Decision, decide};
use crate::effort::{ALL_WAYS, Effort};
use crate::level::Level;
use crate::model::{Choice, Model, ReadAnomaly};
use crate::transactions::{MicroId, Transactions, TxnId};

/// The most micro-operations that the checks of a search read.
const WORK: usize = 1_500_000;

/// The most conflicts of a check.
const CONFLICTS: u64 = 20_000;

/// A search with bounded work.
pub(crate) struct Search<'a> {
    level: Level,
    effort: Effort,
    halt: &'a Halt,
    left: usize,
    /// The anomaly of a read that no level allows.
    reason: Option<ReadAnomaly>,
}

impl<'a> Search<'a> {
    /// A search for less of what is rejected; with `reason`, because of a read that no level allows.
    pub(crate) fn new(level: Level, effort: Effort, halt: &'a Halt, reason: Option<ReadAnomaly>) -> Search<'a> {
        Search { level, effort, halt, left: WORK, reason }
    }

    /// The history of these transactions if it is rejected, with the micro-operations of the whole history.
    pub(crate) fn part(&mut self, txns: &Transactions, kept: &[TxnId]) -> Option<(Transactions, Vec<MicroId>)> {
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
    pub(crate) fn minimize<T: Copy>(&mut self, mut kept: Vec<T>, part: impl Fn(&[T]) -> Transactions) -> Vec<T> {
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
    let mut search = Search::new(level, *effort, halt, None);
    let all = model.ids.iter().map(|&id| TxnId(id)).collect();
    search.minimize(all, |kept| only(model.txns, kept))
}

/// The history of these transactions, which are sorted.
pub(crate) fn only(txns: &Transactions, kept: &[TxnId]) -> Transactions {
    txns.keep(|txn| kept.binary_search(&txn).is_ok(), |_| true)
}
