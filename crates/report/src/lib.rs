//! What a check found, as plain data, and how people and programs read it.
//!
//! A [`Report`] holds strings, numbers and indices only: whoever shows one computes nothing about operations or
//! specifications. Every text, page and file about a verdict is made from it, so that they cannot disagree. It is written
//! as JSON with a version in it, and a report of an older version is refused rather than guessed at.
//!
//! A [`Timeline`] stands beside a report for those who want to look at the whole history.
//!
//! Renderers are functions from reports, and some from timelines too, to strings. `finding` decides what is said, they decide how it looks; `words` and
//! `window` are what they share.

mod coverage;
mod data;
mod dot;
mod finding;
mod github;
mod itf;
mod json;
mod junit;
mod markdown;
mod perfetto;
mod sarif;
mod text;
mod timeline;
mod window;
mod words;

pub use coverage::{Coverage, CoveredAction, CoveredPart, PartKind};
pub use data::*;
pub use dot::dot;
pub use github::github;
pub use itf::itf;
pub use json::{ReadError, json_schema};
pub use junit::junit;
pub use markdown::markdown;
pub use perfetto::perfetto;
pub use sarif::sarif;
pub use text::{Detail, headline, sentence, stats, summary, text, text_within};
pub use timeline::{Datum, Ending, Entry, Placement, Shape, Timeline};
pub use words::{clean, longest_orders, visible_json};
