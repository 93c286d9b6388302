//! The implementation of `#[omnilink::test]`: runs a step many times on several threads, checks each run, and panics
//! with the explanation of the first run that is not accepted.
//!
//! Every run has a seed. The seed of a run that failed is written to `omnilink-regressions/` beside the manifest, as
//! proptest does, and such runs come first the next time. Without a controlled schedule a seed repeats the inputs of a run
//! and not its schedule, so each is tried several times.

use std::env;
use std::fmt::{self, Write as _};
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use omnilink_explore::{Artifacts, Disturbance, Ended, Environment, Input, Plan, Run, Store, Workload};
use omnilink_history::Stop;
use omnilink_judge::{Case, Failed, Judge, Limits, Recording};
use omnilink_models::{Model, Object, Sequential};
use omnilink_record::drive::{self, Client};
use omnilink_record::object::{Describe, Description};
use omnilink_report::{Detail, Report, Verdict};
use omnilink_search::Stats;
use omnilink_weak::Level;

/// The specification.
#[derive(Clone)]
pub enum Against {
    /// A built-in specification, or a TLA+ module by its path from the manifest.
    Named(&'static str),
    /// A specification of the user's own: its name, and a function that makes a judge of it.
    Own(&'static str, Arc<dyn Fn(omnilink_judge::CheckOptions) -> Judge + Send + Sync>),
}

impl Against {
    /// An [`Object`] of the user's own, which is created for each check.
    pub fn object<O: Object + 'static>(
        name: &'static str,
        object: impl Fn() -> O + Clone + Send + Sync + 'static,
    ) -> Against {
        Against::model(name, move || Sequential::new(object()))
    }

    /// A [`Model`] of the user's own, which is created for each check.
    pub fn model<M: Model + 'static>(
        name: &'static str,
        model: impl Fn() -> M + Clone + Send + Sync + 'static,
    ) -> Against {
        Against::Own(name, Arc::new(move |options| Judge::of_model(name, model.clone(), options)))
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Against::Named(name) | Against::Own(name, _) => name,
        }
    }
}

impl From<&'static str> for Against {
    fn from(name: &'static str) -> Against {
        Against::Named(name)
    }
}

impl fmt::Debug for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Against").field(&self.name()).finish()
    }
}

/// A test that runs a step many times.
#[derive(Debug, Clone)]
pub struct Test {
    /// The name of the test, with its modules.
    pub name: &'static str,
    /// The directory of the manifest.
    pub manifest: PathBuf,
    /// The specification.
    pub spec: Against,
    /// The orders that count, and the operations that an operation has to see.
    pub level: AtLevel,
    /// The number of threads of a run.
    pub threads: Range,
    /// The number of operations of each thread.
    pub operations: Range,
    /// The number of runs; `OMNILINK_RUNS` overrides it.
    pub runs: u64,
}

/// The orders that count, and the operations that an operation has to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtLevel(Level);

impl From<Level> for AtLevel {
    fn from(level: Level) -> AtLevel {
        AtLevel(level)
    }
}

impl From<&str> for AtLevel {
    /// # Panics
    ///
    /// If there is no such level.
    fn from(text: &str) -> AtLevel {
        AtLevel(text.parse().unwrap_or_else(|error| panic!("{error}")))
    }
}

/// A number, or a range of numbers to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range(RangeInclusive<usize>);

impl From<usize> for Range {
    fn from(number: usize) -> Range {
        Range(number..=number)
    }
}

impl From<RangeInclusive<usize>> for Range {
    fn from(range: RangeInclusive<usize>) -> Range {
        Range(range)
    }
}

/// The number of operations of each thread, unless the test says another.
const OPERATIONS: RangeInclusive<usize> = 20..=100;
/// The same for listed calls: their values repeat, and histories with many equal values are hard to decide.
const LISTED_OPERATIONS: RangeInclusive<usize> = 4..=12;

/// The maximum time of one check.
const PATIENCE: Duration = Duration::from_secs(60);

struct Patience {
    until: Instant,
}

impl Limits for Patience {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        self.exceeded()
    }

    fn exceeded(&self) -> Option<Stop> {
        (Instant::now() >= self.until).then_some(Stop::Time)
    }
}

/// Set by `cargo omnilink test`, which executes a test once for each schedule, and keeps the schedule that fails.
const CONTROLLED: &str = "OMNILINK_CONTROLLED";
/// The number of operations of each thread under control, where threads interact at every step, unless the test says
/// another.
const CONTROLLED_OPERATIONS: RangeInclusive<usize> = 2..=12;

fn is_controlled() -> bool {
    env::var_os(CONTROLLED).is_some()
}

/// A number in a variable of the environment.
pub(crate) fn given(name: &str) -> Option<u64> {
    let value = env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("expected a number in `{name}`, found `{value}`")))
}

/// How often the inputs of a run that failed before are retried.
const AGAIN: usize = 8;

impl Test {
    /// A test with default options.
    pub fn new(name: &'static str, manifest: &str, spec: impl Into<Against>) -> Test {
        let (threads, operations) = ((2..=4).into(), OPERATIONS.into());
        let level = AtLevel::default();
        Test { name, manifest: manifest.into(), spec: spec.into(), level, threads, operations, runs: 64 }
    }

    /// Runs the test. Under `cargo omnilink test`, each schedule is one run, with inputs that depend on the seed of the
    /// schedule.
    ///
    /// # Panics
    ///
    /// If a run is not accepted, with the explanation; if it could not be decided or checked, with the reason; or if the
    /// step panics.
    pub fn run<S: Sync>(&self, system: impl Fn() -> S, step: impl Fn(&S, &mut Client) + Sync) {
        let judge = self.judge();
        let run = |plan: &Plan| {
            let trace = self.drive(plan, &system, |_, _| (), |system, (), client| step(system, client));
            self.check(&judge, plan, &trace)
        };
        self.run_plans(run);
    }

    /// Calls `run` with each plan, first with those that failed before. It returns the number of operations.
    pub(crate) fn run_plans(&self, run: impl Fn(&Plan) -> u64) {
        // Under control, a schedule fails and not a seed.
        let again = if is_controlled() { Vec::new() } else { self.remembered() };
        let again = again.iter().flat_map(|plan| std::iter::repeat_n(plan.clone(), AGAIN));
        let workload = self.workload();
        let plans = again.chain((0..workload.runs).map(|number| workload.plan(number)));
        let operations: u64 = plans.map(|plan| run(&plan)).sum();
        let _ = fs::remove_dir_all(self.scratch());
        assert!(operations > 0, "{}: nothing was recorded, so nothing was checked", self.name);
    }

    /// Executes a plan, and returns the directory of its trace. A panic of the step continues to the caller, and its seed is kept.
    pub(crate) fn drive<S: Sync, L>(
        &self,
        plan: &Plan,
        system: &impl Fn() -> S,
        session: impl Fn(&S, usize) -> L + Sync,
        step: impl Fn(&S, &mut L, &mut Client) + Sync,
    ) -> PathBuf {
        let scratch = self.scratch();
        let _ = fs::remove_dir_all(&scratch);
        let driven = drive::Plan {
            trace: scratch.clone(),
            seed: plan.seed,
            threads: plan.threads,
            operations: plan.operations,
            perturbation: perturbation(&plan.perturb),
            only: None,
            script: None,
        };
        let made = fs::create_dir_all(scratch.parent().unwrap_or(Path::new(".")));
        let ran = catch_unwind(AssertUnwindSafe(|| made.and_then(|()| drive::run(&driven, &system(), session, step))));
        match ran {
            Ok(Ok(())) => scratch,
            Ok(Err(error)) => panic!("{}: cannot write the trace: {error}", self.name),
            Err(panic) => {
                if !is_controlled() {
                    // The panic matters more than whether its seed could be stored.
                    let _ = self.remember(plan, "it panicked");
                }
                resume_unwind(panic)
            }
        }
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.store().scratch().join(self.file_name())
    }

    /// The same for an object whose calls are listed: each step makes one of them. A thread makes 4 to 12, unless the test
    /// says how many.
    ///
    /// # Panics
    ///
    /// As [`Test::run`].
    pub fn run_object<D: Describe + 'static>(&self, make: impl Fn() -> D + Send + Sync + 'static) {
        let description = Description::of(make);
        let is_default = self.operations == Range(OPERATIONS);
        let operations = if is_default { Range(LISTED_OPERATIONS) } else { self.operations.clone() };
        Test { operations, ..self.clone() }
            .run(|| description.make(), |object, client| description.step(object, client));
    }

    pub(crate) fn judge(&self) -> Judge {
        let is_given = self.level != AtLevel::default();
        let level = is_given.then(|| self.level.0.clone());
        let options = omnilink_judge::CheckOptions { jobs: Some(1), level, ..omnilink_judge::CheckOptions::default() };
        let spec = match &self.spec {
            Against::Own(_, judge) => return judge(options),
            Against::Named(spec) if omnilink_judge::is_tla(Path::new(spec)) => {
                self.manifest.join(spec).display().to_string()
            }
            Against::Named(spec) => (*spec).to_owned(),
        };
        Judge::new(&spec, options).unwrap_or_else(|failed| panic!("{}: {}", self.name, told(&failed)))
    }

    /// Checks a run, and returns its number of operations.
    fn check(&self, judge: &Judge, plan: &Plan, trace: &Path) -> u64 {
        let report =
            self.decide(judge, plan, &Recording::at(trace, None)).unwrap_or_else(|message| panic!("{message}"));
        match report.verdict {
            Verdict::Accepted => report.history.operations.unwrap_or_default(),
            _ => panic!("{}", self.explain(judge, plan, trace, report)),
        }
    }

    /// Checks a run; if that is not possible, returns the reason.
    pub(crate) fn decide(&self, judge: &Judge, plan: &Plan, recording: &Recording) -> Result<Report, String> {
        let label = format!("{} ({})", self.name, plan.describe());
        let limits = Patience { until: Instant::now() + PATIENCE };
        let mut case = Case { recording, label: &label, witness: None, limits: &limits };
        judge.report(&mut case).map_err(|failed| format!("{label}: {}", told(&failed)))
    }

    /// Keeps a run that was not accepted, and its seed; returns the explanation, and where they are.
    pub(crate) fn explain(&self, judge: &Judge, plan: &Plan, trace: &Path, mut report: Report) -> String {
        report.next.clear();
        let cause = omnilink_report::cause(&report).unwrap_or_default();
        let mut message = omnilink_report::text(&report, Detail::Brief, false);
        match self.keep(judge, plan, trace, &report, &cause) {
            Ok(path) => {
                let id = path.file_name().unwrap_or_default().to_string_lossy();
                _ = writeln!(message, "\nthe run is kept in {}", path.display());
                _ = writeln!(message, "`omnilink report {id}` writes its page");
            }
            Err(error) => _ = writeln!(message, "\nthe run cannot be kept: {error}"),
        }
        self.with_seed(plan, &cause, message)
    }

    /// Keeps the seed of a run, and adds to the message about it where it is.
    pub(crate) fn with_seed(&self, plan: &Plan, cause: &str, mut message: String) -> String {
        if is_controlled() {
            message += "`cargo omnilink test` keeps its schedule as another run, and prints how to repeat it\n";
            return message;
        }
        let file = self.regressions();
        match self.remember(plan, cause) {
            Ok(()) => _ = writeln!(message, "its seed is in {}: commit it, and it is tried first", file.display()),
            Err(error) => _ = writeln!(message, "its seed cannot be kept in {}: {error}", file.display()),
        }
        message
    }

    fn keep(
        &self,
        judge: &Judge,
        plan: &Plan,
        trace: &Path,
        report: &Report,
        cause: &str,
    ) -> Result<PathBuf, omnilink_explore::StoreError> {
        let store = self.store();
        // The schedule that fails is executed again by every replay: the first one has stored it.
        let is_same = |run: &Run| run.plan == *plan && run.cause.as_deref() == Some(cause);
        if is_controlled()
            && let Some(run) = store.list()?.0.into_iter().find(is_same)
        {
            return Ok(store.path(&run.id));
        }
        let run = Run {
            schema: Run::schema(),
            id: store.free_id(plan.seed),
            began: written_at(trace),
            plan: plan.clone(),
            command: vec!["cargo".into(), "test".into(), self.name.rsplit("::").next().unwrap_or_default().into()],
            ended: Ended::Finished,
            took: 0.0,
            spec: Some(Path::new(self.spec.name()).file_name().unwrap_or_default().to_string_lossy().into_owned()),
            test: None,
            level: self.level.0.to_string(),
            verdict: Some(report.verdict.word().to_owned()),
            cause: Some(cause.to_owned()),
            controlled: None,
            race: None,
            environment: Environment::here(),
        };
        store.keep(&run, &Artifacts { trace, report: Some(report), spec: &judge.files(), schedule: None })
    }

    fn store(&self) -> Store {
        Store::at(self.manifest.join("target/omnilink"))
    }

    fn workload(&self) -> Workload {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos().into();
        let workload = Workload {
            seed: given("OMNILINK_SEED").unwrap_or_else(clock),
            runs: given("OMNILINK_RUNS").unwrap_or(self.runs),
            threads: self.threads.0.clone(),
            operations: self.operations.0.clone(),
            ..Workload::default()
        };
        if !is_controlled() {
            return workload;
        }
        // Time is virtual, and each schedule begins at the same moment. Random numbers follow the seed of the schedule.
        let seed = RandomState::new().build_hasher().finish();
        let is_default = self.operations == Range(OPERATIONS) || self.operations == Range(LISTED_OPERATIONS);
        let operations = if is_default { CONTROLLED_OPERATIONS } else { workload.operations.clone() };
        Workload { seed, runs: 1, operations, perturb: vec![Disturbance::None], ..workload }
    }

    pub(crate) fn file_name(&self) -> String {
        self.name.replace("::", "-")
    }

    fn regressions(&self) -> PathBuf {
        self.manifest.join("omnilink-regressions").join(self.file_name()).with_extension("txt")
    }

    /// Runs that failed before.
    pub(crate) fn remembered(&self) -> Vec<Plan> {
        let path = self.regressions();
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            text => text.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        };
        let plan = |line: &str| read(line).unwrap_or_else(|| panic!("{}: `{line}` is not a run", path.display()));
        text.lines().filter(|line| !line.starts_with('#')).map(plan).collect()
    }

    pub(crate) fn remember(&self, plan: &Plan, cause: &str) -> io::Result<()> {
        let path = self.regressions();
        if self.remembered().contains(plan) {
            return Ok(());
        }
        let is_new = !path.exists();
        fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(&path)?;
        if is_new {
            writeln!(file, "# Runs that failed before: seed, threads, operations, disturbance. They are tried first.")?;
        }
        writeln!(file, "{} # {}", write(plan), cause.replace('\n', " "))
    }
}

/// The start of a trace in seconds since 1970, from the file system's dates: under control, reading a clock returns the
/// progress of the schedule, and all executions begin at the same time.
fn written_at(trace: &Path) -> u64 {
    let manifest = fs::metadata(trace.join("manifest.json")).and_then(|about| about.modified());
    let modified = manifest.unwrap_or_else(|_| SystemTime::now());
    modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn write(plan: &Plan) -> String {
    let perturb: Vec<&str> = plan.perturb.iter().map(|disturbance| disturbance.name()).collect();
    format!("{} {} {} {}", plan.seed, plan.threads, plan.operations, perturb.join(","))
}

fn read(line: &str) -> Option<Plan> {
    let mut words = line.split(" # ").next()?.split_whitespace();
    let (seed, threads, operations) = (words.next()?, words.next()?, words.next()?);
    let perturb = words.next().unwrap_or_default().split(',').filter(|word| !word.is_empty());
    Some(Plan {
        seed: seed.parse().ok()?,
        threads: threads.parse().ok()?,
        operations: operations.parse().ok()?,
        perturb: perturb.map(Disturbance::parse).collect::<Result<_, _>>().ok()?,
        only: None,
        script: None,
        test: None,
    })
}

fn perturbation(perturb: &[Disturbance]) -> drive::Perturbation {
    let words: Vec<&str> = perturb.iter().filter_map(|disturbance| disturbance.order()).collect();
    words.join(",").parse().expect("the recorder knows every disturbance")
}

fn told(failed: &Failed) -> String {
    match failed {
        Failed::Input(error) => error.message.clone(),
        Failed::Stopped(stop) => format!("inconclusive: {stop}"),
        Failed::Spec(complaints) => {
            let lines: Vec<String> = complaints.iter().map(omnilink_judge::Complaint::plain).collect();
            lines.join("\n")
        }
    }
}
