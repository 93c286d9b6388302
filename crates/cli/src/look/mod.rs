//! Looking at what a check found: `omnilink report` writes a page, `omnilink view` serves it, and exports hand it to other
//! programs.
//!
//! ```text
//!  a run, a history, a report.json ── subject ──► Subject ── Judge::show ──► Shown ──┬── report  one file
//!                                                                                    ├── view    a server
//!                                                                                    └── export  Perfetto, ITF, Graphviz
//! ```

pub(crate) mod export;
mod http;
mod index;
pub(crate) mod report;
mod subject;
mod values;
pub(crate) mod view;
mod worker;
