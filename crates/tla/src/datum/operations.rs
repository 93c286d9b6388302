//! The operators of sets and functions, lazy where TLC is lazy.
//!
//! TLC calls a set *reducible* if its elements are at hand: an enumerated set or an interval. An operation on
//! reducible sets gives an enumerated set; anything else stays as written. An operand that is not a set is detected
//! only when its elements are needed, so `{} \cap 1` is the empty set.

use std::sync::Arc;

use super::membership::every;
use super::size::enumerate;
use super::{Datum, Elements, Host, LIMIT, LazyFunction, LazySet, brief, cardinality, contains, to_value};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{self, Set, Value};

/// `a = b`
pub fn equal(host: &mut dyn Host, a: &Datum, b: &Datum) -> Result<bool> {
    let (x, y) = match (a, b) {
        (Datum::Value(a), Datum::Value(b)) => return value::equal(a, b),
        (Datum::Set(lazy), Datum::Value(Value::Set(set))) | (Datum::Value(Value::Set(set)), Datum::Set(lazy))
            if has_other_len(host, lazy, set) =>
        {
            return Ok(false);
        }
        (Datum::Set(_), Datum::Value(Value::Set(_)))
        | (Datum::Value(Value::Set(_)), Datum::Set(_))
        | (Datum::Function(_), Datum::Value(Value::Seq(_) | Value::Fun(_)))
        | (Datum::Value(Value::Seq(_) | Value::Fun(_)), Datum::Function(_))
        | (Datum::Function(_), Datum::Function(_)) => {
            let a = to_value(host, a)?;
            return value::equal(&a, &to_value(host, b)?);
        }
        (Datum::Set(x), Datum::Set(y)) => (x, y),
        (Datum::Value(Value::Model(model)), _) | (_, Datum::Value(Value::Model(model))) if model.class == 0 => {
            return Ok(false);
        }
        _ => {
            let message = format!("cannot compare {} with {}", a.kind_name(), b.kind_name());
            return Err(EvalError::new(ErrorKind::Incomparable, message));
        }
    };
    if Arc::ptr_eq(x, y) {
        return Ok(true);
    }
    match (&**x, &**y) {
        (LazySet::Interval(a, b), LazySet::Interval(c, d)) => Ok((b < a && d < c) || (a == c && b == d)),
        (LazySet::Subsets(x), LazySet::Subsets(y)) | (LazySet::Sequences(x), LazySet::Sequences(y)) => {
            equal(host, x, y)
        }
        (LazySet::Functions(a, b), LazySet::Functions(c, d)) => Ok(equal(host, a, c)? && equal(host, b, d)?),
        // Emptiness is checked first and needs their elements, so infinite ones cannot be compared.
        (LazySet::Product(_), LazySet::Product(_)) | (LazySet::Records(_), LazySet::Records(_))
            if is_empty(host, a)? || is_empty(host, b)? =>
        {
            Ok(is_empty(host, a)? && is_empty(host, b)?)
        }
        (LazySet::Product(x), LazySet::Product(y)) => Ok(x.len() == y.len() && all_equal(host, x.iter().zip(y))?),
        (LazySet::Records(x), LazySet::Records(y)) => {
            let has_same_names = x.len() == y.len() && x.iter().zip(y).all(|(a, b)| a.0 == b.0);
            Ok(has_same_names && all_equal(host, x.iter().zip(y).map(|(a, b)| (&a.1, &b.1)))?)
        }
        (x, y) if is_overridden(x) && is_overridden(y) => Ok(std::mem::discriminant(x) == std::mem::discriminant(y)),
        _ => {
            let a = enumerate(host, x)?;
            let b = enumerate(host, y)?;
            value::equal(&Value::Set(a), &Value::Set(b))
        }
    }
}

/// Whether a set is empty.
pub fn is_empty(host: &mut dyn Host, set: &Datum) -> Result<bool> {
    match set {
        Datum::Value(Value::Set(set)) => Ok(set.is_empty()),
        Datum::Set(lazy) if is_overridden(lazy) => Ok(false),
        _ => Ok(Elements::new(host, set)?.next_datum(host)?.is_none()),
    }
}

/// `a \subseteq b`
pub fn is_subset(host: &mut dyn Host, a: &Datum, b: &Datum) -> Result<bool> {
    match (a, b) {
        (Datum::Value(Value::Set(a)), Datum::Value(Value::Set(b))) => return a.is_subset(b),
        (Datum::Set(x), Datum::Set(y)) => match (&**x, &**y) {
            (LazySet::Interval(a, b), LazySet::Interval(c, d)) if c <= a && b <= d => return Ok(true),
            (LazySet::Subsets(x), LazySet::Subsets(y)) => return is_subset(host, x, y),
            _ => {}
        },
        _ => {}
    }
    every(host, a, b)
}

/// `a \cup b`
pub fn cup(host: &mut dyn Host, a: &Datum, b: &Datum) -> Result<Datum> {
    match (reduce(host, a)?, reduce(host, b)?) {
        (Some(a), Some(b)) => {
            host.charge(a.len() + b.len())?;
            Ok(Datum::Value(Value::Set(a.union(&b)?)))
        }
        (Some(set), None) => Ok(if set.is_empty() { b.clone() } else { LazySet::Cup(a.clone(), b.clone()).into() }),
        (None, Some(set)) => Ok(if set.is_empty() { a.clone() } else { LazySet::Cup(b.clone(), a.clone()).into() }),
        (None, None) => Ok(LazySet::Cup(a.clone(), b.clone()).into()),
    }
}

/// `a \cap b`
pub fn cap(host: &mut dyn Host, a: &Datum, b: &Datum) -> Result<Datum> {
    match (reduce(host, a)?, b) {
        (Some(x), Datum::Value(Value::Set(y))) => Ok(Datum::Value(Value::Set(x.intersection(y)?))),
        (Some(x), _) => filter(x, |element| contains(host, b, element)),
        (None, _) => match reduce(host, b)? {
            Some(y) => filter(y, |element| contains(host, a, element)),
            None => Ok(LazySet::Cap(a.clone(), b.clone()).into()),
        },
    }
}

/// `a \ b`
pub fn minus(host: &mut dyn Host, a: &Datum, b: &Datum) -> Result<Datum> {
    match (reduce(host, a)?, b) {
        (Some(x), Datum::Value(Value::Set(y))) => Ok(Datum::Value(Value::Set(x.difference(y)?))),
        (Some(x), _) => filter(x, |element| Ok(!contains(host, b, element)?)),
        (None, _) => Ok(LazySet::Minus(a.clone(), b.clone()).into()),
    }
}

/// `UNION sets`
pub fn union(host: &mut dyn Host, sets: &Datum) -> Result<Datum> {
    check_set(host, sets)?;
    let Datum::Value(Value::Set(members)) = sets else { return Ok(LazySet::Union(sets.clone()).into()) };
    if let [Value::Set(only)] = members.elements() {
        return Ok(Datum::Value(Value::Set(only.clone())));
    }
    let mut all = Vec::new();
    for member in members.elements() {
        let Value::Set(member) = member else {
            let message = format!("`UNION` needs a set of sets, but an element is {}", member.kind_name());
            return Err(EvalError::new(ErrorKind::WrongKind, message));
        };
        host.charge(all.len() + member.len())?;
        all.extend_from_slice(member.elements());
    }
    Ok(Datum::Value(Value::set(all)?))
}

/// `{a, b}` of elements that may be lazy.
pub fn make_set(elements: Vec<Datum>) -> Result<Datum> {
    if elements.iter().all(|element| matches!(element, Datum::Value(_))) {
        let values = elements.into_iter().filter_map(|element| match element {
            Datum::Value(value) => Some(value),
            _ => None,
        });
        return Ok(Datum::Value(Value::set(values.collect())?));
    }
    Ok(LazySet::Family(elements.into()).into())
}

/// `low..high`
#[inline]
pub fn make_interval(low: i64, high: i64) -> Datum {
    Datum::from(LazySet::Interval(low, high))
}

/// `DOMAIN function`
pub fn domain(function: &Datum) -> Result<Datum> {
    match function {
        Datum::Value(Value::Seq(seq)) => Ok(make_interval(1, seq.len() as i64)),
        Datum::Value(Value::Fun(fun)) => Ok(Datum::Value(Value::Set(fun.domain().clone()))),
        Datum::Function(function) => Ok(function.domain.clone()),
        _ => {
            let message = format!("`DOMAIN` was applied to {}, which is not a function", function.kind_name());
            Err(EvalError::new(ErrorKind::WrongKind, message))
        }
    }
}

/// `function[arg]`
pub fn apply(host: &mut dyn Host, function: &Datum, arg: &Datum) -> Result<Datum> {
    match (function, arg) {
        (Datum::Value(function), Datum::Value(arg)) => {
            if function.function_len().is_none() {
                return Err(not_a_function(host, &Datum::Value(function.clone())));
            }
            if let Some(value) = function.get(arg)? {
                return Ok(Datum::Value(value.clone()));
            }
            Err(outside(host, &Datum::Value(function.clone()), arg))
        }
        (Datum::Value(_), _) => {
            let arg = Datum::Value(to_value(host, arg)?);
            apply(host, function, &arg)
        }
        (Datum::Function(function), _) => {
            let arg = to_value(host, arg)?;
            if !contains(host, &function.domain, &Datum::Value(arg.clone()))? {
                let (arg, domain) = (brief(host, &Datum::Value(arg)), brief(host, &function.domain));
                let message = format!("the argument {arg} is outside the domain {domain}");
                return Err(EvalError::new(ErrorKind::OutsideDomain, message));
            }
            value_at(host, function, &arg)
        }
        (Datum::Set(_), _) => Err(not_a_function(host, function)),
    }
}

#[cold]
fn outside(host: &mut dyn Host, function: &Datum, arg: &Value) -> Box<EvalError> {
    let what = match function {
        Datum::Value(Value::Seq(_)) => "index",
        Datum::Value(Value::Fun(fun)) if fun.is_record() => "field",
        _ => "argument",
    };
    let (arg, shown) = (brief(host, &Datum::Value(arg.clone())), brief(host, function));
    let message = format!("the {what} {arg} is outside the domain of {shown}");
    let error = EvalError::new(ErrorKind::OutsideDomain, message);
    if let Datum::Value(function) = function { error.applied(function) } else { error }
}

#[cold]
fn not_a_function(host: &mut dyn Host, datum: &Datum) -> Box<EvalError> {
    let shown = brief(host, datum);
    EvalError::new(ErrorKind::WrongKind, format!("{} was applied as a function: `{shown}`", datum.kind_name()))
}

/// `[function EXCEPT ![key] = new]`; `None` if `key` is outside the domain, where TLC leaves the function unchanged.
pub fn except(host: &mut dyn Host, function: &Datum, key: &Datum, new: Datum) -> Result<Option<Datum>> {
    let key = to_value(host, key)?;
    match function {
        Datum::Value(function) => {
            let new = to_value(host, &new)?;
            Ok(function.except(&key, new)?.map(Datum::Value))
        }
        Datum::Function(function) => {
            if !contains(host, &function.domain, &Datum::Value(key.clone()))? {
                return Ok(None);
            }
            let mut changed = LazyFunction::clone(function);
            changed.changes.push((key, new));
            Ok(Some(Datum::Function(Arc::new(changed))))
        }
        Datum::Set(_) => Err(EvalError::new(ErrorKind::WrongKind, "`EXCEPT` was applied to a set")),
    }
}

/// The value at an argument within the domain.
pub(super) fn value_at(host: &mut dyn Host, function: &LazyFunction, arg: &Value) -> Result<Datum> {
    for (key, value) in function.changes.iter().rev() {
        if value::equal(key, arg)? {
            return Ok(value.clone());
        }
    }
    host.compute(function, arg)
}

/// Converts a datum to an enumerated set.
pub fn to_set(host: &mut dyn Host, set: &Datum) -> Result<Arc<Set>> {
    match set {
        Datum::Value(Value::Set(set)) => Ok(set.clone()),
        Datum::Set(lazy) => enumerate(host, lazy),
        _ => Err(not_a_set(host, set)),
    }
}

/// The elements of a reducible set.
fn reduce(host: &mut dyn Host, set: &Datum) -> Result<Option<Arc<Set>>> {
    match set {
        Datum::Value(Value::Set(set)) => Ok(Some(set.clone())),
        Datum::Set(lazy) => match &**lazy {
            LazySet::Interval(low, high) if u128::from(high.abs_diff(*low)) < LIMIT || high < low => {
                Ok(Some(enumerate(host, lazy)?))
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

fn filter(set: Arc<Set>, mut keep: impl FnMut(&Datum) -> Result<bool>) -> Result<Datum> {
    Ok(Datum::Value(Value::Set(set.retain(|element| keep(&Datum::Value(element.clone())))?)))
}

fn check_set(host: &mut dyn Host, set: &Datum) -> Result<()> {
    match set {
        Datum::Value(Value::Set(_)) | Datum::Set(_) => Ok(()),
        _ => Err(not_a_set(host, set)),
    }
}

#[cold]
pub(super) fn not_a_set(host: &mut dyn Host, datum: &Datum) -> Box<EvalError> {
    let shown = brief(host, datum);
    EvalError::new(ErrorKind::WrongKind, format!("{} was used where a set is needed: `{shown}`", datum.kind_name()))
}

fn all_equal<'a>(host: &mut dyn Host, mut pairs: impl Iterator<Item = (&'a Datum, &'a Datum)>) -> Result<bool> {
    pairs.try_fold(true, |is_equal, (a, b)| Ok(is_equal && equal(host, a, b)?))
}

/// Whether the structure of a set shows that its size differs. Then nothing needs to be enumerated.
fn has_other_len(host: &mut dyn Host, lazy: &Arc<LazySet>, set: &Set) -> bool {
    let is_counted = matches!(
        **lazy,
        LazySet::Interval(..)
            | LazySet::Subsets(_)
            | LazySet::Functions(..)
            | LazySet::Product(_)
            | LazySet::Records(_)
    );
    is_counted && cardinality(host, &Datum::Set(lazy.clone())).is_ok_and(|len| len != set.len() as u128)
}

/// Whether TLC has a separate class for the set, which can be compared with others of its kind.
fn is_overridden(set: &LazySet) -> bool {
    matches!(set, LazySet::Naturals | LazySet::Integers | LazySet::Reals | LazySet::Strings | LazySet::Sequences(_))
}
