//! Generates a harness from a specification's next-state relation.
//!
//! ```
//! use omnilink_harness::{Plan, rust};
//! use omnilink_settings::Settings;
//! # use omnilink_tla::program::{LinkOptions, link};
//! #
//! # struct Nothing;
//! # impl omnilink_tla::resolve::Loader for Nothing {
//! #     fn load(&mut self, _module: &str) -> Option<(String, String)> {
//! #         None
//! #     }
//! # }
//!
//! let text = r"
//! ---- MODULE Register ----
//! EXTENDS Integers
//! VARIABLE x
//! Init == x = 0
//! Write(v) == x' = v
//! Read(v) == x = v /\ UNCHANGED x
//! Next == \E v \in 0 .. 9 : Write(v) \/ Read(v)
//! ====";
//! # let mut strings = Default::default();
//! # let config = omnilink_tla::config::parse("INIT Init NEXT Next", &mut strings).expect("no errors");
//! # let module = omnilink_tla::resolve::resolve("Register.tla", text, &mut Nothing, strings).expect("no errors");
//! # let program = link(module, &config, LinkOptions::default()).expect("no errors");
//! // `program` is the linked module; the documentation of the crate `tla` links one.
//! let plan = Plan::new(&program, &Settings::default()).expect("a plan");
//! assert_eq!(plan.lines(), ["call Write: Write(v: integer)", "call Read: Read(v: integer)"]);
//! let files = rust::files(&plan);
//! assert!(files.main.contains("fn write"));
//! ```
//!
//! ```text
//!  Program, Settings ── Plan::new ──► Plan: the calls of the system ── rust, cpp ──► Files
//!                                       │
//!                                       ├── drift: how a file generated earlier differs
//!                                       └── Follower: the states that agree with the answers of a system
//! ```
//!
//! An action of the specification is an *outcome* of a *call* of the system: `Dequeue` and `DequeueEmpty` are the
//! outcomes of one call. A harness has a function for each call, filled in by the user, and generated code that
//! draws calls and arguments and records the outcomes. So every action of the specification is in the harness, or
//! is listed in it as unsupported.

mod calls;
pub mod cpp;

mod drift;
mod follow;
mod input;
mod lost;
mod names;
mod plan;
mod results;
pub mod rust;
mod values;

pub use drift::{Drift, Header, drift, function, read_header, unfilled};
pub use follow::{Allowed, Follower};
pub use input::{Input, OutcomeStep, StepReader};
pub use lost::{Lost, MOST_STATES};
pub use plan::{Argument, Call, Field, Outcome, Plan, Repeated, Unsupported};
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
fn header(plan: &Plan) -> Vec<String> {
    let mut lines = vec![
        format!("The calls of `{}`: what the harness draws, and what it records.", plan.spec),
        String::new(),
        format!(
            "Written by `omnilink init --update`, omnilink {}. Do not edit it: change the",
            env!("CARGO_PKG_VERSION")
        ),
        "specification or `omnilink.toml`, and write it again.".to_owned(),
        String::new(),
        "```text".to_owned(),
    ];
    lines.extend(plan.lines());
    lines.push(format!("plan {:016x}", plan.digest()));
    lines.push("```".to_owned());
    lines
}
