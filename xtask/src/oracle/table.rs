//! Tables of recorded answers: one row per line, columns separated by tabs, with column names in the first line.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// A table with `N` columns.
pub(super) struct Table<const N: usize> {
    path: PathBuf,
    columns: [&'static str; N],
    /// What stands below the names of the columns.
    pub(super) rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    /// Reads the table of this name, or starts an empty one. Columns that a row lacks at its end are empty.
    pub(super) fn read(workspace: &Workspace, name: &str, columns: [&'static str; N]) -> Result<Table<N>> {
        let path = workspace.root().join("tests/oracle").join(name);
        let text = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
        let rows = parse(&text).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Table { path, columns, rows })
    }

    /// Replaces the file by this table.
    pub(super) fn write(&self) -> Result<()> {
        fs::write(&self.path, self.print()).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Where the table is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn print(&self) -> String {
        let header = self.columns.join("\t");
        let rows = self.rows.iter().map(|row| row.join("\t").trim_end().to_owned());
        std::iter::once(header).chain(rows).map(|line| line + "\n").collect()
    }
}

fn parse<const N: usize>(text: &str) -> Result<Vec<[String; N]>> {
    let mut rows = Vec::new();
    for (line, index) in text.lines().zip(1..).skip(1) {
        let mut row = [const { String::new() }; N];
        for (column, cell) in line.split('\t').enumerate() {
            ensure!(column < N, "line {index} has more than {N} columns");
            cell.clone_into(&mut row[column]);
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_as_it_was_read() {
        let text = "expression\toutcome\tmessage\n1 + 1\tVALUE 2\n1 \\div 0\tERR Arithmetic\tzero\n";
        let rows = parse::<3>(text).expect("three columns");
        assert_eq!(rows[0], ["1 + 1", "VALUE 2", ""]);
        let columns = ["expression", "outcome", "message"];
        assert_eq!(Table { path: PathBuf::new(), columns, rows }.print(), text);
    }

    #[test]
    fn too_many_columns_are_an_error() {
        let error = parse::<1>("expression\n1\t2\n").expect_err("two columns");
        assert_eq!(error.to_string(), "line 2 has more than 1 columns");
    }
}
