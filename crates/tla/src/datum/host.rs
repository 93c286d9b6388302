//! What evaluation may ask of the machine that runs it and of the world around it, and operators written in Rust, which do.

use super::{Closure, Datum, LazyFunction, Operator};
use crate::error::Result;
use crate::id::Level;
use crate::strings::Strings;
use crate::value::Value;

/// What a native operator, and a lazy set, may ask of whoever evaluates it.
pub trait Host {
    /// The table of strings.
    fn strings(&self) -> &Strings;
    /// Applies an operator that was handed over.
    fn apply(&mut self, operator: &Operator, args: &[Datum]) -> Result<Datum>;
    /// Whether an element satisfies the predicate of a filter.
    fn test(&mut self, filter: &Closure, element: &Datum) -> Result<bool>;
    /// Applies a function that has not been tabulated, ignoring its changes and its domain.
    fn compute(&mut self, function: &LazyFunction, arg: &Value) -> Result<Datum>;
    /// The world outside, and what `TLCGet` and `TLCSet` keep.
    fn world(&mut self) -> &mut dyn World;
    /// Notes that a little work was done; an error once the world wants evaluation to end. Every loop over what may be
    /// many elements calls it.
    fn tick(&mut self) -> Result<()>;
    /// Notes that a value with this many places is about to be made at once; an error if there is no room for it.
    fn charge(&mut self, places: usize) -> Result<()>;
}

/// What a specification may ask about the world around it. Unless told otherwise, there is nothing out there, and nobody
/// listens.
pub trait World {
    /// Prints a line for the user.
    fn print(&mut self, _line: &str) {}
    /// The bytes of a file, or why not.
    fn read(&mut self, path: &str) -> std::result::Result<Vec<u8>, String> {
        Err(format!("no file `{path}`"))
    }
    /// The environment.
    fn environment(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }
    /// `TLCGet(i)`
    fn register(&self, _index: i64) -> Option<Datum> {
        None
    }
    /// `TLCSet(i, v)`
    fn set_register(&mut self, _index: i64, _value: Datum) {}
    /// `TLCGet("level")` and its kin.
    fn statistic(&self, _name: &str) -> Option<Value> {
        None
    }
    /// `TLCSet("exit", TRUE)`
    fn exit(&mut self) {}
    /// A number below the bound, from a seed.
    fn random(&mut self, _bound: u64) -> u64 {
        0
    }
    /// The limit that was reached, if evaluation should end. Asked often, so it must be cheap.
    fn limit(&self) -> Option<Limit> {
        None
    }
    /// Whether there is memory for this many more bytes. If not, the limit on memory is reached from now on.
    fn has_room(&self, _bytes: u64) -> bool {
        true
    }
}

/// What a search was not allowed to exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many states.
    States,
    /// So much time.
    Time,
    /// So much memory.
    Memory,
    /// The user's patience.
    Interrupt,
}

/// An operator that is implemented in Rust rather than in TLA+.
pub struct Native {
    /// The module that defines it.
    pub module: &'static str,
    /// Its name; of an operator symbol, the canonical spelling, such as `+` or `\o`.
    pub name: &'static str,
    /// The arity of each parameter: 0 for a value, more for an operator.
    pub params: &'static [usize],
    /// The lowest level that an application has.
    pub level: Level,
    /// May give another answer the next time, or does something besides; so it is never computed ahead.
    pub is_volatile: bool,
    /// What it does.
    pub run: fn(&mut dyn Host, &[Operand]) -> Result<Datum>,
}

impl Native {
    /// An operator of constants that gives the same answer each time.
    pub(crate) const fn new(
        module: &'static str,
        name: &'static str,
        params: &'static [usize],
        run: fn(&mut dyn Host, &[Operand]) -> Result<Datum>,
    ) -> Native {
        Native { module, name, params, level: Level::Constant, is_volatile: false, run }
    }

    /// The same, never computed ahead.
    pub(crate) const fn volatile(mut self) -> Native {
        self.is_volatile = true;
        self
    }

    /// The same, at this level at least.
    pub(crate) const fn at(mut self, level: Level) -> Native {
        self.level = level;
        self
    }
}

/// An argument of a native operator, evaluated.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A value.
    Datum(Datum),
    /// An operator.
    Operator(Operator),
}
