//! Inspecting the result of a check: `omnilink report` writes a page, `omnilink view` serves it, and exports pass it to
//! other programs.
//!
//! ```text
//! run, history, report.json ── subject ──► Subject ── Judge::show ──► Inspection ──┬── report  one file
//!                                                                                  ├── view    a server
//!                                                                                  └── export  Perfetto, ITF, Graphviz
//! ```

pub(crate) mod export;
mod http;
mod index;
pub(crate) mod report;
mod subject;
mod values;
pub(crate) mod view;
mod worker;

pub(crate) use values::Values;
