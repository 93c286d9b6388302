//! The host and the world of an evaluation, and native operators, which use them.

use super::{Closure, Datum, LazyFunction, Operator};
use crate::error::Result;
use crate::id::ExprLevel;
use crate::strings::Strings;
use crate::value::Value;

/// The services that an evaluator provides to native operators and lazy sets.
pub trait Host {
    /// The table of strings.
    fn strings(&self) -> &Strings;
    /// Called when an operator on sequences is applied to a string, so that its result may depend on the characters.
    fn reads_text(&mut self) {}
    /// Applies an operator that was passed as an argument.
    fn apply(&mut self, operator: &Operator, args: &[Datum]) -> Result<Datum>;
    /// Whether an element satisfies the predicate of a filter.
    fn test(&mut self, filter: &Closure, element: &Datum) -> Result<bool>;
    /// Applies a function that has not been tabulated, ignoring its changes and its domain.
    fn compute(&mut self, function: &LazyFunction, arg: &Value) -> Result<Datum>;
    /// The world, including the values of `TLCGet` and `TLCSet`.
    fn world(&mut self) -> &mut dyn World;
    /// Counts a unit of work; an error if the world wants evaluation to stop. Every loop over potentially many
    /// elements calls it.
    fn tick(&mut self) -> Result<()>;
    /// Announces the construction of a value with this many elements; an error if memory does not suffice.
    fn charge(&mut self, places: usize) -> Result<()>;
}

/// The environment of a specification. By default it is empty, and output is discarded.
pub trait World {
    /// Prints a line for the user.
    fn print(&mut self, _line: &str) {}
    /// The bytes of a file, or why it cannot be read.
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
    /// `TLCGet("level")` and similar.
    fn statistic(&self, _name: &str) -> Option<Value> {
        None
    }
    /// `TLCSet("exit", TRUE)`
    fn exit(&mut self) {}
    /// A number below the bound, from a seed.
    fn random(&mut self, _bound: u64) -> u64 {
        0
    }
    /// The limit that was reached, if evaluation should stop. Called often, so it must be cheap.
    fn limit(&self) -> Option<Limit> {
        None
    }
    /// Whether there is memory for this many more bytes. If not, the memory limit counts as reached from now on.
    fn has_room(&self, _bytes: u64) -> bool {
        true
    }
}

/// The limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The number of states.
    States,
    /// The time.
    Time,
    /// The memory.
    Memory,
    /// An interrupt by the user.
    Interrupt,
}

/// An operator implemented in Rust rather than in TLA+.
pub struct Native {
    /// The module that defines it.
    pub module: &'static str,
    /// Its name; for an operator symbol, the canonical spelling, such as `+` or `\o`.
    pub name: &'static str,
    /// The arity of each parameter: 0 for a value, more for an operator.
    pub params: &'static [usize],
    /// The minimum level of an application.
    pub level: ExprLevel,
    /// Whether its result may differ between evaluations, or it has side effects; it is never precomputed.
    pub is_volatile: bool,
    /// The implementation.
    pub run: fn(&mut dyn Host, &[Operand]) -> Result<Datum>,
}

impl Native {
    /// A constant operator that always gives the same result.
    pub(crate) const fn new(
        module: &'static str,
        name: &'static str,
        params: &'static [usize],
        run: fn(&mut dyn Host, &[Operand]) -> Result<Datum>,
    ) -> Native {
        Native { module, name, params, level: ExprLevel::Constant, is_volatile: false, run }
    }

    /// The same, never precomputed.
    pub(crate) const fn volatile(mut self) -> Native {
        self.is_volatile = true;
        self
    }

    /// The same, with at least this level.
    pub(crate) const fn at(mut self, level: ExprLevel) -> Native {
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
