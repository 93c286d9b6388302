//! A host for tests: a few operators by number, and a world that records calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Closure, Datum, Host, LazyFunction, Operator, World};
use crate::error::{ErrorKind, EvalError, Result};
use crate::id::{DefId, ExprId};
use crate::strings::Strings;
use crate::value::Value;

#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) strings: Strings,
    pub(crate) printed: Vec<String>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    registers: BTreeMap<i64, Datum>,
    seed: u64,
}

/// `a - b`, which is not commutative.
pub(crate) const MINUS: u32 = 0;
/// `a < b`
pub(crate) const LESS: u32 = 1;
/// `a > 1`
pub(crate) const ABOVE_ONE: u32 = 2;
/// `a % 2`
pub(crate) const PARITY: u32 = 3;
/// The least element of a set.
pub(crate) const LEAST: u32 = 4;

impl Fake {
    pub(crate) fn new() -> Fake {
        let mut strings = Strings::default();
        for text in ["a", "b", "c", "m", "p_1"] {
            strings.intern(text);
        }
        Fake { strings, ..Fake::default() }
    }
}

pub(crate) fn operator(number: u32) -> Operator {
    Operator { def: DefId(number), captured: Arc::new([]) }
}

/// The predicate `x % 2 = 0` of a filter, and the body `x * 10` of a function.
pub(crate) fn closure() -> Closure {
    Closure { code: ExprId(0), frame: Arc::new([]) }
}

fn int(datum: &Datum) -> Result<i64> {
    match datum {
        Datum::Value(Value::Int(value)) => Ok(*value),
        _ => Err(EvalError::new(ErrorKind::WrongKind, "not an integer")),
    }
}

impl Host for Fake {
    fn tick(&mut self) -> Result<()> {
        Ok(())
    }

    fn charge(&mut self, _: usize) -> Result<()> {
        Ok(())
    }

    fn strings(&self) -> &Strings {
        &self.strings
    }

    fn apply(&mut self, operator: &Operator, args: &[Datum]) -> Result<Datum> {
        Ok(match operator.def.0 {
            MINUS => Value::Int(int(&args[0])? - int(&args[1])?),
            LESS => Value::Bool(int(&args[0])? < int(&args[1])?),
            ABOVE_ONE => Value::Bool(int(&args[0])? > 1),
            PARITY => Value::Int(int(&args[0])?.rem_euclid(2)),
            LEAST => match &args[0] {
                Datum::Value(Value::Set(set)) => set.elements()[0].clone(),
                _ => panic!("not a set"),
            },
            other => panic!("no operator {other}"),
        }
        .into())
    }

    fn test(&mut self, _: &Closure, element: &Datum) -> Result<bool> {
        Ok(int(element)? % 2 == 0)
    }

    fn compute(&mut self, _: &LazyFunction, arg: &Value) -> Result<Datum> {
        Ok(Value::Int(int(&arg.clone().into())? * 10).into())
    }

    fn world(&mut self) -> &mut dyn World {
        self
    }
}

impl World for Fake {
    fn print(&mut self, line: &str) {
        self.printed.push(line.to_owned());
    }

    fn read(&mut self, path: &str) -> std::result::Result<Vec<u8>, String> {
        self.files.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }

    fn environment(&mut self) -> Vec<(String, String)> {
        vec![("TRACE".to_owned(), "a.ndjson".to_owned())]
    }

    fn register(&self, index: i64) -> Option<Datum> {
        self.registers.get(&index).cloned()
    }

    fn set_register(&mut self, index: i64, value: Datum) {
        self.registers.insert(index, value);
    }

    fn statistic(&self, name: &str) -> Option<Value> {
        (name == "level").then_some(Value::Int(3))
    }

    fn exit(&mut self) {
        self.printed.push("exit".to_owned());
    }

    fn random(&mut self, bound: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 33) % bound
    }
}
