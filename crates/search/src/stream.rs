//! The just-in-time walk: place an operation only when its return forces it.
//!
//! Calls and returns are processed in time order (Lowe, *Testing for linearizability*, 2017). A call only opens a
//! *slot*. At the return of `r`, every configuration must have placed `r`: those that have not are extended by
//! sequences of operations in flight that end in `r`. A configuration is the set of its placed slots and a state, so
//! its size is the number of operations in flight, and the walk reads a history as a stream.
//!
//! Intervals are closed: at one instant, calls come before returns. A process may start an operation at the very
//! instant at which its last one ends; the two are then in flight together, and the later one waits for the earlier
//! ([`Op::follows`]). No operation waits for an unfinished one, nor for one that had not returned when it was called: a
//! client that goes on after a timeout, or that has several operations in flight, is one process.
//!
//! An unfinished operation can be placed at any time after its start, or never. At its latest time, if it has one, it
//! *expires*: configurations that have not placed it continue without it, and those in which it is placed at the last
//! moment are added. All unfinished operations expire before an operation that was blocked at the end.
//!
//! Cases that need not be tried, and why no order is lost:
//! - *Dominance.* Of two configurations with equal states, the one that has placed more observers, used up fewer of
//!   the other operations and satisfied more of those that must be placed can do everything the other can.
//! - *Independence.* On the way to `r`, operations that commute with everything `r` depends on can as well be placed
//!   after it. The dependencies of `r` are found by following pairs that do not commute, through mutators and
//!   observers.
//! - *Symmetry.* Of two equal operations in flight, the one that ends first can be placed first: swapping them
//!   changes nothing but their names. Every operation that must follow the second starts at its end or later, so
//!   after the end of the first, and follows both. If they end at the same instant, the process of the second may
//!   start its next operation just then, which need not follow the first; so they are not swapped, unless the second
//!   is unfinished, and no operation waits for it.
//! - *Absorption.* Let `x` overwrite `w`, and let `w` be enabled everywhere. Then `w` directly before `x` changes
//!   nothing: once `x` is placed, every such `w` in flight counts as placed there and is *optional*. It may still be
//!   used for its effect until it returns; then configurations in which it is left absorbed stay, and those in which
//!   it is used at the last moment are added. A configuration then consists of its placed operations, its optional
//!   ones, and a state. If the next operation of the same process is called before that, the configuration splits
//!   there.
//! - *Reasons.* On the way to the goal, an operation `y` other than the goal is followed by another one, `x`. If `x`
//!   overwrites `y`, a configuration with `x` alone covers the one with both: `y` is optional there, or unfinished.
//!   So `y` is tried only if some `x` in flight does not overwrite it and may be enabled after it.
//! - *Delay.* Let `y` be unfinished, and let `x` follow it directly. If `x` leads to the same state without `y`, then
//!   `y` need not be placed at all; if it does with `y` after it, then `y` can be placed later. If `x` is unfinished
//!   too, the two are swapped only one way, by deadline and number, or both orders would be lost. Take a completion
//!   of a configuration with the fewest steps of unfinished operations, among these one with the fewest before the
//!   goal, among these one with the fewest pairs of such an operation before another before the goal, and among these
//!   one with the fewest pairs of such operations that are out of order: neither rule applies to it anywhere, so it
//!   is found. The other reductions make none of the four numbers larger. This holds for single steps, so for
//!   operations of several too.

use std::hash::Hasher;

use omnilink_history::{Op, OpId};

use crate::ring::Ring;
use crate::slots::{Slots, Wide};
use crate::walk::{Move, Reason, Walk};

/// Which of the operations in flight a configuration has placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotCut<C> {
    /// Operations that are placed, including their effect.
    placed: C,
    /// Operations that count as placed and may still be used for their effect.
    optional: C, // Invariant: disjoint from `placed`; all are finished, total and not observers.
}

pub(crate) struct Stream<P, C> {
    slots: Vec<Slot<P, C>>,
    free: Vec<usize>,
    returned: Ring<P>,        // Operations whose place in the order is not settled yet.
    expired: Vec<Op<P>>,      // Likewise; some configurations may have placed them.
    ends: Vec<(u64, usize)>,  // The deadline and slot of operations in flight that have one, latest first.
    last: Vec<Option<usize>>, // For each process, the slot of its last finished operation if still in flight.
    in_flight: C,
    open: C, // Operations in flight that some configuration may not have placed.
    observers: C,
    unfinished: C, // Unfinished operations in flight; all are mutators, as an unfinished observer reveals nothing.
    chained: C,    // Operations whose predecessor in the same process is still in flight.
    leading: C,    // Those predecessors.
    absorbable: C, // Operations in flight that may be optional in some configuration.
    goal: usize,
    must_reduce: bool,
}

struct Slot<P, C> {
    op: Option<Op<P>>, // `None` between uses.
    is_settled: bool,
    before: Option<usize>, // Its predecessor in the same process, if in flight.
    tied: C,               // Operations in flight that do not commute with it.
    twins: C,              // Equal operations in flight that end sooner.
    overwrites: C,         // Operations that it absorbs.
    reasons: C,            // Operations that may be a reason to place it, if they follow directly.
}

/// Relations between operations, which justify the reductions.
pub(crate) trait Relate<P> {
    fn is_observer(&self, op: &P) -> bool;
    fn commute(&self, a: &P, b: &P) -> bool;
    fn are_equal(&self, a: &P, b: &P) -> bool;
    fn is_total(&self, op: &P) -> bool;
    fn overwrites(&self, later: &P, earlier: &P) -> bool;
    fn precludes(&self, earlier: &P, later: &P) -> bool;
}

impl<P, C: Slots> Stream<P, C> {
    pub(crate) fn new(must_reduce: bool) -> Stream<P, C> {
        Stream {
            slots: Vec::new(),
            free: Vec::new(),
            returned: Ring::new(),
            expired: Vec::new(),
            ends: Vec::new(),
            last: Vec::new(),
            in_flight: C::default(),
            open: C::default(),
            observers: C::default(),
            unfinished: C::default(),
            chained: C::default(),
            leading: C::default(),
            absorbable: C::default(),
            goal: 0,
            must_reduce,
        }
    }

    /// True if there is no slot for another operation.
    pub(crate) fn is_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() == C::CAPACITY
    }

    /// Opens a slot for an operation. Returns its move if it is an observer, which configurations may place at once;
    /// if some do not, the caller must call [`Stream::keep_open`].
    pub(crate) fn call(&mut self, op: Op<P>, relate: &impl Relate<P>) -> Option<Move> {
        let is_observer = self.must_reduce && relate.is_observer(&op.call);
        if is_observer && op.interval.is_unfinished() {
            return None;
        }
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let before = self.predecessor(&op, slot);
        self.in_flight.insert(slot);
        if op.interval.is_unfinished() {
            self.unfinished.insert(slot);
        }
        let end = op.interval.deadline();
        if end != u64::MAX {
            let place = self.ends.iter().rposition(|&other| other > (end, slot)).map_or(0, |place| place + 1);
            self.ends.insert(place, (end, slot));
        }
        let entry = Slot {
            op: Some(op),
            is_settled: false,
            before,
            tied: C::default(),
            twins: C::default(),
            overwrites: C::default(),
            reasons: C::default(),
        };
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

    /// Records that a configuration has not placed this observer.
    pub(crate) fn keep_open(&mut self, observer: Move, relate: &impl Relate<P>) {
        self.relate(observer.0 as usize, relate);
    }

    /// Lets all unfinished operations expire before this time, at which the execution is stuck: none of them takes
    /// effect after an operation that was blocked then.
    pub(crate) fn end(&mut self, time: u64) {
        for slot in self.unfinished.iter() {
            if self.at(slot).interval.latest().is_none() {
                self.ends.push((time.saturating_sub(1), slot));
            }
        }
        self.ends.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Makes the next return before this time the goal. `None` if there is none.
    pub(crate) fn next_return(&mut self, before: u64) -> Option<OpId> {
        let (_, slot) = self.ends.pop_if(|&mut (end, _)| end < before)?;
        self.goal = slot;
        Some(self.at(slot).id)
    }

    /// True if the goal is an operation that expires: it need not be placed.
    pub(crate) fn is_expiring(&self) -> bool {
        self.unfinished.contains(self.goal)
    }

    /// Closes the slot of the goal; configurations must then forget it. Every configuration has placed the goal,
    /// unless it expires.
    pub(crate) fn retire_goal(&mut self) -> Retired {
        let is_expiring = self.is_expiring();
        let slot = self.goal;
        let Stream { in_flight, open, observers, unfinished, chained, leading, absorbable, .. } = self;
        let sets = [in_flight, open, observers, unfinished, chained, leading, absorbable];
        sets.into_iter().for_each(|set| set.remove(slot));
        for other in self.open.iter() {
            let Slot { tied, twins, overwrites, reasons, .. } = &mut self.slots[other];
            [tied, twins, overwrites, reasons].into_iter().for_each(|set| set.remove(slot));
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
        match self.slots[slot].is_settled {
            true => {}
            false if is_expiring => self.expired.push(op),
            false => self.returned.insert(op),
        }
        self.free.push(slot);
        Retired(slot)
    }

    /// Passes an operation that has a place in the order to `show`, and drops it if that place is final.
    pub(crate) fn settle<R>(&mut self, id: OpId, is_final: bool, show: impl FnOnce(&Op<P>) -> R) -> R {
        if is_final && let Some(op) = self.returned.remove(id) {
            return show(&op);
        }
        if let Some(op) = self.returned.get(id).or_else(|| self.expired.iter().find(|op| op.id == id)) {
            return show(op);
        }
        let is_it = |slot: &usize| self.at(*slot).id == id;
        let slot = self.in_flight.iter().find(is_it).expect("an operation that has returned or is in flight");
        self.slots[slot].is_settled |= is_final;
        show(self.at(slot))
    }

    /// Drops expired operations that the predicate does not keep.
    pub(crate) fn keep_expired(&mut self, is_kept: impl Fn(OpId) -> bool) {
        self.expired.retain(|op| is_kept(op.id));
    }

    /// The operations in flight.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = OpId> {
        self.in_flight.iter().map(|slot| self.at(slot).id)
    }

    /// The operations in flight that a cut has placed. `None` if it is undecided whether the effect of one is used.
    pub(crate) fn placed(&self, cut: &SlotCut<C>) -> Option<Vec<OpId>> {
        cut.optional.is_empty().then(|| cut.placed.iter().map(|slot| self.at(slot).id).collect())
    }

    /// True if an operation that was called is no longer in flight.
    pub(crate) fn has_returned(&self, id: OpId) -> bool {
        !self.absorbable.iter().any(|slot| self.at(slot).id == id)
    }

    fn at(&self, slot: usize) -> &Op<P> {
        self.slots[slot].op.as_ref().expect("an operation in flight")
    }

    fn predecessor(&mut self, op: &Op<P>, slot: usize) -> Option<usize> {
        let process = op.process.index();
        if self.last.len() <= process {
            self.last.resize(process + 1, None);
        }
        let last = if op.interval.is_unfinished() { self.last[process] } else { self.last[process].replace(slot) };
        let before = last.filter(|&last| op.follows(self.at(last)))?;
        self.chained.insert(slot);
        self.leading.insert(before);
        Some(before)
    }

    /// Records how the operation of a slot relates to the other open ones: which do not commute with it, and which
    /// are twins that come first.
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
            // An operation that may be left out cannot replace one that may not.
            let (first, second) = if rival_ends_first { (rival, op) } else { (op, rival) };
            let ends_sooner = !first.interval.is_unfinished() && first.interval.deadline() < second.interval.deadline();
            let is_twin = is_twin && (second.interval.is_unfinished() || ends_sooner);
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
            self.relate_pair(slot, other, relate);
            self.relate_pair(other, slot, relate);
        }
    }

    /// Records whether one operation absorbs another, and whether it may be a reason to place the other.
    fn relate_pair(&mut self, later: usize, earlier: usize, relate: &impl Relate<P>) {
        if self.observers.contains(earlier) {
            return;
        }
        let (x, y) = (&self.at(later).call, &self.at(earlier).call);
        let is_free = self.observers.contains(later) || !relate.overwrites(x, y);
        let is_unfinished = self.unfinished.contains(earlier);
        let is_absorbed = !is_free && !is_unfinished && relate.is_total(y);
        let is_reason = (is_free || !is_unfinished && !is_absorbed) && !relate.precludes(y, x);
        if is_absorbed {
            self.slots[later].overwrites.insert(earlier);
            self.absorbable.insert(earlier);
        }
        if is_reason {
            self.slots[earlier].reasons.insert(later);
        }
    }

    /// True if a cut has placed the predecessor of this operation in its process.
    pub(crate) fn is_ready(&self, cut: &SlotCut<C>, next: Move) -> bool {
        self.slots[next.0 as usize].before.is_none_or(|before| cut.placed.contains(before))
    }

    /// Decides an operation that was optional when the next one of its process was called: in this cut it stays
    /// absorbed, and in the returned one it will have to be used.
    pub(crate) fn decide(&self, cut: &mut SlotCut<C>) -> Option<SlotCut<C>> {
        let decided = cut.optional.and(&self.leading);
        if decided.is_empty() {
            return None;
        }
        cut.optional = cut.optional.minus(&decided);
        let used = cut.clone();
        cut.placed = cut.placed.or(&decided);
        Some(used)
    }

    /// True if an operation may not be absorbed now: its place matters to another one of its process.
    fn is_bound(&self, slot: usize) -> bool {
        self.chained.contains(slot) || self.leading.contains(slot)
    }

    /// The operations that the goal depends on: itself, and all that do not commute with one of them.
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

    /// The part that two cuts must share for one to cover the other.
    fn core(&self, cut: &SlotCut<C>) -> C {
        cut.placed.minus(&self.observers).minus(&self.unfinished).minus(&self.absorbable)
    }
}

impl<P> Stream<P, u64> {
    /// The same stream with a larger capacity.
    pub(crate) fn widen(self) -> Stream<P, Wide> {
        let widen = |slot: Slot<P, u64>| Slot {
            op: slot.op,
            is_settled: slot.is_settled,
            before: slot.before,
            tied: slot.tied.into(),
            twins: slot.twins.into(),
            overwrites: slot.overwrites.into(),
            reasons: slot.reasons.into(),
        };
        Stream {
            slots: self.slots.into_iter().map(widen).collect(),
            free: self.free,
            returned: self.returned,
            expired: self.expired,
            ends: self.ends,
            last: self.last,
            in_flight: self.in_flight.into(),
            open: self.open.into(),
            observers: self.observers.into(),
            unfinished: self.unfinished.into(),
            chained: self.chained.into(),
            leading: self.leading.into(),
            absorbable: self.absorbable.into(),
            goal: self.goal,
            must_reduce: self.must_reduce,
        }
    }
}

impl SlotCut<u64> {
    /// The same cut with a larger capacity.
    pub(crate) fn widen(self) -> SlotCut<Wide> {
        SlotCut { placed: self.placed.into(), optional: self.optional.into() }
    }
}

/// A slot that no operation uses any more.
pub(crate) struct Retired(usize);

impl Retired {
    pub(crate) fn forget_in<C: Slots>(&self, cut: &mut SlotCut<C>) {
        cut.placed.remove(self.0);
        cut.optional.remove(self.0);
    }
}

impl<P, C: Slots> Walk<P> for Stream<P, C> {
    type Cut = SlotCut<C>;

    fn is_met(&self, cut: &SlotCut<C>) -> bool {
        cut.placed.contains(self.goal)
    }

    fn cost(&self, cut: &SlotCut<C>) -> usize {
        cut.placed.and(&self.unfinished).iter().count()
    }

    fn may_pass(&self, cut: &SlotCut<C>) -> bool {
        cut.optional.contains(self.goal) || self.unfinished.contains(self.goal)
    }

    fn may_stop(&self, partway: Move) -> bool {
        partway.0 as usize == self.goal && self.is_expiring()
    }

    fn moves(&self, cut: &SlotCut<C>, thorough: bool, out: &mut Vec<Move>) {
        let unplaced = self.in_flight.minus(&cut.placed);
        let is_thorough = thorough || !self.must_reduce;
        let tried = if is_thorough { unplaced.clone() } else { self.needed(&unplaced) };
        for slot in tried.minus(&self.observers).iter() {
            let Slot { twins, overwrites, reasons, .. } = &self.slots[slot];
            // A twin that the goal absorbs need not be placed before it.
            let rivals = if slot == self.goal { twins.and(&tried).minus(overwrites) } else { twins.and(&tried) };
            // A twin that is already satisfied cannot replace one that is not.
            let is_next_twin = match cut.optional.contains(slot) {
                true => rivals.is_empty(),
                false => rivals.minus(&cut.optional).is_empty(),
            };
            let needs_none = is_thorough || slot == self.goal || self.is_bound(slot);
            let has_reason = needs_none || !reasons.and(&unplaced).is_empty();
            if is_next_twin && has_reason && self.is_ready(cut, Move(slot as u32)) {
                out.push(Move(slot as u32));
            }
        }
    }

    fn observers(&self, cut: &SlotCut<C>, after: Option<Move>, out: &mut Vec<Move>) {
        let mut unplaced = self.observers.minus(&cut.placed);
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

    fn place(&self, cut: &SlotCut<C>, next: Move, partway: bool) -> SlotCut<C> {
        let next = next.0 as usize;
        let Slot { overwrites, .. } = &self.slots[next];
        let mut cut = cut.clone();
        if !overwrites.is_empty() {
            let absorbed = overwrites.minus(&cut.placed).minus(&self.chained).minus(&self.leading);
            cut.optional = cut.optional.or(&absorbed);
        }
        if !partway {
            cut.optional.remove(next);
            cut.placed.insert(next);
        }
        cut
    }

    fn absorbed(&self, before: &SlotCut<C>, after: &SlotCut<C>, out: &mut Vec<OpId>) {
        out.extend(after.optional.minus(&before.optional).minus(&before.placed).iter().map(|slot| self.at(slot).id));
    }

    fn optional(&self, cut: &SlotCut<C>) -> Vec<OpId> {
        cut.optional.iter().map(|slot| self.at(slot).id).collect()
    }

    fn reason(&self, cut: &SlotCut<C>, last: Move) -> Reason {
        let last = last.0 as usize;
        if !self.must_reduce {
            Reason::None
        } else if self.unfinished.contains(last) {
            Reason::Needed
        } else if self.absorbable.contains(last) && !self.is_bound(last) {
            let unplaced = self.in_flight.minus(&cut.placed);
            let is_absorbed = unplaced.iter().any(|slot| self.slots[slot].overwrites.contains(last));
            if is_absorbed { Reason::Kept } else { Reason::None }
        } else {
            Reason::None
        }
    }

    fn may_follow(&self, last: Move, next: Move) -> bool {
        let (last, next) = (last.0 as usize, next.0 as usize);
        self.slots[last].reasons.contains(next) || self.is_bound(last)
    }

    fn waiting(&self, cut: &SlotCut<C>) -> Vec<(OpId, OpId)> {
        let unplaced = self.in_flight.minus(&cut.placed);
        let op = |slot: usize| self.at(slot).id;
        let waits = |slot: usize| self.slots[slot].before.filter(|&before| !cut.placed.contains(before));
        unplaced.iter().filter_map(|slot| waits(slot).map(|before| (op(slot), op(before)))).collect()
    }

    fn hash_core<H: Hasher>(&self, cut: &SlotCut<C>, hasher: &mut H) {
        match self.must_reduce {
            true => self.core(cut).hash(hasher),
            false => cut.placed.hash(hasher),
        }
    }

    fn covers(&self, a: &SlotCut<C>, b: &SlotCut<C>) -> bool {
        if !self.must_reduce {
            return a == b;
        }
        self.core(a) == self.core(b)
            && b.placed.and(&self.observers).is_subset(&a.placed)
            && a.placed.minus(&self.observers).is_subset(&b.placed)
            && b.optional.or(&b.placed.and(&self.absorbable)).is_subset(&a.optional.or(&a.placed))
    }
}
