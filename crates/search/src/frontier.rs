//! The configurations possible at one point, without those that another one covers.
//!
//! Comparison is exact: hashes only narrow it down. A handful of configurations is scanned linearly, which is faster
//! than hashing; beyond that a table takes over.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::spec::Spec;
use crate::trail::{Entry, Trail, Trails};
use crate::walk::Walk;

/// The placed operations, the state they led to, and the trail.
#[derive(Clone)]
pub(crate) struct Config<C, S> {
    pub(crate) cut: C,
    pub(crate) state: S,
    pub(crate) trail: Trail,
    pub(crate) is_covered: bool,
}

pub(crate) struct Frontier<C, S> {
    pub(crate) configs: Vec<Config<C, S>>,
    table: HashTable<u32>, // Of all configurations, once there are more than a handful.
}

const HANDFUL: usize = 12;

impl<C, S: Eq + Hash> Frontier<C, S> {
    pub(crate) fn new() -> Frontier<C, S> {
        Frontier { configs: Vec::new(), table: HashTable::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.configs.clear();
        self.forget_table();
    }

    /// Must be called after configurations were moved or changed, before the next insertion.
    pub(crate) fn forget_table(&mut self) {
        self.table.clear();
    }

    /// Adds a configuration that covers no other and is covered by none, before any other is inserted.
    pub(crate) fn push(&mut self, config: Config<C, S>) {
        self.configs.push(config);
    }

    /// Adds a newly reached configuration, with the steps that led there, unless another one covers it.
    pub(crate) fn insert_new<P>(
        &mut self,
        spec: &impl Spec<State = S>,
        walk: &impl Walk<P, Cut = C>,
        config: Config<C, S>,
        trails: &mut Trails,
        steps: &[Entry],
    ) -> bool {
        let is_new = self.insert(spec, walk, config);
        if is_new && let Some(newest) = self.configs.last_mut() {
            newest.trail = trails.extend_all(newest.trail, steps);
        }
        is_new
    }

    /// Adds a configuration unless another one covers it, and marks those that it covers. True if it was added.
    pub(crate) fn insert<P>(
        &mut self,
        spec: &impl Spec<State = S>,
        walk: &impl Walk<P, Cut = C>,
        config: Config<C, S>,
    ) -> bool {
        let Frontier { configs, table } = self;
        if configs.len() < HANDFUL && table.is_empty() {
            let is_redundant = configs.iter_mut().any(|other| compare(spec, walk, other, &config));
            if !is_redundant {
                configs.push(config);
            }
            return !is_redundant;
        }
        if table.is_empty() {
            for index in 0..configs.len() {
                let rehash = |&other: &u32| hash(walk, &configs[other as usize]);
                table.insert_unique(hash(walk, &configs[index]), index as u32, rehash);
            }
        }
        let hashed = hash(walk, &config);
        let is_redundant =
            table.iter_hash(hashed).any(|&other| compare(spec, walk, &mut configs[other as usize], &config));
        if !is_redundant {
            configs.push(config);
            let newest = (configs.len() - 1) as u32;
            table.insert_unique(hashed, newest, |&other| hash(walk, &configs[other as usize]));
        }
        !is_redundant
    }
}

/// True if the old configuration covers the new one. In the opposite case, marks the old one as covered.
fn compare<P, S: Spec, C>(
    spec: &S,
    walk: &impl Walk<P, Cut = C>,
    old: &mut Config<C, S::State>,
    new: &Config<C, S::State>,
) -> bool {
    if old.is_covered {
        return false;
    }
    let covers = |a: &Config<C, S::State>, b: &Config<C, S::State>| {
        spec.covers(&a.state, &b.state) && walk.covers(&a.cut, &b.cut)
    };
    let is_redundant = covers(old, new);
    old.is_covered = !is_redundant && covers(new, old);
    is_redundant
}

fn hash<P, C, S: Hash>(walk: &impl Walk<P, Cut = C>, config: &Config<C, S>) -> u64 {
    let mut hasher = FxHasher::default();
    walk.hash_core(&config.cut, &mut hasher);
    config.state.hash(&mut hasher);
    hasher.finish()
}
