//! The ledger of a store, `campaigns.jsonl`: a line for each campaign, so that later campaigns can identify new causes.
//!
//! Lines are only appended, each in one write. A line that a crash cut off is reported and left out.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use omnilink_explore::{Coverage, Store};
use serde::{Deserialize, Serialize};

use crate::causes::{Cause, KnownCause};

/// The schema of a line.
const SCHEMA: &str = "omnilink.campaign/1";

/// The scheduling of a monitored system.
pub const MONITORED: &str = "monitored";

/// A campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The schema, with its version.
    pub schema: String,
    /// The program, its specification and the options.
    #[serde(flatten)]
    pub campaign: Described,
    /// The number of runs.
    pub runs: u64,
    /// The number of operations of all runs.
    pub operations: u64,
    /// The runs that failed, by cause.
    pub failures: Vec<Failure>,
    /// Operations that could have happened but did not.
    pub never: Vec<String>,
    /// The observed operations and overlaps.
    pub coverage: Coverage,
}

/// The program and the options of a campaign, and its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// When it ended, in seconds since 1970.
    pub at: u64,
    /// The commit of the program, with `+` if the work tree had changes.
    pub commit: Option<String>,
    /// The name of the program.
    pub object: String,
    /// The specification.
    pub spec: String,
    /// The scheduling.
    pub how: String,
    /// The seed.
    pub seed: u64,
    /// The time that it took.
    pub seconds: f64,
    /// Whether to stop at its first failure.
    pub stops_at_first: bool,
    /// Whether all schedules were explored.
    pub is_complete: bool,
    /// The number of new schedules among the last runs, and that of the last runs, if schedules were drawn.
    pub novelty: Option<(u64, u64)>,
}

/// The runs of a campaign that failed for one reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure.
    pub kind: String,
    /// The cause.
    pub cause: String,
    /// The place of the conflicting accesses, if it is known.
    pub meets: Option<String>,
    /// The number of runs.
    pub runs: u64,
    /// The identifier of the first one.
    pub kept_as: Option<String>,
    /// The known failure that it is.
    pub known: Option<KnownCause>,
}

impl Entry {
    pub(crate) fn schema() -> String {
        SCHEMA.to_owned()
    }

    /// The findings of a monitor in an interval: operations are its runs, and violations by cause are those that failed.
    pub fn monitored(campaign: Described, checked: u64, violations: impl IntoIterator<Item = (String, u64)>) -> Entry {
        let failure = |(cause, runs)| Failure {
            kind: "rejected".to_owned(),
            cause,
            meets: None,
            runs,
            kept_as: None,
            known: None,
        };
        Entry {
            schema: Entry::schema(),
            campaign,
            runs: checked,
            operations: checked,
            failures: violations.into_iter().map(failure).collect(),
            never: Vec::new(),
            coverage: Coverage::default(),
        }
    }

    /// Whether runs of this campaign failed for this cause.
    pub(crate) fn has(&self, cause: &Cause) -> bool {
        let is_it = |failure: &Failure| {
            failure.kind == cause.kind.word() && failure.cause == cause.cause && failure.meets == cause.meets
        };
        self.failures.iter().any(is_it)
    }
}

/// The ledger of a store.
#[derive(Debug)]
pub struct Ledger(PathBuf);

impl Ledger {
    /// The ledger of this store.
    pub fn of(store: &Store) -> Ledger {
        Ledger(store.directory().join("campaigns.jsonl"))
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// All campaigns, oldest first, and the numbers of the lines that cannot be read.
    pub fn read(&self) -> io::Result<(Vec<Entry>, Vec<usize>)> {
        let (mut entries, mut damaged) = (Vec::new(), Vec::new());
        let file = match File::open(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((entries, damaged)),
            file => file?,
        };
        for (line, number) in BufReader::new(file).split(b'\n').zip(1..) {
            match serde_json::from_slice::<Entry>(&line?) {
                Ok(entry) if entry.schema == SCHEMA => entries.push(entry),
                _ => damaged.push(number),
            }
        }
        entries.sort_by_key(|entry| entry.campaign.at);
        Ok((entries, damaged))
    }

    /// Appends a campaign.
    pub fn append(&self, entry: &Entry) -> io::Result<()> {
        if let Some(directory) = self.0.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let mut line = serde_json::to_vec(entry).expect("an entry is plain data");
        line.push(b'\n');
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(&self.0)?;
        // A line that a crash cut off must not swallow this one.
        if ends_within_a_line(&mut file)? {
            line.insert(0, b'\n');
        }
        file.write_all(&line)
    }
}

fn ends_within_a_line(file: &mut File) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last != [b'\n'])
}

/// The commit that is checked out in a directory, with `+` if files differ from it; `None` outside of a repository.
pub fn commit_of(directory: &Path) -> Option<String> {
    let commit = git(directory, &["rev-parse", "--short=10", "HEAD"])?;
    let changes = git(directory, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { commit + "+" })
}

/// The time of a commit, by any name that git knows.
pub(crate) fn time_of_commit(directory: &Path, name: &str) -> Option<u64> {
    // A name must not be taken for an option.
    let name = (!name.starts_with('-')).then_some(name)?;
    git(directory, &["log", "-1", "--format=%ct", name, "--"])?.parse().ok()
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(directory).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A campaign of 1,000 runs in which this many failed for this cause.
    pub(crate) fn entry(at: u64, commit: &str, object: &str, failed: u64, cause: &str) -> Entry {
        let failure = Failure {
            kind: "rejected".into(),
            cause: cause.into(),
            meets: None,
            runs: failed,
            kept_as: Some("34f9ca".into()),
            known: None,
        };
        Entry {
            schema: Entry::schema(),
            campaign: Described {
                at,
                commit: Some(commit.into()),
                object: object.into(),
                spec: "Queue.tla".into(),
                how: "controlled, random".into(),
                seed: 1,
                seconds: 2.0,
                stops_at_first: false,
                is_complete: false,
                novelty: Some((3, 1000)),
            },
            runs: 1000,
            operations: 12_000,
            failures: if failed > 0 { vec![failure] } else { Vec::new() },
            never: vec!["Len".into()],
            coverage: Coverage::default(),
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::of(&Store::at(directory.path().join("store")));
        assert_eq!(ledger.read().unwrap(), (Vec::new(), Vec::new()));
        let (first, second) = (entry(5, "a", "ring", 0, ""), entry(6, "b", "ring", 2, "Dequeue"));
        ledger.append(&first).unwrap();
        let whole = std::fs::read(ledger.path()).unwrap();
        std::fs::write(ledger.path(), [&whole[..], &whole[..40]].concat()).unwrap();
        ledger.append(&second).unwrap();
        assert_eq!(ledger.read().unwrap(), (vec![first, second], vec![2]));
    }

    #[test]
    fn names_of_commits_are_not_options() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(time_of_commit(here, "--output=/tmp/stolen"), None);
        assert_eq!(time_of_commit(here, "no such commit"), None);
    }
}
