//! Follows an order that the system itself assigns to its operations: a revision, a commit timestamp, an offset in a
//! log.
//!
//! There is no search. Operations come in by their starts, and each *ranked* operation is placed as soon as no
//! operation of a lower rank can come any more: once an operation of the same or a higher rank has ended before the
//! next one starts. A lower rank that comes later contradicts real time. So the work is linear except for two heaps
//! of the operations in flight, which are also all that is held in memory.
//!
//! Ranks may be equal: many systems give a read the revision that it saw. Among equal ranks, operations that change
//! the state come first, then operations with earlier starts.
//!
//! Operations without a rank are placed where they fit. A finished observer is placed in the first state that allows
//! it, which excludes nothing: it changes no state. An unfinished operation is placed when the next operation is not
//! allowed without it; which one to take, and when, is a guess, so a failure is not *certain* if there are any. A
//! finished operation without a rank that may change the state leaves the order incomplete, and so does one that was
//! blocked at the end.

use std::borrow::Borrow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use omnilink_history::{Op, OpId};
use rustc_hash::FxHashSet;

use crate::replay::Witness;
use crate::spec::{Spec, Successors};
use crate::trail::{Placed, Trail, Trails};

/// The state of following an order.
pub struct Follower<'s, S: Spec, R, P> {
    spec: &'s S,
    /// The states possible after the placed operations.
    states: Vec<Reached<S::State>>,
    trails: Trails,
    witness: Option<Witness>,
    ranked: BinaryHeap<Reverse<Ranked<R, P>>>,
    ends: BinaryHeap<Reverse<(u64, R, OpId)>>,
    /// The highest rank of an operation that ended before the last operation that came in started.
    horizon: Option<(R, OpId)>,
    /// Operations that have no rank and are not placed.
    free: Vec<Op<P>>,
    last: Vec<Option<(u32, OpId)>>, // For each process, its last placed operation and that operation's index there.
    is_certain: bool,
    successors: Successors<S::State>,
}

/// Why an order cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit<S> {
    /// The first operation has the higher rank, and precedes the second one.
    Time(OpId, OpId),
    /// The specification does not allow the operation where its rank places it.
    Disabled {
        /// The operation.
        op: OpId,
        /// A state in which it is not allowed; `None` if there is no initial state.
        state: Option<S>,
        /// Why it is not allowed there, if the specification gives a reason.
        why: Option<String>,
        /// False if unfinished operations without a rank may have made a difference.
        is_certain: bool,
    },
    /// An operation ended, may change the state, and has no rank.
    Unranked(OpId),
    /// There are more possible states than the limit.
    TooManyStates(OpId),
}

impl<S> Misfit<S> {
    /// Converts the state.
    pub fn map_state<T>(self, view: impl FnOnce(S) -> T) -> Misfit<T> {
        match self {
            Misfit::Time(first, second) => Misfit::Time(first, second),
            Misfit::Disabled { op, state, why, is_certain } => {
                Misfit::Disabled { op, state: state.map(view), why, is_certain }
            }
            Misfit::Unranked(op) => Misfit::Unranked(op),
            Misfit::TooManyStates(op) => Misfit::TooManyStates(op),
        }
    }
}

/// At most this many states are kept.
const MOST_STATES: usize = 1 << 10;

/// At most this many states are passed on the way through one operation.
const MOST_STEPS: usize = 1 << 14;

/// At most this many steps of operations without a rank are tried before one that is not legal.
const MOST_TRIES: usize = 1 << 12;

#[derive(Clone)]
struct Reached<S> {
    state: S,
    trail: Trail,
    latest_start: u64, // Of the operations placed so far; unfinished ones may be left out.
}

/// The position of an operation in the order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank<R> {
    given: R,
    is_observer: bool,
    op: OpId, // Operations are numbered by their starts.
}

struct Ranked<R, P> {
    rank: Rank<R>,
    op: Op<P>,
}

impl<R: Ord, P> PartialEq for Ranked<R, P> {
    fn eq(&self, other: &Self) -> bool {
        self.rank == other.rank
    }
}

impl<R: Ord, P> Eq for Ranked<R, P> {}

impl<R: Ord, P> PartialOrd for Ranked<R, P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Ord, P> Ord for Ranked<R, P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

/// `None` if the order can be followed further, otherwise why not.
type Step<S> = Result<Option<Misfit<<S as Spec>::State>>, <S as Spec>::Error>;

impl<'s, S: Spec, R: Ord + Clone, P: Borrow<S::Op>> Follower<'s, S, R, P> {
    /// Starts in the initial states, and keeps the witness if asked to.
    pub fn new(spec: &'s S, keeps_witness: bool) -> Result<Self, S::Error> {
        let (mut initial, mut trails) = (Vec::new(), Trails::new());
        spec.initial(&mut initial)?;
        let begin = |(place, state)| Reached { state, trail: trails.begin(place), latest_start: 0 };
        let states = (0..).zip(initial).map(begin).collect();
        Ok(Follower {
            spec,
            states,
            trails,
            witness: keeps_witness.then(Witness::default),
            ranked: BinaryHeap::new(),
            ends: BinaryHeap::new(),
            horizon: None,
            free: Vec::new(),
            last: Vec::new(),
            is_certain: true,
            successors: Successors::default(),
        })
    }

    /// Takes in the next operation by its start.
    pub fn push(&mut self, op: Op<P>, rank: Option<R>) -> Step<S> {
        // The system gave no place to an operation that was blocked at the end, and no guess may follow it.
        if op.is_last {
            return Ok(Some(Misfit::Unranked(op.id)));
        }
        // Without an initial state no order is legal, not even an empty one.
        if self.states.is_empty() {
            return Ok(Some(self.disabled(&op)));
        }
        let start = op.interval.start();
        while self.ends.peek().is_some_and(|Reverse((end, ..))| *end < start)
            && let Some(Reverse((_, rank, op))) = self.ends.pop()
        {
            if self.horizon.as_ref().is_none_or(|(highest, _)| *highest < rank) {
                self.horizon = Some((rank, op));
            }
        }
        if let Some(misfit) = self.place_until_horizon()? {
            return Ok(Some(misfit));
        }
        let is_observer = self.spec.is_observer(op.call.borrow());
        let is_unfinished = op.interval.is_unfinished();
        let before = rank.as_ref().and_then(|rank| self.horizon.as_ref().filter(|(highest, _)| rank < highest));
        match (rank, before.map(|before| before.1)) {
            (Some(_), Some(before)) if !is_unfinished => return Ok(Some(Misfit::Time(before, op.id))),
            (Some(given), None) => {
                if let Some(end) = op.interval.end() {
                    self.ends.push(Reverse((end, given.clone(), op.id)));
                }
                let rank = Rank { given, is_observer, op: op.id };
                self.ranked.push(Reverse(Ranked { rank, op }));
            }
            // It did not happen: its rank is lower than that of an operation that ended before.
            (Some(_), Some(_)) => {}
            // An unfinished observer changed nothing and returned nothing.
            _ if is_unfinished && is_observer => {}
            _ if is_unfinished || is_observer => {
                self.is_certain &= !is_unfinished;
                self.free.push(op);
                self.place_observers()?;
            }
            _ => return Ok(Some(Misfit::Unranked(op.id))),
        }
        Ok(None)
    }

    /// Places the remaining operations, and returns the witness if the whole order could be followed.
    pub fn finish(mut self) -> Result<Result<Witness, Misfit<S::State>>, S::Error> {
        while let Some(Reverse(Ranked { op, .. })) = self.ranked.pop() {
            if let Some(misfit) = self.place(&op)? {
                return Ok(Err(misfit));
            }
        }
        if let Some(misfit) = self.expire(|op| !op.interval.is_unfinished()) {
            return Ok(Err(misfit));
        }
        self.states.truncate(1);
        self.settle();
        Ok(Ok(self.witness.unwrap_or_default()))
    }

    fn place_until_horizon(&mut self) -> Step<S> {
        let is_due = |highest: &R, Reverse(first): &Reverse<Ranked<R, P>>| first.rank.given <= *highest;
        while self.horizon.as_ref().zip(self.ranked.peek()).is_some_and(|((highest, _), first)| is_due(highest, first))
            && let Some(Reverse(Ranked { op, .. })) = self.ranked.pop()
        {
            if let Some(misfit) = self.place(&op)? {
                return Ok(Some(misfit));
            }
        }
        Ok(None)
    }

    /// Places an operation after all placed ones.
    fn place(&mut self, op: &Op<P>) -> Step<S> {
        let (start, is_unfinished) = (op.interval.start(), op.interval.is_unfinished());
        let is_late = |free: &Op<P>| free.interval.deadline() < start || is_earlier(free, op);
        if is_unfinished && !self.may_be_next(op) {
            // It did not happen: its rank is lower than that of an earlier operation of its process.
            return Ok(None);
        } else if is_unfinished && self.free.iter().any(is_late) {
            // Either it did not happen, or it is too late for other operations; the latter is not tried.
            self.is_certain = false;
            return Ok(None);
        } else if let Some(misfit) = self.expire(is_late) {
            return Ok(Some(misfit));
        }
        let process = op.process.index();
        if self.last.len() <= process {
            self.last.resize(process + 1, None);
        }
        if let Some((index, last)) = self.last[process]
            && op.index < index
        {
            // Operations of one process that share an instant: real time does not order them, the process does.
            return Ok(Some(Misfit::Time(op.id, last)));
        }
        let mut reached = Vec::with_capacity(1);
        for place in 0..self.states.len() {
            let from = self.states[place].clone();
            self.take(&from, op, &mut reached)?;
        }
        if is_unfinished {
            // It may not have happened.
            reached.splice(..0, self.states.drain(..));
        } else if reached.is_empty() {
            reached = self.with_unfinished(op)?;
        }
        let Some(first) = reached.first() else { return Ok(Some(self.disabled(op))) };
        if reached.len() > 1 {
            let mut distinct = vec![first.clone()];
            for other in reached {
                match distinct.iter_mut().find(|known| known.state == other.state) {
                    Some(known) if known.latest_start > other.latest_start => *known = other,
                    Some(_) => {}
                    None => distinct.push(other),
                }
            }
            reached = distinct;
        }
        if reached.len() > MOST_STATES {
            return Ok(Some(Misfit::TooManyStates(op.id)));
        }
        self.states = reached;
        self.last[process] = Some((op.index, op.id));
        if self.trails.wants_settling() {
            self.settle();
        }
        self.place_observers()?;
        Ok(None)
    }

    /// Adds the states after an operation, which takes all its steps at once.
    fn take(&mut self, from: &Reached<S::State>, op: &Op<P>, out: &mut Vec<Reached<S::State>>) -> Result<(), S::Error> {
        if op.interval.deadline() < from.latest_start {
            return Ok(());
        }
        let latest_start = from.latest_start.max(op.interval.start());
        let (mut from, mut todo) = (from.clone(), Vec::new());
        let mut passed = FxHashSet::from_iter([from.state.clone()]);
        loop {
            self.spec.step(&from.state, op.call.borrow(), &mut self.successors)?;
            let (done, partway) = self.successors.drain();
            let placed = |choice, partway| Placed { op: op.id, choice, partway };
            for (choice, state) in (0..).zip(done) {
                let trail = self.trails.extend(from.trail, placed(choice, false));
                out.push(Reached { state, trail, latest_start });
            }
            for (choice, state) in (0..).zip(partway) {
                if !passed.insert(state.clone()) {
                    continue;
                }
                let trail = self.trails.extend(from.trail, placed(choice, true));
                todo.push(Reached { state, trail, latest_start });
            }
            if out.len() + todo.len() > MOST_STATES || passed.len() > MOST_STEPS {
                self.is_certain = false;
                return Ok(());
            }
            let Some(next) = todo.pop() else { return Ok(()) };
            from = next;
        }
    }

    /// The states after an operation that is not allowed by itself, with as few unfinished unranked ones before it as
    /// possible.
    fn with_unfinished(&mut self, op: &Op<P>) -> Result<Vec<Reached<S::State>>, S::Error> {
        let may_be_next = |other: &Op<P>| !is_earlier(op, other) && self.may_be_next(other);
        let is_candidate = |op: &Op<P>| op.interval.is_unfinished() && may_be_next(op);
        let candidates: Vec<usize> = (0..self.free.len()).filter(|&place| is_candidate(&self.free[place])).collect();
        let free = std::mem::take(&mut self.free);
        let mut level: Vec<(Reached<S::State>, Vec<usize>)> =
            self.states.iter().map(|reached| (reached.clone(), Vec::new())).collect();
        let (mut seen, mut tries, mut found): (Vec<S::State>, usize, Vec<_>) = (Vec::new(), 0, Vec::new());
        let mut used = Vec::new();
        'levels: while !level.is_empty() && tries < MOST_TRIES {
            for (from, taken) in std::mem::take(&mut level) {
                for &place in candidates.iter().filter(|place| !taken.contains(place)) {
                    tries += 1;
                    if tries > MOST_TRIES {
                        break 'levels;
                    }
                    let mut reached = Vec::new();
                    self.take(&from, &free[place], &mut reached)?;
                    for reached in reached {
                        if seen.contains(&reached.state) {
                            continue;
                        }
                        seen.push(reached.state.clone());
                        self.take(&reached, op, &mut found)?;
                        let taken = taken.iter().copied().chain([place]).collect();
                        if !found.is_empty() {
                            used = taken;
                            break 'levels;
                        }
                        level.push((reached, taken));
                    }
                }
            }
        }
        self.free = free;
        used.sort_unstable();
        used.into_iter().rev().for_each(|place| drop(self.free.swap_remove(place)));
        Ok(found)
    }

    /// Places unranked observers that are allowed now.
    fn place_observers(&mut self) -> Result<(), S::Error> {
        let mut place = 0;
        while place < self.free.len() {
            let op = &self.free[place];
            if op.interval.is_unfinished() || !self.may_be_next(op) {
                place += 1;
                continue;
            }
            let mut allowed = 0;
            for reached in &self.states {
                allowed += usize::from(self.spec.allows(&reached.state, op.call.borrow())?);
            }
            if allowed < self.states.len() {
                // Some states would place it, others would wait; the two cases are not kept apart.
                self.is_certain &= allowed == 0;
                place += 1;
                continue;
            }
            let (placed, start) = (Placed { op: op.id, choice: 0, partway: false }, op.interval.start());
            // An unfinished operation with a latest time may come too late now.
            self.is_certain &= !self.ranked.iter().any(|Reverse(other)| other.op.interval.deadline() < start);
            for reached in &mut self.states {
                reached.trail = self.trails.extend(reached.trail, placed);
                reached.latest_start = reached.latest_start.max(start);
            }
            self.free.swap_remove(place);
            place = 0; // Another operation of its process may be next now.
        }
        Ok(())
    }

    /// Drops unranked operations that would now be too late.
    fn expire(&mut self, is_late: impl Fn(&Op<P>) -> bool) -> Option<Misfit<S::State>> {
        if let Some(place) = self.free.iter().position(|op| !op.interval.is_unfinished() && is_late(op)) {
            let op = self.free.swap_remove(place);
            return Some(self.disabled(&op));
        }
        self.free.retain(|op| !is_late(op));
        None
    }

    /// True if every predecessor of an operation is placed. All ranked operations that ended before it started were
    /// placed when it came in; only operations of its process that share an instant with it, and unranked ones,
    /// remain.
    fn may_be_next(&self, op: &Op<P>) -> bool {
        let precedes = |other: &Op<P>| !other.interval.is_unfinished() && other.interval.precedes(op.interval);
        !self.ranked.iter().any(|Reverse(other)| is_earlier(&other.op, op))
            && !self.free.iter().any(|other| is_earlier(other, op) || precedes(other))
    }

    fn disabled(&self, op: &Op<P>) -> Misfit<S::State> {
        let state = self.states.first().map(|reached| reached.state.clone());
        let why = state.as_ref().and_then(|state| self.spec.why_not(state, op.call.borrow()));
        Misfit::Disabled { op: op.id, state, why, is_certain: self.is_certain }
    }

    fn settle(&mut self) {
        let Follower { states, trails, witness, .. } = self;
        let settled = trails.settle(states.iter_mut().map(|reached| &mut reached.trail).collect(), &|_| true);
        settled.into_iter().for_each(|placed| witness.iter_mut().for_each(|witness| witness.push(placed)));
    }
}

/// True if the process of an operation called it before the other one.
fn is_earlier<P>(op: &Op<P>, than: &Op<P>) -> bool {
    op.process == than.process && op.index < than.index
}
