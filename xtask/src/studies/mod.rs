//! The case studies: real systems, recorded while they run, each with its expected verdict.
//!
//! A study is a directory of `examples` with a file `study.toml`: the known facts about the system and, for each
//! settings file, the verdict and a time limit. Every expectation is one `omnilink fuzz` with the profile `ci`. A
//! rejection or a crash ends it at once; an acceptance uses up the time, and means only that no failure was found in
//! it.
//!
//! A harness is controlled if it can be instrumented, as for users, unless the expectation names a schedule. It names
//! `free` if the relevant code cannot be controlled: servers, or libraries that are not built with the harness.

mod compare;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

pub(crate) use self::compare::compare;
use crate::workspace::{Build, Workspace};

/// What is checked, and what must come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Study {
    #[serde(skip)]
    directory: PathBuf,
    /// What is known about the system, and where that is said.
    #[serde(rename = "about")]
    _about: String,
    /// The packages of Debian that it needs.
    #[serde(default)]
    packages: Vec<String>,
    expect: Vec<Expectation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    /// A file beside the study.
    settings: PathBuf,
    verdict: Verdict,
    /// How long may pass, such as `60s`.
    within: String,
    /// Scheduling strategy; if `None`, the command chooses.
    schedule: Option<Schedule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Accepted,
    Rejected,
    Crashed,
}

/// Those of the schedules of `omnilink fuzz` that go on for as long as there is time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Schedule {
    Free,
    Random,
    Pct,
    Pos,
}

/// The studies to run.
#[derive(Clone, Copy)]
pub(crate) enum Selected<'a> {
    /// All.
    All,
    /// Those whose schedules are controlled: they take seconds.
    Controlled,
    /// The one with this name.
    Named(&'a str),
}

/// Runs studies, and fails if any has another verdict than is expected.
pub(crate) fn run(workspace: &Workspace, selected: Selected<'_>, build: Build) -> Result<()> {
    let studies = select(workspace, selected)?;
    let command = workspace.build_command(build)?.join("omnilink");
    println!("{}", row(["study", "settings", "verdict", "runs", "operations", "found after"]));
    let mut wrong = Vec::new();
    for study in &studies {
        study.install_packages()?;
        for expectation in &study.expect {
            wrong.extend(study.check(expectation, &command)?);
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn select(workspace: &Workspace, selected: Selected<'_>) -> Result<Vec<Study>> {
    let mut studies = read(workspace.root())?;
    match selected {
        Selected::All => {}
        Selected::Controlled => studies.retain(Study::is_controlled),
        Selected::Named(name) => {
            let names: Vec<String> = studies.iter().map(Study::name).collect();
            studies.retain(|study| study.name() == name);
            ensure!(!studies.is_empty(), "there is no study `{name}`; there are {}", names.join(", "));
        }
    }
    Ok(studies)
}

/// The studies there are, by name.
fn read(root: &Path) -> Result<Vec<Study>> {
    let mut studies = Vec::new();
    for entry in fs::read_dir(root.join("examples"))? {
        let directory = entry?.path();
        let file = directory.join("study.toml");
        if file.exists() {
            let study: Study =
                toml::from_str(&fs::read_to_string(&file)?).with_context(|| file.display().to_string())?;
            let directory = directory.strip_prefix(root)?.to_owned();
            studies.push(Study { directory, ..study });
        }
    }
    studies.sort_by_key(Study::name);
    Ok(studies)
}

impl Study {
    fn name(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn is_controlled(&self) -> bool {
        self.expect.iter().all(|expectation| expectation.schedule != Some(Schedule::Free))
    }

    fn install_packages(&self) -> Result<()> {
        let missing: Vec<&str> = self.packages.iter().map(String::as_str).filter(|name| !is_installed(name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let install = ["install", "--yes", "--no-install-recommends"];
        let line = format!("apt-get {} {}", install.join(" "), missing.join(" "));
        ensure!(is_root(), "the study `{}` needs packages: `sudo {line}`", self.name());
        // On a new machine, what there is to install is not known before it was asked.
        for words in [vec!["update"], [&install[..], &missing[..]].concat()] {
            let mut command = Command::new("apt-get");
            let ran = command.args(&words).env("DEBIAN_FRONTEND", "noninteractive").output();
            let ran = ran.context("cannot run apt-get")?;
            let said = String::from_utf8_lossy(&ran.stderr);
            ensure!(ran.status.success(), "`apt-get {}` failed\n{said}", words.join(" "));
        }
        Ok(())
    }

    /// Runs the harness until something is found or time is up, and prints a row. Returns what is wrong, if something is.
    fn check(&self, expectation: &Expectation, command: &Path) -> Result<Option<String>> {
        let Expectation { settings, verdict, within, schedule } = expectation;
        let Tally { found, runs, accepted, operations, first } =
            self.fuzz(settings, *schedule, &["--time", within], command)?;
        ensure!(found != Verdict::Accepted || accepted != 0, "{} has no run that was decided", self.name());
        println!(
            "{}",
            row([
                &self.name(),
                &settings.display().to_string(),
                found.word(),
                &if found == Verdict::Accepted { accepted } else { runs }.to_string(),
                &operations.to_string(),
                &first.as_ref().map_or_else(String::new, |first| format!("{:.2} s", first.after)),
            ])
        );
        let wrong = || {
            let why = first.as_ref().map_or("nothing was found", |first| &first.cause);
            let (name, settings) = (self.name(), settings.display());
            format!("{name} with {settings} is {}, and {} was expected: {why}", found.word(), verdict.word())
        };
        Ok((found != *verdict).then(wrong))
    }

    /// Runs the harness again and again, with these arguments besides, until something is found or time is up.
    fn fuzz(&self, settings: &Path, schedule: Option<Schedule>, arguments: &[&str], command: &Path) -> Result<Tally> {
        let mut fuzz = Command::new(command);
        fuzz.arg("fuzz").arg(&self.directory).arg("--settings").arg(self.directory.join(settings));
        fuzz.args(["--profile", "ci", "--format", "json", "--progress", "none"]).args(arguments);
        fuzz.args(schedule.map(|schedule| ["--schedule", schedule.word()]).iter().flatten());
        let ran = fuzz.output().with_context(|| format!("cannot run {}", command.display()))?;
        let found = match ran.status.code() {
            Some(0) => Verdict::Accepted,
            Some(1) => Verdict::Rejected,
            // Some check took too long. What counts is that none was rejected, and the row says how many were accepted.
            Some(3) => Verdict::Accepted,
            // Every history is accepted. Data races are outcomes of their own, which no study is about.
            Some(7) => Verdict::Accepted,
            Some(5) => Verdict::Crashed,
            _ => bail!("{} with {}: {}\n{}", self.name(), settings.display(), ran.status, said(&ran)),
        };
        let tally: Value = serde_json::from_slice(&ran.stdout).with_context(|| said(&ran))?;
        Tally::read(&tally, found).with_context(|| format!("{} with {}: {tally:#}", self.name(), settings.display()))
    }
}

/// What came of many runs of one harness.
#[derive(Debug)]
struct Tally {
    found: Verdict,
    /// Those that were checked, the one that ended it included.
    runs: u64,
    accepted: u64,
    operations: u64,
    /// What ended it; none if everything was accepted.
    first: Option<First>,
}

/// The first run that was rejected or crashed.
#[derive(Debug)]
struct First {
    /// In seconds.
    after: f64,
    cause: String,
}

impl Tally {
    /// `None` if it is not what `omnilink fuzz` prints, or the harness did not end, which is not what a study is about.
    fn read(tally: &Value, found: Verdict) -> Option<Tally> {
        let is_first = |failure: &&Value| failure["kind"] == found.word();
        let first = tally["failures"].as_array()?.iter().find(is_first);
        let first = first.and_then(|failure| {
            let after = failure["first_after_seconds"].as_f64()?;
            Some(First { after, cause: failure["cause"].as_str()?.to_owned() })
        });
        (first.is_some() == (found != Verdict::Accepted)).then_some(())?;
        let count = |name: &str| tally[name].as_u64();
        let (runs, accepted, operations) = (count("runs")?, count("accepted")?, count("operations")?);
        Some(Tally { found, runs, accepted, operations, first })
    }
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Crashed => "crashed",
        }
    }
}

impl Schedule {
    /// As the command line has it.
    fn word(self) -> &'static str {
        match self {
            Schedule::Free => "free",
            Schedule::Random => "random",
            Schedule::Pct => "pct",
            Schedule::Pos => "pos",
        }
    }
}

/// A line of the table: words to the left, numbers to the right.
fn row([study, settings, verdict, runs, operations, first]: [&str; 6]) -> String {
    format!("{study:12} {settings:20} {verdict:10} {runs:>6} {operations:>10} {first:>15}").trim_end().to_owned()
}

fn said(ran: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}

fn is_installed(package: &str) -> bool {
    let status = Command::new("dpkg-query").args(["--show", "--showformat", "${Status}", package]).output();
    status.is_ok_and(|ran| ran.stdout == b"install ok installed")
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|ran| ran.stdout == b"0\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_has_what_it_names() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let studies = read(&root).unwrap();
        assert!(!studies.is_empty());
        for study in studies {
            for Expectation { settings, .. } in &study.expect {
                let text = fs::read_to_string(root.join(&study.directory).join(settings)).unwrap();
                let settings: toml::Table = toml::from_str(&text).unwrap();
                assert!(settings["profile"].get("ci").is_some(), "{text}");
            }
        }
    }

    #[test]
    fn a_harness_that_does_not_end_has_no_verdict() {
        let check = |kind: &str| {
            let failure = serde_json::json!({ "kind": kind, "cause": "", "first_after_seconds": 0.5 });
            let tally = serde_json::json!({ "runs": 3, "accepted": 2, "operations": 40, "failures": [failure] });
            Tally::read(&tally, Verdict::Crashed).map(|tally| tally.runs)
        };
        assert_eq!(check("crashed"), Some(3));
        assert_eq!(check("stuck"), None);
    }

    #[test]
    fn words_stand_left_and_numbers_right() {
        insta::assert_snapshot!(
            row(["queue", "omnilink.toml", "rejected", "12", "3400", "0.25 s"]),
            @"queue        omnilink.toml        rejected       12       3400          0.25 s"
        );
    }
}
