//! A reader of a format, and how the beginning of a file is seen by it.

use crate::format::error::{FormatError, Location};
use crate::{Halt, Trace};

/// A format in which a trace is a single file.
pub(super) trait TraceReader {
    /// True if a file that begins with these bytes is in this format; a few hundred are enough.
    fn detect(&self, first_bytes: &[u8]) -> bool;

    /// Reads a whole file, stopping when `halt` is raised.
    fn read(&self, bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError>;
}

/// The text that a file is.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, FormatError> {
    let broken = |error: std::str::Utf8Error| {
        FormatError::new(Location::Byte(error.valid_up_to() as u64), "a byte that is not UTF-8")
    };
    std::str::from_utf8(bytes).map_err(broken)
}

/// The longest prefix of the bytes that is text.
pub(super) fn text_of(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// The first line that is neither empty nor a comment, without white space around it.
pub(super) fn first_line(bytes: &[u8]) -> &str {
    let lines = text_of(bytes).lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).find(|line| !line.starts_with("//") && !line.starts_with('#')).unwrap_or("")
}

/// The first key of an object, and the text after its colon.
pub(super) fn first_key(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.trim_start().strip_prefix('{')?.trim_start().strip_prefix('"')?.split_once('"')?;
    Some((key, rest.trim_start().strip_prefix(':')?))
}
