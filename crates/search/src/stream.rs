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

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use history::{Op, OpId};

use crate::slots::SlotSet;
use crate::walk::{Move, Walk};
use crate::window::Window;

pub(crate) struct Stream<P> {
    window: Window<P>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    returns: BinaryHeap<Reverse<(u64, usize)>>, // The end and slot of each operation in flight that has an end.
    last: Vec<Option<usize>>,                   // For each process, the slot of its last operation if still in flight.
    in_flight: SlotSet,
    observers: SlotSet,
    unfinished: SlotSet, // Never-finished operations in flight; all are mutators, as an observer tells nothing then.
    chained: SlotSet,    // Operations whose predecessor in the same process is still in flight.
    goal: usize,
    must_reduce: bool,
}

struct Slot {
    op: OpId,
    before: Option<usize>, // Its predecessor in the same process, if in flight.
    tied: SlotSet,         // Operations in flight that do not commute with it.
    twins: SlotSet,        // Equal operations in flight that end sooner.
}

/// What a stream needs to know about operations to leave out what need not be tried.
pub(crate) trait Relate<P> {
    fn is_observer(&self, op: &P) -> bool;
    fn commute(&self, a: &P, b: &P) -> bool;
    fn are_equal(&self, a: &P, b: &P) -> bool;
}

impl<P> Stream<P> {
    pub(crate) fn new(must_reduce: bool) -> Stream<P> {
        Stream {
            window: Window::new(),
            slots: Vec::new(),
            free: Vec::new(),
            returns: BinaryHeap::new(),
            last: Vec::new(),
            in_flight: SlotSet::default(),
            observers: SlotSet::default(),
            unfinished: SlotSet::default(),
            chained: SlotSet::default(),
            goal: 0,
            must_reduce,
        }
    }

    /// Opens a slot for an operation. True if it is an observer, which configurations may place at once.
    pub(crate) fn call(&mut self, op: Op<P>, relate: &impl Relate<P>) -> bool {
        let is_observer = self.must_reduce && relate.is_observer(&op.call);
        if is_observer && op.interval.is_unfinished() {
            return false;
        }
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let before = self.predecessor(&op, slot);
        let entry = Slot { op: op.id, before, tied: SlotSet::default(), twins: SlotSet::default() };
        if slot == self.slots.len() {
            self.slots.push(entry)
        } else {
            self.slots[slot] = entry
        }
        if self.must_reduce {
            self.relate(slot, &op, is_observer, relate);
        }
        self.in_flight.insert(slot);
        if is_observer {
            self.observers.insert(slot);
        }
        match op.interval.end() {
            Some(end) => self.returns.push(Reverse((end, slot))),
            None => self.unfinished.insert(slot),
        }
        self.window.add(op);
        is_observer
    }

    /// Makes the next return before this time the goal. `None` if there is none.
    pub(crate) fn next_return(&mut self, before: u64) -> Option<OpId> {
        let &Reverse((end, slot)) = self.returns.peek()?;
        if end >= before {
            return None;
        }
        self.returns.pop();
        self.goal = slot;
        Some(self.slots[slot].op)
    }

    /// Closes the slot of the goal, which every configuration has placed and must now forget.
    pub(crate) fn retire_goal(&mut self) -> Retired {
        let slot = self.goal;
        let sets = [&mut self.in_flight, &mut self.observers, &mut self.unfinished, &mut self.chained];
        sets.into_iter().for_each(|set| set.remove(slot));
        for other in self.in_flight.iter() {
            let other_slot = &mut self.slots[other];
            other_slot.tied.remove(slot);
            other_slot.twins.remove(slot);
            if other_slot.before == Some(slot) {
                other_slot.before = None;
                self.chained.remove(other);
            }
        }
        let op = self.slots[slot].op;
        let last = &mut self.last[self.window.get(op).process.index()];
        if *last == Some(slot) {
            *last = None;
        }
        self.free.push(slot);
        self.window.set_returned(op);
        Retired(slot)
    }

    /// How many operations are in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = OpId> {
        self.in_flight.iter().map(|slot| self.slots[slot].op)
    }

    pub(crate) fn window(&mut self) -> &mut Window<P> {
        &mut self.window
    }

    fn predecessor(&mut self, op: &Op<P>, slot: usize) -> Option<usize> {
        let process = op.process.index();
        if self.last.len() <= process {
            self.last.resize(process + 1, None);
        }
        let before = self.last[process].replace(slot)?;
        // Swapping the earlier one with a twin that ends sooner could now put it behind the later one.
        self.slots[before].twins = SlotSet::default();
        self.chained.insert(slot);
        Some(before)
    }

    /// Notes how the operation of a new slot relates to those in flight.
    fn relate(&mut self, slot: usize, op: &Op<P>, is_observer: bool, relate: &impl Relate<P>) {
        for other in self.in_flight.iter() {
            let rival = self.window.get(self.slots[other].op);
            if rival.process == op.process || !relate.commute(&op.call, &rival.call) {
                self.slots[slot].tied.insert(other);
                self.slots[other].tied.insert(slot);
            }
            if !is_observer && relate.are_equal(&op.call, &rival.call) {
                let rival_ends_first = rival.interval.deadline() <= op.interval.deadline();
                let (first, second) = if rival_ends_first { (other, slot) } else { (slot, other) };
                // A first twin that waits for its predecessor cannot be placed in place of the second.
                if !self.chained.contains(first) {
                    self.slots[second].twins.insert(first);
                }
            }
        }
    }

    /// What the goal depends on: it, and whatever does not commute with something it depends on.
    fn needed(&self, unplaced: &SlotSet) -> SlotSet {
        let mut needed = SlotSet::default().with(self.goal);
        let mut fresh = needed.clone();
        while !fresh.is_empty() {
            let reached = fresh.iter().fold(SlotSet::default(), |reached, slot| reached.or(&self.slots[slot].tied));
            fresh = reached.and(unplaced).minus(&needed);
            needed = needed.or(&fresh);
        }
        needed
    }

    fn is_ready(&self, slot: usize, cut: &SlotSet) -> bool {
        self.slots[slot].before.is_none_or(|before| cut.contains(before))
    }

    fn core(&self, cut: &SlotSet) -> SlotSet {
        if self.must_reduce { cut.minus(&self.observers).minus(&self.unfinished) } else { cut.clone() }
    }
}

/// A slot that no operation uses any more.
pub(crate) struct Retired(usize);

impl Retired {
    pub(crate) fn forget_in(&self, cut: &mut SlotSet) {
        cut.remove(self.0);
    }
}

impl<P> Walk<P> for Stream<P> {
    type Cut = SlotSet;

    fn is_met(&self, cut: &SlotSet) -> bool {
        cut.contains(self.goal)
    }

    fn moves(&self, cut: &SlotSet, thorough: bool, out: &mut Vec<Move>) {
        let unplaced = self.in_flight.minus(cut);
        let tried = if thorough || !self.must_reduce { unplaced.clone() } else { self.needed(&unplaced) };
        for slot in tried.minus(&self.observers).iter() {
            let is_next_twin = self.slots[slot].twins.and(&tried).is_empty();
            if is_next_twin && self.is_ready(slot, cut) {
                out.push(Move(slot as u32));
            }
        }
    }

    fn observers(&self, cut: &SlotSet, out: &mut Vec<Move>) {
        let unplaced = self.observers.minus(cut);
        out.extend(unplaced.iter().filter(|&slot| self.is_ready(slot, cut)).map(|slot| Move(slot as u32)));
    }

    fn has_chains(&self) -> bool {
        !self.chained.is_empty()
    }

    fn op(&self, next: Move) -> &Op<P> {
        self.window.get(self.slots[next.0 as usize].op)
    }

    fn place(&self, cut: &SlotSet, next: Move) -> SlotSet {
        cut.with(next.0 as usize)
    }

    fn waiting(&self, cut: &SlotSet) -> Vec<(OpId, OpId)> {
        let unplaced = self.in_flight.minus(cut);
        let waits = |slot: usize| self.slots[slot].before.filter(|&before| !cut.contains(before));
        let op = |slot: usize| self.slots[slot].op;
        unplaced.iter().filter_map(|slot| waits(slot).map(|before| (op(slot), op(before)))).collect()
    }

    fn hash_core<H: Hasher>(&self, cut: &SlotSet, hasher: &mut H) {
        self.core(cut).hash(hasher);
    }

    fn covers(&self, a: &SlotSet, b: &SlotSet) -> bool {
        if !self.must_reduce {
            return a == b;
        }
        self.core(a) == self.core(b) && b.and(&self.observers).is_subset(a) && a.and(&self.unfinished).is_subset(b)
    }
}
