//! Writes a report and its history as one HTML page.
//!
//! ```text
//!  Report, Timeline ── Encoder ──► parts: head, states, chunk-0 …, order-0 …
//!                                    │ file                     │ one at a time
//!                                    ▼                          ▼
//!                       one self-contained HTML file      a server that also serves the page
//! ```
//!
//! The page is `viewer.html`, which is built from `viewer/` and committed, so building this crate does not need Node.
//! Parts are compressed, and a file contains them as base64, so recorded text cannot become markup.
//! `viewer/src/data/types.ts` documents the JSON parts; [`chunk`] and [`order`] document the binary ones.
//!
//! [`chunk`]: encode::chunk
//! [`order`]: encode::order

pub mod encode;
mod html;

pub use encode::{About, Encoder, Index, IndexRun, Level, Part, Served, index, states};
pub use html::{file, is_ours, policy, served};
