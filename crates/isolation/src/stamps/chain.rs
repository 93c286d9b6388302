//! PostgreSQL's snapshots as stamps.
//!
//! All snapshots that one server takes are a chain: of two, one sees everything that the other one sees. So the place in
//! the chain is a stamp, and a transaction commits just before the first snapshot that sees it. Two snapshots that each see
//! a transaction that the other one does not are a violation of the prefix axiom, as on two replicas that apply transactions
//! in different orders.

use crate::stamp::{Snapshot, Stamp};
use crate::transactions::TxnId;

/// Two transactions whose snapshots are not in a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fork(pub(crate) TxnId, pub(crate) TxnId);

/// The stamps of all transactions: when it took its snapshot, and when it committed if it has a number.
pub(crate) fn stamps(all: &[(Option<Snapshot>, Option<u64>)]) -> Result<Vec<(Stamp, Stamp)>, Fork> {
    let mut chain: Vec<(&Snapshot, usize)> =
        all.iter().enumerate().filter_map(|(txn, (snapshot, _))| Some((snapshot.as_ref()?, txn))).collect();
    chain.sort_by_key(|(snapshot, txn)| (snapshot.size(), *txn));
    let mut xids: Vec<(u64, usize)> =
        all.iter().enumerate().filter_map(|(txn, (_, xid))| Some(((*xid)?, txn))).collect();
    xids.sort_unstable();
    let mut stamps = vec![(Stamp::NONE, Stamp::NONE); all.len()];
    let mut last: Option<(&Snapshot, usize)> = None;
    let mut place = 0;
    // Numbers below `passed` are visible, or among those that wait.
    let (mut passed, mut waiting): (usize, Vec<(u64, usize)>) = (0, Vec::new());
    for (snapshot, txn) in chain {
        if last.is_none_or(|(before, _)| before != snapshot) {
            if let Some((before, other)) = last
                && before.beyond(snapshot).is_some()
            {
                return Err(Fork(TxnId(other as u32), TxnId(txn as u32)));
            }
            place += 1;
            last = Some((snapshot, txn));
            let fresh = xids[passed..].partition_point(|&(xid, _)| xid < snapshot.end());
            waiting.extend_from_slice(&xids[passed..passed + fresh]);
            passed += fresh;
            waiting.retain(|&(xid, writer)| {
                if snapshot.sees(xid) {
                    stamps[writer].1 = Stamp::new(2 * place - 1);
                }
                !snapshot.sees(xid)
            });
        }
        stamps[txn].0 = Stamp::new(2 * place);
    }
    for (_, writer) in waiting.into_iter().chain(xids[passed..].iter().copied()) {
        stamps[writer].1 = Stamp::new(2 * place + 1);
    }
    Ok(stamps)
}
