//! `FiniteSetsExt`.

use std::cmp::Ordering;

use super::args::{Args, apply1, count, holds, int_of, set_of, within};
use super::folds::fold_set;
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value};

pub(super) const NATIVES: &[Native] = &[
    Native::new("FiniteSetsExt", "FoldSet", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldSet", args);
        fold_set(host, args.operator(0), args.datum(1), args.datum(2))
    }),
    Native::new("FiniteSetsExt", "ReduceSet", &[2, 0, 0], |host, args| {
        let args = Args::new("ReduceSet", args);
        fold_set(host, args.operator(0), args.datum(2), args.datum(1))
    }),
    Native::new("FiniteSetsExt", "SumSet", &[0], |host, args| {
        let set = Args::new("SumSet", args).set(host, 0)?;
        sum(host, "SumSet", set.elements().iter().cloned().map(Datum::Value).collect())
    }),
    Native::new("FiniteSetsExt", "ProductSet", &[0], |host, args| {
        let set = Args::new("ProductSet", args).set(host, 0)?;
        let mut product = 1;
        for element in set.elements() {
            let factor = integer(host, "ProductSet", &Datum::Value(element.clone()))?;
            product = within(i64::checked_mul(product, factor), || format!("{product} * {factor}"))?;
        }
        int_of(product)
    }),
    Native::new("FiniteSetsExt", "MapThenSumSet", &[1, 0], |host, args| {
        let args = Args::new("MapThenSumSet", args);
        let set = args.set(host, 1)?;
        let mut mapped = Vec::with_capacity(set.len());
        for element in set.elements() {
            mapped.push(host.apply(args.operator(0), &[Datum::Value(element.clone())])?);
        }
        sum(host, "MapThenSumSet", mapped)
    }),
    Native::new("FiniteSetsExt", "FlattenSet", &[0], |host, args| {
        datum::union(host, Args::new("FlattenSet", args).datum(0))
    }),
    Native::new("FiniteSetsExt", "SymDiff", &[0, 0], |host, args| {
        let args = Args::new("SymDiff", args);
        let left = datum::minus(host, args.datum(0), args.datum(1))?;
        let right = datum::minus(host, args.datum(1), args.datum(0))?;
        datum::cup(host, &left, &right)
    }),
    Native::new("FiniteSetsExt", "Quantify", &[0, 1], |host, args| {
        let args = Args::new("Quantify", args);
        let set = args.set(host, 0)?;
        let mut satisfied = 0;
        for element in set.elements() {
            satisfied += usize::from(holds(host, args.operator(1), &[element])?);
        }
        count(satisfied)
    }),
    Native::new("FiniteSetsExt", "kSubset", &[0, 0], |host, args| {
        let args = Args::new("kSubset", args);
        let (size, set) = (args.int(host, 0)?, args.set(host, 1)?);
        match usize::try_from(size) {
            Ok(size) if size <= set.len() => set_of(k_subsets(host, &set, size)?),
            _ => set_of(Set::empty()),
        }
    }),
    Native::new("FiniteSetsExt", "Max", &[0], |host, args| extreme(host, args, "Max", Ordering::Greater)),
    Native::new("FiniteSetsExt", "Min", &[0], |host, args| extreme(host, args, "Min", Ordering::Less)),
    Native::new("FiniteSetsExt", "Choices", &[0], choices),
    Native::new("FiniteSetsExt", "ChooseUnique", &[0, 1], |host, args| {
        let args = Args::new("ChooseUnique", args);
        let set = args.set(host, 0)?;
        let mut found = None;
        for element in set.elements() {
            if holds(host, args.operator(1), &[element])? {
                if found.is_some() {
                    return Err(no_choice("`ChooseUnique` found more than one element"));
                }
                found = Some(element.clone());
            }
        }
        found.map(Datum::Value).ok_or_else(|| no_choice("`ChooseUnique` found no element"))
    }),
];

/// The sum of integers.
pub(super) fn sum(host: &mut dyn Host, name: &str, data: Vec<Datum>) -> Result<Datum> {
    let mut total = 0;
    for datum in data {
        let summand = integer(host, name, &datum)?;
        total = within(i64::checked_add(total, summand), || format!("{total} + {summand}"))?;
    }
    int_of(total)
}

fn integer(host: &mut dyn Host, name: &str, datum: &Datum) -> Result<i64> {
    match datum {
        Datum::Value(Value::Int(value)) => Ok(*value),
        _ => {
            let message = format!("`{name}` needs integers, but one is {}", datum::display(host, datum));
            Err(EvalError::new(ErrorKind::WrongKind, message))
        }
    }
}

fn extreme(host: &mut dyn Host, args: &[Operand], name: &'static str, wanted: Ordering) -> Result<Datum> {
    let args = Args::new(name, args);
    if let Datum::Set(lazy) = args.datum(0)
        && let LazySet::Interval(low, high) = **lazy
        && low <= high
    {
        return Ok(Value::Int(if wanted.is_lt() { low } else { high }).into());
    }
    let set = args.set(host, 0)?;
    let mut best: Option<i64> = None;
    for element in set.elements() {
        let value = integer(host, name, &Datum::Value(element.clone()))?;
        if best.is_none_or(|best| value.cmp(&best) == wanted) {
            best = Some(value);
        }
    }
    best.map(|best| Value::Int(best).into()).ok_or_else(|| no_choice(&format!("`{name}` of the empty set")))
}

/// The subsets with this many elements.
fn k_subsets(host: &mut dyn Host, set: &Set, size: usize) -> Result<std::sync::Arc<Set>> {
    let mut subsets = Vec::new();
    let mut indices: Vec<usize> = (0..size).collect();
    loop {
        host.tick()?;
        if (subsets.len() as u128) * (size as u128 + 1) > datum::LIMIT {
            return Err(EvalError::new(ErrorKind::Limit, "`kSubset` has too many elements"));
        }
        let subset = indices.iter().map(|&index| set.elements()[index].clone()).collect();
        subsets.push(Value::set(subset)?);
        let Some(place) = (0..size).rev().find(|&place| indices[place] < set.len() - size + place) else { break };
        let first = indices[place] + 1;
        for (offset, index) in indices[place..].iter_mut().enumerate() {
            *index = first + offset;
        }
    }
    Set::new(subsets)
}

/// Every set that contains one element of each.
fn choices(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let sets = Args::new("Choices", args).set(host, 0)?;
    let members = sets.elements().iter().cloned().map(Datum::Value).collect();
    let mut rows = datum::Elements::new(host, &LazySet::Product(members).into())?;
    let mut chosen = Vec::new();
    while let Some(row) = rows.next(host)? {
        chosen.push(Value::set(row.function_values().unwrap_or_default().to_vec())?);
    }
    Ok(Value::set(chosen)?.into())
}

fn no_choice(message: &str) -> Box<EvalError> {
    EvalError::new(ErrorKind::NoChoice, message)
}

/// `{map(x) : x \in set}`
pub(super) fn mapped(host: &mut dyn Host, map: &datum::Operator, set: &Set) -> Result<Vec<Value>> {
    set.elements().iter().map(|element| apply1(host, map, element)).collect()
}
