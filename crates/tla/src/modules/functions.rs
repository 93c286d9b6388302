//! `Functions`.

use std::sync::Arc;

use super::args::{Args, apply2, holds, set_of, yes};
use super::finite_sets_ext::sum;
use super::folds::fold_function;
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, Elements, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value, equal};

pub(super) const NATIVES: &[Native] = &[
    Native::new("Functions", "Restrict", &[0, 0], |host, args| {
        let args = Args::new("Restrict", args);
        let domain = args.set(host, 1)?;
        restrict(host, args.datum(0), domain)
    }),
    Native::new("Functions", "RestrictDomain", &[0, 1], |host, args| {
        let args = Args::new("RestrictDomain", args);
        let domain = domain_of(host, args.datum(0))?;
        let domain = domain.retain(|key| holds(host, args.operator(1), &[key]))?;
        restrict(host, args.datum(0), domain)
    }),
    Native::new("Functions", "RestrictValues", &[0, 1], |host, args| {
        let args = Args::new("RestrictValues", args);
        let function = args.function(host, 0)?;
        let domain = domain_of(host, &function.clone().into())?;
        let domain = domain.retain(|key| holds(host, args.operator(1), &[function.apply(key)?]))?;
        restrict(host, &function.into(), domain)
    }),
    Native::new("Functions", "IsRestriction", &[0, 0], is_restriction),
    Native::new("Functions", "Range", &[0], |host, args| set_of(range(&Args::new("Range", args).function(host, 0)?)?)),
    Native::new("Functions", "Pointwise", &[0, 0, 2], |host, args| {
        let args = Args::new("Pointwise", args);
        let (left, right) = (args.function(host, 0)?, args.function(host, 1)?);
        let domain = domain_of(host, &left.clone().into())?;
        tabulate(host, domain, |host, key| {
            let (a, b) = (left.apply(key)?.clone(), right.apply(key)?.clone());
            let value = apply2(host, args.operator(2), a.into(), b.into())?;
            datum::to_value(host, &value)
        })
    }),
    Native::new("Functions", "Inverse", &[0, 0, 0], |host, args| {
        let args = Args::new("Inverse", args);
        let (function, keys, values) = (args.function(host, 0)?, args.set(host, 1)?, args.set(host, 2)?);
        inverse(host, &function, &keys, values)
    }),
    Native::new("Functions", "AntiFunction", &[0], |host, args| {
        let function = Args::new("AntiFunction", args).function(host, 0)?;
        if !is_injective(&function)? {
            let message = "`AntiFunction` of a function that has a value at two arguments".to_owned();
            return Err(EvalError::new(ErrorKind::WrongKind, message));
        }
        let keys = domain_of(host, &function.clone().into())?;
        let values = range(&function)?;
        inverse(host, &function, &keys, values)
    }),
    Native::new("Functions", "IsInjective", &[0], |host, args| {
        yes(is_injective(&Args::new("IsInjective", args).function(host, 0)?)?)
    }),
    Native::new("Functions", "Injection", &[0, 0], |host, args| mappings(host, args, true, false)),
    Native::new("Functions", "Surjection", &[0, 0], |host, args| mappings(host, args, false, true)),
    Native::new("Functions", "Bijection", &[0, 0], |host, args| mappings(host, args, true, true)),
    Native::new("Functions", "ExistsInjection", &[0, 0], |host, args| {
        let (from, to) = sizes(host, args, "ExistsInjection")?;
        yes(from <= to)
    }),
    Native::new("Functions", "ExistsSurjection", &[0, 0], |host, args| {
        let (from, to) = sizes(host, args, "ExistsSurjection")?;
        yes(from >= to && (to > 0 || from == 0))
    }),
    Native::new("Functions", "ExistsBijection", &[0, 0], |host, args| {
        let (from, to) = sizes(host, args, "ExistsBijection")?;
        yes(from == to)
    }),
    Native::new("Functions", "FoldFunctionOnSet", &[2, 0, 0, 0], |host, args| {
        let args = Args::new("FoldFunctionOnSet", args);
        let keys = args.set(host, 3)?;
        fold_function(host, args.operator(0), args.datum(1), args.datum(2), &keys)
    }),
    Native::new("Functions", "FoldFunction", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldFunction", args);
        let keys = domain_of(host, args.datum(2))?;
        fold_function(host, args.operator(0), args.datum(1), args.datum(2), &keys)
    }),
    Native::new("Functions", "SumFunctionOnSet", &[0, 0], |host, args| {
        let args = Args::new("SumFunctionOnSet", args);
        let keys = args.set(host, 1)?;
        let values: Vec<Datum> = keys
            .elements()
            .iter()
            .map(|key| datum::apply(host, args.datum(0), &Datum::Value(key.clone())))
            .collect::<Result<_>>()?;
        sum(host, "SumFunctionOnSet", values)
    }),
    Native::new("Functions", "SumFunction", &[0], |host, args| {
        let function = Args::new("SumFunction", args).function(host, 0)?;
        let values = function.function_values().unwrap_or_default();
        sum(host, "SumFunction", values.iter().cloned().map(Datum::Value).collect())
    }),
];

/// The domain of a function, enumerated.
pub(super) fn domain_of(host: &mut dyn Host, function: &Datum) -> Result<Arc<Set>> {
    let domain = datum::domain(function)?;
    datum::to_set(host, &domain)
}

/// The values of a function.
pub(super) fn range(function: &Value) -> Result<Arc<Set>> {
    Set::new(function.function_values().unwrap_or_default().to_vec())
}

/// `[key \in domain |-> value(key)]`
pub(super) fn tabulate(
    host: &mut dyn Host,
    domain: Arc<Set>,
    mut value: impl FnMut(&mut dyn Host, &Value) -> Result<Value>,
) -> Result<Datum> {
    let values = domain.elements().iter().map(|key| value(host, key)).collect::<Result<Vec<_>>>()?;
    Ok(Value::function(domain, values).into())
}

/// Whether the function is injective.
pub(super) fn is_injective(function: &Value) -> Result<bool> {
    let values = function.function_values().unwrap_or_default();
    Ok(range(function)?.len() == values.len())
}

fn restrict(host: &mut dyn Host, function: &Datum, domain: Arc<Set>) -> Result<Datum> {
    tabulate(host, domain, |host, key| {
        let value = datum::apply(host, function, &Datum::Value(key.clone()))?;
        datum::to_value(host, &value)
    })
}

fn is_restriction(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("IsRestriction", args);
    let (narrow, wide) = (args.function(host, 0)?, args.function(host, 1)?);
    let keys = domain_of(host, &narrow.clone().into())?;
    if !keys.is_subset(&*domain_of(host, &wide.clone().into())?)? {
        return yes(false);
    }
    for key in keys.elements() {
        if !equal(narrow.apply(key)?, wide.apply(key)?)? {
            return yes(false);
        }
    }
    yes(true)
}

/// `[t \in values |-> CHOOSE s \in keys : t \in Range(function) => function[s] = t]`
fn inverse(host: &mut dyn Host, function: &Value, keys: &Arc<Set>, values: Arc<Set>) -> Result<Datum> {
    let range = range(function)?;
    tabulate(host, values, |_, value| {
        let is_value = range.contains(value)?;
        for key in keys.elements() {
            if !is_value || equal(function.apply(key)?, value)? {
                return Ok(key.clone());
            }
        }
        Err(EvalError::new(ErrorKind::NoChoice, "no argument of the function has this value"))
    })
}

/// The functions from one set to another that are injective, surjective, or both.
fn mappings(host: &mut dyn Host, args: &[Operand], injective: bool, surjective: bool) -> Result<Datum> {
    let args = Args::new(if injective { "Injection" } else { "Surjection" }, args);
    let (from, to) = (args.set(host, 0)?, args.set(host, 1)?);
    let all = LazySet::Functions(Value::Set(from).into(), Value::Set(to.clone()).into());
    let mut functions = Elements::new(host, &all.into())?;
    let mut found = Vec::new();
    while let Some(function) = functions.next(host)? {
        if (!injective || is_injective(&function)?) && (!surjective || range(&function)?.len() == to.len()) {
            found.push(function);
        }
    }
    Ok(Value::set(found)?.into())
}

fn sizes(host: &mut dyn Host, args: &[Operand], name: &'static str) -> Result<(u128, u128)> {
    let args = Args::new(name, args);
    Ok((datum::cardinality(host, args.datum(0))?, datum::cardinality(host, args.datum(1))?))
}
