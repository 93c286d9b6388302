//! The result of a check as plain data, and its renderers for people and programs.
//!
//! ```
//! use omnilink_report::Report;
//!
//! let json = r#"{
//!     "schema": "omnilink.report/2",
//!     "history": { "name": "run.jsonl", "operations": 2, "processes": 1, "cuts": [] },
//!     "spec": { "name": "queue", "constants": [] },
//!     "order": "real-time",
//!     "verdict": { "kind": "accepted" },
//!     "operations": [], "sources": [], "notes": [], "next": [],
//!     "stats": {
//!         "method": "a search", "returned": 2, "evaluations": 2, "generated": 3, "distinct": 3,
//!         "widest": null, "seconds": 0.0
//!     }
//! }"#;
//! let report = Report::from_json(json)?;
//! assert_eq!(report.verdict.word(), "accepted");
//! assert!(omnilink_report::headline(&report, false).starts_with("run.jsonl: accepted"));
//! assert!(omnilink_report::junit(&[report], &[]).contains("testcase"));
//! # Ok::<(), omnilink_report::ReadError>(())
//! ```
//!
//! A [`Report`] holds strings, numbers and indices only: renderers compute nothing about operations or specifications.
//! Every text, page and file about a verdict is made from it, so that they cannot disagree. Its JSON has a version, and
//! a report of an older version is rejected, not guessed at.
//!
//! A [`Timeline`] accompanies a report and holds the whole history.
//!
//! Renderers are functions from reports, and some from timelines too, to strings. `finding` decides the content,
//! renderers decide the form; `wording` and `window` are shared by them. `headline` writes the sentence of a rejection.

mod cause;
mod closest;
mod comparison;
mod coverage;
mod data;
mod dot;
mod finding;
mod github;
mod headline;
mod interleaving;
mod isolation;
mod itf;
mod json;
mod junit;
mod markdown;
mod mentions;
mod op;
mod perfetto;
mod sarif;
mod short;
mod text;
mod timeline;
mod window;
mod wording;

pub use cause::{cause, without_numbers};
pub use closest::{ClosestRun, TestedCall};
pub use comparison::{ComparedOperation, ComparedRow, Comparison, Difference, Side};
pub use coverage::{Coverage, CoveredAction, CoveredPart, PartKind};
pub use data::*;
pub use dot::dot;
pub use github::github;
pub use interleaving::{Excerpt, InterleavedStep, Interleaving, StepKind, WithoutSwitch};
pub use isolation::{AccessRef, Anomaly, Involved, Isolation, Precedence, Precedes, StrongestLevels};
pub use itf::itf;
pub use json::{ReadError, json_schema};
pub use junit::junit;
pub use markdown::markdown;
pub use mentions::Mentions;
pub use perfetto::perfetto;
pub use sarif::sarif;
pub use text::{Detail, headline, sentence, stats, summary, text, text_within, verdict_word};
pub use timeline::{Datum, Ending, Entry, Placement, Shape, Timeline, Unlogged};
pub use wording::{clean, duration, longest_orders, position, visible_json};
