//! Runs that were kept: a directory each, below one directory.
//!
//! ```text
//!  target/omnilink/3f9c1a/run.json       what ran, how it ended, what came of it
//!                         report.json    what the check found
//!                         trace/         the recording
//!                         schedule       the decisions, if its schedule was controlled
//!                         spec/          the specification with all that belongs to it, as it was then
//! ```

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use schedule::Schedule;

use crate::execution::Controlled;
use crate::plan::Plan;
use crate::program::Ended;

/// The name and version of the form of `run.json`.
const SCHEMA: &str = "omnilink.run/1";

/// The file that the decisions of a run are in.
pub(crate) const SCHEDULE: &str = "schedule";

/// A run, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The name and version of this form.
    pub schema: String,
    /// How it is called.
    pub id: String,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// What was asked for.
    pub plan: Plan,
    /// The command that ran.
    pub command: Vec<String>,
    /// How it ended.
    pub ended: Ended,
    /// How long it took, in seconds.
    pub took: f64,
    /// What it was checked against, as a file below `spec/`, or the name of a built-in specification.
    pub spec: String,
    /// What ordered operations of different threads when it was checked.
    #[serde(default = "real_time", skip_serializing_if = "is_real_time")]
    pub order: report::Order,
    /// The verdict in one word; none if nothing could be checked.
    pub verdict: Option<String>,
    /// Why, the same for runs that fail for the same reason.
    pub cause: Option<String>,
    /// How its schedule was controlled; none if threads ran freely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controlled: Option<Controlled>,
    /// Where it ran.
    pub environment: Environment,
}

fn real_time() -> report::Order {
    report::Order::RealTime
}

fn is_real_time(order: &report::Order) -> bool {
    *order == report::Order::RealTime
}

/// All that is kept of a run besides what is said about it.
#[derive(Debug, Clone, Copy)]
pub struct Belongings<'a> {
    /// Where the recording is. It is moved.
    pub trace: &'a Path,
    /// What the check found.
    pub report: Option<&'a report::Report>,
    /// The specification: files, and what to call them.
    pub spec: &'a [(PathBuf, String)],
    /// The decisions, if the schedule was controlled.
    pub schedule: Option<&'a Schedule>,
}

/// Where something ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// The version of this program.
    pub omnilink: String,
    /// The operating system and its version.
    pub system: String,
    /// The processor.
    pub processor: String,
    /// How many cores.
    pub cores: usize,
}

impl Environment {
    /// This process.
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

/// Why a run cannot be kept or found.
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
    /// A file does not say what it should.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// There is no such run; another one was probably meant.
    #[error("there is no run `{0}`{1}")]
    Unknown(String, String),
    /// There is no run at all.
    #[error("no run is kept in `{}`", .0.display())]
    Empty(PathBuf),
    /// There are several.
    #[error("`{0}` may be any of the runs {1}")]
    Ambiguous(String, String),
}

impl StoreError {
    pub(crate) fn file(path: &Path, error: io::Error) -> StoreError {
        StoreError::File { path: path.to_owned(), error }
    }
}

/// The directory that runs are kept in.
#[derive(Debug, Clone)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store in this directory, which needs not be there yet.
    pub fn at(directory: impl Into<PathBuf>) -> Store {
        Store { directory: directory.into() }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where a run is, or would be.
    pub fn path(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    /// A place for what is not kept yet, of this process alone.
    pub fn scratch(&self) -> PathBuf {
        self.directory.join(".scratch").join(std::process::id().to_string())
    }

    /// A name that no run has: the same for the same seed unless it is taken.
    pub fn free_id(&self, seed: u64) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        loop {
            let id = format!("{:06x}", random.u32(..1 << 24));
            if !self.path(&id).exists() {
                return id;
            }
        }
    }

    /// Keeps a run: moves its recording here, and writes down the rest. What cannot be kept whole is not kept.
    pub fn keep(&self, run: &Run, belongings: &Belongings<'_>) -> Result<PathBuf, StoreError> {
        self.write(run, belongings).inspect_err(|_| {
            // The error is worth more than what else may go wrong.
            let _ = self.remove(&run.id);
        })
    }

    fn write(&self, run: &Run, belongings: &Belongings<'_>) -> Result<PathBuf, StoreError> {
        let Belongings { trace, report, spec, schedule } = belongings;
        let directory = self.path(&run.id);
        let make = |path: &Path| fs::create_dir_all(path).map_err(|error| StoreError::file(path, error));
        make(&directory)?;
        let kept = directory.join("trace");
        if trace.exists() {
            move_to(trace, &kept).map_err(|error| StoreError::file(&kept, error))?;
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
            write("report.json", report.to_json())?;
        }
        if let Some(schedule) = schedule {
            write(SCHEDULE, schedule.to_string())?;
        }
        // What comes last says that all of it is there.
        let text = serde_json::to_string_pretty(run).expect("a run is plain data");
        write("run.json", text + "\n")?;
        Ok(directory)
    }

    /// All runs, the last one last, and what is wrong with those that cannot be read.
    pub fn list(&self) -> Result<(Vec<Run>, Vec<StoreError>), StoreError> {
        let (mut runs, mut damaged) = (Vec::new(), Vec::new());
        for path in self.directories()? {
            match read_in_place(&path) {
                Ok(run) => runs.push(run),
                Err(error) => damaged.push(error),
            }
        }
        runs.sort_by(|a: &Run, b: &Run| (a.began, &a.id).cmp(&(b.began, &b.id)));
        Ok((runs, damaged))
    }

    /// The directories that runs are in, or were to be.
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

    /// Removes what cannot be read, and says how many there were.
    pub fn remove_damaged(&self) -> Result<usize, StoreError> {
        let mut paths = self.directories()?;
        paths.retain(|path| read_in_place(path).is_err());
        for path in &paths {
            fs::remove_dir_all(path).map_err(|error| StoreError::file(path, error))?;
        }
        Ok(paths.len())
    }

    /// A run by its name, the beginning of its name, or `latest`.
    pub fn find(&self, name: &str) -> Result<(Run, PathBuf), StoreError> {
        let (mut runs, _) = self.list()?;
        if runs.is_empty() {
            return Err(StoreError::Empty(self.directory.clone()));
        }
        let hint = suggest::aside(name, runs.iter().map(|run| run.id.as_str()).chain(["latest"]));
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
        let run = run.ok_or_else(|| StoreError::Unknown(name.to_owned(), hint))?;
        let path = self.path(&run.id);
        Ok((run, path))
    }

    /// Removes a run.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        let path = self.path(id);
        fs::remove_dir_all(&path).map_err(|error| StoreError::file(&path, error))
    }
}

impl Run {
    /// What every run has.
    pub fn schema() -> String {
        SCHEMA.to_owned()
    }
}

/// Moves a recording, also to another file system.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
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

/// The schedule of a run that is kept in this directory, if it has one.
pub fn schedule_of(directory: &Path) -> Result<Option<Schedule>, StoreError> {
    let path = directory.join(SCHEDULE);
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::file(&path, error)),
        Ok(text) => match text.parse() {
            Ok(schedule) => Ok(Some(schedule)),
            Err(why) => Err(StoreError::Damaged { path, why: format!("this is no schedule: {why}") }),
        },
    }
}

/// Reads a run where it belongs.
fn read_in_place(path: &Path) -> Result<Run, StoreError> {
    let run = read(path)?;
    if path.file_name().is_none_or(|name| *name != *run.id) {
        let why = format!("it says that it is the run `{}`, which belongs elsewhere", run.id);
        return Err(StoreError::Damaged { path: path.to_owned(), why });
    }
    Ok(run)
}

/// Reads what a directory says about its run.
pub(crate) fn read(directory: &Path) -> Result<Run, StoreError> {
    let path = directory.join("run.json");
    let text = fs::read_to_string(&path).map_err(|error| StoreError::file(&path, error))?;
    let damaged = |why: String| StoreError::Damaged { path: path.clone(), why };
    let run: Run = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    if run.schema != SCHEMA {
        return Err(damaged(format!("it is of the form `{}`, and `{SCHEMA}` is known", run.schema)));
    }
    // Who looks at somebody else's run must not be led out of it.
    let is_name = |text: &str| {
        let mut parts = Path::new(text).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    if !is_name(&run.id) {
        return Err(damaged(format!("`{}` is no name of a run", run.id)));
    }
    if !is_name(&run.spec) {
        return Err(damaged(format!("`{}` is no name of a specification", run.spec)));
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
            plan: Plan { seed: 7, threads: 2, operations: 100, perturb: Vec::new() },
            command: vec!["target/release/harness".into()],
            ended: Ended::Finished,
            took: 0.25,
            spec: "Queue.tla".into(),
            order: report::Order::RealTime,
            verdict: Some("rejected".into()),
            cause: Some("Dequeue: elem = Head(queue) is FALSE, Queue.tla:25".into()),
            controlled: None,
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
            let spec = directory.join("Queue.tla");
            fs::write(&spec, "---- MODULE Queue ----\n====").unwrap();
            let spec = [(spec, "Queue.tla".into())];
            let belongings = Belongings { trace: &trace, report: None, spec: &spec, schedule: None };
            store.keep(&run(id, began), &belongings).unwrap();
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
        insta::assert_snapshot!(wrong("ab"), @"`ab` may be any of the runs abd456, abc123");
        insta::assert_snapshot!(wrong("x"), @"there is no run `x`");
        insta::assert_snapshot!(wrong("acb123"), @"there is no run `acb123`; did you mean `abc123`?");
        store.remove("abd456").unwrap();
        assert_eq!(store.list().unwrap().0.len(), 1);
        assert!(Store::at(directory.path().join("nowhere")).list().unwrap().0.is_empty());
    }

    #[test]
    fn what_is_not_a_run_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let store = store(directory.path());
        let path = store.path("abc123").join("run.json");
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("run/1", "run/9")).unwrap();
        let damaged = || store.list().unwrap().1[0].to_string().rsplit(": ").next().unwrap().to_owned();
        insta::assert_snapshot!(damaged(), @"it is of the form `omnilink.run/9`, and `omnilink.run/1` is known");
        fs::write(&path, "{").unwrap();
        assert_eq!(store.find("latest").unwrap().0.id, "abd456");
        let strange = |from: &str, to: &str| {
            let text = serde_json::to_string(&run("abc123", 5)).unwrap();
            fs::write(&path, text.replace(from, to)).unwrap();
            damaged()
        };
        insta::assert_snapshot!(strange("abc123", "../.."), @"`../..` is no name of a run");
        insta::assert_snapshot!(strange("Queue.tla", "../../Queue.tla"), @"`../../Queue.tla` is no name of a specification");
        assert_eq!(store.remove_damaged().unwrap(), 1);
        assert!(!store.path("abc123").exists() && store.path("abd456").exists());
    }
}
