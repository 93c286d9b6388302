//! The operators that come with us, as one table that is consulted while resolving and never while running.
//!
//! They answer as TLC does with its standard modules and the community modules, where those are implemented in Java as
//! the Java does. What we know of and do not implement stands in the table too and is an error when it is reached, so that
//! a specification that mentions it can be read.

use std::sync::LazyLock;

use crate::datum::{Closure, Datum, LazyFunction, Operator};
use crate::error::Result;
use crate::ir::Level;
use crate::reach::Limit;
use crate::strings::Strings;
use crate::value::Value;

mod args;
mod bags;
mod bitwise;
mod finite_sets;
mod finite_sets_ext;
mod folds;
mod functions;
mod io_utils;
mod json;
mod naturals;
mod randomization;
mod sequences;
mod sequences_ext;
mod sub_sequences;
mod tlc;
mod tlc_ext;
mod unsupported;

/// Every module that comes with us, and what it extends. `LOCAL INSTANCE` makes nothing visible and is left out.
const MODULES: &[(&str, &[&str])] = &[
    ("Naturals", &[]),
    ("Integers", &["Naturals"]),
    ("Reals", &["Integers"]),
    ("Sequences", &[]),
    ("FiniteSets", &[]),
    ("Bags", &["TLC"]),
    ("TLC", &[]),
    ("TLCExt", &[]),
    ("Randomization", &[]),
    ("RealTime", &["Reals"]),
    ("Toolbox", &[]),
    ("Json", &[]),
    ("Functions", &["Integers", "Folds"]),
    ("Folds", &[]),
    ("FiniteSetsExt", &["Integers", "FiniteSets", "Folds", "Functions"]),
    ("SequencesExt", &["Sequences", "Naturals", "FiniteSets", "FiniteSetsExt", "Folds", "Functions", "Bags", "TLC"]),
    ("BagsExt", &[]),
    ("Bitwise", &[]),
    ("IOUtils", &[]),
    ("CSV", &[]),
    ("SVG", &[]),
    ("Combinatorics", &["Naturals"]),
    ("DyadicRationals", &[]),
    ("Relation", &["Naturals", "FiniteSets"]),
    ("Graphs", &["Naturals", "Sequences", "FiniteSets", "SequencesExt", "Relation"]),
    ("UndirectedGraphs", &[]),
    ("VectorClocks", &["Naturals", "Sequences", "Functions"]),
];

/// Every operator that comes with us, grouped by module.
pub fn natives() -> &'static [&'static Native] {
    static ALL: LazyLock<Vec<&'static Native>> = LazyLock::new(|| {
        let tables = [
            naturals::NATIVES,
            sequences::NATIVES,
            finite_sets::NATIVES,
            bags::NATIVES,
            tlc::NATIVES,
            tlc_ext::NATIVES,
            randomization::NATIVES,
            json::NATIVES,
            functions::NATIVES,
            folds::NATIVES,
            finite_sets_ext::NATIVES,
            sequences_ext::NATIVES,
            sub_sequences::NATIVES,
            bitwise::NATIVES,
            io_utils::NATIVES,
            unsupported::NATIVES,
        ];
        tables.into_iter().flatten().collect()
    });
    &ALL
}

/// The operators that a module defines itself.
pub fn module(name: &str) -> impl Iterator<Item = &'static Native> {
    natives().iter().copied().filter(move |native| native.module == name)
}

/// The operator of this name that a module defines itself.
pub fn find(module: &str, name: &str) -> Option<&'static Native> {
    natives().iter().copied().find(|native| native.module == module && native.name == name)
}

/// Whether a module comes with us.
pub fn exists(module: &str) -> bool {
    MODULES.iter().any(|(name, _)| *name == module)
}

/// The modules that a module makes visible besides its own operators.
pub fn extends(module: &str) -> &'static [&'static str] {
    MODULES.iter().find(|(name, _)| *name == module).map_or(&[], |(_, extends)| extends)
}

/// An operator that is implemented here rather than in TLA+.
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
    const fn new(
        module: &'static str,
        name: &'static str,
        params: &'static [usize],
        run: fn(&mut dyn Host, &[Operand]) -> Result<Datum>,
    ) -> Native {
        Native { module, name, params, level: Level::Constant, is_volatile: false, run }
    }

    /// The same, never computed ahead.
    const fn volatile(mut self) -> Native {
        self.is_volatile = true;
        self
    }

    /// The same, at this level at least.
    const fn at(mut self, level: Level) -> Native {
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

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
