//! Visits every reachable state of a specification.
//!
//! Breadth first, the search goes level by level, so that the first counterexample is a shortest one. States are stored
//! and compared in full: no state is ever taken for another. The report does not depend on the number of workers, and
//! agrees with TLC running one worker, because everything happens *as if* one worker took the states of a level in order
//! and the successors of each in order. A *key*, the position of a state in its level and the index of a successor, says when
//! an event would have happened in that run.
//!
//! A level is cut into blocks of states, and each block passes through three phases, in each of which all workers
//! work without waiting for each other:
//!
//! 1. Each worker takes pieces of the block, computes successors, and drops those that earlier blocks found.
//! 2. The others are sorted by hash into shards, and each shard is updated by one worker, in the order of keys. So
//!    among equal successors the one with the least key wins.
//! 3. The new states, in the order of keys, are checked against the invariants, and initial ones against the
//!    properties.
//!
//! A violation, a deadlock or an error ends a search; it is an *event* with a key. Of several events in a block, the
//! one with the least key counts, and so do only the states with smaller keys; hence all counts are those of one
//! worker that stopped there.
//!
//! A state outside the constraints is generated but neither distinct nor explored, yet it must satisfy the
//! invariants, and the step to it the properties.
//!
//! One worker needs no phases: it takes state by state from a queue, breadth first or depth first. A specification
//! that reads the progress of the search, or sets registers, is explored that way whatever the number of workers.

mod check;
mod cover;
mod phases;
mod promise;
mod random;
mod search;
mod serial;
mod share;
mod store;
mod symmetry;
mod walk;

pub use check::{Checked, During, Verdict, check, shown};
pub use cover::{Cover, Covered, cover};
pub use search::explore;
pub use walk::{Choose, Simulated, Visited, WalkPlan, simulate};

pub use crate::datum::Limit;

use std::hash::Hash;

/// One worker's view of the state space.
pub trait Explorer: Send {
    /// A state. States that differ only outside their [`key`](Explorer::key) are still different here.
    type State: Clone + Eq + Hash + Send + Sync;
    /// The label of a step of a counterexample.
    type Label;
    /// Why an evaluation failed.
    type Error: Send;

    /// Adds the initial states, with or without duplicates; on failure, those found before.
    fn initial(&mut self, out: &mut Vec<Self::State>) -> Result<(), Self::Error>;
    /// Adds the successors of a state in order, with or without duplicates; on failure, those found before.
    fn successors(&mut self, state: &Self::State, out: &mut Vec<Self::State>) -> Result<(), Self::Error>;
    /// The number of states besides the successors that the last call generated.
    fn between(&mut self) -> u64 {
        0
    }
    /// Whether the constraints allow a state, and the step to it unless it is initial.
    fn is_explored(&mut self, from: Option<&Self::State>, state: &Self::State) -> Result<bool, Self::Error>;
    /// The part of a state that distinguishes it from others, if not all of it.
    fn key(&mut self, state: &Self::State) -> Result<Option<Self::State>, Self::Error>;
    /// The first invariant that is false in a state.
    fn violated(&mut self, state: &Self::State) -> Result<Option<usize>, (usize, Self::Error)>;
    /// The first property that is false of the step to a state, or of an initial state.
    fn violated_property(
        &mut self,
        _from: Option<&Self::State>,
        _state: &Self::State,
    ) -> Result<Option<usize>, (usize, Self::Error)> {
        Ok(None)
    }
    /// The number of properties of the form `[](p => []q)`.
    fn promises(&self) -> usize {
        0
    }
    /// The values of `p` and `q` of such a property in a state.
    fn promise(&mut self, _promise: usize, _state: &Self::State) -> Result<(bool, bool), Self::Error> {
        Ok((false, true))
    }
    /// Whether `p` counts in every state, and not only in initial ones.
    fn is_promised_anew(&self, _promise: usize) -> bool {
        true
    }
    /// Receives the progress of a search by one worker.
    fn report(&mut self, _stats: &Stats) {}
    /// Converts a new state to the form in which it is stored.
    fn kept(&mut self, state: Self::State) -> Self::State {
        state
    }
    /// The label of the step from a state to one of its successors, if it is known.
    fn label(&mut self, from: &Self::State, to: &Self::State) -> Option<Self::Label>;
    /// Sets the level of the states passed next; initial states are at level 1.
    fn set_level(&mut self, level: usize);
    /// Whether the specification asked for the search to end.
    fn has_exited(&self) -> bool;
}

/// The order in which states are explored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReachOrder {
    /// In the order in which they were found: counterexamples are shortest ones.
    #[default]
    Breadth,
    /// The state found last comes first.
    Depth,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Plan {
    /// The order.
    pub order: ReachOrder,
    /// Whether a state without successors ends the search.
    pub check_deadlock: bool,
    /// Whether one worker does all the work, as if there were no others.
    pub is_serial: bool,
}

/// A formula that every state, step or behavior must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// An invariant.
    Invariant(usize),
    /// A property of initial states or of steps.
    Property(usize),
    /// A property of the form `[](p => []q)`.
    Promise(usize),
}

/// The progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Initial states, including duplicates.
    pub initial: u64,
    /// Initial states and successors computed, including duplicates.
    pub generated: u64,
    /// Distinct states.
    pub distinct: u64,
    /// States whose successors have not been computed yet.
    pub queued: u64,
    /// The length in states of the longest shortest path from an initial state.
    pub depth: usize,
}

/// How a search ended, and its progress.
pub struct ExplorationOutcome<E: Explorer> {
    /// How it ended.
    pub end: End<E>,
    /// Its progress.
    pub stats: Stats,
}

/// How a search ended.
pub enum End<E: Explorer> {
    /// Every state was visited without an event.
    Finished,
    /// A formula is false in the last state or of the last step.
    Violated {
        /// The formula.
        claim: Claim,
        /// From an initial state.
        trace: Trace<E>,
    },
    /// The last state has no successor.
    Deadlock {
        /// From an initial state.
        trace: Trace<E>,
    },
    /// An evaluation failed.
    Error {
        /// The cause.
        error: E::Error,
        /// The formula that was evaluated, if it was one.
        claim: Option<Claim>,
        /// From an initial state to the state it was evaluated in; empty if it was the initial states themselves.
        trace: Trace<E>,
    },
    /// The specification ended the search.
    Exited,
    /// A limit was reached.
    Stopped {
        /// The limit.
        limit: Limit,
        /// The states from an initial one to the one found last.
        path: Vec<E::State>,
    },
}

/// A behavior: one step for each state.
pub type Trace<E> = Vec<TraceStep<<E as Explorer>::Label, <E as Explorer>::State>>;

/// One state of a counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep<L, S> {
    /// The step that led to it; `None` for an initial state.
    pub label: Option<L>,
    /// The state.
    pub state: S,
}

/// One state of a behavior of a program.
pub type BehaviorStep = TraceStep<crate::machine::Label, crate::machine::State>;

#[cfg(test)]
mod tests;
