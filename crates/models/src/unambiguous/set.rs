//! Sets without search.
//!
//! The problem: is there an order in which each operation finds its element present, or absent, as recorded? Elements
//! are independent, so each is decided separately. An element that is added at most once is present from the slot in
//! which it is added to the slot in which it is removed. Each operation that saw it must have a slot in between, and
//! each that missed it must have one outside. So the `add` is placed as late, and the `remove` as early, as the
//! operations that saw it allow. This leaves the operations that missed it as much room as possible. The cost is that
//! of sorting.
//!
//! An unfinished `remove` is used only if an operation missed the element after it was added. Of several, the one
//! that was called first can do everything the others can.

use omnilink_history::{History, OpId};
use rustc_hash::FxHashMap;

use crate::Atom;
use crate::set::{Op, Set};
use crate::unambiguous::Decision;
use crate::unambiguous::ranks::{Ranks, ranks};

/// Decides a history in which each element is added at most once.
pub fn decide(set: &Set, history: &History<Op>) -> Decision {
    let (ranks, end) = match ranks(history) {
        Ok(ranks) => ranks,
        Err(reason) => return Decision::NotApplicable(reason.into()),
    };
    let mut places: FxHashMap<Atom, usize> = FxHashMap::default();
    let mut elements: Vec<(Atom, Element)> = Vec::new();
    for (op, &ranks) in history.ops().iter().zip(&ranks) {
        let (Op::Add { value, .. } | Op::Remove { value, .. } | Op::Contains { value, .. }) = op.call else {
            return Decision::NotApplicable("all elements were read at once".into());
        };
        let place = *places.entry(value).or_insert_with(|| {
            elements.push((value, Element::default()));
            elements.len() - 1
        });
        let element = &mut elements[place].1;
        let list = match op.call {
            Op::Add { ok: Some(false), .. } | Op::Contains { ok: true, .. } => &mut element.saw,
            Op::Remove { ok: Some(false), .. } | Op::Contains { ok: false, .. } => &mut element.missed,
            Op::Add { .. } => &mut element.adds,
            Op::Remove { .. } if op.interval.is_unfinished() => &mut element.unfinished_removes,
            Op::Remove { ok: Some(true), .. } => &mut element.removes,
            Op::Remove { .. } | Op::Read { .. } => {
                return Decision::NotApplicable("a `remove` has no recorded result".into());
            }
        };
        list.push((op.id, ranks));
        if element.adds.len() > 1 {
            return Decision::NotApplicable(format!("{} was added more than once", set.atoms().value(value)));
        }
    }
    let mut steps = Vec::with_capacity(history.ops().len());
    for (value, element) in &elements {
        if let Err((ops, what)) = element.place(end, &mut steps) {
            return Decision::Violation { ops, reason: format!("{} was {what}", set.atoms().value(*value)) };
        }
    }
    steps.sort_unstable();
    Decision::Linearizable(steps.into_iter().map(|step| step.2).collect())
}

/// The operations on one element.
#[derive(Default)]
struct Element {
    adds: Vec<(OpId, Ranks)>, // At most one.
    removes: Vec<(OpId, Ranks)>,
    unfinished_removes: Vec<(OpId, Ranks)>,
    saw: Vec<(OpId, Ranks)>,
    missed: Vec<(OpId, Ranks)>,
}

/// The order within one slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Before,
    Add,
    Saw,
    Remove,
    After,
}

impl Element {
    /// Adds each operation with its slot, or returns operations that have none, and why.
    fn place(&self, end: usize, steps: &mut Vec<(usize, Phase, OpId)>) -> Result<(), (Vec<OpId>, &'static str)> {
        let needs = self.saw.iter().chain(&self.removes);
        let Some(&(add, add_ranks)) = self.adds.first() else {
            if let Some(&(op, _)) = needs.clone().next() {
                return Err((vec![op], "there, but never added"));
            }
            steps.extend(self.missed.iter().map(|&(op, ranks)| (ranks.call, Phase::Before, op)));
            return Ok(());
        };
        if let [one, other, ..] = self.removes.as_slice() {
            return Err((vec![add, one.0, other.0], "removed twice, but added once"));
        }
        if add_ranks.ret > end && needs.clone().next().is_none() {
            steps.extend(self.missed.iter().map(|&(op, ranks)| (ranks.call, Phase::Before, op)));
            return Ok(()); // The `add` need not have happened.
        }

        let in_by = needs.clone().chain(&self.adds).min_by_key(|(_, ranks)| ranks.ret).expect("there is an `add`");
        if in_by.1.ret < add_ranks.call {
            return Err((vec![in_by.0, add], "there before it was added"));
        }
        let add_slot = in_by.1.ret - 1;
        steps.push((add_slot, Phase::Add, add));

        let is_missed_after = self.missed.iter().any(|(_, ranks)| ranks.call > add_slot);
        let may_remove = self.unfinished_removes.iter().min_by_key(|(_, ranks)| ranks.call);
        let remove = self.removes.first().or(may_remove.filter(|_| is_missed_after));
        let out_from = self.saw.iter().chain(remove).max_by_key(|(_, ranks)| ranks.call);
        let mut remove_slot = end + 1; // After the end, if there is no `remove`.
        if let (Some(remove), Some(out_from)) = (remove, out_from) {
            if out_from.1.call > remove.1.ret {
                return Err((vec![remove.0, out_from.0], "there after it was removed"));
            }
            remove_slot = out_from.1.call.max(add_slot);
            steps.push((remove_slot, Phase::Remove, remove.0));
        }

        steps.extend(self.saw.iter().map(|&(op, ranks)| (ranks.call.max(add_slot), Phase::Saw, op)));
        for &(op, ranks) in &self.missed {
            if ranks.call <= add_slot {
                steps.push((ranks.call, Phase::Before, op));
            } else if ranks.ret > remove_slot {
                steps.push((ranks.call.max(remove_slot), Phase::After, op));
            } else {
                let mut ops = vec![op, add, in_by.0];
                ops.extend(remove.map(|remove| remove.0));
                ops.extend(out_from.filter(|_| remove.is_some()).map(|(op, _)| *op));
                ops.sort_unstable();
                ops.dedup();
                return Err((ops, "missed while it was surely there"));
            }
        }
        Ok(())
    }
}
