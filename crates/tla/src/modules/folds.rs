//! `Folds`, and the folds shared by other modules.

use std::sync::Arc;

use super::args::{Args, apply2};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, Elements, Operator};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value};

pub(super) const NATIVES: &[Native] = &[Native::new("Folds", "MapThenFoldSet", &[2, 0, 1, 1, 0], map_then_fold_set)];

/// `op(f(x), ...)` over the elements removed by `choose`, the first one outermost.
fn map_then_fold_set(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("MapThenFoldSet", args);
    let (op, map, choose) = (args.operator(0), args.operator(2), args.operator(3));
    let mut rest = args.set(host, 4)?;
    let mut chosen = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let element = host.apply(choose, &[Datum::Value(Value::Set(rest.clone()))])?;
        let element = datum::to_value(host, &element)?;
        let smaller = rest.difference(&*Set::new(vec![element.clone()])?)?;
        if smaller.len() == rest.len() {
            return Err(EvalError::new(ErrorKind::OutsideDomain, "`choose` must take an element of the set"));
        }
        chosen.push(element);
        rest = smaller;
    }
    let mut result = args.datum(1).clone();
    for element in chosen.into_iter().rev() {
        let mapped = host.apply(map, &[Datum::Value(element)])?;
        result = apply2(host, op, mapped, result)?;
    }
    Ok(result)
}

/// `op(last, ... op(first, base))`, as TLC's Java folds a set; the definition in TLA+ leaves the order open.
pub(super) fn fold_set(host: &mut dyn Host, op: &Operator, base: &Datum, set: &Datum) -> Result<Datum> {
    let mut result = base.clone();
    let mut elements = Elements::new(host, set)?;
    while let Some(element) = elements.next(host)? {
        result = apply2(host, op, Datum::Value(element), result)?;
    }
    Ok(result)
}

/// [`fold_set`] over the values of a function at some arguments, in the order of the arguments.
pub(super) fn fold_function(
    host: &mut dyn Host,
    op: &Operator,
    base: &Datum,
    function: &Datum,
    arguments: &Arc<Set>,
) -> Result<Datum> {
    let mut result = base.clone();
    for argument in arguments.elements() {
        let value = datum::apply(host, function, &Datum::Value(argument.clone()))?;
        result = apply2(host, op, value, result)?;
    }
    Ok(result)
}

/// `op(op(base, first), ... last)`
pub(super) fn fold_left(
    host: &mut dyn Host,
    op: &Operator,
    base: &Datum,
    values: impl Iterator<Item = Value>,
) -> Result<Datum> {
    let mut result = base.clone();
    for value in values {
        result = apply2(host, op, result, Datum::Value(value))?;
    }
    Ok(result)
}

/// `op(first, ... op(last, base))`
pub(super) fn fold_right(
    host: &mut dyn Host,
    op: &Operator,
    base: &Datum,
    values: impl DoubleEndedIterator<Item = Value>,
) -> Result<Datum> {
    let mut result = base.clone();
    for value in values.rev() {
        result = apply2(host, op, Datum::Value(value), result)?;
    }
    Ok(result)
}
