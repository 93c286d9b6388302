//! Tables in documents that repeat code: they are written from the code, and a table that differs is a finding.
//!
//! A table stands below a line `<!-- table NAME: `cargo xtask tidy --write` -->`. Its rows come from the code. One column
//! may be written by people, or measured; its cells stay with their rows, which are known by their first cell.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};

use super::{File, Finding, packages};
use crate::workspace::Workspace;
use crate::{ci, command_rows};

/// A table that repeats code.
struct Table {
    file: &'static str,
    name: &'static str,
    head: &'static [&'static str],
    rows: Vec<Vec<String>>,
    kept: Option<Kept>,
}

/// The last column, if it does not come from code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Every row has a text.
    Text,
    /// A row may have none.
    Measured,
}

/// The files as they should be, and a finding for each table that is not.
pub(super) fn check(workspace: &Workspace, files: &[File]) -> Result<(Vec<Finding>, Vec<File>)> {
    let (mut findings, mut changed) = (Vec::new(), BTreeMap::new());
    for table in all(workspace, files)? {
        let file = files.iter().find(|file| file.path == table.file);
        let text = changed.get(table.file).or(file.map(|file| &file.text)).context(table.file)?;
        let (line, written, missing) = table.write(text)?;
        findings
            .extend(missing.iter().map(|row| Finding::new(table.file, line, format!("the row `{row}` needs a text"))));
        if written != *text {
            let message = format!("the table `{}` is out of date; `cargo xtask tidy --write` writes it", table.name);
            findings.push(Finding::new(table.file, line, message));
            changed.insert(table.file, written);
        }
    }
    let changed = changed.into_iter().map(|(path, text)| File { path: path.to_owned(), text });
    Ok((findings, changed.collect()))
}

/// The workflow runs every part.
pub(super) fn check_workflow(files: &[File]) -> Option<Finding> {
    const WORKFLOW: &str = ".github/workflows/weekly.yml";
    let list: String = ci::part_rows().iter().map(|[name, ..]| format!("          - {name}\n")).collect();
    let text = files.iter().find(|file| file.path == WORKFLOW).map_or("", |file| &file.text);
    let is_listed = text.contains(&format!("        part:\n{list}    #"));
    (!is_listed)
        .then(|| Finding::new(WORKFLOW, 1, format!("the matrix should be the parts of the slow checks:\n{list}")))
}

/// The text of CONTRIBUTING.md with the time that a part of the slow checks took.
pub(super) fn with_time(text: &str, part: &str, took: Duration) -> Result<String> {
    let row = text.lines().find(|line| line.starts_with(&format!("| {part} |"))).context("the part has no row")?;
    let cells = row.trim_end_matches('|').trim_end().rsplit_once('|').context("a row has cells")?.0;
    Ok(text.replace(row, &format!("{cells}| {} min |", took.as_secs().div_ceil(60))))
}

fn all(workspace: &Workspace, files: &[File]) -> Result<Vec<Table>> {
    let reference = files.iter().find(|file| file.path == "book/src/commands.md").context("the command reference")?;
    let table = |file, name, head, rows, kept| Table { file, name, head, rows, kept };
    Ok(vec![
        table("CONTRIBUTING.md", "steps", &["step", "does", "needs"], rows(ci::step_rows()), None),
        table(
            "CONTRIBUTING.md",
            "parts",
            &["part", "does", "needs", "time on two cores"],
            rows(ci::part_rows()),
            Some(Kept::Measured),
        ),
        table("ARCHITECTURE.md", "commands", &["`cargo xtask`", "does"], rows(command_rows()), None),
        table(
            "ARCHITECTURE.md",
            "crates",
            &["crate", "layer", "depends on", "in one sentence"],
            packages::layers(workspace),
            Some(Kept::Text),
        ),
        table("book/src/exit-codes.md", "codes", &["command", "codes"], exit_codes(&reference.text), None),
    ])
}

fn rows<const N: usize>(rows: Vec<[String; N]>) -> Vec<Vec<String>> {
    rows.into_iter().map(Vec::from).collect()
}

/// The sentence about exit codes in the help of each command.
fn exit_codes(reference: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut command = "";
    let mut lines = reference.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.trim_start_matches('#').strip_prefix(" omnilink").filter(|_| line.starts_with('#'))
        {
            command = heading.trim();
        } else if let Some(start) = line.find("Exit codes") {
            let rest = lines.by_ref().take_while(|line| !line.is_empty() && *line != "```");
            let words: Vec<&str> = [&line[start..]].into_iter().chain(rest).collect();
            let words = words.join(" ");
            let words = words.strip_prefix("Exit codes: ").unwrap_or(&words).trim_end_matches('.');
            rows.push(vec![format!("`{command}`"), words.to_owned()]);
        }
    }
    rows
}

impl Table {
    /// The text with this table, its line, and the rows without the text that they need.
    fn write(&self, text: &str) -> Result<(usize, String, Vec<String>)> {
        let marker = format!("<!-- table {}: `cargo xtask tidy --write` -->\n", self.name);
        let start =
            text.find(&marker).with_context(|| format!("{} lacks the line {marker}", self.file))? + marker.len();
        let length: usize =
            text[start..].split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
        let old = &text[start..start + length];
        let width = self.head.len();
        let kept: BTreeMap<&str, &str> =
            old.lines().filter_map(cells).filter(|cells| cells.len() == width).map(ends).collect();
        let mut missing = Vec::new();
        let mut new = row(self.head.iter().copied()) + &row(self.head.iter().map(|_| "---"));
        for cells in &self.rows {
            let last = kept.get(&*cells[0]).copied().unwrap_or_default();
            if self.kept == Some(Kept::Text) && last.is_empty() {
                missing.push(cells[0].clone());
            }
            new += &row(cells.iter().map(String::as_str).chain(self.kept.map(|_| last)));
        }
        let line = text[..start].matches('\n').count();
        Ok((line, format!("{}{new}{}", &text[..start], &text[start + length..]), missing))
    }
}

/// The cells of a row.
fn cells(line: &str) -> Option<Vec<&str>> {
    Some(line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect())
}

fn ends(cells: Vec<&str>) -> (&str, &str) {
    (cells[0], cells[cells.len() - 1])
}

fn row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    cells.fold("|".to_owned(), |row, cell| if cell.is_empty() { row + " |" } else { format!("{row} {cell} |") }) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(kept: Option<Kept>, rows: &[&[&str]], text: &str) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        let head: &[&str] = if kept.is_some() { &["a", "b", "c"] } else { &["a", "b"] };
        let table = Table { file: "a.md", name: "t", head, rows, kept };
        let (line, text, missing) = table.write(text).unwrap();
        format!("{line} {missing:?}\n{text}")
    }

    const MARK: &str = "Before.\n\n<!-- table t: `cargo xtask tidy --write` -->\n";

    #[test]
    fn rows_come_from_code() {
        insta::assert_snapshot!(write(None, &[&["x", "1"], &["y", ""]], &format!("{MARK}| old |\n\nAfter.\n")), @"
        3 []
        Before.

        <!-- table t: `cargo xtask tidy --write` -->
        | a | b |
        | --- | --- |
        | x | 1 |
        | y | |

        After.
        ");
    }

    #[test]
    fn a_written_column_stays_with_its_rows() {
        let text = format!("{MARK}| a | b | c |\n| --- | --- | --- |\n| y | 0 | kept |\n| z | 0 | gone |\n");
        insta::assert_snapshot!(write(Some(Kept::Text), &[&["x", "1"], &["y", "2"]], &text), @r#"
        3 ["x"]
        Before.

        <!-- table t: `cargo xtask tidy --write` -->
        | a | b | c |
        | --- | --- | --- |
        | x | 1 | |
        | y | 2 | kept |
        "#);
        assert!(write(Some(Kept::Measured), &[&["x", "1"]], &text).starts_with("3 []"));
    }

    #[test]
    fn a_measured_time_is_noted() {
        let text = "| fuzz | does | `c++` | |\n| other | does | | 3 min |\n";
        let noted = with_time(text, "fuzz", Duration::from_secs(61)).unwrap();
        assert_eq!(noted, "| fuzz | does | `c++` | 2 min |\n| other | does | | 3 min |\n");
        assert!(with_time(&noted, "other", Duration::from_secs(5)).unwrap().ends_with("| other | does | | 1 min |\n"));
        assert!(with_time(text, "none", Duration::ZERO).is_err());
    }

    #[test]
    fn sentences_about_exit_codes_are_found() {
        let reference = "## omnilink check\n\n```text\nExit codes: 0 accepted,\n1 rejected.\n```\n\n### omnilink runs list\n\n\
                         The mapping. Exit codes: 0 written.\n\nMore.\n";
        assert_eq!(exit_codes(reference), [["`check`", "0 accepted, 1 rejected"], ["`runs list`", "0 written"]]);
    }
}
