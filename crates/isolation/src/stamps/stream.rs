//! The check by timestamps while transactions arrive, for a monitor.
//!
//! Transactions may arrive in any order within a watermark: [`Stream::advance`] says that no earlier commit can still come, and
//! then all reads and writes up to it are judged, by key. A key holds the versions that a snapshot that may still come can
//! see, so memory does not grow with the number of transactions; lists hold all their elements.
//!
//! Sessions and keys are judged; a stream has no certificate. A read that fits only if a transaction of unknown outcome
//! committed is not reported, and from then on that transaction has committed no later than the snapshot of the read.

use omnilink_history::{Precedence, Value};
use rustc_hash::FxHashMap;

use super::StampError;
use super::key::{Access, Fault, Install, Key, Row, Stamped, follows, split};
use crate::level::{Isolation, Level};
use crate::stamp::{Clock, Stamp};
use crate::transactions::{Access as Kind, Micro, Status, Transactions, TxnId};

/// A transaction that came too late: it was committed before the watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Its number.
    pub txn: u64,
}

/// A violation that a stream found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// A read after an own write returned something else.
    Internal {
        /// The transaction.
        txn: u64,
        /// The place of the read in it.
        read: u32,
    },
    /// A read or a write does not fit the stamps of its key.
    Key {
        /// The key.
        key: Value,
        /// The transaction.
        txn: u64,
        /// The place of the read or the write in it.
        place: u32,
        /// The reason.
        fault: Fault,
    },
    /// A snapshot does not have the commit before it in its session.
    Session {
        /// The earlier transaction.
        before: u64,
        /// The later one.
        after: u64,
    },
}

impl Transactions {
    /// The session of a transaction: a process continues in another one after an unknown transaction.
    pub fn session(&self, txn: TxnId) -> u32 {
        self.txns[txn.0 as usize].lane
    }

    /// A transaction that did not abort, with its stamps, to be taken apart; `None` if it has no timestamps.
    pub fn stamped(&self, txn: TxnId, level: Level) -> Option<Stamped<Stamp, Value, Value>> {
        let Clock::Stamps(stamps) = &self.clock else { return None };
        let (start, commit) = stamps[txn.0 as usize];
        if self.status(txn) == Status::Aborted {
            return None;
        }
        let access = |micro: &Micro| {
            let value = || self.value(micro.at).clone();
            match micro.access {
                Kind::Read => Access::Read { value: value(), is_initial: self.versions[micro.at as usize].is_initial },
                Kind::Write => Access::Write(value()),
                Kind::Append => Access::Append { value: value(), place: None },
                Kind::Prefix | Kind::List => {
                    Access::List(self.list(*micro).iter().map(|&version| self.value(version).clone()).collect())
                }
            }
        };
        let micros = self.micros[self.range(txn.0)].iter();
        let accesses = micros.map(|micro| (self.keys[micro.key as usize].clone(), access(micro))).collect();
        let (start, commit) = (start.known().or(commit.known())?, commit.known());
        let sees = sees(level, start, commit);
        Some(Stamped { txn: u64::from(txn.0), start, sees, commit, accesses })
    }
}

/// The stamp that the reads of a transaction see last.
fn sees(level: Level, start: Stamp, commit: Option<Stamp>) -> Stamp {
    match (level.isolation, commit) {
        (Isolation::Serializable, Some(commit)) => commit.before(),
        _ => start,
    }
}

/// A write of a transaction whose outcome is unknown.
#[derive(Clone, Debug)]
struct Open {
    start: Stamp,
    write: (u64, u32),
    value: Value,
}

/// A key and the rows that wait for the watermark.
#[derive(Debug, Default)]
struct Waiting {
    name: Value,
    key: Key<Stamp, Value>,
    rows: Vec<Row<Stamp, Value>>,
    is_dirty: bool,
    open: Vec<Open>,
}

/// A check of transactions that arrive one by one.
#[derive(Debug)]
pub struct Stream {
    level: Level,
    numbers: FxHashMap<Value, u32>,
    keys: Vec<Waiting>,
    dirty: Vec<u32>,
    sessions: FxHashMap<u64, (u64, Stamp)>,
    watermark: Option<Stamp>,
    alarms: Vec<Alarm>,
}

impl Stream {
    /// A check of `prefix`, `snapshot` or `serializable` in session order or without an order.
    pub fn new(level: Level) -> Result<Stream, StampError> {
        let Level { isolation, order } = level;
        if isolation < Isolation::Prefix || isolation == Isolation::ParallelSnapshot || order == Precedence::RealTime {
            return Err(StampError::Level(isolation));
        }
        Ok(Stream {
            level,
            numbers: FxHashMap::default(),
            keys: Vec::new(),
            dirty: Vec::new(),
            sessions: FxHashMap::default(),
            watermark: None,
            alarms: Vec::new(),
        })
    }

    /// The stamp that the reads of a transaction see last.
    pub fn sees(&self, start: Stamp, commit: Option<Stamp>) -> Stamp {
        sees(self.level, start, commit)
    }

    fn key(&mut self, name: &Value) -> &mut Waiting {
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = self.keys.len() as u32;
                self.keys.push(Waiting { name: name.clone(), ..Waiting::default() });
                self.numbers.insert(name.clone(), number);
                number
            }
        };
        let waiting = &mut self.keys[number as usize];
        if !std::mem::replace(&mut waiting.is_dirty, true) {
            self.dirty.push(number);
        }
        waiting
    }

    /// Adds a committed transaction of a session. Those of a session arrive in its order.
    pub fn push(&mut self, session: u64, txn: &Stamped<Stamp, Value, Value>) -> Result<(), Late> {
        if txn.commit.is_some_and(|commit| self.watermark.is_some_and(|watermark| commit <= watermark)) {
            return Err(Late { txn: txn.txn });
        }
        if self.level.order != Precedence::None {
            let start = match self.level.isolation {
                Isolation::Serializable => txn.commit.unwrap_or(txn.start),
                _ => txn.start,
            };
            let end = txn.commit.unwrap_or(txn.start);
            if let Some((before, commit)) = self.sessions.insert(session, (txn.txn, end))
                && !follows(commit, start)
            {
                self.alarms.push(Alarm::Session { before, after: txn.txn });
            }
        }
        match split(txn) {
            Ok(rows) => rows.into_iter().for_each(|(key, row)| self.key(&key).rows.push(row)),
            Err(internal) => self.alarms.push(Alarm::Internal { txn: txn.txn, read: internal.read }),
        }
        Ok(())
    }

    /// Adds a transaction that may have committed after its snapshot.
    pub fn push_unknown(&mut self, txn: &Stamped<Stamp, Value, Value>) {
        for ((key, access), place) in txn.accesses.iter().zip(0..) {
            if let Access::Write(value) | Access::Append { value, .. } = access {
                let open = Open { start: txn.start, write: (txn.txn, place), value: value.clone() };
                self.key(key).open.push(open);
            }
        }
    }

    /// Judges everything up to a stamp: no transaction that is still to come commits at `commits` or before, or has a
    /// snapshot before `starts`.
    pub fn advance(&mut self, commits: Stamp, starts: Stamp) -> Vec<Alarm> {
        let is_exclusive = self.level.isolation == Isolation::Snapshot;
        for number in std::mem::take(&mut self.dirty) {
            let waiting = &mut self.keys[number as usize];
            waiting.judge(commits, is_exclusive, &mut self.alarms);
            waiting.key.forget_before(starts);
            waiting.is_dirty = !waiting.rows.is_empty();
            if waiting.is_dirty {
                self.dirty.push(number);
            }
        }
        self.watermark = Some(self.watermark.map_or(commits, |watermark| watermark.max(commits)));
        std::mem::take(&mut self.alarms)
    }

    /// Judges the rest.
    pub fn finish(mut self) -> Vec<Alarm> {
        self.advance(Stamp::NONE, Stamp::NONE)
    }

    /// The number of versions and rows that it holds.
    pub fn held(&self) -> usize {
        self.keys.iter().map(|waiting| waiting.rows.len() + waiting.key.held()).sum()
    }
}

impl Waiting {
    fn judge(&mut self, until: Stamp, is_exclusive: bool, alarms: &mut Vec<Alarm>) {
        let is_read = |row: &Row<Stamp, Value>| matches!(row.access, Access::Read { .. } | Access::List(_));
        self.rows.sort_by_key(|row| (row.at, is_read(row), row.txn, row.place));
        let count = self.rows.partition_point(|row| row.at <= until);
        for row in self.rows.drain(..count) {
            let write = Install { commit: row.at, start: row.start, write: (row.txn, row.place) };
            let fault = match &row.access {
                Access::Write(value) => self.key.install(write, value, false, is_exclusive),
                Access::Append { value, place } => self.key.append(write, value, *place, is_exclusive),
                Access::Read { value, is_initial } => match self.key.read(row.at, value, *is_initial) {
                    None => None,
                    fault => {
                        let is_source = |open: &&Open| open.value == *value && open.start < row.at;
                        match self.open.iter().find(is_source) {
                            Some(open) => {
                                self.key.bound(open.start, row.at, open.write, &open.value);
                                self.key.read(row.at, value, *is_initial)
                            }
                            None => fault,
                        }
                    }
                },
                Access::List(list) => {
                    let fault = self.key.read_list(row.at, list);
                    fault.filter(|_| !self.open.iter().any(|open| list.contains(&open.value)))
                }
            };
            let (txn, place) = (row.txn, row.place);
            alarms.extend(fault.map(|fault| Alarm::Key { key: self.name.clone(), txn, place, fault }));
        }
    }
}
