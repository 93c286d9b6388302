//! The smallest history that is still rejected.
//!
//! A search begins with the transactions that the violation names, and with those of its keys if the first are not rejected by
//! themselves. It leaves out transactions and then micro-operations.

use omnilink_history::Halt;

use crate::check::Rejection;
use crate::effort::Effort;
use crate::evidence::{Edge, Violation, Why};
use crate::shrink::Search;
use crate::transactions::{MicroId, NONE, Transactions, TxnId};

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
        let mut search = Search::new(self.level, Effort::default(), halt, reason);
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
