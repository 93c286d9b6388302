//! TLC's equality and order, which fail for values of different kinds, and a total order that does not.
//!
//! An untyped model value can be compared with everything and comes first; a typed one can be compared with model
//! values of its type and with untyped ones. Sets are ordered by size, then by their elements; functions by the size
//! of their domain, then by the domain's elements, then by the values. So a difference in size is found before a
//! difference in kind. A record on the left can only be compared with records, whatever their sizes; on the right of
//! another function it is a function like any other. All of this follows TLC.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Fun, Model, Seq, Value};
use crate::error::{ErrorKind, EvalError, Result};

/// TLC's `a = b`.
#[inline]
pub fn equal(a: &Value, b: &Value) -> Result<bool> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a == b),
        (Value::Str(a), Value::Str(b)) => Ok(a == b),
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        (Value::Model(x), Value::Model(y)) => {
            check_models(*x, *y)?;
            Ok(x == y)
        }
        (Value::Model(model), _) | (_, Value::Model(model)) if model.class == 0 => Ok(false),
        (Value::Set(a), Value::Set(b)) => Ok(Arc::ptr_eq(a, b) || a.equals(b)?),
        (Value::Seq(x), Value::Seq(y)) => {
            if Arc::ptr_eq(x, y) {
                return Ok(true);
            }
            if x.len() != y.len() {
                return Ok(false);
            }
            for (a, b) in x.elements().iter().zip(y.elements()) {
                if !equal(a, b)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Fun(x), Value::Fun(y)) => {
            if Arc::ptr_eq(x, y) {
                return Ok(true);
            }
            if x.is_record() && !y.is_record() {
                return Err(incomparable(a, b));
            }
            x.equals(y)
        }
        (Value::Seq(_), Value::Fun(_)) | (Value::Fun(_), Value::Seq(_)) => Ok(compare(a, b)?.is_eq()),
        _ => Err(incomparable(a, b)),
    }
}

/// TLC's order.
#[inline]
pub fn compare(a: &Value, b: &Value) -> Result<Ordering> {
    order::<true>(a, b)
}

/// A total order that agrees with TLC's where TLC's is defined.
#[inline]
pub(super) fn total(a: &Value, b: &Value) -> Ordering {
    order::<false>(a, b).expect("only the checked order fails")
}

fn order<const CHECKED: bool>(a: &Value, b: &Value) -> Result<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Str(a), Value::Str(b)) => Ok(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(b)),
        (Value::Model(a), Value::Model(b)) => {
            if CHECKED {
                check_models(*a, *b)?;
            }
            Ok(a.cmp(b))
        }
        (Value::Model(model), _) if model.class == 0 || !CHECKED => Ok(Ordering::Less),
        (_, Value::Model(model)) if model.class == 0 || !CHECKED => Ok(Ordering::Greater),
        (Value::Set(a), Value::Set(b)) => {
            if Arc::ptr_eq(a, b) {
                return Ok(Ordering::Equal);
            }
            match a.len().cmp(&b.len()) {
                Ordering::Equal => rows::<CHECKED>(a.elements(), b.elements()),
                unequal => Ok(unequal),
            }
        }
        (Value::Seq(a), Value::Seq(b)) => {
            if Arc::ptr_eq(a, b) {
                return Ok(Ordering::Equal);
            }
            match a.len().cmp(&b.len()) {
                Ordering::Equal => rows::<CHECKED>(a.elements(), b.elements()),
                unequal => Ok(unequal),
            }
        }
        (Value::Fun(x), Value::Fun(y)) => {
            if CHECKED && x.is_record() && !y.is_record() {
                return Err(incomparable(a, b));
            }
            functions::<CHECKED>(x, y)
        }
        (Value::Seq(seq), Value::Fun(fun)) => with_sequence::<CHECKED>(seq, fun, a, b),
        (Value::Fun(fun), Value::Seq(seq)) => {
            if CHECKED && fun.is_record() && !seq.is_empty() {
                return Err(incomparable(a, b));
            }
            Ok(with_sequence::<CHECKED>(seq, fun, a, b)?.reverse())
        }
        _ if CHECKED => Err(incomparable(a, b)),
        _ => Ok(rank(a).cmp(&rank(b))),
    }
}

fn functions<const CHECKED: bool>(a: &Arc<Fun>, b: &Arc<Fun>) -> Result<Ordering> {
    if Arc::ptr_eq(a, b) {
        return Ok(Ordering::Equal);
    }
    let sizes = a.values().len().cmp(&b.values().len());
    if sizes.is_ne() {
        return Ok(sizes);
    }
    if !Arc::ptr_eq(a.domain(), b.domain()) {
        let domains = rows::<CHECKED>(a.domain().elements(), b.domain().elements())?;
        if domains.is_ne() {
            return Ok(domains);
        }
    }
    rows::<CHECKED>(a.values(), b.values())
}

/// Compares a sequence with a function that is not one: the domains differ.
fn with_sequence<const CHECKED: bool>(seq: &Seq, fun: &Fun, a: &Value, b: &Value) -> Result<Ordering> {
    let sizes = seq.len().cmp(&fun.values().len());
    if sizes.is_ne() {
        return Ok(sizes);
    }
    for (index, key) in (1..).zip(fun.domain().elements()) {
        match key {
            Value::Int(key) if index == *key => {}
            Value::Int(key) => return Ok(index.cmp(key)),
            _ if CHECKED => return Err(incomparable(a, b)),
            key => return order::<CHECKED>(&Value::Int(index), key),
        }
    }
    unreachable!("a function on `1..n` is a sequence")
}

fn rows<const CHECKED: bool>(a: &[Value], b: &[Value]) -> Result<Ordering> {
    for (a, b) in a.iter().zip(b) {
        let order = order::<CHECKED>(a, b)?;
        if order.is_ne() {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

fn check_models(a: Model, b: Model) -> Result<()> {
    if a.class == b.class || a.class == 0 || b.class == 0 {
        return Ok(());
    }
    Err(EvalError::new(
        ErrorKind::Incomparable,
        format!("cannot compare model values of the types `{}` and `{}`", char::from(a.class), char::from(b.class)),
    ))
}

/// An order of the kinds; model values come before all of them.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Model(_) => 0,
        Value::Bool(_) => 1,
        Value::Int(_) => 2,
        Value::Str(_) => 3,
        Value::Set(_) => 4,
        Value::Seq(_) | Value::Fun(_) => 5,
    }
}

#[cold]
fn incomparable(a: &Value, b: &Value) -> Box<EvalError> {
    EvalError::new(ErrorKind::Incomparable, format!("cannot compare {} with {}", a.kind_name(), b.kind_name()))
}
