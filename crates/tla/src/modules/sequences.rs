//! `Sequences`. Strings are sequences for `Len`, `\o`, `SubSeq` and `Tail` only.

use super::args::{Args, count, holds};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Seq, Value};

pub(super) const NATIVES: &[Native] = &[
    Native::new("Sequences", "Seq", &[0], |_, args| {
        Ok(LazySet::Sequences(Args::new("Seq", args).datum(0).clone()).into())
    }),
    Native::new("Sequences", "Len", &[0], |host, args| {
        let row = Args::new("Len", args).row(host, 0)?;
        count(len(host, &row))
    }),
    Native::new("Sequences", "\\o", &[0, 0], |host, args| {
        let args = Args::new("\\o", args);
        let (left, right) = (args.row(host, 0)?, args.row(host, 1)?);
        Ok(concat(host, &left, &right)?.into())
    }),
    Native::new("Sequences", "Append", &[0, 0], |host, args| {
        let args = Args::new("Append", args);
        let (seq, element) = (args.seq(host, 0)?, args.value(host, 1)?);
        Ok(Value::Seq(seq.push(element)).into())
    }),
    Native::new("Sequences", "Head", &[0], |host, args| {
        let seq = Args::new("Head", args).seq(host, 0)?;
        seq.elements().first().cloned().map(Datum::Value).ok_or_else(|| empty("Head"))
    }),
    Native::new("Sequences", "Tail", &[0], tail),
    Native::new("Sequences", "SubSeq", &[0, 0, 0], |host, args| {
        let args = Args::new("SubSeq", args);
        let (row, first, last) = (args.row(host, 0)?, args.int(host, 1)?, args.int(host, 2)?);
        Ok(sub(host, &row, first, last)?.into())
    }),
    Native::new("Sequences", "SelectSeq", &[0, 1], select),
];

/// The length of a sequence or a string.
pub(super) fn len(host: &dyn Host, row: &Value) -> usize {
    match row {
        Value::Seq(seq) => seq.len(),
        // TLC counts as Java does, in 16-bit units.
        Value::Str(string) => host.strings().text(string).encode_utf16().count(),
        _ => unreachable!("a row is a sequence or a string"),
    }
}

/// `left \o right`
pub(super) fn concat(host: &mut dyn Host, left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Seq(left), Value::Seq(right)) => {
            host.charge(left.len() + right.len())?;
            Ok(Value::Seq(left.concat(right)))
        }
        (Value::Str(left), Value::Str(right)) => {
            let bytes = host.strings().text(left).len() + host.strings().text(right).len();
            host.charge(bytes / 8)?;
            let strings = host.strings();
            let text = [strings.text(left), strings.text(right)].concat();
            Ok(Value::Str(strings.str(&text)))
        }
        _ => {
            let message = format!("cannot join {} and {}", left.kind_name(), right.kind_name());
            Err(EvalError::new(ErrorKind::WrongKind, message))
        }
    }
}

/// `SubSeq(row, first, last)`
pub(super) fn sub(host: &dyn Host, row: &Value, first: i64, last: i64) -> Result<Value> {
    let part = match row {
        Value::Seq(seq) => seq.sub(first, last).map(Value::Seq),
        Value::Str(_) if last < first => Some(made(host, &[])),
        Value::Str(string) => {
            let units: Vec<u16> = host.strings().text(string).encode_utf16().collect();
            let is_within = first >= 1 && last <= units.len() as i64;
            is_within.then(|| made(host, &units[first as usize - 1..last as usize]))
        }
        _ => unreachable!("a row is a sequence or a string"),
    };
    part.ok_or_else(|| {
        let len = len(host, row);
        let message = format!("`SubSeq` from {first} to {last} reaches outside a sequence of length {len}");
        EvalError::too_short(message)
    })
}

fn made(host: &dyn Host, units: &[u16]) -> Value {
    Value::Str(host.strings().str(&String::from_utf16_lossy(units)))
}

fn tail(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let row = Args::new("Tail", args).row(host, 0)?;
    match len(host, &row) {
        0 => Err(empty("Tail")),
        len => Ok(sub(host, &row, 2, len as i64)?.into()),
    }
}

fn select(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("SelectSeq", args);
    let seq = args.seq(host, 0)?;
    Ok(Value::seq(selected(host, &seq, args.operator(1))?).into())
}

/// The elements that satisfy a predicate.
pub(super) fn selected(host: &mut dyn Host, seq: &Seq, test: &datum::Operator) -> Result<Vec<Value>> {
    let mut selected = Vec::new();
    for element in seq.elements() {
        if holds(host, test, &[element])? {
            selected.push(element.clone());
        }
    }
    Ok(selected)
}

fn empty(name: &str) -> Box<EvalError> {
    EvalError::too_short(format!("`{name}` was applied to the empty sequence"))
}
