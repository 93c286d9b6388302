//! Changes the code in one place at a time, and finds the changes that no test detects.
//!
//! `cargo mutants` makes and tests the changes, configured by `.cargo/mutants.toml`. A change that survives shows a
//! missing test, or is equivalent to the code. Equivalent changes are listed in `tests/mutants/<crate>.tsv`, with the
//! reason. A row names the file and the function instead of the line, because lines move; a function with several such
//! places has several rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;

/// The crates that decide verdicts. Crates above them cannot detect their mistakes.
const CRATES: [&str; 3] = ["history", "models", "search"];

/// The selection of changes.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Change only this crate: `history`, `models` or `search`
    #[arg(value_parser = CRATES)]
    name: Option<String>,
    /// Change only files whose paths match this, such as `format/text.rs`
    #[arg(long, value_name = "GLOB", requires = "name")]
    file: Option<String>,
}

/// How often each change is listed or survived, by `file: change`.
type Counts = BTreeMap<String, usize>;

/// Tries the changes, and fails if one survives that is not listed, or if one is listed that does not survive.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    ensure!(workspace.has_subcommand("mutants"), "install it with `cargo install --locked cargo-mutants`");
    let mut wrong = String::new();
    for name in CRATES.into_iter().filter(|name| options.name.as_deref().is_none_or(|only| only == *name)) {
        let path = workspace.root().join("tests/mutants").join(name).with_extension("tsv");
        let listed = listed(&fs::read_to_string(&path).with_context(|| path.display().to_string())?)?;
        let survived = survivors(workspace, name, options.file.as_deref())?;
        wrong += &compare(&listed, &survived, options.file.is_none());
    }
    if !wrong.is_empty() {
        bail!("{wrong}tests/mutants says what to do about them");
    }
    Ok(())
}

/// Has `cargo mutants` try the changes of one crate, or of some of its files.
fn survivors(workspace: &Workspace, name: &str, file: Option<&str>) -> Result<Counts> {
    let output = workspace.metadata.target_directory.as_std_path().join("mutants").join(name);
    fs::create_dir_all(&output)?;
    let mut command = Command::new("cargo");
    // The tests have passed already, in the step for tests.
    command.args(["mutants", "--baseline", "skip", "--no-shuffle", "--package"]).arg(format!("omnilink-{name}"));
    command.args(file.map(|file| format!("--file=**/{file}"))).arg("--output").arg(&output);
    let status = command.current_dir(workspace.root()).status().context("cannot run cargo")?;
    // All were noticed, some were not, or some did not end.
    ensure!(matches!(status.code(), Some(0 | 2 | 3)), "`cargo mutants` failed: {status}");
    survived(&output.join("mutants.out"))
}

/// Reads the surviving changes from the output of `cargo mutants`.
fn survived(output: &Path) -> Result<Counts> {
    let path = output.join("missed.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut counts = Counts::new();
    for line in text.lines() {
        *counts.entry(without_place(line)?).or_default() += 1;
    }
    Ok(counts)
}

/// `a.rs:12:3: replace x` as `a.rs: replace x`.
fn without_place(line: &str) -> Result<String> {
    let parts = line.split_once(": ").and_then(|(place, change)| Some((place.split_once(':')?.0, change)));
    let (file, change) = parts.with_context(|| format!("`cargo mutants` names a change `{line}`"))?;
    Ok(format!("{file}: {change}"))
}

/// Reads a list: a heading, then rows of file, change and reason.
fn listed(text: &str) -> Result<Counts> {
    let mut counts = Counts::new();
    for row in text.lines().skip(1) {
        let [file, change, reason] = row.split('\t').collect::<Vec<_>>()[..] else {
            bail!("a row has not three columns: `{row}`");
        };
        ensure!(!reason.is_empty(), "a row has no reason: `{row}`");
        *counts.entry(format!("{file}: {change}")).or_default() += 1;
    }
    Ok(counts)
}

/// The differences, one line each. If all changes were tested, every listed change must have survived.
fn compare(listed: &Counts, survived: &Counts, is_complete: bool) -> String {
    let mut wrong = String::new();
    let count = |counts: &Counts, change: &str| counts.get(change).copied().unwrap_or_default();
    for (change, times) in survived {
        if *times > count(listed, change) {
            _ = writeln!(wrong, "no test notices {change} ({times} times, {} listed)", count(listed, change));
        }
    }
    for (change, times) in listed.iter().filter(|_| is_complete) {
        if *times > count(survived, change) {
            _ = writeln!(wrong, "a test notices {change} ({times} listed, {} survived)", count(survived, change));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(lines: &[&str]) -> Counts {
        let mut counts = Counts::new();
        for line in lines {
            *counts.entry(without_place(line).unwrap()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn what_is_listed_survives_and_nothing_else() {
        let list =
            listed("file\tchange\treason\na.rs\treplace f with ()\tspeed only\na.rs\treplace g -> bool with true\tx\n");
        let survived =
            counts(&["a.rs:1:2: replace f with ()", "a.rs:7:2: replace f with ()", "b.rs:3:4: replace h with ()"]);
        insta::assert_snapshot!(compare(&list.unwrap(), &survived, true), @"
        no test notices a.rs: replace f with () (2 times, 1 listed)
        no test notices b.rs: replace h with () (1 times, 0 listed)
        a test notices a.rs: replace g -> bool with true (1 listed, 0 survived)
        ");
    }

    #[test]
    fn a_part_says_nothing_about_the_rest() {
        let list = listed("file\tchange\treason\na.rs\treplace f with ()\tspeed only\n").unwrap();
        assert_eq!(compare(&list, &Counts::new(), false), "");
        assert_ne!(compare(&list, &Counts::new(), true), "");
    }

    #[test]
    fn a_reason_is_given() {
        assert!(listed("file\tchange\treason\na.rs\treplace f with ()\t\n").is_err());
        assert!(listed("file\tchange\treason\na.rs\treplace f with ()\n").is_err());
    }
}
