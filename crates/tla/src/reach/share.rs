//! Shares values between stored states.
//!
//! There are far fewer distinct values than states: a step changes some variables and leaves the others. A worker
//! remembers the values of the states it found, and a new state reuses them. So states take less memory, and
//! comparing two states mostly compares addresses. If values rarely recur, the worker stops remembering them.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::machine::State;
use crate::value::Value;

/// After this many values, sharing continues only if it has paid off.
const TRIAL: u32 = 16_384;

/// The values that one worker has seen.
#[derive(Default)]
pub(super) struct Shared {
    values: HashSet<Value, FxBuildHasher>,
    asked: u32,
    known: u32,
    is_useless: bool,
}

impl Shared {
    /// The same state, with values seen before where possible.
    pub(super) fn state(&mut self, state: State) -> State {
        if self.is_useless {
            return state;
        }
        state.iter().map(|value| self.value(value)).collect()
    }

    fn value(&mut self, value: &Value) -> Value {
        if !matches!(value, Value::Set(_) | Value::Seq(_) | Value::Fun(_)) {
            return value.clone();
        }
        self.asked = self.asked.saturating_add(1);
        if let Some(known) = self.values.get(value) {
            self.known += 1;
            return known.clone();
        }
        if self.asked > TRIAL && self.known < self.asked / 2 {
            self.is_useless = true;
            self.values = HashSet::default();
        } else {
            self.values.insert(value.clone());
        }
        value.clone()
    }
}
