//! Checks a recorded history against a model, by the cheapest method that decides it.
//!
//! There are three methods, tried in this order: the polynomial procedure, where the model has one that applies; each
//! part of the object separately, by the procedure or else by search, where every operation belongs to one part; the
//! search over the whole history. In all three, an accepted history carries an order of all its operations, and that
//! order is replayed through the whole model.
//!
//! Linearizability is local (Herlihy and Wing 1990): if each part has an order, so has the whole. To find it, give
//! each operation the earliest time that its place in the part's order permits, and merge the parts by time.
//!
//! That holds where process order is implied by real time. A process that starts an operation at the very instant at
//! which its last one ended is ordered by more than time, and if two processes do that at one instant, orders of two
//! parts may contradict each other. Such parts are searched again as one. A part that has no order has none together
//! with others either, so rejections remain valid.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem::take;
use std::sync::atomic::{AtomicUsize, Ordering};

use history::{Call, History, Op, OpId, Stop, Verdict};
use search::{Assuming, Assumption, CheckError, Criterion, Explanation, Reduction, Report, Route, Stats};
use search::{TooMany, Unconfirmed, Unwatched, Walked, Watch, Witness};
use smallvec::SmallVec;
use thiserror::Error;

use crate::unambiguous::Decision;
use crate::{Atom, BadCall, Model};

/// How to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How to search, if a search is needed.
    pub search: search::Options,
    /// Whether to try the methods other than the search over the whole history. Verdicts are the same either way.
    pub shortcuts: bool,
    /// The number of parts to search at once.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { search: search::Options::default(), shortcuts: true, threads: 1 }
    }
}

/// A [`Watch`] that is shared, possibly by several threads.
pub trait Watcher: Sync {
    /// Returns a reason to stop, if there is one.
    fn poll(&self, stats: &Stats) -> Option<Stop>;

    /// Called when an operation has returned and been placed; `width` is the number of configurations at that point.
    fn returned(&self, _op: OpId, _width: usize) {}
}

impl<F: Fn(&Stats) -> Option<Stop> + Sync> Watcher for F {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self(stats)
    }
}

impl Watcher for Unwatched {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        None
    }
}

/// One of the searches of a watcher. It stops once its verdict is moot.
pub(crate) struct Watched<'w, M> {
    watcher: &'w dyn Watcher,
    is_moot: M,
}

impl<M: Fn() -> bool> Watch for Watched<'_, M> {
    fn poll(&mut self, stats: &Stats) -> Option<Stop> {
        if (self.is_moot)() { Some(Stop::Interrupted) } else { self.watcher.poll(stats) }
    }

    fn returned(&mut self, op: OpId, width: usize) {
        self.watcher.returned(op, width);
    }
}

pub(crate) fn watched(watcher: &dyn Watcher) -> Watched<'_, fn() -> bool> {
    Watched { watcher, is_moot: || false }
}

/// The result of a check, the method, and the work it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict<Witness, Failure>,
    /// The prefix of every order that was still possible when a search ended without accepting.
    pub settled: Witness,
    /// The method that decided it.
    pub method: Method,
    /// Why the model's procedure did not decide it, if it was tried.
    pub no_procedure: Option<String>,
    /// Counts of the search; all zero if there was none.
    pub stats: Stats,
    /// The undecided parts of the object, if others were decided separately: each for display, with the number of its
    /// operations.
    pub undecided: Vec<(String, usize)>,
}

impl Checked {
    /// A history that is accepted in a given order.
    pub fn in_given_order(witness: Witness) -> Checked {
        Checked { method: Method::Given, ..decided(Verdict::Accepted(witness)) }
    }
}

/// The method that decided a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The model's own procedure, without searching.
    Procedure,
    /// Each part of the object separately.
    Parts {
        /// The number of parts.
        all: usize,
        /// The number of searched parts. The model's procedure decided the others.
        searched: usize,
    },
    /// A search over the whole history.
    Search,
    /// A given order.
    Given,
}

/// Why no order of the operations is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A few operations contradict each other, regardless of the others.
    Contradiction {
        /// The operations.
        ops: Vec<OpId>,
        /// Why they cannot all have happened.
        reason: String,
    },
    /// Every order gets stuck.
    Stuck {
        /// The parts of the object that have no order, for display, if they were searched separately.
        parts: Vec<String>,
        /// Where every order gets stuck, with states rendered by the model.
        explanation: Explanation<String>,
    },
}

/// Why there is no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A recorded call does not fit the model.
    #[error("{op}: {error}")]
    BadCall {
        /// The operation, by process and position.
        op: String,
        /// Why it does not fit.
        error: BadCall,
    },
    /// Replaying the order that was found failed, which is a bug.
    #[error("the order found was not confirmed when it was replayed: {0}")]
    Unconfirmed(#[from] Unconfirmed),
    /// Too many operations are named by assumptions.
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
    let mut no_procedure = None;
    let permits = |reduction| options.shortcuts && options.search.criterion.permits(reduction, bound.edges());
    if permits(Reduction::Procedures) {
        match model.decide(&bound) {
            Decision::Linearizable(order) => {
                let witness = confirm(model, &bound, Witness::from_order(order))?;
                return Ok(decided(Verdict::Accepted(witness)));
            }
            Decision::Violation { ops, reason } => {
                return Ok(decided(Verdict::Rejected(Failure::Contradiction { ops, reason })));
            }
            Decision::NotApplicable(reason) => no_procedure = Some(reason),
        }
    }
    if permits(Reduction::Parts)
        && let Some(parts) = bound.split(|op| model.partition(op)).filter(|parts| parts.len() > 1)
    {
        return check_parts(model, &bound, parts, options, watcher);
    }
    let report = search::check_watched(model, &bound, &options.search, &mut watched(watcher));
    Ok(Checked { no_procedure, ..show(model, Vec::new(), Method::Search, confirmed(report)?) })
}

fn decided(verdict: Verdict<Witness, Failure>) -> Checked {
    let (settled, stats) = (Witness::default(), Stats::default());
    Checked { verdict, settled, method: Method::Procedure, no_procedure: None, stats, undecided: Vec::new() }
}

/// An assumption about the order of operations. The predicate receives the state as rendered by the model.
pub type Assumed = Assumption<Box<dyn Fn(&str) -> bool>>;

/// Checks a history under assumptions. Always searches the whole history.
pub fn check_assuming<M: Model>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    options: &search::Options,
    watcher: &dyn Watcher,
) -> Result<Checked, Error> {
    with_assumed(model, history, assumed, |spec, marked| {
        let report = confirmed(search::check_watched(spec, marked, options, &mut watched(watcher)))?;
        Ok(show(model, Vec::new(), Method::Search, report.map_states(|since| since.state)))
    })
}

/// The states along a route, rendered by the model.
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

type StatePredicate<'a, M> = Box<dyn Fn(&<M as search::Spec>::State) -> bool + 'a>;

/// Runs `work` on a model under assumptions.
fn with_assumed<M: Model, R>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    work: impl FnOnce(&Assuming<'_, M, StatePredicate<'_, M>>, &History<search::Marked<M::Op>>) -> Result<R, Error>,
) -> Result<R, Error> {
    let bound = history.try_map(|op| bind(model, history, op))?;
    let such = assumed.iter().map(|assumption| match assumption {
        Assumption::Before(first, second) => Assumption::Before(*first, *second),
        Assumption::LeadsTo(op, is_meant) => Assumption::LeadsTo(
            *op,
            Box::new(move |state: &M::State| is_meant(&model.show(state))) as StatePredicate<'_, M>,
        ),
    });
    let such: Vec<Assumption<StatePredicate<'_, M>>> = such.collect();
    let spec = Assuming::new(model, &such)?;
    let marked = bound.try_map(|op| Ok::<_, Error>(Some(spec.mark(op.id, op.call.clone()))))?;
    work(&spec, &marked)
}

/// Checks operations as they come in, by increasing start. Memory does not grow with their number, except for the
/// order that is found. Always searches the whole history.
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
    Ok(show(model, Vec::new(), Method::Search, confirmed(checker.finish(watch))?))
}

fn bind<M: Model>(model: &M, history: &History<Call>, op: &Op<Call>) -> Result<Option<M::Op>, Error> {
    model.bind(op).map_err(|error| Error::BadCall { op: history.name(op.id), error })
}

fn confirm<M: Model>(model: &M, history: &History<M::Op>, witness: Witness) -> Result<Witness, Error> {
    match search::replay(model, history, Criterion::LINEARIZABLE, &witness) {
        Ok(()) => Ok(witness),
        Err(search::ReplayError::Unconfirmed(error)) => Err(error.into()),
    }
}

/// Models do not fail, so only the replay can.
pub(crate) fn confirmed<T>(result: Result<T, CheckError<std::convert::Infallible>>) -> Result<T, Error> {
    result.map_err(|error| match error {
        CheckError::Unconfirmed(error) => Error::Unconfirmed(error),
    })
}

pub(crate) fn show<M: Model>(model: &M, parts: Vec<String>, method: Method, report: Report<M::State>) -> Checked {
    let verdict = match report.verdict {
        Verdict::Accepted(witness) => Verdict::Accepted(witness),
        Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
        Verdict::Rejected(explanation) => {
            let explanation = explanation.map_states(|state| model.show(&state));
            Verdict::Rejected(Failure::Stuck { parts, explanation })
        }
    };
    Checked { verdict, settled: report.settled, method, no_procedure: None, stats: report.stats, undecided: Vec::new() }
}

/// The width limit of a part in the first turn, after which the other parts get theirs. Each turn multiplies it by
/// [`WIDENING`].
pub(crate) const FIRST_WIDTH: usize = 1 << 10;
const WIDENING: usize = 8;

/// Operations that are decided together: those on one part, or on several whose orders contradict each other.
struct Group<T> {
    parts: Vec<Atom>, // Empty once it is merged into another.
    history: History<T>,
    order: Option<Witness>,
    is_searched: bool, // False if the procedure decides it.
}

/// Decides parts by the procedure where it applies, and searches the others. A part that is hard to decide must not
/// hide another that is easy to reject, so a part that gets wide waits until all others have been searched as far.
/// Which rejected part is reported depends on widths, not on time.
fn check_parts<M: Model>(
    model: &M,
    whole: &History<M::Op>,
    parts: Vec<(Atom, History<M::Op>)>,
    options: &Options,
    watcher: &dyn Watcher,
) -> Result<Checked, Error> {
    let group = |(part, history)| Group { parts: vec![part], history, order: None, is_searched: false };
    let mut groups: Vec<Group<M::Op>> = parts.into_iter().map(group).collect();
    let max_width = options.search.max_width.unwrap_or(usize::MAX);
    let (mut stats, mut no_procedure) = (Stats::default(), None);
    for group in &mut groups {
        match model.decide(&group.history) {
            Decision::Linearizable(order) => group.order = Some(Witness::from_order(order)),
            Decision::Violation { ops, reason } => {
                return Ok(decided(Verdict::Rejected(Failure::Contradiction { ops, reason })));
            }
            Decision::NotApplicable(reason) => {
                no_procedure.get_or_insert((group.parts[0], reason));
                group.is_searched = true;
            }
        }
    }
    let count = groups.iter().filter(|group| group.is_searched).count();
    let no_procedure = no_procedure.map(|(part, reason)| {
        let others = match count {
            1 => String::new(),
            count => format!(" (and {} other parts)", count - 1),
        };
        format!("{}: {reason}{others}", model.atoms().show_key(part))
    });
    loop {
        let is_live = |group: &&Group<M::Op>| !group.parts.is_empty();
        let method = Method::Parts {
            all: groups.iter().filter(is_live).count(),
            searched: groups.iter().filter(is_live).filter(|group| group.is_searched).count(),
        };
        let is_open = |&index: &usize| !groups[index].parts.is_empty() && groups[index].order.is_none();
        let mut open: Vec<usize> = (0..groups.len()).filter(is_open).collect();
        let mut width = FIRST_WIDTH.min(max_width);
        let mut stopped = None;
        while !open.is_empty() {
            let search = search::Options { max_width: Some(width), ..options.search.clone() };
            let reports = search_parts(model, &groups, &open, &search, options.threads, watcher);
            open.clear();
            for (index, report) in reports {
                let report = report?;
                stats.add(&report.stats);
                match report.verdict {
                    Verdict::Accepted(witness) => groups[index].order = Some(witness),
                    Verdict::Inconclusive(Stop::Width) if width < max_width => open.push(index),
                    Verdict::Inconclusive(stop) => stopped = stopped.or(Some(stop)),
                    Verdict::Rejected(_) => {
                        let parts = groups[index].parts.iter().map(|&part| model.atoms().show_key(part)).collect();
                        return Ok(Checked { stats, no_procedure, ..show(model, parts, method, report) });
                    }
                }
            }
            width = width.saturating_mul(WIDENING).min(max_width);
        }
        let orders: Vec<&Witness> = groups.iter().filter_map(|group| group.order.as_ref()).collect();
        let verdict = match stopped {
            Some(stop) => Verdict::Inconclusive(stop),
            None => match merge(whole, &orders) {
                Ok(witness) => Verdict::Accepted(confirm(model, whole, witness)?),
                Err(contradictions) if unite(&mut groups, whole, &contradictions) => continue,
                Err(_) => {
                    let report = search::check_watched(model, whole, &options.search, &mut watched(watcher));
                    return Ok(Checked { no_procedure, ..show(model, Vec::new(), Method::Search, confirmed(report)?) });
                }
            },
        };
        let undecided = groups.iter().filter(|group| is_live(group) && group.order.is_none());
        let undecided = undecided.flat_map(|group| {
            let name = |&part: &Atom| (model.atoms().show_key(part), group.history.ops().len());
            group.parts.iter().map(name)
        });
        let undecided = undecided.collect();
        return Ok(Checked { verdict, settled: Witness::default(), method, no_procedure, stats, undecided });
    }
}

/// Merges groups whose operations wait for each other. Returns false if all of these are in one group already.
fn unite<T: Clone>(groups: &mut [Group<T>], whole: &History<T>, contradictions: &[(OpId, OpId)]) -> bool {
    let mut group_of = vec![usize::MAX; whole.ops().last().map_or(0, |op| op.id.index() + 1)];
    for (index, group) in groups.iter().enumerate() {
        group.history.ops().iter().for_each(|op| group_of[op.id.index()] = index);
    }
    let mut into: Vec<usize> = (0..groups.len()).collect(); // The group that each belongs to, itself at the end.
    fn root(into: &[usize], mut index: usize) -> usize {
        while into[index] != index {
            index = into[index];
        }
        index
    }
    for (a, b) in contradictions {
        let (a, b) = (root(&into, group_of[a.index()]), root(&into, group_of[b.index()]));
        into[a.max(b)] = a.min(b);
    }
    let mut ops: Vec<Vec<Op<T>>> = groups.iter().map(|_| Vec::new()).collect();
    for index in 0..groups.len() {
        let to = root(&into, index);
        if to != index {
            let parts = take(&mut groups[index].parts);
            groups[to].parts.extend(parts);
            groups[index].order = None;
            ops[to].extend(take(&mut groups[index].history).into_ops());
        }
    }
    for (group, mut others) in groups.iter_mut().zip(ops).filter(|(_, others)| !others.is_empty()) {
        others.extend(take(&mut group.history).into_ops());
        others.sort_unstable_by_key(|op| op.id);
        group.history = History::from_ops(whole.processes().into(), others);
        (group.order, group.is_searched) = (None, true);
    }
    into.iter().enumerate().any(|(index, to)| index != *to)
}

type PartReport<M> = (usize, Result<Report<<M as search::Spec>::State>, Error>);

/// Searches the parts at these indices, several at once, and reports by index. A part is given up, or skipped, only
/// if one before it is rejected.
fn search_parts<M: Model>(
    model: &M,
    groups: &[Group<M::Op>],
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
            let report = confirmed(search::check_watched(model, &groups[index].history, options, &mut watch));
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

/// One order of all operations that agrees with the order of each part. Otherwise the contradicting pairs: the first
/// of each comes before the second and, through others of these pairs, after it.
pub(crate) fn merge<T>(whole: &History<T>, orders: &[&Witness]) -> Result<Witness, Vec<(OpId, OpId)>> {
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
        for follower in take(&mut links[id.index()].followers) {
            let link = &mut links[follower.index()];
            link.waits -= 1;
            if link.waits == 0 {
                ready.extend(entry(follower, link));
            }
        }
    }
    if order.len() == orders.iter().map(|order| order.len()).sum::<usize>() {
        return Ok(Witness::from_order(order));
    }
    // No operation follows one with a later time, so operations that wait for each other have the same time.
    let edges = |id: OpId| links[id.index()].followers.iter().map(move |follower| (id, *follower));
    let edges =
        whole.ops().iter().flat_map(|op| edges(op.id)).filter(|(a, b)| links[a.index()].time == links[b.index()].time);
    let flip = |edges: Vec<(OpId, OpId)>| edges.into_iter().map(|(a, b)| (b, a)).collect();
    Err(flip(history::without_sources(flip(history::without_sources(edges.collect())))))
}

/// An operation during the merge.
#[derive(Clone, Default)]
struct Link {
    time: Option<u64>, // `None` if no order places it.
    waits: u8,         // The number of its predecessors, in its part and in its process, that are not placed yet.
    followers: SmallVec<[OpId; 2]>,
}

fn follow(links: &mut [Link], before: Option<OpId>, op: OpId) {
    if let Some(before) = before {
        links[before.index()].followers.push(op);
        links[op.index()].waits += 1;
    }
}
