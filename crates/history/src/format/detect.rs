//! Which format a file is in.
//!
//! One table holds everything that is known about each format of a single file; a new format is a new row. Rows are
//! tried in order, so a format that accepts more stands further down. The binary format is a directory of segments and
//! has no row.

use crate::Trace;
use crate::format::{FormatError, jsonl, text};

/// A format in which a trace is a single file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per operation: [`jsonl`].
    JsonLines,
    /// Operations as they print: [`text`].
    Text,
}

struct Row {
    format: Format,
    name: &'static str,
    /// True if a file that begins with these bytes is in this format.
    detect: fn(&[u8]) -> bool,
    read: fn(&[u8]) -> Result<Trace, FormatError>,
}

const TABLE: &[Row] = &[
    Row {
        format: Format::JsonLines,
        name: "jsonl",
        detect: |bytes| jsonl::detect(first_line(bytes)),
        read: jsonl::read,
    },
    Row { format: Format::Text, name: "text", detect: |bytes| text::detect(first_line(bytes)), read: text::read },
];

impl Format {
    /// The format of a file that begins with these bytes; a few hundred are enough.
    pub fn detect(first_bytes: &[u8]) -> Option<Format> {
        TABLE.iter().find(|row| (row.detect)(first_bytes)).map(|row| row.format)
    }

    /// All formats, in the order in which they are tried.
    pub fn all() -> impl Iterator<Item = Format> {
        TABLE.iter().map(|row| row.format)
    }

    /// The name by which people ask for the format.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The format of this name.
    pub fn by_name(name: &str) -> Option<Format> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.format)
    }

    /// Reads a whole file in this format.
    pub fn read(self, bytes: &[u8]) -> Result<Trace, FormatError> {
        (self.row().read)(bytes)
    }

    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.format == self).expect("each format has a row")
    }
}

/// The first line that is neither empty nor a comment, without white space around it.
fn first_line(bytes: &[u8]) -> &str {
    let lines = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid()).lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).find(|line| !line.starts_with("//") && !line.starts_with('#')).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_apart_by_their_first_line() {
        let check = |bytes: &[u8]| Format::detect(bytes).map(Format::name);
        assert_eq!(check(b"// a map\n{\"process\": 0, \"action\": \"put\", \"sta"), Some("jsonl"));
        assert_eq!(check(b"\n{\"process\": 0, \"type\": \"invoke\", \"f\": \"read\"}"), None);
        assert_eq!(check(b"# by hand\nT0 [1 4] write(1)"), Some("text"));
        assert_eq!(check(b"\"a b\" [1 ...] wr"), Some("text"));
        assert_eq!(check(b"[1 4] write(1)"), None);
        assert_eq!(check(b"\x89OMNISEG\x01\x00"), None);
        assert_eq!(check(b""), None);
    }

    #[test]
    fn each_format_has_one_row() {
        for format in Format::all() {
            assert_eq!(Format::by_name(format.name()), Some(format));
            assert_eq!(TABLE.iter().filter(|row| row.format == format).count(), 1);
            assert_eq!(format.read(b""), Ok(Trace::default()));
        }
    }
}
