//! Tables for people: columns as wide as what stands in them, words to the left and numbers to the right.

use std::fmt;

/// A table that grows by rows.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Table {
        Table { rows: vec![headings.iter().map(|heading| (*heading).to_owned()).collect()] }
    }

    /// Adds a row with as many cells as there are headings.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let width = |column: usize| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let is_number = |cell: &String| cell.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        let widths: Vec<(usize, bool)> =
            (0..columns).map(|column| (width(column), cells(column).skip(1).all(is_number))).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, &(width, is_number)) in row.iter().zip(&widths) {
                line += &if is_number { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
            }
            writeln!(f, "  {}", line.trim_end())?;
        }
        Ok(())
    }
}

/// What may be missing.
pub(crate) fn or_dash(value: Option<impl fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}
