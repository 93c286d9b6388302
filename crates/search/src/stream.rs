//! The walk just in time: place an operation only when its return forces it.
//!
//! Calls and returns are walked in time order (Lowe, *Testing for linearizability*, 2017). A call only opens a *slot*. At
//! the return of `r`, every configuration must have placed `r`: those that have not are extended by sequences of
//! operations in flight that end in `r`. A configuration is the set of slots it has placed and a state, so its size is
//! the number of operations in flight, and the walk reads a history as a stream.
//!
//! Boxes are closed: at one instant, calls come before returns. A process may start an operation at the very instant at
//! which its last one ends; the two are then in flight together, and the later one waits for the earlier.
//!
//! What need not be tried, and why nothing is lost:
//! - *Dominance.* Of two configurations with equal states that have placed the same finished mutators, the one that has
//!   placed more observers and used up fewer never-finished operations can do whatever the other can.
//! - *Independence.* On the way to `r`, operations that commute with everything `r` depends on can as well be placed
//!   after it. What `r` depends on is found by following pairs that do not commute, through mutators and observers.
//! - *Symmetry.* Of two equal operations in flight, the one that ends first can be placed first: swapping them changes
//!   nothing but their names.

use std::hash::Hasher;

use history::{Op, OpId};

use crate::ring::Ring;
use crate::slots::{Slots, Wide};
use crate::walk::{Move, Walk};

pub(crate) struct Stream<P, C> {
    slots: Vec<Slot<P, C>>,
    free: Vec<usize>,
    returned: Ring<P>,        // Those whose place in the order is not settled yet.
    ends: Vec<(u64, usize)>,  // The end and slot of operations in flight, latest first.
    last: Vec<Option<usize>>, // For each process, the slot of its last operation if still in flight.
    in_flight: C,
    open: C, // Operations in flight that some configuration may not have placed.
    observers: C,
    unfinished: C, // Never-finished operations in flight; all are mutators, as an observer tells nothing then.
    chained: C,    // Operations whose predecessor in the same process is still in flight.
    goal: usize,
    must_reduce: bool,
}

struct Slot<P, C> {
    op: Option<Op<P>>, // None between uses.
    is_settled: bool,
    before: Option<usize>, // Its predecessor in the same process, if in flight.
    tied: C,               // Operations in flight that do not commute with it.
    twins: C,              // Equal operations in flight that end sooner.
}

/// What a stream needs to know about operations to leave out what need not be tried.
pub(crate) trait Relate<P> {
    fn is_observer(&self, op: &P) -> bool;
    fn commute(&self, a: &P, b: &P) -> bool;
    fn are_equal(&self, a: &P, b: &P) -> bool;
}

impl<P, C: Slots> Stream<P, C> {
    pub(crate) fn new(must_reduce: bool) -> Stream<P, C> {
        Stream {
            slots: Vec::new(),
            free: Vec::new(),
            returned: Ring::new(),
            ends: Vec::new(),
            last: Vec::new(),
            in_flight: C::default(),
            open: C::default(),
            observers: C::default(),
            unfinished: C::default(),
            chained: C::default(),
            goal: 0,
            must_reduce,
        }
    }

    /// True if there is no slot for another operation.
    pub(crate) fn is_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() == C::CAPACITY
    }

    /// Opens a slot for an operation. Names it if it is an observer, which configurations may place at once; if some do
    /// not, [`Stream::keep_open`] has to be told.
    pub(crate) fn call(&mut self, op: Op<P>, relate: &impl Relate<P>) -> Option<Move> {
        let is_observer = self.must_reduce && relate.is_observer(&op.call);
        if is_observer && op.interval.is_unfinished() {
            return None;
        }
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let before = self.predecessor(&op, slot);
        self.in_flight.insert(slot);
        match op.interval.end() {
            Some(end) => {
                let place = self.ends.iter().rposition(|&other| other > (end, slot)).map_or(0, |place| place + 1);
                self.ends.insert(place, (end, slot));
            }
            None => self.unfinished.insert(slot),
        }
        let entry = Slot { op: Some(op), is_settled: false, before, tied: C::default(), twins: C::default() };
        if slot == self.slots.len() {
            self.slots.push(entry)
        } else {
            self.slots[slot] = entry
        }
        if is_observer {
            self.observers.insert(slot);
            return Some(Move(slot as u32));
        }
        self.relate(slot, relate);
        None
    }

    /// Notes that a configuration has not placed this observer.
    pub(crate) fn keep_open(&mut self, observer: Move, relate: &impl Relate<P>) {
        self.relate(observer.0 as usize, relate);
    }

    /// Makes the next return before this time the goal. `None` if there is none.
    pub(crate) fn next_return(&mut self, before: u64) -> Option<OpId> {
        let (_, slot) = self.ends.pop_if(|&mut (end, _)| end < before)?;
        self.goal = slot;
        Some(self.at(slot).id)
    }

    /// Closes the slot of the goal, which every configuration has placed and must now forget.
    pub(crate) fn retire_goal(&mut self) -> Retired {
        let slot = self.goal;
        let sets = [&mut self.in_flight, &mut self.open, &mut self.observers, &mut self.unfinished, &mut self.chained];
        sets.into_iter().for_each(|set| set.remove(slot));
        for other in self.open.iter() {
            self.slots[other].tied.remove(slot);
            self.slots[other].twins.remove(slot);
        }
        for other in self.chained.clone().iter() {
            if self.slots[other].before == Some(slot) {
                self.slots[other].before = None;
                self.chained.remove(other);
            }
        }
        let op = self.slots[slot].op.take().expect("an operation in flight");
        let last = &mut self.last[op.process.index()];
        if *last == Some(slot) {
            *last = None;
        }
        if !self.slots[slot].is_settled {
            self.returned.insert(op);
        }
        self.free.push(slot);
        Retired(slot)
    }

    /// Shows an operation that has found its place in the order, and lets go of it if that place is final.
    pub(crate) fn settle<R>(&mut self, id: OpId, is_final: bool, show: impl FnOnce(&Op<P>) -> R) -> R {
        if is_final && let Some(op) = self.returned.remove(id) {
            return show(&op);
        }
        if let Some(op) = self.returned.get(id) {
            return show(op);
        }
        let is_it = |slot: &usize| self.at(*slot).id == id;
        let slot = self.in_flight.iter().find(is_it).expect("an operation that has returned or is in flight");
        self.slots[slot].is_settled |= is_final;
        show(self.at(slot))
    }

    /// The operations in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = OpId> {
        self.in_flight.iter().map(|slot| self.at(slot).id)
    }

    /// The operations in flight that a cut has placed.
    pub(crate) fn placed(&self, cut: &C) -> impl Iterator<Item = OpId> {
        cut.iter().map(|slot| self.at(slot).id)
    }

    fn at(&self, slot: usize) -> &Op<P> {
        self.slots[slot].op.as_ref().expect("an operation in flight")
    }

    fn predecessor(&mut self, op: &Op<P>, slot: usize) -> Option<usize> {
        let process = op.process.index();
        if self.last.len() <= process {
            self.last.resize(process + 1, None);
        }
        let before = self.last[process].replace(slot)?;
        // Swapping the earlier one with a twin that ends sooner could now put it behind the later one.
        self.slots[before].twins = C::default();
        self.chained.insert(slot);
        Some(before)
    }

    /// Notes how the operation of a slot relates to the other open ones: which it does not commute with, and which are
    /// twins that come first.
    fn relate(&mut self, slot: usize, relate: &impl Relate<P>) {
        let open = self.open.clone();
        self.open.insert(slot);
        if !self.must_reduce {
            return;
        }
        let is_observer = self.observers.contains(slot);
        for other in open.iter() {
            let (op, rival, before) = (self.at(slot), self.at(other), self.slots[slot].before);
            let is_tied = before == Some(other) || !relate.commute(&op.call, &rival.call);
            let is_twin = !is_observer && relate.are_equal(&op.call, &rival.call);
            let rival_ends_first = rival.interval.deadline() <= op.interval.deadline();
            if is_tied {
                self.slots[slot].tied.insert(other);
                self.slots[other].tied.insert(slot);
            }
            // A first twin that waits for its predecessor cannot be placed in place of the second.
            match (is_twin, rival_ends_first) {
                (true, true) if !self.chained.contains(other) => self.slots[slot].twins.insert(other),
                (true, false) if before.is_none() => self.slots[other].twins.insert(slot),
                _ => {}
            }
        }
    }

    /// True if a cut has placed what must come before this operation in its process.
    pub(crate) fn is_ready(&self, cut: &C, next: Move) -> bool {
        self.slots[next.0 as usize].before.is_none_or(|before| cut.contains(before))
    }

    /// What the goal depends on: it, and whatever does not commute with something it depends on.
    fn needed(&self, unplaced: &C) -> C {
        let mut needed = C::default().with(self.goal);
        let mut fresh = needed.clone();
        while !fresh.is_empty() {
            let reached = fresh.iter().fold(C::default(), |reached, slot| reached.or(&self.slots[slot].tied));
            fresh = reached.and(unplaced).minus(&needed);
            needed = needed.or(&fresh);
        }
        needed
    }

    fn core(&self, cut: &C) -> C {
        if self.must_reduce { cut.minus(&self.observers).minus(&self.unfinished) } else { cut.clone() }
    }
}

impl<P> Stream<P, u64> {
    /// The same stream with room for more.
    pub(crate) fn widen(self) -> Stream<P, Wide> {
        let widen = |slot: Slot<P, u64>| Slot {
            op: slot.op,
            is_settled: slot.is_settled,
            before: slot.before,
            tied: slot.tied.into(),
            twins: slot.twins.into(),
        };
        Stream {
            slots: self.slots.into_iter().map(widen).collect(),
            free: self.free,
            returned: self.returned,
            ends: self.ends,
            last: self.last,
            in_flight: self.in_flight.into(),
            open: self.open.into(),
            observers: self.observers.into(),
            unfinished: self.unfinished.into(),
            chained: self.chained.into(),
            goal: self.goal,
            must_reduce: self.must_reduce,
        }
    }
}

/// A slot that no operation uses any more.
pub(crate) struct Retired(usize);

impl Retired {
    pub(crate) fn forget_in(&self, cut: &mut impl Slots) {
        cut.remove(self.0);
    }
}

impl<P, C: Slots> Walk<P> for Stream<P, C> {
    type Cut = C;

    fn is_met(&self, cut: &C) -> bool {
        cut.contains(self.goal)
    }

    fn moves(&self, cut: &C, thorough: bool, out: &mut Vec<Move>) {
        let unplaced = self.in_flight.minus(cut);
        let tried = if thorough || !self.must_reduce { unplaced.clone() } else { self.needed(&unplaced) };
        for slot in tried.minus(&self.observers).iter() {
            let is_next_twin = self.slots[slot].twins.and(&tried).is_empty();
            if is_next_twin && self.is_ready(cut, Move(slot as u32)) {
                out.push(Move(slot as u32));
            }
        }
    }

    fn observers(&self, cut: &C, after: Option<Move>, out: &mut Vec<Move>) {
        let mut unplaced = self.observers.minus(cut);
        if let Some(after) = after {
            unplaced = unplaced.and(&self.slots[after.0 as usize].tied);
        }
        out.extend(unplaced.iter().filter(|&slot| self.is_ready(cut, Move(slot as u32))).map(|slot| Move(slot as u32)));
    }

    fn has_chains(&self) -> bool {
        !self.chained.is_empty()
    }

    fn op(&self, next: Move) -> &Op<P> {
        self.at(next.0 as usize)
    }

    fn place(&self, cut: &C, next: Move) -> C {
        cut.with(next.0 as usize)
    }

    fn waiting(&self, cut: &C) -> Vec<(OpId, OpId)> {
        let unplaced = self.in_flight.minus(cut);
        let waits = |slot: usize| self.slots[slot].before.filter(|&before| !cut.contains(before));
        let op = |slot: usize| self.at(slot).id;
        unplaced.iter().filter_map(|slot| waits(slot).map(|before| (op(slot), op(before)))).collect()
    }

    fn hash_core<H: Hasher>(&self, cut: &C, hasher: &mut H) {
        self.core(cut).hash(hasher);
    }

    fn covers(&self, a: &C, b: &C) -> bool {
        if !self.must_reduce {
            return a == b;
        }
        self.core(a) == self.core(b) && b.and(&self.observers).is_subset(a) && a.and(&self.unfinished).is_subset(b)
    }
}
