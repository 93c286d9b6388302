//! The brute-force oracle: tries every order.
//!
//! Shares nothing with the search. An operation may be next if every operation that precedes it, straight from the
//! definition, has been placed; every step that the spec allows is tried; a history is allowed if every finished
//! operation can be placed. Exponential on purpose.
//!
//! The same code counts the work of a model checker: the reachable situations, and the steps between them.

use omnilink_history::{History, Op, OpId, Precedence};
use omnilink_search::{Criterion, Spec, Successors};

/// The situations reachable by placing operations in any allowed order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reachable {
    /// The number of different situations: placed operations and a state.
    pub situations: u64,
    /// Steps from all of them, and initial states.
    pub steps: u64,
}

/// Visits every reachable situation.
pub fn reachable<S: Spec>(spec: &S, history: &History<S::Op>, criterion: Criterion) -> Reachable
where
    S::Error: std::fmt::Debug,
{
    let mut states = Vec::new();
    spec.initial(&mut states).expect("a spec that can be evaluated");
    let mut search = Exhaustive { spec, history, ops: history.ops(), criterion, seen: Vec::new() };
    let (mut steps, mut next) = (states.len() as u64, 0);
    for state in states {
        search.see(Past::new(history.ops().len()), state);
    }
    while next < search.seen.len() {
        let (past, state) = search.seen[next].clone();
        for op in (0..history.ops().len()).filter(|&op| search.may_be_next(op, &past)).collect::<Vec<_>>() {
            let (done, partway) = search.step(&state, op);
            steps += (done.len() + partway.len()) as u64;
            done.into_iter().for_each(|state| search.see(search.after(&past, op, true), state));
            partway.into_iter().for_each(|state| search.see(search.after(&past, op, false), state));
        }
        next += 1;
    }
    Reachable { situations: search.seen.len() as u64, steps }
}

/// True if the spec allows the operations in this order, always taking the first successor, and the order is one of
/// the history: every finished operation is in it, no operation is twice, and none comes after one that it precedes.
pub fn is_order<S: Spec>(spec: &S, history: &History<S::Op>, criterion: Criterion, order: &[OpId]) -> bool
where
    S::Error: std::fmt::Debug,
{
    let mut states = Vec::new();
    spec.initial(&mut states).expect("a spec that can be evaluated");
    let search = Exhaustive { spec, history, ops: history.ops(), criterion, seen: Vec::new() };
    let mut past = Past::new(history.ops().len());
    let mut state = states.swap_remove(0);
    for id in order {
        if !search.may_be_next(id.index(), &past) {
            return false;
        }
        past = search.after(&past, id.index(), true);
        let Some(next) = search.step(&state, id.index()).0.into_iter().next() else { return false };
        state = next;
    }
    search.is_complete(&past)
}

/// True if some order of the operations is allowed.
pub fn is_allowed<S: Spec>(spec: &S, history: &History<S::Op>, criterion: Criterion) -> bool
where
    S::Error: std::fmt::Debug,
{
    assert!(history.ops().len() <= 12, "a history small enough to try every order");
    let mut states = Vec::new();
    spec.initial(&mut states).expect("a spec that can be evaluated");
    let mut search = Exhaustive { spec, history, ops: history.ops(), criterion, seen: Vec::new() };
    states.into_iter().any(|state| search.completes(Past::new(history.ops().len()), state))
}

/// Which operations have been placed, and which have taken a step.
#[derive(Clone, PartialEq)]
struct Past {
    placed: Vec<bool>,
    latest_start: u64, // Of the operations that have taken a step. Zero if no operation has a latest time.
}

impl Past {
    fn new(count: usize) -> Past {
        Past { placed: vec![false; count], latest_start: 0 }
    }
}

struct Exhaustive<'a, S: Spec> {
    spec: &'a S,
    history: &'a History<S::Op>,
    ops: &'a [Op<S::Op>],
    criterion: Criterion,
    seen: Vec<(Past, S::State)>,
}

impl<S: Spec> Exhaustive<'_, S>
where
    S::Error: std::fmt::Debug,
{
    fn completes(&mut self, past: Past, state: S::State) -> bool {
        if self.is_complete(&past) {
            return true;
        }
        let situation = (past, state);
        if self.seen.contains(&situation) {
            return false;
        }
        self.seen.push(situation.clone());
        let (past, state) = situation;
        (0..self.ops.len()).any(|next| {
            if !self.may_be_next(next, &past) {
                return false;
            }
            let (done, partway) = self.step(&state, next);
            done.into_iter().any(|state| self.completes(self.after(&past, next, true), state))
                || partway.into_iter().any(|state| self.completes(self.after(&past, next, false), state))
        })
    }

    fn is_complete(&self, past: &Past) -> bool {
        self.ops.iter().zip(&past.placed).all(|(op, &is_placed)| is_placed || op.interval.end().is_none())
    }

    fn after(&self, past: &Past, next: usize, is_done: bool) -> Past {
        let mut after = past.clone();
        after.placed[next] |= is_done;
        if self.criterion.precedence == Precedence::RealTime && self.ops.iter().any(|op| op.interval.latest().is_some())
        {
            after.latest_start = after.latest_start.max(self.ops[next].interval.start());
        }
        after
    }

    fn see(&mut self, past: Past, state: S::State) {
        let situation = (past, state);
        if !self.seen.contains(&situation) {
            self.seen.push(situation);
        }
    }

    fn step(&self, state: &S::State, op: usize) -> (Vec<S::State>, Vec<S::State>) {
        let mut successors = Successors::default();
        self.spec.step(state, &self.ops[op].call, &mut successors).expect("a spec that can be evaluated");
        successors.into_parts()
    }

    fn may_be_next(&self, next: usize, past: &Past) -> bool {
        let is_free = |other: usize| past.placed[other] || !self.precedes(&self.ops[other], &self.ops[next]);
        let is_late = self.ops[next].interval.latest().is_some_and(|latest| latest < past.latest_start);
        let has_ended = self.ops.iter().zip(&past.placed).any(|(op, &is_placed)| is_placed && op.is_last);
        let is_over = has_ended && !self.ops[next].is_last;
        !past.placed[next] && !is_late && !is_over && (0..self.ops.len()).all(is_free)
    }

    fn precedes(&self, a: &Op<S::Op>, b: &Op<S::Op>) -> bool {
        let in_process = a.process == b.process && a.index < b.index;
        let in_time = a.interval.end().is_some_and(|end| end < b.interval.start());
        let by_edge = self.history.edges().contains(&(a.id, b.id));
        let at_end = !a.is_last && b.is_last && a.interval.end().is_some();
        match self.criterion.precedence {
            Precedence::RealTime => in_process || by_edge || at_end || in_time,
            Precedence::Program => in_process || by_edge || at_end,
            Precedence::None => by_edge || at_end,
        }
    }
}
