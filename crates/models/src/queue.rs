//! A first-in first-out queue.
//!
//! | operation | meaning |
//! |---|---|
//! | `enqueue(value) = ok` | adds a value at the back; `ok` is `FALSE` if the queue was full; also `push`, `send` |
//! | `dequeue() = value` | removes the value at the front, or returns `nil` if empty; also `pop`, `receive` |
//! | `len() = count` | the number of values; also `size`, `length` |
//! | `is_empty() = ok` | whether the queue is empty; also `empty` |

use omnilink_history::{History, Value};

use crate::container::{Container, Discipline, Op, State, Words};
use crate::unambiguous::{self, Decision};
use crate::{About, Atom, Operation};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "queue",
    summary: "a first-in first-out queue",
    operations: &[
        Operation::new(
            "enqueue(value) = ok",
            "adds a value at the back; `ok` is `FALSE` if the queue was full",
            &["push", "send"],
        ),
        Operation::new(
            "dequeue() = value",
            "removes the value at the front, or returns `nil` if the queue is empty",
            &["pop", "receive"],
        ),
        Operation::new("len() = count", "the number of values", &["size", "length"]),
        Operation::new("is_empty() = ok", "whether the queue is empty", &["empty"]),
    ],
    options: &[("capacity=4", "the queue is full when it holds this many values [default: never full]")],
    takes_key: false,
};

/// A first-in first-out queue, initially empty. The value at the front comes first in a state.
pub type Queue = Container<Fifo>;

/// The value that came in first goes out first.
#[derive(Debug, Default)]
pub struct Fifo;

impl Queue {
    /// A queue that is full at `capacity` values, if given.
    pub fn new(capacity: Option<usize>) -> Queue {
        Container::with_capacity(capacity)
    }
}

impl Discipline for Fifo {
    const ABOUT: &'static About = &ABOUT;
    const WORDS: Words = Words {
        noun: "queue",
        insert: &["enqueue", "push", "send"],
        remove: &["dequeue", "pop", "receive"],
        value: &["value", "element"],
        inserted: "enqueued",
        removed: "dequeued",
    };

    fn exit(_state: &State) -> usize {
        0
    }

    fn holds(next: &Value) -> String {
        format!("the queue holds {next} first")
    }

    fn commute(queue: &Queue, a: &Op, b: &Op) -> bool {
        match (a, b) {
            // Both ends of a queue meet only in a value that goes in and comes out, unless the queue is full.
            (Op::Insert { value: new, .. }, Op::Remove { value: Some(old) })
            | (Op::Remove { value: Some(old) }, Op::Insert { value: new, .. }) => {
                new != old && *old != Atom::NIL && queue.capacity().is_none()
            }
            _ => queue.are_observers(a, b),
        }
    }

    fn decide(queue: &Queue, history: &History<Op>) -> Decision {
        unambiguous::queue::decide(queue, history)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::tests::{check, check_laws};
    use crate::queue::Queue;

    #[test]
    fn values_come_out_as_they_went_in() {
        insta::assert_snapshot!(
            check(&Queue::new(None), "enqueue(1); enqueue(2); len() = 2; dequeue() = 2"),
            @"dequeue() = 2: `dequeue` returned 2, but the queue holds 1 first"
        );
        insta::assert_snapshot!(
            check(&Queue::new(None), "push(1); pop() = 1; pop() = nil; pop() = 1"),
            @"pop() = 1: `dequeue` returned 1, but the queue is empty"
        );
    }

    #[test]
    fn a_full_queue_refuses() {
        insta::assert_snapshot!(
            check(&Queue::new(Some(1)), "enqueue(1) = TRUE; enqueue(2) = FALSE; enqueue(2) = TRUE"),
            @"enqueue(2) = TRUE: `enqueue` was not refused, but the queue is full: it holds 1 values"
        );
        insta::assert_snapshot!(
            check(&Queue::new(Some(2)), "enqueue(1) = FALSE"),
            @"enqueue(1) = FALSE: `enqueue` was refused, but the queue holds only 0 of at most 2 values"
        );
        insta::assert_snapshot!(
            check(&Queue::new(None), "enqueue(1) = FALSE"),
            @"enqueue(1) = FALSE: `enqueue` was refused, but the queue is never full"
        );
        insta::assert_snapshot!(
            check(&Queue::new(Some(1)), "enqueue(1); enqueue(2)?; dequeue()?; dequeue() = nil"),
            @"accepted"
        );
    }

    #[test]
    fn a_refusal_has_to_be_recorded() {
        insta::assert_snapshot!(
            check(&Queue::new(Some(2)), "enqueue(1); dequeue() = nil"),
            @"dequeue() = nil: `dequeue` returned nil, but the queue holds 1 first"
        );
        insta::assert_snapshot!(
            check(&Queue::new(Some(1)), "enqueue(1); enqueue(2)"),
            @"enqueue(2): `enqueue` was not refused, but the queue is full: it holds 1 values"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "enqueue(1); enqueue(2) = TRUE; enqueue(3) = FALSE; enqueue(4)?; dequeue() = 1; dequeue() = 2; \
                     dequeue() = nil; dequeue()?; len() = 1; is_empty() = TRUE; is_empty() = FALSE";
        check_laws(&Queue::new(None), calls);
        check_laws(&Queue::new(Some(2)), calls);
    }

    #[test]
    fn invalid_calls_are_rejected() {
        insta::assert_snapshot!(
            check(&Queue::new(None), "peek()"),
            @"`peek` is not an operation of the model `queue`, which has `enqueue(value) = ok`, `dequeue() = value`, `len() = count`, `is_empty() = ok`"
        );
        insta::assert_snapshot!(
            check(&Queue::new(None), "enqueue()"),
            @"`enqueue` has 0 arguments, and the model `queue` expects 1"
        );
        insta::assert_snapshot!(
            check(&Queue::new(None), "enqueue(nil)"),
            @"the argument `value` of `enqueue` is `nil`, not a value"
        );
        insta::assert_snapshot!(
            check(&Queue::new(None), "len() = TRUE"),
            @"the result `count` of `len` is `TRUE`, not a number of elements"
        );
    }
}
