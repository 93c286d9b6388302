//! `Naturals`, `Integers` and `Reals`. Integers have 32 bits, as in TLC, and overflow is an error.

use super::args::{Args, int_of, unsupported, within, yes};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum, LazySet};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    Native::new("Naturals", "Nat", &[], |_, _| Ok(LazySet::Naturals.into())),
    Native::new("Naturals", "+", &[0, 0], |host, args| compute(host, args, "+", i64::checked_add)),
    Native::new("Naturals", "-", &[0, 0], |host, args| compute(host, args, "-", i64::checked_sub)),
    Native::new("Naturals", "*", &[0, 0], |host, args| compute(host, args, "*", i64::checked_mul)),
    Native::new("Naturals", "^", &[0, 0], power),
    Native::new("Naturals", "<", &[0, 0], |host, args| compare(host, args, "<", |a, b| a < b)),
    Native::new("Naturals", ">", &[0, 0], |host, args| compare(host, args, ">", |a, b| a > b)),
    Native::new("Naturals", "<=", &[0, 0], |host, args| compare(host, args, "<=", |a, b| a <= b)),
    Native::new("Naturals", ">=", &[0, 0], |host, args| compare(host, args, ">=", |a, b| a >= b)),
    Native::new("Naturals", "%", &[0, 0], modulo),
    Native::new("Naturals", "\\div", &[0, 0], divide),
    Native::new("Naturals", "..", &[0, 0], interval),
    Native::new("Integers", "Int", &[], |_, _| Ok(LazySet::Integers.into())),
    Native::new("Integers", "-.", &[0], negate),
    Native::new("Reals", "Real", &[], |_, _| Ok(LazySet::Reals.into())),
    unsupported!("Reals", "/", &[0, 0]),
    unsupported!("Reals", "Infinity", &[]),
];

#[inline]
fn two(host: &mut dyn Host, args: &[Operand], name: &'static str) -> Result<(i64, i64)> {
    if let [Operand::Datum(Datum::Value(Value::Int(a))), Operand::Datum(Datum::Value(Value::Int(b)))] = args {
        return Ok((*a, *b));
    }
    let args = Args::new(name, args);
    Ok((args.int(host, 0)?, args.int(host, 1)?))
}

#[inline]
fn compute(
    host: &mut dyn Host,
    args: &[Operand],
    name: &'static str,
    operation: fn(i64, i64) -> Option<i64>,
) -> Result<Datum> {
    let (a, b) = two(host, args, name)?;
    int_of(within(operation(a, b), || format!("{a} {name} {b}"))?)
}

#[inline]
fn compare(host: &mut dyn Host, args: &[Operand], name: &'static str, claim: fn(i64, i64) -> bool) -> Result<Datum> {
    let (a, b) = two(host, args, name)?;
    yes(claim(a, b))
}

fn power(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let (base, exponent) = two(host, args, "^")?;
    let Ok(exponent) = u64::try_from(exponent) else {
        return Err(Args::new("^", args).wrong(host, 1, "a natural number"));
    };
    if base == 0 && exponent == 0 {
        return Err(EvalError::new(ErrorKind::Arithmetic, "`0 ^ 0` is undefined"));
    }
    let power = match (base, exponent) {
        (0 | 1, _) => Some(if exponent == 0 { 1 } else { base }),
        (-1, _) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent)),
    };
    int_of(within(power, || format!("{base} ^ {exponent}"))?)
}

/// Rounds towards negative infinity.
fn divide(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let (a, b) = two(host, args, "\\div")?;
    if b == 0 {
        return Err(EvalError::new(ErrorKind::Arithmetic, "the second argument of `\\div` is 0"));
    }
    let quotient = a.checked_div(b).map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)));
    int_of(within(quotient, || format!("{a} \\div {b}"))?)
}

/// The result is at least 0.
fn modulo(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let (a, b) = two(host, args, "%")?;
    if b <= 0 {
        let message = format!("the second argument of `%` must be a positive number, but it is {b}");
        return Err(EvalError::new(ErrorKind::Arithmetic, message));
    }
    int_of(a.rem_euclid(b))
}

fn interval(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let (low, high) = two(host, args, "..")?;
    Ok(datum::make_interval(low, high))
}

fn negate(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let value = Args::new("-", args).int(host, 0)?;
    int_of(within(value.checked_neg(), || format!("-{value}"))?)
}
