//! `Bags` and `BagsExt`. A bag is a function from its elements to their number of copies, at least one.

use std::sync::Arc;

use super::args::{Args, apply2, int_of, set_of, within, yes};
use super::finite_sets_ext::mapped;
use super::functions::{domain_of, tabulate};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet, Operator};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value, equal};

pub(super) const NATIVES: &[Native] = &[
    Native::new("Bags", "IsABag", &[0], |host, args| {
        let args = Args::new("IsABag", args);
        match args.datum(0) {
            Datum::Value(Value::Seq(_) | Value::Fun(_)) | Datum::Function(_) => {
                let bag = args.function(host, 0)?;
                yes(copies(&bag).iter().all(|copies| matches!(copies, Value::Int(1..))))
            }
            _ => yes(false),
        }
    }),
    Native::new("Bags", "BagToSet", &[0], |_, args| datum::domain(Args::new("BagToSet", args).datum(0))),
    Native::new("Bags", "SetToBag", &[0], |host, args| {
        let set = Args::new("SetToBag", args).set(host, 0)?;
        let ones = vec![Value::Int(1); set.len()];
        Ok(Value::function(set, ones).into())
    }),
    Native::new("Bags", "BagIn", &[0, 0], |host, args| {
        let args = Args::new("BagIn", args);
        let (element, bag) = (args.value(host, 0)?, args.function(host, 1)?);
        yes(copies_in(&bag, &element)? > 0)
    }),
    Native::new("Bags", "EmptyBag", &[], |_, _| Ok(Value::empty_seq().into())),
    Native::new("Bags", "(+)", &[0, 0], |host, args| {
        let args = Args::new("(+)", args);
        let (left, right) = (proper_bag(host, args, 0)?, proper_bag(host, args, 1)?);
        Ok(sum(host, &left, &right)?.into())
    }),
    Native::new("Bags", "(-)", &[0, 0], |host, args| {
        let args = Args::new("(-)", args);
        let (left, right) = (bag(host, args, 0)?, bag(host, args, 1)?);
        if let Some((element, count)) = only(&right)
            && copies(&left).iter().all(|copies| matches!(copies, Value::Int(1..)))
        {
            let left_over = copies_in(&left, element)? - count;
            return Ok(match left.function_domain().ok_or_else(not_a_bag)?.position(element)? {
                None => left,
                Some(_) if left_over > 0 => left.with(element, Value::Int(left_over))?,
                Some(_) => left.without(element)?,
            }
            .into());
        }
        let mut rest = Vec::new();
        for (element, count) in pairs(&left)? {
            let left_over = count - copies_in(&right, &element)?;
            if left_over > 0 {
                rest.push((element, Value::Int(left_over)));
            }
        }
        Ok(Value::pairs(rest)?.into())
    }),
    Native::new("Bags", "BagUnion", &[0], |host, args| {
        let bags = Args::new("BagUnion", args).set(host, 0)?;
        let mut union = Value::empty_seq();
        for other in bags.elements() {
            if other.function_len().is_none() {
                return Err(not_a_bag());
            }
            union = sum(host, &union, other)?;
        }
        Ok(union.into())
    }),
    Native::new("Bags", "\\sqsubseteq", &[0, 0], |host, args| {
        let args = Args::new("\\sqsubseteq", args);
        let (left, right) = (bag(host, args, 0)?, bag(host, args, 1)?);
        for (element, count) in pairs(&left)? {
            if count > copies_in(&right, &element)? {
                return yes(false);
            }
        }
        yes(true)
    }),
    Native::new("Bags", "SubBag", &[0], sub_bags),
    Native::new("Bags", "BagOfAll", &[1, 0], |host, args| {
        let args = Args::new("BagOfAll", args);
        let bag = bag(host, args, 1)?;
        let domain = domain_of(host, &bag.clone().into())?;
        let mapped = mapped(host, args.operator(0), &domain)?;
        let counts: Vec<i64> = pairs(&bag)?.into_iter().map(|(_, count)| count).collect();
        tabulate(host, Set::new(mapped.clone())?, |_, element| {
            let mut total = 0i64;
            for (image, count) in mapped.iter().zip(&counts) {
                total += if equal(image, element)? { *count } else { 0 };
            }
            Ok(Value::Int(within(Some(total), || "the copies in a bag".to_owned())?))
        })
    }),
    Native::new("Bags", "BagCardinality", &[0], |host, args| {
        let args = Args::new("BagCardinality", args);
        let bag = proper_bag(host, args, 0)?;
        let total = pairs(&bag)?.into_iter().try_fold(0, |total, (_, count)| i64::checked_add(total, count));
        int_of(within(total, || "the cardinality of a bag".to_owned())?)
    }),
    Native::new("Bags", "CopiesIn", &[0, 0], |host, args| {
        let args = Args::new("CopiesIn", args);
        let (element, bag) = (args.value(host, 0)?, args.function(host, 1)?);
        int_of(copies_in(&bag, &element)?)
    }),
    Native::new("BagsExt", "BagAdd", &[0, 0], |host, args| {
        let args = Args::new("BagAdd", args);
        let (bag, element) = (bag(host, args, 0)?, args.value(host, 1)?);
        let one = Value::pairs(vec![(element, Value::Int(1))])?;
        Ok(sum(host, &bag, &one)?.into())
    }),
    Native::new("BagsExt", "BagRemove", &[0, 0], |host, args| {
        let args = Args::new("BagRemove", args);
        let (bag, element) = (bag(host, args, 0)?, args.value(host, 1)?);
        let domain = bag.function_domain().ok_or_else(not_a_bag)?;
        match copies_in(&bag, &element)? {
            _ if domain.position(&element)?.is_none() => Ok(bag.into()),
            1 => without(host, &bag, element),
            count => {
                let fewer = bag.except(&element, Value::Int(count - 1))?;
                Ok(fewer.expect("the bag has the element").into())
            }
        }
    }),
    Native::new("BagsExt", "BagRemoveAll", &[0, 0], |host, args| {
        let args = Args::new("BagRemoveAll", args);
        let (bag, element) = (bag(host, args, 0)?, args.value(host, 1)?);
        without(host, &bag, element)
    }),
    Native::new("BagsExt", "SumBag", &[0], |host, args| {
        let args = Args::new("SumBag", args);
        let bag = proper_bag(host, args, 0)?;
        let mut total = 0i64;
        for (element, count) in pairs(&bag)? {
            let Value::Int(element) = element else { return Err(args.wrong(host, 0, "a bag of integers")) };
            let next = element.checked_mul(count).and_then(|product| total.checked_add(product));
            total = within(next, || "the sum of a bag".to_owned())?;
        }
        int_of(total)
    }),
    Native::new("BagsExt", "ProductBag", &[0], |host, args| {
        let args = Args::new("ProductBag", args);
        let bag = proper_bag(host, args, 0)?;
        let mut product = 1i64;
        for (element, count) in pairs(&bag)? {
            let Value::Int(element) = element else { return Err(args.wrong(host, 0, "a bag of integers")) };
            let power = u32::try_from(count).ok().and_then(|count| element.checked_pow(count));
            let next = power.and_then(|power| product.checked_mul(power));
            product = within(next, || "the product of a bag".to_owned())?;
        }
        int_of(product)
    }),
    Native::new("BagsExt", "FoldBag", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldBag", args);
        let bag = proper_bag(host, args, 2)?;
        // As in TLC's Java: `op(op(base, first), first)` and so on. The definition leaves the order open.
        let mut result = args.datum(1).clone();
        for (element, count) in pairs(&bag)? {
            for _ in 0..count {
                result = apply2(host, args.operator(0), result, element.clone().into())?;
            }
        }
        Ok(result)
    }),
    Native::new("BagsExt", "MapThenFoldBag", &[2, 0, 1, 1, 0], |host, args| {
        let args = Args::new("MapThenFoldBag", args);
        let bag = bag(host, args, 4)?;
        fold(host, args.operator(0), args.datum(1), args.operator(2), &bag)
    }),
];

/// A function to integers, which need not be positive: TLC checks the counts in some operators only.
fn bag(host: &mut dyn Host, args: Args<'_>, index: usize) -> Result<Value> {
    let bag = args.function(host, index)?;
    if copies(&bag).iter().all(|copies| matches!(copies, Value::Int(_))) {
        return Ok(bag);
    }
    Err(args.wrong(host, index, "a bag"))
}

/// A bag in which every element has at least one copy.
fn proper_bag(host: &mut dyn Host, args: Args<'_>, index: usize) -> Result<Value> {
    let bag = bag(host, args, index)?;
    match copies(&bag).iter().all(|copies| matches!(copies, Value::Int(1..))) {
        true => Ok(bag),
        false => Err(args.wrong(host, index, "a bag")),
    }
}

fn copies(bag: &Value) -> &[Value] {
    bag.function_values().unwrap_or_default()
}

fn pairs(bag: &Value) -> Result<Vec<(Value, i64)>> {
    let domain = bag.function_domain().ok_or_else(not_a_bag)?;
    let pairs = domain.elements().iter().zip(copies(bag)).map(|(element, count)| match count {
        Value::Int(count) => Ok((element.clone(), *count)),
        _ => Err(not_a_bag()),
    });
    pairs.collect()
}

fn copies_in(bag: &Value, element: &Value) -> Result<i64> {
    let domain = bag.function_domain().ok_or_else(not_a_bag)?;
    match domain.position(element)?.map(|index| &copies(bag)[index]) {
        Some(Value::Int(count)) => Ok(*count),
        Some(_) => Err(not_a_bag()),
        None => Ok(0),
    }
}

/// The element of a bag of one element, and its number of copies.
fn only(bag: &Value) -> Option<(&Value, i64)> {
    let Value::Fun(fun) = bag else { return None };
    match (fun.domain().elements(), fun.values()) {
        ([element], [Value::Int(count)]) => Some((element, *count)),
        _ => None,
    }
}

fn sum(host: &mut dyn Host, left: &Value, right: &Value) -> Result<Value> {
    // Most sums add one element, so they are not tabulated.
    for (bag, other) in [(left, right), (right, left)] {
        if let Some((element, count)) = only(other) {
            let known = copies_in(bag, element)?;
            let total = within(known.checked_add(count), || format!("{known} + {count}"))?;
            return bag.with(element, Value::Int(total));
        }
    }
    let domain_of = |bag: &Value| bag.function_domain().ok_or_else(not_a_bag);
    let domain: Arc<Set> = domain_of(left)?.union(&domain_of(right)?)?;
    let sum = tabulate(host, domain, |_, element| {
        let (a, b) = (copies_in(left, element)?, copies_in(right, element)?);
        Ok(Value::Int(within(a.checked_add(b), || format!("{a} + {b}"))?))
    })?;
    datum::to_value(host, &sum)
}

fn without(host: &mut dyn Host, bag: &Value, element: Value) -> Result<Datum> {
    let domain = bag.function_domain().ok_or_else(not_a_bag)?;
    let domain = domain.difference(&*Set::new(vec![element])?)?;
    tabulate(host, domain, |_, key| bag.apply(key).cloned())
}

/// Every bag with at most as many copies of each element.
fn sub_bags(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("SubBag", args);
    let pairs = pairs(&proper_bag(host, args, 0)?)?;
    let choices = pairs.iter().map(|(_, count)| datum::make_interval(0, *count)).collect();
    let rows = datum::to_set(host, &LazySet::Product(choices).into())?;
    let mut bags = Vec::with_capacity(rows.len());
    for row in rows.elements() {
        let counts = row.function_values().unwrap_or_default();
        let kept = pairs.iter().zip(counts).filter(|(_, count)| **count != Value::Int(0));
        bags.push(Value::pairs(kept.map(|((element, _), count)| (element.clone(), count.clone())).collect())?);
    }
    set_of(Set::new(bags)?)
}

/// As defined: each element is folded into `base` once per copy, then those results are folded.
fn fold(host: &mut dyn Host, op: &Operator, base: &Datum, map: &Operator, bag: &Value) -> Result<Datum> {
    let mut result = base.clone();
    for (element, count) in pairs(bag)?.into_iter().rev() {
        let mut handled = base.clone();
        for _ in 0..count {
            let image = host.apply(map, &[Datum::Value(element.clone())])?;
            handled = apply2(host, op, handled, image)?;
        }
        result = apply2(host, op, handled, result)?;
    }
    Ok(result)
}

fn not_a_bag() -> Box<EvalError> {
    EvalError::new(ErrorKind::WrongKind, "a bag maps each element to its number of copies")
}
