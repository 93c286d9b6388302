//! A priority queue: smaller values come first.
//!
//! | operation | meaning |
//! |---|---|
//! | `insert(value)` | adds a value, which is its own priority; also `add`, `push`, `enqueue` |
//! | `delete_min() = value` | removes the smallest value, or returns `nil` if empty; also `pop`, `dequeue` |
//! | `len() = count` | the number of values; also `size`, `length` |
//! | `is_empty() = ok` | whether the queue is empty; also `empty` |

use omnilink_history::{History, Value};

use crate::container::{Container, Discipline, Op, State, Words};
use crate::unambiguous::{self, Decision};
use crate::{About, Atom, Interner, Operation};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "priority-queue",
    summary: "a priority queue: smaller values come first",
    operations: &[
        Operation::new("insert(value)", "adds a value, which is its own priority", &["add", "push", "enqueue"]),
        Operation::new(
            "delete_min() = value",
            "removes the smallest value, or returns `nil` if the queue is empty",
            &["pop", "dequeue"],
        ),
        Operation::new("len() = count", "the number of values", &["size", "length"]),
        Operation::new("is_empty() = ok", "whether the queue is empty", &["empty"]),
    ],
    options: &[],
    takes_key: false,
};

/// A priority queue, initially empty. States hold values from the smallest to the largest.
pub type PriorityQueue = Container<SmallestFirst>;

/// The smallest value goes out first.
#[derive(Debug, Default)]
pub struct SmallestFirst;

impl PriorityQueue {
    /// An empty queue.
    pub fn new() -> PriorityQueue {
        Container::default()
    }
}

impl Discipline for SmallestFirst {
    const ABOUT: &'static About = &ABOUT;
    const WORDS: Words = Words {
        noun: "queue",
        insert: &["insert", "add", "push", "enqueue"],
        remove: &["delete_min", "pop", "dequeue"],
        value: &["value", "priority", "key"],
        inserted: "inserted",
        removed: "taken out",
    };
    const MAY_REFUSE: bool = false;

    fn add(state: &mut State, value: Atom, atoms: &Interner) {
        let place = state.partition_point(|&other| atoms.compare(other, value).is_lt());
        state.insert(place, value);
    }

    fn exit(_state: &State) -> usize {
        0
    }

    fn holds(next: &Value) -> String {
        format!("the smallest value in the queue is {next}")
    }

    fn commute(queue: &PriorityQueue, a: &Op, b: &Op) -> bool {
        match (a, b) {
            (Op::Insert { .. }, Op::Insert { .. }) => true,
            // A larger value does not block a smaller one.
            (Op::Insert { value: new, .. }, Op::Remove { value: Some(old) })
            | (Op::Remove { value: Some(old) }, Op::Insert { value: new, .. }) => {
                *old != Atom::NIL && queue.atoms().compare(*new, *old).is_gt()
            }
            _ => queue.are_observers(a, b),
        }
    }

    fn decide(queue: &PriorityQueue, history: &History<Op>) -> Decision {
        unambiguous::priority_queue::decide(queue, history)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::tests::{check, check_laws};
    use crate::priority_queue::PriorityQueue;

    #[test]
    fn the_smallest_value_comes_out_first() {
        let model = PriorityQueue::new();
        insta::assert_snapshot!(
            check(&model, "insert(2); insert(1); delete_min() = 1; len() = 1; delete_min() = nil"),
            @"delete_min() = nil: `delete_min` returned nil, but the smallest value in the queue is 2"
        );
        insta::assert_snapshot!(
            check(&model, "insert(1); delete_min()?; delete_min() = 1"),
            @"delete_min() = 1: `delete_min` returned 1, but the queue is empty"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "insert(1); insert(2); insert(3); insert(2)?; delete_min() = 1; delete_min() = 2; \
                     delete_min() = nil; delete_min()?; len() = 1; is_empty() = TRUE; is_empty() = FALSE";
        check_laws(&PriorityQueue::new(), calls);
    }
}
