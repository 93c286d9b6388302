//! `SequencesExt`, without the operators on sequences within sequences.

use super::args::{Args, count, holds, set_of, yes};
use super::folds::{fold_function, fold_left, fold_right};
use super::functions::{domain_of, range, tabulate};
use super::sequences::{concat, len, sub};
use super::tlc::{permutations, sorted};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Seq, Value, equal};

pub(super) const NATIVES: &[Native] = &[
    Native::new("SequencesExt", "ToSet", &[0], |host, args| {
        set_of(range(&Args::new("ToSet", args).function(host, 0)?)?)
    }),
    Native::new("SequencesExt", "ToBag", &[0], |host, args| {
        let function = Args::new("ToBag", args).function(host, 0)?;
        let values = function.function_values().unwrap_or_default();
        let domain = range(&function)?;
        tabulate(host, domain, |_, element| {
            Ok(Value::Int(values.iter().filter(|value| *value == element).count() as i64))
        })
    }),
    Native::new("SequencesExt", "SetToSeq", &[0], |host, args| {
        Ok(Value::seq(Args::new("SetToSeq", args).set(host, 0)?.elements().to_vec()).into())
    }),
    Native::new("SequencesExt", "SetToSeqs", &[0], |host, args| {
        let set = Args::new("SetToSeqs", args).set(host, 0)?;
        Ok(Value::set(permutations(host, set.elements())?.into_iter().map(Value::seq).collect())?.into())
    }),
    Native::new("SequencesExt", "SetToSortSeq", &[0, 2], |host, args| {
        let args = Args::new("SetToSortSeq", args);
        let set = args.set(host, 0)?;
        Ok(Value::seq(sorted(host, set.elements(), args.operator(1))?).into())
    }),
    Native::new("SequencesExt", "SetToAllKPermutations", &[0], |host, args| {
        let set = Args::new("SetToAllKPermutations", args).datum(0).clone();
        let mut subsets = datum::Elements::new(host, &LazySet::Subsets(set).into())?;
        let mut all = Vec::new();
        while let Some(subset) = subsets.next(host)? {
            let Value::Set(subset) = subset else { unreachable!("a subset is a set") };
            all.extend(permutations(host, subset.elements())?.into_iter().map(Value::seq));
        }
        Ok(Value::set(all)?.into())
    }),
    Native::new("SequencesExt", "TupleOf", &[0, 0], |host, args| {
        let args = Args::new("TupleOf", args);
        let len = args.int(host, 1)?;
        Ok(LazySet::Functions(datum::make_interval(1, len), args.datum(0).clone()).into())
    }),
    Native::new("SequencesExt", "SeqOf", &[0, 0], |host, args| bounded(host, args, "SeqOf")),
    Native::new("SequencesExt", "BoundedSeq", &[0, 0], |host, args| bounded(host, args, "BoundedSeq")),
    Native::new("SequencesExt", "Contains", &[0, 0], |host, args| {
        let args = Args::new("Contains", args);
        let (seq, element) = (args.seq(host, 0)?, args.value(host, 1)?);
        yes(position(&seq, &element)?.is_some())
    }),
    Native::new("SequencesExt", "IsSorted", &[0, 2], |host, args| {
        let args = Args::new("IsSorted", args);
        let seq = args.seq(host, 0)?;
        for (index, a) in seq.elements().iter().enumerate() {
            for b in &seq.elements()[index + 1..] {
                if !holds(host, args.operator(1), &[a, b])? {
                    return yes(false);
                }
            }
        }
        yes(true)
    }),
    Native::new("SequencesExt", "Reverse", &[0], |host, args| {
        let seq = Args::new("Reverse", args).seq(host, 0)?;
        Ok(Value::seq(seq.elements().iter().rev().cloned().collect()).into())
    }),
    Native::new("SequencesExt", "Remove", &[0, 0], |host, args| {
        let args = Args::new("Remove", args);
        let (seq, element) = (args.seq(host, 0)?, args.value(host, 1)?);
        let mut kept = Vec::with_capacity(seq.len());
        for other in seq.elements() {
            if !equal(other, &element)? {
                kept.push(other.clone());
            }
        }
        Ok(Value::seq(kept).into())
    }),
    Native::new("SequencesExt", "ReplaceAll", &[0, 0, 0], |host, args| {
        let args = Args::new("ReplaceAll", args);
        let (seq, old, new) = (args.seq(host, 0)?, args.value(host, 1)?, args.value(host, 2)?);
        let replace = |value: &Value| Ok(if equal(value, &old)? { new.clone() } else { value.clone() });
        Ok(Value::seq(seq.elements().iter().map(replace).collect::<Result<_>>()?).into())
    }),
    Native::new("SequencesExt", "SelectInSeq", &[0, 1], |host, args| {
        let args = Args::new("SelectInSeq", args);
        let seq = args.seq(host, 0)?;
        count(first_match(host, &seq, args.operator(1))?.map_or(0, |index| index + 1))
    }),
    Native::new("SequencesExt", "SelectInSubSeq", &[0, 0, 0, 1], |host, args| {
        in_part(host, args, "SelectInSubSeq", |host, seq, test| first_match(host, seq, test))
    }),
    Native::new("SequencesExt", "SelectLastInSeq", &[0, 1], |host, args| {
        let args = Args::new("SelectLastInSeq", args);
        let seq = args.seq(host, 0)?;
        count(last_match(host, &seq, args.operator(1))?.map_or(0, |index| index + 1))
    }),
    Native::new("SequencesExt", "SelectLastInSubSeq", &[0, 0, 0, 1], |host, args| {
        in_part(host, args, "SelectLastInSubSeq", |host, seq, test| last_match(host, seq, test))
    }),
    Native::new("SequencesExt", "InsertAt", &[0, 0, 0], |host, args| {
        let args = Args::new("InsertAt", args);
        let (row, index, element) = (args.row(host, 0)?, args.int(host, 1)?, args.value(host, 2)?);
        let last = len(host, &row) as i64;
        let before = sub(host, &row, 1, index - 1)?;
        let with = concat(host, &before, &Value::seq(vec![element]))?;
        let after = sub(host, &row, index, last)?;
        Ok(concat(host, &with, &after)?.into())
    }),
    Native::new("SequencesExt", "ReplaceAt", &[0, 0, 0], |host, args| {
        let args = Args::new("ReplaceAt", args);
        let changed = datum::except(host, args.datum(0), args.datum(1), args.datum(2).clone())?;
        Ok(changed.unwrap_or_else(|| args.datum(0).clone()))
    }),
    Native::new("SequencesExt", "RemoveAt", &[0, 0], |host, args| {
        let args = Args::new("RemoveAt", args);
        let (row, index) = (args.row(host, 0)?, args.int(host, 1)?);
        Ok(without(host, &row, index)?.into())
    }),
    Native::new("SequencesExt", "RemoveFirst", &[0, 0], |host, args| {
        let args = Args::new("RemoveFirst", args);
        let (seq, element) = (args.seq(host, 0)?, args.value(host, 1)?);
        match position(&seq, &element)? {
            Some(index) => Ok(without(host, &Value::Seq(seq), index as i64 + 1)?.into()),
            None => Ok(Value::Seq(seq).into()),
        }
    }),
    Native::new("SequencesExt", "RemoveFirstMatch", &[0, 1], |host, args| {
        let args = Args::new("RemoveFirstMatch", args);
        let seq = args.seq(host, 0)?;
        match first_match(host, &seq, args.operator(1))? {
            Some(index) => Ok(without(host, &Value::Seq(seq), index as i64 + 1)?.into()),
            None => Ok(Value::Seq(seq).into()),
        }
    }),
    Native::new("SequencesExt", "Cons", &[0, 0], |host, args| {
        let args = Args::new("Cons", args);
        let (element, seq) = (args.value(host, 0)?, args.seq(host, 1)?);
        Ok(Value::Seq(Seq::new(vec![element]).concat(&seq)).into())
    }),
    Native::new("SequencesExt", "Snoc", &[0, 0], |host, args| {
        let args = Args::new("Snoc", args);
        let (element, seq) = (args.value(host, 0)?, args.seq(host, 1)?);
        Ok(Value::Seq(seq.push(element)).into())
    }),
    Native::new("SequencesExt", "Front", &[0], |host, args| {
        let row = Args::new("Front", args).row(host, 0)?;
        let len = len(host, &row) as i64;
        Ok(sub(host, &row, 1, len - 1)?.into())
    }),
    Native::new("SequencesExt", "Last", &[0], |host, args| {
        let seq = Args::new("Last", args).seq(host, 0)?;
        let message = "`Last` was applied to the empty sequence";
        let last = seq.elements().last().cloned();
        last.map(Datum::Value).ok_or_else(|| EvalError::too_short(message))
    }),
    Native::new("SequencesExt", "SeqMod", &[0, 0], |host, args| {
        let args = Args::new("SeqMod", args);
        let (a, b) = (args.int(host, 0)?, args.int(host, 1)?);
        if b <= 0 {
            return Err(EvalError::new(ErrorKind::Arithmetic, "the second argument of `SeqMod` must be positive"));
        }
        Ok(Value::Int(if a.rem_euclid(b) == 0 { b } else { a.rem_euclid(b) }).into())
    }),
    Native::new("SequencesExt", "FoldSeq", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldSeq", args);
        let keys = domain_of(host, args.datum(2))?;
        fold_function(host, args.operator(0), args.datum(1), args.datum(2), &keys)
    }),
    Native::new("SequencesExt", "FoldLeft", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldLeft", args);
        let seq = args.seq(host, 2)?;
        fold_left(host, args.operator(0), args.datum(1), seq.elements().iter().cloned())
    }),
    Native::new("SequencesExt", "FoldRight", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldRight", args);
        let seq = args.seq(host, 1)?;
        fold_right(host, args.operator(0), args.datum(2), seq.elements().iter().cloned())
    }),
    Native::new("SequencesExt", "FoldLeftDomain", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldLeftDomain", args);
        let len = args.seq(host, 2)?.len() as i64;
        fold_left(host, args.operator(0), args.datum(1), (1..=len).map(Value::Int))
    }),
    Native::new("SequencesExt", "FoldRightDomain", &[2, 0, 0], |host, args| {
        let args = Args::new("FoldRightDomain", args);
        let len = args.seq(host, 1)?.len() as i64;
        fold_right(host, args.operator(0), args.datum(2), (1..=len).map(Value::Int))
    }),
    Native::new("SequencesExt", "Zip", &[0, 0], |host, args| {
        let args = Args::new("Zip", args);
        let (left, right) = (args.seq(host, 0)?, args.seq(host, 1)?);
        let pairs = left.elements().iter().zip(right.elements());
        Ok(Value::seq(pairs.map(|(a, b)| Value::seq(vec![a.clone(), b.clone()])).collect()).into())
    }),
    Native::new("SequencesExt", "Interleave", &[0, 0], interleave),
];

/// The sequences of at most this length, as a lazy set.
fn bounded(host: &mut dyn Host, args: &[Operand], name: &'static str) -> Result<Datum> {
    let args = Args::new(name, args);
    let longest = args.int(host, 1)?;
    let lengths = (0..=longest).map(|len| LazySet::Functions(datum::make_interval(1, len), args.datum(0).clone()));
    Ok(LazySet::Union(LazySet::Family(lengths.map(Datum::from).collect()).into()).into())
}

fn position(seq: &Seq, element: &Value) -> Result<Option<usize>> {
    for (index, other) in seq.elements().iter().enumerate() {
        if equal(other, element)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn first_match(host: &mut dyn Host, seq: &Seq, test: &datum::Operator) -> Result<Option<usize>> {
    for (index, element) in seq.elements().iter().enumerate() {
        if holds(host, test, &[element])? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn last_match(host: &mut dyn Host, seq: &Seq, test: &datum::Operator) -> Result<Option<usize>> {
    for (index, element) in seq.elements().iter().enumerate().rev() {
        if holds(host, test, &[element])? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

fn in_part(
    host: &mut dyn Host,
    args: &[Operand],
    name: &'static str,
    search: fn(&mut dyn Host, &Seq, &datum::Operator) -> Result<Option<usize>>,
) -> Result<Datum> {
    let args = Args::new(name, args);
    let (seq, from, to) = (args.seq(host, 0)?, args.int(host, 1)?, args.int(host, 2)?);
    let Value::Seq(part) = sub(host, &Value::Seq(seq), from, to)? else { unreachable!("part of a sequence") };
    match search(host, &part, args.operator(3))? {
        // An index into the whole sequence, as in TLC's Java.
        Some(index) => Ok(Value::Int(index as i64 + from).into()),
        None => count(0),
    }
}

fn without(host: &mut dyn Host, row: &Value, index: i64) -> Result<Value> {
    let last = len(host, row) as i64;
    let (before, after) = (sub(host, row, 1, index - 1)?, sub(host, row, index + 1, last)?);
    concat(host, &before, &after)
}

fn interleave(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("Interleave", args);
    let (left, right) = (args.seq(host, 0)?, args.seq(host, 1)?);
    if left.len() != right.len() {
        return Err(EvalError::new(ErrorKind::NoChoice, "`Interleave` needs sequences of the same length"));
    }
    if left.is_empty() {
        return Ok(Value::seq(vec![Value::empty_seq(), Value::empty_seq()]).into());
    }
    let pairs = left.elements().iter().zip(right.elements());
    let parts = pairs.flat_map(|(a, b)| [a, b]).map(|element| Value::seq(vec![element.clone()]));
    Ok(Value::seq(parts.collect()).into())
}
