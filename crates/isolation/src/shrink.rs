//! The smallest history that is still rejected.

use omnilink_history::Halt;

use crate::decide::{Decision, decide};
use crate::effort::{ALL_WAYS, Effort};
use crate::level::Level;
use crate::model::{Choice, Model};
use crate::transactions::{Transactions, TxnId};

/// How many checks a search for a smallest history may use.
const CHECKS: usize = 200;

/// Transactions that are rejected by themselves; without any of them, they are accepted, unless the limit was reached.
pub(crate) fn smallest(model: &Model<'_>, level: Level, effort: &Effort, halt: &Halt) -> Vec<TxnId> {
    let all = model.ids.iter().map(|&id| TxnId(id)).collect();
    minimize(model.txns, all, level, effort, halt)
}

/// Leaves transactions out, in parts that become smaller, as long as the rest is rejected.
pub(crate) fn minimize(
    txns: &Transactions,
    mut kept: Vec<TxnId>,
    level: Level,
    effort: &Effort,
    halt: &Halt,
) -> Vec<TxnId> {
    let effort = Effort { conflicts: effort.conflicts.min(20_000), ..*effort };
    let mut checks = 0;
    let mut size = kept.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < kept.len() {
            if checks >= CHECKS || halt.is_raised() {
                return kept;
            }
            let end = kept.len().min(at + size);
            let fewer: Vec<TxnId> = kept[..at].iter().chain(&kept[end..]).copied().collect();
            checks += 1;
            if is_rejected(txns, &fewer, level, &effort, halt) {
                kept = fewer;
            } else {
                at = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    kept
}

fn is_rejected(txns: &Transactions, kept: &[TxnId], level: Level, effort: &Effort, halt: &Halt) -> bool {
    let part = only(txns, kept);
    match Model::new(&part, &Choice::default()) {
        Err(_) => false, // Another reason than the one that is explained.
        Ok(model) => matches!(decide(&model, level, effort, ALL_WAYS, halt), Decision::Rejected),
    }
}

/// The history of these transactions, which are sorted.
pub(crate) fn only(txns: &Transactions, kept: &[TxnId]) -> Transactions {
    txns.keep(|txn| kept.binary_search(&txn).is_ok(), |_| true)
}
