//! Writes a report and its history as one HTML page.
//!
//! ```
//! use omnilink_page::{About, Encoder, Packing};
//!
//! # let report = omnilink_report::Report::from_json(r#"{
//! #     "schema": "omnilink.report/2",
//! #     "history": { "name": "run.jsonl", "operations": 2, "processes": 1, "cuts": [] },
//! #     "spec": { "name": "queue", "constants": [] },
//! #     "order": "real-time",
//! #     "verdict": { "kind": "accepted" },
//! #     "operations": [], "sources": [], "notes": [], "next": [],
//! #     "stats": {
//! #         "method": "a search", "returned": 2, "evaluations": 2, "generated": 3, "distinct": 3,
//! #         "widest": null, "seconds": 0.0
//! #     }
//! # }"#)?;
//! // `report` is a `omnilink_report::Report`. With a timeline the page shows the whole history.
//! let encoder = Encoder::new(&report, None, Packing::Small);
//! let parts = encoder.parts(&About { tool: "example", ..About::default() });
//! let html = omnilink_page::file(&parts, &omnilink_report::headline(&report, false));
//! assert!(omnilink_page::is_ours(html.as_bytes()));
//! # Ok::<(), omnilink_report::ReadError>(())
//! ```
//!
//! ```text
//!  Report, Timeline ── Encoder ──► parts: head, states, chunk-0 …, order-0 …, messages, unlogged
//!                                    │ file                     │ one at a time
//!                                    ▼                          ▼
//!                       one self-contained HTML file      a server that also serves the page
//! ```
//!
//! The page is `viewer.html`, which is built from `viewer/` and committed, so building this crate does not need Node.
//! Parts are compressed, and a file contains them as base64, so recorded text cannot become markup.
//! `viewer/src/data/types.ts` documents the JSON parts; [`chunk`], [`order`] and [`log`] document the binary ones.
//!
//! [`chunk`]: encode::chunk
//! [`log`]: encode::log
//! [`order`]: encode::order

pub mod encode;
mod html;
mod listing;

pub use encode::{About, Encoder, Index, IndexRun, Packing, Part, Served, index, states};
pub use html::{file, is_ours, policy, served};
pub use listing::{Listed, listing};
