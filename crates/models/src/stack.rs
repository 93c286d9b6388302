//! A last-in first-out stack.
//!
//! | operation | meaning |
//! |---|---|
//! | `push(value) = ok` | adds a value on top; `ok` is `FALSE` if the stack was full |
//! | `pop() = value` | removes the value on top, or returns `nil` if the stack is empty |
//! | `len() = count` | the number of values; also `size`, `length` |
//! | `is_empty() = ok` | whether the stack is empty; also `empty` |

use omnilink_history::{History, Value};

use crate::container::{Container, Discipline, Op, State, Words};
use crate::unambiguous::{self, Decision};
use crate::{About, Operation};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "stack",
    summary: "a last-in first-out stack",
    operations: &[
        Operation::new("push(value) = ok", "adds a value on top; `ok` is `FALSE` if the stack was full", &[]),
        Operation::new("pop() = value", "removes the value on top, or returns `nil` if the stack is empty", &[]),
        Operation::new("len() = count", "the number of values", &["size", "length"]),
        Operation::new("is_empty() = ok", "whether the stack is empty", &["empty"]),
    ],
    options: &[("capacity=4", "the stack is full when it holds this many values [default: never full]")],
    takes_key: false,
};

/// A last-in first-out stack, initially empty. The value on top comes last in a state.
pub type Stack = Container<Lifo>;

/// The value that came in last goes out first.
#[derive(Debug, Default)]
pub struct Lifo;

impl Stack {
    /// A stack that is full at `capacity` values, if given.
    pub fn new(capacity: Option<usize>) -> Stack {
        Container::with_capacity(capacity)
    }
}

impl Discipline for Lifo {
    const ABOUT: &'static About = &ABOUT;
    const WORDS: Words = Words {
        noun: "stack",
        insert: &["push"],
        remove: &["pop"],
        value: &["value", "element"],
        inserted: "pushed",
        removed: "popped",
    };

    fn exit(state: &State) -> usize {
        state.len().saturating_sub(1)
    }

    fn holds(next: &Value) -> String {
        format!("the stack holds {next} on top")
    }

    fn decide(stack: &Stack, history: &History<Op>) -> Decision {
        unambiguous::stack::decide(stack, history)
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
    fn laws_hold() {
        let calls = "push(1); push(2) = TRUE; push(3) = FALSE; push(4)?; pop() = 1; pop() = 2; \
                     pop() = nil; pop()?; len() = 1; is_empty() = TRUE; is_empty() = FALSE";
        check_laws(&Stack::new(None), calls);
        check_laws(&Stack::new(Some(2)), calls);
    }

    #[test]
    fn invalid_calls_are_rejected() {
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
