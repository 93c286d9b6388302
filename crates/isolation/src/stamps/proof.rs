//! Verifies misfits, with code of its own: from the stamps or the snapshots of the transactions that take part, without any
//! order of all transactions.

use omnilink_history::Precedence;

use super::misfit::{Misfit, StampRejection};
use crate::level::Isolation;
use crate::stamp::{Clock, Stamp};
use crate::transactions::{Access, Micro, MicroId, NEVER, NONE, Status, Transactions, TxnId};

impl StampRejection {
    /// Verifies one misfit.
    pub(super) fn prove(&self, misfit: Misfit, txns: &Transactions) -> Result<(), String> {
        let prover = Prover { txns, isolation: self.level.isolation };
        let holds = match misfit {
            Misfit::Internal { read, write } => prover.is_internal(read, write),
            Misfit::Unwritten { read } => prover.is_unwritten(read),
            Misfit::Unseen { read, write } => prover.is_unseen(read, write),
            Misfit::Missed { read, write } => prover.is_missed(read, write),
            Misfit::Disordered { read } => prover.is_disordered(read),
            Misfit::Conflict { first, second } => {
                self.level.isolation == Isolation::Snapshot && prover.overlap(first, second)
            }
            Misfit::Order { before, after, in_time } => prover.is_stale(self.level.order, before, after, in_time),
            Misfit::Backwards { txn } => prover.is_backwards(txn),
            Misfit::Versions { first, second } => prover.contradicts_versions(first, second),
            Misfit::Fork { first, second } => prover.disagree(first, second),
        };
        if holds { Ok(()) } else { Err(format!("the stamps do not show this: {misfit:?}")) }
    }
}

struct Prover<'a> {
    txns: &'a Transactions,
    isolation: Isolation,
}

impl Prover<'_> {
    fn micro(&self, id: MicroId) -> Micro {
        self.txns.micros[id.0 as usize]
    }

    fn owner(&self, id: MicroId) -> TxnId {
        self.txns.txn_of(id)
    }

    /// True if a transaction committed: its status or a commit stamp says so, or a read of one that committed returned its write.
    fn took_effect(&self, txn: TxnId) -> bool {
        let is_read = |write: MicroId| {
            let version = self.micro(write).at;
            let returned = |read: MicroId| {
                let read = self.micro(read);
                match read.access {
                    Access::Read => read.at == version,
                    Access::Write | Access::Append => false,
                    Access::Prefix | Access::List => {
                        read.key == self.micro(write).key && self.txns.list(read).contains(&version)
                    }
                }
            };
            let is_alone = !self.txns.repeated.iter().any(|(of, _)| *of == version);
            let mut committed = self.txns.ids().filter(|&other| self.txns.status(other) == Status::Committed);
            is_alone && self.micro(write).is_write() && committed.any(|other| self.txns.micros_of(other).any(returned))
        };
        match self.txns.status(txn) {
            Status::Committed => true,
            Status::Aborted => false,
            Status::Unknown => self.stamps(txn).1.is_some() || self.txns.micros_of(txn).any(is_read),
        }
    }

    /// The snapshot and the commit of a transaction as stamps.
    fn stamps(&self, txn: TxnId) -> (Option<Stamp>, Option<Stamp>) {
        match &self.txns.clock {
            Clock::Stamps(stamps) => {
                let (start, commit) = stamps[txn.0 as usize];
                (start.known(), commit.known())
            }
            Clock::None | Clock::Snapshots(_) => (None, None),
        }
    }

    /// Whether the reads of a transaction see the writes of another one, if that is known.
    fn sees(&self, reader: TxnId, writer: TxnId) -> Option<bool> {
        if let Clock::Snapshots(snapshots) = &self.txns.clock {
            return Some(snapshots[reader.0 as usize].0.as_ref()?.sees(snapshots[writer.0 as usize].1?));
        }
        let (start, own) = self.stamps(reader);
        let commit = self.stamps(writer).1;
        if self.isolation != Isolation::Serializable {
            return Some(commit? <= start?);
        }
        match (self.writes(reader), own) {
            (true, own) if own == commit => None,
            (true, own) => Some(commit? < own?),
            (false, own) => Some(commit? <= own.or(start)?),
        }
    }

    fn writes(&self, txn: TxnId) -> bool {
        self.txns.micros_of(txn).any(|micro| self.micro(micro).is_write())
    }

    /// True if the commit of a transaction is known to be after that of another one.
    fn is_newer(&self, newer: TxnId, older: TxnId) -> bool {
        match &self.txns.clock {
            Clock::Snapshots(snapshots) => {
                let xid = |txn: TxnId| snapshots[txn.0 as usize].1;
                let (Some(newer), Some(older)) = (xid(newer), xid(older)) else { return false };
                let mut all = snapshots.iter().filter_map(|(snapshot, _)| snapshot.as_ref());
                all.any(|snapshot| snapshot.sees(older) && !snapshot.sees(newer))
            }
            _ => match (self.stamps(newer).1, self.stamps(older).1) {
                (Some(newer), Some(older)) => newer > older,
                _ => false,
            },
        }
    }

    fn is_list(&self, read: Micro) -> bool {
        matches!(read.access, Access::Prefix | Access::List)
    }

    /// The writes of a version: of a register, the last ones of their transactions. Those of aborted transactions are left out.
    fn writes_of(&self, version: u32) -> Vec<MicroId> {
        let txns = self.txns;
        let is_write = |micro: &u32| {
            let (id, write) = (MicroId(*micro), txns.micros[*micro as usize]);
            let owner = self.owner(id);
            let is_last = || {
                let mut later = txns.micros_of(owner).filter(|&other| other > id);
                !later.any(|other| self.micro(other).access == Access::Write && self.micro(other).key == write.key)
            };
            write.is_write() && write.at == version && txns.status(owner) != Status::Aborted && is_last()
        };
        let first = Some(txns.versions[version as usize].writer).filter(|&writer| writer != NONE);
        let repeated = txns.repeated.iter().filter(|(of, _)| *of == version).map(|&(_, write)| write);
        first.into_iter().chain(repeated).filter(is_write).map(MicroId).collect()
    }

    /// The own writes of the key of a read before it.
    fn own(&self, read: MicroId) -> Vec<MicroId> {
        let key = self.micro(read).key;
        let before = self.txns.micros_of(self.owner(read)).filter(|&other| other < read);
        before.filter(|&other| self.micro(other).is_write() && self.micro(other).key == key).collect()
    }

    /// The versions that a read returned, without own ones.
    fn others(&self, read: MicroId) -> Option<Vec<u32>> {
        let micro = self.micro(read);
        if micro.is_write() {
            return None;
        }
        let own = self.own(read);
        if !self.is_list(micro) {
            return own.is_empty().then(|| vec![micro.at]);
        }
        let list = self.txns.list(micro);
        let mine: Vec<u32> = own.iter().map(|&own| self.micro(own).at).collect();
        list.ends_with(&mine).then(|| list[..list.len() - mine.len()].to_vec())
    }

    fn is_internal(&self, read: MicroId, write: MicroId) -> bool {
        let own = self.own(read);
        let micro = self.micro(read);
        own.last() == Some(&write)
            && !micro.is_write()
            && if self.is_list(micro) { self.others(read).is_none() } else { micro.at != self.micro(write).at }
    }

    fn is_unwritten(&self, read: MicroId) -> bool {
        let Some(others) = self.others(read) else { return false };
        let is_list = self.is_list(self.micro(read));
        others.iter().any(|&version| {
            let is_initial = !is_list && self.txns.versions[version as usize].is_initial;
            !is_initial && self.writes_of(version).iter().all(|&write| !self.counts(self.owner(write)))
        })
    }

    /// True if a transaction may have committed.
    fn counts(&self, txn: TxnId) -> bool {
        self.txns.status(txn) != Status::Aborted
    }

    fn is_unseen(&self, read: MicroId, write: MicroId) -> bool {
        let Some(others) = self.others(read) else { return false };
        let version = self.micro(write).at;
        let reader = self.owner(read);
        let is_unseen =
            |&write: &MicroId| self.owner(write) == reader || self.sees(reader, self.owner(write)) == Some(false);
        let is_initial = !self.is_list(self.micro(read)) && self.txns.versions[version as usize].is_initial;
        let writes = self.writes_of(version);
        others.contains(&version) && !is_initial && writes.contains(&write) && writes.iter().all(is_unseen)
    }

    fn is_missed(&self, read: MicroId, write: MicroId) -> bool {
        let (micro, written) = (self.micro(read), self.micro(write));
        let (reader, writer) = (self.owner(read), self.owner(write));
        let Some(others) = self.others(read) else { return false };
        let is_seen = micro.key == written.key
            && self.writes_of(written.at).contains(&write)
            && self.took_effect(writer)
            && self.sees(reader, writer) == Some(true);
        if !is_seen || others.contains(&written.at) {
            return false;
        }
        // Every write that the read can have returned is older, or not in the snapshot.
        self.is_list(micro)
            || self.writes_of(micro.at).iter().all(|&other| {
                let other = self.owner(other);
                other == reader || self.is_newer(writer, other) || self.sees(reader, other) == Some(false)
            })
    }

    fn is_disordered(&self, read: MicroId) -> bool {
        let Some(others) = self.others(read) else { return false };
        let write = |version: u32| self.writes_of(version).first().copied();
        let is_swapped = |pair: &[u32]| match (write(pair[0]), write(pair[1])) {
            (Some(first), Some(second)) => match self.owner(first) == self.owner(second) {
                true => first > second,
                false => self.is_newer(self.owner(first), self.owner(second)),
            },
            _ => false,
        };
        let is_twice = others.iter().enumerate().any(|(place, version)| others[..place].contains(version));
        // The elements of one transaction are committed together.
        let owners: Vec<Option<TxnId>> =
            others.iter().map(|&version| write(version).map(|write| self.owner(write))).collect();
        let is_torn =
            (2..owners.len()).any(|at| owners[at] != owners[at - 1] && owners[..at - 1].contains(&owners[at]));
        is_twice || is_torn || others.windows(2).any(is_swapped) || self.is_moved(read, &others)
    }

    /// True if own elements have another place than a read of the transaction shows: the list lacks one that was committed before
    /// them, or has one that was committed after them.
    fn is_moved(&self, read: MicroId, others: &[u32]) -> bool {
        let (reader, key) = (self.owner(read), self.micro(read).key);
        if self.own(read).is_empty() {
            return false;
        }
        let writers = |version: u32| self.writes_of(version).into_iter().map(|write| self.owner(write));
        let is_before = |writer: TxnId| writer != reader && self.took_effect(writer) && self.is_newer(reader, writer);
        let mut missing = self
            .txns
            .micros
            .iter()
            .filter(|micro| micro.access == Access::Append && micro.key == key && !others.contains(&micro.at));
        missing.any(|micro| writers(micro.at).any(is_before))
            || others.iter().any(|&version| writers(version).any(|writer| self.is_newer(writer, reader)))
    }

    fn overlap(&self, first: MicroId, second: MicroId) -> bool {
        let (one, other) = (self.owner(first), self.owner(second));
        let (write, next) = (self.micro(first), self.micro(second));
        let both = one != other && write.key == next.key && write.is_write() && next.is_write();
        let (before, after) = (self.sees(other, one), self.sees(one, other));
        both && self.took_effect(one) && self.took_effect(other) && before == Some(false) && after == Some(false)
    }

    fn is_stale(&self, order: Precedence, before: TxnId, after: TxnId, in_time: bool) -> bool {
        let (first, second) = (self.txns.txns[before.0 as usize], self.txns.txns[after.0 as usize]);
        let is_ordered = match in_time {
            true => order == Precedence::RealTime && first.end != NEVER && first.end < second.start,
            false => order != Precedence::None && first.lane == second.lane && first.number < second.number,
        };
        is_ordered
            && match self.writes(before) {
                true => {
                    self.sees(after, before) == Some(false)
                        || (self.sees(after, before).is_none() && self.is_later(before, after))
                }
                false => self.is_later(before, after),
            }
    }

    /// True if the snapshot of a transaction without writes is later than that of another one.
    fn is_later(&self, later: TxnId, earlier: TxnId) -> bool {
        if self.isolation == Isolation::Serializable && self.writes(earlier) && self.sees(later, earlier) == Some(true)
        {
            return true;
        }
        if let Clock::Snapshots(snapshots) = &self.txns.clock {
            let snapshot = |txn: TxnId| snapshots[txn.0 as usize].0.as_ref();
            return match (snapshot(later), snapshot(earlier)) {
                (Some(later), Some(earlier)) => later.beyond(earlier).is_some(),
                _ => false,
            };
        }
        let at = |txn: TxnId| {
            let (start, commit) = self.stamps(txn);
            match self.isolation {
                Isolation::Serializable => commit.or(start),
                _ => start,
            }
        };
        at(later) > at(earlier)
    }

    fn is_backwards(&self, txn: TxnId) -> bool {
        match &self.txns.clock {
            Clock::Snapshots(snapshots) => match &snapshots[txn.0 as usize] {
                (Some(snapshot), Some(xid)) => snapshot.sees(*xid),
                _ => false,
            },
            _ => match self.stamps(txn) {
                (Some(start), Some(commit)) => commit <= start,
                _ => false,
            },
        }
    }

    fn contradicts_versions(&self, first: MicroId, second: MicroId) -> bool {
        let (older, newer) = (self.micro(first), self.micro(second));
        let is_given = |(key, order): &(u32, Vec<u32>)| {
            let place = |version| order.iter().position(|&other| other == version);
            *key == older.key && place(older.at).zip(place(newer.at)).is_some_and(|(older, newer)| older < newer)
        };
        older.key == newer.key
            && self.txns.given.iter().any(is_given)
            && self.is_newer(self.owner(first), self.owner(second))
    }

    fn disagree(&self, first: TxnId, second: TxnId) -> bool {
        let Clock::Snapshots(snapshots) = &self.txns.clock else { return false };
        match (&snapshots[first.0 as usize].0, &snapshots[second.0 as usize].0) {
            (Some(first), Some(second)) => first.beyond(second).is_some() && second.beyond(first).is_some(),
            _ => false,
        }
    }
}
