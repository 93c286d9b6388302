//! The states found so far.
//!
//! A state's hash selects its shard. A shard is one table and one list, so a worker with exclusive access to a shard
//! needs no lock, and lookups need no lock while no worker adds states. Each state remembers its predecessor.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// The number of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateId(u32);

impl StateId {
    /// The predecessor of initial states.
    pub(super) const BEGINNING: StateId = StateId(u32::MAX);

    /// The state at a place if there is one shard.
    pub(super) fn at(index: usize) -> StateId {
        StateId(index as u32)
    }

    /// Its place among all states if there is one shard.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All states found so far.
pub(super) struct Store<S> {
    shards: Vec<Shard<S>>, // Invariant: a power of two.
}

/// Some of the states.
pub(super) struct Shard<S> {
    table: HashTable<u32>,
    entries: Vec<Entry<S>>,
    /// The position of this shard, which determines the numbers of its states.
    index: u32,
    shards: u32,
}

struct Entry<S> {
    hash: u64,
    parent: StateId,
    state: S,
    /// The part that distinguishes the state, if not all of it.
    key: Option<S>,
}

impl<S> Entry<S> {
    fn key(&self) -> &S {
        self.key.as_ref().unwrap_or(&self.state)
    }
}

impl<S: Eq + Hash> Store<S> {
    pub(super) fn new(workers: usize) -> Store<S> {
        let shards = workers.next_power_of_two().min(256) as u32;
        let shard = |index| Shard { table: HashTable::new(), entries: Vec::new(), index, shards };
        Store { shards: (0..shards).map(shard).collect() }
    }

    pub(super) fn shards(&mut self) -> &mut [Shard<S>] {
        &mut self.shards
    }

    pub(super) fn shard_count(&self) -> usize {
        self.shards.len()
    }

    /// Whether the state numbers may run out before the end of the next block.
    pub(super) fn is_full(&self) -> bool {
        // A block adds at most 32,000 states for each of its own before a shard uses up the last sixteenth of its
        // numbers.
        let numbers = u32::MAX / self.shards.len() as u32;
        let most = (numbers - numbers / 16) as usize;
        self.shards.iter().any(|shard| shard.entries.len() > most)
    }

    pub(super) fn hash(&self, key: &S) -> u64 {
        FxBuildHasher.hash_one(key)
    }

    /// The shard of a hash, by bits other than those the shard's table uses first.
    pub(super) fn shard_of(&self, hash: u64) -> usize {
        (hash >> 40) as usize & (self.shards.len() - 1)
    }

    pub(super) fn contains(&self, hash: u64, key: &S) -> bool {
        self.shards[self.shard_of(hash)].find(hash, key).is_some()
    }

    /// The state with this key, if it was found.
    pub(super) fn find(&self, hash: u64, key: &S) -> Option<StateId> {
        let shard = &self.shards[self.shard_of(hash)];
        shard.find(hash, key).map(|&local| shard.id(local))
    }

    /// Adds a state that is not there.
    pub(super) fn insert(&mut self, hash: u64, state: S, key: Option<S>, parent: StateId) -> StateId {
        let shard = self.shard_of(hash);
        self.shards[shard].add(hash, state, key, parent)
    }

    /// The place of a state, which is added if it is not there, and whether it was not; if there is one shard.
    pub(super) fn place(&mut self, state: &S) -> (usize, bool)
    where
        S: Clone,
    {
        let hash = self.hash(state);
        match self.find(hash, state) {
            Some(id) => (id.index(), false),
            None => (self.insert(hash, state.clone(), None, StateId::BEGINNING).index(), true),
        }
    }

    pub(super) fn state(&self, id: StateId) -> &S {
        &self.entry(id).state
    }

    /// The states from an initial one to this one.
    pub(super) fn path(&self, id: StateId) -> Vec<&S> {
        let mut path = Vec::new();
        let mut at = id;
        while at != StateId::BEGINNING {
            let entry = self.entry(at);
            path.push(&entry.state);
            at = entry.parent;
        }
        path.reverse();
        path
    }

    fn entry(&self, id: StateId) -> &Entry<S> {
        let shards = self.shards.len() as u32;
        &self.shards[(id.0 % shards) as usize].entries[(id.0 / shards) as usize]
    }
}

impl<S: Eq> Shard<S> {
    /// Adds a state unless it is already present.
    pub(super) fn insert(&mut self, hash: u64, state: S, key: Option<S>, parent: StateId) -> Option<StateId> {
        if self.find(hash, key.as_ref().unwrap_or(&state)).is_some() {
            return None;
        }
        Some(self.add(hash, state, key, parent))
    }

    /// Adds a state that is not there.
    fn add(&mut self, hash: u64, state: S, key: Option<S>, parent: StateId) -> StateId {
        let local = self.entries.len() as u32;
        // Invariant: `is_full` ended the search before numbers run out.
        assert!(local < u32::MAX / self.shards, "state numbers do not run out");
        self.entries.push(Entry { hash, parent, state, key });
        let entries = &self.entries;
        self.table.insert_unique(hash, local, |&local| entries[local as usize].hash);
        self.id(local)
    }

    fn id(&self, local: u32) -> StateId {
        StateId(local * self.shards + self.index)
    }

    fn find(&self, hash: u64, key: &S) -> Option<&u32> {
        self.table.find(hash, |&local| {
            let entry = &self.entries[local as usize];
            entry.hash == hash && entry.key() == key
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_for_any_number_of_workers_has_room() {
        for workers in 1..=300 {
            let mut store: Store<u64> = Store::new(workers);
            for state in 0..1000 {
                let hash = store.hash(&state);
                let shard = store.shard_of(hash);
                assert!(store.shards()[shard].insert(hash, state, None, StateId::BEGINNING).is_some());
            }
            assert!(!store.is_full(), "{workers} workers");
        }
    }
}
