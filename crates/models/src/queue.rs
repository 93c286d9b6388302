//! A first-in first-out queue.
//!
//! | operation | meaning |
//! |---|---|
//! | `enqueue(value) = ok` | adds a value at the back; `ok` is `FALSE` if the queue was full; also `push`, `send` |
//! | `dequeue() = value` | takes the value at the front, or `nil` if the queue is empty; also `pop`, `receive` |
//! | `len() = count` | how many values there are; also `size`, `length` |
//! | `is_empty() = ok` | whether there are none; also `empty` |

use std::convert::Infallible;

use history::{Call, History, Value};
use search::{Spec, Successors};

use crate::bind::Fields;
use crate::unambiguous::{self, Decision};
use crate::{About, Atom, BadCall, Interner, Model, Row};

/// What people should know about this model.
pub const ABOUT: About = About {
    name: "queue",
    summary: "a first-in first-out queue",
    operations: &[
        ("enqueue(value) = ok", "adds a value at the back; `ok` is `FALSE` if the queue was full"),
        ("dequeue() = value", "takes the value at the front, or `nil` if the queue is empty"),
        ("len() = count", "how many values there are"),
        ("is_empty() = ok", "whether there are none"),
    ],
    options: &[("capacity=4", "the queue is full when it holds this many values; without it, it is never full")],
};

/// A first-in first-out queue, initially empty.
#[derive(Debug, Default)]
pub struct Queue {
    capacity: Option<usize>,
    atoms: Interner,
}

/// An operation on a queue. Results that were not recorded are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds a value.
    Enqueue {
        /// The value.
        value: Atom,
        /// False if the queue was full.
        ok: Option<bool>,
    },
    /// Takes a value.
    Dequeue {
        /// What was taken, or nil if there was nothing.
        value: Option<Atom>,
    },
    /// Counts the values.
    Len {
        /// How many there are.
        count: usize,
    },
    /// Looks whether there are values.
    IsEmpty {
        /// True if there are none.
        ok: bool,
    },
}

/// The values, the one at the front first.
pub type State = Row<Atom, 12>;

impl Queue {
    /// A queue that is full when it holds `capacity` values, if that is given.
    pub fn new(capacity: Option<usize>) -> Queue {
        Queue { capacity, atoms: Interner::default() }
    }

    /// How many values fit, if that is limited.
    pub fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    /// The values that operations refer to.
    pub fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn is_full(&self, state: &State) -> bool {
        self.capacity.is_some_and(|capacity| state.len() >= capacity)
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match *op {
            Op::Enqueue { ok, .. } => ok.is_none_or(|ok| ok != self.is_full(state)),
            Op::Dequeue { value } => value.is_none_or(|value| state.first().copied().unwrap_or(Atom::NIL) == value),
            Op::Len { count } => state.len() == count,
            Op::IsEmpty { ok } => state.is_empty() == ok,
        }
    }
}

impl Spec for Queue {
    type Op = Op;
    type State = State;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Infallible> {
        out.push(State::default());
        Ok(())
    }

    fn step(&self, state: &State, op: &Op, out: &mut Successors<State>) -> Result<(), Infallible> {
        self.next(state, op).into_iter().for_each(|next| out.done(next));
        Ok(())
    }

    fn allows(&self, state: &State, op: &Op) -> Result<bool, Infallible> {
        Ok(self.is_enabled(state, op))
    }

    fn is_observer(&self, op: &Op) -> bool {
        matches!(
            op,
            Op::Len { .. }
                | Op::IsEmpty { .. }
                | Op::Enqueue { ok: Some(false), .. }
                | Op::Dequeue { value: Some(Atom::NIL) }
        )
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        match (a, b) {
            // Both ends of a queue meet only in the value that goes in and comes out, unless there is no room.
            (Op::Enqueue { value: new, .. }, Op::Dequeue { value: Some(old) })
            | (Op::Dequeue { value: Some(old) }, Op::Enqueue { value: new, .. }) => {
                new != old && *old != Atom::NIL && self.capacity.is_none()
            }
            _ => self.is_observer(a) && self.is_observer(b),
        }
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let count = state.len();
        Some(match *op {
            Op::Enqueue { ok: Some(false), .. } => match self.capacity {
                Some(capacity) => {
                    format!("`enqueue` was refused, but the queue holds only {count} of at most {capacity} values")
                }
                None => "`enqueue` was refused, but the queue is never full".into(),
            },
            Op::Enqueue { .. } => format!("`enqueue` was not refused, but the queue is full: it holds {count} values"),
            Op::Dequeue { value } => {
                let returned = self.atoms.value(value.unwrap_or(Atom::NIL));
                match state.first() {
                    Some(first) => {
                        let first = self.atoms.value(*first);
                        format!("`dequeue` returned {returned}, but the queue holds {first} first")
                    }
                    None => format!("`dequeue` returned {returned}, but the queue is empty"),
                }
            }
            Op::Len { count: returned } => format!("`len` returned {returned}, but the queue holds {count} values"),
            Op::IsEmpty { ok } => {
                format!("`is_empty` returned {}, but the queue holds {} values", Value::Bool(ok), state.len())
            }
        })
    }
}

impl Model for Queue {
    fn bind(&self, op: &history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op) else { return Ok(None) };
        match fields.action() {
            "enqueue" | "push" | "send" => {
                fields.args(1)?;
                let value = fields.element_arg(0, &["value", "element"], &self.atoms)?;
                Ok(Some(Op::Enqueue { value, ok: fields.ok()? }))
            }
            "dequeue" | "pop" | "receive" => {
                fields.args(0)?;
                let value = fields.result(&["value", "element"])?.map(|value| self.atoms.atom(value));
                Ok(Some(Op::Dequeue { value }))
            }
            "len" | "size" | "length" => {
                fields.args(0)?;
                Ok(fields.count()?.map(|count| Op::Len { count }))
            }
            "is_empty" | "empty" => {
                fields.args(0)?;
                Ok(fields.ok()?.map(|ok| Op::IsEmpty { ok }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        self.is_enabled(state, op).then(|| {
            let mut next = state.clone();
            match *op {
                Op::Enqueue { value, .. } if !self.is_full(state) => next.push(value),
                Op::Dequeue { .. } if !state.is_empty() => next.remove(0),
                _ => {}
            }
            next
        })
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn show(&self, state: &State) -> String {
        self.atoms.show_tuple(state)
    }

    fn has_procedure(&self) -> bool {
        true
    }

    fn decide(&self, history: &History<Op>) -> Decision {
        unambiguous::queue::decide(self, history)
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
    fn promises_are_kept() {
        let calls = "enqueue(1); enqueue(2) = TRUE; enqueue(3) = FALSE; enqueue(4)?; dequeue() = 1; dequeue() = 2; \
                     dequeue() = nil; dequeue()?; len() = 1; is_empty() = TRUE; is_empty() = FALSE";
        check_laws(&Queue::new(None), calls);
        check_laws(&Queue::new(Some(2)), calls);
    }

    #[test]
    fn calls_that_mean_nothing_are_refused() {
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
