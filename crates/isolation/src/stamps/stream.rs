//! The check by timestamps while transactions arrive, for a monitor.
//!
//! Transactions may arrive in any order within a watermark: [`Stream::advance`] says that no earlier stamp can still come, and
//! then all reads and writes before it are judged, by key. A key holds the versions that a snapshot that may still come can
//! see, so memory does not grow with the number of transactions; lists hold all their elements.
//!
//! Sessions and keys are judged; a stream has no certificate. A violation is one whatever comes later, unless the watermark was
//! wrong: a transaction that comes too late, or that was lost, withdraws the violations that it may explain. Reads that it
//! may explain, reads of transactions of unknown outcome, and faults that depend on the order of commits with equal stamps are
//! undecided.

use std::sync::Arc;

use omnilink_history::format::jsonl::{read_value_of, write_value_of};
use omnilink_history::{Precedence, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::StampError;
pub use super::waiting::{Alarm, AlarmKind};
use super::waiting::{Found, Open, Point, View, Waiting};
use super::words;
use crate::anomaly::{Plain, show_list, show_write};
use crate::key::{Access, Stamped, follows, split};
use crate::level::{Isolation, Level};
use crate::single::Transaction;
use crate::stamp::Stamp;
use crate::transactions::Status;

/// The limits of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// The maximum number of keys: those that were not accessed for the longest time are dropped, and are unknown after that.
    pub keys: usize,
    /// The maximum number of elements of a list.
    pub elements: usize,
}

impl Default for StreamLimits {
    fn default() -> StreamLimits {
        StreamLimits { keys: 1 << 20, elements: 10_000 }
    }
}

/// A check of transactions that arrive one by one.
#[derive(Debug)]
pub struct Stream {
    level: Level,
    limits: StreamLimits,
    /// Names of processes: the upper half of the number of a transaction is a place here, the lower half its number there.
    processes: Vec<Arc<str>>,
    process_of: FxHashMap<Arc<str>, u32>,
    places: FxHashMap<Value, u32>,
    keys: Vec<Waiting<Value>>,
    dirty: Vec<u32>,
    /// Keys with violations that may be withdrawn.
    suspicious: FxHashSet<u32>,
    /// The last transaction of each session, and its end.
    sessions: FxHashMap<u32, (u64, Point)>,
    /// The ends of transactions that are not judged.
    ends: Vec<Point>,
    state: State,
    found: Found,
    /// The number of rows and versions that it holds.
    held: usize,
}

/// The parts of a stream that are no collections.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct State {
    /// Everything before this point is judged.
    watermark: Point,
    /// Snapshots before this one may lack versions.
    horizon: Point,
    /// Versions up to this point may be missing from all keys.
    floor: Option<Point>,
    /// The same for keys that are new.
    floor_of_new: Option<Point>,
    counts: StreamCounts,
    turn: u64,
    /// Sessions that ended before the horizon were forgotten.
    forgot_sessions: bool,
}

/// Counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamCounts {
    /// Transactions before the watermark.
    pub judged: u64,
    /// Transactions with reads or writes that are not decided.
    pub undecided: u64,
    /// Transactions that came after the watermark had passed their commit.
    pub late: u64,
    /// Keys that were dropped.
    pub dropped: u64,
}

impl Stream {
    /// A check of `prefix`, `snapshot` or `serializable` in session order or without an order. `joins` says that the system was
    /// running before, so that keys begin with unknown values.
    pub fn new(level: Level, limits: StreamLimits, joins: bool) -> Result<Stream, StampError> {
        let Level { isolation, order } = level;
        if isolation < Isolation::Prefix || isolation == Isolation::ParallelSnapshot {
            return Err(StampError::Level(isolation));
        }
        if order == Precedence::RealTime {
            return Err(StampError::RealTime);
        }
        Ok(Stream {
            level,
            limits,
            processes: Vec::new(),
            process_of: FxHashMap::default(),
            places: FxHashMap::default(),
            keys: Vec::new(),
            dirty: Vec::new(),
            suspicious: FxHashSet::default(),
            sessions: FxHashMap::default(),
            ends: Vec::new(),
            state: State { floor_of_new: joins.then(Point::default), ..State::default() },
            found: Found::default(),
            held: 0,
        })
    }

    /// Counts since the beginning.
    pub fn counts(&self) -> StreamCounts {
        self.state.counts
    }

    /// The number of versions, elements and accesses that it holds.
    pub fn held(&self) -> usize {
        self.held
    }

    /// The number of keys that it holds.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// The number of transactions that wait for the watermark.
    pub fn waiting(&self) -> usize {
        self.ends.len()
    }

    /// The keys that hold most.
    pub fn widest(&self, most: usize) -> Vec<(String, usize)> {
        let mut all: Vec<(usize, u32)> =
            self.dirty.iter().map(|&place| (self.keys[place as usize].held(), place)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().take(most).map(|(held, place)| (self.keys[place as usize].name.to_string(), held)).collect()
    }

    fn number(&mut self, process: &Arc<str>, number: u64) -> u64 {
        let place = match self.process_of.get(process) {
            Some(&place) => place,
            None => {
                let place = self.processes.len() as u32;
                self.processes.push(process.clone());
                self.process_of.insert(process.clone(), place);
                place
            }
        };
        (u64::from(place) << 32) | (number & u64::from(u32::MAX))
    }

    /// The place of a key.
    fn place(&mut self, name: &Value) -> u32 {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.keys.len() as u32;
        self.keys.push(Waiting::new(name.clone(), self.state.floor_of_new));
        self.places.insert(name.clone(), place);
        place
    }

    /// A key that has to be judged.
    fn key(&mut self, place: u32) -> &mut Waiting<Value> {
        let waiting = &mut self.keys[place as usize];
        if !std::mem::replace(&mut waiting.is_dirty, true) {
            self.dirty.push(place);
        }
        waiting.touched = self.state.turn;
        waiting
    }

    /// The snapshot and the commit of a transaction, if it has those that the level needs.
    fn points(&self, txn: &Transaction, number: u64) -> Result<(Point, Option<Point>), StampError> {
        let missing = |field| StampError::Missing { txn: format!("{}:{number}", txn.process), field };
        let began = txn.times.map_or(number, |(start, _)| start);
        let writes = txn.writes();
        let commit = txn.commit.filter(|_| writes).map(|commit| Point::commit(commit, began));
        if writes && commit.is_none() && txn.status == Status::Committed {
            return Err(missing("commit_ts"));
        }
        let start = match self.level.isolation {
            Isolation::Serializable => commit
                .map(Point::before_commit)
                .or(txn.commit.or(txn.snapshot).map(Point::snapshot))
                .ok_or_else(|| missing("commit_ts")),
            _ => txn.snapshot.map(Point::snapshot).ok_or_else(|| missing("snapshot_ts")),
        };
        match start {
            // The writes may have taken effect at any time.
            Err(_) if txn.status == Status::Unknown => Ok((Point::default(), commit)),
            start => Ok((start?, commit)),
        }
    }

    /// Adds a transaction: this number of its process. Those of a process arrive in its order. An error says why it cannot be used.
    pub fn push(&mut self, number: u64, txn: Transaction) -> Result<(), String> {
        let places: Vec<u32> = txn.accesses.iter().map(|(name, _)| self.place(name)).collect();
        let mut used = txn.accesses.iter().zip(&places);
        if let Some(((name, _), _)) = used.find(|((_, access), place)| self.keys[**place as usize].contradicts(access))
        {
            let txn = format!("{}:{number}", txn.process);
            return Err(format!("{txn} and another transaction disagree on whether the key `{name}` is a list"));
        }
        let points = match txn.status {
            Status::Aborted => None,
            _ => Some(self.points(&txn, number).map_err(|error| error.to_string())?),
        };
        let id = self.number(&txn.process, number);
        let Transaction { status, accesses, commit: known, .. } = txn;
        let accesses: Vec<Access<Value>> = accesses.into_iter().map(|(_, access)| access).collect();
        let mut alarms = std::mem::take(&mut self.found.alarms);
        for ((access, &key), place) in accesses.iter().zip(&places).zip(0..) {
            self.key(key).note(access, (id, place), &mut alarms);
        }
        self.found.alarms = alarms;
        let accesses: Vec<(u32, Access<Value>)> = places.into_iter().zip(accesses).collect();
        match points {
            None => self.hide(id, &accesses),
            // Its reads count only if it committed.
            Some((start, _)) if status == Status::Unknown && known.is_none() => self.push_open(id, &accesses, start),
            Some((start, commit)) => self.push_committed(id, accesses, status, (start, commit)),
        }
        let end = points.map_or(Point::default(), |(start, commit)| commit.unwrap_or(start));
        self.ends.push(end);
        // A process continues in another session after an unknown transaction.
        if status == Status::Unknown {
            self.sessions.remove(&((id >> 32) as u32));
        }
        Ok(())
    }

    /// Remembers the values of an aborted transaction.
    fn hide(&mut self, id: u64, accesses: &[(u32, Access<Value>)]) {
        for (key, access) in accesses {
            if let Access::Write(value) | Access::Append { value, .. } = access {
                self.key(*key).push_hidden(id, value.clone(), true);
                self.held += 1;
            }
        }
    }

    /// Adds a transaction that may have committed at any time after its snapshot.
    fn push_open(&mut self, id: u64, accesses: &[(u32, Access<Value>)], start: Point) {
        let is_serial = self.level.isolation == Isolation::Serializable;
        let start = if is_serial { Point::default() } else { start };
        let is_late = start < self.state.watermark;
        let mut alarms = std::mem::take(&mut self.found.alarms);
        for ((key, access), place) in accesses.iter().zip(0..) {
            if let Access::Write(value) | Access::Append { value, .. } = access {
                let open = Open { start, write: (id, place), value: value.clone(), is_shown: false };
                let waiting = self.key(*key);
                waiting.push_open(open);
                if is_late {
                    waiting.doubt(start, Point::LAST, &mut alarms);
                }
                self.held += 1;
            }
        }
        self.found.alarms = alarms;
    }

    fn push_committed(
        &mut self,
        id: u64,
        mut accesses: Vec<(u32, Access<Value>)>,
        status: Status,
        (start, commit): (Point, Option<Point>),
    ) {
        let is_serial = self.level.isolation == Isolation::Serializable;
        if let Some(commit) = commit.filter(|&commit| !is_serial && commit <= start) {
            let sentence = words::backwards(&name_of(&self.processes, id));
            self.violate(words::BACKWARDS, None, (id, 0), commit.stamp, sentence);
        }
        self.check_session(id, start, commit);
        if self.state.forgot_sessions && start < self.state.horizon {
            self.found.undecided.insert(id);
        }
        if status == Status::Unknown {
            accesses.retain(|(_, access)| !matches!(access, Access::Read { value: Value::Nil, .. }));
        }
        let mut stamped = Stamped { txn: id, start, sees: start, commit, accesses };
        let rows = split(&stamped).unwrap_or_else(|internal| {
            self.violate_internally(id, start, &stamped.accesses, internal.read as usize);
            stamped.accesses.retain(|(_, access)| access.is_write());
            split(&stamped).unwrap_or_default()
        });
        let mut is_late = false;
        let mut alarms = std::mem::take(&mut self.found.alarms);
        self.held += rows.len();
        for (key, row) in rows {
            if row.access.is_write() && row.at < self.state.watermark {
                is_late = true;
                self.held -= 1;
                self.key(key).come_late(row.at, &mut alarms);
            } else {
                self.key(key).push(row);
            }
        }
        self.found.alarms = alarms;
        if is_late {
            self.state.counts.late += 1;
            self.found.undecided.insert(id);
        }
    }

    fn check_session(&mut self, id: u64, start: Point, commit: Option<Point>) {
        if self.level.order == Precedence::None {
            return;
        }
        let end = commit.unwrap_or(start);
        if let Some((before, commit)) = self.sessions.insert((id >> 32) as u32, (id, end))
            && !follows(commit, start)
        {
            let sentence = words::in_session(&name_of(&self.processes, id), &name_of(&self.processes, before));
            self.violate(words::IN_SESSION, None, (id, 0), start.stamp, sentence);
        }
    }

    fn violate_internally(&mut self, id: u64, start: Point, accesses: &[(u32, Access<Value>)], read: usize) {
        let (key, access) = &accesses[read];
        let name = &self.keys[*key as usize].name.clone();
        let own = accesses[..read].iter().rev().filter(|(other, _)| other == key);
        let own = own.filter_map(|(_, access)| match access {
            Access::Write(value) => Some(show_write(name, value, false)),
            Access::Append { value, .. } => Some(show_write(name, value, true)),
            Access::Read { .. } | Access::List(_) => None,
        });
        let own = own.take(1).collect::<String>();
        let read_words = match access {
            Access::List(list) => format!("{} = {}", Plain(name), show_list(list.iter())),
            Access::Read { value, .. } | Access::Write(value) | Access::Append { value, .. } => {
                show_write(name, value, false)
            }
        };
        let sentence = words::internal(&name_of(&self.processes, id), &read_words, &own);
        self.violate(words::INTERNAL, Some(name.clone()), (id, read as u32), start.stamp, sentence);
    }

    fn violate(&mut self, anomaly: &'static str, key: Option<Value>, id: (u64, u32), at: Stamp, sentence: String) {
        let anomaly = anomaly.to_owned();
        self.found.alarms.push(Alarm { kind: AlarmKind::Violation, anomaly, key, id, at, sentence });
    }

    /// Notes that transactions were lost: none has a snapshot before `from`, and none commits after `until`.
    pub fn lose(&mut self, from: Stamp, until: Stamp) {
        let from = Point { stamp: from, rank: 0 };
        let floor = Point { stamp: until, rank: u64::MAX };
        self.state.floor = self.state.floor.max(Some(floor));
        let mut suspicious: Vec<u32> = self.suspicious.iter().copied().collect();
        suspicious.sort_unstable();
        for place in suspicious {
            self.keys[place as usize].doubt(from, floor, &mut self.found.alarms);
        }
    }

    /// Judges everything before a stamp: no transaction that is still to come has a snapshot or a commit before `watermark`.
    /// Versions are kept that snapshots from `horizon` on see, in case one does.
    pub fn advance(&mut self, watermark: Stamp, horizon: Stamp) -> Vec<Alarm> {
        self.advance_to(Point { stamp: watermark, rank: 0 }, horizon)
    }

    fn advance_to(&mut self, watermark: Point, horizon: Stamp) -> Vec<Alarm> {
        self.state.turn += 1;
        let until = self.state.watermark.max(watermark);
        self.state.horizon = self.state.horizon.max(Point { stamp: horizon, rank: 0 });
        self.state.watermark = until;
        let processes = &self.processes;
        let view = View {
            until,
            horizon: self.state.horizon,
            floor: self.state.floor,
            is_exclusive: self.level.isolation == Isolation::Snapshot,
            most_elements: self.limits.elements,
            name: &|id| name_of(processes, id),
        };
        for place in std::mem::take(&mut self.dirty) {
            let waiting = &mut self.keys[place as usize];
            let before = waiting.held();
            waiting.judge(&view, &mut self.found);
            self.held = (self.held + waiting.held()).saturating_sub(before);
            waiting.is_dirty = !waiting.is_idle();
            if waiting.is_dirty {
                self.dirty.push(place);
            }
            match waiting.has_suspects() {
                true => self.suspicious.insert(place),
                false => self.suspicious.remove(&place),
            };
        }
        self.count(until);
        self.make_room();
        let mut alarms = std::mem::take(&mut self.found.alarms);
        alarms.sort_by_key(|alarm| (alarm.at, alarm.id));
        alarms
    }

    fn count(&mut self, until: Point) {
        let before = self.ends.len();
        self.ends.retain(|end| *end >= until);
        let counts = &mut self.state.counts;
        counts.judged += (before - self.ends.len()) as u64;
        counts.undecided += std::mem::take(&mut self.found.undecided).len() as u64;
        let horizon = self.state.horizon;
        if self.sessions.len() > MOST_SESSIONS {
            self.sessions.retain(|_, (_, end)| *end >= horizon);
            self.state.forgot_sessions = true;
        }
    }

    /// Drops the keys that were not accessed for the longest time, if there are too many.
    fn make_room(&mut self) {
        if self.keys.len() <= self.limits.keys {
            return;
        }
        let surplus = self.keys.len() - self.limits.keys + self.limits.keys / 8;
        let mut quiet: Vec<(u64, u32)> = (0..self.keys.len() as u32)
            .filter(|&place| self.keys[place as usize].is_quiet())
            .map(|place| (self.keys[place as usize].touched, place))
            .collect();
        quiet.sort_unstable();
        quiet.truncate(surplus);
        let gone: FxHashSet<u32> = quiet.into_iter().map(|(_, place)| place).collect();
        self.state.counts.dropped += gone.len() as u64;
        self.state.floor_of_new = self.state.floor_of_new.max(Some(self.state.watermark));
        let kept = std::mem::take(&mut self.keys).into_iter().zip(0..).filter(|(_, place)| !gone.contains(place));
        let kept: Vec<Waiting<Value>> = kept.map(|(waiting, _)| waiting).collect();
        self.take_keys(kept);
    }

    /// Takes these keys as all that there are.
    fn take_keys(&mut self, keys: Vec<Waiting<Value>>) {
        self.keys = keys;
        let numbered = || self.keys.iter().zip(0..);
        self.places = numbered().map(|(waiting, place)| (waiting.name.clone(), place)).collect();
        self.dirty = numbered().filter(|(waiting, _)| !waiting.is_idle()).map(|(_, place)| place).collect();
        self.suspicious = numbered().filter(|(waiting, _)| waiting.has_suspects()).map(|(_, place)| place).collect();
        self.held = self.keys.iter().map(Waiting::held).sum();
        for waiting in &mut self.keys {
            waiting.is_dirty = !waiting.is_idle();
        }
    }

    /// Judges the rest.
    pub fn finish(&mut self) -> Vec<Alarm> {
        self.advance_to(Point::LAST, Stamp::default())
    }
}

/// The most sessions that are kept although they ended before the horizon.
const MOST_SESSIONS: usize = 10_000;

fn name_of(processes: &[Arc<str>], id: u64) -> String {
    let process = processes.get((id >> 32) as usize).map_or("?", |name| name);
    format!("{process}:{}", id & u64::from(u32::MAX))
}

/// The state of a stream, but its keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedStream {
    processes: Vec<String>,
    sessions: Vec<(u32, u64, Point)>,
    ends: Vec<Point>,
    state: State,
    undecided: Vec<u64>,
    alarms: Vec<SavedAlarm>,
}

/// An alarm that was not returned yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedAlarm {
    kind: AlarmKind,
    anomaly: String,
    key: Option<String>,
    id: (u64, u32),
    at: Stamp,
    sentence: String,
}

impl SavedAlarm {
    fn of(alarm: &Alarm) -> Result<SavedAlarm, String> {
        let Alarm { kind, ref anomaly, ref key, id, at, ref sentence } = *alarm;
        let key = key.as_ref().map(write_value_of).transpose()?;
        Ok(SavedAlarm { kind, anomaly: anomaly.clone(), key, id, at, sentence: sentence.clone() })
    }

    fn alarm(self) -> Result<Alarm, String> {
        let SavedAlarm { kind, anomaly, key, id, at, sentence } = self;
        let key = key.map(|key| read_value_of(&key)).transpose()?;
        Ok(Alarm { kind, anomaly, key, id, at, sentence })
    }
}

/// The state of a key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedKey(Waiting<String>);

impl Stream {
    /// The state, which [`Stream::restore`] takes.
    pub fn save(&self) -> Result<(SavedStream, Vec<SavedKey>), String> {
        let mut sessions: Vec<_> = self.sessions.iter().map(|(session, (txn, end))| (*session, *txn, *end)).collect();
        sessions.sort_unstable();
        let mut undecided: Vec<u64> = self.found.undecided.iter().copied().collect();
        undecided.sort_unstable();
        let saved = SavedStream {
            processes: self.processes.iter().map(|name| name.to_string()).collect(),
            sessions,
            ends: self.ends.clone(),
            state: self.state,
            undecided,
            alarms: self.found.alarms.iter().map(SavedAlarm::of).collect::<Result<_, String>>()?,
        };
        let keys = self.keys.iter().map(|waiting| waiting.map(&write_value_of).map(SavedKey));
        Ok((saved, keys.collect::<Result<_, String>>()?))
    }

    /// A stream that continues from a state.
    pub fn restore(
        level: Level,
        limits: StreamLimits,
        saved: SavedStream,
        keys: Vec<SavedKey>,
    ) -> Result<Stream, String> {
        let mut stream = Stream::new(level, limits, false).map_err(|error| error.to_string())?;
        stream.processes = saved.processes.iter().map(|name| Arc::from(name.as_str())).collect();
        stream.process_of = stream.processes.iter().cloned().zip(0..).collect();
        stream.sessions = saved.sessions.into_iter().map(|(session, txn, end)| (session, (txn, end))).collect();
        (stream.ends, stream.state) = (saved.ends, saved.state);
        stream.found.undecided = saved.undecided.into_iter().collect();
        stream.found.alarms = saved.alarms.into_iter().map(SavedAlarm::alarm).collect::<Result<_, String>>()?;
        let read = |text: &String| read_value_of(text);
        let keys: Result<Vec<Waiting<Value>>, String> = keys.iter().map(|SavedKey(key)| key.map(&read)).collect();
        stream.take_keys(keys?);
        if stream.places.len() < stream.keys.len() {
            return Err("a key twice".to_owned());
        }
        Ok(stream)
    }
}
