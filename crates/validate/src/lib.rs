//! Checks a history against a TLA+ specification, and says why not.
//!
//! ```text
//!  Module, Config ── Harvest: constants from the history ──► link ──► Program
//!  Op<Call> ── Binder ──► TraceOp ── search with TraceSpec ──► verdict ── explain ──► report::Report
//! ```
//!
//! Every operation is a step of the next-state relation, found by name. What a recording and a specification do not agree
//! on is a [`Problem`], found before anything is searched; what the specification cannot compute is a [`Fault`]; neither
//! is ever a verdict.

mod bind;
mod check;
mod constants;
mod coverage;
mod cut;
mod explain;
mod export;
mod problem;
mod record;
mod spec;
mod values;

pub use bind::{Binder, TraceOp, add_ends};
pub use check::{Broken, Checked, Checkpoint, NoAnswer, Outcome, check, check_stream, walk};
pub use constants::Harvest;
pub use coverage::coverage;
pub use explain::{ReportBuilder, explain, explain_violation};
pub use export::{Export, Exported, INVARIANT, export};
pub use problem::Problem;
pub use spec::{Fault, TraceSpec, TraceState};
