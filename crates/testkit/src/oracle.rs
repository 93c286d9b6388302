//! The definition, executed: try every order.
//!
//! Shares nothing with the search. An operation may be next if every operation that precedes it, straight from the
//! definition, has been placed; whatever the spec allows is tried; a history is allowed if every finished operation can be
//! placed. Exponential on purpose.
//!
//! The same code counts what a model checker would visit: the situations that can be reached, and the steps between them.

use history::{History, Op, OpId, Precedence};
use search::{Spec, Successors};

/// What can be reached by placing operations in any order that is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reachable {
    /// Which operations are placed and the state: how many different such situations.
    pub situations: u64,
    /// Steps from all of them, and initial states.
    pub steps: u64,
}

/// Visits everything that can be reached.
pub fn reachable<S: Spec>(spec: &S, history: &History<S::Op>, precedence: Precedence) -> Reachable
where
    S::Error: std::fmt::Debug,
{
    let mut states = Vec::new();
    spec.initial(&mut states).expect("a spec that can be evaluated");
    let mut search = Exhaustive { spec, ops: history.ops(), precedence, seen: Vec::new() };
    let (mut steps, mut next) = (states.len() as u64, 0);
    for state in states {
        search.see(vec![false; history.ops().len()], state);
    }
    while next < search.seen.len() {
        let (placed, state) = search.seen[next].clone();
        for op in
            (0..history.ops().len()).filter(|&op| !placed[op] && search.may_be_next(op, &placed)).collect::<Vec<_>>()
        {
            let (done, partway) = search.step(&state, op);
            steps += (done.len() + partway.len()) as u64;
            let mut after = placed.clone();
            after[op] = true;
            done.into_iter().for_each(|state| search.see(after.clone(), state));
            partway.into_iter().for_each(|state| search.see(placed.clone(), state));
        }
        next += 1;
    }
    Reachable { situations: search.seen.len() as u64, steps }
}

/// True if the spec allows the operations in this order, always taking the first successor, and the order is one of the
/// history: every finished operation is in it, none is twice, and none comes after one that it precedes.
pub fn is_order<S: Spec>(spec: &S, history: &History<S::Op>, precedence: Precedence, order: &[OpId]) -> bool
where
    S::Error: std::fmt::Debug,
{
    let mut states = Vec::new();
    spec.initial(&mut states).expect("a spec that can be evaluated");
    let search = Exhaustive { spec, ops: history.ops(), precedence, seen: Vec::new() };
    let mut placed = vec![false; history.ops().len()];
    let mut state = states.swap_remove(0);
    for id in order {
        if placed[id.index()] || !search.may_be_next(id.index(), &placed) {
            return false;
        }
        placed[id.index()] = true;
        let Some(next) = search.step(&state, id.index()).0.into_iter().next() else { return false };
        state = next;
    }
    history.ops().iter().zip(&placed).all(|(op, &is_placed)| is_placed || op.interval.end().is_none())
}

/// True if some order of the operations is allowed.
pub fn is_allowed<S: Spec>(spec: &S, history: &History<S::Op>, precedence: Precedence) -> bool
where
    S::Error: std::fmt::Debug,
{
    assert!(history.ops().len() <= 12, "a history small enough to try every order");
    let mut states = Vec::new();
    spec.initial(&mut states).expect("a spec that can be evaluated");
    let mut search = Exhaustive { spec, ops: history.ops(), precedence, seen: Vec::new() };
    states.into_iter().any(|state| search.completes(&vec![false; history.ops().len()], state))
}

struct Exhaustive<'a, S: Spec> {
    spec: &'a S,
    ops: &'a [Op<S::Op>],
    precedence: Precedence,
    seen: Vec<(Vec<bool>, S::State)>,
}

impl<S: Spec> Exhaustive<'_, S>
where
    S::Error: std::fmt::Debug,
{
    fn completes(&mut self, placed: &[bool], state: S::State) -> bool {
        let is_complete = self.ops.iter().zip(placed).all(|(op, &is_placed)| is_placed || op.interval.end().is_none());
        let situation = (placed.to_vec(), state);
        if is_complete || self.seen.contains(&situation) {
            return is_complete;
        }
        self.seen.push(situation.clone());
        let (_, state) = situation;
        (0..self.ops.len()).any(|next| {
            if placed[next] || !self.may_be_next(next, placed) {
                return false;
            }
            let (done, partway) = self.step(&state, next);
            let mut after = placed.to_vec();
            after[next] = true;
            done.into_iter().any(|state| self.completes(&after, state))
                || partway.into_iter().any(|state| self.completes(placed, state))
        })
    }

    fn see(&mut self, placed: Vec<bool>, state: S::State) {
        let situation = (placed, state);
        if !self.seen.contains(&situation) {
            self.seen.push(situation);
        }
    }

    fn step(&self, state: &S::State, op: usize) -> (Vec<S::State>, Vec<S::State>) {
        let mut successors = Successors::default();
        self.spec.step(state, &self.ops[op].call, &mut successors).expect("a spec that can be evaluated");
        successors.into_parts()
    }

    fn may_be_next(&self, next: usize, placed: &[bool]) -> bool {
        (0..self.ops.len()).all(|other| placed[other] || !self.precedes(&self.ops[other], &self.ops[next]))
    }

    fn precedes(&self, a: &Op<S::Op>, b: &Op<S::Op>) -> bool {
        let in_process = a.process == b.process && a.index < b.index;
        let in_time = a.interval.end().is_some_and(|end| end < b.interval.start());
        in_process || (self.precedence == Precedence::RealTime && in_time)
    }
}
