//! Verifies rejections, with code of its own: every edge of a cycle from the history, and the pattern of the cycle from the
//! level.

use omnilink_history::Precedence;

use crate::check::{Outcome, Rejection, check_plainly};
use crate::effort::Effort;
use crate::evidence::{Cycle, Edge, Violation, Why};
use crate::level::{Isolation, Level};
use crate::model::{BadRead, Choice, ReadAnomaly};
use crate::shrink::only;
use crate::transactions::{Access, Micro, MicroId, NEVER, NONE, Status, Transactions, TxnId};

impl Rejection {
    /// Verifies the violation. An error says which claim is not true.
    pub fn verify(&self, txns: &Transactions) -> Result<(), String> {
        let verifier = Verifier { txns, level: self.level, choice: &self.choice };
        verifier.chosen()?;
        match &self.violation {
            Violation::Read(bad) => verifier.bad_read(*bad),
            Violation::Cycle(cycle) => verifier.cycle(cycle),
            Violation::LostUpdate { first, second } => verifier.lost_update(*first, *second),
            Violation::Core(core) => {
                let part = only(txns, core);
                match check_plainly(&part, self.level, &Effort::default(), false, false) {
                    Outcome::Rejected(_) => Ok(()),
                    _ => Err("the transactions are not rejected by themselves".to_owned()),
                }
            }
        }
    }
}

struct Verifier<'a> {
    txns: &'a Transactions,
    level: Level,
    /// The writers that reads of values with several writers are taken to have read from.
    choice: &'a Choice,
}

fn demand(holds: bool, claim: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("it is not true that {claim}")) }
}

impl Verifier<'_> {
    fn micro(&self, id: MicroId) -> Micro {
        self.txns.micros[id.0 as usize]
    }

    fn owns(&self, txn: TxnId, micro: MicroId) -> bool {
        self.txns.range(txn.0).contains(&(micro.0 as usize))
    }

    /// Each chosen writer wrote the value of the read, or it is the initial one.
    fn chosen(&self) -> Result<(), String> {
        let is_source = |(&read, &write): (&u32, &u32)| {
            let read = self.micro(MicroId(read));
            match write {
                NONE => self.txns.versions[read.at as usize].is_initial,
                write => self.micro(MicroId(write)).is_write() && self.micro(MicroId(write)).at == read.at,
            }
        };
        demand(self.choice.iter().all(is_source), "each read returned the value of its source")
    }

    fn cycle(&self, cycle: &Cycle) -> Result<(), String> {
        let edges = &cycle.edges;
        demand(edges.len() > 1, "a cycle has two edges")?;
        for (edge, next) in edges.iter().zip(edges.iter().cycle().skip(1)) {
            demand(edge.to == next.from, "an edge begins where the one before it ends")?;
            self.edge(edge)?;
        }
        self.pattern(edges)
    }

    /// The edges that make a cycle of the level.
    fn pattern(&self, edges: &[Edge]) -> Result<(), String> {
        let missed = edges.iter().filter(|edge| matches!(edge.why, Why::Missed { .. })).count();
        let has_versions = edges.iter().any(|edge| matches!(edge.why, Why::Version { .. }));
        let has_forced = edges.iter().any(|edge| matches!(edge.why, Why::Forced { .. }));
        let before_missed = |holds: fn(&Why) -> bool| {
            let pairs = edges.iter().zip(edges.iter().cycle().skip(1));
            pairs.filter(|(_, next)| matches!(next.why, Why::Missed { .. })).all(|(edge, _)| holds(&edge.why))
        };
        let is_right = match self.level.isolation {
            _ if missed == 0 && !has_forced => true,
            Isolation::ReadCommitted => false,
            Isolation::MonotonicAtomicView | Isolation::ReadAtomic | Isolation::Causal if missed == 0 => true,
            Isolation::MonotonicAtomicView | Isolation::ReadAtomic | Isolation::Causal => {
                let path: Vec<&Edge> = edges.iter().filter(|edge| !matches!(edge.why, Why::Missed { .. })).collect();
                let at = edges.iter().find(|edge| matches!(edge.why, Why::Missed { .. }));
                let read = at.and_then(|edge| if let Why::Missed { read, .. } = edge.why { Some(read) } else { None });
                missed == 1 && !has_versions && read.is_some_and(|read| self.sees(&path, read))
            }
            Isolation::ParallelSnapshot => missed == 1,
            Isolation::Prefix => before_missed(|why| matches!(why, Why::Session | Why::Time | Why::Read { .. })),
            Isolation::Snapshot => before_missed(|why| !matches!(why, Why::Missed { .. })),
            Isolation::Serializable => true,
        };
        demand(is_right, &format!("the cycle contradicts {}", self.level))
    }

    /// True if a read sees the first transaction of a path to its transaction.
    fn sees(&self, path: &[&Edge], read: MicroId) -> bool {
        match self.level.isolation {
            Isolation::MonotonicAtomicView => {
                path.len() == 1 && matches!(path[0].why, Why::Read { read: earlier, .. } if earlier < read)
            }
            Isolation::ReadAtomic => path.len() == 1,
            _ => true,
        }
    }

    fn edge(&self, edge: &Edge) -> Result<(), String> {
        let (from, to) = (edge.from, edge.to);
        let (first, second) = (self.txns.txns[from.0 as usize], self.txns.txns[to.0 as usize]);
        demand(from != to && first.status != Status::Aborted && second.status != Status::Aborted, "both committed")?;
        match &edge.why {
            Why::Session => {
                demand(self.level.order != Precedence::None, "sessions count")?;
                demand(first.lane == second.lane && first.number < second.number, "it is earlier in the session")
            }
            Why::Time => {
                demand(self.level.order == Precedence::RealTime, "time counts")?;
                demand(first.end != NEVER && first.end < second.start, "it ended before the other began")
            }
            &Why::Read { write, read } => {
                demand(self.owns(from, write) && self.owns(to, read), "the transactions have these operations")?;
                demand(self.micro(write).is_write() && self.reads_from(read, write), "the read returned the write")
            }
            &Why::Version { first, second } => {
                demand(self.owns(from, first) && self.owns(to, second), "the transactions have these operations")?;
                demand(self.is_older(Some(first), second), "the version is older")
            }
            &Why::Missed { read, write } => {
                demand(self.owns(from, read) && self.owns(to, write), "the transactions have these operations")?;
                demand(self.missed(read, write), "the read missed the write")
            }
            Why::Forced { write, read, path } => {
                let reader = self.txns.txn_of(*read);
                demand(self.owns(from, *write), "the transaction has the write")?;
                demand(self.micro(*write).is_write() && self.micro(*write).key == self.micro(*read).key, "keys agree")?;
                let source = self.source(*read).map(|write| self.txns.txn_of(write));
                demand(source == Some(to), "the read returned the other write")?;
                let ends = (path.first().map(|edge| edge.from), path.last().map(|edge| edge.to));
                demand(ends == (Some(from), Some(reader)), "the path leads to the reader")?;
                demand(path.windows(2).all(|pair| pair[0].to == pair[1].from), "the path has no gap")?;
                for edge in path {
                    demand(matches!(edge.why, Why::Session | Why::Time | Why::Read { .. }), "the reader sees it")?;
                    self.edge(edge)?;
                }
                demand(self.sees(&path.iter().collect::<Vec<_>>(), *read), "the reader sees it at this level")
            }
        }
    }

    /// True if a read returned the value of a write, or a list with its element.
    fn returned(&self, read: MicroId, write: MicroId) -> bool {
        let (read, write) = (self.micro(read), self.micro(write));
        read.key == write.key
            && match read.access {
                Access::Read => read.at == write.at,
                _ => self.txns.list(read).contains(&write.at),
            }
    }

    /// True if a read is taken to have read from a write.
    fn reads_from(&self, read: MicroId, write: MicroId) -> bool {
        self.returned(read, write) && self.choice.get(&read.0).is_none_or(|&source| source == write.0)
    }

    /// The write of another transaction whose version a read returned; `None` for the initial version.
    fn source(&self, read: MicroId) -> Option<MicroId> {
        let micro = self.micro(read);
        let txn = self.txns.txn_of(read);
        let version = match micro.access {
            Access::Read => Some(micro.at),
            _ => {
                let is_own = |version: &&u32| self.owns(txn, MicroId(self.txns.versions[**version as usize].writer));
                self.txns.list(micro).iter().rev().find(|version| !is_own(version)).copied()
            }
        };
        let first = || version.map_or(NONE, |version| self.txns.versions[version as usize].writer);
        let write = self.choice.get(&read.0).copied().unwrap_or_else(first);
        Some(MicroId(write)).filter(|_| write != NONE)
    }

    fn missed(&self, read: MicroId, write: MicroId) -> bool {
        let micro = self.micro(read);
        let has_key = micro.key == self.micro(write).key && self.micro(write).is_write() && !micro.is_write();
        if !has_key || (self.returned(read, write) && self.micro(write).access == Access::Append) {
            return false;
        }
        match self.source(read) {
            None => {
                matches!(micro.access, Access::Prefix | Access::List)
                    || self.txns.versions[micro.at as usize].is_initial
            }
            source => self.is_older(source, write),
        }
    }

    /// True if the version of a write, or the initial version, is known to be older than that of another.
    fn is_older(&self, first: Option<MicroId>, second: MicroId) -> bool {
        let key = self.micro(second).key;
        let Some(first) = first else { return true };
        if self.micro(first).key != key || !self.micro(first).is_write() || !self.micro(second).is_write() {
            return false;
        }
        // Versions follow the orders of their transactions.
        if self.is_ordered(self.txns.txn_of(first), self.txns.txn_of(second)) {
            return true;
        }
        let (older, newer) = (self.micro(first).at, self.micro(second).at);
        let is_listed = |list: &[u32]| {
            let place = |version| list.iter().position(|&other| other == version);
            match (place(older), place(newer)) {
                (Some(older), Some(newer)) => older < newer,
                _ => false,
            }
        };
        let mut longest: &[u32] = &[];
        if self.txns.is_list[key as usize] {
            let counted = self.txns.ids().filter(|&txn| self.counts(txn));
            let micros = counted.flat_map(|txn| self.txns.micros_of(txn)).map(|micro| self.micro(micro));
            let lists: Vec<&[u32]> = micros.filter(|read| read.key == key).map(|read| self.txns.list(read)).collect();
            longest = lists.iter().max_by_key(|list| list.len()).copied().unwrap_or_default();
            if lists.iter().any(|list| is_listed(list)) || (longest.contains(&older) && !longest.contains(&newer)) {
                return true;
            }
        }
        if self.txns.given.iter().any(|(of, order)| *of == key && is_listed(order)) {
            return true;
        }
        // Updates follow what they read, if no update may be lost.
        if !self.level.isolation.forbids_lost_updates() {
            return false;
        }
        let chain = |from: MicroId| {
            let mut chain = vec![self.txns.txn_of(from)];
            while let Some(Some(before)) = self.updated(chain[chain.len() - 1], key) {
                if chain.contains(&before) {
                    break;
                }
                chain.push(before);
            }
            chain
        };
        let (of_first, of_second) = (chain(first), chain(second));
        let is_rooted = |chain: &[TxnId]| chain.last().is_some_and(|&txn| self.updated(txn, key) == Some(None));
        let roots = (of_first[of_first.len() - 1], of_second[of_second.len() - 1]);
        of_second[1..].contains(&of_first[0])
            || self.is_ordered(roots.0, roots.1)
            // An element that the longest list lacks comes after those of the list, and after updates of the last of these.
            || (of_first.iter().any(|&txn| self.is_in(longest, txn))
                && !longest.contains(&newer)
                && !of_first.contains(&of_second[0]))
            || (is_rooted(&of_first) && !is_rooted(&of_second) && !of_first.contains(&of_second[0]))
    }

    /// True if a transaction committed, or a committed one read one of its writes.
    fn counts(&self, txn: TxnId) -> bool {
        let txns = self.txns;
        let is_seen = |write: MicroId| {
            let is_read = |read: MicroId| !self.micro(read).is_write() && self.returned(read, write);
            let mut committed = txns.ids().filter(|&other| txns.status(other) == Status::Committed);
            self.micro(write).is_write() && committed.any(|other| txns.micros_of(other).any(is_read))
        };
        match txns.status(txn) {
            Status::Committed => true,
            Status::Aborted => false,
            Status::Unknown => txns.micros_of(txn).any(is_seen),
        }
    }

    /// True if a list has an element of a transaction.
    fn is_in(&self, list: &[u32], txn: TxnId) -> bool {
        list.iter().any(|&version| self.owns(txn, MicroId(self.txns.versions[version as usize].writer)))
    }

    /// True if the order of the level has the first transaction before the second.
    fn is_ordered(&self, first: TxnId, second: TxnId) -> bool {
        let (first, second) = (self.txns.txns[first.0 as usize], self.txns.txns[second.0 as usize]);
        let in_session = first.lane == second.lane && first.number < second.number;
        let in_time = first.end != NEVER && first.end < second.start;
        match self.level.order {
            Precedence::None => false,
            Precedence::Program => in_session,
            Precedence::RealTime => in_session || in_time,
        }
    }

    /// The transaction that wrote the version that an update of a key read; `Some(None)` for the initial version.
    fn updated(&self, txn: TxnId, key: u32) -> Option<Option<TxnId>> {
        let mut micros = self.txns.micros_of(txn).filter(|&micro| self.micro(micro).key == key);
        let first = micros.next()?;
        if self.micro(first).is_write() || !micros.any(|micro| self.micro(micro).is_write()) {
            return None;
        }
        Some(self.source(first).map(|write| self.txns.txn_of(write)))
    }

    fn lost_update(&self, first: (MicroId, MicroId), second: (MicroId, MicroId)) -> Result<(), String> {
        let txn = |(read, write): (MicroId, MicroId)| {
            let txn = self.txns.txn_of(read);
            demand(self.owns(txn, write) && self.micro(write).is_write(), "it read and wrote")?;
            demand(self.micro(read).key == self.micro(write).key && !self.micro(read).is_write(), "it has one key")?;
            demand(self.txns.status(txn) != Status::Aborted, "it committed")?;
            Ok::<_, String>(txn)
        };
        demand(txn(first)? != txn(second)?, "two transactions updated")?;
        demand(self.micro(first.0).key == self.micro(second.0).key, "both updated one key")?;
        demand(self.source(first.0) == self.source(second.0), "both read the same version")?;
        demand(self.level.isolation.forbids_lost_updates(), "the level forbids lost updates")
    }

    fn bad_read(&self, bad: BadRead) -> Result<(), String> {
        let BadRead { anomaly, read, other } = bad;
        let micro = self.micro(read);
        let txn = self.txns.txn_of(read);
        let versions: Vec<u32> = match micro.access {
            Access::Read => vec![micro.at],
            _ => self.txns.list(micro).to_vec(),
        };
        let writer = |version: &u32| self.txns.versions[*version as usize].writer;
        let is_true = match anomaly {
            ReadAnomaly::Internal => self.owns(txn, other) && other < read && !self.ends_with(read, other),
            ReadAnomaly::Future => self.owns(txn, other) && other > read && self.returned(read, other),
            ReadAnomaly::ThinAir => versions.iter().any(|version| {
                writer(version) == NONE
                    && !(micro.access == Access::Read && self.txns.versions[*version as usize].is_initial)
            }),
            ReadAnomaly::Aborted => {
                self.returned(read, other) && self.txns.status(self.txns.txn_of(other)) != Status::Committed
            }
            ReadAnomaly::Intermediate => {
                let owner = self.txns.txn_of(other);
                let mut later = self.txns.micros_of(owner).filter(|&write| write > other);
                let is_over = later.any(|write| self.micro(write).is_write() && self.micro(write).key == micro.key);
                is_over && owner != txn && self.returned(read, other)
            }
            ReadAnomaly::Duplicate => {
                versions.iter().enumerate().any(|(place, version)| versions[..place].contains(version))
            }
            ReadAnomaly::Incompatible => {
                let list = self.txns.list(self.micro(other));
                self.micro(other).key == micro.key && !list.starts_with(&versions) && !versions.starts_with(list)
            }
        };
        demand(is_true, &format!("{} has this read", self.txns.name(txn)))
    }

    /// True if a read returned the last own write, or a list that ends with the own elements.
    fn ends_with(&self, read: MicroId, last: MicroId) -> bool {
        let txn = self.txns.txn_of(read);
        match self.micro(read).access {
            Access::Read => self.micro(read).at == self.micro(last).at,
            _ => {
                let own = self.txns.micros_of(txn).filter(|&micro| micro < read).map(|micro| self.micro(micro));
                let own: Vec<u32> = own
                    .filter(|own| own.access == Access::Append && own.key == self.micro(read).key)
                    .map(|own| own.at)
                    .collect();
                self.txns.list(self.micro(read)).ends_with(&own)
            }
        }
    }
}
