//! The trait that specifications implement.

use std::hash::Hash;

/// A specification: states, and the steps that operations may take between them.
///
/// The search never inspects a state or an operation. A spec must be a function of its arguments: called twice, it
/// returns the same successors in the same order.
pub trait Spec {
    /// The operation as this spec sees it: action, arguments and, if it finished, results. Equal operations must
    /// behave the same in every state. If behavior depends on the calling process or on the operation's number, a
    /// spec includes these when it binds operations: then operations that behave differently are unequal, and no
    /// reduction needs to know.
    type Op: Eq;
    /// Equal states must behave the same forever after.
    type State: Clone + Eq + Hash;
    /// Why a state could not be computed. Never a way to say "disabled".
    type Error;

    /// Adds every initial state to `out`.
    fn initial(&self, out: &mut Vec<Self::State>) -> Result<(), Self::Error>;

    /// Adds every state that `op` may lead to. Adding none means that `op` is disabled.
    fn step(&self, state: &Self::State, op: &Self::Op, out: &mut Successors<Self::State>) -> Result<(), Self::Error>;

    /// True if `op` never changes any state in which it is enabled, and takes one step. The search then places it as
    /// soon as possible. An operation that merely leaves the current state unchanged is not an observer.
    fn is_observer(&self, _op: &Self::Op) -> bool {
        false
    }

    /// True if an observer is enabled. Called instead of [`step`](Spec::step), whose successors are then not needed.
    fn allows(&self, state: &Self::State, op: &Self::Op) -> Result<bool, Self::Error> {
        let mut successors = Successors::default();
        self.step(state, op, &mut successors)?;
        Ok(!successors.done.is_empty())
    }

    /// True if, in every state, `a` then `b` is the same as `b` then `a`, and neither enables or disables the other.
    /// The search then tries one order only.
    fn commute(&self, _a: &Self::Op, _b: &Self::Op) -> bool {
        false
    }

    /// True if `a` permits every sequence of operations that `b` permits. The states must have equal hashes then. The
    /// search drops `b` where it has `a`.
    fn covers(&self, a: &Self::State, b: &Self::State) -> bool {
        a == b
    }

    /// True if `op` is enabled in every state and takes one step.
    fn is_total(&self, _op: &Self::Op) -> bool {
        false
    }

    /// True if `later` undoes any effect of `earlier`: from every state, and from every state that a step of
    /// `earlier` leads to from there, `later` has the same successors in the same order. A plain write overwrites
    /// every operation on the same object.
    fn overwrites(&self, _later: &Self::Op, _earlier: &Self::Op) -> bool {
        false
    }

    /// True if `later` is never enabled directly after a step of `earlier`: a read of one value directly after a
    /// write of another.
    fn precludes(&self, _earlier: &Self::Op, _later: &Self::Op) -> bool {
        false
    }

    /// Why `op` is disabled in `state`. Called only for stuck configurations, so it may be slow.
    fn why_not(&self, _state: &Self::State, _op: &Self::Op) -> Option<String> {
        None
    }
}

/// The states that one operation may lead to from one state.
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

    /// The operation has taken one of several steps, led to this state, and is not over. The state must determine its
    /// next step.
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

    /// Takes out the states in which the operation is over, and those in which it is not.
    pub fn drain(&mut self) -> (impl Iterator<Item = S>, impl Iterator<Item = S>) {
        (self.done.drain(..), self.partway.drain(..))
    }
}
