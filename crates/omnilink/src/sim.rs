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
//! # omnilink::sim::Simulation::new("doc", &std::env::temp_dir().to_string_lossy(), "kv").run(survives_a_partition_by_hand);
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
//! Seeds run on all cores, each alone in its thread. Seeds that failed are kept in `omnilink-regressions/` and tried first.
//! `OMNILINK_SEED=17` runs one seed, and `OMNILINK_RUNS` sets their number. Some seeds run twice: if the second run differs,
//! the test fails with the first operation that differs, because a seed that does not repeat is no evidence.

use std::any::Any;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use omnilink_explore::{Input, Plan};
use omnilink_history::format::binary::SegmentWriter;
use omnilink_history::{Call, Event, History as Operations};
use omnilink_judge::{Failed, Judge, Recording};
use omnilink_record::{CounterClock, Process, Recorder};
use omnilink_report::{Report, Verdict};

use crate::testing::{self, Against, AtLevel, Test};

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
        Ok(History(Arc::new(Recorded { seed, directory, recorder, clock, faults: Mutex::default(), is_own })))
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
        let mut faults = self.0.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(event);
        Fault { recorded: self.0.clone(), index: faults.len() - 1 }
    }

    /// Checks the run. Call it when all clients are dropped; `#[omnilink::sim]` does it after the function has returned.
    ///
    /// # Panics
    ///
    /// If the run is not accepted, with the explanation, its seed and its page; or if it could not be decided or checked.
    pub fn check(&self, spec: impl Into<Against>) {
        let thread = thread::current();
        let name = thread.name().unwrap_or("simulation");
        let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| ".".into());
        let test = Test::new(name.to_owned().leak(), &manifest, spec);
        let judge = test.judge();
        let written = self.write_faults().map_err(|error| format!("{name}: cannot write the trace: {error}"));
        let plan = Plan::without_input(self.seed());
        let report = written.and_then(|()| test.decide(&judge, &plan, &Recording::at(&self.0.directory, None)));
        let report = report.unwrap_or_else(|message| panic!("{message}"));
        assert!(report.history.operations > Some(0), "{name}: nothing was recorded, so nothing was checked");
        if !matches!(report.verdict, Verdict::Accepted) {
            panic!("{}", test.explain(&judge, &plan, &self.0.directory, report));
        }
    }

    /// Writes the faults beside the operations.
    fn write_faults(&self) -> io::Result<()> {
        let faults = self.0.faults.lock().unwrap_or_else(PoisonError::into_inner);
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
        }
    }
}

impl Fault {
    /// Records that the fault ends now.
    pub fn end(self) {
        let now = self.recorded.clock.tick();
        self.recorded.faults.lock().unwrap_or_else(PoisonError::into_inner)[self.index].end = Some(now);
    }
}

/// The implementation of `#[omnilink::sim]`: one run for each seed.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The name of the test, with its modules.
    pub name: &'static str,
    /// The directory of the manifest.
    pub manifest: PathBuf,
    /// The specification.
    pub spec: Against,
    /// The orders that count, and the operations that an operation has to see.
    pub level: AtLevel,
    /// The number of seeds, from 0 on; `OMNILINK_RUNS` overrides it.
    pub seeds: u64,
    /// The number of threads, each with a seed of its own; all cores if 0.
    pub jobs: usize,
    /// Of this many seeds, the first runs twice; none if 0.
    pub repeat: usize,
}

/// Why a seed failed.
enum Failure {
    /// The function panicked.
    Panic(Box<dyn Any + Send>),
    /// The run is not accepted.
    NotAccepted { trace: PathBuf, report: Box<Report> },
    /// The run could not be checked, or not be repeated.
    Other(String),
}

/// The number of runs that were accepted, and of their parts.
#[derive(Debug, Default)]
struct Totals {
    runs: u64,
    operations: u64,
    unknown: u64,
    faults: u64,
    repeated: u64,
}

impl Simulation {
    /// A test with default options.
    pub fn new(name: &'static str, manifest: &str, spec: impl Into<Against>) -> Simulation {
        let (manifest, level) = (manifest.into(), AtLevel::default());
        Simulation { name, manifest, spec: spec.into(), level, seeds: 100, jobs: 0, repeat: 16 }
    }

    /// Runs the function with each seed, and checks what its clients recorded.
    ///
    /// # Panics
    ///
    /// If a run is not accepted, with the explanation of the first such seed; if it could not be decided or checked, or
    /// does not repeat, with the reason; or if the function panics.
    #[expect(clippy::print_stdout, clippy::print_stderr, reason = "the test harness shows what a test prints")]
    pub fn run(&self, simulate: impl Fn(u64, History) + Sync) {
        let (manifest, level) = (self.manifest.clone(), self.level.clone());
        let test = Test { manifest, level, ..Test::new(self.name, "", self.spec.clone()) };
        let judge = test.judge();
        let plans = match testing::given("OMNILINK_SEED") {
            Some(seed) => vec![Plan::without_input(seed)],
            None => {
                let seeds = testing::given("OMNILINK_RUNS").unwrap_or(self.seeds);
                test.remembered().into_iter().chain((0..seeds).map(Plan::without_input)).collect()
            }
        };
        let began = Instant::now();
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let jobs = if self.jobs == 0 { cores } else { self.jobs };
        let (next, totals, failure) = (AtomicUsize::new(0), Mutex::new(Totals::default()), Mutex::new(None));
        let work = || {
            while failure.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(plan) = plans.get(at) else { return };
                let is_twice = self.repeat > 0 && at % self.repeat == 0;
                if let Err(why) = self.seed(&test, &judge, plan, is_twice, &simulate, &totals) {
                    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                    // Of several seeds that fail at the same time, the first in order counts.
                    if failure.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
                        *failure = Some((at, why));
                    }
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..jobs.min(plans.len()) {
                scope.spawn(work);
            }
        });
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failed = failure.map(|(at, why)| (&plans[at], why));
        let message = match failed {
            None => None,
            Some((plan, Failure::NotAccepted { trace, report })) => {
                let why = test.explain(&judge, plan, &trace, *report);
                Some(format!("{why}OMNILINK_SEED={} repeats it\n", plan.seed))
            }
            Some((_, Failure::Other(message))) => Some(message),
            Some((plan, Failure::Panic(panic))) => {
                // The panic matters more than whether its seed could be stored.
                let _ = test.remember(plan, "it panicked");
                eprintln!("{} ({}): OMNILINK_SEED={} repeats it", self.name, plan.describe(), plan.seed);
                resume_unwind(panic)
            }
        };
        let _ = fs::remove_dir_all(test.scratch());
        if let Some(message) = message {
            panic!("{message}");
        }
        let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert!(totals.operations > 0, "{}: nothing was recorded, so nothing was checked", self.name);
        println!("{}: {totals}, {:.0} seeds/s", self.name, totals.runs as f64 / began.elapsed().as_secs_f64());
    }

    /// Runs and checks one seed.
    fn seed(
        &self,
        test: &Test,
        judge: &Judge,
        plan: &Plan,
        is_twice: bool,
        simulate: &(impl Fn(u64, History) + Sync),
        totals: &Mutex<Totals>,
    ) -> Result<(), Failure> {
        let label = format!("{} ({})", self.name, plan.describe());
        let trace = test.scratch().join(plan.seed.to_string());
        let faults = record(plan.seed, &trace, &label, simulate)?;
        let recording = Recording::at(&trace, None);
        let unread = |failed: Failed| Failure::Other(format!("{label}: {}", failed.message()));
        if is_twice {
            let again = trace.with_extension("again");
            record(plan.seed, &again, &label, simulate)?;
            let second = Recording::at(&again, None);
            let difference = difference(recording.history().map_err(unread)?, second.history().map_err(unread)?);
            let _ = fs::remove_dir_all(&again);
            if let Some(difference) = difference {
                return Err(Failure::Other(format!("{label}: {difference}")));
            }
        }
        let report = test.decide(judge, plan, &recording).map_err(Failure::Other)?;
        if !matches!(report.verdict, Verdict::Accepted) {
            return Err(Failure::NotAccepted { trace, report: Box::new(report) });
        }
        let history = recording.history().map_err(unread)?;
        let unknown = history.ops().iter().filter(|op| op.interval.is_unfinished()).count();
        let _ = fs::remove_dir_all(&trace);
        let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.runs += 1;
        totals.operations += report.history.operations.unwrap_or_default();
        totals.unknown += unknown as u64;
        totals.faults += faults;
        totals.repeated += u64::from(is_twice);
        Ok(())
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { runs, operations, unknown, faults, repeated } = self;
        write!(f, "{runs} seeds accepted, {operations} operations, {unknown} of unknown outcome, {faults} faults")?;
        write!(f, ", {repeated} seeds repeated")
    }
}

/// Runs a seed, and returns its number of faults.
fn record(seed: u64, trace: &Path, label: &str, simulate: &(impl Fn(u64, History) + Sync)) -> Result<u64, Failure> {
    let cannot = |error: io::Error| Failure::Other(format!("{label}: cannot write the trace: {error}"));
    let _ = fs::remove_dir_all(trace);
    let history = History::at(seed, trace.to_owned(), false).map_err(cannot)?;
    catch_unwind(AssertUnwindSafe(|| simulate(seed, history.clone()))).map_err(Failure::Panic)?;
    history.write_faults().map_err(cannot)?;
    let faults = history.0.faults.lock().unwrap_or_else(PoisonError::into_inner).len();
    Ok(faults as u64)
}

/// The first operation that differs between two runs of a seed, as the end of a sentence.
fn difference(first: &Operations<Call>, second: &Operations<Call>) -> Option<String> {
    let pairs = first.ops().iter().zip(second.ops());
    let same = pairs.take_while(|(one, other)| one == other && first.name(one.id) == second.name(other.id)).count();
    if same == first.ops().len() && same == second.ops().len() {
        return None;
    }
    let shown = |run: &Operations<Call>| {
        let op = run.ops().get(same);
        op.map_or("nothing".to_owned(), |op| format!("{} {} {}", run.name(op.id), op.call, op.interval))
    };
    let before = match first.ops()[..same].last() {
        Some(last) => format!("after {} {}", first.name(last.id), last.call),
        None => "at the start".to_owned(),
    };
    Some(format!(
        "the seed does not repeat: {before}, the first run has {}, and the second {}\n\
         time, random numbers, hashing and threads must depend on the seed alone: look for `Instant::now`, the order of a \
         `HashMap`, `thread::spawn` and real I/O",
        shown(first),
        shown(second)
    ))
}
