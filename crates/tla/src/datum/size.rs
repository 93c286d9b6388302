//! The size of a set, and its conversion to a value.
//!
//! A set is measured before it is enumerated: `SUBSET (1..40)` is an error at once, not when memory runs out.

use std::sync::Arc;

use super::{Datum, Elements, Host, LazyFunction, LazySet, operations};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value};

/// The number of integers enumerated between two ticks.
const CHUNK: usize = 1024;

/// The maximum number of value slots of an enumerated set.
pub const LIMIT: u128 = 50_000_000;

/// Converts a datum to a value: sets are enumerated, functions are tabulated.
pub fn to_value(host: &mut dyn Host, datum: &Datum) -> Result<Value> {
    match datum {
        Datum::Value(value) => Ok(value.clone()),
        Datum::Set(set) => Ok(Value::Set(enumerate(host, set)?)),
        Datum::Function(function) => tabulate(host, function),
    }
}

/// The number of elements of a set.
pub fn cardinality(host: &mut dyn Host, set: &Datum) -> Result<u128> {
    match set {
        Datum::Value(Value::Set(set)) => Ok(set.len() as u128),
        Datum::Set(lazy) => match &**lazy {
            LazySet::Interval(low, high) => Ok(interval_len(*low, *high)),
            LazySet::Subsets(base) => {
                let base = cardinality(host, base)?;
                let exponent = u32::try_from(base).ok().filter(|&exponent| exponent < 127);
                exponent.map(|exponent| 1 << exponent).ok_or_else(too_large)
            }
            LazySet::Functions(domain, range) => {
                let domain = cardinality(host, domain)?;
                let range = cardinality(host, range)?;
                match (domain, range) {
                    (0, _) | (_, 1) => Ok(1),
                    (_, 0) => Ok(0),
                    _ => u32::try_from(domain).ok().and_then(|d| range.checked_pow(d)).ok_or_else(too_large),
                }
            }
            LazySet::Product(sets) => product(host, sets.iter()),
            LazySet::Records(fields) => product(host, fields.iter().map(|(_, set)| set)),
            _ => Ok(enumerate(host, lazy)?.len() as u128),
        },
        _ => Err(EvalError::new(ErrorKind::WrongKind, format!("{} has no cardinality", set.kind_name()))),
    }
}

/// Whether a set is finite, where TLC can decide it.
pub fn is_finite(host: &mut dyn Host, set: &Datum) -> Result<bool> {
    let lazy = match set {
        Datum::Value(Value::Set(_)) => return Ok(true),
        Datum::Set(lazy) => lazy,
        _ => {
            let message = format!("cannot tell whether {} is a finite set", set.kind_name());
            return Err(EvalError::new(ErrorKind::WrongKind, message));
        }
    };
    let undecided = || EvalError::new(ErrorKind::NotEnumerable, "cannot tell whether the set is finite");
    match &**lazy {
        LazySet::Interval(..) => Ok(true),
        LazySet::Naturals | LazySet::Integers | LazySet::Reals | LazySet::Strings | LazySet::Sequences(_) => Ok(false),
        LazySet::Subsets(base) => is_finite(host, base),
        LazySet::Functions(domain, range) => Ok(is_finite(host, domain)? && is_finite(host, range)?),
        LazySet::Records(fields) => all_finite(host, fields.iter().map(|(_, set)| set)),
        LazySet::Product(sets) => all_finite(host, sets.iter()),
        LazySet::Union(sets) => {
            let mut members = Elements::new(host, sets)?;
            while let Some(member) = members.next_datum(host)? {
                if !is_finite(host, &member)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        LazySet::Filter(base, _) => {
            if is_finite(host, base)? {
                Ok(true)
            } else {
                Err(undecided())
            }
        }
        LazySet::Cup(a, b) => Ok(is_finite(host, a)? && is_finite(host, b)?),
        LazySet::Cap(a, b) => {
            if is_finite(host, a)? || is_finite(host, b)? {
                Ok(true)
            } else {
                Err(undecided())
            }
        }
        LazySet::Minus(a, b) => {
            if is_finite(host, a)? {
                Ok(true)
            } else if is_finite(host, b)? {
                Ok(false)
            } else {
                Err(undecided())
            }
        }
        LazySet::Family(_) => Ok(true),
    }
}

fn all_finite<'a>(host: &mut dyn Host, sets: impl Iterator<Item = &'a Datum>) -> Result<bool> {
    for set in sets {
        if !is_finite(host, set)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn product<'a>(host: &mut dyn Host, sets: impl Iterator<Item = &'a Datum>) -> Result<u128> {
    let mut product = 1u128;
    for set in sets {
        product = product.checked_mul(cardinality(host, set)?).ok_or_else(too_large)?;
    }
    Ok(product)
}

/// Enumerates a set.
pub(super) fn enumerate(host: &mut dyn Host, set: &Arc<LazySet>) -> Result<Arc<Set>> {
    if places(host, set)? > LIMIT {
        return Err(too_large());
    }
    match &**set {
        LazySet::Interval(low, high) => {
            let mut values = Vec::with_capacity(usize::try_from(interval_len(*low, *high)).unwrap_or(0).min(CHUNK));
            for value in *low..=*high {
                if values.len() % CHUNK == 0 {
                    host.tick()?;
                }
                values.push(Value::Int(value));
            }
            Ok(Set::from_sorted(values))
        }
        LazySet::Cup(a, b) => {
            let a = operations::to_set(host, a)?;
            let b = operations::to_set(host, b)?;
            a.union(&b)
        }
        LazySet::Family(members) => {
            let mut values = Vec::with_capacity(members.len());
            for member in members {
                values.push(to_value(host, member)?);
            }
            Set::new(values)
        }
        LazySet::Union(sets) => {
            let mut walk = Elements::new(host, sets)?;
            let mut members = Vec::new();
            let mut total = 0;
            while let Some(member) = walk.next_datum(host)? {
                total += match &member {
                    Datum::Value(Value::Set(set)) => set.len() as u128,
                    Datum::Set(lazy) => places(host, lazy)?,
                    _ => 0,
                };
                if total > LIMIT {
                    return Err(too_large());
                }
                members.push(member);
            }
            let mut all = Vec::new();
            for member in members {
                host.tick()?;
                all.extend_from_slice(operations::to_set(host, &member)?.elements());
            }
            Set::new(all)
        }
        _ => {
            let mut elements = Elements::new(host, &Datum::Set(set.clone()))?;
            let mut sorted = Vec::new();
            while let Some(element) = elements.next(host)? {
                if sorted.len() as u128 >= LIMIT {
                    return Err(too_large());
                }
                sorted.push(element);
            }
            sorted.shrink_to_fit();
            Ok(Set::from_sorted(sorted))
        }
    }
}

/// The number of value slots that enumeration would need, as far as the structure determines it.
fn places(host: &mut dyn Host, set: &LazySet) -> Result<u128> {
    let (count, width) = match set {
        LazySet::Interval(low, high) => (interval_len(*low, *high), 0),
        LazySet::Subsets(base) => match cardinality(host, base)? {
            len if len > 64 => return Err(too_large()),
            len => (1 << len, len / 2),
        },
        LazySet::Functions(domain, _) => {
            let width = cardinality(host, domain)?;
            (cardinality(host, &Datum::Set(Arc::new(set.clone())))?, width)
        }
        LazySet::Product(sets) => (product(host, sets.iter())?, sets.len() as u128),
        LazySet::Records(fields) => (product(host, fields.iter().map(|(_, set)| set))?, fields.len() as u128),
        _ => return Ok(0),
    };
    Ok(count.saturating_mul(width + 1))
}

/// A table of a function's values.
fn tabulate(host: &mut dyn Host, function: &LazyFunction) -> Result<Value> {
    let domain = operations::to_set(host, &function.domain)?;
    let mut values = Vec::with_capacity(domain.len());
    for argument in domain.elements() {
        let value = operations::value_at(host, function, argument)?;
        values.push(to_value(host, &value)?);
    }
    Ok(Value::function(domain, values))
}

fn interval_len(low: i64, high: i64) -> u128 {
    if high < low { 0 } else { u128::from(high.abs_diff(low)) + 1 }
}

/// The number of value slots that an element needs: its own, its direct parts, and about as much overhead.
pub(crate) fn places_of(element: &Value) -> u128 {
    match element {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => 1,
        Value::Set(set) => 8 + set.len() as u128,
        Value::Seq(seq) => 8 + seq.len() as u128,
        Value::Fun(fun) => 8 + fun.values().len() as u128,
    }
}

pub(crate) fn too_large() -> Box<EvalError> {
    EvalError::new(
        ErrorKind::Limit,
        format!("the set is too large to enumerate; the limit is {LIMIT} places for values"),
    )
}
