//! The verdict on a history.
//!
//! If the specification has invariants, only orders that satisfy them explain a history. A history whose orders all
//! violate an invariant gets a verdict of its own: the actions allow it, and an invariant rejects it.

use std::sync::Arc;

use hashbrown::HashMap;
use omnilink_history::{Call, History, Op, OpId, Stop, Verdict};
use omnilink_search::{Assuming, Assumption, CheckError, Checker, Explanation, Marked, Options, Report, Route};
use omnilink_search::{Stats, Walked, Watch, Witness, check_watched};
use rustc_hash::FxBuildHasher;

use omnilink_tla::error::ErrorKind;

use crate::bind::TraceOp;
use crate::cut::Cut;
use crate::fault::{Broken, Fault, NoAnswer};
use crate::spec::{Along, TraceSpec, TraceState};

/// The result of a check, and its cost.
#[derive(Debug)]
pub struct Checked {
    /// The verdict.
    pub outcome: TraceOutcome,
    /// The common prefix of all orders that were still possible when a search ended without accepting.
    pub settled: Witness,
    /// True if the search ignored invariants.
    ignores_invariants: bool,
    /// Counts of work.
    pub stats: Stats,
    /// A point before the end from which an explanation can begin.
    pub checkpoint: Checkpoint,
}

impl Checked {
    /// The result of following a given legal order.
    pub fn in_given_order(witness: Witness) -> Checked {
        Checked {
            outcome: TraceOutcome::Accepted(witness),
            settled: Witness::default(),
            ignores_invariants: false,
            stats: Stats::default(),
            checkpoint: Checkpoint::default(),
        }
    }

    /// The result of [`check_stream`]. `None` if there is no order, because nothing then says why.
    pub fn of_stream(report: Report<TraceState>) -> Option<Checked> {
        let outcome = match report.verdict {
            Verdict::Accepted(witness) => TraceOutcome::Accepted(witness),
            Verdict::Inconclusive(stop) => TraceOutcome::Inconclusive(stop),
            Verdict::Rejected(_) => return None,
        };
        let (settled, stats, checkpoint) = (report.settled, report.stats, Checkpoint::default());
        Some(Checked { outcome, settled, ignores_invariants: false, stats, checkpoint })
    }

    /// Whether the orders found may violate invariants.
    pub fn ignores_invariants(&self) -> bool {
        self.ignores_invariants
    }

    /// How the history can be explained, as far as it can. At most this many continuations are kept.
    pub fn route(&self, most: usize) -> Route {
        match &self.outcome {
            TraceOutcome::Accepted(witness) => Route::from(witness),
            TraceOutcome::Rejected(stuck) | TraceOutcome::Violated(stuck, _) => Route::new(&self.settled, stuck, most),
            TraceOutcome::Inconclusive(_) => Route::from(&self.settled),
        }
    }
}

/// The last points of a check at which all configurations had placed the same operations, at intervals.
#[derive(Debug, Default)]
pub struct Checkpoint {
    last: Option<Cut>,
    before: Option<Cut>,
}

/// The minimum number of operations between two checkpoints.
const BETWEEN: usize = 2048;

/// The number of operations after which a checkpoint is tried again, if there was none.
const AGAIN: usize = 16;

impl Checkpoint {
    fn note(&mut self, cut: Cut) {
        self.before = self.last.replace(cut);
    }

    /// The latest checkpoint that is far enough before an operation.
    pub(crate) fn before(&self, spec: &TraceSpec<'_>, history: &History<TraceOp>, op: OpId) -> Result<Cut, NoAnswer> {
        let mut known = [&self.last, &self.before].into_iter().flatten();
        match known.find(|cut| cut.is_far_before(history, op)) {
            Some(cut) => Ok(cut.clone()),
            None => Cut::beginning(spec),
        }
    }
}

/// The verdicts.
#[derive(Debug)]
pub enum TraceOutcome {
    /// The specification allows the history, with this witness.
    Accepted(Witness),
    /// No order of the operations is legal.
    Rejected(Explanation<TraceState>),
    /// The actions allow orders, and each violates an invariant: how far orders get that satisfy the invariants, and
    /// where an order that the actions allow violates one. The first need not end at an invariant: an order may satisfy
    /// them only by a step after which another operation is not legal.
    Violated(Explanation<TraceState>, Broken),
    /// The check was stopped before it had a verdict.
    Inconclusive(Stop),
}

impl TraceOutcome {
    /// The configurations that no order gets past, if the history has no explanation.
    pub fn stuck(&self) -> Option<&Explanation<TraceState>> {
        match self {
            TraceOutcome::Rejected(stuck) | TraceOutcome::Violated(stuck, _) => Some(stuck),
            TraceOutcome::Accepted(_) | TraceOutcome::Inconclusive(_) => None,
        }
    }
}

/// Checks a history.
pub fn check(
    spec: &mut TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    watch: &dyn Watch,
) -> Result<Checked, NoAnswer> {
    // Hardly any order violates an invariant, so the search ignores invariants first. Only if the order found violates
    // one are all others searched. An exhaustive check counts every configuration, so it applies the invariants at
    // once, and so does a check under assumptions: it has fewer orders to begin with.
    let has_invariants = !spec.program.invariants.is_empty();
    let is_lazy = options.reduce && spec.assumed.is_empty();
    spec.ignore_invariants(has_invariants && is_lazy);
    let (first, checkpoint) = search(spec, history, options, watch)?;
    let Report { verdict, settled, mut stats } = first;
    let checked = |outcome, settled, ignores_invariants, stats, checkpoint| {
        Ok(Checked { outcome, settled, ignores_invariants, stats, checkpoint })
    };
    match verdict {
        Verdict::Inconclusive(stop) => checked(TraceOutcome::Inconclusive(stop), settled, is_lazy, stats, checkpoint),
        Verdict::Rejected(stuck) if is_lazy || !has_invariants => {
            checked(TraceOutcome::Rejected(stuck), settled, is_lazy, stats, checkpoint)
        }
        Verdict::Accepted(witness) => {
            let broken = match has_invariants && is_lazy {
                true => spec.broken_along(|id| &history.op(id).call, &witness),
                false => Ok(None),
            };
            let broken = match broken {
                Ok(Some(broken)) => broken,
                Ok(None) => return checked(TraceOutcome::Accepted(witness), settled, is_lazy, stats, checkpoint),
                Err(fault) if fault.error.kind == ErrorKind::Stopped => {
                    return checked(
                        TraceOutcome::Inconclusive(spec.stopped().unwrap_or(Stop::Interrupted)),
                        settled,
                        is_lazy,
                        stats,
                        checkpoint,
                    );
                }
                Err(fault) => return Err(NoAnswer::Fault(fault)),
            };
            spec.ignore_invariants(false);
            let (second, checkpoint) = search(spec, history, options, watch)?;
            stats.add(&second.stats);
            let outcome = match second.verdict {
                Verdict::Accepted(witness) => TraceOutcome::Accepted(witness),
                Verdict::Rejected(stuck) => TraceOutcome::Violated(stuck, broken),
                Verdict::Inconclusive(stop) => TraceOutcome::Inconclusive(stop),
            };
            checked(outcome, second.settled, false, stats, checkpoint)
        }
        Verdict::Rejected(refused) => {
            spec.ignore_invariants(true);
            let (second, other) = search(spec, history, options, watch)?;
            match second.verdict {
                Verdict::Accepted(witness) => {
                    let broken = spec.broken_along(|id| &history.op(id).call, &witness).map_err(NoAnswer::Fault)?;
                    let broken = broken.ok_or(NoAnswer::Unrepeatable)?;
                    spec.ignore_invariants(false);
                    checked(TraceOutcome::Violated(refused, broken), settled, false, stats, checkpoint)
                }
                Verdict::Rejected(stuck) => checked(TraceOutcome::Rejected(stuck), second.settled, true, stats, other),
                // Whether the actions alone allow it is unknown, and the invariants count too.
                Verdict::Inconclusive(_) => {
                    spec.ignore_invariants(false);
                    checked(TraceOutcome::Rejected(refused), settled, false, stats, checkpoint)
                }
            }
        }
    }
}

/// Searches for an order of operations that arrive by increasing start, in memory that does not grow with their number
/// except for the order found. They have been bound before, and arrive again for each pass. An order that is found
/// satisfies the invariants: as in a check of the whole history, the search ignores them first, and the order found is
/// followed. If none is found, only a check of the whole history can say why.
pub fn check_stream<E, I: Iterator<Item = Result<Op<Call>, E>>>(
    spec: &mut TraceSpec<'_>,
    processes: &[Arc<str>],
    mut ops: impl FnMut() -> Result<I, E>,
    options: &Options,
    watch: &dyn Watch,
    fail: impl Fn(NoAnswer) -> E,
) -> Result<Report<TraceState>, E> {
    let has_invariants = !spec.program.invariants.is_empty();
    spec.ignore_invariants(has_invariants);
    let found = search_stream(spec, processes, &mut ops, options, watch, &fail)?;
    let Verdict::Accepted(witness) = &found.verdict else { return Ok(found) };
    if !has_invariants || !is_broken_along(spec, processes, &mut ops, witness, &fail)? {
        return Ok(found);
    }
    spec.ignore_invariants(false);
    search_stream(spec, processes, &mut ops, options, watch, &fail)
}

fn search_stream<E, I: Iterator<Item = Result<Op<Call>, E>>>(
    spec: &TraceSpec<'_>,
    processes: &[Arc<str>],
    ops: &mut impl FnMut() -> Result<I, E>,
    options: &Options,
    watch: &dyn Watch,
    fail: &impl Fn(NoAnswer) -> E,
) -> Result<Report<TraceState>, E> {
    let fail = |error: CheckError<Fault>| fail(error.into());
    let mut pass = |mut checker: Checker<'_, TraceSpec<'_>>| {
        for op in ops()? {
            let op = op?;
            let Some(bound) = spec.bound(&op, processes) else { continue };
            if checker.push(op.with(bound), watch).map_err(fail)?.is_decided() {
                break;
            }
        }
        checker.finish(watch).map_err(fail)
    };
    if let Some(first) = Checker::first(spec, options).map_err(fail)? {
        let report = pass(first)?;
        if report.verdict != Verdict::Inconclusive(Stop::Width) {
            return Ok(report);
        }
    }
    pass(Checker::new(spec, options).map_err(fail)?)
}

/// Whether an order violates an invariant. Operations wait until it is their turn, which is soon: the order fits their
/// intervals.
fn is_broken_along<E, I: Iterator<Item = Result<Op<Call>, E>>>(
    spec: &TraceSpec<'_>,
    processes: &[Arc<str>],
    ops: &mut impl FnMut() -> Result<I, E>,
    witness: &Witness,
    fail: &impl Fn(NoAnswer) -> E,
) -> Result<bool, E> {
    let fail = |fault: Fault| fail(NoAnswer::Fault(fault));
    let mut along = Along::default();
    if along.begin(spec, witness).map_err(fail)?.is_some() {
        return Ok(true);
    }
    let mut waiting: HashMap<OpId, TraceOp, FxBuildHasher> = HashMap::default();
    let mut steps = witness.steps().peekable();
    for op in ops()? {
        let op = op?;
        let Some(bound) = spec.bound(&op, processes) else { continue };
        waiting.insert(op.id, bound);
        while let Some(placed) = steps.next_if(|placed| waiting.contains_key(&placed.op)) {
            if along.step(spec, &waiting[&placed.op], placed).map_err(fail)?.is_some() {
                return Ok(true);
            }
            if !placed.partway {
                waiting.remove(&placed.op);
            }
        }
    }
    Ok(false)
}

/// The states that a route passes through. It may violate invariants, if it was found without them.
pub fn walk(
    spec: &mut TraceSpec<'_>,
    history: &History<TraceOp>,
    route: &Route,
    ignores_invariants: bool,
    until: Option<usize>,
    most: usize,
) -> Result<Walked<TraceState>, NoAnswer> {
    spec.ignore_invariants(ignores_invariants);
    let spec = &*spec;
    if spec.assumed.is_empty() {
        return Ok(route.walk(spec, history, until, most)?);
    }
    with_assumed(spec, history, |spec, marked| {
        Ok(route.walk(spec, marked, until, most)?.map_states(|since| since.state))
    })
}

type StatePredicate<'a> = Box<dyn Fn(&TraceState) -> bool + 'a>;

/// Calls `work` with a specification under assumptions.
fn with_assumed<R>(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    work: impl FnOnce(&Assuming<'_, TraceSpec<'_>, StatePredicate<'_>>, &History<Marked<TraceOp>>) -> Result<R, NoAnswer>,
) -> Result<R, NoAnswer> {
    let such = |assumption: &Assumption<String>| match assumption {
        Assumption::Before(first, second) => Assumption::Before(*first, *second),
        Assumption::LeadsTo(op, id) => {
            let id = id.clone();
            Assumption::LeadsTo(
                *op,
                Box::new(move |state: &TraceState| spec.show(&state.values).id.starts_with(&id)) as StatePredicate<'_>,
            )
        }
    };
    let assumed: Vec<Assumption<StatePredicate<'_>>> = spec.assumed.iter().map(such).collect();
    let assuming = Assuming::new(spec, &assumed)?;
    work(&assuming, &assuming.mark_all(history))
}

/// Searches for an order, and stores points from which to look back. A limit may end the search in the middle of a
/// step.
fn search(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    watch: &dyn Watch,
) -> Result<(Report<TraceState>, Checkpoint), NoAnswer> {
    let (mut checkpoint, mut stats) = (Checkpoint::default(), Stats::default());
    let report = match try_search(spec, history, options, watch, &mut checkpoint, &mut stats) {
        Err(NoAnswer::Fault(fault)) if fault.error.kind == ErrorKind::Stopped => Report {
            verdict: Verdict::Inconclusive(spec.stopped().unwrap_or(Stop::Interrupted)),
            settled: Witness::default(),
            stats,
        },
        result => result?,
    };
    Ok((report, checkpoint))
}

/// The same; `stats` has the counts up to an error.
fn try_search(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    watch: &dyn Watch,
    checkpoint: &mut Checkpoint,
    stats: &mut Stats,
) -> Result<Report<TraceState>, NoAnswer> {
    if !spec.assumed.is_empty() {
        return with_assumed(spec, history, |spec, marked| {
            Ok(check_watched(spec, marked, options, watch)?.map_states(|since| since.state))
        });
    }
    if !options.is_just_in_time(history) {
        return Ok(check_watched(spec, history, options, watch)?);
    }
    if let Some(checker) = Checker::first(spec, options)? {
        let report = search_in_one_pass(checker, history, watch, checkpoint, stats)?;
        if report.verdict != Verdict::Inconclusive(Stop::Width) {
            return Ok(report);
        }
        *checkpoint = Checkpoint::default();
    }
    search_in_one_pass(Checker::new(spec, options)?, history, watch, checkpoint, stats)
}

fn search_in_one_pass<'s>(
    mut checker: Checker<'s, TraceSpec<'_>>,
    history: &'s History<TraceOp>,
    watch: &dyn Watch,
    checkpoint: &mut Checkpoint,
    stats: &mut Stats,
) -> Result<Report<TraceState>, NoAnswer> {
    let mut due = BETWEEN;
    for (index, op) in history.ops().iter().enumerate() {
        match checker.push(op.with(&op.call), watch) {
            Ok(progress) if progress.is_decided() => break,
            Ok(_) => {}
            Err(error) => {
                stats.clone_from(checker.stats());
                return Err(error.into());
            }
        }
        if index >= due {
            let cut = Cut::now(&checker, index + 1);
            due = index + if cut.is_some() { BETWEEN } else { AGAIN };
            cut.into_iter().for_each(|cut| checkpoint.note(cut));
        }
    }
    stats.clone_from(checker.stats());
    Ok(checker.finish(watch)?)
}
