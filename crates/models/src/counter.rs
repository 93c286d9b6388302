//! A counter.
//!
//! | operation | meaning |
//! |---|---|
//! | `add(delta) = value` | adds to the counter and returns the new value |
//! | `increment() = value` | adds one and returns the new value; also `inc` |
//! | `decrement() = value` | subtracts one and returns the new value; also `dec` |
//! | `fetch_add(delta) = old` | adds to the counter and returns the old value |
//! | `read() = value` | the value; also `get` |

use omnilink_history::{Call, Value};
use omnilink_search::Spec;

use crate::bind::Fields;
use crate::model::at_most_one_successor;
use crate::{About, BadCall, Interner, Model, Operation};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "counter",
    summary: "a counter",
    operations: &[
        Operation::new("add(delta) = value", "adds to the counter and returns the new value", &[]),
        Operation::new("increment() = value", "adds one and returns the new value", &["inc"]),
        Operation::new("decrement() = value", "subtracts one and returns the new value", &["dec"]),
        Operation::new("fetch_add(delta) = old", "adds to the counter and returns the old value", &[]),
        Operation::new("read() = value", "the value", &["get"]),
    ],
    options: &[("initial=5", "initial value [default: 0]")],
    takes_key: false,
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
        delta: i128,
        /// The value before, if the result determines it.
        old: Option<i128>,
    },
    /// Reads the value.
    Read {
        /// The value.
        value: i128,
    },
}

/// The value, in a type that recorded numbers cannot overflow: they have at most 90 bits, and a history has fewer
/// than 2^32 operations.
pub type State = i128;

/// The largest size of a recorded number.
const BITS: u32 = 90;
const EXPECTED: &str = "an integer of at most 90 bits";

/// An integer of at most 90 bits.
fn integer(value: &Value) -> Option<i128> {
    let integer = match value {
        Value::Int(int) => i128::from(*int),
        Value::Big(big) => big.digits().parse().ok()?,
        _ => return None,
    };
    (integer.unsigned_abs() < 1 << BITS).then_some(integer)
}

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

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Add { old: None, .. })
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
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op, &self.atoms)? else { return Ok(None) };
        let delta = || {
            fields.args(1)?;
            let value = fields.arg(0, &["delta", "value", "amount"])?;
            integer(value).ok_or_else(|| fields.wrong("argument", "delta", value, EXPECTED))
        };
        let result = |names| fields.read_result(names, EXPECTED, integer);
        // A result that only acknowledges the operation is not a value.
        let new = || match fields.acknowledged(None) {
            Ok(()) => Ok(None),
            Err(_) => result(&["value", "new"]),
        };
        let add = |delta: i128| Ok(Some(Op::Add { delta, old: new()?.map(|new| new - delta) }));
        match fields.action() {
            "add" => add(delta()?),
            "increment" | "inc" => fields.args(0).and_then(|()| add(1)),
            "decrement" | "dec" => fields.args(0).and_then(|()| add(-1)),
            "fetch_add" => {
                let delta = delta()?;
                fields.needs_result("old")?;
                Ok(Some(Op::Add { delta, old: result(&["old", "value"])? }))
            }
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
            Op::Add { delta, old } => old.is_none_or(|old| old == *state).then_some(state + delta),
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
            @r#"the argument `delta` of `add` is `"a"`, not an integer of at most 90 bits"#
        );
        insta::assert_snapshot!(
            check(&Counter::new(0), "increment(1)"),
            @"`increment` has 1 arguments, and the model `counter` expects 0"
        );
    }

    #[test]
    fn numbers_may_have_90_bits() {
        insta::assert_snapshot!(
            check(
                &Counter::new(0),
                "add(9223372036854775807) = 9223372036854775807; increment() = 9223372036854775808; \
                 fetch_add(-9223372036854775809) = 9223372036854775808; read() = -1"
            ),
            @"accepted"
        );
        insta::assert_snapshot!(
            check(&Counter::new(0), "add(1237940039285380274899124223); read() = 1237940039285380274899124224"),
            @"the result `value` of `read` is `1237940039285380274899124224`, not an integer of at most 90 bits"
        );
        insta::assert_snapshot!(
            check(&Counter::new(0), "read() = 0.5"),
            @"the result `value` of `read` is `0.5`, not an integer of at most 90 bits"
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
