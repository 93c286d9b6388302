//! A last-in first-out stack.
//!
//! | operation | meaning |
//! |---|---|
//! | `push(value) = ok` | adds a value on top; `ok` is `FALSE` if the stack was full |
//! | `pop() = value` | takes the value on top, or `nil` if the stack is empty |
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
    name: "stack",
    summary: "a last-in first-out stack",
    operations: &[
        ("push(value) = ok", "adds a value on top; `ok` is `FALSE` if the stack was full"),
        ("pop() = value", "takes the value on top, or `nil` if the stack is empty"),
        ("len() = count", "how many values there are"),
        ("is_empty() = ok", "whether there are none"),
    ],
    options: &[("capacity=4", "the stack is full when it holds this many values; without it, it is never full")],
};

/// A last-in first-out stack, initially empty.
#[derive(Debug, Default)]
pub struct Stack {
    capacity: Option<usize>,
    atoms: Interner,
}

/// An operation on a stack. Results that were not recorded are `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds a value.
    Push {
        /// The value.
        value: Atom,
        /// False if the stack was full.
        ok: Option<bool>,
    },
    /// Takes a value.
    Pop {
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

/// The values, the one on top last.
pub type State = Row<Atom, 12>;

impl Stack {
    /// A stack that is full when it holds `capacity` values, if that is given.
    pub fn new(capacity: Option<usize>) -> Stack {
        Stack { capacity, atoms: Interner::default() }
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
            Op::Push { ok, .. } => ok.is_none_or(|ok| ok != self.is_full(state)),
            Op::Pop { value } => value.is_none_or(|value| state.last().copied().unwrap_or(Atom::NIL) == value),
            Op::Len { count } => state.len() == count,
            Op::IsEmpty { ok } => state.is_empty() == ok,
        }
    }
}

impl Spec for Stack {
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
            Op::Len { .. } | Op::IsEmpty { .. } | Op::Push { ok: Some(false), .. } | Op::Pop { value: Some(Atom::NIL) }
        )
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        self.is_observer(a) && self.is_observer(b)
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let count = state.len();
        Some(match *op {
            Op::Push { ok: Some(false), .. } => match self.capacity {
                Some(capacity) => {
                    format!("`push` was refused, but the stack holds only {count} of at most {capacity} values")
                }
                None => "`push` was refused, but the stack is never full".into(),
            },
            Op::Push { .. } => format!("`push` was not refused, but the stack is full: it holds {count} values"),
            Op::Pop { value } => {
                let returned = self.atoms.value(value.unwrap_or(Atom::NIL));
                match state.last() {
                    Some(top) => {
                        let top = self.atoms.value(*top);
                        format!("`pop` returned {returned}, but the stack holds {top} on top")
                    }
                    None => format!("`pop` returned {returned}, but the stack is empty"),
                }
            }
            Op::Len { count: returned } => format!("`len` returned {returned}, but the stack holds {count} values"),
            Op::IsEmpty { ok } => {
                format!("`is_empty` returned {}, but the stack holds {} values", Value::Bool(ok), state.len())
            }
        })
    }
}

impl Model for Stack {
    fn bind(&self, op: &history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op) else { return Ok(None) };
        match fields.action() {
            "push" => {
                fields.args(1)?;
                let value = fields.element_arg(0, &["value", "element"], &self.atoms)?;
                Ok(Some(Op::Push { value, ok: fields.ok()? }))
            }
            "pop" => {
                fields.args(0)?;
                let value = fields.result(&["value", "element"])?.map(|value| self.atoms.atom(value));
                Ok(Some(Op::Pop { value }))
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
                Op::Push { value, .. } if !self.is_full(state) => next.push(value),
                Op::Pop { .. } if !state.is_empty() => next.remove(state.len() - 1),
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
        unambiguous::stack::decide(self, history)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::tests::{check, check_laws};
    use crate::stack::Stack;

    #[test]
    fn the_last_value_comes_out_first() {
        insta::assert_snapshot!(check(&Stack::new(None), "push(1); push(2); len() = 2; pop() = 2"), @"accepted");
        insta::assert_snapshot!(
            check(&Stack::new(None), "push(1); pop() = 1; pop() = nil; pop() = 1"),
            @"pop() = 1: `pop` returned 1, but the stack is empty"
        );
    }

    #[test]
    fn a_full_stack_refuses() {
        insta::assert_snapshot!(
            check(&Stack::new(Some(1)), "push(1) = TRUE; push(2) = FALSE; push(2) = TRUE"),
            @"push(2) = TRUE: `push` was not refused, but the stack is full: it holds 1 values"
        );
        insta::assert_snapshot!(
            check(&Stack::new(Some(2)), "push(1) = FALSE"),
            @"push(1) = FALSE: `push` was refused, but the stack holds only 0 of at most 2 values"
        );
        insta::assert_snapshot!(
            check(&Stack::new(None), "push(1) = FALSE"),
            @"push(1) = FALSE: `push` was refused, but the stack is never full"
        );
        insta::assert_snapshot!(check(&Stack::new(Some(1)), "push(1); push(2)?; pop()?; pop() = nil"), @"accepted");
    }

    #[test]
    fn promises_are_kept() {
        let calls = "push(1); push(2) = TRUE; push(3) = FALSE; push(4)?; pop() = 1; pop() = 2; \
                     pop() = nil; pop()?; len() = 1; is_empty() = TRUE; is_empty() = FALSE";
        check_laws(&Stack::new(None), calls);
        check_laws(&Stack::new(Some(2)), calls);
    }

    #[test]
    fn calls_that_mean_nothing_are_refused() {
        insta::assert_snapshot!(
            check(&Stack::new(None), "peek()"),
            @"`peek` is not an operation of the model `stack`, which has `push(value) = ok`, `pop() = value`, `len() = count`, `is_empty() = ok`"
        );
        insta::assert_snapshot!(
            check(&Stack::new(None), "push()"),
            @"`push` has 0 arguments, and the model `stack` expects 1"
        );
        insta::assert_snapshot!(
            check(&Stack::new(None), "push(nil)"),
            @"the argument `value` of `push` is `nil`, not a value"
        );
        insta::assert_snapshot!(
            check(&Stack::new(None), "len() = TRUE"),
            @"the result `count` of `len` is `TRUE`, not a number of elements"
        );
    }
}
