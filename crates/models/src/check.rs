//! Checks a recorded history against a model, in the cheapest way that decides it.
//!
//! Three ways, tried in this order: the polynomial procedure, where the model has one that applies; the search over each
//! part of the object on its own, where every operation concerns one part; the search over the whole. Whichever it was,
//! an accepted history carries an order of all its operations, and that order is replayed through the whole model.
//!
//! Linearizability is local (Herlihy and Wing 1990): if each part has an order, so has the whole. To find it, give each
//! operation of a part the earliest time that its place in the part's order leaves it, and merge the parts by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};

use history::{Call, History, Op, OpId, Precedence, Stop, Value, Verdict};
use search::{Assuming, Assumption, CheckError, Explanation, Report, Route, Stats, Strategy};
use search::{TooMany, Unconfirmed, Unwatched, Walked, Watch, Witness};
use smallvec::SmallVec;
use thiserror::Error;

use crate::unambiguous::Decision;
use crate::{BadCall, Model};

/// How to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How to search, if a search is needed.
    pub search: search::Options,
    /// Whether to try anything but the search over the whole history. Verdicts are the same either way.
    pub shortcuts: bool,
    /// How many parts to search at once.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { search: search::Options::default(), shortcuts: true, threads: 1 }
    }
}

/// Looks at a search from time to time, possibly from several threads: [`Watch`] that is shared.
pub trait Watcher: Sync {
    /// Answers with a reason to stop, if there is one.
    fn look(&self, stats: &Stats) -> Option<Stop>;

    /// Called when an operation has returned and been placed. So many configurations were possible for it.
    fn returned(&self, _op: OpId, _width: usize) {}
}

impl<F: Fn(&Stats) -> Option<Stop> + Sync> Watcher for F {
    fn look(&self, stats: &Stats) -> Option<Stop> {
        self(stats)
    }
}

impl Watcher for Unwatched {
    fn look(&self, _: &Stats) -> Option<Stop> {
        None
    }
}

/// One of the searches that a watcher looks at. Nobody waits for the verdict once it is moot.
struct Watched<'w, M> {
    watcher: &'w dyn Watcher,
    is_moot: M,
}

impl<M: Fn() -> bool> Watch for Watched<'_, M> {
    fn look(&mut self, stats: &Stats) -> Option<Stop> {
        if (self.is_moot)() { Some(Stop::Interrupted) } else { self.watcher.look(stats) }
    }

    fn returned(&mut self, op: OpId, width: usize) {
        self.watcher.returned(op, width);
    }
}

fn watched(watcher: &dyn Watcher) -> Watched<'_, fn() -> bool> {
    Watched { watcher, is_moot: || false }
}

/// What a check found, how, and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict<Witness, Failure>,
    /// How every order begins that was still possible when a search ended without accepting.
    pub settled: Witness,
    /// What decided it.
    pub method: Method,
    /// Counts of the search; all zero if there was none.
    pub stats: Stats,
}

/// What decided a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The model's own procedure, without searching.
    Procedure,
    /// A search over each of so many parts of the object.
    Parts(usize),
    /// A search over the whole history.
    Search,
}

/// Why no order of the operations is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A few operations contradict each other, whatever the others do.
    Contradiction {
        /// Those operations.
        ops: Vec<OpId>,
        /// Why they cannot all have happened.
        reason: String,
    },
    /// Every order gets stuck.
    Stuck {
        /// The part of the object that has no order, if each was searched on its own.
        part: Option<Value>,
        /// Where every order gets stuck, with states as the model shows them.
        explanation: Explanation<String>,
    },
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A recorded call means nothing to the model.
    #[error("{op}: {error}")]
    BadCall {
        /// The operation, by process and place.
        op: String,
        /// What is wrong with it.
        error: BadCall,
    },
    /// An order was found that does not stand up when replayed, which is a bug.
    #[error("the order found was not confirmed when it was replayed: {0}")]
    Unconfirmed(#[from] Unconfirmed),
    /// Too much is assumed.
    #[error(transparent)]
    TooMany(#[from] TooMany),
}

/// Checks a history.
pub fn check<M: Model>(
    model: &M,
    history: &History<Call>,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<Checked, Error> {
    let bound = history.try_map(|op| bind(model, history, op))?;
    if options.shortcuts && options.search.strategy == Strategy::JustInTime {
        match model.decide(&bound) {
            Decision::Linearizable(order) => {
                let witness = confirm(model, &bound, Witness::from_order(order))?;
                return Ok(decided(Verdict::Accepted(witness)));
            }
            Decision::Violation { ops, reason } => {
                return Ok(decided(Verdict::Rejected(Failure::Contradiction { ops, reason })));
            }
            Decision::NotApplicable(_) => {}
        }
        if let Some(parts) = bound.split(|op| model.partition(op)).filter(|parts| parts.len() > 1) {
            return check_parts(model, &bound, &parts, options, watcher);
        }
    }
    let report = search::check_watched(model, &bound, &options.search, &mut watched(watcher));
    Ok(show(model, None, Method::Search, confirmed(report)?))
}

fn decided(verdict: Verdict<Witness, Failure>) -> Checked {
    Checked { verdict, settled: Witness::default(), method: Method::Procedure, stats: Stats::default() }
}

/// Something assumed about the order of operations. A state is one that is meant if this is true of what the model shows.
pub type Assumed = Assumption<Box<dyn Fn(&str) -> bool>>;

/// Checks a history of which something is assumed. Always searches the whole.
pub fn check_assuming<M: Model>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    options: &search::Options,
    watcher: &dyn Watcher,
) -> Result<Checked, Error> {
    with_assumed(model, history, assumed, |spec, marked| {
        let report = confirmed(search::check_watched(spec, marked, options, &mut watched(watcher)))?;
        Ok(show(model, None, Method::Search, report.map_states(|since| since.state)))
    })
}

/// The states that a route goes through, as the model shows them.
pub fn walk<M: Model>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    route: &Route,
    until: Option<usize>,
    most: usize,
) -> Result<Walked<String>, Error> {
    with_assumed(model, history, assumed, |spec, marked| {
        let walked = route.walk(spec, marked, until, most).map_err(|error| match error {
            search::ReplayError::Unconfirmed(error) => Error::Unconfirmed(error),
        })?;
        Ok(walked.map_states(|since| model.show(&since.state)))
    })
}

type Such<'a, M> = Box<dyn Fn(&<M as search::Spec>::State) -> bool + 'a>;

/// Works with a model of which something is assumed.
fn with_assumed<M: Model, R>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    work: impl FnOnce(&Assuming<'_, M, Such<'_, M>>, &History<search::Marked<M::Op>>) -> Result<R, Error>,
) -> Result<R, Error> {
    let bound = history.try_map(|op| bind(model, history, op))?;
    let such = assumed.iter().map(|assumption| match assumption {
        Assumption::Before(first, second) => Assumption::Before(*first, *second),
        Assumption::LeadsTo(op, is_meant) => {
            Assumption::LeadsTo(*op, Box::new(move |state: &M::State| is_meant(&model.show(state))) as Such<'_, M>)
        }
    });
    let such: Vec<Assumption<Such<'_, M>>> = such.collect();
    let spec = Assuming::new(model, &such)?;
    let marked = bound.try_map(|op| Ok::<_, Error>(Some(spec.mark(op.id, op.call.clone()))))?;
    work(&spec, &marked)
}

/// Checks operations as they come in, by increasing start, in memory that does not grow with their number but for the
/// order that is found. Always searches the whole.
pub fn check_stream<M: Model, E: From<Error>>(
    model: &M,
    processes: &[std::sync::Arc<str>],
    ops: impl Iterator<Item = Result<Op<Call>, E>>,
    options: &search::Options,
    watcher: &dyn Watcher,
) -> Result<Checked, E> {
    let watch = &mut watched(watcher);
    let mut checker = confirmed(search::Checker::<M, M::Op>::new(model, options))?;
    for op in ops {
        let op = op?;
        let bad = |error| Error::BadCall { op: history::name(processes, op.process, op.index), error };
        let Some(call) = model.bind(&op).map_err(bad)? else { continue };
        if confirmed(checker.push(op.with(call), watch))?.is_decided() {
            break;
        }
    }
    Ok(show(model, None, Method::Search, confirmed(checker.finish(watch))?))
}

fn bind<M: Model>(model: &M, history: &History<Call>, op: &Op<Call>) -> Result<Option<M::Op>, Error> {
    model.bind(op).map_err(|error| Error::BadCall { op: history.name(op.id), error })
}

fn confirm<M: Model>(model: &M, history: &History<M::Op>, witness: Witness) -> Result<Witness, Error> {
    match search::replay(model, history, Precedence::RealTime, &witness) {
        Ok(()) => Ok(witness),
        Err(search::ReplayError::Unconfirmed(error)) => Err(error.into()),
    }
}

/// Models do not fail, so only the replay can.
fn confirmed<T>(result: Result<T, CheckError<std::convert::Infallible>>) -> Result<T, Error> {
    result.map_err(|error| match error {
        CheckError::Unconfirmed(error) => Error::Unconfirmed(error),
    })
}

fn show<M: Model>(model: &M, part: Option<Value>, method: Method, report: Report<M::State>) -> Checked {
    let verdict = match report.verdict {
        Verdict::Accepted(witness) => Verdict::Accepted(witness),
        Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
        Verdict::Rejected(explanation) => {
            let explanation = explanation.map_states(|state| model.show(&state));
            Verdict::Rejected(Failure::Stuck { part, explanation })
        }
    };
    Checked { verdict, settled: report.settled, method, stats: report.stats }
}

/// How many configurations a part may have at once before the other parts get their turn. The next turn allows more by
/// [`WIDENING`].
const FIRST_WIDTH: usize = 1 << 10;
const WIDENING: usize = 8;

/// Searches parts. One that is hard to decide must not hide another that is easy to reject, so a part that gets wide waits
/// until all others have been searched as far. Which rejected part is reported depends on widths, not on time.
fn check_parts<M: Model>(
    model: &M,
    whole: &History<M::Op>,
    parts: &[(crate::Atom, History<M::Op>)],
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<Checked, Error> {
    let max_width = options.search.max_width.unwrap_or(usize::MAX);
    let mut width = FIRST_WIDTH.min(max_width);
    let mut open: Vec<usize> = (0..parts.len()).collect();
    let mut stats = Stats::default();
    let mut orders = Vec::new();
    let mut stopped = None;
    while !open.is_empty() {
        let search = search::Options { max_width: Some(width), ..options.search.clone() };
        let reports = search_parts(model, parts, &open, &search, options.threads, watcher);
        open.clear();
        for (index, report) in reports {
            let report = report?;
            stats.add(&report.stats);
            match report.verdict {
                Verdict::Accepted(witness) => orders.push(witness),
                Verdict::Inconclusive(Stop::Width) if width < max_width => open.push(index),
                Verdict::Inconclusive(stop) => stopped = stopped.or(Some(stop)),
                Verdict::Rejected(_) => {
                    let part = Some(model.atoms().value(parts[index].0));
                    return Ok(Checked { stats, ..show(model, part, Method::Parts(parts.len()), report) });
                }
            }
        }
        width = width.saturating_mul(WIDENING).min(max_width);
    }
    let verdict = match stopped {
        Some(stop) => Verdict::Inconclusive(stop),
        None => Verdict::Accepted(confirm(model, whole, merge(whole, &orders))?),
    };
    Ok(Checked { verdict, settled: Witness::default(), method: Method::Parts(parts.len()), stats })
}

type PartReport<M> = (usize, Result<Report<<M as search::Spec>::State>, Error>);

/// Searches the parts at these places, several at once, and reports by place. A part is given up, or left out, only for one
/// before it that is rejected.
fn search_parts<M: Model>(
    model: &M,
    parts: &[(crate::Atom, History<M::Op>)],
    open: &[usize],
    options: &search::Options,
    threads: usize,
    watcher: &dyn Watcher,
) -> Vec<PartReport<M>> {
    let next = AtomicUsize::new(0);
    let first_rejected = AtomicUsize::new(usize::MAX);
    let work = || {
        let mut reports = Vec::new();
        loop {
            let Some(&index) = open.get(next.fetch_add(1, Ordering::Relaxed)) else { return reports };
            if index >= first_rejected.load(Ordering::Relaxed) {
                return reports;
            }
            let is_moot = || first_rejected.load(Ordering::Relaxed) < index;
            let mut watch = Watched { watcher, is_moot };
            let report = confirmed(search::check_watched(model, &parts[index].1, options, &mut watch));
            if report.as_ref().is_ok_and(|report| report.verdict.is_rejected()) {
                first_rejected.fetch_min(index, Ordering::Relaxed);
            }
            reports.push((index, report));
        }
    };
    let mut reports: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..threads.min(open.len())).map(|_| scope.spawn(work)).collect();
        let mut reports = work();
        for thread in threads {
            reports.extend(thread.join().expect("a search that does not panic"));
        }
        reports
    });
    reports.sort_by_key(|(index, _)| *index);
    reports
}

/// One order of all operations that agrees with the order of each part.
fn merge<T>(whole: &History<T>, orders: &[Witness]) -> Witness {
    let size = whole.ops().last().map_or(0, |op| op.id.index() + 1);
    let mut links = vec![Link::default(); size];
    for order in orders {
        let (mut now, mut last) = (0, None);
        for step in order.steps() {
            now = whole.op(step.op).interval.start().max(now);
            links[step.op.index()].time = Some(now);
            follow(&mut links, last.replace(step.op), step.op);
        }
    }
    let mut last_of_process = vec![None; whole.processes().len()];
    for op in whole.ops() {
        if links[op.id.index()].time.is_some() {
            follow(&mut links, last_of_process[op.process.index()].replace(op.id), op.id);
        }
    }
    let entry = |id: OpId, link: &Link| link.time.map(|time| Reverse((time, id)));
    let first = |(op, link): (&Op<T>, &Link)| if link.waits == 0 { entry(op.id, link) } else { None };
    let mut ready: BinaryHeap<_> = whole.ops().iter().map(|op| (op, &links[op.id.index()])).filter_map(first).collect();
    let mut order = Vec::with_capacity(size);
    while let Some(Reverse((_, id))) = ready.pop() {
        order.push(id);
        for follower in std::mem::take(&mut links[id.index()].followers) {
            let link = &mut links[follower.index()];
            link.waits -= 1;
            if link.waits == 0 {
                ready.extend(entry(follower, link));
            }
        }
    }
    Witness::from_order(order)
}

/// What the merge knows of an operation.
#[derive(Clone, Default)]
struct Link {
    time: Option<u64>, // None if no order places it.
    waits: u8,         // How many of its predecessors, in its part and in its process, are not placed yet.
    followers: SmallVec<[OpId; 2]>,
}

fn follow(links: &mut [Link], before: Option<OpId>, op: OpId) {
    if let Some(before) = before {
        links[before.index()].followers.push(op);
        links[op.index()].waits += 1;
    }
}
