//! A counter.
//!
//! | operation | meaning |
//! |---|---|
//! | `add(delta) = value` | adds to the counter and returns the new value |
//! | `increment() = value` | adds one and returns the new value; also `inc` |
//! | `decrement() = value` | subtracts one and returns the new value; also `dec` |
//! | `fetch_add(delta) = old` | adds to the counter and returns the old value |
//! | `read() = value` | the value; also `get` |

use history::{Call, Value};
use search::Spec;

use crate::bind::Fields;
use crate::model::at_most_one_successor;
use crate::{About, BadCall, Interner, Model};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "counter",
    summary: "a counter",
    operations: &[
        ("add(delta) = value", "adds to the counter and returns the new value"),
        ("increment() = value", "adds one and returns the new value"),
        ("decrement() = value", "subtracts one and returns the new value"),
        ("fetch_add(delta) = old", "adds to the counter and returns the old value"),
        ("read() = value", "the value"),
    ],
    options: &[("initial=5", "initial value [default: 0]")],
};

/// A counter.
#[derive(Debug, Default)]
pub struct Counter {
    initial: i64,
    atoms: Interner,
}

/// An operation on a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Adds a number.
    Add {
        /// The number.
        delta: i64,
        /// The value before, if the result determines it.
        old: Option<i128>,
    },
    /// Reads the value.
    Read {
        /// The value.
        value: i128,
    },
}

/// The value, in a type that recorded numbers cannot overflow.
pub type State = i128;

impl Counter {
    /// A counter with this initial value.
    pub fn new(initial: i64) -> Counter {
        Counter { initial, atoms: Interner::default() }
    }
}

impl Spec for Counter {
    at_most_one_successor!(|counter| counter.initial.into());

    fn is_observer(&self, op: &Op) -> bool {
        matches!(op, Op::Read { .. } | Op::Add { delta: 0, .. })
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        match (a, b) {
            (Op::Add { old: None, .. }, Op::Add { old: None, .. }) => true,
            _ => self.is_observer(a) && self.is_observer(b),
        }
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        match *op {
            Op::Add { delta, old: Some(old) } if old != *state => {
                Some(format!("this operation adds {delta} to {old}, but the counter is at {state}"))
            }
            Op::Read { value } if value != *state => {
                Some(format!("`read` returned {value}, but the counter is at {state}"))
            }
            _ => None,
        }
    }
}

impl Model for Counter {
    fn bind(&self, op: &history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op)? else { return Ok(None) };
        let delta = || {
            fields.args(1)?;
            fields.int_arg(0, &["delta", "value", "amount"])
        };
        let result = |names| fields.read_result(names, "an integer", |value| value.as_int().map(i128::from));
        // A result that only acknowledges the operation is not a value.
        let new = || match fields.acknowledged(None) {
            Ok(()) => Ok(None),
            Err(_) => result(&["value", "new"]),
        };
        let add = |delta: i64| Ok(Some(Op::Add { delta, old: new()?.map(|new| new - i128::from(delta)) }));
        match fields.action() {
            "add" => add(delta()?),
            "increment" | "inc" => fields.args(0).and_then(|()| add(1)),
            "decrement" | "dec" => fields.args(0).and_then(|()| add(-1)),
            "fetch_add" => fields
                .needs_result("old")
                .and_then(|()| Ok(Some(Op::Add { delta: delta()?, old: result(&["old", "value"])? }))),
            "read" | "get" => {
                fields.args(0)?;
                fields.needs_result("value")?;
                Ok(result(&["value"])?.map(|value| Op::Read { value }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        match *op {
            Op::Add { delta, old } => old.is_none_or(|old| old == *state).then_some(state + i128::from(delta)),
            Op::Read { value } => (value == *state).then_some(*state),
        }
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        Value::integer(&state.to_string())
    }

    fn load(&self, saved: &Value) -> Option<State> {
        match saved {
            Value::Int(_) | Value::Big(_) => saved.to_string().parse().ok(),
            _ => None,
        }
    }

    fn show(&self, state: &State) -> String {
        state.to_string()
    }
}

#[cfg(test)]
mod tests {
    use crate::counter::Counter;
    use crate::model::tests::{check, check_laws};

    #[test]
    fn the_counter_counts() {
        insta::assert_snapshot!(
            check(&Counter::new(5), "add(2) = 7; increment(); decrement() = TRUE; fetch_add(1) = 7; read() = 9"),
            @"read() = 9: `read` returned 9, but the counter is at 8"
        );
        insta::assert_snapshot!(
            check(&Counter::new(0), "add(2) = 3"),
            @"add(2) = 3: this operation adds 2 to 1, but the counter is at 0"
        );
        insta::assert_snapshot!(
            check(&Counter::new(0), "add(a)"),
            @r#"the argument `delta` of `add` is `"a"`, not an integer"#
        );
        insta::assert_snapshot!(
            check(&Counter::new(0), "increment(1)"),
            @"`increment` has 1 arguments, and the model `counter` expects 0"
        );
    }

    #[test]
    fn laws_hold() {
        check_laws(
            &Counter::new(0),
            "add(1); add(-1)?; add(0); add(0) = 0; add(2) = 3; fetch_add(1) = 1; read() = 1; read()?",
        );
    }
}
