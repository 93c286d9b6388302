//! `SequencesExt`: operators on sequences, or strings, within others.

use super::args::{Args, set_of, yes};
use super::sequences::{concat, len, sub};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Set, Value, equal};

pub(super) const NATIVES: &[Native] = &[
    Native::new("SequencesExt", "IsPrefix", &[0, 0], |host, args| yes(is_prefix(host, args, "IsPrefix", false)?)),
    Native::new("SequencesExt", "IsStrictPrefix", &[0, 0], |host, args| {
        yes(is_prefix(host, args, "IsStrictPrefix", true)?)
    }),
    Native::new("SequencesExt", "IsSuffix", &[0, 0], |host, args| yes(is_suffix(host, args, "IsSuffix", false)?)),
    Native::new("SequencesExt", "IsStrictSuffix", &[0, 0], |host, args| {
        yes(is_suffix(host, args, "IsStrictSuffix", true)?)
    }),
    Native::new("SequencesExt", "Prefixes", &[0], |host, args| {
        let row = Args::new("Prefixes", args).row(host, 0)?;
        set_of(prefixes(host, &row)?)
    }),
    Native::new("SequencesExt", "CommonPrefixes", &[0], |host, args| {
        let rows = Args::new("CommonPrefixes", args).set(host, 0)?;
        match common_prefix(host, &rows)? {
            Some(prefix) => set_of(prefixes(host, &prefix)?),
            None => set_of(Set::empty()),
        }
    }),
    Native::new("SequencesExt", "LongestCommonPrefix", &[0], |host, args| {
        let rows = Args::new("LongestCommonPrefix", args).set(host, 0)?;
        let message = "`LongestCommonPrefix` of the empty set";
        let prefix = common_prefix(host, &rows)?;
        prefix.map(Datum::Value).ok_or_else(|| EvalError::new(ErrorKind::NoChoice, message))
    }),
    Native::new("SequencesExt", "Suffixes", &[0], |host, args| {
        let seq = Args::new("Suffixes", args).seq(host, 0)?;
        let mut suffixes = Vec::new();
        for from in 0..=seq.len() {
            host.tick()?;
            suffixes.push(Value::seq(seq.elements()[from..].to_vec()));
        }
        Ok(Value::set(suffixes)?.into())
    }),
    Native::new("SequencesExt", "FlattenSeq", &[0], |host, args| {
        let rows = Args::new("FlattenSeq", args).seq(host, 0)?;
        let Some((first, rest)) = rows.elements().split_first() else { return Ok(Value::empty_seq().into()) };
        let mut flat = first.clone();
        for row in rest {
            host.tick()?;
            flat = concat(host, &flat, row)?;
        }
        Ok(flat.into())
    }),
    Native::new("SequencesExt", "SubSeqs", &[0], |host, args| {
        let row = Args::new("SubSeqs", args).row(host, 0)?;
        let last = len(host, &row) as i64;
        let mut parts = vec![sub(host, &row, 1, 0)?];
        for from in 1..=last {
            for to in from..=last {
                host.tick()?;
                parts.push(sub(host, &row, from, to)?);
            }
        }
        Ok(Value::set(parts)?.into())
    }),
    Native::new("SequencesExt", "AllSubSeqs", &[0], |host, args| {
        let seq = Args::new("AllSubSeqs", args).seq(host, 0)?;
        let places = datum::make_interval(0, seq.len() as i64 - 1);
        let places = datum::to_value(host, &LazySet::Subsets(places).into())?;
        let Value::Set(places) = places else { unreachable!("a set of subsets") };
        let mut all = Vec::with_capacity(places.len());
        for subset in places.elements() {
            let Value::Set(subset) = subset else { unreachable!("a subset") };
            let chosen = subset.elements().iter().map(|place| match place {
                Value::Int(place) => seq.elements()[*place as usize].clone(),
                _ => unreachable!("a place is an integer"),
            });
            all.push(Value::seq(chosen.collect()));
        }
        Ok(Value::set(all)?.into())
    }),
    Native::new("SequencesExt", "IndexFirstSubSeq", &[0, 0], |host, args| {
        let args = Args::new("IndexFirstSubSeq", args);
        let (part, whole) = (args.row(host, 0)?, args.row(host, 1)?);
        match find(host, &part, &whole, 0)? {
            Some(place) => Ok(Value::Int(place as i64 + 1).into()),
            None => Err(EvalError::new(ErrorKind::NoChoice, "`IndexFirstSubSeq` found no such part")),
        }
    }),
    Native::new("SequencesExt", "ReplaceSubSeqAt", &[0, 0, 0, 0], |host, args| {
        let args = Args::new("ReplaceSubSeqAt", args);
        let place = args.int(host, 0)?;
        let (new, old, whole) = (args.row(host, 1)?, args.row(host, 2)?, args.row(host, 3)?);
        Ok(replace_at(host, place, &new, &old, &whole)?.into())
    }),
    Native::new("SequencesExt", "ReplaceFirstSubSeq", &[0, 0, 0], |host, args| {
        let args = Args::new("ReplaceFirstSubSeq", args);
        let (new, old, whole) = (args.row(host, 0)?, args.row(host, 1)?, args.row(host, 2)?);
        match find(host, &old, &whole, 0)? {
            Some(place) => Ok(replace_at(host, place as i64 + 1, &new, &old, &whole)?.into()),
            None => Ok(whole.into()),
        }
    }),
    Native::new("SequencesExt", "ReplaceAllSubSeqs", &[0, 0, 0], replace_all),
];

fn is_prefix(host: &mut dyn Host, args: &[Operand], name: &'static str, is_strict: bool) -> Result<bool> {
    let args = Args::new(name, args);
    let (part, whole) = (args.row(host, 0)?, args.row(host, 1)?);
    let (short, long) = (len(host, &part), len(host, &whole));
    if short > long || (is_strict && short == long) {
        return Ok(false);
    }
    equal(&part, &sub(host, &whole, 1, short as i64)?)
}

fn is_suffix(host: &mut dyn Host, args: &[Operand], name: &'static str, is_strict: bool) -> Result<bool> {
    let args = Args::new(name, args);
    let (part, whole) = (args.seq(host, 0)?, args.seq(host, 1)?);
    let (short, long) = (part.len(), whole.len());
    if short > long || (is_strict && short == long) {
        return Ok(false);
    }
    let rest = whole.sub((long - short) as i64 + 1, long as i64).expect("within the sequence");
    equal(&Value::Seq(part), &Value::Seq(rest))
}

fn prefixes(host: &mut dyn Host, row: &Value) -> Result<std::sync::Arc<Set>> {
    let mut prefixes = Vec::new();
    for to in 0..=len(host, row) {
        host.tick()?;
        prefixes.push(sub(host, row, 1, to as i64)?);
    }
    Set::new(prefixes)
}

/// The longest common prefix; `None` if there are no rows.
fn common_prefix(host: &dyn Host, rows: &Set) -> Result<Option<Value>> {
    let Some((first, rest)) = rows.elements().split_first() else { return Ok(None) };
    if rows.elements().iter().any(|row| !matches!(row, Value::Seq(_) | Value::Str(_))) {
        return Err(EvalError::new(ErrorKind::WrongKind, "`LongestCommonPrefix` needs a set of sequences"));
    }
    let units_of_first = units(host, first);
    let mut shared = units_of_first.len();
    for row in rest {
        let units = units(host, row);
        let mut agreed = 0;
        while agreed < shared.min(units.len()) && equal(&units_of_first[agreed], &units[agreed])? {
            agreed += 1;
        }
        shared = agreed;
    }
    Ok(Some(sub(host, first, 1, shared as i64)?))
}

/// The elements of a sequence; for a string, its units as numbers.
fn units(host: &dyn Host, row: &Value) -> Vec<Value> {
    match row {
        Value::Seq(seq) => seq.elements().to_vec(),
        Value::Str(string) => {
            host.strings().text(string).encode_utf16().map(|unit| Value::Int(i64::from(unit))).collect()
        }
        _ => unreachable!("a row is a sequence or a string"),
    }
}

/// The first index of `part` in `whole`, counted from 0, not before `from`.
fn find(host: &dyn Host, part: &Value, whole: &Value, from: usize) -> Result<Option<usize>> {
    let (part, whole) = (units(host, part), units(host, whole));
    if part.len() > whole.len() {
        return Ok(None);
    }
    'place: for place in from..=whole.len() - part.len() {
        for (a, b) in part.iter().zip(&whole[place..]) {
            if !equal(a, b)? {
                continue 'place;
            }
        }
        return Ok(Some(place));
    }
    Ok(None)
}

/// Replaces at an index counted from 1.
fn replace_at(host: &mut dyn Host, place: i64, new: &Value, old: &Value, whole: &Value) -> Result<Value> {
    let last = len(host, whole) as i64;
    let before = sub(host, whole, 1, place - 1)?;
    let after = sub(host, whole, place + len(host, old) as i64, last)?;
    let begun = concat(host, &before, new)?;
    concat(host, &begun, &after)
}

fn replace_all(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("ReplaceAllSubSeqs", args);
    let (new, old, whole) = (args.row(host, 0)?, args.row(host, 1)?, args.row(host, 2)?);
    if equal(&old, &whole)? {
        return Ok(new.into());
    }
    let width = len(host, &old);
    let last = len(host, &whole);
    let mut result = sub(host, &whole, 1, 0)?;
    let mut place = 0;
    while place < last {
        host.tick()?;
        let next = if width == 0 { Some(place) } else { find(host, &old, &whole, place)? };
        let Some(next) = next else { break };
        let between = sub(host, &whole, place as i64 + 1, next as i64)?;
        result = concat(host, &result, &between)?;
        result = concat(host, &result, &new)?;
        place = next + width;
        // The empty sequence occurs before each element.
        if width == 0 {
            let element = sub(host, &whole, place as i64 + 1, place as i64 + 1)?;
            result = concat(host, &result, &element)?;
            place += 1;
        }
    }
    let rest = sub(host, &whole, place as i64 + 1, last as i64)?;
    Ok(concat(host, &result, &rest)?.into())
}
