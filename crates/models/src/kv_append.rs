//! A map from keys to strings that grow.
//!
//! | operation | meaning |
//! |---|---|
//! | `put(key, value)` | replaces the string under the key; also `write`, `set` |
//! | `append(key, value)` | adds to the end of the string under the key |
//! | `get(key) = value` | the string under the key, initially empty; also `read` |
//!
//! Histories are decided key by key. A state carries the hash of each string, so comparing states that differ is as
//! cheap as for other models.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use omnilink_history::{Call, Value};
use omnilink_search::Spec;
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use crate::bind::Fields;
use crate::model::at_most_one_successor;
use crate::{About, Atom, BadCall, Interner, Model, Operation};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "kv-append",
    summary: "a map from keys to strings that grow",
    operations: &[
        Operation::new("put(key, value)", "replaces the string under the key", &["write", "set"]),
        Operation::new("append(key, value)", "adds to the end of the string under the key", &[]),
        Operation::new("get(key) = value", "the string under the key, initially empty", &["read"]),
    ],
    options: &[],
    takes_key: true,
};

/// A map from keys to strings, initially empty.
#[derive(Debug, Default)]
pub struct KvAppend {
    atoms: Interner,
}

/// An operation on one key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Replaces the string.
    Put {
        /// The key.
        key: Atom,
        /// The new string.
        value: Text,
    },
    /// Adds to the end of the string.
    Append {
        /// The key.
        key: Atom,
        /// The suffix.
        value: Text,
    },
    /// Reads the string.
    Get {
        /// The key.
        key: Atom,
        /// The string.
        value: Text,
    },
}

/// The keys whose strings are not empty; keys strictly increase.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct State(SmallVec<[(Atom, Text); 1]>);

/// A string with its hash.
#[derive(Clone, Debug)]
pub struct Text {
    hash: u64,
    text: Arc<str>,
}

impl Text {
    fn new(text: Arc<str>) -> Text {
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        Text { hash: hasher.finish(), text }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl State {
    fn held(&self, key: Atom) -> &str {
        self.0.iter().find(|pair| pair.0 == key).map_or("", |pair| &pair.1.text)
    }

    fn put(&mut self, key: Atom, value: Text) {
        let place = self.0.partition_point(|pair| pair.0 < key);
        match self.0.get_mut(place) {
            Some(pair) if pair.0 == key && value.text.is_empty() => drop(self.0.remove(place)),
            Some(pair) if pair.0 == key => pair.1 = value,
            _ if value.text.is_empty() => {}
            _ => self.0.insert(place, (key, value)),
        }
    }
}

impl KvAppend {
    /// An empty map.
    pub fn new() -> KvAppend {
        KvAppend::default()
    }
}

impl Spec for KvAppend {
    at_most_one_successor!(|_| State::default());

    fn is_observer(&self, op: &Op) -> bool {
        matches!(op, Op::Get { .. })
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        self.partition(a) != self.partition(b) || (self.is_observer(a) && self.is_observer(b))
    }

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Put { .. } | Op::Append { .. })
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        match op {
            Op::Get { key, value } if state.held(*key) != &*value.text => {
                let (key_text, held) = (self.atoms.value(*key), state.held(*key));
                Some(format!("`get` returned {:?}, but the map holds {held:?} under {key_text}", value.text))
            }
            _ => None,
        }
    }
}

impl Model for KvAppend {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op, &self.atoms)? else { return Ok(None) };
        let key = || fields.arg(0, &["key"]).map(|value| self.atoms.key(value));
        let text = |value: &Value| match value {
            Value::Str(text) => Some(Text::new(text.clone())),
            // It was a text of digits.
            Value::Int(_) | Value::Big(_) | Value::Float(_) if self.atoms.reads_digits() => {
                Some(Text::new(value.to_string().into()))
            }
            _ => None,
        };
        let value = || {
            let value = fields.arg(1, &["value"])?;
            fields.acknowledged(Some(value))?;
            text(value).ok_or_else(|| fields.wrong("argument", "value", value, "a string"))
        };
        match fields.action() {
            "put" | "write" | "set" => {
                fields.args(2)?;
                Ok(Some(Op::Put { key: key()?, value: value()? }))
            }
            "append" => {
                fields.args(2)?;
                Ok(Some(Op::Append { key: key()?, value: value()? }))
            }
            "get" | "read" => {
                fields.args(1)?;
                let key = key()?;
                fields.needs_result("value")?;
                Ok(fields.read_result(&["value"], "a string", text)?.map(|value| Op::Get { key, value }))
            }
            _ => Err(fields.unknown()),
        }
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        let (key, value) = match op {
            Op::Get { key, value } => return (state.held(*key) == &*value.text).then(|| state.clone()),
            Op::Put { key, value } => (*key, value.clone()),
            Op::Append { key, value } => (*key, Text::new([state.held(*key), &value.text].concat().into())),
        };
        let mut next = state.clone();
        next.put(key, value);
        Some(next)
    }

    fn partition(&self, op: &Op) -> Option<Atom> {
        let (Op::Put { key, .. } | Op::Append { key, .. } | Op::Get { key, .. }) = op;
        Some(*key)
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        let pair = |(key, text): &(Atom, Text)| Value::tuple([self.atoms.value(*key), Value::Str(text.text.clone())]);
        Some(Value::tuple(state.0.iter().map(pair)))
    }

    fn load(&self, saved: &Value) -> Option<State> {
        let mut state = State::default();
        for pair in saved.as_tuple()? {
            let [key, Value::Str(text)] = pair.as_tuple()? else { return None };
            state.put(self.atoms.key(key), Text::new(text.clone()));
        }
        Some(state)
    }

    fn show(&self, state: &State) -> String {
        self.atoms.show_map(state.0.iter().map(|(key, text)| (*key, Value::Str(text.text.clone()))))
    }
}

#[cfg(test)]
mod tests {
    use crate::kv_append::KvAppend;
    use crate::model::tests::{check, check_laws};

    #[test]
    fn strings_grow_at_the_end() {
        insta::assert_snapshot!(
            check(&KvAppend::new(), "append(1, a); append(1, b); get(1) = ab; append(2, c); get(1) = ba"),
            @r#"get(1) = ba: `get` returned "ba", but the map holds "ab" under 1"#
        );
        insta::assert_snapshot!(
            check(&KvAppend::new(), "get(1) = \"\"; put(1, a)?; put(1, b); get(1) = \"\""),
            @r#"get(1) = "": `get` returned "", but the map holds "b" under 1"#
        );
        insta::assert_snapshot!(
            check(&KvAppend::new(), "append(1, 2)"),
            @"the argument `value` of `append` is `2`, not a string"
        );
        insta::assert_snapshot!(
            check(&KvAppend::new(), "get(1) = nil"),
            @"the result `value` of `get` is `nil`, not a string"
        );
    }

    #[test]
    fn laws_hold() {
        check_laws(
            &KvAppend::new(),
            "append(1, a); append(2, b)?; put(1, \"\"); put(1, a); get(1) = a; get(2) = \"\"; get(1) = aa",
        );
    }
}
