//! `FiniteSets`.

use super::Native;
use super::args::{Args, count, int_of, within, yes};
use crate::datum::{self, Datum};
use crate::error::{ErrorKind, EvalError};
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    Native::new("FiniteSets", "IsFiniteSet", &[0], |host, args| {
        yes(datum::is_finite(host, Args::new("IsFiniteSet", args).datum(0))?)
    }),
    Native::new("FiniteSets", "Cardinality", &[0], |host, args| {
        let args = Args::new("Cardinality", args);
        let set = args.datum(0);
        match set {
            Datum::Value(Value::Set(set)) => count(set.len()),
            Datum::Set(_) if !datum::is_finite(host, set)? => {
                let message = format!("`{}` is infinite and has no cardinality", datum::display(host, set));
                Err(EvalError::new(ErrorKind::NotEnumerable, message))
            }
            Datum::Set(_) => {
                let cardinality = i64::try_from(datum::cardinality(host, set)?).ok();
                int_of(within(cardinality, || "the cardinality of a set".to_owned())?)
            }
            _ => Err(args.wrong(host, 0, "a set")),
        }
    }),
];
