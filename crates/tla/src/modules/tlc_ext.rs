//! `TLCExt`. `TLCCache` returns its first argument: the cached value is evaluated when it is needed.

use super::Native;
use super::args::{Args, apply2, unsupported, yes};
use super::tlc::{get, set};
use crate::datum;
use crate::error::{ErrorKind, EvalError};
use crate::id::ExprLevel;
use crate::strings::Str;
use crate::value::{Model, Value};

pub(super) const NATIVES: &[Native] = &[
    Native::new("TLCExt", "AssertEq", &[0, 0], |host, args| {
        let args = Args::new("AssertEq", args);
        let is_equal = datum::equal(host, args.datum(0), args.datum(1))?;
        if !is_equal {
            let (left, right) = (datum::display(host, args.datum(0)), datum::display(host, args.datum(1)));
            let world = host.world();
            world.print("\"Assertion failed\"");
            world.print(&left);
            world.print(&right);
        }
        yes(is_equal)
    })
    .volatile(),
    unsupported!("TLCExt", "AssertError", &[0, 0]),
    Native::new("TLCExt", "TLCGetOrDefault", &[0, 0], |host, args| {
        let args = Args::new("TLCGetOrDefault", args);
        Ok(get(host, args)?.unwrap_or_else(|| args.datum(1).clone()))
    })
    .at(ExprLevel::State)
    .volatile(),
    Native::new("TLCExt", "TLCGetAndSet", &[0, 2, 0, 0], |host, args| {
        let args = Args::new("TLCGetAndSet", args);
        let old = get(host, args)?.unwrap_or_else(|| args.datum(3).clone());
        let new = apply2(host, args.operator(1), old.clone(), args.datum(2).clone())?;
        set(host, args, new)?;
        Ok(old)
    })
    .at(ExprLevel::State)
    .volatile(),
    unsupported!("TLCExt", "Trace", &[]).at(ExprLevel::State),
    unsupported!("TLCExt", "CounterExample", &[]).at(ExprLevel::State),
    unsupported!("TLCExt", "ToTrace", &[0]),
    Native::new("TLCExt", "TLCModelValue", &[0], |host, args| {
        let name = Args::new("TLCModelValue", args).text(host, 0)?;
        match host.strings().str(&name) {
            Str::Known(rank) => Ok(Value::Model(Model { name: rank, class: Model::class_of(&name) }).into()),
            Str::Made(_) => {
                let message = format!("`TLCModelValue` cannot create the model value `{name}` at run time");
                Err(EvalError::new(ErrorKind::Unsupported, message))
            }
        }
    }),
    unsupported!("TLCExt", "TLCDefer", &[0]).volatile(),
    Native::new("TLCExt", "TLCNoOp", &[0], |_, args| Ok(Args::new("TLCNoOp", args).datum(0).clone())),
    unsupported!("TLCExt", "PickSuccessor", &[0]).volatile(),
    Native::new("TLCExt", "TLCCache", &[0, 0], |_, args| Ok(Args::new("TLCCache", args).datum(0).clone())),
    unsupported!("TLCExt", "TLCFP", &[0]),
    unsupported!("TLCExt", "TLCEvalDefinition", &[0]),
];
