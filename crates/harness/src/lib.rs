//! Writes a harness from a specification's next-state relation.
//!
//! ```text
//!  Program, Settings ── Plan::new ──► Plan: the calls of the system ── rust, cpp ──► Files
//!                                       │
//!                                       └── drift: what a file that was written earlier says differently
//! ```
//!
//! An action of the specification is an *outcome* of a *call* of the system: `Dequeue` and `DequeueEmpty` are what one call
//! can turn out to be. A harness has a function for each call, to be filled in, and generated code that draws calls and
//! their arguments and records what came of them. So whatever the specification can do is in the harness, or is named in
//! it as left out.

mod calls;
pub mod cpp;

mod drift;
mod names;
mod plan;
mod results;
pub mod rust;
mod values;

pub use drift::{Drift, drift};
pub use plan::{Argument, Call, Field, Outcome, Plan, Unsupported};
pub use values::{Literal, Source, Type};

/// The text of the two files that a harness is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The name of the file that is written anew whenever the specification changes.
    pub operations_name: &'static str,
    /// What stands in it.
    pub operations: String,
    /// The name of the file that is written once, and filled in by hand.
    pub main_name: &'static str,
    /// What stands in it.
    pub main: String,
}

/// The first lines of a generated file, without the marks of a comment.
fn header(plan: &Plan, command: &str) -> Vec<String> {
    let mut lines = vec![
        format!("The calls of `{}`: what the harness draws, and what it records.", plan.spec),
        String::new(),
        format!("Written by `{command}`, omnilink {}. Do not edit it: change the", env!("CARGO_PKG_VERSION")),
        "specification or `omnilink.toml`, and write it again.".to_owned(),
        String::new(),
        "```text".to_owned(),
    ];
    lines.extend(plan.lines());
    lines.push(format!("plan {:016x}", plan.digest()));
    lines.push("```".to_owned());
    lines
}
