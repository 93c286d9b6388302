//! The orders that explain a history as far as possible, and the states along them.
//!
//! A search ends with one order or, if it got stuck, with several that share a prefix. Routes are replayed step by
//! step on demand, without searching.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use omnilink_history::History;

use crate::explain::{Explanation, Stuck};
use crate::replay::{ReplayError, Unconfirmed, Witness, initial};
use crate::spec::{Spec, Successors};
use crate::trail::Placed;

/// The explanation of a history: the steps common to all orders, then each order's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    initial: u32,
    /// The steps that all orders have in common.
    pub common: Vec<Placed>,
    /// The remaining steps of each order; empty if there is only one.
    pub endings: Vec<Ending>,
}

/// The rest of one order after the common steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    initial: u32, // Orders may differ before the first step.
    /// Its steps.
    pub steps: Vec<Placed>,
}

/// The states along a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked<S> {
    /// States along the common steps, in order; empty if orders begin in different states.
    pub states: VecDeque<S>,
    /// The number of common steps before the last of these states.
    pub until: usize,
    /// The state after each step of each ending; empty unless the route was followed to its end.
    pub endings: Vec<Vec<S>>,
}

impl<S> Walked<S> {
    /// Converts the states.
    pub fn map_states<T>(self, view: impl Fn(S) -> T) -> Walked<T> {
        let endings = self.endings.into_iter().map(|states| states.into_iter().map(&view).collect()).collect();
        Walked { states: self.states.into_iter().map(&view).collect(), until: self.until, endings }
    }
}

impl From<&Witness> for Route {
    fn from(witness: &Witness) -> Route {
        Route { initial: witness.initial(), common: witness.steps().collect(), endings: Vec::new() }
    }
}

impl Route {
    /// The orders of an explanation, with their common prefix. Keeps at most `most` endings.
    pub fn new<S>(settled: &Witness, stuck: &Explanation<S>, most: usize) -> Route {
        let mut common: Vec<Placed> = settled.steps().collect();
        let Some(first) = stuck.stuck.first() else {
            return Route { initial: settled.initial(), common, endings: Vec::new() };
        };
        // Recent steps start at the last settling pass, and orders may still agree for a while after it.
        let together = |recent: &[Placed]| first.recent.iter().zip(recent).take_while(|(a, b)| a == b).count();
        let same_start = stuck.stuck.iter().all(|other| other.initial == first.initial);
        let shared = stuck.stuck.iter().map(|other| together(&other.recent)).min().filter(|_| same_start).unwrap_or(0);
        common.extend_from_slice(&first.recent[..shared]);
        let ending = |other: &Stuck<S>| Ending { initial: other.initial, steps: other.recent[shared..].to_vec() };
        let endings = stuck.stuck.iter().take(most).map(ending);
        Route { initial: first.initial, common, endings: endings.collect() }
    }

    /// Follows the given number of common steps, or all of them and then each ending. Of the states along the common
    /// steps, keeps at most the last `most`.
    pub fn walk<S: Spec>(
        &self,
        spec: &S,
        history: &History<S::Op>,
        until: Option<usize>,
        most: usize,
    ) -> Result<Walked<S::State>, ReplayError<S::Error>> {
        let mut at = initial(spec, self.initial)?;
        let until = until.map_or(self.common.len(), |until| until.min(self.common.len()));
        // Orders that begin in different states have no states in common.
        if self.endings.iter().any(|ending| ending.initial != self.initial) {
            return Ok(Walked { states: VecDeque::new(), until, endings: Vec::new() });
        }
        let first_kept = (until + 1).saturating_sub(most.max(1));
        let mut kept: VecDeque<S::State> = (first_kept == 0).then(|| at.clone()).into_iter().collect();
        for (step, &placed) in self.common[..until].iter().enumerate() {
            at = follow(spec, history, &at, placed, step)?;
            if step + 1 >= first_kept {
                kept.push_back(at.clone());
            }
        }
        let mut endings = Vec::new();
        for ending in self.endings.iter().filter(|_| until == self.common.len()) {
            let mut at = at.clone();
            let mut states = Vec::with_capacity(ending.steps.len());
            for (step, &placed) in ending.steps.iter().enumerate() {
                at = follow(spec, history, &at, placed, until + step)?;
                states.push(at.clone());
            }
            endings.push(states);
        }
        Ok(Walked { endings, states: kept, until })
    }

    /// The same for a single order of operations that each belong to one part of the object: a state is that of the
    /// part that the step before it concerns. So the time does not depend on the number of parts.
    ///
    /// # Panics
    ///
    /// If the route has endings, or an operation has no part.
    pub fn walk_parts<S: Spec, K: Eq + Hash>(
        &self,
        spec: &S,
        history: &History<S::Op>,
        until: Option<usize>,
        most: usize,
        part: impl Fn(&S::Op) -> Option<K>,
    ) -> Result<Walked<S::State>, ReplayError<S::Error>> {
        assert!(self.endings.is_empty(), "a single order");
        let initial = initial(spec, self.initial)?;
        let until = until.map_or(self.common.len(), |until| until.min(self.common.len()));
        let first_kept = (until + 1).saturating_sub(most.max(1));
        let mut kept: VecDeque<S::State> = (first_kept == 0).then(|| initial.clone()).into_iter().collect();
        let mut states: HashMap<K, S::State> = HashMap::new();
        for (step, &placed) in self.common[..until].iter().enumerate() {
            let part = part(&history.op(placed.op).call).expect("an operation of one part");
            let state = states.entry(part).or_insert_with(|| initial.clone());
            *state = follow(spec, history, state, placed, step)?;
            if step + 1 >= first_kept {
                kept.push_back(state.clone());
            }
        }
        Ok(Walked { endings: Vec::new(), states: kept, until })
    }
}

/// The state after one step.
fn follow<S: Spec>(
    spec: &S,
    history: &History<S::Op>,
    state: &S::State,
    placed: Placed,
    step: usize,
) -> Result<S::State, ReplayError<S::Error>> {
    let op = &history.op(placed.op).call;
    if spec.is_observer(op) {
        return Ok(state.clone());
    }
    let next = successor(spec, state, op, placed).map_err(ReplayError::Spec)?;
    next.ok_or(Unconfirmed::Disabled { op: placed.op, step }.into())
}

/// The successor of a state that a step chooses.
pub fn successor<S: Spec>(
    spec: &S,
    state: &S::State,
    op: &S::Op,
    placed: Placed,
) -> Result<Option<S::State>, S::Error> {
    let mut out = Successors::default();
    spec.step(state, op, &mut out)?;
    let (done, partway) = out.into_parts();
    Ok(if placed.partway { partway } else { done }.into_iter().nth(placed.choice as usize))
}
