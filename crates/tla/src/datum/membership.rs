//! Set membership, decided from the structure of the set.

use super::operations::not_a_set;
use super::{Datum, Elements, Host, LazySet, equal, make_interval, to_value};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value};

/// `element \in set`
pub fn contains(host: &mut dyn Host, set: &Datum, element: &Datum) -> Result<bool> {
    let lazy = match (set, element) {
        (Datum::Value(Value::Set(set)), Datum::Value(element)) => return set.contains(element),
        (Datum::Value(Value::Set(set)), _) => return Ok(!set.is_empty() && set.contains(&to_value(host, element)?)?),
        (Datum::Set(lazy), _) => lazy,
        _ => {
            return Err(not_a_set(host, set));
        }
    };
    match (&**lazy, element) {
        (LazySet::Interval(low, high), Datum::Value(Value::Int(value))) => Ok(low <= value && value <= high),
        (LazySet::Interval(low, high), _) if high < low => Ok(false),
        (LazySet::Naturals, Datum::Value(Value::Int(value))) => Ok(*value >= 0),
        (LazySet::Integers | LazySet::Reals, Datum::Value(Value::Int(_))) => Ok(true),
        (LazySet::Strings, Datum::Value(Value::Str(_))) => Ok(true),

        (LazySet::Subsets(base), _) => every(host, element, base),
        (LazySet::Filter(base, predicate), _) => Ok(contains(host, base, element)? && host.test(predicate, element)?),
        (LazySet::Cup(a, b), _) => Ok(contains(host, a, element)? || contains(host, b, element)?),
        (LazySet::Cap(a, b), _) => Ok(contains(host, a, element)? && contains(host, b, element)?),
        (LazySet::Minus(a, b), _) => Ok(contains(host, a, element)? && !contains(host, b, element)?),
        (LazySet::Union(sets), _) => {
            let mut members = Elements::new(host, sets)?;
            while let Some(member) = members.next_datum(host)? {
                if contains(host, &member, element)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (LazySet::Family(members), _) => {
            for member in members {
                if equal(host, member, element)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }

        // The rest needs the element's structure, which an untabulated function does not have.
        (_, Datum::Function(_)) => {
            let element = Datum::Value(to_value(host, element)?);
            contains(host, set, &element)
        }
        (LazySet::Functions(domain, range), Datum::Value(function @ (Value::Seq(_) | Value::Fun(_)))) => {
            Ok(is_domain(host, domain, function)? && all_in(host, function_values(function), range)?)
        }
        (LazySet::Records(fields), Datum::Value(Value::Fun(record))) if record.is_record() => {
            if fields.len() != record.values().len() {
                return Ok(false);
            }
            let actual = record.domain().elements().iter().zip(record.values());
            for ((name, set), (key, value)) in fields.iter().zip(actual) {
                let is_field = matches!(key, Value::Str(key) if key == name);
                if !is_field || !contains(host, set, &Datum::Value(value.clone()))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (LazySet::Records(fields), Datum::Value(Value::Seq(seq))) if seq.is_empty() => Ok(fields.is_empty()),
        (LazySet::Product(sets), Datum::Value(Value::Seq(seq))) => {
            if sets.len() != seq.len() {
                return Ok(false);
            }
            for (set, value) in sets.iter().zip(seq.elements()) {
                if !contains(host, set, &Datum::Value(value.clone()))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (LazySet::Product(_), Datum::Value(Value::Fun(fun))) if has_integers(fun.domain()) => Ok(false),
        (LazySet::Sequences(set), Datum::Value(Value::Seq(seq))) => all_in(host, seq.elements(), set),
        (_, Datum::Value(Value::Model(model))) if model.class == 0 => Ok(false),
        _ => {
            let message = format!("cannot tell whether {} is in {}", element.kind_name(), describe(lazy));
            Err(EvalError::new(ErrorKind::Incomparable, message))
        }
    }
}

/// Whether every element of `set` is in `of`.
pub(super) fn every(host: &mut dyn Host, set: &Datum, of: &Datum) -> Result<bool> {
    if let Datum::Value(Value::Set(set)) = set {
        return all_in(host, set.elements(), of);
    }
    let mut elements = Elements::new(host, set)?;
    while let Some(element) = elements.next_datum(host)? {
        if !contains(host, of, &element)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn all_in(host: &mut dyn Host, values: &[Value], set: &Datum) -> Result<bool> {
    for value in values {
        let is_in = match set {
            Datum::Value(Value::Set(set)) => set.contains(value)?,
            _ => contains(host, set, &Datum::Value(value.clone()))?,
        };
        if !is_in {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_domain(host: &mut dyn Host, domain: &Datum, function: &Value) -> Result<bool> {
    let actual = match function {
        Value::Seq(seq) => make_interval(1, seq.len() as i64),
        Value::Fun(fun) => Datum::Value(Value::Set(fun.domain().clone())),
        _ => unreachable!("asked of functions only"),
    };
    equal(host, domain, &actual)
}

fn function_values(function: &Value) -> &[Value] {
    function.function_values().expect("asked of functions only")
}

fn has_integers(set: &Set) -> bool {
    set.elements().iter().all(|element| matches!(element, Value::Int(_)))
}

fn describe(set: &LazySet) -> &'static str {
    match set {
        LazySet::Interval(..) => "a set of integers",
        LazySet::Naturals => "`Nat`",
        LazySet::Integers => "`Int`",
        LazySet::Reals => "`Real`",
        LazySet::Strings => "`STRING`",
        LazySet::Functions(..) => "a set of functions",
        LazySet::Records(_) => "a set of records",
        LazySet::Product(_) => "a set of tuples",
        LazySet::Sequences(_) => "a set of sequences",
        _ => "the set",
    }
}
