//! Locations in a text.

/// A range of bytes in one text, the end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A line and a column, both counted from one, as TLC and editors print them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from one.
    pub line: usize,
    /// The column in characters, from one.
    pub column: usize,
}

impl Span {
    /// From the start of this span to the end of the other.
    pub fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }

    /// The text that the span covers.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

impl Position {
    /// The position of a byte of the text.
    pub fn of(text: &str, byte: u32) -> Position {
        let before = text.get(..byte as usize).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}
