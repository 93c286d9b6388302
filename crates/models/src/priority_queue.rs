//! A priority queue, in which smaller values come first.
//!
//! | operation | meaning |
//! |---|---|
//! | `insert(value)` | adds a value, which is its own priority; also `add`, `push`, `enqueue` |
//! | `delete_min() = value` | takes the smallest value, or `nil` if the queue is empty; also `pop`, `dequeue` |
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
    name: "priority-queue",
    summary: "a priority queue, in which smaller values come first",
    operations: &[
        ("insert(value)", "adds a value, which is its own priority"),
        ("delete_min() = value", "takes the smallest value, or `nil` if the queue is empty"),
        ("len() = count", "how many values there are"),
        ("is_empty() = ok", "whether there are none"),
    ],
    options: &[],
};

/// A priority queue, initially empty.
#[derive(Debug, Default)]
pub struct PriorityQueue {
    atoms: Interner,
}

/// An operation on a priority queue. Results that were not recorded are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds a value.
    Insert {
        /// The value.
        value: Atom,
    },
    /// Takes the smallest value.
    DeleteMin {
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

/// The values, from the smallest to the largest.
pub type State = Row<Atom, 12>;

impl PriorityQueue {
    /// An empty queue.
    pub fn new() -> PriorityQueue {
        PriorityQueue::default()
    }

    /// The values that operations refer to.
    pub fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match *op {
            Op::Insert { .. } => true,
            Op::DeleteMin { value } => value.is_none_or(|value| state.first().copied().unwrap_or(Atom::NIL) == value),
            Op::Len { count } => state.len() == count,
            Op::IsEmpty { ok } => state.is_empty() == ok,
        }
    }
}

impl Spec for PriorityQueue {
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
        matches!(op, Op::Len { .. } | Op::IsEmpty { .. } | Op::DeleteMin { value: Some(Atom::NIL) })
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        match (a, b) {
            (Op::Insert { .. }, Op::Insert { .. }) => true,
            // A larger value does not stand in the way of a smaller one.
            (Op::Insert { value: new }, Op::DeleteMin { value: Some(old) })
            | (Op::DeleteMin { value: Some(old) }, Op::Insert { value: new }) => {
                *old != Atom::NIL && self.atoms.compare(*new, *old).is_gt()
            }
            _ => self.is_observer(a) && self.is_observer(b),
        }
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let value = |atom: Atom| self.atoms.value(atom);
        Some(match *op {
            Op::Insert { .. } => return None,
            Op::DeleteMin { value: returned } => {
                let returned = value(returned.unwrap_or(Atom::NIL));
                match state.first() {
                    Some(&first) => {
                        format!(
                            "`delete_min` returned {returned}, but the smallest value in the queue is {}",
                            value(first)
                        )
                    }
                    None => format!("`delete_min` returned {returned}, but the queue is empty"),
                }
            }
            Op::Len { count } => format!("`len` returned {count}, but the queue holds {} values", state.len()),
            Op::IsEmpty { ok } => {
                format!("`is_empty` returned {}, but the queue holds {} values", Value::Bool(ok), state.len())
            }
        })
    }
}

impl Model for PriorityQueue {
    fn bind(&self, op: &history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op) else { return Ok(None) };
        match fields.action() {
            "insert" | "add" | "push" | "enqueue" => {
                fields.args(1)?;
                fields.acknowledged(None)?;
                Ok(Some(Op::Insert { value: fields.element_arg(0, &["value", "priority", "key"], &self.atoms)? }))
            }
            "delete_min" | "pop" | "dequeue" => {
                fields.args(0)?;
                let value = fields.result(&["value", "priority", "key"])?.map(|value| self.atoms.atom(value));
                Ok(Some(Op::DeleteMin { value }))
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
                Op::Insert { value } => {
                    let place = next.partition_point(|&other| self.atoms.compare(other, value).is_lt());
                    next.insert(place, value);
                }
                Op::DeleteMin { .. } if !state.is_empty() => next.remove(0),
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
        unambiguous::priority_queue::decide(self, history)
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
    fn promises_are_kept() {
        let calls = "insert(1); insert(2); insert(3); insert(2)?; delete_min() = 1; delete_min() = 2; \
                     delete_min() = nil; delete_min()?; len() = 1; is_empty() = TRUE; is_empty() = FALSE";
        check_laws(&PriorityQueue::new(), calls);
    }
}
