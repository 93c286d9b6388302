//! Readers and writers of traces, one module per format.
//!
//! A reader turns bytes into a [`Trace`](crate::Trace) without interpreting it. Input that it cannot understand is a
//! [`FormatError`] with a location; a trace that merely breaks off is read up to there, and
//! [`Trace::cuts`](crate::Trace::cuts) says so. `FORMAT.md` specifies our own formats.
//!
//! The modules below use each other in one direction only, and name the module that they use: `error`, `own` and
//! `reader` come first, then what several formats share, then the formats, and at last [`Format`], which lists them.

pub mod binary;
#[cfg(test)]
mod damage;
mod edn;
mod error;
mod formats;
mod gaps;
pub mod jepsen;
pub mod json;
pub mod jsonl;
mod lanes;
pub mod msgpack;
mod node;
pub mod otlp;
mod own;
pub mod porcupine;
mod reader;
mod schemas;
pub mod text;

pub use self::error::{FormatError, Location, Problem};
pub use self::formats::Format;
pub use self::gaps::Numbered;
pub use self::own::{MAX_DEPTH, WriteError};
