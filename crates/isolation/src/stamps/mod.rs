//! The check by the stamps of a database: linear, because visibility is given.
//!
//! All snapshots and commits are sorted, and one pass over them keeps the newest version of each key: at a snapshot, the reads of
//! the transaction are compared with it, and at a commit, the writes are installed and must not overlap others. Reading
//! and installing are those of [`key`], which decides the same by key. The sorted sequence of an accepted history is its
//! certificate.
//!
//! A transaction whose outcome is unknown has no commit stamp. If a read returned its write, it committed no later than that
//! snapshot; under snapshot isolation also no later than the snapshot of the next writer of one of its keys. It commits as
//! late as these allow, which is best for all other reads.

mod chain;
mod misfit;
mod proof;
mod stream;
mod waiting;
mod words;

use omnilink_history::{Halt, Precedence, Stop, Value};
use rustc_hash::FxHashMap;
use thiserror::Error;

pub use self::misfit::{Misfit, StampRejection};
pub use self::stream::{Alarm, AlarmKind, SavedKey, SavedStream, Stream, StreamCounts, StreamLimits};
use crate::certify::{Certificate, Step};
use crate::key::{Fault, Install, Key, Own};
use crate::level::{Isolation, Level};
use crate::model::{Choice, owners};
use crate::stamp::{Clock, Stamp};
use crate::transactions::{Access, MicroId, NEVER, NONE, Status, Transactions, TxnId};

/// The result of a check by stamps.
#[derive(Clone, Debug)]
pub enum StampOutcome {
    /// The reads fit the stamps, and this run shows it.
    Accepted(Certificate),
    /// They do not.
    Rejected(StampRejection),
    /// It was not decided.
    Inconclusive(Doubt),
}

/// Why a check by stamps has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Doubt {
    /// The check was stopped.
    #[error("{0}")]
    Stopped(Stop),
    /// All misfits depend on the order of commits with equal stamps, or on transactions without a known outcome.
    #[error("{count} misfits depend on the order of commits with equal stamps, or on transactions of unknown outcome")]
    Tied {
        /// The number of misfits.
        count: usize,
        /// The first.
        first: Misfit,
    },
}

/// A history that cannot be checked by stamps.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StampError {
    /// It has none.
    #[error("the transactions have neither `snapshot_ts` and `commit_ts` nor `snapshot` and `xid`")]
    None,
    /// A transaction has none.
    #[error("{txn} has no `{field}`")]
    Missing {
        /// The transaction.
        txn: String,
        /// The field.
        field: &'static str,
    },
    /// Stamps say nothing about the level.
    #[error("stamps decide `prefix`, `snapshot` and `serializable`, not `{0}`")]
    Level(Isolation),
    /// Snapshots do not say in which order transactions take effect.
    #[error(
        "PostgreSQL's snapshots do not decide `serializable`, because its transactions take effect in another order than they commit"
    )]
    Serializable,
    /// A stream has the ends of transactions of all processes only at its end.
    #[error("a stream of transactions is checked in session order or without an order, not in real time")]
    RealTime,
}

/// Checks that the reads of a history fit the stamps that the database gave its transactions.
///
/// The verdict is about the claim of the database, and is stricter than that of [`check`](crate::check()): a history may have
/// the level although its stamps are wrong.
pub fn check_stamps(txns: &Transactions, level: Level, halt: &Halt) -> Result<StampOutcome, StampError> {
    txns.stamps_decide(level.isolation)?;
    let derived;
    let stamps: &[(Stamp, Stamp)] = match &txns.clock {
        Clock::None => &[],
        Clock::Stamps(stamps) => stamps,
        Clock::Snapshots(snapshots) => match chain::stamps(snapshots) {
            Ok(stamps) => {
                derived = stamps;
                &derived
            }
            Err(chain::Fork(first, second)) => {
                let rejection = StampRejection::new(level, vec![Misfit::Fork { first, second }], 1);
                return Ok(StampOutcome::Rejected(rejection));
            }
        },
    };
    let mut walk = Walk::new(txns, level, stamps)?;
    if let Err(stop) = walk.run(halt) {
        return Ok(StampOutcome::Inconclusive(Doubt::Stopped(stop)));
    }
    Ok(walk.finish())
}

impl Transactions {
    /// Whether stamps of the kind that these transactions have decide a level. An error says why not.
    pub fn stamps_decide(&self, isolation: Isolation) -> Result<(), StampError> {
        match (&self.clock, isolation) {
            (Clock::None, _) => Err(StampError::None),
            (Clock::Snapshots(_), Isolation::Serializable) => Err(StampError::Serializable),
            (_, Isolation::Prefix | Isolation::Snapshot | Isolation::Serializable) => Ok(()),
            (_, isolation) => Err(StampError::Level(isolation)),
        }
    }
}

impl StampOutcome {
    /// Replays the run, or verifies the misfits, by code that shares nothing with the check. An error says which claim is not
    /// true.
    pub fn prove(&self, txns: &Transactions) -> Result<(), String> {
        match self {
            StampOutcome::Accepted(certificate) => certificate.replay(txns),
            StampOutcome::Rejected(rejection) => rejection.verify(txns),
            StampOutcome::Inconclusive(_) => Ok(()),
        }
    }
}

/// A snapshot or a commit.
#[derive(Clone, Copy, Debug)]
struct Event {
    stamp: Stamp,
    is_begin: bool,
    txn: u32,
}

/// A transaction without a place in the sequence.
const NOWHERE: u32 = NONE;

/// The most misfits that are looked at for examples.
const LOOKED_AT: usize = 1_000;

/// The pass over the sorted stamps.
struct Walk<'t> {
    txns: &'t Transactions,
    level: Level,
    stamps: &'t [(Stamp, Stamp)],
    /// Transactions that count.
    counts: Vec<bool>,
    events: Vec<Event>,
    keys: Vec<Key<u32, u32>>,
    /// Places in the sequence.
    begin: Vec<u32>,
    commit: Vec<u32>,
    /// Counted transactions without a commit stamp that wrote a key and have begun.
    open: Vec<Vec<u32>>,
    has_open: bool,
    /// By transaction and list: the place of its first own element, and the read that shows it there.
    shown: FxHashMap<(u32, u32), (usize, u32)>,
    /// Events with the stamp of another one's commit, or transactions without a commit stamp.
    is_doubtful: bool,
    steps: Vec<Step>,
    faults: Vec<(u32, Option<Fault>)>,
    count: usize,
    misfits: Vec<Misfit>,
}

impl<'t> Walk<'t> {
    fn new(txns: &'t Transactions, level: Level, stamps: &'t [(Stamp, Stamp)]) -> Result<Walk<'t>, StampError> {
        let is_snapshots = matches!(txns.clock, Clock::Snapshots(_));
        let mut walk = Walk {
            txns,
            level,
            stamps,
            counts: counted(txns, stamps, !is_snapshots),
            events: Vec::with_capacity(2 * txns.len()),
            keys: Vec::new(),
            begin: vec![NOWHERE; txns.len()],
            commit: vec![NOWHERE; txns.len()],
            open: Vec::new(),
            has_open: false,
            shown: FxHashMap::default(),
            is_doubtful: false,
            steps: Vec::with_capacity(2 * txns.len()),
            faults: Vec::new(),
            count: 0,
            misfits: Vec::new(),
        };
        walk.keys.resize_with(txns.keys.len(), Key::default);
        let fields = if is_snapshots { ("snapshot", "xid") } else { ("snapshot_ts", "commit_ts") };
        for txn in 0..txns.len() as u32 {
            if walk.counts[txn as usize] {
                walk.add_events(txn, fields)?;
            }
        }
        let order = |event: &Event| {
            let txn = txns.txns[event.txn as usize];
            (txn.start, txn.number)
        };
        let main = |event: &Event| (event.stamp, event.is_begin);
        // Transactions of a session are in its order, even if they took the same snapshot.
        walk.events.sort_unstable_by(|a, b| {
            main(a).cmp(&main(b)).then_with(|| order(a).cmp(&order(b))).then(a.txn.cmp(&b.txn))
        });
        let ties = |pair: &[Event]| pair[0].stamp == pair[1].stamp && !pair[0].is_begin && !pair[1].is_begin;
        walk.is_doubtful |= walk.events.windows(2).any(ties);
        Ok(walk)
    }

    fn add_events(&mut self, txn: u32, fields: (&'static str, &'static str)) -> Result<(), StampError> {
        let txns = self.txns;
        let missing = |field| StampError::Missing { txn: txns.name(TxnId(txn)), field };
        let (start, commit) = self.stamps[txn as usize];
        let (start, commit) = (start.known(), commit.known());
        let writes = txns.micros[txns.range(txn)].iter().any(|micro| micro.is_write());
        let is_unknown = txns.txns[txn as usize].status == Status::Unknown;
        if writes && commit.is_none() && !is_unknown {
            return Err(missing(fields.1));
        }
        self.is_doubtful |= writes && commit.is_none();
        let mut push = |stamp, is_begin| self.events.push(Event { stamp, is_begin, txn });
        if self.level.isolation == Isolation::Serializable {
            match (commit, writes) {
                (Some(commit), true) => push(commit, false),
                (Some(stamp), false) => push(stamp, true),
                (None, false) => push(start.ok_or_else(|| missing(fields.1))?, true),
                (None, true) => self.has_open = true, // It commits before the first transaction that read from it.
            }
            return Ok(());
        }
        let start = start.ok_or_else(|| missing(fields.0))?;
        push(start, true);
        match commit {
            Some(commit) if writes && commit <= start => self.misfits.push(Misfit::Backwards { txn: TxnId(txn) }),
            Some(commit) if writes => push(commit, false),
            None if writes => self.has_open = true,
            _ => {}
        }
        Ok(())
    }

    fn run(&mut self, halt: &Halt) -> Result<(), Stop> {
        if !self.misfits.is_empty() {
            return Ok(()); // Without an order of its snapshot and its commit a transaction has no place.
        }
        if self.has_open {
            self.open.resize_with(self.txns.keys.len(), Vec::new);
        }
        let owners = if self.has_open { owners(self.txns) } else { Vec::new() };
        let is_serial = self.level.isolation == Isolation::Serializable;
        let mut own: Own<u32, u32> = Own::new();
        let events = std::mem::take(&mut self.events);
        for (place, &event) in events.iter().enumerate() {
            if place % 4096 == 0
                && let Some(stop) = halt.reason()
            {
                return Err(stop);
            }
            let (txn, at) = (event.txn, 2 * (place as u32 + 1));
            if is_serial || event.is_begin {
                // Equal snapshots see the same, so all of them decide together.
                let is_same = |other: &&Event| (other.stamp, other.is_begin) == (event.stamp, true);
                let is_first = !event.is_begin || events[..place].last().is_none_or(|last| !is_same(&last));
                if self.has_open && is_first {
                    let same = if event.is_begin { &events[place..] } else { &events[place..=place] };
                    let same = same.iter().take_while(|other| !event.is_begin || is_same(other));
                    same.for_each(|&next| self.end_open(next, at - 1, &owners));
                }
                let is_short = is_serial || self.commit_of(txn).is_none();
                self.begin(txn, at, &mut own, is_short);
            }
            if is_serial || !event.is_begin {
                self.install(txn, at);
            }
        }
        Ok(())
    }

    fn commit_of(&self, txn: u32) -> Option<Stamp> {
        let writes = || self.txns.micros[self.txns.range(txn)].iter().any(|micro| micro.is_write());
        self.stamps[txn as usize].1.known().filter(|_| writes())
    }

    /// Takes the snapshot of a transaction. One without a commit of its own ends here.
    fn begin(&mut self, txn: u32, at: u32, own: &mut Own<u32, u32>, is_short: bool) {
        let txns = self.txns;
        self.begin[txn as usize] = at;
        let is_serial = self.level.isolation == Isolation::Serializable;
        let is_unknown = txns.txns[txn as usize].status == Status::Unknown;
        let mut writes = false;
        own.clear();
        for place in txns.range(txn) {
            let micro = txns.micros[place];
            let fault = match micro.access {
                Access::Write | Access::Append => {
                    writes = true;
                    own.push(micro.key, micro.at);
                    continue;
                }
                Access::Read if is_unknown && *txns.value(micro.at) == Value::Nil => continue,
                Access::Read => match own.last(&micro.key) {
                    Some(&last) if last == micro.at => continue,
                    Some(_) => None,
                    None => {
                        let is_initial = txns.versions[micro.at as usize].is_initial;
                        let fault = self.keys[micro.key as usize].read(at, &micro.at, is_initial);
                        if fault.is_none() {
                            continue;
                        }
                        fault
                    }
                },
                Access::Prefix | Access::List => match own.others(&micro.key, txns.list(micro)) {
                    None => None,
                    Some(others) => {
                        let fault = self.keys[micro.key as usize].read_list(at, others);
                        if fault.is_none() {
                            if others.len() < micro.len as usize {
                                self.shown.entry((txn, micro.key)).or_insert((others.len(), place as u32));
                            }
                            continue;
                        }
                        fault
                    }
                },
            };
            self.fault(place as u32, fault);
        }
        if !is_serial {
            self.steps.push(Step::Begin(TxnId(txn)));
        }
        if !is_short {
            return;
        }
        if !writes {
            self.commit[txn as usize] = at;
            if !is_serial {
                self.steps.push(Step::Commit(TxnId(txn)));
            }
        } else if !is_serial {
            for place in txns.range(txn).filter(|&place| txns.micros[place].is_write()) {
                self.open[txns.micros[place].key as usize].push(txn);
            }
        }
        if is_serial && !writes {
            self.steps.push(Step::Commit(TxnId(txn)));
        }
    }

    fn install(&mut self, txn: u32, at: u32) {
        let txns = self.txns;
        let is_exclusive = self.level.isolation == Isolation::Snapshot;
        let start = self.begin[txn as usize];
        let mut writes = false;
        for place in txns.range(txn) {
            let micro = txns.micros[place];
            if !micro.is_write() {
                continue;
            }
            writes = true;
            if !self.shown.is_empty()
                && let Some((len, read)) = self.shown.remove(&(txn, micro.key))
                && len != self.keys[micro.key as usize].elements.len()
            {
                self.fault(read, Some(Fault::Place));
            }
            let key = &mut self.keys[micro.key as usize];
            let write = Install { commit: at, start, write: (u64::from(txn), place as u32) };
            let fault = key.install(write, &micro.at, micro.access == Access::Append, is_exclusive);
            key.forget();
            if fault.is_some() {
                self.fault(place as u32, fault);
            }
        }
        if writes {
            self.commit[txn as usize] = at;
            self.steps.push(Step::Commit(TxnId(txn)));
        }
    }

    fn fault(&mut self, micro: u32, fault: Option<Fault>) {
        self.count += 1;
        if self.faults.len() < LOOKED_AT {
            self.faults.push((micro, fault));
        }
    }

    /// Commits transactions without a commit stamp that the next one read from or, under snapshot isolation, whose keys it writes.
    fn end_open(&mut self, event: Event, at: u32, owners: &[u32]) {
        let (txns, next) = (self.txns, event.txn);
        let is_serial = self.level.isolation == Isolation::Serializable;
        let mut ending: Vec<u32> = Vec::new();
        for micro in &txns.micros[txns.range(next)] {
            let elements = txns.list(*micro).iter().chain(Some(&micro.at).filter(|_| micro.access == Access::Read));
            let sources =
                elements.map(|&version| txns.versions[version as usize].writer).filter(|&write| write != NONE);
            ending.extend(sources.map(|write| owners[write as usize]));
            if micro.is_write() && self.level.isolation == Isolation::Snapshot {
                ending.extend_from_slice(&self.open[micro.key as usize]);
            }
        }
        let is_open = |txn: &u32| {
            *txn != next
                && self.counts[*txn as usize]
                && self.commit[*txn as usize] == NOWHERE
                && self.stamps[*txn as usize].1 == Stamp::NONE
                // A transaction commits after its snapshot, not at the same stamp.
                && (is_serial || (self.begin[*txn as usize] != NOWHERE && self.stamps[*txn as usize].0 < event.stamp))
        };
        ending.retain(is_open);
        ending.sort_by_key(|&txn| (self.begin[txn as usize], txn));
        ending.dedup();
        let mut own: Own<u32, u32> = Own::new();
        for txn in ending {
            if is_serial {
                self.begin(txn, at, &mut own, true);
            }
            self.install(txn, at);
            for place in txns.range(txn).filter(|_| !is_serial) {
                self.open[txns.micros[place].key as usize].retain(|&other| other != txn);
            }
        }
    }

    fn finish(mut self) -> StampOutcome {
        if self.misfits.is_empty() {
            // The rest of the open ones, which the last reads do not see.
            for txn in 0..self.txns.len() as u32 {
                let is_open = self.begin[txn as usize] != NOWHERE && self.commit[txn as usize] == NOWHERE;
                if is_open {
                    self.install(txn, NONE - 1);
                }
            }
            for (micro, fault) in std::mem::take(&mut self.faults) {
                let misfit = self.classify(MicroId(micro), fault);
                self.misfits.push(misfit);
            }
            self.check_sessions();
            self.check_times();
            self.check_given();
        } else {
            self.count = self.misfits.len();
        }
        let all = self.misfits.len();
        if all == 0 && self.count == 0 {
            let Walk { level, steps, .. } = self;
            return StampOutcome::Accepted(Certificate { level, steps, choice: Choice::default() });
        }
        let mut rejection = StampRejection::new(self.level, self.misfits, self.count.max(all));
        if self.is_doubtful {
            let first = rejection.misfits[0];
            rejection.retain_proven(self.txns);
            if rejection.misfits.is_empty() {
                return StampOutcome::Inconclusive(Doubt::Tied { count: rejection.count, first });
            }
        }
        rejection.limit();
        StampOutcome::Rejected(rejection)
    }

    /// A fault in terms of reads and writes.
    fn classify(&self, micro: MicroId, fault: Option<Fault>) -> Misfit {
        let txns = self.txns;
        let reader = txns.txn_of(micro);
        let access = txns.micros[micro.0 as usize];
        let before = || txns.range(reader.0).start..micro.0 as usize;
        match fault {
            None => {
                let is_own = |place: &usize| txns.micros[*place].is_write() && txns.micros[*place].key == access.key;
                let write = before().rev().find(is_own).expect("an internal read follows an own write");
                Misfit::Internal { read: micro, write: MicroId(write as u32) }
            }
            Some(Fault::Place) => Misfit::Disordered { read: micro },
            Some(Fault::Conflict { first }) => Misfit::Conflict { first: MicroId(first.1), second: micro },
            Some(Fault::Read { newest }) => {
                let at = self.begin[reader.0 as usize];
                let seen = |write: u32| self.commit[txns.txn_of(MicroId(write)).0 as usize] < at;
                let is_list = matches!(access.access, Access::Prefix | Access::List);
                let own =
                    before().filter(|&place| txns.micros[place].is_write() && txns.micros[place].key == access.key);
                let all = if is_list { txns.list(access) } else { std::slice::from_ref(&access.at) };
                let others = &all[..all.len() - if is_list { own.count() } else { 0 }];
                for &version in others.iter().filter(|version| is_list || !txns.versions[**version as usize].is_initial)
                {
                    let mut writes = final_writes(txns, version)
                        .filter(|&write| self.counts[txns.txn_of(MicroId(write)).0 as usize]);
                    match writes.next() {
                        None => return Misfit::Unwritten { read: micro },
                        Some(write) if !seen(write) && !writes.any(seen) => {
                            return Misfit::Unseen { read: micro, write: MicroId(write) };
                        }
                        _ => {}
                    }
                }
                let missed = match is_list {
                    false => newest.map(|(_, write)| write),
                    true => {
                        let elements = &self.keys[access.key as usize].elements;
                        let is_missed = |version: &&u32| {
                            !others.contains(version) && seen(txns.versions[**version as usize].writer)
                        };
                        elements.iter().find(is_missed).map(|&version| txns.versions[version as usize].writer)
                    }
                };
                match missed {
                    Some(write) => Misfit::Missed { read: micro, write: MicroId(write) },
                    None => Misfit::Disordered { read: micro },
                }
            }
        }
    }

    fn order(&mut self, before: u32, after: u32, in_time: bool) {
        self.count += 1;
        if self.misfits.len() < 2 * LOOKED_AT {
            self.misfits.push(Misfit::Order { before: TxnId(before), after: TxnId(after), in_time });
        }
    }

    fn check_sessions(&mut self) {
        if self.level.order == Precedence::None {
            return;
        }
        let mut last = NONE;
        for &txn in &self.txns.by_lane {
            if self.begin[txn as usize] == NOWHERE || !self.counts[txn as usize] {
                continue;
            }
            let lane = |txn: u32| self.txns.txns[txn as usize].lane;
            if last != NONE && lane(last) == lane(txn) && self.commit[last as usize] > self.begin[txn as usize] {
                self.order(last, txn, false);
            }
            last = txn;
        }
    }

    fn check_times(&mut self) {
        if self.level.order != Precedence::RealTime {
            return;
        }
        let all = &self.txns.txns;
        let is_placed = |txn: &u32| self.begin[*txn as usize] != NOWHERE;
        let mut by_start: Vec<u32> = (0..all.len() as u32).filter(is_placed).collect();
        let mut by_end = by_start.clone();
        by_start.sort_by_key(|&txn| all[txn as usize].start);
        by_end.retain(|&txn| all[txn as usize].end != NEVER);
        by_end.sort_by_key(|&txn| all[txn as usize].end);
        let mut ended = by_end.into_iter().peekable();
        let mut last: Option<u32> = None; // The latest commit so far.
        let mut wrong = Vec::new();
        for txn in by_start {
            let start = all[txn as usize].start;
            while let Some(other) = ended.next_if(|&other| all[other as usize].end < start) {
                let commit = |txn: u32| self.commit[txn as usize];
                last = Some(last.map_or(other, |last| if commit(other) > commit(last) { other } else { last }));
            }
            if let Some(last) = last
                && self.commit[last as usize] > self.begin[txn as usize]
            {
                wrong.push((last, txn));
            }
        }
        wrong.into_iter().for_each(|(before, after)| self.order(before, after, true));
    }

    /// Version orders that are given agree with the commits.
    fn check_given(&mut self) {
        for (_, order) in &self.txns.given {
            let writers = order.iter().map(|&version| self.txns.versions[version as usize].writer);
            let commit = |write: u32| self.commit[self.txns.txn_of(MicroId(write)).0 as usize];
            let placed: Vec<u32> = writers.filter(|&write| commit(write) != NOWHERE).collect();
            for pair in placed.windows(2).filter(|pair| commit(pair[0]) > commit(pair[1])) {
                self.count += 1;
                self.misfits.push(Misfit::Versions { first: MicroId(pair[0]), second: MicroId(pair[1]) });
            }
        }
    }
}

/// The writes of a version that are the last of their key in their transaction; for lists, all of them.
pub(crate) fn final_writes(txns: &Transactions, version: u32) -> impl Iterator<Item = u32> {
    let first = Some(txns.versions[version as usize].writer).filter(|&write| write != NONE);
    let repeated = txns.repeated.iter().filter(move |(of, _)| *of == version).map(|&(_, write)| write);
    first.into_iter().chain(repeated).filter(|&write| {
        let txn = txns.txn_of(MicroId(write)).0;
        let micro = txns.micros[write as usize];
        let overwrites =
            |place: usize| txns.micros[place].access == Access::Write && txns.micros[place].key == micro.key;
        !(write as usize + 1..txns.range(txn).end).any(overwrites)
    })
}

/// The transactions that count: committed ones, unknown ones with a commit stamp if that is known to be one, and those from which
/// one that counts read.
fn counted(txns: &Transactions, stamps: &[(Stamp, Stamp)], is_commit: bool) -> Vec<bool> {
    let is_committed = |txn: &usize| match txns.txns[*txn].status {
        Status::Committed => true,
        Status::Aborted => false,
        Status::Unknown => is_commit && stamps[*txn].1 != Stamp::NONE,
    };
    let mut counts: Vec<bool> = (0..txns.len()).map(|txn| is_committed(&txn)).collect();
    if txns.txns.iter().all(|txn| txn.status != Status::Unknown) {
        return counts;
    }
    let owners = owners(txns);
    let mut list: Vec<u32> = (0..txns.len() as u32).filter(|&txn| counts[txn as usize]).collect();
    while let Some(txn) = list.pop() {
        for micro in &txns.micros[txns.range(txn)] {
            let elements = txns.list(*micro).iter().chain(Some(&micro.at).filter(|_| micro.access == Access::Read));
            for &version in elements {
                let writer = txns.versions[version as usize].writer;
                if writer == NONE {
                    continue;
                }
                let source = owners[writer as usize];
                if txns.txns[source as usize].status == Status::Unknown
                    && !std::mem::replace(&mut counts[source as usize], true)
                {
                    list.push(source);
                }
            }
        }
    }
    counts
}
