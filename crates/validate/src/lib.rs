//! Checks a history against a TLA+ specification, and says why not.
//!
//! ```
//! use omnilink_history::{History, format};
//! use omnilink_settings::Settings;
//! use omnilink_tla::machine::Machine;
//! use omnilink_validate::{Binder, TraceOutcome, TraceSpec, check};
//! # use omnilink_tla::program::{LinkOptions, link};
//! #
//! # struct Nothing;
//! # impl omnilink_tla::datum::World for Nothing {}
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
//! # let settings = Settings::default();
//! // `program` is the linked module; the documentation of the crate `tla` links one.
//! let mut machine = Machine::new(&program, Box::new(Nothing));
//! let mut binder = Binder::new(&program, &config, &settings, &mut machine).expect("settings that fit the module");
//!
//! let history = History::new(format::text::read(b"a [1 2] Write(v: 1)\nb [3 4] Read(v: 2)\n")?)?;
//! let bind = |op: &_| binder.bind(op, history.processes(), &mut machine);
//! let bound = history.try_map(bind).expect("an action for every operation");
//! let mut spec = TraceSpec::new(binder, machine);
//! let checked = check(&mut spec, &bound, &omnilink_search::Options::default(), &mut omnilink_search::Unwatched).expect("a verdict");
//! assert!(matches!(checked.outcome, TraceOutcome::Rejected(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//!  Module, Config ── Harvest: constants from the history ──► link ──► Program
//!  Op<Call> ── Binder ──► TraceOp ── search with TraceSpec ──► verdict ── explain ──► omnilink_report::Report
//! ```
//!
//! Every operation is a step of the next-state relation, found by name. A mismatch between a trace and a specification is a
//! [`Problem`], and is reported before the search starts. An evaluation error of the specification is a [`Fault`]. Neither is
//! a verdict.

mod bind;
mod check;
mod companion;
mod constants;
mod coverage;
mod cut;
mod explain;
mod export;
mod fault;
mod problem;
mod record;
mod show;
mod spec;
mod values;

pub use bind::{Binder, TraceOp};
pub use check::{Checked, Checkpoint, TraceOutcome, check, check_stream, walk};
pub use companion::add_ends;
pub use constants::Harvest;
pub use coverage::coverage;
pub use explain::{GuardBuilder, ReportBuilder, Ways, explain, explain_violation};
pub use export::{Export, Exported, INVARIANT, export};
pub use fault::{Broken, Fault, NoAnswer};
pub use problem::Problem;
pub use show::shown_state;
pub use spec::{TraceSpec, TraceState};
pub use values::recorded;
