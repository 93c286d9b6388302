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
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};

use crate::tools::is_installed;
use crate::workspace::Workspace;

/// A crate with mutation tests.
pub(crate) struct Crate {
    pub(crate) name: &'static str,
    /// Crates above it whose tests count too, because its own do not have the inputs: settings and whole files.
    tested_by: &'static [&'static str],
}

pub(crate) const CRATES: [Crate; 10] = [
    Crate { name: "history", tested_by: &[] },
    Crate { name: "isolation", tested_by: &[] },
    Crate { name: "keyed", tested_by: &[] },
    Crate { name: "lineup", tested_by: &[] },
    Crate { name: "logs", tested_by: &[] },
    Crate { name: "models", tested_by: &[] },
    Crate { name: "monitor", tested_by: &[] },
    Crate { name: "search", tested_by: &["models"] },
    Crate { name: "validate", tested_by: &["judge"] },
    Crate { name: "weak", tested_by: &[] },
];

/// The most changes of a shard of a week: an hour on two cores, if a change takes 36 seconds.
const MOST: usize = 100;

const WEEK: u64 = 7 * 24 * 60 * 60;

/// The selection of changes.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Change only this crate
    #[arg(value_parser = CRATES.map(|krate| krate.name))]
    name: Option<String>,
    /// Change only files whose paths match this, such as `format/text.rs`
    #[arg(long, value_name = "GLOB", requires = "name")]
    file: Option<String>,
    /// Try one of N equal shares of the changes, with K from 0 to N - 1
    #[arg(long, value_name = "K/N", requires = "name")]
    shard: Option<String>,
    /// Try the share of this week, at most 100 changes: all are tried once before one is repeated
    #[arg(long, requires = "name", conflicts_with = "shard")]
    weekly: bool,
}

impl Options {
    /// The share of this week.
    pub(crate) fn weekly(name: &str) -> Options {
        Options { name: Some(name.to_owned()), weekly: true, ..Options::default() }
    }
}

/// How often each change is listed or survived, by `file: change`.
type Counts = BTreeMap<String, usize>;

/// Tries the changes, and fails if one survives that is not listed, or if one is listed that does not survive.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    ensure!(is_installed("cargo-mutants"), "install it with `cargo install --locked cargo-mutants`");
    let (mut wrong, mut table) = (String::new(), String::new());
    for krate in CRATES.iter().filter(|krate| options.name.as_deref().is_none_or(|only| only == krate.name)) {
        let name = krate.name;
        let path = workspace.root().join("tests/mutants").join(name).with_extension("tsv");
        let listed = listed(&fs::read_to_string(&path).with_context(|| path.display().to_string())?)?;
        let (output, shard) = try_changes(workspace, krate, options)?;
        let survived = survived(&output)?;
        wrong += &compare(&listed, &survived, options.file.is_none() && shard.is_none());
        let [caught, missed, late, unviable] =
            ["caught", "missed", "timeout", "unviable"].map(|list| lines(&output.join(list).with_extension("txt")));
        let shard = shard.unwrap_or_else(|| "all".into());
        let tried = caught + missed + late;
        _ = writeln!(table, "{name:10} {shard:>7} {tried:8} {caught:8} {missed:9} {late:10} {unviable:13}");
    }
    println!(
        "\n{:10} {:>7} {:>8} {:>8} {:>9} {:>10} {:>13}",
        "crate", "shard", "tried", "caught", "survived", "timed out", "do not build"
    );
    println!("{table}");
    if !wrong.is_empty() {
        bail!("{wrong}tests/mutants says what to do about them");
    }
    Ok(())
}

/// Has `cargo mutants` try the changes of one crate, of some of its files, or a share of them. Returns the directory with
/// the lists, and the share.
fn try_changes(
    workspace: &Workspace,
    krate: &Crate,
    options: &Options,
) -> Result<(std::path::PathBuf, Option<String>)> {
    let output = workspace.metadata.target_directory.as_std_path().join("mutants").join(krate.name);
    fs::create_dir_all(&output)?;
    let mut selection = vec![format!("--package=omnilink-{}", krate.name)];
    selection.extend(options.file.as_ref().map(|file| format!("--file=**/{file}")));
    let shard = match (&options.shard, options.weekly) {
        (Some(shard), _) => Some(shard.clone()),
        (None, true) => Some(shard_of_week(count(workspace, &selection)?, SystemTime::now())),
        (None, false) => None,
    };
    let mut command = Command::new("cargo");
    // The tests have passed already, in the step for tests.
    command.args(["mutants", "--baseline", "skip", "--no-shuffle"]).args(&selection);
    if !krate.tested_by.is_empty() {
        let tests = krate.tested_by.iter().chain([&krate.name]);
        command.args(tests.map(|name| format!("--test-package=omnilink-{name}")));
    }
    command.args(shard.iter().flat_map(|shard| ["--shard", shard])).arg("--output").arg(&output);
    let status = command.current_dir(workspace.root()).status().context("cannot run cargo")?;
    // All were noticed, some were not, or some did not end.
    ensure!(matches!(status.code(), Some(0 | 2 | 3)), "`cargo mutants` failed: {status}");
    Ok((output.join("mutants.out"), shard))
}

/// The number of changes that there are.
fn count(workspace: &Workspace, selection: &[String]) -> Result<usize> {
    let mut command = Command::new("cargo");
    let listed = command.args(["mutants", "--list"]).args(selection).current_dir(workspace.root()).output()?;
    ensure!(listed.status.success(), "`cargo mutants --list` failed: {}", String::from_utf8_lossy(&listed.stderr));
    Ok(listed.stdout.iter().filter(|byte| **byte == b'\n').count())
}

/// The share of the week of this time, of so few changes that it can be tried in an hour.
fn shard_of_week(changes: usize, now: SystemTime) -> String {
    let shards = changes.div_ceil(MOST).max(1) as u64;
    let week = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / WEEK;
    format!("{}/{shards}", week % shards)
}

/// The number of lines of a file that may be missing.
fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
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
    fn every_share_has_its_week() {
        let week = |number| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(WEEK * number + 5);
        let shards: Vec<String> = (30..34).map(|number| shard_of_week(201, week(number))).collect();
        assert_eq!(shards, ["0/3", "1/3", "2/3", "0/3"]);
        assert_eq!(shard_of_week(0, week(7)), "0/1");
    }

    #[test]
    fn a_reason_is_given() {
        assert!(listed("file\tchange\treason\na.rs\treplace f with ()\t\n").is_err());
        assert!(listed("file\tchange\treason\na.rs\treplace f with ()\n").is_err());
    }
}
