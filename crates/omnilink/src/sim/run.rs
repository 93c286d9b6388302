//! The runner of `#[omnilink::sim]`: one run for each seed, in parallel, each recorded and checked in files of its own.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use omnilink_explore::{Input, Plan};
use omnilink_history::{Call, Event, History as Operations};
use omnilink_isolation::{Level, Outcome};
use omnilink_judge::input::Kind;
use omnilink_judge::{Failed, Judge, Recording};
use omnilink_report::{Report, Verdict};

use super::{History, judge_of_log, locked, log_beside, write_log};
use crate::testing::{self, Against, AtLevel, Test};

/// The implementation of `#[omnilink::sim]`: one run for each seed.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The name of the test, with its modules.
    pub name: &'static str,
    /// The directory of the manifest.
    pub manifest: PathBuf,
    /// The specification of the clients' calls.
    pub spec: Option<Against>,
    /// The level of the clients' transactions.
    pub isolation: Option<&'static str>,
    /// The TLA+ module of the nodes' events, by its path from the manifest.
    pub log: Option<&'static str>,
    /// The orders that count, and the operations that an operation has to see.
    pub level: AtLevel,
    /// The number of seeds, from 0 on; `OMNILINK_RUNS` overrides it.
    pub seeds: u64,
    /// The number of threads, each with a seed of its own; all cores if 0.
    pub jobs: usize,
    /// Of this many seeds, the first runs twice; none if 0.
    pub repeat: usize,
}

/// The checks of each run, of which there is at least one.
struct Checks {
    operations: Option<(Test, Judge)>,
    transactions: Option<(Test, Level)>,
    log: Option<(Test, Judge)>,
}

/// The records of a run.
struct Recorded {
    trace: PathBuf,
    transactions: String,
    log: String,
    faults: Vec<Event>,
}

/// Why a seed failed.
enum Failure {
    /// The function panicked.
    Panic(Box<dyn Any + Send>),
    /// The calls of the clients are not accepted.
    Operations { trace: PathBuf, report: Box<Report> },
    /// The transactions are not accepted.
    Transactions { history: String, faults: Vec<Event> },
    /// The events of the nodes are not accepted.
    Log { trace: PathBuf, report: Box<Report> },
    /// The run could not be checked, or not be repeated.
    Other(String),
}

/// The number of runs that were accepted, and of their parts.
#[derive(Debug, Default)]
struct Totals {
    runs: u64,
    operations: Option<u64>,
    unknown: u64,
    transactions: Option<u64>,
    events: Option<u64>,
    faults: u64,
    repeated: u64,
}

impl Simulation {
    /// A test with default options, and no check: set `spec`, `isolation` or `log`.
    pub fn new(name: &'static str, manifest: &str) -> Simulation {
        let (manifest, level) = (manifest.into(), AtLevel::default());
        let (spec, isolation, log) = (None, None, None);
        Simulation { name, manifest, spec, isolation, log, level, seeds: 100, jobs: 0, repeat: 16 }
    }

    /// Runs the function with each seed, and checks the records.
    ///
    /// # Panics
    ///
    /// If a run is not accepted, with the explanation of the first such seed; if it could not be decided or checked, or
    /// does not repeat, with the reason; or if the function panics.
    #[expect(clippy::print_stdout, clippy::print_stderr, reason = "the test harness shows what a test prints")]
    pub fn run(&self, simulate: impl Fn(u64, History) + Sync) {
        let checks = self.checks();
        let test = checks.any();
        let plans = match testing::given("OMNILINK_SEED") {
            Some(seed) => vec![Plan::without_input(seed)],
            None => {
                let seeds = testing::given("OMNILINK_RUNS").unwrap_or(self.seeds);
                // Each seed has a directory of its own, so none runs beside itself.
                let mut plans = test.remembered();
                let mut known = BTreeSet::new();
                plans.retain(|plan| known.insert(plan.seed));
                plans.extend((0..seeds).filter(|seed| !known.contains(seed)).map(Plan::without_input));
                plans
            }
        };
        let began = Instant::now();
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let jobs = if self.jobs == 0 { cores } else { self.jobs };
        let (next, totals, failure) = (AtomicUsize::new(0), Mutex::new(Totals::default()), Mutex::new(None));
        let work = || {
            while locked(&failure).is_none() {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(plan) = plans.get(at) else { return };
                let is_twice = self.repeat > 0 && at % self.repeat == 0;
                if let Err(why) = checks.seed(plan, is_twice, &simulate, &totals) {
                    let mut failure = locked(&failure);
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
        let failure = locked(&failure).take().map(|(at, why)| (&plans[at], why));
        let message = match failure {
            None => None,
            Some((plan, Failure::Panic(panic))) => {
                // The panic matters more than whether its seed could be stored.
                let _ = test.remember(plan, "it panicked");
                eprintln!("{} ({}): OMNILINK_SEED={} repeats it", self.name, plan.describe(), plan.seed);
                resume_unwind(panic)
            }
            Some((plan, failure)) => Some(checks.explain(plan, failure)),
        };
        let _ = fs::remove_dir_all(test.scratch());
        if let Some(message) = message {
            panic!("{message}");
        }
        let totals = locked(&totals);
        let recorded = [totals.operations, totals.transactions, totals.events];
        let is_empty = recorded.iter().all(Option::is_none) || recorded.contains(&Some(0));
        assert!(!is_empty, "{}: nothing was recorded, so nothing was checked", self.name);
        println!("{}: {totals}, {:.0} seeds/s", self.name, totals.runs as f64 / began.elapsed().as_secs_f64());
    }

    fn checks(&self) -> Checks {
        let test = |spec: Against| Test::new(self.name, &self.manifest.to_string_lossy(), spec);
        let operations = self.spec.clone().map(|spec| {
            let test = Test { level: self.level.clone(), ..test(spec) };
            let judge = test.judge();
            (test, judge)
        });
        let transactions = self.isolation.map(|level| {
            let test = test(level.into());
            let level = test.isolation();
            (test, level)
        });
        let log = self.log.map(|module| {
            let test = test(module.into());
            let judge = judge_of_log(&test);
            (test, judge)
        });
        let checks = Checks { operations, transactions, log };
        let is_none = checks.operations.is_none() && checks.transactions.is_none() && checks.log.is_none();
        assert!(!is_none, "{}: expected `spec`, `isolation` or `log`, found none of them", self.name);
        checks
    }
}

impl Checks {
    /// A test that keeps and remembers failures.
    fn any(&self) -> &Test {
        let operations = self.operations.as_ref().map(|(test, _)| test);
        let transactions = || self.transactions.as_ref().map(|(test, _)| test);
        let log = || self.log.as_ref().map(|(test, _)| test);
        operations.or_else(transactions).or_else(log).expect("there is at least one check")
    }

    /// Runs and checks one seed.
    fn seed(
        &self,
        plan: &Plan,
        is_twice: bool,
        simulate: &(impl Fn(u64, History) + Sync),
        totals: &Mutex<Totals>,
    ) -> Result<(), Failure> {
        let label = format!("{} ({})", self.any().name, plan.describe());
        let trace = self.any().scratch().join(plan.seed.to_string());
        let recorded = record(plan.seed, &trace, &label, simulate)?;
        let recording = Recording::at(&trace, None);
        let unread = |failed: Failed| Failure::Other(format!("{label}: {}", failed.message()));
        let history = recording.history().map_err(unread)?;
        if is_twice {
            let again = record(plan.seed, &trace.with_extension("again"), &label, simulate)?;
            let second = Recording::at(&again.trace, None);
            let difference = difference(history, second.history().map_err(unread)?)
                .or_else(|| first_line_that_differs(&recorded.transactions, &again.transactions))
                .or_else(|| first_line_that_differs(&recorded.log, &again.log));
            let _ = fs::remove_dir_all(&again.trace);
            if let Some(difference) = difference {
                return Err(Failure::Other(format!("{label}: {difference}")));
            }
        }
        let unchecked = |what: &str, argument: &str| {
            Err(Failure::Other(format!("{label}: clients recorded {what}, but `{argument}` is not given")))
        };
        if self.operations.is_none() && !history.ops().is_empty() {
            return unchecked("calls", "spec");
        }
        if self.transactions.is_none() && !recorded.transactions.is_empty() {
            return unchecked("transactions", "isolation");
        }
        let operations = self.check_operations(plan, &recording)?;
        let transactions = self.check_transactions(plan, &recorded)?;
        let events = self.check_log(plan, &recorded)?;
        let unknown = history.ops().iter().filter(|op| op.interval.is_unfinished()).count();
        let _ = fs::remove_dir_all(&trace);
        let mut totals = locked(totals);
        totals.runs += 1;
        let add = |total: &mut Option<u64>, count: Option<u64>| {
            *total = count.map(|count| total.unwrap_or(0) + count);
        };
        add(&mut totals.operations, operations);
        add(&mut totals.transactions, transactions);
        add(&mut totals.events, events);
        totals.unknown += unknown as u64;
        totals.faults += recorded.faults.len() as u64;
        totals.repeated += u64::from(is_twice);
        Ok(())
    }

    /// Returns the number of calls, if they are checked.
    fn check_operations(&self, plan: &Plan, recording: &Recording) -> Result<Option<u64>, Failure> {
        let Some((test, judge)) = &self.operations else { return Ok(None) };
        let report = test.decide(judge, plan, recording).map_err(Failure::Other)?;
        if matches!(report.verdict, Verdict::Accepted) {
            return Ok(Some(report.history.operations.unwrap_or_default()));
        }
        let trace = recording.path().expect("a run is recorded in a directory").to_owned();
        Err(Failure::Operations { trace, report: Box::new(report) })
    }

    /// Returns the number of transactions, if they are checked.
    fn check_transactions(&self, plan: &Plan, recorded: &Recorded) -> Result<Option<u64>, Failure> {
        let Some((test, level)) = &self.transactions else { return Ok(None) };
        match test.decide_transactions(plan, *level, &recorded.transactions).map_err(Failure::Other)? {
            (txns, Outcome::Accepted(_)) => Ok(Some(txns.len() as u64)),
            _ => {
                let (history, faults) = (recorded.transactions.clone(), recorded.faults.clone());
                Err(Failure::Transactions { history, faults })
            }
        }
    }

    /// Returns the number of events, if they are checked.
    fn check_log(&self, plan: &Plan, recorded: &Recorded) -> Result<Option<u64>, Failure> {
        let Some((test, judge)) = &self.log else { return Ok(None) };
        // A mapping may take its constants from the events, so it needs some.
        if recorded.log.is_empty() {
            return Ok(Some(0));
        }
        let trace = log_beside(&recorded.trace);
        let written = write_log(&trace, &recorded.log);
        written.map_err(|error| Failure::Other(format!("{}: cannot write the log: {error}", test.name)))?;
        let report = test.decide(judge, plan, &Recording::at(&trace, Some(Kind::Log))).map_err(Failure::Other)?;
        if !matches!(report.verdict, Verdict::Accepted) {
            return Err(Failure::Log { trace, report: Box::new(report) });
        }
        let _ = fs::remove_dir_all(&trace);
        Ok(Some(recorded.log.lines().count() as u64))
    }

    /// Keeps the run of a seed that failed, and returns the explanation.
    fn explain(&self, plan: &Plan, failure: Failure) -> String {
        let why = match (failure, &self.operations, &self.transactions, &self.log) {
            (Failure::Operations { trace, report }, Some((test, judge)), ..)
            | (Failure::Log { trace, report }, .., Some((test, judge))) => test.explain(judge, plan, &trace, *report),
            (Failure::Transactions { history, faults }, _, Some((test, level)), _) => {
                let explained = test.check_transactions(plan, *level, &history, &faults);
                explained.expect_err("the same transactions were not accepted")
            }
            (Failure::Other(message), ..) => return message,
            _ => unreachable!("a check that fails is there"),
        };
        format!("{why}OMNILINK_SEED={} repeats it\n", plan.seed)
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Totals { runs, operations, unknown, transactions, events, faults, repeated } = self;
        write!(f, "{runs} seeds accepted")?;
        if let Some(operations) = operations {
            write!(f, ", {operations} operations, {unknown} of unknown outcome")?;
        }
        if let Some(transactions) = transactions {
            write!(f, ", {transactions} transactions")?;
        }
        if let Some(events) = events {
            write!(f, ", {events} events of nodes")?;
        }
        write!(f, ", {faults} faults, {repeated} seeds repeated")
    }
}

/// Runs a seed.
fn record(
    seed: u64,
    trace: &Path,
    label: &str,
    simulate: &(impl Fn(u64, History) + Sync),
) -> Result<Recorded, Failure> {
    let cannot = |error: io::Error| Failure::Other(format!("{label}: cannot write the trace: {error}"));
    let _ = fs::remove_dir_all(trace);
    let history = History::at(seed, trace.to_owned(), false).map_err(cannot)?;
    catch_unwind(AssertUnwindSafe(|| simulate(seed, history.clone()))).map_err(Failure::Panic)?;
    history.write_faults().map_err(cannot)?;
    Ok(Recorded {
        trace: trace.to_owned(),
        transactions: std::mem::take(&mut *locked(&history.0.transactions)),
        log: std::mem::take(&mut *locked(&history.0.log)),
        faults: locked(&history.0.faults).clone(),
    })
}

/// The first operation that differs between two runs of a seed, as the end of a sentence.
fn difference(first: &Operations<Call>, second: &Operations<Call>) -> Option<String> {
    let pairs = first.ops().iter().zip(second.ops());
    let same = pairs.take_while(|(one, other)| one == other && first.name(one.id) == second.name(other.id)).count();
    if same == first.ops().len() && same == second.ops().len() {
        return None;
    }
    let shown = |run: &Operations<Call>| {
        run.ops().get(same).map(|op| format!("{} {} {}", run.name(op.id), op.call, op.interval))
    };
    let before = first.ops()[..same].last().map(|last| format!("{} {}", first.name(last.id), last.call));
    Some(does_not_repeat(before, shown(first), shown(second)))
}

/// The same for lines of transactions or events.
fn first_line_that_differs(first: &str, second: &str) -> Option<String> {
    let same = first.lines().zip(second.lines()).take_while(|(one, other)| one == other).count();
    let at = |run: &str, place: usize| run.lines().nth(place).map(str::to_owned);
    let (one, other) = (at(first, same), at(second, same));
    let before = same.checked_sub(1).and_then(|last| at(first, last));
    (one != other).then(|| does_not_repeat(before, one, other))
}

fn does_not_repeat(before: Option<String>, first: Option<String>, second: Option<String>) -> String {
    let before = before.map_or("at the start".to_owned(), |before| format!("after {before}"));
    let [first, second] = [first, second].map(|shown| shown.unwrap_or("nothing".to_owned()));
    format!(
        "the seed does not repeat: {before}, the first run has {first}, and the second {second}\n\
         time, random numbers, hashing and threads must depend on the seed alone: look for `Instant::now`, the order of a \
         `HashMap`, `thread::spawn` and real I/O"
    )
}
