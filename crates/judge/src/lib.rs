//! Decides about traces: files in, a report out.
//!
//! ```
//! use omnilink_history::{History, format};
//! use omnilink_judge::{Case, Judge, CheckOptions, Recording, Unlimited};
//!
//! let judge = Judge::new("register", CheckOptions::default()).expect("a built-in specification");
//! // `Recording::at` reads a file or a directory instead.
//! let trace = format::text::read(b"a [1 2] write(1)\nb [3 4] read() = 0\n")?;
//! let recording = Recording::of(History::new(trace)?);
//! let mut case = Case { recording: &recording, label: "stale", witness: None, limits: &Unlimited };
//! let report = judge.report(&mut case).expect("a verdict");
//! assert_eq!(report.verdict.word(), "rejected");
//! println!("{}", omnilink_report::text(&report, omnilink_report::Detail::Brief, false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//!  Queue.tla, Queue.cfg, omnilink.toml ── Judge::new ──► Judge
//!  run.jsonl, run/*.seg                ── Recording::at ──► Recording
//!  Judge, Recording                    ── Judge::report ──► omnilink_report::Report, or Failed
//! ```
//!
//! The command, fuzzing and tests in Rust share this crate. It reads the files passed to it and the files they refer
//! to, and prints nothing. Work that depends on the specification alone is done once for each [`Judge`], which threads
//! can share; a [`Recording`] is read once, however often it is used.

mod builtin;
mod by_key;
pub mod complaint;
#[cfg(feature = "tla")]
mod environment;
mod follow_up;
mod halting;
pub mod input;
pub mod isolation;
pub mod join;
mod keys;
mod level;
#[cfg(feature = "tla")]
pub mod load;
#[cfg(feature = "tla")]
mod log;
mod mixed;
mod own_order;
mod parts;
mod recording;
mod run;
mod serial_runs;
mod show;
pub mod stamps;
#[cfg(feature = "tla")]
mod tla;

use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use omnilink_history::{Cut, OpId, Precedence, Stop};
use omnilink_models::Model;
use omnilink_report::Report;
use omnilink_search::{Criterion, Stats};
use omnilink_suggest::counted;
use omnilink_weak::{Class, Context, Level};

use builtin::Builtin;
pub use complaint::Complaint;
#[cfg(feature = "tla")]
pub use environment::{HostWorld, limit};
pub use halting::Stage;
pub use input::InputError;
pub use keys::{CheckedKey, Key, KeyOps, KeyVerdict};
#[cfg(feature = "tla")]
pub use log::infer;
pub use recording::{Recording, operation, witness_line};
pub use serial_runs::is_lineup;
use show::ShowBuilder;
pub use show::{Assumption, Inspection, ShowOptions};
#[cfg(feature = "tla")]
pub use tla::{Bound, Tla};

/// The files of a specification, and the options of the search.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The configuration of a TLA+ module; if `None`, the module's path with `.cfg`.
    pub config: Option<PathBuf>,
    /// Directories to search for modules that are neither beside the root module nor built in.
    pub includes: Vec<PathBuf>,
    /// The settings that map operations to a TLA+ module; if `None`, the file beside it.
    pub settings: Option<PathBuf>,
    /// The orders of operations that count, and the operations that an operation has to see; if `None`, the level in the
    /// settings of the specification, or else linearizability.
    pub level: Option<Level>,
    /// The results that visible operations may have had.
    pub context: Context,
    /// A field by which the system itself orders operations: that order is tried before any other.
    pub order_by: Option<String>,
    /// Larger files are not read, unless they are checked as a stream.
    pub max_memory: u64,
    /// The maximum number of configurations that are possible at once. If `None`, [`MAX_WIDTH`], and no limit for an
    /// exhaustive check.
    pub max_width: Option<usize>,
    /// Split a history into independent parts, and use procedures for one data type.
    pub shortcuts: bool,
    /// Place operations in every possible order, without pruning.
    pub exhaustive: bool,
    /// Assumptions about the order of operations. With assumptions, histories are searched whole.
    pub assume: Vec<Assumption>,
    /// Whether to report which parts of the specification a history exercised.
    pub coverage: bool,
    /// The number of parts to search in parallel; if `None`, all cores.
    pub jobs: Option<usize>,
    /// The output of `Print` in a specification.
    pub print: fn(&str),
    /// True for an imported specification, for example from a bundle: its evaluation has no access to files or the
    /// environment, and its settings name no files elsewhere.
    pub is_foreign: bool,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            config: None,
            includes: Vec::new(),
            settings: None,
            level: None,
            context: Context::default(),
            order_by: None,
            max_memory: 16 << 30,
            max_width: None,
            shortcuts: true,
            exhaustive: false,
            assume: Vec::new(),
            coverage: false,
            jobs: None,
            print: |_| {},
            is_foreign: false,
        }
    }
}

impl CheckOptions {
    /// The field of the system's own order, from here or from the settings of a specification, if it is to be tried. An
    /// order under assumptions has to be searched.
    fn own_order<'a>(&'a self, set: Option<&'a str>) -> Option<&'a str> {
        self.order_by.as_deref().or(set).filter(|_| self.assume.is_empty() && self.is_linearizable())
    }

    /// The orders of operations that count, and the operations that an operation has to see.
    fn level(&self) -> Level {
        self.level.clone().unwrap_or_default()
    }

    fn is_linearizable(&self) -> bool {
        self.level.as_ref().is_none_or(|level| *level == Level::linearizable())
    }
}

/// The limits of a check. Called from several threads.
pub trait Limits: Sync {
    /// The reason to stop a search now, if any.
    fn poll(&self, stats: &Stats) -> Option<Stop>;
    /// The same, for work without statistics.
    fn exceeded(&self) -> Option<Stop>;
    /// The number of bytes of memory left, if limited.
    fn memory_left(&self) -> Option<u64> {
        None
    }
    /// Called when a check enters a stage, and from time to time with the number of operations processed there.
    fn reached(&self, _stage: Stage, _operations: u64) {}
    /// Called once the number of operations is known.
    fn total(&self, _operations: u64) {}
}

/// Never stops a check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl Limits for Unlimited {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        None
    }

    fn exceeded(&self) -> Option<Stop> {
        None
    }
}

/// The reason why a trace could not be checked.
#[derive(Debug)]
pub enum Failed {
    /// The trace, or another input, is wrong.
    Input(InputError),
    /// The specification, or its relation to the trace, is wrong.
    Spec(Vec<Complaint>),
    /// A limit was reached during an evaluation.
    Stopped(Stop),
}

impl Failed {
    /// The reasons in one line.
    pub fn message(&self) -> String {
        match self {
            Failed::Input(error) => error.message.clone(),
            Failed::Spec(complaints) => {
                complaints.iter().map(|complaint| &*complaint.message).collect::<Vec<_>>().join("; ")
            }
            Failed::Stopped(stop) => stop.to_string(),
        }
    }
}

impl<E: Into<InputError>> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed::Input(error.into())
    }
}

/// Checks traces against one specification.
#[derive(Debug)]
pub struct Judge {
    against: Box<dyn Against>,
    options: CheckOptions,
}

/// A specification that a judge checks traces against.
trait Against: Debug + Send + Sync {
    /// Its name for display.
    fn name(&self) -> &str;

    /// Checks one trace, and keeps everything for inspection if requested.
    fn check(
        &self,
        options: &CheckOptions,
        case: &mut Case<'_>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed>;

    /// Shows other states of a checked trace.
    fn walk(
        &self,
        options: &CheckOptions,
        case: &Case<'_>,
        shown: &mut Inspection,
        look: &ShowOptions,
    ) -> Result<(), Failed>;

    /// The operations that traces may have, as far as known.
    fn operations(&self, _options: &CheckOptions, _recording: &Recording) -> Result<Vec<String>, Failed> {
        Ok(Vec::new())
    }

    /// The files that it was read from, each with the file name that it needs beside the others.
    fn files(&self) -> Vec<(PathBuf, String)> {
        Vec::new()
    }

    /// The recordings at a path, each of which is checked separately.
    fn recordings(&self, path: &Path) -> Result<Vec<PathBuf>, InputError> {
        input::recordings(path)
    }

    /// The name of the specification in commands, if they can name it and reports do not have a name yet.
    fn named(&self) -> Option<follow_up::Named<'_>> {
        None
    }

    /// The specification in Rust, if it is one.
    fn builtin(&self) -> Option<&Builtin> {
        None
    }

    /// The TLA+ specification, if it is one.
    #[cfg(feature = "tla")]
    fn tla(&self) -> Option<&Tla> {
        None
    }
}

/// A trace to check.
pub struct Case<'a> {
    /// The trace.
    pub recording: &'a Recording,
    /// Its name for display.
    pub label: &'a str,
    /// Receives the order of an accepted history.
    pub witness: Option<&'a mut dyn Write>,
    /// The limits.
    pub limits: &'a dyn Limits,
}

impl Case<'_> {
    /// The same trace, under other limits.
    fn under<'b>(&'b mut self, limits: &'b dyn Limits) -> Case<'b> {
        let witness = self.witness.as_mut().map(|file| &mut **file as &mut dyn Write);
        Case { recording: self.recording, label: self.label, witness, limits }
    }
}

impl Judge {
    /// Reads a specification: a TLA+ module or the serial runs of an object by their path, or a built-in one by its
    /// name.
    pub fn new(spec: &str, options: CheckOptions) -> Result<Judge, Failed> {
        let path = Path::new(spec);
        let against: Box<dyn Against> = match is_tla(path) {
            true => tla_module(spec, &options)?,
            false if is_lineup(path) => Box::new(serial_runs::Serial::read(path)?),
            false => Box::new(Builtin::find(spec)?),
        };
        Ok(Judge { against, options })
    }

    /// Checks against a specification of the user's own, which is created for each check. Reports call it `name`.
    pub fn of_model<M: Model>(
        name: &str,
        model: impl Fn() -> M + Send + Sync + 'static,
        options: CheckOptions,
    ) -> Judge {
        Judge { against: Box::new(Builtin::own(name, model)), options }
    }

    /// Checks one trace.
    pub fn report(&self, case: &mut Case<'_>) -> Result<Report, Failed> {
        let stages = Stages::new(case.limits);
        let case = &mut case.under(&stages);
        let report = self.against.check(&self.options, case, None);
        self.finished(report, case, &stages)
    }

    /// Checks one trace, and keeps everything for inspection.
    pub fn show(&self, case: &mut Case<'_>, look: &ShowOptions) -> Result<Inspection, Failed> {
        let mut builder = ShowBuilder::default();
        let stages = Stages::new(case.limits);
        let case = &mut case.under(&stages);
        let report = self.against.check(&self.options, case, Some((&mut builder, look)));
        let report = self.finished(report, case, &stages)?;
        let ShowBuilder { timeline, way } = builder;
        Ok(Inspection { report, timeline, way })
    }

    /// The report with its events, follow-up commands and headline. If a limit was reached before there is anything to
    /// report, the history is inconclusive.
    fn finished(&self, report: Result<Report, Failed>, case: &Case<'_>, stages: &Stages<'_>) -> Result<Report, Failed> {
        let mut report = match report {
            Err(Failed::Stopped(stop)) => {
                let (stage, operations) = stages.reached();
                let given_up =
                    given_up(case.label, self.against.name(), &self.options.level(), stop, stage, operations);
                match case.recording.losses() {
                    [] => given_up,
                    losses => incomplete(given_up, losses),
                }
            }
            report => report?,
        };
        report.clock = case.recording.clock();
        report.notes.extend(case.recording.notes().iter().cloned());
        report.history.events = case.recording.events().iter().take(MOST_EVENTS).map(event).collect();
        if let Some(named) = self.against.named().filter(|_| report.next.is_empty()) {
            report.next = follow_up::commands(&named, &self.options, case.recording, &report);
        }
        Ok(report.with_headline())
    }

    /// Shows other states of a checked trace.
    pub fn walk(&self, case: &Case<'_>, shown: &mut Inspection, look: &ShowOptions) -> Result<(), Failed> {
        self.against.walk(&self.options, case, shown, look)
    }

    /// The operations that traces may have, as recorded, as far as known. A trace is needed because it may give
    /// constants their values.
    pub fn operations(&self, recording: &Recording) -> Result<Vec<String>, Failed> {
        self.against.operations(&self.options, recording)
    }

    /// The recordings at a path: the path itself, or the entries of a directory that is not one recording.
    pub fn recordings(&self, path: &Path) -> Result<Vec<PathBuf>, InputError> {
        self.against.recordings(path)
    }

    /// The files that the specification was read from, each with the file name that it needs beside the others.
    pub fn files(&self) -> Vec<(PathBuf, String)> {
        self.against.files()
    }

    /// The specification, if it is in TLA+.
    #[cfg(feature = "tla")]
    pub fn tla(&self) -> Option<&Tla> {
        self.against.tla()
    }
}

#[cfg(feature = "tla")]
fn tla_module(spec: &str, options: &CheckOptions) -> Result<Box<dyn Against>, Failed> {
    Ok(Box::new(Tla::load(Path::new(spec), options).map_err(Failed::Spec)?))
}

#[cfg(not(feature = "tla"))]
fn tla_module(spec: &str, _: &CheckOptions) -> Result<Box<dyn Against>, Failed> {
    let message = format!("unsupported TLA+ module `{spec}`: this program was built without the feature `tla`");
    Err(Failed::Spec(vec![Complaint::new(message)]))
}

/// Stores the progress of a check for its report, in case the check is given up.
struct Stages<'a> {
    limits: &'a dyn Limits,
    stage: AtomicU8,
    operations: AtomicU64,
}

impl<'a> Stages<'a> {
    fn new(limits: &'a dyn Limits) -> Stages<'a> {
        Stages { limits, stage: AtomicU8::new(0), operations: AtomicU64::new(0) }
    }

    fn reached(&self) -> (Stage, u64) {
        let stage = usize::from(self.stage.load(Ordering::Relaxed));
        (Stage::ALL.get(stage).copied().unwrap_or_default(), self.operations.load(Ordering::Relaxed))
    }
}

impl Limits for Stages<'_> {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self.stage.store(Stage::Searching as u8, Ordering::Relaxed);
        self.operations.store(stats.operations, Ordering::Relaxed);
        self.limits.poll(stats)
    }

    fn exceeded(&self) -> Option<Stop> {
        self.limits.exceeded()
    }

    fn memory_left(&self) -> Option<u64> {
        self.limits.memory_left()
    }

    fn reached(&self, stage: Stage, operations: u64) {
        self.stage.store(stage as u8, Ordering::Relaxed);
        self.operations.store(operations, Ordering::Relaxed);
        self.limits.reached(stage, operations);
    }

    fn total(&self, operations: u64) {
        self.limits.total(operations);
    }
}

/// The report on a history that was given up early: only the progress of the check. If only the reasons of a rejection
/// are missing, the history is rejected.
pub fn given_up(label: &str, spec: &str, level: &Level, stop: Stop, stage: Stage, operations: u64) -> Report {
    let count = |done: &str| (operations > 0).then(|| format!("{} {done}", counted(operations, "operation")));
    let note = match stage {
        Stage::Preparing | Stage::Searching | Stage::Showing => None,
        Stage::Reading => count("read until then"),
        Stage::Binding => count("bound until then"),
        Stage::Deciding => count("to decide about"),
        Stage::Following => Some(format!("{operations} events explained until then")),
        Stage::Explaining => Some(format!("the reasons were not found: {stop}")),
    };
    let verdict = match stage {
        Stage::Explaining => omnilink_report::Verdict::Rejected(Box::new(omnilink_report::Rejection {
            sentence: "no order of the operations is legal".into(),
            details: String::new(),
            blocked: Vec::new(),
            explained: 0,
            evidence: omnilink_report::Evidence::Contradiction { operations: Vec::new() },
        })),
        _ => inconclusive(stop, format!("{stop} while {stage}")),
    };
    let history = omnilink_report::History { name: label.into(), ..omnilink_report::History::default() };
    Report {
        spec: omnilink_report::Spec { name: spec.into(), constants: Vec::new() },
        order: order(level),
        level: reported(level),
        stats: omnilink_report::Stats {
            method: "given up".into(),
            returned: if stage == Stage::Searching { operations } else { 0 },
            ..omnilink_report::Stats::default()
        },
        notes: note.into_iter().collect(),
        ..Report::new(history, verdict)
    }
}

/// The maximum number of losses that a report names.
const MOST_LOSSES: usize = 10;

/// The report on a trace with missing operations: each loss in a sentence.
fn incomplete(report: Report, losses: &[String]) -> Report {
    let mut notes: Vec<String> = losses.iter().skip(1).take(MOST_LOSSES - 1).cloned().collect();
    if losses.len() > MOST_LOSSES {
        notes.push(format!("and {} more losses", losses.len() - MOST_LOSSES));
    }
    notes.push("a lost operation makes a correct system look wrong, so the history was not checked".into());
    let verdict = inconclusive(Stop::Incomplete, losses.first().cloned().unwrap_or_default());
    Report { verdict, notes, ..report }
}

/// An inconclusive verdict with its reason.
fn inconclusive(stop: Stop, words: String) -> omnilink_report::Verdict {
    let limit = match stop {
        Stop::Time => omnilink_report::Limit::Time,
        Stop::Memory => omnilink_report::Limit::Memory,
        Stop::Width => omnilink_report::Limit::Width,
        Stop::Interrupted => omnilink_report::Limit::Interrupt,
        Stop::Incomplete => omnilink_report::Limit::Incomplete,
    };
    omnilink_report::Verdict::Inconclusive { limit, stop: words }
}

/// The extension of TLA+ modules.
pub fn is_tla(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tla")
}

/// The default limit on configurations at once. It is reached within seconds, and a search that exceeds it soon has
/// many more.
pub const MAX_WIDTH: usize = 250_000;

/// Search options, with or without optimizations that provably make no difference.
fn search_options(options: &CheckOptions, reduce: bool) -> omnilink_search::Options {
    let default = omnilink_search::Options::default();
    let first_width = default.first_width.filter(|_| options.shortcuts && !options.exhaustive);
    let max_width = options.max_width.or((!options.exhaustive).then_some(MAX_WIDTH));
    let criterion = Criterion { precedence: options.level().order };
    omnilink_search::Options { criterion, by_level: options.exhaustive, reduce, max_width, first_width }
}

fn order(level: &Level) -> omnilink_report::Order {
    match level.order {
        Precedence::RealTime => omnilink_report::Order::RealTime,
        Precedence::Program => omnilink_report::Order::Program,
        Precedence::None => omnilink_report::Order::None,
    }
}

/// The level in a report, if operations need not see everything before them.
fn reported(level: &Level) -> Option<omnilink_report::Level> {
    let is_weak = level.class() != Class::Strong;
    is_weak.then(|| omnilink_report::Level { name: level.to_string(), missing: 0, missed: Vec::new() })
}

/// A word, quoted for a shell.
pub fn quoted(word: impl std::fmt::Display) -> String {
    let word = word.to_string();
    // A word that cannot be quoted cannot be typed.
    shlex::try_quote(&word).map_or_else(|_| word.replace('\0', ""), |quoted| quoted.into_owned())
}

/// A verdict under assumptions is about fewer orders.
fn assumed_notes(options: &CheckOptions) -> Vec<String> {
    let assumed: Vec<String> = assumed(options).iter().map(|assumption| format!("`{assumption}`")).collect();
    let note = || format!("the verdict covers only orders consistent with: {}", assumed.join(", "));
    if assumed.is_empty() { Vec::new() } else { vec![note()] }
}

fn assumed(options: &CheckOptions) -> Vec<String> {
    options.assume.iter().map(Assumption::to_string).collect()
}

/// The maximum number of events in a report.
const MOST_EVENTS: usize = 10_000;

fn event(event: &omnilink_history::Event) -> omnilink_report::Event {
    omnilink_report::Event {
        name: event.name.to_string(),
        start: event.start,
        end: event.end,
        nodes: event.nodes.iter().map(|node| node.to_string()).collect(),
        text: event.note.clone(),
    }
}

/// Where a trace is cut off, each as the end of a sentence.
fn cuts(cuts: &[Cut]) -> Vec<String> {
    let sentence = |cut: &Cut| {
        let part = if cut.part.is_empty() { String::new() } else { format!(" of {}", cut.part) };
        format!("after {} bytes{part} {}", cut.at_byte, cut.found)
    };
    cuts.iter().map(sentence).collect()
}

/// The maximum number of in-flight operations to name at the widest point: those that ran longest.
const MOST_IN_FLIGHT: usize = 8;

/// The cost of a check.
fn stats(
    stats: &Stats,
    method: &str,
    mention: &mut dyn FnMut(OpId) -> omnilink_report::OpRef,
) -> omnilink_report::Stats {
    let widest = stats.widest.as_ref().map(|widest| omnilink_report::Widest {
        width: widest.width,
        at: widest.goal.map(&mut *mention),
        in_flight: widest.in_flight.iter().take(MOST_IN_FLIGHT).map(|&op| mention(op)).collect(),
    });
    omnilink_report::Stats {
        method: method.into(),
        no_procedure: None,
        returned: stats.operations,
        evaluations: stats.steps,
        generated: stats.generated,
        distinct: stats.distinct,
        widest,
        seconds: 0.0,
    }
}
