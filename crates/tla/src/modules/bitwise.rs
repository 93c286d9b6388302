//! `Bitwise`.

use super::args::Args;
use super::{Host, Native, Operand};
use crate::datum::Datum;
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    Native::new("Bitwise", "&", &[0, 0], |host, args| combine(host, args, "&", |a, b| a & b)),
    Native::new("Bitwise", "|", &[0, 0], |host, args| combine(host, args, "|", |a, b| a | b)),
    Native::new("Bitwise", "^^", &[0, 0], |host, args| combine(host, args, "^^", |a, b| a ^ b)),
    Native::new("Bitwise", "Not", &[0], |host, args| {
        let value = small(Args::new("Not", args).int(host, 0)?)?;
        // As many bits as the number has: the module does not fix a width.
        let mask = if value <= 0 { 0 } else { u32::MAX >> value.leading_zeros() };
        Ok(Value::Int(i64::from(!(value as u32) & mask)).into())
    }),
    Native::new("Bitwise", "shiftR", &[0, 0], |host, args| {
        let args = Args::new("shiftR", args);
        let value = small(args.int(host, 0)?)?;
        // Java shifts by the lowest five bits.
        let places = args.int(host, 1)? & 31;
        Ok(Value::Int(i64::from(((value as u32) >> places) as i32)).into())
    }),
];

fn combine(host: &mut dyn Host, args: &[Operand], name: &'static str, bits: fn(i32, i32) -> i32) -> Result<Datum> {
    let args = Args::new(name, args);
    let (a, b) = (small(args.int(host, 0)?)?, small(args.int(host, 1)?)?);
    Ok(Value::Int(i64::from(bits(a, b))).into())
}

fn small(value: i64) -> Result<i32> {
    i32::try_from(value)
        .map_err(|_| EvalError::new(ErrorKind::Arithmetic, format!("{value} does not fit into 32 bits")))
}
