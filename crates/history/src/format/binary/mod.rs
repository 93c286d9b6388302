//! The binary trace format, version 1, as `FORMAT.md` specifies it.
//!
//! A trace is a directory with one append-only *segment* per process. A segment is a header and a chain of records,
//! each a length and a body; a recorder writes the body first and publishes it by storing the first byte of the
//! length, so every prefix of a segment is a segment. So the reader distinguishes two cases: a segment that stops is
//! a [`Cut`](crate::Cut), and the part before it counts; invalid published bytes are a [`FormatError`].

mod manifest;
mod merge;
mod read;
mod stuck;
mod write;

use std::io;

use thiserror::Error;

pub use self::manifest::Manifest;
pub use self::merge::{Merge, read_all, read_all_until};
pub use self::read::SegmentReader;
pub use self::stuck::{Completion, complete_stuck};
pub use self::write::{SegmentWriter, write};
use crate::IllFormed;
use crate::format::FormatError;

/// The first bytes of every segment.
pub const MAGIC: [u8; 8] = *b"\x89OMNISEG";

/// The supported version of the format.
pub const VERSION: u8 = 1;

/// The maximum length of a record's body, in bytes.
pub const MAX_BODY: usize = 1 << 24;

/// The maximum number of an action in a segment.
pub const MAX_ACTION: u64 = 0xFFFF;

/// Why segments could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The bytes could not be read.
    #[error("cannot read {part}: {source}")]
    Io {
        /// The segment.
        part: String,
        /// The cause.
        source: io::Error,
    },
    /// The bytes are invalid.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The operations do not form a history.
    #[error(transparent)]
    IllFormed(#[from] IllFormed),
}

/// Record kinds. Zero is not a kind, so that a page of zeros is never read as a record.
mod kind {
    pub(super) const ACTION: u8 = 1;
    pub(super) const OPERATION: u8 = 2;
    pub(super) const CALL: u8 = 3;
    pub(super) const RETURN: u8 = 4;
    pub(super) const FAIL: u8 = 5;
    pub(super) const META: u8 = 6;
    pub(super) const END: u8 = 7;
    pub(super) const OUTCOME: u8 = 8;
    pub(super) const UNKNOWN: u8 = 9;
    pub(super) const BLOCKED: u8 = 10;
    pub(super) const EVENT: u8 = 11;
}

/// The first byte of a length that is followed by the actual length, in four bytes.
const LONG: u8 = 0xFF;

/// First bytes of values.
mod tag {
    pub(super) const NIL: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const INT: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const STR: u8 = 5;
    pub(super) const TUPLE: u8 = 6;
    pub(super) const SET: u8 = 7;
    pub(super) const FUNCTION: u8 = 8;
    pub(super) const BIG: u8 = 9;
    /// A string of at most 31 bytes has this tag plus its length.
    pub(super) const SHORT_STR: u8 = 0x20;
    pub(super) const MAX_SHORT_STR: usize = 31;
    /// An integer from -16 to 175 has this tag plus its value.
    pub(super) const ZERO: u8 = 0x50;
    pub(super) const MIN_SMALL_INT: i64 = -16;
    pub(super) const MAX_SMALL_INT: i64 = 175;
}

#[cfg(test)]
mod tests;
