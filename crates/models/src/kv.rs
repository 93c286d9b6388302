//! A map from keys to values.
//!
//! | operation | meaning |
//! |---|---|
//! | `put(key, value) = old` | sets the value of the key; also `write`, `set`, `insert_or_assign` |
//! | `get(key) = value` | the value of the key, or `nil`; also `read`, `find` |
//! | `insert(key, value) = ok` | sets the value unless the key exists; also `add`, `try_insert` |
//! | `erase(key) = old` | removes the key; a truth value says whether it existed; also `remove`, `delete` |
//! | `contains(key) = ok` | whether the key exists; also `has`, `contains_key` |
//! | `range_count(lo, hi) = count` | the number of keys from `lo` to `hi`, both included |
//! | `len() = count` | the number of keys; also `size`, `length` |
//! | `is_empty() = ok` | whether the map is empty; also `empty` |
//! | `clear()` | removes all keys |
//! | `scan() = pairs` | all keys with their values, as a function, a record or a list of pairs; also `items` |
//!
//! A tuple is a function with the keys `1..n` too, so a result of `scan` may have two readings, of which one must be right.
//!
//! A result named `ok` acknowledges a `put`, and says of `erase` whether the key existed. A history in which every
//! operation has one key is decided key by key.

use std::sync::Arc;

use omnilink_history::{Call, History, Value};
use omnilink_search::Spec;
use omnilink_weak::registers::{self, Touch};
use smallvec::SmallVec;

use crate::bind::Fields;
use crate::digits::Role;
use crate::model::at_most_one_successor;
use crate::unambiguous::Decision;
use crate::unambiguous::register::{Access, View, decide};
use crate::{About, Atom, BadCall, Interner, Model, Operation, Row};

/// Help text of this model.
pub const ABOUT: About = About {
    name: "kv",
    summary: "a map from keys to values",
    operations: &[
        Operation::new("put(key, value) = old", "sets the value of the key", &["write", "set", "insert_or_assign"]),
        Operation::new("get(key) = value", "the value of the key, or `nil`", &["read", "find"]),
        Operation::new("insert(key, value) = ok", "sets the value unless the key exists", &["add", "try_insert"]),
        Operation::new(
            "erase(key) = old",
            "removes the key; a truth value says whether it existed",
            &["remove", "delete"],
        ),
        Operation::new("contains(key) = ok", "whether the key exists", &["has", "contains_key"]),
        Operation::new("range_count(lo, hi) = count", "the number of keys from `lo` to `hi`, both included", &[]),
        Operation::new("len() = count", "the number of keys", &["size", "length"]),
        Operation::new("is_empty() = ok", "whether the map is empty", &["empty"]),
        Operation::new("clear()", "removes all keys", &[]),
        Operation::new(
            "scan() = pairs",
            "all keys with their values, as a function, a record or a list of pairs",
            &["items"],
        ),
    ],
    options: &[("absent=\"\"", "result of `get` for a missing key [default: nil]")],
    takes_key: true,
};

/// A map, initially empty.
#[derive(Debug)]
pub struct Kv {
    absent: Atom,
    atoms: Interner,
}

/// An operation on a map. Results that were not recorded are `None`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Sets the value of the key.
    Put {
        /// The key.
        key: Atom,
        /// The new value.
        value: Atom,
        /// The old value.
        old: Option<Atom>,
    },
    /// Reads the value of the key.
    Get {
        /// The key.
        key: Atom,
        /// The value.
        value: Atom,
    },
    /// Sets the value unless the key exists.
    Insert {
        /// The key.
        key: Atom,
        /// The new value.
        value: Atom,
        /// False if the key existed.
        ok: Option<bool>,
    },
    /// Removes the key.
    Erase {
        /// The key.
        key: Atom,
        /// The result.
        old: Option<Erased>,
    },
    /// Tests whether the key exists.
    Contains {
        /// The key.
        key: Atom,
        /// Whether it exists.
        ok: bool,
    },
    /// Counts the keys of a range.
    RangeCount {
        /// The lower end, included.
        lo: Atom,
        /// The upper end, included.
        hi: Atom,
        /// The number of keys in it.
        count: usize,
    },
    /// Counts all keys.
    Len {
        /// The number of keys.
        count: usize,
    },
    /// Tests whether the map is empty.
    IsEmpty {
        /// True if it is empty.
        ok: bool,
    },
    /// Removes all keys.
    Clear,
    /// Reads all pairs.
    Scan {
        /// The readings of the result, of which one is right; at least one.
        readings: Arc<[Pairs]>,
    },
}

/// Keys with their values; keys strictly increase.
type Pairs = Arc<[(Atom, Atom)]>;

/// The result of `erase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erased {
    /// Whether the key existed.
    Ok(bool),
    /// The old value.
    Old(Atom),
}

/// The keys with their values; keys strictly increase.
pub type State = Row<(Atom, Atom), 12>;

impl Kv {
    /// A map in which missing keys read as `absent`.
    pub fn new(absent: &Value) -> Kv {
        let atoms = Interner::default();
        Kv { absent: atoms.give(Role::Value, absent), atoms }
    }

    fn held(&self, state: &State, key: Atom) -> Atom {
        state.look_up(key).unwrap_or(self.absent)
    }

    fn is_between(&self, lo: Atom, key: Atom, hi: Atom) -> bool {
        self.atoms.compare(lo, key).is_le() && self.atoms.compare(key, hi).is_le()
    }

    fn count(&self, state: &State, lo: Atom, hi: Atom) -> usize {
        let is_between = |key: Atom| match (lo.as_int(), key.as_int(), hi.as_int()) {
            (Some(lo), Some(key), Some(hi)) => lo <= key && key <= hi,
            _ => self.is_between(lo, key, hi),
        };
        state.iter().filter(|pair| is_between(pair.0)).count()
    }

    /// The value of a key directly after this operation has taken effect; the inner `None` if the key does not exist.
    fn left_by(&self, op: &Op) -> Option<(Atom, Option<Atom>)> {
        match *op {
            Op::Put { key, value, .. } | Op::Insert { key, value, ok: Some(true) } => Some((key, Some(value))),
            Op::Erase { key, .. } => Some((key, None)),
            _ => None,
        }
    }

    fn is_enabled(&self, state: &State, op: &Op) -> bool {
        match op {
            Op::Put { key, old, .. } => old.is_none_or(|old| self.held(state, *key) == old),
            Op::Get { key, value } => self.held(state, *key) == *value,
            Op::Insert { key, ok, .. } => ok.is_none_or(|ok| ok == state.look_up(*key).is_none()),
            Op::Erase { key, old: Some(Erased::Ok(ok)) } | Op::Contains { key, ok } => {
                state.look_up(*key).is_some() == *ok
            }
            Op::Erase { key, old: Some(Erased::Old(old)) } => self.held(state, *key) == *old,
            Op::Erase { old: None, .. } | Op::Clear => true,
            Op::RangeCount { lo, hi, count } => self.count(state, *lo, *hi) == *count,
            Op::Len { count } => state.len() == *count,
            Op::IsEmpty { ok } => state.is_empty() == *ok,
            Op::Scan { readings } => readings.iter().any(|pairs| **pairs == **state),
        }
    }

    /// The effect of an operation on the register of its key. All must be on the same key.
    fn access(&self, key: Option<Atom>, op: &omnilink_history::Op<Op>) -> Result<Access, String> {
        let is_unfinished = op.interval.is_unfinished();
        match op.call {
            _ if self.partition(&op.call).is_none() => Err("an operation concerns several keys".into()),
            _ if self.partition(&op.call) != key => Err("there are several keys".into()),
            Op::Put { value, old: None, .. } => Ok(Access::Write(value)),
            Op::Put { value, old: Some(old), .. } => Ok(Access::Replace(old, value)),
            Op::Get { value, .. } => Ok(Access::Read(value)),
            Op::Insert { ok: Some(false), .. } | Op::Contains { ok: true, .. } => Ok(Access::Miss(self.absent)),
            Op::Insert { value, ok, .. } if ok.is_some() || is_unfinished => Ok(Access::Replace(self.absent, value)),
            Op::Insert { .. } => Err("an `insert` has no recorded result".into()),
            Op::Erase { old: Some(Erased::Ok(false)), .. } | Op::Contains { .. } => Ok(Access::Read(self.absent)),
            Op::Erase { old: Some(Erased::Old(old)), .. } if old == self.absent => Ok(Access::Read(self.absent)),
            _ => Err("a key was erased".into()),
        }
    }

    fn show_op(&self, op: &Op) -> String {
        let value = |atom: Atom| self.atoms.value(atom);
        let result = |result: Option<Value>| result.map(|result| format!(" = {result}")).unwrap_or_default();
        match op {
            Op::Put { key, value: new, old } => {
                format!("put({}, {}){}", value(*key), value(*new), result(old.map(value)))
            }
            Op::Get { key, value: held } => format!("get({}) = {}", value(*key), value(*held)),
            Op::Insert { key, value: new, ok } => {
                format!("insert({}, {}){}", value(*key), value(*new), result(ok.map(Value::Bool)))
            }
            Op::Erase { key, old } => {
                let old = old.map(|old| match old {
                    Erased::Ok(ok) => Value::Bool(ok),
                    Erased::Old(old) => value(old),
                });
                format!("erase({}){}", value(*key), result(old))
            }
            Op::Contains { key, ok } => format!("contains({}) = {}", value(*key), Value::Bool(*ok)),
            Op::RangeCount { .. } | Op::Len { .. } | Op::IsEmpty { .. } | Op::Clear | Op::Scan { .. } => {
                unreachable!("the procedure leaves histories with such operations to the search")
            }
        }
    }

    /// The readings of a result of `scan`: a function or record; or a tuple, which is a list of pairs, or a function with
    /// the domain `1..n`. A tuple of pairs may be either.
    fn readings(&self, value: &Value) -> Option<Arc<[Pairs]>> {
        let pair = |(key, value): (&Value, &Value)| (self.atoms.key(key), self.atoms.atom(value));
        let mut readings: SmallVec<[Vec<(Atom, Atom)>; 2]> = SmallVec::new();
        match value {
            Value::Function(function) => {
                readings.push(function.pairs().iter().map(|(key, value)| pair((key, value))).collect());
            }
            Value::Tuple(elements) => {
                let as_pair = |element: &Value| match element.as_tuple() {
                    Some([key, value]) => Some(pair((key, value))),
                    _ => None,
                };
                readings.extend(elements.iter().map(as_pair).collect::<Option<_>>());
                // The keys of the less likely reading are no sign that numbers are keys.
                let key = |key: &Value| match readings.is_empty() {
                    true => self.atoms.key(key),
                    false => self.atoms.word(key),
                };
                let keys = (1..=elements.len() as i64).map(|place| key(&Value::Int(place)));
                let pairs = keys.zip(elements.iter()).map(|(key, value)| (key, self.atoms.word(value))).collect();
                readings.push(pairs);
            }
            _ => return None,
        }
        readings.iter_mut().for_each(|pairs| pairs.sort_unstable());
        readings.retain(|pairs| pairs.windows(2).all(|pair| pair[0].0 != pair[1].0));
        (!readings.is_empty()).then(|| readings.into_iter().map(Pairs::from).collect())
    }
}

impl Spec for Kv {
    at_most_one_successor!(|_| State::default());

    fn allows(&self, state: &State, op: &Op) -> Result<bool, Self::Error> {
        Ok(self.is_enabled(state, op))
    }

    fn is_observer(&self, op: &Op) -> bool {
        match op {
            Op::Get { .. }
            | Op::Contains { .. }
            | Op::RangeCount { .. }
            | Op::Len { .. }
            | Op::IsEmpty { .. }
            | Op::Scan { .. } => true,
            Op::Insert { ok, .. } => *ok == Some(false),
            Op::Erase { old, .. } => *old == Some(Erased::Ok(false)),
            Op::Put { .. } | Op::Clear => false,
        }
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        let outside = |range: &Op, point: &Op| match (range, self.partition(point)) {
            (Op::RangeCount { lo, hi, .. }, Some(key)) => !self.is_between(*lo, key, *hi),
            _ => false,
        };
        match (self.partition(a), self.partition(b)) {
            (Some(a), Some(b)) if a != b => true,
            _ => (self.is_observer(a) && self.is_observer(b)) || outside(a, b) || outside(b, a),
        }
    }

    fn is_total(&self, op: &Op) -> bool {
        matches!(op, Op::Put { old: None, .. } | Op::Insert { ok: None, .. } | Op::Erase { old: None, .. } | Op::Clear)
    }

    fn overwrites(&self, later: &Op, earlier: &Op) -> bool {
        match later {
            Op::Clear => true,
            Op::Put { old: None, key, .. } | Op::Erase { old: None, key } => self.partition(earlier) == Some(*key),
            _ => false,
        }
    }

    fn precludes(&self, earlier: &Op, later: &Op) -> bool {
        let is_left = self.left_by(earlier).filter(|&(key, _)| self.partition(later) == Some(key));
        is_left.is_some_and(|(key, held)| {
            let mut state = State::default();
            held.into_iter().for_each(|held| state.put(key, held));
            !self.is_enabled(&state, later)
        })
    }

    fn why_not(&self, state: &State, op: &Op) -> Option<String> {
        if self.is_enabled(state, op) {
            return None;
        }
        let value = |atom: Atom| self.atoms.value(atom);
        let held = |key: Atom| match state.look_up(key) {
            Some(held) => format!("the map holds {} under {}", value(held), value(key)),
            None => format!("the map holds nothing under {}", value(key)),
        };
        Some(match op {
            Op::Put { key, old, .. } => {
                format!("`put` returned {}, but {}", value(old.unwrap_or(self.absent)), held(*key))
            }
            Op::Get { key, value: returned } => format!("`get` returned {}, but {}", value(*returned), held(*key)),
            Op::Insert { key, ok, .. } => {
                format!("`insert` returned {}, but {}", Value::Bool(*ok == Some(true)), held(*key))
            }
            Op::Erase { key, old: Some(Erased::Old(old)) } => {
                format!("`erase` returned {}, but {}", value(*old), held(*key))
            }
            Op::Erase { key, old } => {
                format!("`erase` returned {}, but {}", Value::Bool(*old == Some(Erased::Ok(true))), held(*key))
            }
            Op::Contains { key, ok } => format!("`contains` returned {}, but {}", Value::Bool(*ok), held(*key)),
            Op::RangeCount { lo, hi, count } => {
                let (found, lo_text, hi_text) = (self.count(state, *lo, *hi), value(*lo), value(*hi));
                format!("`range_count` returned {count}, but the map holds {found} keys from {lo_text} to {hi_text}")
            }
            Op::Len { count } => format!("`len` returned {count}, but the map holds {} keys", state.len()),
            Op::IsEmpty { ok } => {
                format!("`is_empty` returned {}, but the map holds {} keys", Value::Bool(*ok), state.len())
            }
            Op::Scan { readings } => {
                let pairs = &readings[0];
                let missing = state.iter().find(|pair| !pairs.contains(pair)).map(|pair| pair.0);
                let key = missing.or_else(|| pairs.iter().find(|pair| !state.contains(pair)).map(|pair| pair.0))?;
                let returned = pairs.iter().find(|pair| pair.0 == key).map(|pair| value(pair.1).to_string());
                format!(
                    "`scan` returned {} under {}, but {}",
                    returned.unwrap_or("nothing".into()),
                    value(key),
                    held(key)
                )
            }
            Op::Clear => return None,
        })
    }
}

impl Model for Kv {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Op>, BadCall> {
        let Some(fields) = Fields::of(&ABOUT, op, &self.atoms)? else { return Ok(None) };
        let atom = |value: &Value| self.atoms.atom(value);
        let key = || fields.arg(0, &["key"]).map(|key| self.atoms.key(key));
        let value = || fields.arg(1, &["value"]).map(atom);
        Ok(Some(match fields.action() {
            "get" | "read" | "find" => {
                fields.args(1)?;
                let key = key()?;
                fields.needs_result("value")?;
                let Some(value) = fields.result(&["value"])? else { return Ok(None) };
                Op::Get { key, value: atom(value) }
            }
            "put" | "write" | "set" | "insert_or_assign" => {
                fields.args(2)?;
                let (key, value) = (key()?, value()?);
                if fields.result_is_called("ok") {
                    fields.acknowledged(None)?;
                    return Ok(Some(Op::Put { key, value, old: None }));
                }
                Op::Put { key, value, old: fields.result(&["old", "previous"])?.map(atom) }
            }
            "insert" | "add" | "try_insert" => {
                fields.args(2)?;
                Op::Insert { key: key()?, value: value()?, ok: fields.ok()? }
            }
            "erase" | "remove" | "delete" => {
                fields.args(1)?;
                let key = key()?;
                let old = fields.result(&["old", "previous", "value", "ok"])?.map(|result| match result.as_bool() {
                    Some(ok) => Erased::Ok(ok),
                    None => Erased::Old(atom(result)),
                });
                Op::Erase { key, old }
            }
            "contains" | "has" | "contains_key" => {
                fields.args(1)?;
                let key = key()?;
                fields.needs_result("ok")?;
                let Some(ok) = fields.ok()? else { return Ok(None) };
                Op::Contains { key, ok }
            }
            "range_count" => {
                fields.args(2)?;
                let end = |place, names| fields.arg(place, names).map(|end| self.atoms.key(end));
                let (lo, hi) = (end(0, &["lo", "from"])?, end(1, &["hi", "to"])?);
                fields.needs_result("count")?;
                let Some(count) = fields.count()? else { return Ok(None) };
                Op::RangeCount { lo, hi, count }
            }
            "len" | "size" | "length" => {
                fields.args(0)?;
                fields.needs_result("count")?;
                let Some(count) = fields.count()? else { return Ok(None) };
                Op::Len { count }
            }
            "is_empty" | "empty" => {
                fields.args(0)?;
                fields.needs_result("ok")?;
                let Some(ok) = fields.ok()? else { return Ok(None) };
                Op::IsEmpty { ok }
            }
            "clear" => {
                fields.args(0)?;
                fields.acknowledged(None)?;
                Op::Clear
            }
            "scan" | "items" => {
                fields.args(0)?;
                let expected = "a function, a record or a list of pairs";
                fields.needs_result("pairs")?;
                let readings = fields.read_result(&["pairs", "value"], expected, |value| self.readings(value))?;
                let Some(readings) = readings else { return Ok(None) };
                Op::Scan { readings }
            }
            _ => return Err(fields.unknown()),
        }))
    }

    fn next(&self, state: &State, op: &Op) -> Option<State> {
        if !self.is_enabled(state, op) {
            return None;
        }
        let mut next = state.clone();
        match op {
            Op::Put { key, value, .. } => next.put(*key, *value),
            Op::Insert { key, value, .. } if state.look_up(*key).is_none() => next.put(*key, *value),
            Op::Erase { key, .. } => next.erase(*key),
            Op::Clear => next.clear(),
            _ => {}
        }
        Some(next)
    }

    fn partition(&self, op: &Op) -> Option<Atom> {
        match op {
            Op::Put { key, .. }
            | Op::Get { key, .. }
            | Op::Insert { key, .. }
            | Op::Erase { key, .. }
            | Op::Contains { key, .. } => Some(*key),
            Op::RangeCount { .. } | Op::Len { .. } | Op::IsEmpty { .. } | Op::Clear | Op::Scan { .. } => None,
        }
    }

    fn touch(&self, op: &Op) -> Option<(Touch, u64)> {
        let (key, value, access) = match *op {
            Op::Get { key, value } => (key, value, registers::Access::Read),
            Op::Put { key, value, old: None } => (key, value, registers::Access::Write),
            _ => return None,
        };
        let touch = Touch { key: key.number(), value: value.number().into(), access };
        Some((touch, self.absent.number().into()))
    }

    fn atoms(&self) -> &Interner {
        &self.atoms
    }

    fn save(&self, state: &State) -> Option<Value> {
        Some(self.atoms.save_map(state))
    }

    fn settled(&self, op: &Op) -> Option<State> {
        matches!(op, Op::Put { old: None, .. }).then(|| self.next(&State::default(), op)).flatten()
    }

    fn load(&self, saved: &Value) -> Option<State> {
        self.atoms.load_map(saved)
    }

    fn show(&self, state: &State) -> String {
        self.atoms.show_map(state.iter().map(|&(key, value)| (key, self.atoms.value(value))))
    }

    fn decide(&self, history: &History<Op>) -> Decision {
        let key = history.ops().first().and_then(|op| self.partition(&op.call));
        let access = |op: &omnilink_history::Op<Op>| self.access(key, op);
        decide(&View { initial: self.absent, atoms: &self.atoms, access, show: |op: &Op| self.show_op(op) }, history)
    }
}

#[cfg(test)]
mod tests {
    use omnilink_history::Value;

    use crate::kv::Kv;
    use crate::model::tests::{check, check_laws};

    fn kv() -> Kv {
        Kv::new(&Value::Nil)
    }

    #[test]
    fn keys_hold_the_last_put() {
        insta::assert_snapshot!(
            check(&kv(), "get(1) = nil; put(1, a); put(1, b) = a; get(1) = b; get(2) = b"),
            @r#"get(2) = b: `get` returned "b", but the map holds nothing under 2"#
        );
        insta::assert_snapshot!(
            check(&kv(), "put(1, a) = nil; put(1, b) = nil"),
            @r#"put(1, b) = nil: `put` returned nil, but the map holds "a" under 1"#
        );
        insta::assert_snapshot!(
            check(&kv(), "insert(1, a) = TRUE; insert(1, b) = FALSE; get(1) = a; insert(1, c) = TRUE"),
            @r#"insert(1, c) = TRUE: `insert` returned TRUE, but the map holds "a" under 1"#
        );
        insta::assert_snapshot!(
            check(&kv(), "put(1, a); erase(1) = TRUE; erase(1) = nil; erase(1) = a"),
            @r#"erase(1) = a: `erase` returned "a", but the map holds nothing under 1"#
        );
        insta::assert_snapshot!(
            check(&kv(), "contains(1) = FALSE; erase(1)?; erase(1) = FALSE; contains(1) = TRUE"),
            @"contains(1) = TRUE: `contains` returned TRUE, but the map holds nothing under 1"
        );
        insta::assert_snapshot!(
            check(&Kv::new(&"".into()), "get(1) = \"\"; get(1) = nil"),
            @"get(1) = nil: `get` returned nil, but the map holds nothing under 1"
        );
    }

    #[test]
    fn some_operations_see_many_keys() {
        insta::assert_snapshot!(
            check(&kv(), "put(3, a); put(5, b); range_count(3, 5) = 2; range_count(4, 9) = 2"),
            @"range_count(4, 9) = 2: `range_count` returned 2, but the map holds 1 keys from 4 to 9"
        );
        insta::assert_snapshot!(
            check(&kv(), "put(3, a); len() = 1; clear(); is_empty() = TRUE; len() = 1"),
            @"len() = 1: `len` returned 1, but the map holds 0 keys"
        );
        insta::assert_snapshot!(
            check(&kv(), "put(3, a); scan() = [3: a]; scan() = <<3, a>>; scan() = [3: b]"),
            @r#"scan() = [3: b]: `scan` returned "b" under 3, but the map holds "a" under 3"#
        );
        insta::assert_snapshot!(
            check(&kv(), "put(3, a); scan() = <>"),
            @r#"scan() = <>: `scan` returned nothing under 3, but the map holds "a" under 3"#
        );
        insta::assert_snapshot!(
            check(&kv(), "scan() = 3"),
            @"the result `pairs` of `scan` is `3`, not a function, a record or a list of pairs"
        );
    }

    #[test]
    fn a_range_has_every_key_between_its_ends() {
        insta::assert_snapshot!(
            check(
                &kv(),
                "put(1.5, a); put(100000000000000000000, a); put(b, a); range_count(1, 3) = 1; \
                 range_count(1.5, 2) = 1; range_count(2, 3) = 0; range_count(0, 200000000000000000000) = 2; \
                 range_count(1, 3) = 0"
            ),
            @"range_count(1, 3) = 0: `range_count` returned 0, but the map holds 1 keys from 1 to 3"
        );
    }

    #[test]
    fn a_tuple_is_a_function_too() {
        insta::assert_snapshot!(
            check(&kv(), "put(1, a); put(2, b); scan() = <a, b>; scan() = <<1, a>, <2, b>>; scan() = <b, a>"),
            @r#"scan() = <b, a>: `scan` returned "b" under 1, but the map holds "a" under 1"#
        );
        insta::assert_snapshot!(
            check(&kv(), "put(1, <3, 4>); put(2, <5, 6>); scan() = <<3, 4>, <5, 6>>"),
            @"accepted"
        );
    }

    #[test]
    fn laws_hold() {
        let calls = "put(1, a); put(1, b) = a; put(2, a)?; get(1) = a; get(1) = nil; get(2) = a; insert(1, a) = FALSE; \
                     insert(2, b); erase(1) = TRUE; erase(2) = nil; erase(1)?; contains(1) = TRUE; \
                     range_count(2, 9) = 1; range_count(0, 1) = 0; len() = 1; is_empty() = FALSE; clear(); \
                     scan() = [2: a]";
        check_laws(&kv(), calls);
    }
}
