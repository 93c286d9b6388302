//! Fewer orders of events: where the order of events does not matter, the search tries one.
//!
//! *Problem.* Events that nothing orders may have happened in any order, so a log of five processes without a common clock
//! has more sets of events that may have happened than a search can visit. A search finds one behavior soon, but a
//! rejection needs all of them.
//!
//! *Idea.* Two events are *independent* if neither uses a part of the state that the other changes
//! ([`touch`](self::touch)): then each is possible after the other if and only if it is possible before it, and both
//! orders lead to the same states. At a configuration, a set T of events that may be next is *persistent* if every event
//! that can happen while none of T has happened is independent of each event of T. All events of a log must happen, so in
//! every completion there is a first event of T; it can be moved to the front, over events that are independent of it.
//! So it is enough to extend a configuration by the events of one persistent set. And if none of T is possible, the
//! configuration has no completion, however many other events are still possible.
//!
//! *Invariant.* A configuration with a completion has an extension by an event of T with a completion. By induction on the
//! number of remaining events the search finds a completion if there is one; each step adds an event, so it puts no event
//! off for ever. T depends on the explained events, and not on the path to them, so configurations are compared as before,
//! even up to interchangeable values. Unlogged steps before an event count as a part of the event: they have their own
//! uses, and the next event is fixed. A constraint, and an invariant where it is enforced, is a part of every event that
//! may change it.
//!
//! *Lost.* The search may leave out the configurations that explain most events, so its rejection does not say how many
//! events can be explained; [`check`](crate::check) searches again.
//!
//! *Cost.* The uses of each event are computed once. A set T is closed over chains: for each of its events, the closure
//! finds the first event of each other chain that is not independent of it and that can happen without T, and adds an event
//! that must happen before that one. That is a few comparisons for each pair of chains.
//!
//! Persistent sets are from P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, LNCS 1032,
//! 1996; the closure is that of stubborn sets, A. Valmari, *Stubborn Sets for Reduced State Space Generation*, 1989. Their
//! sleep sets would save steps to known configurations, but no configurations.
//!
//! `--exhaustive` and `--no-shortcuts` switch this off, and the oracle of this crate compares both.

mod event;
mod known;
mod place;
mod touch;

use hashbrown::HashMap;
use omnilink_tla::program::Program;
use rustc_hash::FxBuildHasher;

use crate::bind::Bound;
use place::Touches;

/// The maximum number of events of a chain to compare an event with. The event behind them counts as dependent.
const MOST_COMPARED: u32 = 4_096;

/// The maximum number of events for which to compute a persistent set.
const MOST_SEEDS: usize = 16;

/// The relation of independence of the events of a log, and the order.
pub(crate) struct Reduction<'a> {
    bound: &'a Bound,
    /// For each event the number of its uses; equal uses have equal numbers.
    kinds: Vec<u32>,
    touches: Vec<Touches>,
    conflicts: HashMap<(u32, u32), bool, FxBuildHasher>,
    /// For each event the number of events of each chain that come before it, directly or through others.
    before: Vec<Box<[u32]>>,
    /// For an event and a chain: the index from which on it was searched, and the first dependent event found.
    first: HashMap<(u32, u32), (u32, Option<u32>), FxBuildHasher>,
}

impl<'a> Reduction<'a> {
    /// Returns `None` if the reduction would leave out nothing.
    pub(crate) fn new(program: &Program, bound: &'a Bound, enforces_invariants: bool) -> Option<Reduction<'a>> {
        if bound.order.chains.iter().filter(|chain| !chain.is_empty()).count() < 2 {
            return None;
        }
        let mut numbers: HashMap<Touches, u32, FxBuildHasher> = HashMap::default();
        let mut touches = Vec::new();
        let mut kinds = Vec::new();
        for found in event::touches(program, bound, enforces_invariants) {
            let next = u32::try_from(touches.len()).unwrap_or(u32::MAX);
            let kind = *numbers.entry(found.clone()).or_insert(next);
            if kind == next {
                touches.push(found);
            }
            kinds.push(kind);
        }
        if touches.iter().all(|touches| touches.0.is_none()) {
            return None;
        }
        let before = transitive(bound);
        Some(Reduction { bound, kinds, touches, conflicts: HashMap::default(), before, first: HashMap::default() })
    }

    /// Persistent sets of events that may be next, the smallest first: one of a single event if that is found, and
    /// otherwise those of a few events.
    pub(crate) fn persistent(&mut self, position: &[u32], next: &[usize]) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for &seed in next.iter().take(MOST_SEEDS) {
            let set = self.closure(position, seed, next.len());
            if set.len() == 1 {
                return vec![set];
            }
            if set.len() < next.len() && !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets.sort_by_key(Vec::len);
        if sets.is_empty() {
            sets.push(next.to_vec());
        }
        sets
    }

    /// The least persistent set that contains an event, as found here. Gives up when it has all of `most` events.
    fn closure(&mut self, position: &[u32], seed: usize, most: usize) -> Vec<usize> {
        let order = &self.bound.order;
        let mut has = vec![false; order.chains.len()];
        has[order.places[seed].0] = true;
        let mut set = vec![seed];
        let mut done = 0;
        while let Some(&event) = set.get(done).filter(|_| set.len() < most) {
            let mut is_closed = true;
            for chain in 0..order.chains.len() {
                if has[chain] {
                    continue;
                }
                let Some(dependent) = self.first_dependent(event, chain, position[chain]) else { continue };
                if let Some(added) = self.enabling(dependent, position, &set) {
                    has[order.places[added].0] = true;
                    set.push(added);
                    is_closed = false;
                }
            }
            // With more events in the set, fewer others can happen before all of them.
            done += usize::from(is_closed);
        }
        set.sort_unstable();
        set
    }

    /// The first event of a chain from an index on that is not independent of an event and does not come after it.
    fn first_dependent(&mut self, event: usize, chain: usize, from: u32) -> Option<usize> {
        let events = &self.bound.order.chains[chain];
        let key = (number(event), number(chain));
        if let Some((since, found)) = self.first.get(&key)
            && *since <= from
            && found.is_none_or(|found| found >= from)
        {
            return found.map(|index| events[index as usize]);
        }
        let (own, index) = self.bound.order.places[event];
        let mut found = None;
        for (compared, at) in (from..number(events.len())).enumerate() {
            let other = events[at as usize];
            if self.before[other][own] as usize > index {
                break;
            }
            if compared >= MOST_COMPARED as usize || self.conflict(event, other) {
                found = Some(at);
                break;
            }
        }
        self.first.insert(key, (from, found));
        found.map(|index| events[index as usize])
    }

    fn conflict(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.kinds[a], self.kinds[b]);
        let touches = &self.touches;
        let key = (a.min(b), a.max(b));
        *self.conflicts.entry(key).or_insert_with(|| touches[a as usize].conflict(&touches[b as usize]))
    }

    /// An event that may be next and must happen before another one, or is that one; `None` if one of `set` must.
    fn enabling(&self, event: usize, position: &[u32], set: &[usize]) -> Option<usize> {
        let order = &self.bound.order;
        let needs = |other: &usize| {
            let (chain, index) = order.places[*other];
            self.before[event][chain] as usize > index
        };
        if set.iter().any(needs) {
            return None;
        }
        let mut at = event;
        loop {
            let needs = order.needs[at].iter().zip(position).position(|(need, position)| need > position);
            // The chain of the event itself counts as well: the events before it there have to happen.
            match needs {
                None => return Some(at),
                Some(chain) => at = order.chains[chain][position[chain] as usize],
            }
        }
    }
}

/// For each event the number of events of each chain that come before it, directly or through others.
fn transitive(bound: &Bound) -> Vec<Box<[u32]>> {
    let order = &bound.order;
    let mut before: Vec<Box<[u32]>> = vec![Box::default(); order.needs.len()];
    for event in order.sequence(&[], &[]) {
        let (chain, index) = order.places[event];
        let mut own = match index.checked_sub(1) {
            Some(last) => before[order.chains[chain][last]].clone(),
            None => vec![0; order.chains.len()].into(),
        };
        own[chain] = number(index);
        for (chain, need) in order.needs[event].iter().enumerate() {
            // Otherwise the event comes before one that has been considered.
            if *need > own[chain] {
                let last = order.chains[chain][*need as usize - 1];
                own.iter_mut().zip(&before[last]).for_each(|(own, more)| *own = (*own).max(*more));
                own[chain] = own[chain].max(*need);
            }
        }
        before[event] = own;
    }
    before
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
