//! A trace as a value: read on first use, and kept.
//!
//! Text is read whole and becomes a history. The segments of a binary trace are decoded again by every pass that takes
//! operations one by one, so that a check can stream through them; the first user of the whole history builds it once.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "tla")]
use omnilink_history::Record;
use omnilink_history::format::binary::{Manifest, Merge};
use omnilink_history::{Call, Cut, Event, History, IllFormed, Op, OpId, Outcome, Stop, Trace};
use omnilink_search::Witness;

use crate::Stage;
use crate::halting;
use crate::input::{self, InputError, Kind, Opened, SegmentBytes, Segments};
use crate::join;
use crate::{Failed, Limits, Unlimited};

/// A trace: a file, a directory, standard input, several of these, or operations in memory.
#[derive(Debug, Default)]
pub struct Recording {
    path: Option<PathBuf>,
    parts: Vec<PathBuf>, // Of a history in several traces; empty otherwise.
    kind: Option<Kind>,
    count: Arc<AtomicU64>,
    held: OnceLock<Held>,
    losses: OnceLock<Vec<String>>,
    notes: OnceLock<Vec<String>>,
    #[cfg(feature = "tla")]
    is_log: OnceLock<bool>,
}

impl Recording {
    /// The trace at a path, in this format; detected if `None`. `-` is standard input.
    pub fn at(path: impl Into<PathBuf>, kind: Option<Kind>) -> Recording {
        Recording { path: Some(path.into()), kind, ..Recording::default() }
    }

    /// Makes one history of several traces, each of different clients.
    pub fn joined(parts: Vec<PathBuf>, kind: Option<Kind>) -> Recording {
        Recording { parts, kind, ..Recording::default() }
    }

    /// Operations in memory.
    pub fn of(history: History<Call>) -> Recording {
        Recording::of_whole(Whole { history, cuts: Vec::new(), events: Vec::new() })
    }

    /// A trace in memory.
    pub(crate) fn of_trace(trace: Trace) -> Result<Recording, IllFormed> {
        Whole::new(trace).map(Recording::of_whole)
    }

    fn of_whole(whole: Whole) -> Recording {
        let held = OnceLock::from(Held::Whole(whole));
        Recording { held, ..Recording::default() }
    }

    /// The file or directory that it can be read from again.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// True if it is a log, and not a trace in one of our own formats. Examines the file once.
    #[cfg(feature = "tla")]
    pub(crate) fn is_log(&self) -> bool {
        let looks_like_one = || match self.kind {
            None => self.path().is_some_and(input::is_log),
            Some(kind) => kind == Kind::Log,
        };
        *self.is_log.get_or_init(looks_like_one)
    }

    /// The unit of its clock, if a manifest names it.
    pub(crate) fn clock(&self) -> Option<String> {
        let text = std::fs::read(self.path()?.join("manifest.json")).ok()?;
        Manifest::read(&text).ok()?.clock
    }

    /// The number of bytes read, by all passes together.
    pub fn bytes_read(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// All operations.
    pub fn history(&self) -> Result<&History<Call>, Failed> {
        Ok(&self.held(u64::MAX, &Unlimited)?.whole(&Unlimited)?.history)
    }

    /// The events beside the operations; empty if the trace was not read as a whole.
    pub(crate) fn events(&self) -> &[Event] {
        match self.held.get() {
            Some(Held::Whole(whole)) => &whole.events,
            Some(Held::Stream(stream)) => stream.whole.get().map_or(&[], |whole| &whole.events),
            None => &[],
        }
    }

    /// The lines of operations with these names, as far as it is text that can be read again.
    pub(crate) fn lines_of(&self, names: &[&str]) -> Vec<Option<usize>> {
        let opened = self.path().map(|path| input::open_within(path, self.kind, u64::MAX, &Unlimited, &self.count));
        match opened {
            Some(Ok(Opened::Trace(_, Some(text)))) => names.iter().map(|name| text.line_of(name)).collect(),
            _ => vec![None; names.len()],
        }
    }

    /// The first start and the last end of its operations, if it has one process and was read.
    pub fn span_of_one_process(&self) -> Option<(u64, u64)> {
        let processes = self.held.get()?.processes();
        let history = match self.held.get()? {
            Held::Whole(whole) => &whole.history,
            Held::Stream(stream) => &stream.whole.get()?.history,
        };
        let interval = |op: &Op<Call>| (op.interval.start(), op.interval.end().unwrap_or(op.interval.start()));
        let span = |all: (u64, u64), op: (u64, u64)| (all.0.min(op.0), all.1.max(op.1));
        history.ops().iter().map(interval).reduce(span).filter(|_| processes.len() == 1)
    }

    /// The reason why operations are missing, as far as it was read. Such a recording has no history.
    pub(crate) fn losses(&self) -> &[String] {
        self.losses.get().map_or(&[], Vec::as_slice)
    }

    /// Remarks of the reader, as far as it was read.
    pub(crate) fn notes(&self) -> &[String] {
        self.notes.get().map_or(&[], Vec::as_slice)
    }

    /// The loaded trace. Loads it if needed: at most `most` bytes of text. A trace with missing operations is never
    /// loaded, so that no user of a history can take it for a whole one.
    pub(crate) fn held(&self, most: u64, limits: &dyn Limits) -> Result<&Held, Failed> {
        if let Some(held) = self.held.get() {
            if let Held::Whole(whole) = held {
                limits.total(whole.history.ops().len() as u64);
            }
            return Ok(held);
        }
        limits.reached(Stage::Reading, 0);
        let path = self.path.as_deref().unwrap_or(Path::new("-"));
        let opened = match &*self.parts {
            [] => input::open_within(path, self.kind, most, limits, &self.count)?,
            parts => Opened::Trace(join::read(parts, self.kind, most, limits, &self.count)?, None),
        };
        let held = match opened {
            Opened::Segments(segments) => {
                let processes = segments.merge()?.processes().to_vec();
                Held::Stream(Stream { segments, processes, whole: OnceLock::new() })
            }
            Opened::Trace(mut trace, text) => {
                self.notes.get_or_init(|| std::mem::take(&mut trace.notes));
                if !trace.losses.is_empty() {
                    self.losses.get_or_init(|| trace.losses);
                    return Err(Failed::Stopped(Stop::Incomplete));
                }
                limits.reached(Stage::Reading, trace.records.len() as u64);
                limits.total(trace.records.len() as u64);
                let ill_formed = |error: &IllFormed| match &text {
                    Some(text) => text.ill_formed(error),
                    None => error.into(),
                };
                Held::Whole(Whole::new(trace).map_err(|error| ill_formed(&error))?)
            }
        };
        Ok(self.held.get_or_init(|| held))
    }
}

/// A loaded trace.
#[derive(Debug)]
pub(crate) enum Held {
    /// A history.
    Whole(Whole),
    /// Segments for streaming.
    Stream(Stream),
}

/// A history, and the places where its trace is cut off.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) history: History<Call>,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) events: Vec<Event>,
}

impl Whole {
    fn new(mut trace: Trace) -> Result<Whole, IllFormed> {
        let (cuts, events) = (std::mem::take(&mut trace.cuts), std::mem::take(&mut trace.events));
        Ok(Whole { history: History::new(trace)?, cuts, events })
    }
}

/// The segments of a binary trace.
#[derive(Debug)]
pub(crate) struct Stream {
    segments: Segments,
    processes: Vec<Arc<str>>,
    whole: OnceLock<Whole>,
}

impl Stream {
    /// True if it is too large to be kept in memory.
    #[cfg(feature = "tla")]
    pub(crate) fn is_large(&self) -> bool {
        self.segments.is_large()
    }

    /// All operations by start.
    pub(crate) fn merge(&self) -> Result<Merge<SegmentBytes>, InputError> {
        self.segments.merge()
    }
}

impl Held {
    pub(crate) fn processes(&self) -> &[Arc<str>] {
        match self {
            Held::Whole(whole) => whole.history.processes(),
            Held::Stream(stream) => &stream.processes,
        }
    }

    /// The whole history.
    pub(crate) fn whole(&self, limits: &dyn Limits) -> Result<&Whole, Failed> {
        let stream = match self {
            Held::Whole(whole) => return Ok(whole),
            Held::Stream(stream) => stream,
        };
        if let Some(whole) = stream.whole.get() {
            return Ok(whole);
        }
        let trace = stream.segments.read_within(limits)?;
        limits.reached(Stage::Reading, trace.records.len() as u64);
        limits.total(trace.records.len() as u64);
        let whole = Whole::new(trace).map_err(|error| InputError::from(&error))?;
        Ok(stream.whole.get_or_init(|| whole))
    }

    /// The same with an operation for the end of each process, for a companion module.
    #[cfg(feature = "tla")]
    pub(crate) fn with_ends(&self, limits: &dyn Limits) -> Result<Held, Failed> {
        let Whole { history, cuts, events } = self.whole(limits)?;
        let record = |op: &Op<Call>| Record {
            process: op.process,
            start: op.interval.start(),
            end: op.interval.into(),
            call: op.call.clone(),
        };
        let mut trace = Trace {
            processes: history.processes().to_vec(),
            records: history.ops().iter().map(record).collect(),
            events: events.clone(),
            cuts: cuts.clone(),
            ..Trace::default()
        };
        omnilink_validate::add_ends(&mut trace);
        Ok(Held::Whole(Whole::new(trace).map_err(|error| InputError::from(&error))?))
    }

    /// Visits every operation, unless a limit is reached, and returns the places where the trace is cut off.
    pub(crate) fn for_each(
        &self,
        limits: &dyn Limits,
        stage: Stage,
        mut show: impl FnMut(&Op<Call>) -> Result<(), Failed>,
    ) -> Result<Vec<Cut>, Failed> {
        let mut count = 0;
        let mut show = |op: &Op<Call>| {
            halting::pause(limits, stage, count)?;
            count += 1;
            show(op)
        };
        let loaded = match self {
            Held::Whole(whole) => Ok(whole),
            Held::Stream(stream) => stream.whole.get().ok_or(stream),
        };
        match loaded {
            Ok(Whole { history, cuts, .. }) => {
                history.ops().iter().try_for_each(&mut show)?;
                Ok(cuts.clone())
            }
            Err(stream) => {
                let mut merge = stream.merge()?;
                for op in merge.by_ref() {
                    show(&op.map_err(InputError::from)?)?;
                }
                Ok(merge.cuts().to_vec())
            }
        }
    }

    /// The operations with these numbers, as reports show them, in the same order.
    pub(crate) fn describe(&self, ids: &[OpId]) -> Result<Vec<omnilink_report::Operation>, InputError> {
        let stream = match self {
            Held::Whole(Whole { history, .. }) => return Ok(described(history, ids)),
            Held::Stream(stream) => stream,
        };
        if let Some(Whole { history, .. }) = stream.whole.get() {
            return Ok(described(history, ids));
        }
        let mut found: HashMap<OpId, omnilink_report::Operation> = HashMap::new();
        let mut wanted = ids.to_vec();
        wanted.sort();
        wanted.dedup();
        let mut merge = stream.merge()?;
        while found.len() < wanted.len()
            && let Some(op) = merge.next().transpose()?
        {
            if wanted.binary_search(&op.id).is_ok() {
                found.insert(op.id, shown(&op, &stream.processes));
            }
        }
        let gone = || InputError::new("the trace has changed");
        ids.iter().map(|id| found.get(id).cloned().ok_or_else(gone)).collect()
    }

    /// Writes the order that explains a history: one operation per line, as in the verdict. An operation that takes
    /// several steps has a line for each, and all but the last end in `...`.
    pub(crate) fn write_witness(&self, file: &mut dyn Write, label: &str, witness: &Witness) -> Result<(), InputError> {
        let ids: Vec<OpId> = witness.steps().map(|step| step.op).collect();
        let cannot = |error: std::io::Error| InputError::new(error);
        writeln!(file, "# {label}").map_err(cannot)?;
        for (op, step) in self.describe(&ids)?.iter().zip(witness.steps()) {
            let partway = if step.partway { " ..." } else { "" };
            writeln!(file, "{}{partway}", witness_line(op)).map_err(cannot)?;
        }
        Ok(())
    }
}

fn described(history: &History<Call>, ids: &[OpId]) -> Vec<omnilink_report::Operation> {
    ids.iter().map(|&id| shown(history.op(id), history.processes())).collect()
}

fn shown(op: &Op<Call>, processes: &[Arc<str>]) -> omnilink_report::Operation {
    operation(omnilink_history::name(processes, op.process, op.index), op)
}

/// An operation of a trace as reports show it.
pub fn operation(name: String, op: &Op<Call>) -> omnilink_report::Operation {
    let fields = |names: &[Arc<str>], values: &[omnilink_history::Value]| {
        let fields = names.iter().zip(values);
        fields
            .map(|(name, value)| omnilink_report::Field { name: name.to_string(), value: value.to_string() })
            .collect()
    };
    let schema = op.call.schema();
    let meta = op.call.meta.iter();
    omnilink_report::Operation {
        process: name.rsplit_once(':').map_or(&*name, |(process, _)| process).to_owned(),
        name,
        text: op.call.to_string(),
        action: op.call.action().to_owned(),
        args: fields(&schema.args, op.call.args()),
        results: fields(&schema.results, op.call.results()),
        start: op.interval.start(),
        end: op.interval.end(),
        outcome: match op.outcome() {
            Outcome::Finished => None,
            Outcome::Unfinished => Some(omnilink_report::Ended::Unfinished),
            Outcome::Blocked => Some(omnilink_report::Ended::Blocked),
            Outcome::Failed => Some(omnilink_report::Ended::Failed),
        },
        meta: meta
            .map(|(name, value)| omnilink_report::Field { name: name.to_string(), value: value.to_string() })
            .collect(),
    }
}

/// An operation as a line of a witness.
pub fn witness_line(op: &omnilink_report::Operation) -> String {
    format!("{} {} {}", op.name, op.interval(), op.text)
}
