//! Priority queues without search.
//!
//! The problem: is there an order in which `delete_min` always removes the smallest value? The idea: a value may come
//! out in a slot exactly if no smaller value is surely in then, so values are processed from the smallest up, and
//! each is removed in the first slot of its `delete_min` that the smaller ones leave free. The slots between the call
//! of a `delete_min` and its slot are covered by smaller values anyway, so only the slots in which values are surely
//! in have to be remembered. A `delete_min` that found nothing needs a slot that all values leave free. Free slots
//! are found by union-find, so the cost is that of sorting.

use omnilink_history::{History, OpId};

use crate::Interner;
use crate::container::Op;
use crate::priority_queue::PriorityQueue;
use crate::unambiguous::Decision;
use crate::unambiguous::items::{Items, cover, covered, items};
use crate::unambiguous::tree::Next;

/// Decides a history in which each value is inserted at most once.
pub fn decide(queue: &PriorityQueue, history: &History<Op>) -> Decision {
    match items(queue, history) {
        Err(decision) => decision,
        Ok(items) => place(items, queue.atoms()),
    }
}

fn place(Items { mut items, empties, end }: Items, atoms: &Interner) -> Decision {
    items.sort_unstable_by(|a, b| atoms.compare(a.value, b.value));
    let mut free = Next::new(end + 1);
    // Slot, phase within a slot, smaller values first, inserts before removes.
    let mut steps: Vec<(usize, u8, usize, OpId)> = Vec::with_capacity(2 * items.len() + empties.len());
    for (rank, item) in items.iter().enumerate() {
        let mut insert_slot = item.insert_ret - 1;
        if let Some(remove) = item.remove {
            let slot = free.from(item.remove_call);
            if slot >= item.remove_ret {
                let cover = cover(&items[..rank], item.remove_call, item.remove_ret);
                let found =
                    format!("`delete_min` returned {} as the smallest value in the queue", atoms.value(item.value));
                return covered(remove, &found, &cover, atoms);
            }
            insert_slot = insert_slot.min(slot);
            let is_short = insert_slot == slot;
            steps.push((insert_slot, if is_short { 0 } else { 2 }, 2 * rank, item.insert));
            steps.push((slot, 0, 2 * rank + 1, remove));
        } else {
            steps.push((insert_slot, 2, 2 * rank, item.insert));
        }
        let (from, to) = item.surely_in();
        free.remove(from, to);
    }
    for empty in empties {
        let slot = free.from(empty.call);
        if slot >= empty.ret {
            let cover = cover(&items, empty.call, empty.ret);
            return covered(empty.op, "the queue was found empty", &cover, atoms);
        }
        steps.push((slot, 1, 0, empty.op));
    }
    steps.sort_unstable();
    Decision::Linearizable(steps.into_iter().map(|step| step.3).collect())
}
