//! Transactions as columns: built once, read by all.
//!
//! Keys and versions are numbers. A *version* is a value of a key, so that its writer is an entry of an array. A read of a list
//! that is a prefix of the longest committed one read so far, the *spine* of its key, keeps its length only; other reads of
//! lists keep their elements.

use std::ops::Range;
use std::sync::Arc;

use omnilink_history::Value;
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::stamp::{Clock, Snapshot, Stamp};

/// No number.
pub(crate) const NONE: u32 = u32::MAX;

/// The time of a transaction that did not end.
pub(crate) const NEVER: u64 = u64::MAX;

/// A transaction, in the order in which transactions were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u32);

/// A micro-operation: a read or a write of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroId(pub u32);

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its writes took effect.
    Committed,
    /// Its writes did not take effect.
    Aborted,
    /// Its writes may have taken effect.
    Unknown,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 3] = [Status::Committed, Status::Aborted, Status::Unknown];
}

/// A kind of micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads a register; `at` is a version.
    Read,
    /// Writes a register; `at` is a version.
    Write,
    /// Appends to a list; `at` is a version.
    Append,
    /// Reads the first `len` elements of the spine of its key.
    Prefix,
    /// Reads `len` elements from `at`, which are not a prefix of a committed list, or not known to be.
    List,
}

/// A micro-operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Micro {
    pub(crate) access: Access,
    pub(crate) key: u32,
    pub(crate) at: u32,
    pub(crate) len: u32,
}

impl Micro {
    pub(crate) fn is_write(self) -> bool {
        matches!(self.access, Access::Write | Access::Append)
    }
}

/// A transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Txn {
    pub(crate) process: u32,
    /// Its place among the transactions of the process.
    pub(crate) number: u32,
    /// The chain of transactions that a session is: a process continues in a new one after an unknown transaction.
    pub(crate) lane: u32,
    pub(crate) start: u64,
    pub(crate) end: u64, // `NEVER` if it has none.
    pub(crate) status: Status,
    pub(crate) first: u32, // Its first micro-operation; the last is before that of the next transaction.
}

/// A value of a key.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) value: Value,
    pub(crate) writer: u32, // The micro-operation that wrote it first, or `NONE`.
    pub(crate) is_initial: bool,
}

/// The transactions of a history.
#[derive(Clone, Debug, Default)]
pub struct Transactions {
    pub(crate) processes: Vec<Arc<str>>,
    pub(crate) txns: Vec<Txn>,
    pub(crate) micros: Vec<Micro>,
    pub(crate) keys: Vec<Value>,
    pub(crate) is_list: Vec<bool>,
    pub(crate) versions: Vec<Version>,
    /// For each key, the longest list that a committed transaction read.
    pub(crate) spines: Vec<Vec<u32>>,
    /// The elements of other reads of lists.
    pub(crate) elements: Vec<u32>,
    /// Known version orders: a key and its versions.
    pub(crate) given: Vec<(u32, Vec<u32>)>,
    /// Writes of a version that another micro-operation wrote, too.
    pub(crate) repeated: Vec<(u32, u32)>,
    pub(crate) lanes: u32,
    pub(crate) has_times: bool,
    /// The times that the database reported.
    pub(crate) clock: Clock,
    /// Transactions by session and order in it.
    pub(crate) by_lane: Vec<u32>,
}

/// A history that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A key is used in two ways.
    #[error("{txn} uses the key `{key}` as a register, but it is also used as a list")]
    Mixed {
        /// The transaction.
        txn: String,
        /// The key.
        key: String,
    },
    /// Two transactions of a process overlap.
    #[error("{txn} starts at {start}, before the transaction before it in the same process ends at {end}")]
    Overlap {
        /// The later transaction.
        txn: String,
        /// When it starts.
        start: u64,
        /// When the earlier one ends.
        end: u64,
    },
    /// A transaction ends before it starts.
    #[error("{txn} ends at {end}, before it starts at {start}")]
    Backwards {
        /// The transaction.
        txn: String,
        /// When it starts.
        start: u64,
        /// When it ends.
        end: u64,
    },
    /// Some transactions have times, and others do not.
    #[error("some transactions have a `start`, and others do not: {0}")]
    Times(
        /// The number of those that have none.
        usize,
    ),
    /// The database reported two kinds of times.
    #[error("some transactions have `snapshot_ts` or `commit_ts`, and others have `snapshot` or `xid`")]
    Clocks,
    /// A version order names a value that was never installed.
    #[error("the version order of `{key}` has the value `{value}`, which its transaction overwrote")]
    Overwritten {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A version order names a value that no transaction wrote.
    #[error("the version order of `{key}` has the value `{value}`, which no transaction wrote, or twice")]
    Order {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
}

/// Collects transactions.
#[derive(Debug, Default)]
pub struct Builder {
    made: Transactions,
    process_of: FxHashMap<Arc<str>, u32>,
    key_of: FxHashMap<Value, u32>,
    int_keys: FxHashMap<i64, u32>,
    timed: usize,
    stamps: Vec<(Stamp, Stamp)>,
    snapshots: Vec<(Option<Snapshot>, Option<u64>)>,
    ints: FxHashMap<(u32, i64), u32>,
    others: FxHashMap<(u32, Value), u32>,
    scratch: Vec<u32>,
}

impl Builder {
    /// The process of this name.
    pub fn process(&mut self, name: &str) -> u32 {
        if let Some(&process) = self.process_of.get(name) {
            return process;
        }
        let process = self.made.processes.len() as u32;
        self.made.processes.push(name.into());
        self.process_of.insert(name.into(), process);
        process
    }

    /// Begins a transaction of a process. Its micro-operations follow. Without times, transactions of a process are in the
    /// order in which they are added, and overlap all others.
    pub fn begin(&mut self, process: u32, times: Option<(u64, Option<u64>)>, status: Status) {
        let (start, end) = times.unwrap_or((0, None));
        self.timed += usize::from(times.is_some());
        let end = if status == Status::Unknown { NEVER } else { end.unwrap_or(NEVER) };
        let first = self.made.micros.len() as u32;
        self.made.txns.push(Txn { process, number: 0, lane: 0, start, end, status, first });
    }

    /// The timestamps that the database gave the transaction that began last: when it took its snapshot, and when it committed.
    pub fn stamps(&mut self, snapshot: Option<Stamp>, commit: Option<Stamp>) {
        let place = self.made.txns.len().saturating_sub(1);
        self.stamps.resize(place, (Stamp::NONE, Stamp::NONE));
        self.stamps.push((snapshot.unwrap_or(Stamp::NONE), commit.unwrap_or(Stamp::NONE)));
    }

    /// PostgreSQL's snapshot of the transaction that began last, and its number if it wrote.
    pub fn snapshot(&mut self, snapshot: Option<Snapshot>, xid: Option<u64>) {
        let place = self.made.txns.len().saturating_sub(1);
        self.snapshots.resize(place, (None, None));
        self.snapshots.push((snapshot, xid));
    }

    fn key(&mut self, key: &Value) -> u32 {
        let known = match key {
            Value::Int(int) => self.int_keys.get(int),
            other => self.key_of.get(other),
        };
        if let Some(&known) = known {
            return known;
        }
        let number = self.made.keys.len() as u32;
        self.made.keys.push(key.clone());
        self.made.is_list.push(false);
        self.made.spines.push(Vec::new());
        match key {
            Value::Int(int) => self.int_keys.insert(*int, number),
            other => self.key_of.insert(other.clone(), number),
        };
        number
    }

    fn version(&mut self, key: u32, value: &Value) -> u32 {
        let known = match value {
            Value::Int(int) => self.ints.get(&(key, *int)),
            other => self.others.get(&(key, other.clone())),
        };
        if let Some(&known) = known {
            return known;
        }
        let number = self.made.versions.len() as u32;
        let is_initial = *value == Value::Nil;
        self.made.versions.push(Version { value: value.clone(), writer: NONE, is_initial });
        match value {
            Value::Int(int) => self.ints.insert((key, *int), number),
            other => self.others.insert((key, other.clone()), number),
        };
        number
    }

    fn push(&mut self, access: Access, key: u32, at: u32, len: u32) {
        self.made.micros.push(Micro { access, key, at, len });
    }

    fn write_of(&mut self, access: Access, key: &Value, value: &Value) {
        let key = self.key(key);
        let version = self.version(key, value);
        let place = self.made.micros.len() as u32;
        let writer = &mut self.made.versions[version as usize].writer;
        if *writer == NONE {
            *writer = place;
        } else {
            self.made.repeated.push((version, place));
        }
        self.made.is_list[key as usize] |= access == Access::Append;
        self.push(access, key, version, 0);
    }

    /// The transaction reads a register, or nothing if `value` is nil.
    pub fn read(&mut self, key: &Value, value: &Value) {
        let key = self.key(key);
        let version = self.version(key, value);
        self.push(Access::Read, key, version, 0);
    }

    /// The transaction writes a register.
    pub fn write(&mut self, key: &Value, value: &Value) {
        self.write_of(Access::Write, key, value);
    }

    /// The transaction appends to a list.
    pub fn append(&mut self, key: &Value, element: &Value) {
        self.write_of(Access::Append, key, element);
    }

    /// The transaction reads a whole list.
    pub fn read_list<'a>(&mut self, key: &Value, elements: impl IntoIterator<Item = &'a Value>) {
        let key = self.key(key);
        self.made.is_list[key as usize] = true;
        let is_committed = self.made.txns.last().is_some_and(|txn| txn.status == Status::Committed);
        let mut elements = elements.into_iter();
        let mut matched = 0;
        let mut odd = std::mem::take(&mut self.scratch);
        odd.clear();
        // Most reads repeat the beginning of the longest one, so most elements need no search.
        for element in elements.by_ref() {
            let spine = &self.made.spines[key as usize];
            match spine.get(matched) {
                Some(&known) if self.made.versions[known as usize].value == *element => matched += 1,
                _ => {
                    odd.push(self.version(key, element));
                    break;
                }
            }
        }
        for element in elements {
            odd.push(self.version(key, element));
        }
        let spine = &mut self.made.spines[key as usize];
        if is_committed && matched == spine.len() {
            spine.extend_from_slice(&odd);
            odd.clear();
            matched = spine.len();
        }
        if odd.is_empty() && is_committed {
            self.push(Access::Prefix, key, 0, matched as u32);
        } else {
            let at = self.made.elements.len() as u32;
            let len = (matched + odd.len()) as u32;
            self.made.elements.extend_from_slice(&self.made.spines[key as usize][..matched]);
            self.made.elements.extend_from_slice(&odd);
            self.push(Access::List, key, at, len);
        }
        self.scratch = odd;
    }

    /// The order in which the database installed values of a key, first to last.
    pub fn version_order<'a>(&mut self, key: &Value, values: impl IntoIterator<Item = &'a Value>) {
        let key = self.key(key);
        let order = values.into_iter().map(|value| self.version(key, value)).collect();
        self.made.given.push((key, order));
    }

    /// The transactions.
    pub fn finish(self) -> Result<Transactions, BuildError> {
        let mut made = self.made;
        made.has_times = self.timed > 0;
        if made.has_times && self.timed < made.txns.len() {
            return Err(BuildError::Times(made.txns.len() - self.timed));
        }
        made.clock = match (self.stamps.is_empty(), self.snapshots.is_empty()) {
            (true, true) => Clock::None,
            (false, true) => {
                let mut stamps = self.stamps;
                stamps.resize(made.txns.len(), (Stamp::NONE, Stamp::NONE));
                Clock::Stamps(stamps)
            }
            (true, false) => {
                let mut snapshots = self.snapshots;
                snapshots.resize(made.txns.len(), (None, None));
                Clock::Snapshots(snapshots)
            }
            (false, false) => return Err(BuildError::Clocks),
        };
        made.sort_sessions()?;
        // The initial value of a register is nil, or zero unless a transaction wrote zero.
        for version in &mut made.versions {
            version.is_initial |= version.value == Value::Int(0) && version.writer == NONE;
        }
        let txn_of = |made: &Transactions, place: usize| made.name(made.txn_of(MicroId(place as u32)));
        for place in 0..made.micros.len() {
            let micro = made.micros[place];
            if !made.is_list[micro.key as usize] || !matches!(micro.access, Access::Read | Access::Write) {
                continue;
            }
            // The value of a list that nothing was appended to may be nil, and so is a result that is not known.
            if micro.access == Access::Read && made.versions[micro.at as usize].value == Value::Nil {
                if made.status(made.txn_of(MicroId(place as u32))) == Status::Unknown {
                    continue;
                }
                made.micros[place] = Micro { access: Access::Prefix, at: 0, len: 0, ..micro };
                continue;
            }
            return Err(BuildError::Mixed {
                txn: txn_of(&made, place),
                key: made.keys[micro.key as usize].to_string(),
            });
        }
        for (key, order) in &made.given {
            let is_overwritten = |&&version: &&u32| {
                let writer = made.versions[version as usize].writer;
                writer != NONE && made.is_overwritten(MicroId(writer))
            };
            if let Some(&version) = order.iter().find(is_overwritten) {
                let value = made.versions[version as usize].value.to_string();
                return Err(BuildError::Overwritten { key: made.keys[*key as usize].to_string(), value });
            }
            let wrong = order.iter().enumerate().find(|&(place, version)| {
                made.versions[*version as usize].writer == NONE || order[..place].contains(version)
            });
            if let Some((_, &version)) = wrong {
                let value = made.versions[version as usize].value.to_string();
                return Err(BuildError::Order { key: made.keys[*key as usize].to_string(), value });
            }
        }
        Ok(made)
    }
}

impl Transactions {
    /// Puts the transactions of each process in order, and numbers them.
    fn sort_sessions(&mut self) -> Result<(), BuildError> {
        let mut by_process: Vec<u32> = (0..self.txns.len() as u32).collect();
        by_process.sort_by_key(|&txn| (self.txns[txn as usize].process, self.txns[txn as usize].start));
        let mut before: Option<u32> = None;
        let mut lanes = 0;
        for &txn in &by_process {
            let mut now = self.txns[txn as usize];
            match before.map(|before| self.txns[before as usize]).filter(|before| before.process == now.process) {
                Some(last) => {
                    now.number = last.number + 1;
                    now.lane = last.lane;
                    if last.status == Status::Unknown {
                        now.lane = lanes;
                        lanes += 1;
                    } else if last.end != NEVER && last.end > now.start {
                        self.txns[txn as usize] = now;
                        let txn = self.name(TxnId(txn));
                        return Err(BuildError::Overlap { txn, start: now.start, end: last.end });
                    }
                }
                None => {
                    (now.number, now.lane) = (0, lanes);
                    lanes += 1;
                }
            }
            self.txns[txn as usize] = now;
            if now.end < now.start {
                let (txn, start, end) = (self.name(TxnId(txn)), now.start, now.end);
                return Err(BuildError::Backwards { txn, start, end });
            }
            before = Some(txn);
        }
        self.lanes = lanes;
        self.by_lane = by_process;
        Ok(())
    }

    /// True if the transaction of a write wrote the key again.
    fn is_overwritten(&self, write: MicroId) -> bool {
        let key = self.micros[write.0 as usize].key;
        let later = write.0 as usize + 1..self.range(self.txn_of(write).0).end;
        self.micros[later].iter().any(|micro| micro.is_write() && micro.key == key)
    }

    /// The number of transactions.
    pub fn len(&self) -> usize {
        self.txns.len()
    }

    /// True if there is no transaction.
    pub fn is_empty(&self) -> bool {
        self.txns.is_empty()
    }

    /// The number of micro-operations.
    pub fn micro_count(&self) -> usize {
        self.micros.len()
    }

    /// The number of processes.
    pub fn process_count(&self) -> usize {
        self.processes.len()
    }

    /// True if transactions have times.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// True if the database reported times: timestamps or snapshots.
    pub fn has_stamps(&self) -> bool {
        !matches!(self.clock, Clock::None)
    }

    /// All transactions.
    pub fn ids(&self) -> impl Iterator<Item = TxnId> + use<> {
        (0..self.txns.len() as u32).map(TxnId)
    }

    /// The status of a transaction.
    pub fn status(&self, txn: TxnId) -> Status {
        self.txns[txn.0 as usize].status
    }

    /// The interval of a transaction, if it has times: its start, and its end if it is known.
    pub fn times(&self, txn: TxnId) -> Option<(u64, Option<u64>)> {
        let Txn { start, end, .. } = self.txns[txn.0 as usize];
        self.has_times.then_some((start, Some(end).filter(|&end| end != NEVER)))
    }

    /// The name of a transaction: its process, and its place there.
    pub fn name(&self, txn: TxnId) -> String {
        let Txn { process, number, .. } = self.txns[txn.0 as usize];
        format!("{}:{number}", self.processes[process as usize])
    }

    /// The micro-operations of a transaction.
    pub fn micros_of(&self, txn: TxnId) -> impl Iterator<Item = MicroId> + use<> {
        let range = self.range(txn.0);
        (range.start as u32..range.end as u32).map(MicroId)
    }

    pub(crate) fn range(&self, txn: u32) -> Range<usize> {
        let last = self.txns.get(txn as usize + 1).map_or(self.micros.len(), |next| next.first as usize);
        self.txns[txn as usize].first as usize..last
    }

    /// The transaction of a micro-operation.
    pub fn txn_of(&self, micro: MicroId) -> TxnId {
        TxnId(self.txns.partition_point(|txn| txn.first <= micro.0) as u32 - 1)
    }

    /// The elements that a read of a list returned, as versions.
    pub(crate) fn list(&self, micro: Micro) -> &[u32] {
        match micro.access {
            Access::Prefix => &self.spines[micro.key as usize][..micro.len as usize],
            Access::List => &self.elements[micro.at as usize..][..micro.len as usize],
            Access::Read | Access::Write | Access::Append => &[],
        }
    }

    pub(crate) fn value(&self, version: u32) -> &Value {
        &self.versions[version as usize].value
    }

    /// The history without some transactions and micro-operations. Reads of versions of a transaction that is left out
    /// are left out, too, and so are its elements in lists. An accepted history stays accepted.
    pub fn keep(&self, keeps_txn: impl Fn(TxnId) -> bool, keeps_micro: impl Fn(MicroId) -> bool) -> Transactions {
        self.keep_with_origin(keeps_txn, keeps_micro).0
    }

    /// The same, with the micro-operation of this history for each of the other one.
    pub(crate) fn keep_with_origin(
        &self,
        keeps_txn: impl Fn(TxnId) -> bool,
        keeps_micro: impl Fn(MicroId) -> bool,
    ) -> (Transactions, Vec<MicroId>) {
        let mut origin = Vec::new();
        let mut builder = Builder::default();
        builder.made.has_times = self.has_times;
        let is_kept =
            |micro: u32| micro != NONE && keeps_txn(self.txn_of(MicroId(micro))) && keeps_micro(MicroId(micro));
        for process in &self.processes {
            builder.process(process);
        }
        let mut numbers = Vec::new();
        for txn in self.ids().filter(|&txn| keeps_txn(txn)) {
            let Txn { process, start, end, status, number, lane, .. } = self.txns[txn.0 as usize];
            builder.begin(process, self.has_times.then_some((start, Some(end).filter(|&end| end != NEVER))), status);
            numbers.push((number, lane));
            for micro in self.micros_of(txn).filter(|&micro| keeps_micro(micro)) {
                let Micro { access, key, at, .. } = self.micros[micro.0 as usize];
                let name = &self.keys[key as usize];
                let is_written = |version: &u32| is_kept(self.versions[*version as usize].writer);
                match access {
                    Access::Write => builder.write(name, self.value(at)),
                    Access::Append => builder.append(name, self.value(at)),
                    Access::Read
                        if self.versions[at as usize].is_initial || self.versions[at as usize].writer == NONE =>
                    {
                        builder.read(name, self.value(at));
                    }
                    Access::Read if is_written(&at) => builder.read(name, self.value(at)),
                    Access::Read => {}
                    Access::Prefix | Access::List => {
                        let list = self.list(self.micros[micro.0 as usize]);
                        let stays =
                            |version: &&u32| self.versions[**version as usize].writer == NONE || is_written(version);
                        builder.read_list(name, list.iter().filter(stays).map(|&version| self.value(version)));
                    }
                }
                if builder.made.micros.len() > origin.len() {
                    origin.push(micro);
                }
            }
        }
        for (key, order) in &self.given {
            let kept = order.iter().filter(|version| is_kept(self.versions[**version as usize].writer));
            builder.version_order(&self.keys[*key as usize], kept.map(|&version| self.value(version)));
        }
        let mut kept = builder.made;
        // Names and sessions stay, and so does what is initial.
        for (txn, (number, lane)) in kept.txns.iter_mut().zip(numbers) {
            (txn.number, txn.lane) = (number, lane);
        }
        for version in &mut kept.versions {
            version.is_initial |= version.value == Value::Int(0) && version.writer == NONE;
        }
        kept.clock = match &self.clock {
            Clock::None => Clock::None,
            Clock::Stamps(all) => {
                Clock::Stamps(self.ids().filter(|&txn| keeps_txn(txn)).map(|txn| all[txn.0 as usize]).collect())
            }
            Clock::Snapshots(all) => Clock::Snapshots(
                self.ids().filter(|&txn| keeps_txn(txn)).map(|txn| all[txn.0 as usize].clone()).collect(),
            ),
        };
        kept.lanes = self.lanes;
        kept.by_lane = (0..kept.txns.len() as u32).collect();
        let key = |txn: &u32| (kept.txns[*txn as usize].process, kept.txns[*txn as usize].number);
        let mut by_lane = std::mem::take(&mut kept.by_lane);
        by_lane.sort_by_key(key);
        kept.by_lane = by_lane;
        (kept, origin)
    }
}
