//! Arguments of native operators: checks their kinds, and reports which argument has the wrong kind.
//!
//! The resolver has checked the number of arguments and which of them are operators.

use std::sync::Arc;

use super::{Host, Operand};
use crate::datum::{self, Datum, Operator};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::{Seq, Set, Value};

/// The arguments of one application of an operator.
#[derive(Clone, Copy)]
pub(super) struct Args<'a> {
    operator: &'static str,
    operands: &'a [Operand],
}

impl<'a> Args<'a> {
    pub(super) fn new(operator: &'static str, operands: &'a [Operand]) -> Args<'a> {
        Args { operator, operands }
    }

    /// The argument, unevaluated.
    pub(super) fn datum(self, index: usize) -> &'a Datum {
        match &self.operands[index] {
            Operand::Datum(datum) => datum,
            Operand::Operator(_) => unreachable!("the resolver checks the arities of arguments"),
        }
    }

    pub(super) fn operator(self, index: usize) -> &'a Operator {
        match &self.operands[index] {
            Operand::Operator(operator) => operator,
            Operand::Datum(_) => unreachable!("the resolver checks the arities of arguments"),
        }
    }

    /// The argument, enumerated or tabulated.
    pub(super) fn value(self, host: &mut dyn Host, index: usize) -> Result<Value> {
        datum::to_value(host, self.datum(index))
    }

    pub(super) fn int(self, host: &mut dyn Host, index: usize) -> Result<i64> {
        match self.datum(index) {
            Datum::Value(Value::Int(value)) => Ok(*value),
            _ => Err(self.wrong(host, index, "an integer")),
        }
    }

    pub(super) fn bool(self, host: &mut dyn Host, index: usize) -> Result<bool> {
        match self.datum(index) {
            Datum::Value(Value::Bool(value)) => Ok(*value),
            _ => Err(self.wrong(host, index, "a boolean")),
        }
    }

    pub(super) fn text(self, host: &mut dyn Host, index: usize) -> Result<String> {
        match self.datum(index) {
            Datum::Value(Value::Str(string)) => Ok(host.strings().text(string).to_owned()),
            _ => Err(self.wrong(host, index, "a string")),
        }
    }

    pub(super) fn seq(self, host: &mut dyn Host, index: usize) -> Result<Arc<Seq>> {
        match self.datum(index) {
            Datum::Value(Value::Seq(seq)) => Ok(seq.clone()),
            Datum::Function(_) => match self.value(host, index)? {
                Value::Seq(seq) => Ok(seq),
                _ => Err(self.wrong(host, index, "a sequence")),
            },
            _ => Err(self.wrong(host, index, "a sequence")),
        }
    }

    /// A sequence or a string.
    pub(super) fn row(self, host: &mut dyn Host, index: usize) -> Result<Value> {
        match self.datum(index) {
            Datum::Value(value @ Value::Str(_)) => {
                host.reads_text();
                Ok(value.clone())
            }
            _ => Ok(Value::Seq(self.seq(host, index)?)),
        }
    }

    /// A finite set, enumerated.
    pub(super) fn set(self, host: &mut dyn Host, index: usize) -> Result<Arc<Set>> {
        match self.datum(index) {
            set @ (Datum::Value(Value::Set(_)) | Datum::Set(_)) => datum::to_set(host, set),
            _ => Err(self.wrong(host, index, "a set")),
        }
    }

    /// A sequence or another function, tabulated.
    pub(super) fn function(self, host: &mut dyn Host, index: usize) -> Result<Value> {
        match self.datum(index) {
            Datum::Value(value @ (Value::Seq(_) | Value::Fun(_))) => Ok(value.clone()),
            Datum::Function(_) => self.value(host, index),
            _ => Err(self.wrong(host, index, "a function")),
        }
    }

    pub(super) fn wrong(self, host: &mut dyn Host, index: usize, expected: &str) -> Box<EvalError> {
        let place = ["first", "second", "third", "fourth", "fifth"][index.min(4)];
        let shown = datum::display(host, self.datum(index));
        let argument = if self.operands.len() == 1 { "argument".to_owned() } else { format!("{place} argument") };
        let message = format!("the {argument} of `{}` must be {expected}, but it is {shown}", self.operator);
        EvalError::new(ErrorKind::WrongKind, message)
    }
}

/// Applies an operator of one argument to a value.
pub(super) fn apply1(host: &mut dyn Host, operator: &Operator, arg: &Value) -> Result<Value> {
    let result = host.apply(operator, &[Datum::Value(arg.clone())])?;
    datum::to_value(host, &result)
}

/// Applies an operator of two arguments. A lazy accumulator stays lazy.
pub(super) fn apply2(host: &mut dyn Host, operator: &Operator, a: Datum, b: Datum) -> Result<Datum> {
    host.apply(operator, &[a, b])
}

/// Applies a predicate to values.
pub(super) fn holds(host: &mut dyn Host, predicate: &Operator, args: &[&Value]) -> Result<bool> {
    let args: Vec<Datum> = args.iter().map(|&arg| Datum::Value(arg.clone())).collect();
    match host.apply(predicate, &args)? {
        Datum::Value(Value::Bool(value)) => Ok(value),
        other => {
            let message = format!("a predicate must be a boolean, but it is {}", datum::display(host, &other));
            Err(EvalError::new(ErrorKind::WrongKind, message))
        }
    }
}

/// A boolean as a result.
pub(super) fn yes(value: bool) -> Result<Datum> {
    Ok(Datum::Value(Value::Bool(value)))
}

/// A set as a result.
pub(super) fn set_of(set: Arc<Set>) -> Result<Datum> {
    Ok(Datum::Value(Value::Set(set)))
}

/// An integer as a result.
pub(super) fn int_of(value: i64) -> Result<Datum> {
    Ok(Datum::Value(Value::Int(value)))
}

/// A count as a result.
pub(super) fn count(len: usize) -> Result<Datum> {
    Ok(Datum::Value(Value::Int(len as i64)))
}

/// The result of arithmetic, if it fits into 32 bits.
pub(super) fn within(value: Option<i64>, what: impl FnOnce() -> String) -> Result<i64> {
    match value {
        Some(value) if i32::try_from(value).is_ok() => Ok(value),
        _ => Err(EvalError::new(ErrorKind::Arithmetic, format!("overflow when computing {}", what()))),
    }
}

/// An operator that is listed in the table but not implemented.
macro_rules! unsupported {
    ($module:literal, $name:literal, $params:expr) => {
        $crate::datum::Native::new($module, $name, $params, |_, _| {
            Err($crate::error::EvalError::new(
                $crate::error::ErrorKind::Unsupported,
                concat!("`", $name, "` of the module `", $module, "` is not supported"),
            ))
        })
    };
}

pub(super) use unsupported;
