//! Numbers and texts with the same digits.
//!
//! JSON objects have text as keys, and many drivers return text for numbers. So `7` and `"7"` in one history are rarely two
//! things, and a verdict about two things would be wrong without a sign of it. A history in which a key, or a value of one
//! key, occurs in both forms is an error, unless the option [`OPTION`] makes them one: every text that a number prints as is
//! that number then.
//!
//! The search for such pairs costs nothing where no text of digits occurs: the interner notices the first one, and only then
//! are the operations bound once more, while the interner lists the keys and values that it is asked for.

use std::borrow::Borrow;
use std::sync::Arc;

use omnilink_history::{Call, Op, ProcessId, Value, name};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::Model;

/// The option of every model that makes numbers of texts, and its effect.
pub const OPTION: (&str, &str) = ("digits=number", "text that a number prints as, such as \"7\", is that number");

/// The part of a value in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// It selects a part of the object.
    Key,
    /// It is kept in the object, under the key that the operation names last before it.
    Value,
}

/// A number and a text with the same digits, in places where they would be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the {} {digits} is a number in {number} and text in {text}", match .role { Role::Key => "key", Role::Value => "value" })]
pub struct Mixed {
    /// Whether they are keys or values.
    pub role: Role,
    /// The digits.
    pub digits: String,
    /// The first operation with the number, or the specification.
    pub number: String,
    /// The first operation with the text, or the specification.
    pub text: String,
}

/// The number that prints as this text.
pub fn number(text: &str) -> Option<Value> {
    let is_like_one = text.bytes().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(&byte));
    let number = Value::parse_number(text).ok().filter(|_| is_like_one)?;
    (number.to_string() == text).then_some(number)
}

/// The value with numbers in place of texts of digits, at any depth; `None` if it has none, or if that would make two
/// arguments of a function one.
pub fn numbers(value: &Value) -> Option<Value> {
    let each = |values: &[Value]| -> Option<Vec<Value>> {
        let all: Vec<Option<Value>> = values.iter().map(numbers).collect();
        let is_changed = all.iter().any(Option::is_some);
        is_changed.then(|| all.into_iter().zip(values).map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect())
    };
    match value {
        Value::Str(text) => number(text),
        Value::Tuple(elements) => each(elements).map(Value::tuple),
        Value::Set(set) => each(set.elements()).map(Value::set),
        Value::Function(function) => {
            let flat: Vec<Value> = function.pairs().iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
            let flat = each(&flat)?;
            Value::function(flat.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())))
        }
        _ => None,
    }
}

/// The call with numbers in place of texts of digits, if it has any.
pub(crate) fn numbers_of(call: &Call) -> Option<Call> {
    let values = || call.args().iter().chain(call.results());
    let changed: Vec<Option<Value>> = values().map(numbers).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let all = changed.into_iter().zip(values()).map(|(new, old)| new.unwrap_or_else(|| old.clone()));
    let mut new = Call::new(call.schema().clone(), all)?;
    (new.failed, new.blocked) = (call.failed, call.blocked);
    Some(new)
}

/// Where a key or a value occurs.
#[derive(Clone, Copy)]
enum Place {
    /// In the specification itself.
    Spec,
    /// In a state that the operations begin in.
    Earlier,
    /// In the operation of a process at a place there.
    Op(ProcessId, u32),
}

/// For each number, by role and key: where it occurs as such, and where as text.
type Places = FxHashMap<(Role, Option<Value>, Value), [Option<Place>; 2]>;

/// Finds a key, or a value of one key, that occurs as a number and as text.
pub fn find<M: Model, B: Borrow<Op<Call>>, E>(
    model: &M,
    processes: &[Arc<str>],
    ops: impl IntoIterator<Item = Result<B, E>>,
) -> Result<Option<Mixed>, E> {
    find_after(model, &[], processes, ops)
}

/// The same for operations that begin in states that [`Model::save`] wrote.
pub fn find_after<M: Model, B: Borrow<Op<Call>>, E>(
    model: &M,
    begin: &[Value],
    processes: &[Arc<str>],
    ops: impl IntoIterator<Item = Result<B, E>>,
) -> Result<Option<Mixed>, E> {
    let atoms = model.atoms();
    if !atoms.has_digits() {
        return Ok(None);
    }
    let given = atoms.given();
    let mut places = Places::default();
    let shown = |place: Place| match place {
        Place::Spec => "the specification".to_owned(),
        Place::Earlier => "an earlier operation".to_owned(),
        Place::Op(process, index) => name(processes, process, index),
    };
    let mut add_all = |noted: Vec<(Role, Value)>, place: Place| {
        let mut key = None;
        for (role, value) in noted {
            let of_key = if role == Role::Value { key.clone() } else { None };
            // Values that the specification itself has are those of every key.
            let own = given.iter().filter(|(given, _)| *given == role);
            let own = own.filter_map(|(_, given)| add(&mut places, role, &of_key, given, Place::Spec)).next();
            if let Some((digits, number, text)) = own.or_else(|| add(&mut places, role, &of_key, &value, place)) {
                let (number, text) = (shown(number), shown(text));
                return Some(Mixed { role, digits: digits.to_string(), number, text });
            }
            if role == Role::Key {
                key = Some(value);
            }
        }
        None
    };
    for state in begin {
        if let Some(mixed) = add_all(atoms.noting(|| drop(model.load(state))), Place::Earlier) {
            return Ok(Some(mixed));
        }
    }
    for op in ops {
        let op = op?;
        let op: &Op<Call> = op.borrow();
        if let Some(mixed) = add_all(atoms.noting(|| drop(model.bind(op))), Place::Op(op.process, op.index)) {
            return Ok(Some(mixed));
        }
    }
    Ok(None)
}

/// Adds a place of a number or of a text of digits. Returns the number, and both places once there are two.
fn add(
    places: &mut Places,
    role: Role,
    key: &Option<Value>,
    value: &Value,
    place: Place,
) -> Option<(Value, Place, Place)> {
    let (digits, is_text) = form(value)?;
    let known = places.entry((role, key.clone(), digits.clone())).or_default();
    known[usize::from(is_text)].get_or_insert(place);
    Some((digits, known[0]?, known[1]?))
}

/// The number that a value is, or prints as, and whether it is text; `None` for any other value.
pub fn form(value: &Value) -> Option<(Value, bool)> {
    match value {
        Value::Int(_) | Value::Big(_) | Value::Float(_) => Some((value.clone(), false)),
        Value::Str(text) => Some((number(text)?, true)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_texts_are_left_alone() {
        for text in ["007", "1e3", "7.0", "+7", "", "-", "nan", "1_0", "٧"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number("-12"), Some(Value::Int(-12)));
        assert_eq!(number("123456789012345678901234567890").map(|big| big.to_string().len()), Some(30));
    }
}
