//! Maps: `SkipMap` of `crossbeam-skiplist`, `DashMap` and papaya's `HashMap`. The hash maps have a fixed hasher: a
//! random one would make executions differ.

use std::hash::{BuildHasherDefault, DefaultHasher};

use crossbeam_skiplist::SkipMap;
use crossbeam_skiplist::map::Entry;
use dashmap::DashMap;
use omnilink_record::object;

type Hasher = BuildHasherDefault<DefaultHasher>;

/// `SkipMap`.
///
/// Two defects of version 0.1.3 show here: `insert` of a key that is there takes it away for a moment, and two calls
/// can remove the same entry.
#[derive(Default)]
pub struct Skip(SkipMap<i64, i64>);

#[object]
impl Skip {
    #[calls((1, 10), (1, 20), (2, 30))]
    pub fn insert(&self, key: i64, value: i64) {
        self.0.insert(key, value);
    }

    #[calls((1, 40))]
    pub fn get_or_insert(&self, key: i64, value: i64) -> i64 {
        *self.0.get_or_insert(key, value).value()
    }

    #[calls(1)]
    pub fn get(&self, key: i64) -> Option<i64> {
        self.0.get(&key).map(|entry| *entry.value())
    }

    #[calls(1)]
    pub fn remove(&self, key: i64) -> Option<i64> {
        self.0.remove(&key).map(|entry| *entry.value())
    }

    pub fn pop_front(&self) -> Option<(i64, i64)> {
        self.0.pop_front().map(pair)
    }

    pub fn front(&self) -> Option<(i64, i64)> {
        self.0.front().map(pair)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

fn pair(entry: Entry<'_, i64, i64>) -> (i64, i64) {
    (*entry.key(), *entry.value())
}

/// `DashMap` of two shards, in which the keys 1 and 3 are apart.
///
/// `len` and `clear` visit one shard after the other: this is by design, but not linearizable.
pub struct Dash(DashMap<i64, i64, Hasher>);

#[object]
impl Dash {
    pub fn new() -> Dash {
        Dash(DashMap::with_hasher_and_shard_amount(Hasher::default(), 2))
    }

    #[calls((1, 10), (1, 20), (3, 30))]
    pub fn insert(&self, key: i64, value: i64) -> Option<i64> {
        self.0.insert(key, value)
    }

    #[calls((1, 40))]
    pub fn or_insert(&self, key: i64, value: i64) -> i64 {
        *self.0.entry(key).or_insert(value)
    }

    #[calls(1)]
    pub fn get(&self, key: i64) -> Option<i64> {
        self.0.get(&key).map(|value| *value)
    }

    /// Adds one to the value.
    #[calls(1)]
    pub fn alter(&self, key: i64) {
        self.0.alter(&key, |_, value| value + 1);
    }

    #[calls(1)]
    pub fn remove(&self, key: i64) -> Option<(i64, i64)> {
        self.0.remove(&key)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn clear(&self) {
        self.0.clear();
    }
}

/// `papaya::HashMap`.
///
/// `len` counts an entry a moment after it is there, and `clear` visits one entry after the other: this is by design,
/// but not linearizable.
#[derive(Default)]
pub struct Papaya(papaya::HashMap<i64, i64, Hasher>);

#[object]
impl Papaya {
    #[calls((1, 10), (1, 20), (2, 30))]
    pub fn insert(&self, key: i64, value: i64) -> Option<i64> {
        self.0.pin().insert(key, value).copied()
    }

    #[calls((1, 40))]
    pub fn get_or_insert(&self, key: i64, value: i64) -> i64 {
        *self.0.pin().get_or_insert(key, value)
    }

    #[calls(1)]
    pub fn get(&self, key: i64) -> Option<i64> {
        self.0.pin().get(&key).copied()
    }

    /// Adds one to the value, and returns the sum.
    #[calls(1)]
    pub fn update(&self, key: i64) -> Option<i64> {
        self.0.pin().update(key, |value| value + 1).copied()
    }

    #[calls(1)]
    pub fn remove(&self, key: i64) -> Option<i64> {
        self.0.pin().remove(&key).copied()
    }

    pub fn len(&self) -> usize {
        self.0.pin().len()
    }

    pub fn clear(&self) {
        self.0.pin().clear();
    }
}
