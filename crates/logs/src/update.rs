//! Operations on variables, as tracers log them: `{"op": "AddElement", "path": ["t1"], "args": [3]}`.
//!
//! An update gives the next value of a variable as a change of the current one. A path leads to the changed part. Keys
//! of JSON objects are strings, so a key matches an integer of the domain with the same digits as well.

use omnilink_tla::error::EvalError;
use omnilink_tla::strings::Strings;
use omnilink_tla::value::Value;

/// A change of a variable, or of a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) op: Op,
    pub(crate) path: Vec<Value>,
    pub(crate) args: Vec<Value>,
}

/// The operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Init,
    InitRec,
    Set,
    Unchanged,
    AddElement,
    AddElements,
    RemoveElement,
    Clear,
    AddToBag,
    RemoveFromBag,
    ClearBag,
    Append,
    SetKey,
    ResetKey,
    UpdateRec,
    Add,
    Sub,
}

/// The names of the operations, and the number of arguments that each takes.
const OPS: &[(&str, Op, usize)] = &[
    ("Init", Op::Init, 0),
    ("InitRec", Op::InitRec, 0),
    ("Update", Op::Set, 1),
    ("set", Op::Set, 1),
    ("Unchanged", Op::Unchanged, 0),
    ("AddElement", Op::AddElement, 1),
    ("add", Op::AddElement, 1),
    ("AddElements", Op::AddElements, 1),
    ("RemoveElement", Op::RemoveElement, 1),
    ("remove", Op::RemoveElement, 1),
    ("Clear", Op::Clear, 0),
    ("AddElementToBag", Op::AddToBag, 1),
    ("AddToBag", Op::AddToBag, 1),
    ("RemoveElementFromBag", Op::RemoveFromBag, 1),
    ("RemoveFromBag", Op::RemoveFromBag, 1),
    ("ClearBag", Op::ClearBag, 0),
    ("AppendElement", Op::Append, 1),
    ("append", Op::Append, 1),
    ("SetKey", Op::SetKey, 2),
    ("ResetKey", Op::ResetKey, 1),
    ("UpdateRec", Op::UpdateRec, 1),
    ("Add", Op::Add, 1),
    ("Sub", Op::Sub, 1),
];

impl Op {
    /// The operation with this name and the number of its arguments, or the known names.
    pub(crate) fn by_name(name: &str) -> Result<(Op, usize), String> {
        let known = OPS.iter().find(|(known, ..)| *known == name);
        known.map(|(_, op, args)| (*op, *args)).ok_or_else(|| {
            let hint = omnilink_suggest::hint(name, OPS.iter().map(|(name, ..)| *name));
            hint.unwrap_or_else(|| {
                format!("the operations are {}", OPS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", "))
            })
        })
    }

    /// Whether it computes with integers or makes a sequence longer.
    pub(crate) fn counts(self) -> bool {
        matches!(self, Op::Add | Op::Sub | Op::Append | Op::AddToBag | Op::RemoveFromBag)
    }

    /// Whether it returns to an initial value.
    pub(crate) fn is_initial(self) -> bool {
        matches!(self, Op::Init | Op::InitRec)
    }
}

impl Update {
    /// The next value of a variable with this current and this initial value. Fails if the change has no meaning there.
    pub(crate) fn apply(
        &self,
        value: &Value,
        initial: &Value,
        reset: &Value,
        strings: &Strings,
    ) -> Result<Value, Box<EvalError>> {
        self.apply_at(&self.path, value, Some(initial), reset, strings)
    }

    fn apply_at(
        &self,
        path: &[Value],
        value: &Value,
        initial: Option<&Value>,
        reset: &Value,
        strings: &Strings,
    ) -> Result<Value, Box<EvalError>> {
        let Some((key, rest)) = path.split_first() else { return self.change(value, initial, reset, strings) };
        let key = &key_of(value, key, strings);
        let inner_initial = initial.and_then(|initial| initial.get(key).ok().flatten());
        let inner = self.apply_at(rest, value.apply(key)?, inner_initial, reset, strings)?;
        Ok(value.except(key, inner)?.unwrap_or_else(|| value.clone()))
    }

    fn change(
        &self,
        value: &Value,
        initial: Option<&Value>,
        reset: &Value,
        strings: &Strings,
    ) -> Result<Value, Box<EvalError>> {
        let wrong = |expected: &str| {
            let message = format!("expected {expected}, found {}", value.kind_name());
            EvalError::new(omnilink_tla::error::ErrorKind::WrongKind, message)
        };
        let set = || match value {
            Value::Set(set) => Ok(set),
            _ => Err(wrong("a set")),
        };
        let arg = self.args.first();
        let of_elements = |arg: &Value| match arg {
            Value::Seq(elements) => elements.elements().to_vec(),
            Value::Set(elements) => elements.elements().to_vec(),
            other => vec![other.clone()],
        };
        Ok(match (self.op, arg) {
            (Op::Init, _) => initial.unwrap_or(value).clone(),
            (Op::InitRec, _) => updated(value, initial.unwrap_or(value), strings)?,
            (Op::Unchanged, _) => value.clone(),
            (Op::Clear, _) => Value::empty_set(),
            (Op::ClearBag, _) => Value::empty_seq(),
            (Op::Set, Some(arg)) => arg.clone(),
            (Op::AddElement, Some(arg)) => Value::Set(set()?.insert(arg.clone())?),
            (Op::AddElements, Some(arg)) => {
                of_elements(arg).into_iter().try_fold(value.clone(), |all, element| match all {
                    Value::Set(set) => Ok(Value::Set(set.insert(element)?)),
                    _ => Err(wrong("a set")),
                })?
            }
            (Op::RemoveElement, Some(arg)) => Value::Set(set()?.retain(|element| Ok(element != arg))?),
            (Op::Append, Some(arg)) => match value {
                Value::Seq(seq) => Value::Seq(seq.push(arg.clone())),
                _ => return Err(wrong("a sequence")),
            },
            (Op::AddToBag | Op::RemoveFromBag, Some(arg)) => {
                let count = match value.get(arg)? {
                    Some(Value::Int(count)) => *count,
                    Some(_) => return Err(wrong("a bag")),
                    None => 0,
                };
                match (self.op, count) {
                    (Op::AddToBag, count) => value.with(arg, Value::Int(count + 1))?,
                    (_, 0) => value.clone(),
                    (_, 1) => value.without(arg)?,
                    (_, count) => value.with(arg, Value::Int(count - 1))?,
                }
            }
            (Op::SetKey, Some(key)) => {
                let new = self.args.get(1).cloned().unwrap_or_else(|| reset.clone());
                let key = key_of(value, key, strings);
                value.apply(&key)?;
                value.except(&key, new)?.unwrap_or_else(|| value.clone())
            }
            (Op::ResetKey, Some(key)) => {
                let key = key_of(value, key, strings);
                value.apply(&key)?;
                value.except(&key, reset.clone())?.unwrap_or_else(|| value.clone())
            }
            (Op::UpdateRec, Some(arg)) => updated(value, arg, strings)?,
            (Op::Add | Op::Sub, Some(Value::Int(arg))) => match value {
                Value::Int(number) if self.op == Op::Add => Value::Int(number + arg),
                Value::Int(number) => Value::Int(number - arg),
                _ => return Err(wrong("an integer")),
            },
            (_, _) => {
                return Err(EvalError::new(
                    omnilink_tla::error::ErrorKind::WrongKind,
                    "an operation lacks its argument",
                ));
            }
        })
    }
}

/// A function with the values of another one where both are defined.
fn updated(value: &Value, other: &Value, strings: &Strings) -> Result<Value, Box<EvalError>> {
    let (Some(domain), Some(values)) = (other.function_domain(), other.function_values()) else {
        return Err(EvalError::new(
            omnilink_tla::error::ErrorKind::WrongKind,
            "the argument of an update is not a record",
        ));
    };
    let mut updated = value.clone();
    for (key, new) in domain.elements().iter().zip(values) {
        let key = key_of(&updated, key, strings);
        if let Some(changed) = updated.except(&key, new.clone())? {
            updated = changed;
        }
    }
    Ok(updated)
}

/// The key of a function that a key of a log stands for: itself, or the integer that has its digits if the domain has
/// integers.
pub(crate) fn key_of(function: &Value, key: &Value, strings: &Strings) -> Value {
    let Some(domain) = function.function_domain() else { return key.clone() };
    match (key, domain.elements().first()) {
        (Value::Str(text), Some(Value::Int(_))) => match strings.text(text).parse() {
            Ok(number) => Value::Int(number),
            Err(_) => key.clone(),
        },
        (Value::Int(number), Some(Value::Str(_))) => Value::Str(strings.str(&number.to_string())),
        _ => key.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(op: &str, path: Vec<Value>, args: Vec<Value>, value: &Value, initial: &Value) -> String {
        let strings = Strings::default();
        let update = Update { op: Op::by_name(op).expect("known").0, path, args };
        match update.apply(value, initial, &Value::Int(-1), &strings) {
            Ok(value) => value.display(&strings).to_string(),
            Err(error) => error.message,
        }
    }

    #[test]
    fn updates_change_values() {
        let set = |numbers: &[i64]| Value::set(numbers.iter().copied().map(Value::Int).collect()).expect("integers");
        let seq = |numbers: &[i64]| Value::seq(numbers.iter().copied().map(Value::Int).collect());
        let (one, two) = (Value::Int(1), Value::Int(2));
        let sets = Value::seq(vec![set(&[1]), set(&[])]);
        assert_eq!(check("AddElement", vec![two.clone()], vec![one.clone()], &sets, &sets), "<<{1}, {1}>>");
        assert_eq!(check("RemoveElement", vec![one.clone()], vec![one.clone()], &sets, &sets), "<<{}, {}>>");
        assert_eq!(check("AddElements", vec![], vec![seq(&[3, 4])], &set(&[1]), &set(&[])), "{1, 3, 4}");
        assert_eq!(check("Init", vec![], vec![], &set(&[1]), &set(&[])), "{}");
        assert_eq!(check("Clear", vec![], vec![], &set(&[1]), &set(&[7])), "{}");
        assert_eq!(check("append", vec![], vec![two.clone()], &seq(&[1]), &seq(&[])), "<<1, 2>>");
        assert_eq!(check("SetKey", vec![], vec![two.clone(), Value::Int(9)], &seq(&[1, 2]), &seq(&[])), "<<1, 9>>");
        assert_eq!(check("ResetKey", vec![], vec![two.clone()], &seq(&[1, 2]), &seq(&[])), "<<1, -1>>");
        assert_eq!(check("Add", vec![one.clone()], vec![two.clone()], &seq(&[1]), &seq(&[])), "<<3>>");
        assert_eq!(check("Sub", vec![], vec![two.clone()], &one, &one), "-1");
        assert_eq!(check("AddToBag", vec![], vec![two.clone()], &seq(&[1]), &seq(&[])), "<<1, 1>>");
        assert_eq!(check("RemoveFromBag", vec![], vec![one.clone()], &seq(&[1]), &seq(&[])), "<<>>");
        assert_eq!(check("AddElement", vec![], vec![one], &seq(&[1]), &seq(&[])), "expected a set, found a sequence");
        assert_eq!(check("Unchanged", vec![], vec![], &seq(&[1]), &seq(&[])), "<<1>>");
    }
}
