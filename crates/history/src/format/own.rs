//! Rules that our own formats share, see `FORMAT.md`.

use std::io;

use thiserror::Error;

/// How deep a value may nest in a trace that we read or write: `<<<<1>>>>` has depth two.
pub const MAX_DEPTH: usize = 32;

/// Why a failed operation cannot be written with a latest time.
pub(super) const FAILED_BY: &str = "it failed, but has a latest time";

/// Why an operation that is blocked cannot be written.
pub(super) const BLOCKED_BUT: &str = "it is blocked, but failed or has results";

/// Why a trace could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file could not be written.
    #[error("cannot write the trace: {0}")]
    Io(#[from] io::Error),
    /// The format cannot express this operation.
    #[error("`{call}` cannot be written in this format: {why}")]
    Unwritable {
        /// The operation, for display.
        call: String,
        /// Why not.
        why: String,
    },
}

/// True for lines that are not operations: empty ones and comments.
pub(super) fn is_skipped(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"//") || line.starts_with(b"#")
}
