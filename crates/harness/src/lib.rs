//! Generates a harness from a specification's next-state relation.
//!
//! ```text
//!  Program, Settings ── Plan::new ──► Plan: the calls of the system ── rust, cpp ──► Files
//!                                       │
//!                                       └── drift: how a file generated earlier differs
//! ```
//!
//! An action of the specification is an *outcome* of a *call* of the system: `Dequeue` and `DequeueEmpty` are the
//! outcomes of one call. A harness has a function for each call, filled in by the user, and generated code that
//! draws calls and arguments and records the outcomes. So every action of the specification is in the harness, or
//! is listed in it as unsupported.

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

/// The text of the two files of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The name of the file that is regenerated whenever the specification changes.
    pub operations_name: &'static str,
    /// Its text.
    pub operations: String,
    /// The name of the file that is generated once and filled in by the user.
    pub main_name: &'static str,
    /// Its text.
    pub main: String,
}

/// The first lines of a generated file, without comment markers.
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
