//! `omnilink check`: histories in, verdicts out.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::mem::{replace, take};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use history::format::binary::Merge;
use history::{Call, Cut, History, Op, OpId, Precedence, Stop, Trace, Verdict};
use models::check::{Checked, Failure, Method, Options};
use models::{Model, Visitor, with_model};
use search::{Stats, Strategy, Why, Witness};

use crate::args::{CheckArgs, Order, Output};
use crate::exit::Exit;
use crate::input::{self, InputError, Recording};
use crate::limits::{self, Limits};
use crate::{complain, render};

/// What there is to say about one history.
pub(crate) struct Outcome {
    pub(crate) label: String,
    pub(crate) checked: Checked,
    /// How many operations there are, if it was found out.
    pub(crate) operations: Option<u64>,
    pub(crate) processes: usize,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) elapsed: Duration,
    /// The operations that the verdict speaks of: the name of each, and what was recorded.
    pub(crate) mentioned: HashMap<OpId, (String, Op<Call>)>,
}

pub(crate) fn run(args: &CheckArgs) -> Exit {
    limits::catch_interrupts();
    if let Err(error) = with_model(&args.spec, Nothing) {
        let help = Some("`omnilink specs` lists the specifications and their options".into());
        return complain("--spec", &InputError { message: error.to_string(), help });
    }
    let (mut exit, mut outcomes) = (Exit::Nothing, Vec::new());
    let mut witness_file = match args.witness.as_ref().map(File::create).transpose() {
        Ok(file) => file.map(BufWriter::new),
        Err(error) => return complain("--witness", &InputError::new(error)),
    };
    for path in &args.histories {
        let recordings = match input::recordings(path) {
            Ok(recordings) => recordings,
            Err(error) => {
                exit = exit.max(complain(&path.display().to_string(), &error));
                continue;
            }
        };
        for recording in recordings {
            let label =
                if recording == Path::new("-") { "standard input".into() } else { recording.display().to_string() };
            match check(args, &recording, &label, &mut witness_file) {
                Ok(outcome) => {
                    exit = exit.max(exit_of(&outcome));
                    if args.format == Output::Human {
                        render::human(&outcome, args.quiet);
                    }
                    outcomes.push(outcome);
                }
                Err(error) => exit = exit.max(complain(&label, &error)),
            }
        }
    }
    match args.format {
        Output::Json => render::json(&args.spec, &outcomes),
        Output::Human => render::summary(&outcomes),
    }
    if exit == Exit::Nothing && outcomes.is_empty() {
        anstream::eprintln!("nothing to check: there are no histories there");
    }
    if let Some(Err(error)) = witness_file.map(|mut file| file.flush()) {
        return complain("--witness", &InputError::new(error));
    }
    exit
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome.checked.verdict {
        _ if outcome.operations == Some(0) => Exit::Nothing,
        Verdict::Accepted(_) => Exit::Accepted,
        Verdict::Rejected(_) => Exit::Rejected,
        Verdict::Inconclusive(_) => Exit::Inconclusive,
    }
}

fn check(
    args: &CheckArgs,
    path: &Path,
    label: &str,
    witness_file: &mut Option<BufWriter<File>>,
) -> Result<Outcome, InputError> {
    let limits = Limits::new(&args.into(), label);
    let is_too_large =
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > args.max_memory.as_u64());
    if is_too_large {
        return Ok(too_large(label, &limits));
    }
    let recording = input::open(path, args.from)?;
    let visitor = Check { args, path, label, recording, limits: &limits, witness_file };
    let mut outcome = with_model(&args.spec, visitor).map_err(InputError::new)??;
    outcome.elapsed = limits.elapsed();
    Ok(outcome)
}

fn too_large(label: &str, limits: &Limits) -> Outcome {
    Outcome {
        label: label.into(),
        checked: Checked {
            verdict: Verdict::Inconclusive(Stop::Memory),
            method: Method::Search,
            stats: Stats::default(),
        },
        operations: None,
        processes: 0,
        cuts: Vec::new(),
        elapsed: limits.elapsed(),
        mentioned: HashMap::new(),
    }
}

/// Only finds out whether a model exists.
struct Nothing;

impl Visitor for Nothing {
    type Output = ();

    fn visit<M: Model>(self, _: M) {}
}

/// Checks one recording against whichever model was chosen.
struct Check<'a> {
    args: &'a CheckArgs,
    path: &'a Path,
    label: &'a str,
    recording: Recording,
    limits: &'a Limits,
    witness_file: &'a mut Option<BufWriter<File>>,
}

impl Visitor for Check<'_> {
    type Output = Result<Outcome, InputError>;

    fn visit<M: Model>(mut self, model: M) -> Self::Output {
        match self.recording {
            Recording::Segments(ref merge) if self.is_stream(&model, merge.processes())? => self.check_stream(&model),
            _ => self.check_whole(&model),
        }
    }
}

/// How many operations are looked at to find out whether a history splits into parts.
const LOOKED_AT: usize = 1 << 16;

impl Check<'_> {
    /// True if there is nothing to gain from having the whole history at hand.
    fn is_stream<M: Model>(&self, model: &M, processes: &[Arc<str>]) -> Result<bool, InputError> {
        if self.args.order == Order::Program || self.witness_file.is_some() {
            return Ok(false);
        }
        if self.args.no_shortcuts || model.has_procedure() {
            return Ok(self.args.no_shortcuts);
        }
        for op in self.segments()?.take(LOOKED_AT) {
            let op = op?;
            let bad =
                |error| models::check::Error::BadCall { op: history::name(processes, op.process, op.index), error };
            if model.bind(&op).map_err(bad)?.is_some_and(|op| model.partition(&op).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_stream<M: Model>(&self, model: &M) -> Result<Outcome, InputError> {
        let mut merge = self.segments()?;
        let processes: Vec<Arc<str>> = merge.processes().to_vec();
        let mut operations = 0;
        let counted = merge.by_ref().map(|op| op.map_err(InputError::from)).inspect(|_| operations += 1);
        let watcher = |stats: &Stats| self.limits.look(stats);
        let checked = models::check::check_stream(model, &processes, counted, &self.options().search, &watcher)?;
        // A verdict may come before the end. The rest is read all the same, so that what is damaged there is not missed.
        for op in merge.by_ref() {
            op?;
            operations += 1;
        }
        let cuts = merge.cuts().to_vec();
        let ids = mentions(&checked);
        let mut mentioned = HashMap::new();
        let mut again = self.segments()?;
        while mentioned.len() < ids.len()
            && let Some(op) = again.next().transpose()?
        {
            if ids.binary_search(&op.id).is_ok() {
                mentioned.insert(op.id, (history::name(&processes, op.process, op.index), op));
            }
        }
        Ok(self.outcome(checked, operations, processes.len(), cuts, mentioned))
    }

    fn check_whole<M: Model>(&mut self, model: &M) -> Result<Outcome, InputError> {
        let recording = replace(&mut self.recording, Recording::Trace(Trace::default()));
        let mut trace = recording.read(self.path)?;
        let cuts = take(&mut trace.cuts);
        let history = History::new(trace)?;
        let watcher = |stats: &Stats| self.limits.look(stats);
        let checked = models::check::check(model, &history, &self.options(), &watcher)?;
        if let (Some(file), Verdict::Accepted(witness)) = (&mut self.witness_file, &checked.verdict) {
            write_witness(file, self.label, witness, &history).map_err(InputError::new)?;
        }
        let name = |id: OpId| (id, (history.name(id), history.op(id).clone()));
        let mentioned = mentions(&checked).into_iter().map(name).collect();
        Ok(self.outcome(checked, history.ops().len() as u64, history.processes().len(), cuts, mentioned))
    }

    fn segments(&self) -> Result<Merge<File>, InputError> {
        match input::open(self.path, Some(input::Kind::Binary))? {
            Recording::Segments(merge) => Ok(merge),
            Recording::Trace(_) => unreachable!("binary traces are opened as segments"),
        }
    }

    fn options(&self) -> Options {
        let strategy = match self.args.order {
            Order::RealTime => Strategy::JustInTime,
            Order::Program => Strategy::ByLevel(Precedence::Program),
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            search: search::Options { strategy, reduce: true, max_width: self.args.max_width },
            shortcuts: !self.args.no_shortcuts,
            threads: self.args.jobs.unwrap_or_else(cores),
        }
    }

    fn outcome(
        &self,
        checked: Checked,
        operations: u64,
        processes: usize,
        cuts: Vec<Cut>,
        mentioned: HashMap<OpId, (String, Op<Call>)>,
    ) -> Outcome {
        let label = self.label.to_owned();
        Outcome { label, checked, operations: Some(operations), processes, cuts, elapsed: Duration::ZERO, mentioned }
    }
}

/// The operations that a verdict speaks of, in order.
fn mentions(checked: &Checked) -> Vec<OpId> {
    let mut ids = Vec::new();
    if let Verdict::Inconclusive(_) = checked.verdict
        && let Some(widest) = &checked.stats.widest
    {
        ids.extend(widest.goal.iter().chain(&widest.in_flight));
    }
    match &checked.verdict {
        Verdict::Rejected(Failure::Contradiction { ops, .. }) => ids.extend(ops),
        Verdict::Rejected(Failure::Stuck { explanation, .. }) => {
            ids.extend(explanation.goal);
            for stuck in &explanation.stuck {
                ids.extend(stuck.recent.iter().map(|step| step.op));
                for refusal in &stuck.refused {
                    ids.push(refusal.op);
                    if let Why::MustFollow(before) = refusal.why {
                        ids.push(before);
                    }
                }
            }
        }
        Verdict::Accepted(_) | Verdict::Inconclusive(_) => {}
    }
    ids.sort();
    ids.dedup();
    ids
}

/// Writes the order that explains a history: one operation a line, as the verdict names it.
fn write_witness(
    file: &mut BufWriter<File>,
    label: &str,
    witness: &Witness,
    history: &History<Call>,
) -> std::io::Result<()> {
    writeln!(file, "# {label}")?;
    for step in witness.steps() {
        let op = history.op(step.op);
        writeln!(file, "{} {} {}", history.name(step.op), op.interval, op.call)?;
    }
    Ok(())
}
