//! Tests of simulated clusters: clients record what they called and what came back, and each seed is checked.
//!
//! A deterministic simulator such as turmoil, madsim or shuttle runs a whole cluster in one thread. This module depends
//! on none of them. It needs a seed in, and calls out:
//!
//! ```
//! # extern crate omnilink;
//! use omnilink::Action;
//! use omnilink::sim::History;
//!
//! static PUT: Action = Action::new("put", &["key", "value"], &[]);
//! static GET: Action = Action::new("get", &["key"], &["value"]);
//!
//! #[omnilink::sim(spec = "kv", seeds = 200)]
//! fn survives_a_partition(seed: u64, history: History) {
//!     // The simulator gets the seed, and each simulated client one of these:
//!     let mut client = history.client("c1");
//!     let call = client.call(&PUT, (1, 7));
//!     // let stored = cluster.put(1, 7).await;
//!     let stored: Result<(), &str> = Err("timeout");
//!     match stored {
//!         Ok(()) => call.done(()),
//!         Err("refused") => call.failed(), // It had no effect.
//!         Err(_) => call.unknown(),        // It may have, or may yet.
//!     }
//!     let partition = history.fault("partition", &["n1"]);
//!     let call = client.call(&GET, (1,));
//!     call.done((7,));
//!     partition.end();
//! }
//! # // The attribute has no effect in a documentation test, so the test is called by hand.
//! # let simulation = omnilink::sim::Simulation::new("doc", &std::env::temp_dir().to_string_lossy());
//! # omnilink::sim::Simulation { spec: Some("kv".into()), ..simulation }.run(survives_a_partition_by_hand);
//! # fn survives_a_partition_by_hand(_seed: u64, history: History) {
//! #     let mut client = history.client("c1");
//! #     client.call(&PUT, (1, 7)).unknown();
//! #     client.call(&GET, (1,)).done((7,));
//! # }
//! ```
//!
//! Time is a counter. In one thread, the order in which calls and returns execute is their real order; clocks of simulated
//! hosts are skewed or coarse. A call may live across `.await`. If it is dropped, for example with the host that crashed,
//! its outcome is unknown.
//!
//! The argument `log = "specs/Raft.tla"` also checks the nodes, by the events that they record with [`History::event`]: the
//! mapping is `[log]` in the settings beside the module. The argument `isolation = "serializable"`, instead of `spec`, is
//! for stores with transactions, which clients record with [`History::session`].
//!
//! Seeds run on all cores, each alone in its thread. Seeds that failed are kept in `omnilink-regressions/` and tried first.
//! `OMNILINK_SEED=17` runs one seed, and `OMNILINK_RUNS` sets their number. Some seeds run twice: if the second run differs,
//! the test fails with the first operation that differs, because a seed that does not repeat is no evidence.

mod run;
mod transactions;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use omnilink_explore::Plan;
use omnilink_history::Event;
use omnilink_history::format::binary::SegmentWriter;
use omnilink_history::format::json::Json;
use omnilink_judge::input::Kind;
#[cfg(feature = "tla")]
use omnilink_judge::{Case, Unlimited};
use omnilink_judge::{Judge, Recording};
use omnilink_record::{CounterClock, Process, Recorder};
use omnilink_report::{Report, Verdict};

pub use self::run::Simulation;
pub use self::transactions::{Session, Transaction};
use crate::testing::{Against, Test};
use crate::transactions::written;

/// A client of the simulated cluster: it makes one call after the other.
pub type Client = Process;

/// The history of one run.
#[derive(Clone, Debug)]
pub struct History(Arc<Recorded>);

#[derive(Debug)]
struct Recorded {
    seed: u64,
    directory: PathBuf,
    recorder: Recorder,
    clock: CounterClock,
    faults: Mutex<Vec<Event>>,
    /// The events of nodes, a line each.
    log: Mutex<String>,
    /// The transactions, a line each.
    transactions: Mutex<String>,
    sessions: Mutex<BTreeSet<String>>,
    /// The last value that a session drew.
    fresh: AtomicI64,
    /// True if nothing else removes the directory.
    is_own: bool,
}

/// Something that goes wrong in the simulated cluster, from now until [`Fault::end`]; without it, to the end of the run.
#[derive(Debug)]
#[must_use = "a fault lasts until its end"]
pub struct Fault {
    recorded: Arc<Recorded>,
    index: usize,
}

/// The file of the faults, beside the segments of the clients.
const FAULTS: &str = "faults.seg";

/// The file of the events, in a directory of its own.
const LOG: &str = "nodes.ndjson";

/// The field of the node in the line of an event.
const NODE: &str = "node";

impl History {
    /// A history for one run outside of `#[omnilink::sim]`, for [`History::check`].
    ///
    /// # Panics
    ///
    /// If the temporary directory cannot be written to.
    pub fn new(seed: u64) -> History {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("omnilink-sim-{}-{number}", std::process::id()));
        // Left by an earlier process of the same number.
        let _ = fs::remove_dir_all(&directory);
        History::at(seed, directory, true).unwrap_or_else(|error| panic!("cannot record: {error}"))
    }

    fn at(seed: u64, directory: PathBuf, is_own: bool) -> io::Result<History> {
        let clock = CounterClock::new();
        let recorder = Recorder::with_clock(&directory, clock.clone())?;
        Ok(History(Arc::new(Recorded {
            seed,
            directory,
            recorder,
            clock,
            faults: Mutex::default(),
            log: Mutex::default(),
            transactions: Mutex::default(),
            sessions: Mutex::default(),
            fresh: AtomicI64::new(0),
            is_own,
        })))
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// A new client. If the name is taken, for example by the client of a host before it crashed, `+1` and so on is
    /// appended.
    ///
    /// # Panics
    ///
    /// If its file cannot be created, or the name has more than 240 bytes.
    pub fn client(&self, name: &str) -> Client {
        let mut full = name.to_owned();
        for count in 1.. {
            match self.0.recorder.process(&full) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => full = format!("{name}+{count}"),
                process => return process.unwrap_or_else(|error| panic!("client `{full}`: {error}")),
            }
        }
        unreachable!("one of all names is free")
    }

    /// A new session of a client of a store with transactions. If the name is taken, `+1` and so on is appended.
    pub fn session(&self, name: &str) -> Session {
        let mut sessions = locked(&self.0.sessions);
        let mut names = iter::once(name.to_owned()).chain((1..).map(|count| format!("{name}+{count}")));
        let name = names.find(|name| sessions.insert(name.clone())).expect("one of all names is free");
        Session::new(self.0.clone(), written(&*name))
    }

    /// Records an event of a node for the check of the log. Its fields are a JSON object, such as
    /// `serde_json::json!({"event": "Vote", "term": 3})`, and the field `node` is added. Events are in the order of the calls.
    ///
    /// # Panics
    ///
    /// If the fields are not an object of JSON, or have `node` among them.
    #[track_caller]
    pub fn event(&self, node: &str, fields: impl Display) {
        match event_line(node, &fields.to_string()) {
            Ok(line) => *locked(&self.0.log) += &line,
            Err(message) => panic!("event of `{node}`: {message}"),
        }
    }

    /// Records that a fault begins now, at these nodes or, if there are none, everywhere. It is shown above the timeline, and
    /// has no influence on the verdict.
    pub fn fault(&self, name: &str, nodes: &[&str]) -> Fault {
        let event = Event {
            name: name.into(),
            start: self.0.clock.tick(),
            end: None,
            nodes: nodes.iter().map(|node| (*node).into()).collect(),
            note: String::new(),
        };
        let mut faults = locked(&self.0.faults);
        faults.push(event);
        Fault { recorded: self.0.clone(), index: faults.len() - 1 }
    }

    /// Checks the calls of the clients. Call it when all clients are dropped; `#[omnilink::sim]` does it after the function
    /// has returned.
    ///
    /// # Panics
    ///
    /// If the run is not accepted, with the explanation, its seed and its page; or if it could not be decided or checked.
    pub fn check(&self, spec: impl Into<Against>) {
        let test = self.test(spec);
        let written = self.write_faults().map_err(|error| format!("{}: cannot write the trace: {error}", test.name));
        written.unwrap_or_else(|message| panic!("{message}"));
        self.expect_accepted(&test, &test.judge(), &self.0.directory, None);
    }

    /// Checks the transactions of the sessions: the level is a name as of `omnilink check --isolation`.
    ///
    /// # Panics
    ///
    /// As [`History::check`].
    pub fn check_isolation(&self, level: &'static str) {
        let test = self.test(level);
        let plan = Plan::without_input(self.seed());
        let transactions = locked(&self.0.transactions).clone();
        let count = test.check_transactions(&plan, test.isolation(), &transactions, &locked(&self.0.faults));
        let count = count.unwrap_or_else(|message| panic!("{message}"));
        assert!(count > 0, "{}: nothing was recorded, so nothing was checked", test.name);
    }

    /// Checks the events of the nodes against a TLA+ module, by its path from the manifest. `[log]` in the `omnilink.toml`
    /// beside the module maps events to steps.
    ///
    /// # Panics
    ///
    /// As [`History::check`].
    pub fn check_log(&self, module: &'static str) {
        let test = self.test(module);
        let judge = judge_of_log(&test);
        let (directory, log) = (log_beside(&self.0.directory), locked(&self.0.log).clone());
        assert!(!log.is_empty(), "{}: nothing was recorded, so nothing was checked", test.name);
        let written = write_log(&directory, &log);
        written.unwrap_or_else(|error| panic!("{}: cannot write the log: {error}", test.name));
        self.expect_accepted(&test, &judge, &directory, Some(Kind::Log));
    }

    /// The test that this run belongs to.
    fn test(&self, spec: impl Into<Against>) -> Test {
        let thread = thread::current();
        let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| ".".into());
        Test::new(thread.name().unwrap_or("simulation").to_owned().leak(), &manifest, spec)
    }

    fn expect_accepted(&self, test: &Test, judge: &Judge, trace: &Path, kind: Option<Kind>) {
        let plan = Plan::without_input(self.seed());
        let report = test.decide(judge, &plan, &Recording::at(trace, kind));
        let report: Report = report.unwrap_or_else(|message| panic!("{message}"));
        assert!(report.history.operations > Some(0), "{}: nothing was recorded, so nothing was checked", test.name);
        if !matches!(report.verdict, Verdict::Accepted) {
            panic!("{}", test.explain(judge, &plan, trace, report));
        }
    }

    /// Writes the faults beside the operations.
    fn write_faults(&self) -> io::Result<()> {
        let faults = locked(&self.0.faults);
        if faults.is_empty() {
            return Ok(());
        }
        let mut segment = SegmentWriter::new(BufWriter::new(File::create(self.0.directory.join(FAULTS))?), "faults")
            .map_err(io::Error::other)?;
        for fault in &*faults {
            segment.event(fault).map_err(io::Error::other)?;
        }
        segment.close().map_err(io::Error::other)?.flush()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if self.is_own {
            // The run is over, and a directory that stays does no harm.
            let _ = fs::remove_dir_all(&self.directory);
            let _ = fs::remove_dir_all(log_beside(&self.directory));
        }
    }
}

impl Fault {
    /// Records that the fault ends now.
    pub fn end(self) {
        let now = self.recorded.clock.tick();
        locked(&self.recorded.faults)[self.index].end = Some(now);
    }
}

/// A simulation that panicked has recorded whole lines.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The line of an event in the log.
fn event_line(node: &str, fields: &str) -> Result<String, String> {
    let json =
        Json::parse(fields).map_err(|problem| format!("column {}: {}: {fields}", problem.at + 1, problem.message))?;
    if !matches!(json, Json::Object(_)) {
        return Err(format!("expected an object of JSON, found {}: {fields}", json.kind()));
    }
    if json.field(NODE).is_some() {
        return Err(format!("the field `{NODE}` is added by `event`: {fields}"));
    }
    let fields = fields.trim_start().strip_prefix('{').expect("an object begins with a brace").trim_start();
    let comma = if fields.starts_with('}') { "" } else { "," };
    // In JSON, these are between values only.
    let fields = fields.trim_end().replace(['\n', '\r'], " ");
    Ok(format!("{{\"{NODE}\":{}{comma}{fields}\n", written(node)))
}

/// The directory of the log of a run, beside that of its trace.
fn log_beside(trace: &Path) -> PathBuf {
    trace.with_extension("log")
}

/// Writes a log into a directory of its own.
fn write_log(directory: &Path, log: &str) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(directory.join(LOG), log)
}

/// The judge of a log.
///
/// # Panics
///
/// If the specification cannot be read, or has no mapping.
fn judge_of_log(test: &Test) -> Judge {
    let judge = test.judge();
    assert!(
        takes_logs(&judge),
        "{}: expected a TLA+ module with `[log]` in the `omnilink.toml` beside it, found `{}`",
        test.name,
        test.spec.name()
    );
    judge
}

/// True if the settings of the specification map the lines of logs.
#[cfg(feature = "tla")]
fn takes_logs(judge: &Judge) -> bool {
    let recording = Recording::at("-", Some(Kind::Log));
    let case = Case { recording: &recording, label: "", witness: None, limits: &Unlimited };
    judge.tla().is_some_and(|module| module.takes_log(&case))
}

#[cfg(not(feature = "tla"))]
fn takes_logs(_: &Judge) -> bool {
    false
}
