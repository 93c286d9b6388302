//! What is allowed: the one trait that a specification implements.

use std::hash::Hash;

/// A specification: states, and the steps that operations may take between them.
///
/// The search never looks inside a state or an operation. A spec must be a function of its arguments: asked twice, it
/// gives the same successors in the same order.
pub trait Spec {
    /// What was called, as this spec sees it: action, arguments and, unless it never finished, results. Operations that
    /// are equal must behave the same in every state. A spec for which it matters which process called, or which
    /// operation of the history it is, takes that into its operations when they are bound: then those that behave
    /// differently are different, and no reduction has to know.
    type Op: Eq;
    /// Equal states must behave the same forever after.
    type State: Clone + Eq + Hash;
    /// Why a state could not be computed. Never a way to say "disabled".
    type Error;

    /// Adds every initial state to `out`.
    fn initial(&self, out: &mut Vec<Self::State>) -> Result<(), Self::Error>;

    /// Adds every state that `op` may lead to. Adding none means that `op` is disabled.
    fn step(&self, state: &Self::State, op: &Self::Op, out: &mut Successors<Self::State>) -> Result<(), Self::Error>;

    /// True if `op` never changes any state in which it is enabled, and is done in one step. The search then places it
    /// as soon as it can. An operation that merely happens not to change the current state is not an observer.
    fn is_observer(&self, _op: &Self::Op) -> bool {
        false
    }

    /// True if an observer is enabled. Asked instead of [`step`](Spec::step), whose successors are not needed then.
    fn allows(&self, state: &Self::State, op: &Self::Op) -> Result<bool, Self::Error> {
        let mut successors = Successors::default();
        self.step(state, op, &mut successors)?;
        Ok(!successors.done.is_empty())
    }

    /// True if, in every state, doing `a` and then `b` is the same as doing `b` and then `a`, and neither makes the other
    /// possible or impossible. The search then tries one order only.
    fn commute(&self, _a: &Self::Op, _b: &Self::Op) -> bool {
        false
    }

    /// True if `op` is enabled in every state and is done in one step.
    fn is_total(&self, _op: &Self::Op) -> bool {
        false
    }

    /// True if `later` undoes whatever `earlier` did: from every state, and from every state that a step of `earlier` leads
    /// to from there, `later` has the same successors in the same order. A plain write overwrites every operation on
    /// the same place.
    fn overwrites(&self, _later: &Self::Op, _earlier: &Self::Op) -> bool {
        false
    }

    /// True if `later` is never enabled in a state that a step of `earlier` has just led to: a read of one value directly after a
    /// write of another.
    fn precludes(&self, _earlier: &Self::Op, _later: &Self::Op) -> bool {
        false
    }

    /// Why `op` is disabled in `state`. Asked only of stuck configurations, so it may be slow.
    fn why_not(&self, _state: &Self::State, _op: &Self::Op) -> Option<String> {
        None
    }
}

/// Where one operation may lead from one state.
#[derive(Debug)]
pub struct Successors<S> {
    done: Vec<S>,
    partway: Vec<S>,
}

impl<S> Default for Successors<S> {
    fn default() -> Successors<S> {
        Successors { done: Vec::new(), partway: Vec::new() }
    }
}

impl<S> Successors<S> {
    /// The operation is over and leads to this state.
    pub fn done(&mut self, state: S) {
        self.done.push(state);
    }

    /// The operation has taken one of several steps, has led to this state, and is not over. What it must do next has
    /// to follow from the state.
    pub fn partway(&mut self, state: S) {
        self.partway.push(state);
    }

    /// The states in which the operation is over, and those in which it is not.
    pub fn into_parts(self) -> (Vec<S>, Vec<S>) {
        (self.done, self.partway)
    }

    /// The states in which the operation is over.
    pub(crate) fn done_states(&self) -> &[S] {
        &self.done
    }

    /// Takes out what is over and what is partway.
    pub(crate) fn drain(&mut self) -> (impl Iterator<Item = S>, impl Iterator<Item = S>) {
        (self.done.drain(..), self.partway.drain(..))
    }
}
