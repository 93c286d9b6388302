//! Confirms a witness without searching.
//!
//! A witness is an order of operations, with the choice taken wherever the spec leaves one. Replaying it takes one
//! pass and three checks that share nothing with the search: the spec allows each step; each process runs its
//! operations in order; and no operation is placed after one that started later than it ended. The last is enough for
//! real time: if `a` ended before `b` started and `b` came first, then `a` is placed after a later start. Where the
//! history has edges, the first operation of each must be placed before the second. No operation follows one that was
//! blocked at the end, except others that were. Finally, the number of placed operations must equal the number of
//! finished ones.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use omnilink_history::{History, Op, OpId, Precedence};
use thiserror::Error;

use crate::criterion::Criterion;
use crate::spec::{Spec, Successors};
use crate::trail::{INITIAL, Placed};

/// An order of operations that explains a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    initial: u32,
    order: Vec<OpId>,
    branches: Vec<(usize, Placed)>, // Steps that are not the first choice or not the whole operation, by place.
}

/// Why a witness is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unconfirmed {
    /// The spec does not have this initial state.
    #[error("there is no initial state number {0}")]
    Initial(u32),
    /// The spec does not allow a step.
    #[error("the spec does not allow {op} as step {step}")]
    Disabled {
        /// The operation.
        op: OpId,
        /// Its place in the witness.
        step: usize,
    },
    /// An operation is placed out of order.
    #[error("{op} as step {step} comes after an operation that it precedes")]
    OutOfOrder {
        /// The operation.
        op: OpId,
        /// Its place in the witness.
        step: usize,
    },
    /// Operations are missing.
    #[error("{placed} finished operations are placed out of {finished}")]
    Incomplete {
        /// The number of placed operations.
        placed: u64,
        /// The number of finished operations.
        finished: u64,
    },
}

/// Why a replay failed: the spec failed, or the witness is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError<E> {
    /// The spec could not compute a step.
    Spec(E),
    /// The witness is invalid.
    Unconfirmed(Unconfirmed),
}

impl<E> From<Unconfirmed> for ReplayError<E> {
    fn from(error: Unconfirmed) -> ReplayError<E> {
        ReplayError::Unconfirmed(error)
    }
}

impl Witness {
    /// Which initial state it starts from, counted from zero.
    pub fn initial(&self) -> u32 {
        self.initial
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True if it has no steps.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The steps, first to last.
    pub fn steps(&self) -> impl Iterator<Item = Placed> {
        let mut branches = self.branches.iter().peekable();
        self.order.iter().enumerate().map(move |(place, &op)| match branches.next_if(|branch| branch.0 == place) {
            Some(&(_, placed)) => placed,
            None => Placed { op, choice: 0, partway: false },
        })
    }

    /// A witness in which every operation takes one step and every choice is the first.
    pub fn from_order(order: Vec<OpId>) -> Witness {
        Witness { initial: 0, order, branches: Vec::new() }
    }

    pub(crate) fn push(&mut self, placed: Placed) {
        if placed.op == INITIAL {
            self.initial = placed.choice;
            return;
        }
        if placed.choice != 0 || placed.partway {
            self.branches.push((self.order.len(), placed));
        }
        self.order.push(placed.op);
    }
}

/// Replays a witness of a history in which every operation belongs to one part of the object.
///
/// The state of such an object is a state of each part, and a step reads and changes its own part only. So the spec
/// gets the state of that part alone, which takes as long for many parts as for a few. The order is checked over all
/// operations, as always.
///
/// # Panics
///
/// If the history has edges, or an operation without a part.
pub fn replay_parts<S: Spec, K: Eq + Hash>(
    spec: &S,
    history: &History<S::Op>,
    criterion: Criterion,
    witness: &Witness,
    part: impl Fn(&S::Op) -> Option<K>,
) -> Result<(), ReplayError<S::Error>> {
    assert!(history.edges().is_empty(), "edges connect parts");
    let initial = initial(spec, witness.initial)?;
    let mut states: HashMap<K, S::State> = HashMap::new();
    let mut order = Order::new(criterion);
    let mut successors = Successors::default();
    for placed in witness.steps() {
        let op = history.op(placed.op);
        let step = order.place(op, placed)?;
        let part = part(&op.call).expect("an operation of one part");
        let state = states.entry(part).or_insert_with(|| initial.clone());
        *state = after(spec, state, &op.call, placed, step, &mut successors)?;
    }
    Ok(order.finish(finished(history))?)
}

/// Replays a witness of a whole history.
pub fn replay<S: Spec>(
    spec: &S,
    history: &History<S::Op>,
    criterion: Criterion,
    witness: &Witness,
) -> Result<(), ReplayError<S::Error>> {
    let mut replay = Replay::new(spec, None, criterion);
    replay.begin(witness.initial)?;
    let mut missing: HashMap<OpId, HashSet<OpId>> = HashMap::new(); // Operations that edges put before this one.
    for &(first, second) in history.edges() {
        missing.entry(second).or_default().insert(first);
    }
    for (step, placed) in witness.steps().enumerate() {
        let op = placed.op;
        if missing.get(&op).is_some_and(|missing| !missing.is_empty()) {
            return Err(Unconfirmed::OutOfOrder { op, step }.into());
        }
        replay.step(history.op(op), placed)?;
        if !placed.partway {
            let edges = history.edges(); // By first operation.
            let from = edges.partition_point(|edge| edge.0 < op);
            for (_, second) in edges[from..].iter().take_while(|edge| edge.0 == op) {
                missing.entry(*second).or_default().remove(&op);
            }
        }
    }
    Ok(replay.finish(finished(history))?)
}

fn finished<T>(history: &History<T>) -> u64 {
    history.ops().iter().filter(|op| !op.interval.is_unfinished()).count() as u64
}

/// The initial state with this number.
pub(crate) fn initial<S: Spec>(spec: &S, number: u32) -> Result<S::State, ReplayError<S::Error>> {
    let mut states = Vec::new();
    spec.initial(&mut states).map_err(ReplayError::Spec)?;
    Ok(states.into_iter().nth(number as usize).ok_or(Unconfirmed::Initial(number))?)
}

/// The state after a step.
fn after<S: Spec>(
    spec: &S,
    state: &S::State,
    op: &S::Op,
    placed: Placed,
    step: usize,
    successors: &mut Successors<S::State>,
) -> Result<S::State, ReplayError<S::Error>> {
    spec.step(state, op, successors).map_err(ReplayError::Spec)?;
    let (mut done, mut partway) = successors.drain();
    let choice = placed.choice as usize;
    let state = if placed.partway { partway.nth(choice) } else { done.nth(choice) };
    Ok(state.ok_or(Unconfirmed::Disabled { op: placed.op, step })?)
}

/// How far a process is.
#[derive(Clone, Copy, Debug, Default)]
struct Furthest {
    next: u32,          // The least place of its next step.
    start: u64,         // The latest start of an operation with a step.
    done: Option<OpId>, // The last operation that is over.
}

/// A replay in progress, for a search that settles its witness piece by piece.
pub(crate) struct Replay<'s, S: Spec> {
    spec: &'s S,
    begin: Option<Vec<S::State>>,
    state: Option<S::State>,
    order: Order,
    successors: Successors<S::State>,
}

impl<'s, S: Spec> Replay<'s, S> {
    /// Begins in one of these states, or in an initial state of the spec.
    pub(crate) fn new(spec: &'s S, begin: Option<Vec<S::State>>, criterion: Criterion) -> Replay<'s, S> {
        Replay { spec, begin, state: None, order: Order::new(criterion), successors: Successors::default() }
    }

    pub(crate) fn begin(&mut self, number: u32) -> Result<(), ReplayError<S::Error>> {
        self.state = Some(match self.begin.take() {
            Some(states) => states.into_iter().nth(number as usize).ok_or(Unconfirmed::Initial(number))?,
            None => initial(self.spec, number)?,
        });
        Ok(())
    }

    pub(crate) fn step<P: Borrow<S::Op>>(&mut self, op: &Op<P>, placed: Placed) -> Result<(), ReplayError<S::Error>> {
        let step = self.order.place(op, placed)?;
        let state = self.state.as_ref().expect("a replay that has begun");
        self.state = Some(after(self.spec, state, op.call.borrow(), placed, step, &mut self.successors)?);
        Ok(())
    }

    pub(crate) fn finish(&self, finished: u64) -> Result<(), Unconfirmed> {
        self.order.finish(finished)
    }
}

/// Checks the order of the steps, without the spec.
struct Order {
    criterion: Criterion,
    latest_start: u64,
    furthest: Vec<Furthest>, // For each process.
    done: HashSet<OpId>,     // Operations that are over, where those of a process are not ordered.
    has_ended: bool,         // An operation that was blocked at the end is over.
    steps: usize,
    placed: u64, // Finished operations placed.
}

impl Order {
    fn new(criterion: Criterion) -> Order {
        let (furthest, done) = (Vec::new(), HashSet::new());
        Order { criterion, latest_start: 0, furthest, done, has_ended: false, steps: 0, placed: 0 }
    }

    /// Places an operation, and returns the number of the step.
    fn place<P>(&mut self, op: &Op<P>, placed: Placed) -> Result<usize, Unconfirmed> {
        let step = self.steps;
        self.steps += 1;
        let process = op.process.index();
        if self.furthest.len() <= process {
            self.furthest.resize(process + 1, Furthest::default());
        }
        let Furthest { next, start, done } = self.furthest[process];
        let is_late = match self.criterion.precedence {
            // In a process that goes on after an unfinished operation, later ones need not follow it.
            Precedence::RealTime => {
                let is_over = done == Some(op.id) || op.interval.end().is_some_and(|end| end <= start);
                op.interval.deadline() < self.latest_start || (op.index < next && is_over)
            }
            Precedence::Program => op.index < next,
            Precedence::None if placed.partway => self.done.contains(&op.id),
            Precedence::None => !self.done.insert(op.id),
        };
        if is_late || self.has_ended && !op.is_last {
            return Err(Unconfirmed::OutOfOrder { op: op.id, step });
        }
        self.has_ended |= op.is_last && !placed.partway;
        self.latest_start = self.latest_start.max(op.interval.start());
        self.furthest[process] = Furthest {
            next: next.max(op.index + u32::from(!placed.partway)),
            start: start.max(op.interval.start()),
            done: if placed.partway { done } else { Some(op.id) },
        };
        self.placed += u64::from(!placed.partway && !op.interval.is_unfinished());
        Ok(step)
    }

    fn finish(&self, finished: u64) -> Result<(), Unconfirmed> {
        if self.placed == finished { Ok(()) } else { Err(Unconfirmed::Incomplete { placed: self.placed, finished }) }
    }
}
