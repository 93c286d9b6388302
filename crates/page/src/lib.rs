//! Puts a report and its history into one page.
//!
//! ```text
//!  Report, Timeline ── Encoder ──► parts: head, states, chunk-0 …, order-0 …
//!                                    │ file                     │ one at a time
//!                                    ▼                          ▼
//!                       one HTML file with all of them    a server beside the page
//! ```
//!
//! The page is `viewer.html`, which is built from `viewer/` and committed, so that nobody needs Node to build this crate.
//! Parts are compressed, and only as base64 do they stand in a file, so whatever was recorded cannot become markup.
//! `viewer/src/data/types.ts` says what stands in the parts that are JSON, [`chunk`] and [`order`] say it for the others.
//!
//! [`chunk`]: encode::chunk
//! [`order`]: encode::order

pub mod encode;
mod html;

pub use encode::{About, Encoder, Index, IndexRun, Level, Part, Served, index, states};
pub use html::{file, is_ours, policy, served};
