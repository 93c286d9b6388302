//! The binary trace format, version 1, as `FORMAT.md` specifies it.
//!
//! A trace is a directory with one append-only *segment* per process. A segment is a header and a chain of records,
//! each a length and a body; a recorder writes the body first and publishes it by storing the first byte of the
//! length, so every prefix of a segment is a segment. So the reader distinguishes two cases: a segment that stops is
//! a [`Cut`](crate::Cut), and the part before it counts; invalid published bytes are a
//! [`FormatError`](crate::format::FormatError).

mod layout;
mod manifest;
mod merge;
mod read;
mod stuck;
#[cfg(test)]
mod tests;
mod write;

pub use self::layout::{MAGIC, MAX_ACTION, MAX_BODY, VERSION};
pub use self::manifest::Manifest;
pub use self::merge::{Merge, read_all, read_all_until};
pub use self::read::{ReadError, SegmentReader};
pub use self::stuck::{Completion, complete_stuck};
pub use self::write::{SegmentWriter, write};
