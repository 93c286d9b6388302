//! Queues without search.
//!
//! The problem: is there an order in which values come out as they went in? After Henzinger, Sezgin and Vafeiadis
//! (*Aspect-oriented linearizability proofs*, 2013), there is one unless two values are surely in the wrong order
//! (`a` was enqueued before `b`, but `b` was dequeued before `a`, or `a` never was), or the queue was surely not
//! empty during all of a `dequeue` that found it empty. One sweep finds each.
//!
//! They do not say how to find the order. We choose a free slot for each empty `dequeue`. These slots cut time into
//! segments, and each value goes in and comes out within one: the first that ends after the call of its `dequeue`.
//! Within a segment, a value may come next if no other must go in or come out before it; without a violation there is
//! always one. Operations are then placed as late as their returns allow.

use omnilink_history::{History, OpId};

use crate::Interner;
use crate::container::Op;
use crate::queue::Queue;
use crate::unambiguous::Decision;
use crate::unambiguous::items::{Item, Items, cover, covered, free_slots, items};

/// Decides a history of an unbounded queue in which each value is enqueued at most once.
pub fn decide(queue: &Queue, history: &History<Op>) -> Decision {
    match items(queue, history) {
        Err(decision) => decision,
        Ok(items) => wrong_order(&items, queue.atoms())
            .or_else(|| never_empty(&items, queue.atoms()))
            .unwrap_or_else(|| Decision::Linearizable(witness(items))),
    }
}

/// Two values that came out in the wrong order.
fn wrong_order(Items { items, .. }: &Items, atoms: &Interner) -> Option<Decision> {
    let mut by_call: Vec<&Item> = items.iter().collect();
    by_call.sort_unstable_by_key(|item| item.insert_call);
    let mut by_ret = by_call.clone();
    by_ret.sort_unstable_by_key(|item| item.insert_ret);
    let mut by_ret = by_ret.into_iter().peekable();
    let mut stays_longest: Option<&Item> = None; // Among those that were enqueued before the current one.
    for later in by_call {
        while let Some(item) = by_ret.next_if(|item| item.insert_ret < later.insert_call) {
            stays_longest = stays_longest.filter(|longest| longest.remove_call >= item.remove_call).or(Some(item));
        }
        if let Some(earlier) = stays_longest.filter(|earlier| later.remove_ret < earlier.remove_call) {
            let (a, b) = (atoms.value(earlier.value), atoms.value(later.value));
            let reason = match earlier.remove {
                Some(_) => format!("{a} was enqueued before {b}, but {b} was dequeued before {a}"),
                None => format!("{a} was enqueued before {b}, but only {b} was dequeued"),
            };
            return Some(Decision::Violation { ops: earlier.ops().chain(later.ops()).collect(), reason });
        }
    }
    None
}

/// A `dequeue` that found the queue empty although it never was.
fn never_empty(Items { items, empties, end }: &Items, atoms: &Interner) -> Option<Decision> {
    let free = free_slots(items, *end);
    let empty = empties.iter().find(|empty| free[empty.call] >= empty.ret)?;
    let cover = cover(items, empty.call, empty.ret);
    Some(covered(empty.op, "the queue was found empty", &cover, atoms))
}

fn witness(Items { mut items, empties, end }: Items) -> Vec<OpId> {
    let free = free_slots(&items, end);
    let mut empties: Vec<(usize, OpId)> = empties.iter().map(|empty| (free[empty.call], empty.op)).collect();
    empties.sort_unstable();
    // Several empties may share the slot where segments are cut.
    let segment = |item: &Item| empties.partition_point(|empty| empty.0 < item.remove_call);
    items.sort_by_cached_key(segment);
    let mut order: Vec<Item> = Vec::with_capacity(items.len());
    for segment in items.chunk_by(|a, b| segment(a) == segment(b)) {
        sort_segment(segment, &mut order);
    }
    // The operations before each event, and their order at one event: inserts, removes; then empties after it.
    let mut tasks: Vec<(usize, u8, usize)> = Vec::with_capacity(2 * order.len() + empties.len());
    for (place, item) in order.iter().enumerate() {
        tasks.push((item.insert_ret, 0, place));
        if item.remove.is_some() {
            tasks.push((item.remove_ret, 1, place));
        }
    }
    tasks.extend(empties.iter().enumerate().map(|(place, empty)| (empty.0, 2, place)));
    tasks.sort_unstable();
    let mut layout = Layout { order: &order, inserted: 0, removed: 0, out: Vec::with_capacity(tasks.len()) };
    for (slot, task, place) in tasks {
        match task {
            0 => layout.insert(place + 1),
            1 => layout.remove(place + 1),
            _ => {
                layout.remove(order.partition_point(|item| item.remove_call <= slot));
                layout.out.push(empties[place].1);
            }
        }
    }
    layout.out
}

/// Orders values by repeatedly taking one that may come next.
fn sort_segment(items: &[Item], out: &mut Vec<Item>) {
    let sorted = |key: fn(&Item) -> usize| {
        let mut places: Vec<usize> = (0..items.len()).collect();
        places.sort_unstable_by_key(|&place| key(&items[place]));
        places.into_iter().peekable()
    };
    let (mut insert_calls, mut remove_calls) = (sorted(|item| item.insert_call), sorted(|item| item.remove_call));
    let (mut insert_rets, mut remove_rets) = (sorted(|item| item.insert_ret), sorted(|item| item.remove_ret));
    let (mut is_taken, mut may_insert) = (vec![false; items.len()], vec![false; items.len()]);
    let (mut may_remove, mut ready) = (vec![false; items.len()], Vec::new());
    for _ in items {
        while insert_rets.next_if(|&place| is_taken[place]).is_some() {}
        while remove_rets.next_if(|&place| is_taken[place]).is_some() {}
        let insert_by = insert_rets.peek().map_or(0, |&place| items[place].insert_ret);
        let remove_by = remove_rets.peek().map_or(0, |&place| items[place].remove_ret);
        while let Some(place) = insert_calls.next_if(|&place| items[place].insert_call < insert_by) {
            may_insert[place] = true;
            ready.extend(may_remove[place].then_some(place));
        }
        while let Some(place) = remove_calls.next_if(|&place| items[place].remove_call < remove_by) {
            may_remove[place] = true;
            ready.extend(may_insert[place].then_some(place));
        }
        let place = ready.pop().expect("some value may come next, because no two are in the wrong order");
        is_taken[place] = true;
        out.push(items[place]);
    }
}

/// Places operations in the order of values, up to a given bound.
struct Layout<'a> {
    order: &'a [Item],
    inserted: usize,
    removed: usize,
    out: Vec<OpId>,
}

impl Layout<'_> {
    fn insert(&mut self, to: usize) {
        let from = self.inserted.min(to);
        self.out.extend(self.order[from..to].iter().map(|item| item.insert));
        self.inserted = self.inserted.max(to);
    }

    fn remove(&mut self, to: usize) {
        self.insert(to);
        let from = self.removed.min(to);
        self.out.extend(self.order[from..to].iter().filter_map(|item| item.remove));
        self.removed = self.removed.max(to);
    }
}
