//! The built-in operators, as one table that is used while resolving and never at run time.
//!
//! They behave like TLC's standard modules and the community modules; where those are implemented in Java, like the
//! Java. Known but unimplemented operators are in the table too and are an error when evaluated, so that a
//! specification that mentions them can be read.

use std::sync::LazyLock;

use crate::datum::{Host, Native, Operand};

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
mod vector_clocks;

/// Every built-in module, and the modules it extends. `LOCAL INSTANCE` makes nothing visible and is left out.
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

/// Every built-in operator, grouped by module.
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
            vector_clocks::NATIVES,
            unsupported::NATIVES,
        ];
        tables.into_iter().flatten().collect()
    });
    &ALL
}

/// The operators that a module itself defines.
pub fn module(name: &str) -> impl Iterator<Item = &'static Native> {
    natives().iter().copied().filter(move |native| native.module == name)
}

/// The operator of this name that a module itself defines.
pub fn find(module: &str, name: &str) -> Option<&'static Native> {
    natives().iter().copied().find(|native| native.module == module && native.name == name)
}

/// Whether a module is built in.
pub fn exists(module: &str) -> bool {
    MODULES.iter().any(|(name, _)| *name == module)
}

/// The modules that a module makes visible besides its own operators.
pub fn extends(module: &str) -> &'static [&'static str] {
    MODULES.iter().find(|(name, _)| *name == module).map_or(&[], |(_, extends)| extends)
}

#[cfg(test)]
mod tests;
