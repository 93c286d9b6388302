//! Visits every state that a specification can reach, the nearest first.
//!
//! The search goes level by level, so that the first counterexample is a shortest one. States are kept whole and compared
//! whole: no state is ever taken for another. What it reports does not depend on the number of workers, and agrees with
//! TLC running one worker, because everything happens *as if* one worker took the states of a level in order and the
//! successors of each in order. A *key*, the position of a state in its level and the index of a successor, says when
//! something would have happened then.
//!
//! A level is cut into blocks of states, and each block goes through three phases, in each of which all workers work
//! without waiting for each other:
//!
//! 1. Each worker takes pieces of the block, computes successors, and drops those that earlier blocks found already.
//! 2. The others are sorted by hash into shards, and each shard is brought up to date by one worker, in the order of keys.
//!    So among equal successors the one with the least key wins.
//! 3. The new states, in the order of keys, are checked against the invariants.
//!
//! What ends a search (a violation, a deadlock, an error) is an *event* with a key. Of several events in a block the one
//! with the least key counts, and so do only the states with smaller keys; hence all counts are those of one worker that
//! stopped there.
//!
//! A state outside the constraints is generated but neither distinct nor explored, and yet it must satisfy the invariants.

mod check;
mod phases;
mod search;
mod share;
mod store;
mod symmetry;

pub use check::{Checked, During, Verdict, check, shown};
pub use search::explore;

pub use crate::datum::Limit;

use std::hash::Hash;

/// One worker's view of what is explored.
pub trait Explorer: Send {
    /// A state. States that differ only outside their [`key`](Explorer::key) are still different here.
    type State: Clone + Eq + Hash + Send + Sync;
    /// What is said about a step of a counterexample.
    type Label;
    /// Why something could not be computed.
    type Error: Send;

    /// Adds the initial states, repeated or not; if it fails, those found before.
    fn initial(&mut self, out: &mut Vec<Self::State>) -> Result<(), Self::Error>;
    /// Adds the successors of a state in order, repeated or not; if it fails, those found before.
    fn successors(&mut self, state: &Self::State, out: &mut Vec<Self::State>) -> Result<(), Self::Error>;
    /// Whether the constraints allow a state, and the step to it unless it is initial.
    fn is_explored(&mut self, from: Option<&Self::State>, state: &Self::State) -> Result<bool, Self::Error>;
    /// What distinguishes a state from others, if not all of it.
    fn key(&mut self, state: &Self::State) -> Result<Option<Self::State>, Self::Error>;
    /// The first invariant that is false in a state.
    fn violated(&mut self, state: &Self::State) -> Result<Option<usize>, (usize, Self::Error)>;
    /// A state that is not known yet and will be kept, in the form in which it is kept best.
    fn kept(&mut self, state: Self::State) -> Self::State {
        state
    }
    /// What led from a state to one of its successors, if it can be told.
    fn label(&mut self, from: &Self::State, to: &Self::State) -> Option<Self::Label>;
    /// Says how far from the beginning the states are that are asked about next; initial states are at level 1.
    fn set_level(&mut self, level: usize);
    /// Whether the specification asked for the search to end.
    fn has_exited(&self) -> bool;
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Initial states and successors that were computed, repetitions included.
    pub generated: u64,
    /// States that are different from each other.
    pub distinct: u64,
    /// States whose successors are not known yet.
    pub queued: u64,
    /// The number of states on the longest of the shortest ways from the beginning to a state.
    pub depth: usize,
}

/// How a search ended, and how far it had come.
pub struct Outcome<E: Explorer> {
    /// How it ended.
    pub end: End<E>,
    /// How far it had come.
    pub stats: Stats,
}

/// How a search ended.
pub enum End<E: Explorer> {
    /// Every state was visited, and nothing was wrong.
    Finished,
    /// An invariant is false in the last state.
    Violated {
        /// Which one.
        invariant: usize,
        /// From an initial state.
        trace: Trace<E>,
    },
    /// The last state has no successor.
    Deadlock {
        /// From an initial state.
        trace: Trace<E>,
    },
    /// Something could not be computed.
    Error {
        /// Why.
        error: E::Error,
        /// If it was an invariant, which.
        invariant: Option<usize>,
        /// From an initial state to the state that it was computed for; empty if it was the initial states themselves.
        trace: Trace<E>,
    },
    /// The specification asked for it.
    Exited,
    /// A limit was reached.
    Stopped(Limit),
}

/// A behavior: one step for each state.
pub type Trace<E> = Vec<Step<<E as Explorer>::Label, <E as Explorer>::State>>;

/// One state of a counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<L, S> {
    /// What led to it; none for an initial state.
    pub label: Option<L>,
    /// The state.
    pub state: S,
}

#[cfg(test)]
mod tests;
