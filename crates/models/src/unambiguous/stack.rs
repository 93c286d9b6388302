//! Stacks without search.
//!
//! The problem: is there an order in which each `pop` removes the value pushed last? Values that may be pushed and
//! popped at one point are set aside, because such a pair fits anywhere. The others are surely in for a while. Slots
//! in which none is surely in cut time into components, and in each component one value must lie below all others: it
//! is *outermost*, called before any other push returned, and returning after every other pop was called. If no value
//! can be outermost, there is a violation. If several can, any will do, because every place that the others need
//! inside it they would also get inside another. Without the outermost value the component splits into smaller ones,
//! and so on.
//!
//! In a component, let `first` be the earliest return of a push and `last` the latest call of a pop. A value is
//! outermost if its push was called before `first` and its pop returned after `last`. As components get smaller,
//! `first` grows and `last` shrinks, so a value that passes a test once passes it forever. Each test of each value
//! succeeds once and is found by a tree, so all of it takes `O(n log n)`. An outermost value is pushed just before
//! `first` and popped just after `last`.
//!
//! A `pop` that found nothing needs a slot in which no value is surely in.

use omnilink_history::{History, OpId};

use crate::Interner;
use crate::container::Op;
use crate::stack::Stack;
use crate::unambiguous::Decision;
use crate::unambiguous::items::{Item, Items, cover, covered, free_slots, items, list};
use crate::unambiguous::tree::{Coverage, Next, Smallest};

/// Decides a history of an unbounded stack in which each value is pushed at most once.
pub fn decide(stack: &Stack, history: &History<Op>) -> Decision {
    match items(stack, history) {
        Err(decision) => decision,
        Ok(items) => place(items, stack.atoms()),
    }
}

/// The order within one slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Pop,
    Empty,
    Pair,
    Push,
}

fn place(Items { items, empties, end }: Items, atoms: &Interner) -> Decision {
    let mut steps: Vec<(usize, Phase, usize, OpId)> = Vec::with_capacity(2 * items.len() + empties.len());
    let free = free_slots(&items, end);
    for empty in &empties {
        let slot = free[empty.call];
        if slot >= empty.ret {
            let cover = cover(&items, empty.call, empty.ret);
            return covered(empty.op, "the stack was found empty", &cover, atoms);
        }
        steps.push((slot, Phase::Empty, 0, empty.op));
    }
    let (mut nested, pairs): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| item.insert_ret < item.remove_call);
    for (place, pair) in pairs.iter().enumerate() {
        let slot = pair.remove_call;
        steps.extend(pair.ops().enumerate().map(|(second, op)| (slot, Phase::Pair, 2 * place + second, op)));
    }
    nested.sort_unstable_by_key(|item| item.insert_ret);
    let layers = match Nesting::new(&nested, end).layers() {
        Ok(layers) => layers,
        Err(stuck) => return stuck.violation(atoms),
    };
    for (depth, layer) in layers.iter().enumerate() {
        let item = &nested[layer.place];
        steps.push((layer.first - 1, Phase::Push, depth, item.insert));
        steps.extend(item.remove.map(|pop| (layer.last, Phase::Pop, usize::MAX - depth, pop)));
    }
    steps.sort_unstable();
    Decision::Linearizable(steps.into_iter().map(|step| step.3).collect())
}

/// A value that lies below the others of its component.
struct Layer {
    place: usize,
    first: usize,
    last: usize,
}

/// The values that do not lie below others yet. All places are those of `items`.
struct Nesting<'a> {
    items: &'a [Item], // By increasing return of the push, so that a component is a range.
    remaining: Next,
    last: Smallest,   // Pops by call, latest first.
    pushes: Smallest, // Pushes that are not known to be called before `first`, by call.
    pops: Smallest,   // Pops that are not known to return after `last`, by return, latest first.
    passed: Vec<u8>,  // The number of tests that each value has passed.
    ready: Smallest,  // Values that have passed both.
    coverage: Coverage,
}

/// Values of one component, of which none can lie below the others.
struct Stuck {
    items: Vec<Item>,
}

impl<'a> Nesting<'a> {
    fn new(items: &'a [Item], end: usize) -> Nesting<'a> {
        let mut coverage = Coverage::new(end + 1);
        for (from, to) in items.iter().map(Item::surely_in) {
            coverage.add(from, to);
        }
        let late = |rank: usize| usize::MAX - 1 - rank;
        Nesting {
            items,
            remaining: Next::new(items.len()),
            last: Smallest::new(items.iter().map(|item| late(item.remove_call))),
            pushes: Smallest::new(items.iter().map(|item| item.insert_call)),
            pops: Smallest::new(items.iter().map(|item| late(item.remove_ret))),
            passed: vec![0; items.len()],
            ready: Smallest::new(items.iter().map(|_| usize::MAX)),
            coverage,
        }
    }

    /// All values, each before those that lie above it.
    fn layers(mut self) -> Result<Vec<Layer>, Stuck> {
        let mut layers = Vec::with_capacity(self.items.len());
        let mut components = Vec::new();
        self.split(0, self.items.len(), &mut components);
        while let Some((from, to)) = components.pop() {
            let layer = self.outermost(from, to)?;
            let item = &self.items[layer.place];
            self.remaining.remove(layer.place, layer.place + 1);
            for tree in [&mut self.last, &mut self.pushes, &mut self.pops, &mut self.ready] {
                tree.set(layer.place, usize::MAX);
            }
            let (start, end) = item.surely_in();
            self.coverage.subtract(start, end);
            self.split(from, to, &mut components);
            layers.push(layer);
        }
        Ok(layers)
    }

    /// Finds the components among the remaining values of a range.
    fn split(&mut self, from: usize, to: usize, out: &mut Vec<(usize, usize)>) {
        let mut start = self.remaining.from(from);
        while start < to {
            let slot = self.items[start].insert_ret;
            let free = self.coverage.first_free(slot).expect("no value is surely in after the end");
            let end = start + self.items[start..to].partition_point(|item| item.insert_ret < free);
            out.push((start, end));
            start = self.remaining.from(end);
        }
    }

    fn outermost(&mut self, from: usize, to: usize) -> Result<Layer, Stuck> {
        let late = |key: usize| usize::MAX - 1 - key;
        let lowest = self.remaining.from(from);
        let first = self.items[lowest].insert_ret;
        let (key, highest) = self.last.get(from, to).expect("a component has a value");
        let last = late(key);
        while let Some((_, place)) = self.pushes.get(from, to).filter(|&(call, _)| call < first) {
            self.pushes.set(place, usize::MAX);
            self.pass(place);
        }
        while let Some((_, place)) = self.pops.get(from, to).filter(|&(key, _)| late(key) > last) {
            self.pops.set(place, usize::MAX);
            self.pass(place);
        }
        match self.ready.get(from, to) {
            Some((_, place)) => Ok(Layer { place, first, last }),
            None => Err(self.stuck(lowest, highest, to)),
        }
    }

    fn pass(&mut self, place: usize) {
        self.passed[place] += 1;
        if self.passed[place] == 2 {
            self.ready.set(place, place);
        }
    }

    /// The value with the earliest push was popped too early, that with the latest pop was pushed too late, and each
    /// value that connects them has one of these faults. So these few suffice as evidence.
    fn stuck(&mut self, lowest: usize, highest: usize, to: usize) -> Stuck {
        let mut rest = Vec::new();
        let mut place = lowest;
        while place < to {
            rest.push(self.items[place]);
            place = self.remaining.from(place + 1);
        }
        let (lowest, highest) = (self.items[lowest], self.items[highest]);
        let mut items = vec![lowest];
        let is_end = |item: &Item| [lowest.insert, highest.insert].contains(&item.insert);
        let between = if lowest.remove_call < highest.insert_ret {
            cover(&rest, lowest.remove_call, highest.insert_ret)
        } else {
            Vec::new()
        };
        items.extend(between.into_iter().filter(|item| !is_end(item)));
        items.push(highest);
        Stuck { items }
    }
}

impl Stuck {
    fn violation(&self, atoms: &Interner) -> Decision {
        let all: Vec<&Item> = self.items.iter().collect();
        let reason = match self.items.as_slice() {
            [a, b] => {
                let (a, b) = (atoms.value(a.value), atoms.value(b.value));
                format!("{a} was pushed before {b}, and {a} was popped while {b} lay above it")
            }
            [a, .., b] => {
                let (a, b) = (atoms.value(a.value), atoms.value(b.value));
                let all = list(&all, atoms);
                format!(
                    "the stack was not empty from the push of {a} to the pop of {b}, so one value lay below the others \
                     all that time, but none of {all} was there for so long"
                )
            }
            _ => "no value can lie below the others".into(),
        };
        Decision::Violation { ops: all.iter().flat_map(|item| item.ops()).collect(), reason }
    }
}
