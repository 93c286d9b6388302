//! States that are kept share their values.
//!
//! Far fewer values than states are different: a step changes some variables and leaves the others. A worker remembers the
//! values of the states it found, and a new state gets the remembered ones. So states take less memory, and most of a
//! comparison of two states is a comparison of addresses. If values hardly ever come again, remembering them is given up.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::machine::State;
use crate::value::Value;

/// After so many values, sharing has to have proved its worth.
const TRIAL: u32 = 16_384;

/// The values that one worker has met.
#[derive(Default)]
pub(super) struct Shared {
    values: HashSet<Value, FxBuildHasher>,
    asked: u32,
    known: u32,
    is_useless: bool,
}

impl Shared {
    /// The same state, made of values that were met before where there are such.
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
