//! Stored runs: one directory each, below the store's directory.
//!
//! ```text
//!  target/omnilink/3f9c1a/run.json       the input, the ending and the verdict
//!                         report.json    the report of the check
//!                         trace/         the trace
//!                         schedule       the decisions, if its schedule was controlled
//!                         script         the calls, if the harness writes them
//!                         spec/          the specification and its files, as of the run
//! ```

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use omnilink_report::Report;
use omnilink_schedule::{BadSchedule, Schedule};

use crate::execution::Controlled;
use crate::plan::{Input, Plan};
use crate::program::Ended;
use crate::race::DataRace;
use crate::script::Script;

/// The schema of `run.json`.
const SCHEMA: &str = "omnilink.run/1";

/// The file with a run's report.
const REPORT: &str = "report.json";

/// The file about a run, which completes it.
const RUN: &str = "run.json";

/// The file with a run's decisions.
pub(crate) const SCHEDULE: &str = "schedule";

/// The file with a run's calls. The harness writes it into the trace.
pub(crate) const SCRIPT: &str = "script";

/// A stored run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The schema, with its version.
    pub schema: String,
    /// Its identifier.
    pub id: String,
    /// When it started, in seconds since 1970.
    pub began: u64,
    /// Its input.
    pub plan: Plan,
    /// The command that ran.
    pub command: Vec<String>,
    /// How it ended.
    pub ended: Ended,
    /// How long it took, in seconds.
    pub took: f64,
    /// The specification: a file below `spec/`, or the name of a built-in one; `None` for a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The test that it is a run of, instead of a harness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// Which orders counted, and what operations had to see.
    #[serde(default = "linearizable", skip_serializing_if = "is_linearizable")]
    pub level: String,
    /// The verdict in one word; `None` if there was nothing to check.
    pub verdict: Option<String>,
    /// The cause, equal for runs that fail for the same reason.
    pub cause: Option<String>,
    /// How its schedule was controlled; `None` if threads ran freely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controlled: Option<Controlled>,
    /// Its first data race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<DataRace>,
    /// Where it ran.
    pub environment: Environment,
}

impl Run {
    /// How it ended, in a few words; `None` if normally and without a data race.
    pub fn failure(&self) -> Option<String> {
        if let Some(race) = self.raced() {
            return Some(race.words());
        }
        Some(match &self.ended {
            Ended::Finished => return None,
            Ended::Crashed { how, .. } => how.clone(),
            Ended::Stuck { how, .. } => format!("stuck: {how}"),
            Ended::TooLong { steps } => format!("longer than {}", omnilink_suggest::counted(*steps, "step")),
            Ended::BrokenOff { why } => format!("aborted: {why}"),
            Ended::TimedOut { .. } | Ended::Interrupted => "did not end, and was stopped".to_owned(),
        })
    }

    /// Its data race, if it did not end by another failure.
    pub fn raced(&self) -> Option<&DataRace> {
        self.race.as_ref().filter(|_| matches!(self.ended, Ended::Finished | Ended::TooLong { .. }))
    }
}

/// A test, or another program that runs as it is: it takes no input, and has no specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its working directory.
    pub directory: PathBuf,
    /// Environment variables that it may read, and that can be others when it is replayed; `None` for one that was not set.
    pub variables: Vec<(String, Option<String>)>,
}

const LINEARIZABLE: &str = "linearizable";

fn linearizable() -> String {
    LINEARIZABLE.to_owned()
}

fn is_linearizable(level: &str) -> bool {
    level == LINEARIZABLE
}

/// Files stored with a run.
#[derive(Debug, Clone, Copy)]
pub struct Artifacts<'a> {
    /// The trace. It is moved.
    pub trace: &'a Path,
    /// The report of the check.
    pub report: Option<&'a Report>,
    /// The specification's files, and their names in the store.
    pub spec: &'a [(PathBuf, String)],
    /// The decisions, if the schedule was controlled.
    pub schedule: Option<&'a Schedule>,
}

/// The machine and software that ran something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The version of OmniLink.
    pub omnilink: String,
    /// The operating system and its version.
    pub system: String,
    /// The processor.
    pub processor: String,
    /// The number of cores.
    pub cores: usize,
}

impl Environment {
    /// The environment of this process.
    pub fn here() -> Environment {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let system = format!("{} {}", read("/proc/sys/kernel/ostype"), read("/proc/sys/kernel/osrelease"));
        let processor = read("/proc/cpuinfo");
        let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
        Environment {
            omnilink: env!("CARGO_PKG_VERSION").into(),
            system: if system.trim().is_empty() { std::env::consts::OS.into() } else { system },
            processor: model.unwrap_or(std::env::consts::ARCH).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Why a run cannot be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file has invalid contents.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is invalid.
        why: String,
    },
    /// A file of a version that cannot be read.
    #[error("{}: unsupported version `{found}` (expected `{expected}`)", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The version that can be read.
        expected: &'static str,
    },
    /// No run has this name; with a hint if one has a similar name.
    #[error("no run `{0}`{1}")]
    Unknown(String, String),
    /// The store has no runs.
    #[error("no runs in `{}`", .0.display())]
    Empty(PathBuf),
    /// Several runs match.
    #[error("`{0}` is ambiguous: it matches the runs {1}")]
    Ambiguous(String, String),
}

impl StoreError {
    pub(crate) fn file(path: &Path, error: io::Error) -> StoreError {
        StoreError::File { path: path.to_owned(), error }
    }
}

/// The directory of stored runs.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store in this directory, which need not exist.
    pub fn at(directory: impl Into<PathBuf>) -> Store {
        Store { directory: directory.into() }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory of a run, existing or not.
    pub fn path(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    /// A scratch directory for this process.
    pub fn scratch(&self) -> PathBuf {
        self.directory.join(".scratch").join(std::process::id().to_string())
    }

    /// An unused identifier: the same for the same seed unless it is taken.
    pub fn free_id(&self, seed: u64) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        loop {
            let id = format!("{:06x}", random.u32(..1 << 24));
            if !self.path(&id).exists() {
                return id;
            }
        }
    }

    /// Stores a run: moves its trace here and writes the other files. If anything fails, nothing is stored.
    pub fn keep(&self, run: &Run, artifacts: &Artifacts<'_>) -> Result<PathBuf, StoreError> {
        self.write(run, artifacts).inspect_err(|_| {
            // The first error matters more than a failing cleanup.
            let _ = self.remove(&run.id);
        })
    }

    fn write(&self, run: &Run, artifacts: &Artifacts<'_>) -> Result<PathBuf, StoreError> {
        let Artifacts { trace, report, spec, schedule } = artifacts;
        let directory = self.path(&run.id);
        let make = |path: &Path| fs::create_dir_all(path).map_err(|error| StoreError::file(path, error));
        make(&directory)?;
        let kept = directory.join("trace");
        if trace.exists() {
            move_to(trace, &kept).map_err(|error| StoreError::file(&kept, error))?;
        }
        let (made, script) = (kept.join(SCRIPT), directory.join(SCRIPT));
        if made.exists() {
            fs::rename(&made, &script).map_err(|error| StoreError::file(&script, error))?;
        }
        let write = |name: &str, text: String| {
            let path = directory.join(name);
            fs::write(&path, text).map_err(|error| StoreError::file(&path, error))
        };
        make(&directory.join("spec"))?;
        for (file, name) in *spec {
            let copy = directory.join("spec").join(name);
            fs::copy(file, &copy).map_err(|error| StoreError::file(file, error))?;
        }
        if let Some(report) = report {
            write(REPORT, report.to_json())?;
        }
        if let Some(schedule) = schedule {
            write(SCHEDULE, schedule.to_string())?;
        }
        // Written last: it marks the run as complete.
        let text = serde_json::to_string_pretty(run).expect("a run is plain data");
        write(RUN, text + "\n")?;
        Ok(directory)
    }

    /// All runs, oldest first, and the errors of those that cannot be read.
    pub fn list(&self) -> Result<(Vec<Run>, Vec<StoreError>), StoreError> {
        let (mut runs, mut damaged) = (Vec::new(), Vec::new());
        for path in self.directories()? {
            match read_in_place(&path) {
                Ok(run) => runs.push(run),
                Err(error) => damaged.push(error),
            }
        }
        // Several runs may begin within one second. The file that completes a run says which of them came later.
        runs.sort_by_cached_key(|run: &Run| {
            let written = fs::metadata(self.path(&run.id).join(RUN)).and_then(|metadata| metadata.modified()).ok();
            (run.began, written, run.id.clone())
        });
        Ok((runs, damaged))
    }

    /// The directories of runs, complete or not.
    fn directories(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::file(&self.directory, error)),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| StoreError::file(&self.directory, error))?.path();
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if path.is_dir() && !is_hidden {
                paths.push(path);
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// Removes the damaged runs, and returns their number. Runs of versions that cannot be read stay: the version that
    /// wrote them reads them.
    pub fn remove_damaged(&self) -> Result<usize, StoreError> {
        let mut paths = self.directories()?;
        paths.retain(|path| matches!(read_in_place(path), Err(error) if !matches!(error, StoreError::Version { .. })));
        for path in &paths {
            fs::remove_dir_all(path).map_err(|error| StoreError::file(path, error))?;
        }
        Ok(paths.len())
    }

    /// A run by its identifier, a prefix of it, or `latest`.
    pub fn find(&self, name: &str) -> Result<(Run, PathBuf), StoreError> {
        let (mut runs, damaged) = self.list()?;
        if runs.is_empty() {
            return Err(damaged.into_iter().next().unwrap_or_else(|| StoreError::Empty(self.directory.clone())));
        }
        let hint = omnilink_suggest::aside(name, runs.iter().map(|run| run.id.as_str()).chain(["latest"]));
        let run = if name == "latest" {
            runs.pop()
        } else {
            runs.retain(|run| run.id.starts_with(name));
            if runs.len() > 1 {
                let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
                return Err(StoreError::Ambiguous(name.to_owned(), ids.join(", ")));
            }
            runs.pop()
        };
        let Some(run) = run else {
            return Err(self.error_of(name)?.unwrap_or_else(|| StoreError::Unknown(name.to_owned(), hint)));
        };
        let path = self.path(&run.id);
        Ok((run, path))
    }

    /// Why the first run whose identifier has this prefix cannot be read, if it cannot.
    fn error_of(&self, prefix: &str) -> Result<Option<StoreError>, StoreError> {
        let mut paths = self.directories()?;
        paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)));
        Ok(paths.iter().find_map(|path| read_in_place(path).err()))
    }

    /// Removes a run.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        let path = self.path(id);
        fs::remove_dir_all(&path).map_err(|error| StoreError::file(&path, error))
    }
}

impl Run {
    /// The current schema.
    pub fn schema() -> String {
        SCHEMA.to_owned()
    }

    /// The run as text: the test, if it is one, and the input.
    pub fn describe(&self) -> String {
        let input = self.plan.describe();
        self.test.as_ref().map_or(input.clone(), |test| format!("{}, {input}", test.name))
    }
}

/// A number of seconds since 1970 as a time in UTC: `2026-11-16T10:00:00Z`.
pub fn format_time(seconds: u64) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.min(LATEST));
    humantime::format_rfc3339_seconds(time).to_string()
}

/// The last second of the year 9999, the last one that has a text.
const LATEST: u64 = 253_402_300_799;

/// Moves a trace, also across file systems.
pub fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        moved => return moved,
    }
    if from.is_file() {
        fs::copy(from, to)?;
        return fs::remove_file(from);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    fs::remove_dir_all(from)
}

/// The report of the run in this directory, if it has one that can be read.
pub fn report_of(directory: &Path) -> Option<Report> {
    let text = fs::read_to_string(directory.join(REPORT)).ok()?;
    Report::from_json(&text).ok()
}

/// The schedule of the run in this directory, if it has one.
pub fn schedule_of(directory: &Path) -> Result<Option<Schedule>, StoreError> {
    let path = directory.join(SCHEDULE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::file(&path, error)),
        Ok(text) => match text.parse() {
            Ok(schedule) => Ok(Some(schedule)),
            Err(BadSchedule::Version { found, expected }) => Err(StoreError::Version { path, found, expected }),
            Err(why) => Err(StoreError::Damaged { path, why: format!("not a schedule: {why}") }),
        },
    }
}

/// The script of the run in this directory, if it has one.
pub fn script_of(directory: &Path) -> Result<Option<Script>, StoreError> {
    let path = directory.join(SCRIPT);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::file(&path, error)),
        Ok(text) => {
            text.parse().map(Some).map_err(|why| StoreError::Damaged { path, why: format!("not a script: {why}") })
        }
    }
}

/// Reads a run and checks that its directory matches its identifier.
fn read_in_place(path: &Path) -> Result<Run, StoreError> {
    let run = read(path)?;
    if path.file_name().is_none_or(|name| *name != *run.id) {
        let why = format!("its identifier is `{}`, which does not match its directory", run.id);
        return Err(StoreError::Damaged { path: path.to_owned(), why });
    }
    Ok(run)
}

/// The part of `run.json` that all its versions have.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// Reads the `run.json` of a directory.
pub(crate) fn read(directory: &Path) -> Result<Run, StoreError> {
    let path = directory.join(RUN);
    let text = fs::read_to_string(&path).map_err(|error| StoreError::file(&path, error))?;
    let damaged = |why: String| StoreError::Damaged { path: path.clone(), why };
    let parsed = |error: serde_json::Error| damaged(error.to_string());
    // Another version may have other fields, so the version is checked first.
    let Head { schema } = serde_json::from_str(&text).map_err(parsed)?;
    if schema != SCHEMA {
        return Err(StoreError::Version { path, found: schema, expected: SCHEMA });
    }
    let run: Run = serde_json::from_str(&text).map_err(parsed)?;
    // The names of an untrusted run must not lead out of its directory.
    let is_name = |text: &str| {
        let mut parts = Path::new(text).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    if !is_name(&run.id) {
        return Err(damaged(format!("`{}` is not a run identifier", run.id)));
    }
    if let Some(spec) = run.spec.as_deref().filter(|spec| !is_name(spec)) {
        return Err(damaged(format!("`{spec}` is not a specification name")));
    }
    Ok(run)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn run(id: &str, began: u64) -> Run {
        Run {
            schema: Run::schema(),
            id: id.into(),
            began,
            plan: Plan {
                seed: 7,
                threads: 2,
                operations: 100,
                perturb: Vec::new(),
                only: None,
                script: None,
                test: None,
            },
            command: vec!["target/release/harness".into()],
            ended: Ended::Finished,
            took: 0.25,
            spec: Some("Queue.tla".into()),
            test: None,
            level: linearizable(),
            verdict: Some("rejected".into()),
            cause: Some("Dequeue: elem = Head(queue) is FALSE, Queue.tla:25".into()),
            controlled: None,
            race: None,
            environment: Environment {
                omnilink: "0.1.0".into(),
                system: "Linux".into(),
                processor: "a processor".into(),
                cores: 2,
            },
        }
    }

    /// A store with two runs.
    pub(crate) fn store(directory: &Path) -> Store {
        let store = Store::at(directory.join("store"));
        for (id, began) in [("abc123", 5), ("abd456", 3)] {
            let trace = directory.join("trace");
            fs::create_dir_all(&trace).unwrap();
            fs::write(trace.join("000.seg"), [7; 100]).unwrap();
            fs::write(trace.join(SCRIPT), "omnilink-script 1\nT0 Get\n").unwrap();
            let spec = directory.join("Queue.tla");
            fs::write(&spec, "---- MODULE Queue ----\n====").unwrap();
            let spec = [(spec, "Queue.tla".into())];
            let artifacts = Artifacts { trace: &trace, report: None, spec: &spec, schedule: None };
            store.keep(&run(id, began), &artifacts).unwrap();
        }
        store
    }

    #[test]
    fn runs_are_found_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let ids: Vec<String> = store.list().unwrap().0.into_iter().map(|run| run.id).collect();
        assert_eq!(ids, ["abd456", "abc123"]);
        assert_eq!(store.find("latest").unwrap().0, run("abc123", 5));
        assert_eq!(store.find("abd").unwrap().0.id, "abd456");
        let wrong = |name: &str| store.find(name).unwrap_err().to_string();
        insta::assert_snapshot!(wrong("ab"), @"`ab` is ambiguous: it matches the runs abd456, abc123");
        insta::assert_snapshot!(wrong("x"), @"no run `x`");
        insta::assert_snapshot!(wrong("acb123"), @"no run `acb123`; did you mean `abc123`?");
        // The calls are beside the schedule, and no part of the trace.
        let script = script_of(&store.path("abd456")).unwrap().unwrap();
        assert_eq!(script.to_string(), "omnilink-script 1\nT0 Get\n");
        assert!(!store.path("abd456").join("trace").join(SCRIPT).exists());
        fs::write(store.path("abd456").join(SCRIPT), "T0 Get").unwrap();
        let damaged = script_of(&store.path("abd456")).unwrap_err().to_string();
        assert!(damaged.ends_with("not a script: line 1: expected `omnilink-script 1`, found `T0 Get`"), "{damaged}");
        store.remove("abd456").unwrap();
        assert!(script_of(&store.path("abd456")).unwrap().is_none());
        assert_eq!(store.list().unwrap().0.len(), 1);
        assert!(Store::at(directory.path().join("nowhere")).list().unwrap().0.is_empty());
    }

    #[test]
    fn a_run_of_a_test_has_no_specification() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::at(directory.path());
        let test = Test { name: "tests::lost".into(), directory: "/crate".into(), variables: Vec::new() };
        let kept = Run { spec: None, test: Some(test), plan: Plan::without_input(17), ..run("abc123", 5) };
        let nothing = directory.path().join("trace");
        let artifacts = Artifacts { trace: &nothing, report: None, spec: &[], schedule: None };
        store.keep(&kept, &artifacts).unwrap();
        assert_eq!(store.find("abc").unwrap().0, kept);
        assert_eq!(kept.describe(), "tests::lost, seed 17");
        assert_eq!(run("abc123", 5).describe(), "seed 7, 2 threads, 100 operations each");
    }

    #[test]
    fn damaged_runs_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let path = store.path("abc123").join(RUN);
        let damaged = || store.list().unwrap().1[0].to_string().rsplit(": ").next().unwrap().to_owned();
        fs::write(&path, "{").unwrap();
        assert_eq!(store.find("latest").unwrap().0.id, "abd456");
        insta::assert_snapshot!(damaged(), @"EOF while parsing an object at line 1 column 1");
        let strange = |from: &str, to: &str| {
            let text = serde_json::to_string(&run("abc123", 5)).unwrap();
            fs::write(&path, text.replace(from, to)).unwrap();
            damaged()
        };
        insta::assert_snapshot!(strange("abc123", "../.."), @"`../..` is not a run identifier");
        insta::assert_snapshot!(strange("Queue.tla", "../../Queue.tla"), @"`../../Queue.tla` is not a specification name");
        assert_eq!(store.remove_damaged().unwrap(), 1);
        assert!(!store.path("abc123").exists() && store.path("abd456").exists());
    }

    #[test]
    fn every_number_of_seconds_is_a_time() {
        let texts = [0, 1_794_783_600, u64::MAX].map(format_time);
        assert_eq!(texts, ["1970-01-01T00:00:00Z", "2026-11-15T23:00:00Z", "9999-12-31T23:59:59Z"]);
    }

    #[test]
    fn runs_of_other_versions_are_named_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let path = store.path("abc123").join(RUN);
        fs::write(&path, r#"{"schema": "omnilink.run/9", "id": {"name": "abc123"}}"#).unwrap();
        let found = |name: &str| store.find(name).unwrap_err().to_string().rsplit(": ").next().unwrap().to_owned();
        insta::assert_snapshot!(found("abc"), @"unsupported version `omnilink.run/9` (expected `omnilink.run/1`)");
        insta::assert_snapshot!(found("acb123"), @"no run `acb123`");
        assert_eq!(store.remove_damaged().unwrap(), 0);
        store.remove("abd456").unwrap();
        insta::assert_snapshot!(found("latest"), @"unsupported version `omnilink.run/9` (expected `omnilink.run/1`)");
        assert!(path.exists());
    }
}
