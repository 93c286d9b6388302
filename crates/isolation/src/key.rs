//! The parts of a history with timestamps that are judged alone: a transaction, a session, a key.
//!
//! With the stamps of a database, visibility is given: a read returns the write with the largest commit that is not after its
//! snapshot. So the axioms separate. A transaction alone decides its reads of own writes; a session alone decides
//! whether each snapshot has the commit before it; and a key alone decides all other reads and whether two writers overlap.
//! [`split`] takes a transaction apart into rows by key, and [`judge`] decides the rows of one key, wherever they come from.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// An access of a transaction to a key, by value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access<V> {
    /// A read of a register. The value may stand for the initial one.
    Read {
        /// The value.
        value: V,
        /// True if it may be the initial value.
        is_initial: bool,
    },
    /// A read of a whole list.
    List(Vec<V>),
    /// A write of a register.
    Write(V),
    /// An element appended to a list.
    Append {
        /// The element.
        value: V,
        /// Its place, if a later read of the transaction shows it.
        place: Option<usize>,
    },
}

impl<V> Access<V> {
    /// True for writes of registers and elements appended to lists.
    pub fn is_write(&self) -> bool {
        matches!(self, Access::Write(_) | Access::Append { .. })
    }

    /// The same access with other values.
    pub(crate) fn map<W, E>(&self, map: &impl Fn(&V) -> Result<W, E>) -> Result<Access<W>, E> {
        Ok(match self {
            Access::Read { value, is_initial } => Access::Read { value: map(value)?, is_initial: *is_initial },
            Access::List(list) => Access::List(list.iter().map(map).collect::<Result<_, E>>()?),
            Access::Write(value) => Access::Write(map(value)?),
            Access::Append { value, place } => Access::Append { value: map(value)?, place: *place },
        })
    }
}

/// An access that is visible to other transactions, with the stamps that decide about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row<T, V> {
    /// The transaction.
    pub txn: u64,
    /// The place of the access in the transaction.
    pub place: u32,
    /// The snapshot of the transaction.
    pub start: T,
    /// The last stamp that a read sees, or the commit of a write.
    pub at: T,
    /// The access; own writes are left out of reads.
    pub access: Access<V>,
}

impl<T: Copy, V> Row<T, V> {
    /// The same row with other values.
    pub(crate) fn map<W, E>(&self, map: &impl Fn(&V) -> Result<W, E>) -> Result<Row<T, W>, E> {
        let Row { txn, place, start, at, .. } = *self;
        Ok(Row { txn, place, start, at, access: self.access.map(map)? })
    }
}

/// Why the rows of a key do not fit their stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The read returned something else than this write, the newest one that it sees, or than the initial value.
    Read {
        /// The write: a transaction and a place in it.
        newest: Option<(u64, u32)>,
    },
    /// A read of the same transaction showed the element in another place than it has.
    Place,
    /// The writer took its snapshot before this earlier write of the key was committed.
    Conflict {
        /// The write: a transaction and a place in it.
        first: (u64, u32),
    },
}

/// A read that did not return an own write of its transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Internal {
    /// The place of the read.
    pub read: u32,
}

/// The writes of a transaction so far.
#[derive(Debug)]
pub(crate) struct Own<K, V> {
    few: Vec<(K, V)>,
    many: FxHashMap<K, Vec<V>>,
}

impl<K: Clone + Eq + Hash, V: Clone + PartialEq> Own<K, V> {
    /// More writes than this are looked up by key.
    const FEW: usize = 16;

    pub(crate) fn new() -> Own<K, V> {
        Own { few: Vec::new(), many: FxHashMap::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }

    pub(crate) fn push(&mut self, key: K, value: V) {
        if self.many.is_empty() && self.few.len() < Self::FEW {
            self.few.push((key, value));
            return;
        }
        for (key, value) in self.few.drain(..) {
            self.many.entry(key).or_default().push(value);
        }
        self.many.entry(key).or_default().push(value);
    }

    /// The last own write of a key.
    pub(crate) fn last(&self, key: &K) -> Option<&V> {
        match self.many.is_empty() {
            true => self.few.iter().rev().find(|(of, _)| of == key).map(|(_, value)| value),
            false => self.many.get(key)?.last(),
        }
    }

    /// The part of a list that other transactions appended, if it ends with all own elements.
    pub(crate) fn others<'l>(&self, key: &K, list: &'l [V]) -> Option<&'l [V]> {
        let before = |count: usize| list.len().checked_sub(count).map(|before| list.split_at(before));
        match self.many.is_empty() {
            true => {
                let own = self.few.iter().filter(|(of, _)| of == key).map(|(_, value)| value);
                let (others, mine) = before(own.clone().count())?;
                mine.iter().eq(own).then_some(others)
            }
            false => {
                let own = self.many.get(key).map_or(&[][..], Vec::as_slice);
                let (others, mine) = before(own.len())?;
                (mine == own).then_some(others)
            }
        }
    }
}

/// Why a key has a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// A transaction committed it.
    Commit,
    /// A transaction whose commit is not known wrote it: it committed no later.
    Bound,
    /// A read returned it, when the state of the key was not known.
    Read,
}

/// A version of a key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Version<T, V> {
    pub(crate) commit: T,
    pub(crate) start: T,
    /// The write, or the read that showed the version.
    pub(crate) write: (u64, u32),
    /// The value of a register.
    pub(crate) value: Option<V>,
    /// The length of a list.
    pub(crate) len: usize,
    pub(crate) origin: Origin,
}

/// The versions of a key that a read may still return.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Key<T, V> {
    newest: Option<Version<T, V>>,
    older: Vec<Version<T, V>>,
    pub(crate) elements: Vec<V>,
    /// True if versions were forgotten, which older snapshots than any that may still come see.
    pub(crate) has_forgotten: bool,
}

impl<T, V> Default for Key<T, V> {
    fn default() -> Key<T, V> {
        Key { newest: None, older: Vec::new(), elements: Vec::new(), has_forgotten: false }
    }
}

/// A write to install.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Install<T> {
    pub(crate) commit: T,
    pub(crate) start: T,
    pub(crate) write: (u64, u32),
}

impl<T: Copy + Ord, V: Clone + PartialEq> Key<T, V> {
    /// Installs a write, in the order of commits. Writers must not overlap if `is_exclusive`.
    pub(crate) fn install(&mut self, write: Install<T>, value: &V, is_list: bool, is_exclusive: bool) -> Option<Fault> {
        let Install { commit, start, write } = write;
        let before = self.newest.take();
        let is_own = before.as_ref().is_some_and(|before| before.write.0 == write.0);
        if is_list {
            self.elements.push(value.clone());
        }
        let len = self.elements.len();
        let value = (!is_list).then(|| value.clone());
        self.newest = Some(Version { commit, start, write, value, len, origin: Origin::Commit });
        let before = before.filter(|_| !is_own)?;
        self.older.push(before);
        // The commits of other versions are not known.
        let known = self.older.iter().rev().find(|version| version.origin == Origin::Commit);
        let first = known.filter(|known| is_exclusive && start < known.commit)?.write;
        Some(Fault::Conflict { first })
    }

    /// Appends an element, which has this place if its transaction read the list after it.
    pub(crate) fn append(
        &mut self,
        write: Install<T>,
        value: &V,
        place: Option<usize>,
        is_exclusive: bool,
    ) -> Option<Fault> {
        let is_moved = place.is_some_and(|place| place != self.elements.len());
        self.install(write, value, true, is_exclusive).or(is_moved.then_some(Fault::Place))
    }

    /// Forgets all versions but the newest.
    pub(crate) fn forget(&mut self) {
        self.older.clear();
    }

    /// The versions, the oldest first.
    pub(crate) fn versions(&self) -> impl DoubleEndedIterator<Item = &Version<T, V>> {
        self.older.iter().chain(&self.newest)
    }

    /// Forgets versions that no snapshot from `start` on sees.
    pub(crate) fn forget_before(&mut self, start: T) {
        let is_newest_old = self.newest.as_ref().is_some_and(|newest| newest.commit <= start);
        let passed = self.older.partition_point(|version| version.commit <= start);
        let gone = if is_newest_old { self.older.len() } else { passed.saturating_sub(1) };
        self.has_forgotten |= gone > 0;
        self.older.drain(..gone);
    }

    /// Takes a version that a read returned as the newest one. No version is newer than the read.
    pub(crate) fn settle(&mut self, at: T, read: (u64, u32), value: &V) {
        self.older.extend(self.newest.take());
        let len = self.elements.len();
        let value = Some(value.clone());
        self.newest = Some(Version { commit: at, start: at, write: read, value, len, origin: Origin::Read });
    }

    /// The same for all elements of a list.
    pub(crate) fn settle_list(&mut self, at: T, read: (u64, u32), list: &[V]) {
        (self.elements, self.older) = (list.to_vec(), Vec::new());
        self.has_forgotten = true;
        self.newest =
            Some(Version { commit: at, start: at, write: read, value: None, len: list.len(), origin: Origin::Read });
    }

    /// The number of versions.
    pub(crate) fn held(&self) -> usize {
        self.older.len() + usize::from(self.newest.is_some())
    }

    /// The newest version that a snapshot sees.
    pub(crate) fn newest_at(&self, at: T) -> Option<&Version<T, V>> {
        if self.newest.as_ref().is_none_or(|newest| newest.commit <= at) {
            return self.newest.as_ref();
        }
        let passed = self.older.partition_point(|version| version.commit <= at);
        self.older[..passed].last()
    }

    /// Compares a read of a register with the newest version that it sees.
    pub(crate) fn read(&self, at: T, value: &V, is_initial: bool) -> Option<Fault> {
        let newest = self.newest_at(at);
        let is_right = match newest {
            None => is_initial,
            Some(newest) => newest.value.as_ref() == Some(value),
        };
        (!is_right).then_some(Fault::Read { newest: newest.map(|newest| newest.write) })
    }

    /// Compares a read of a list with the elements that it sees.
    pub(crate) fn read_list(&self, at: T, list: &[V]) -> Option<Fault> {
        let newest = self.newest_at(at);
        let len = newest.map_or(0, |newest| newest.len);
        (list != &self.elements[..len]).then_some(Fault::Read { newest: newest.map(|newest| newest.write) })
    }

    /// Installs a register's write whose commit is not known, because a read at this stamp returned it; or lowers the bound of its
    /// commit.
    pub(crate) fn bound(&mut self, start: T, at: T, write: (u64, u32), value: &V) {
        let known = self.older.iter_mut().chain(&mut self.newest).find(|version| version.write == write);
        if let Some(known) = known {
            known.commit = known.commit.min(at);
        } else {
            let (value, origin) = (Some(value.clone()), Origin::Bound);
            let version = Version { commit: at, start, write, value, len: 0, origin };
            self.older.extend(self.newest.take());
            self.older.push(version);
        }
        self.older.extend(self.newest.take());
        self.older.sort_by_key(|version| (version.commit, version.origin, version.start));
        self.newest = self.older.pop();
    }
}

impl<T: Copy, V> Key<T, V> {
    /// The same versions with other values.
    pub(crate) fn map<W, E>(&self, map: &impl Fn(&V) -> Result<W, E>) -> Result<Key<T, W>, E> {
        let version = |version: &Version<T, V>| -> Result<Version<T, W>, E> {
            let Version { commit, start, write, len, origin, .. } = *version;
            Ok(Version { commit, start, write, value: version.value.as_ref().map(map).transpose()?, len, origin })
        };
        Ok(Key {
            newest: self.newest.as_ref().map(version).transpose()?,
            older: self.older.iter().map(version).collect::<Result<_, E>>()?,
            elements: self.elements.iter().map(map).collect::<Result<_, E>>()?,
            has_forgotten: self.has_forgotten,
        })
    }
}

/// A transaction with its stamps, to be taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped<T, K, V> {
    /// Its number.
    pub txn: u64,
    /// Its snapshot.
    pub start: T,
    /// The last stamp that its reads see: its snapshot or, at `serializable`, the stamp before its commit.
    pub sees: T,
    /// Its commit; `None` if it has no writes that took effect.
    pub commit: Option<T>,
    /// Its accesses in order.
    pub accesses: Vec<(K, Access<V>)>,
}

/// Rows with their keys.
pub type KeyedRows<T, K, V> = Vec<(K, Row<T, V>)>;

/// Takes a transaction apart into a row for each key and access. Reads of own writes are decided here.
pub fn split<T, K, V>(txn: &Stamped<T, K, V>) -> Result<KeyedRows<T, K, V>, Internal>
where
    T: Copy,
    K: Clone + Eq + Hash,
    V: Clone + PartialEq,
{
    let mut own: Own<K, V> = Own::new();
    let mut rows = Vec::with_capacity(txn.accesses.len());
    for ((key, access), place) in txn.accesses.iter().zip(0..) {
        let row = |at: T, access: Access<V>| (key.clone(), Row { txn: txn.txn, place, start: txn.start, at, access });
        match access {
            Access::Write(value) | Access::Append { value, .. } => {
                own.push(key.clone(), value.clone());
                rows.extend(txn.commit.map(|commit| row(commit, access.clone())));
            }
            Access::Read { value, .. } => match own.last(key) {
                Some(last) if last != value => return Err(Internal { read: place }),
                Some(_) => {}
                None => rows.push(row(txn.sees, access.clone())),
            },
            Access::List(list) => {
                let others = own.others(key, list).ok_or(Internal { read: place })?;
                let mut at = others.len();
                for (_, row) in rows.iter_mut().filter(|(of, _)| of == key && others.len() < list.len()) {
                    if let Access::Append { place, .. } = &mut row.access {
                        *place = Some(at);
                        at += 1;
                    }
                }
                rows.push(row(txn.sees, Access::List(others.to_vec())));
            }
        }
    }
    Ok(rows)
}

/// Decides the rows of one key. Writers must not overlap if `is_exclusive`. The result is in the order of stamps.
pub fn judge<T: Copy + Ord, V: Clone + PartialEq>(
    rows: &mut [Row<T, V>],
    is_exclusive: bool,
) -> Vec<(u64, u32, Fault)> {
    let is_read = |row: &Row<T, V>| matches!(row.access, Access::Read { .. } | Access::List(_));
    // A commit comes before the snapshots of the same stamp.
    rows.sort_by_key(|row| (row.at, is_read(row), row.txn, row.place));
    let mut key: Key<T, V> = Key::default();
    let mut faults = Vec::new();
    for row in &*rows {
        let write = || Install { commit: row.at, start: row.start, write: (row.txn, row.place) };
        let fault = match &row.access {
            Access::Read { value, is_initial } => key.read(row.at, value, *is_initial),
            Access::List(list) => key.read_list(row.at, list),
            Access::Write(value) => key.install(write(), value, false, is_exclusive),
            Access::Append { value, place } => key.append(write(), value, *place, is_exclusive),
        };
        key.forget();
        faults.extend(fault.map(|fault| (row.txn, row.place, fault)));
    }
    faults
}

/// True if a session may take a snapshot after a commit: the snapshot has the commit.
pub fn follows<T: Ord>(commit: T, start: T) -> bool {
    commit <= start
}
