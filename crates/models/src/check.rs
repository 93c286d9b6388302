//! Checks a recorded history against a model, by the cheapest method that decides it.
//!
//! There are three methods, tried in this order: the polynomial procedure, where the model has one that applies; each
//! part of the object separately, by the procedure or else by search, where every operation belongs to one part; the
//! search over the whole history. In all three, an accepted history carries an order of all its operations, and that
//! order is replayed, part by part if it was decided so.
//!
//! Linearizability is local (Herlihy and Wing 1990): if each part has an order, so has the whole. To find it, give
//! each operation the earliest time that its place in the part's order permits, and merge the parts by time.
//!
//! That holds where process order is implied by real time. A process that starts an operation at the very instant at
//! which its last one ended is ordered by more than time, and if two processes do that at one instant, orders of two
//! parts may contradict each other. Such parts are searched again as one. A part that has no order has none together
//! with others either, so rejections remain valid. This holds for every criterion: where parts need not fit together,
//! they are searched narrowly, only to reject.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::convert::Infallible;
use std::mem::take;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use omnilink_history::{Call, History, Op, OpId, Stop, Verdict};
use omnilink_search::{
    AnyOp, AnySpec, AnyState, Assuming, Assumption, CheckError, Criterion, Erased, Explanation, Reduction,
};
use omnilink_search::{Report, Route, Since, Stats, TooMany, Unconfirmed, Walked, Watch, Witness};
use omnilink_weak::Level;
use smallvec::SmallVec;
use thiserror::Error;

use crate::digits::{self, Mixed};
use crate::touches::Touches;
use crate::unambiguous::Decision;
use crate::{Atom, BadCall, Model};

/// How to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelOptions {
    /// How to search, if a search is needed.
    pub search: omnilink_search::Options,
    /// Whether to try the methods other than the search over the whole history. Verdicts are the same either way.
    pub shortcuts: bool,
    /// The number of parts to search at once.
    pub threads: usize,
}

impl Default for ModelOptions {
    fn default() -> ModelOptions {
        ModelOptions { search: omnilink_search::Options::default(), shortcuts: true, threads: 1 }
    }
}

/// Watches the search of one part among others.
struct PartWatch<'w> {
    watch: &'w dyn Watch,
    /// The number of operations that were decided before this search.
    before: u64,
}

impl Watch for PartWatch<'_> {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        let Stats { operations, steps, generated, distinct, width, widest: _ } = *stats;
        let operations = operations + self.before;
        self.watch.poll(&Stats { operations, steps, generated, distinct, width, widest: None })
    }

    fn returned(&self, op: OpId, width: usize) {
        self.watch.returned(op, width);
    }
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
    /// The rejected parts of the object, if parts were decided separately. The verdict explains the first.
    pub rejected: Vec<RejectedPart>,
}

/// A part of the object whose operations have no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedPart {
    /// The part for display.
    pub name: String,
    /// The number of its operations.
    pub operations: usize,
    /// Why, if the model's procedure found it.
    pub reason: Option<String>,
    /// The operations that contradict each other or that no order can place.
    pub ops: Vec<OpId>,
}

impl Checked {
    /// A history that is accepted in a given order.
    pub fn in_given_order(witness: Witness) -> Checked {
        Checked { method: Method::Given, ..decided(Verdict::Accepted(witness)) }
    }

    /// The result of a search.
    pub fn of_search<M: Model>(model: &M, report: Report<M::State>) -> Checked {
        show(model, Vec::new(), Method::Search, report)
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
    /// A number and a text with the same digits occur in the places of one thing.
    #[error(transparent)]
    Mixed(#[from] Mixed),
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
    options: &ModelOptions,
    watch: &(dyn Watch + Sync),
) -> Result<Checked, Error> {
    let bound = bind_all(model, history)?;
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
        return check_parts(model, &bound, parts, options, watch);
    }
    if options.shortcuts
        && !permits(Reduction::Parts)
        && let Some(checked) = check_cheaply(model, &bound, options, watch)?
    {
        return Ok(checked);
    }
    let report = omnilink_search::check_watched(model, &bound, &options.search, watch);
    Ok(Checked { no_procedure, ..show(model, Vec::new(), Method::Search, confirmed(report)?) })
}

/// Decides a history whose parts need not fit together, if that is cheap: narrowly, or by a weaker level that rejects
/// it, or by one part that is rejected.
fn check_cheaply<M: Model>(
    model: &M,
    bound: &History<M::Op>,
    options: &ModelOptions,
    watch: &dyn Watch,
) -> Result<Option<Checked>, Error> {
    let max_width = options.search.max_width.map_or(FIRST_WIDTH, |most| most.min(FIRST_WIDTH));
    let narrow = omnilink_search::Options { max_width: Some(max_width), ..options.search.clone() };
    let report = confirmed(omnilink_search::check_watched(model, bound, &narrow, watch))?;
    if report.verdict != Verdict::Inconclusive(Stop::Width) {
        return Ok(Some(show(model, Vec::new(), Method::Search, report)));
    }
    let level = Level::strong(options.search.criterion.precedence);
    let contradiction = Touches::of(model, bound, |op| op).and_then(|touches| touches.refute(&level));
    if let Some((ops, reason)) = contradiction {
        return Ok(Some(decided(Verdict::Rejected(Failure::Contradiction { ops, reason }))));
    }
    let Some(parts) = bound.split(|op| model.partition(op)).filter(|parts| parts.len() > 1) else { return Ok(None) };
    let method = Method::Parts { all: parts.len(), searched: parts.len() };
    for (part, history) in parts {
        let report = confirmed(omnilink_search::check_watched(model, &history, &narrow, watch))?;
        if report.verdict.is_rejected() {
            return Ok(Some(show(model, vec![model.atoms().show_key(part)], method, report)));
        }
    }
    Ok(None)
}

fn decided(verdict: Verdict<Witness, Failure>) -> Checked {
    let (settled, stats) = (Witness::default(), Stats::default());
    let (undecided, rejected) = (Vec::new(), Vec::new());
    Checked { verdict, settled, method: Method::Procedure, no_procedure: None, stats, undecided, rejected }
}

/// An assumption about the order of operations. The predicate receives the state as rendered by the model.
pub type Assumed = Assumption<Box<dyn Fn(&str) -> bool>>;

/// Checks a history under assumptions. Always searches the whole history.
pub fn check_assuming<M: Model>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    options: &omnilink_search::Options,
    watch: &dyn Watch,
) -> Result<Checked, Error> {
    let bound = bind_all(model, history)?;
    let report = search_assuming(&Erased(model), &erase(&bound), &with_predicates(model, assumed), options, watch)?;
    let report = report.map_states(|since| since.state.get::<M::State>().clone());
    Ok(show(model, Vec::new(), Method::Search, report))
}

fn search_assuming(
    spec: AnySpec<'_, Infallible>,
    history: &History<AnyOp>,
    assumed: &[Assumption<StatePredicate<'_>>],
    options: &omnilink_search::Options,
    watch: &dyn Watch,
) -> Result<Report<Since<AnyState>>, Error> {
    let spec = Assuming::new(&spec, assumed)?;
    confirmed(omnilink_search::check_watched(&spec, &spec.mark_all(history), options, watch))
}

/// The most parts of which a state shows all.
pub const MOST_SHOWN: usize = 100;

/// The states along a route, rendered by the model. If the object has more than [`MOST_SHOWN`] parts, a state shows the
/// part that the step before it concerns.
pub fn walk<M: Model>(
    model: &M,
    history: &History<Call>,
    assumed: &[Assumed],
    route: &Route,
    until: Option<usize>,
    most: usize,
) -> Result<Walked<String>, Error> {
    let bound = history.try_map(|op| bind(model, history, op))?;
    let part = |op: &M::Op| model.partition(op);
    let is_single = assumed.is_empty() && route.endings.is_empty();
    if is_single && bound.split(part).is_some_and(|parts| parts.len() > MOST_SHOWN) {
        let walked = unfailing(route.walk_parts(model, &bound, until, most, part))?;
        return Ok(walked.map_states(|state| model.show(&state)));
    }
    refuse_mixed(model, history)?;
    let walked = walk_assuming(&Erased(model), &erase(&bound), &with_predicates(model, assumed), route, until, most)?;
    Ok(walked.map_states(|since| model.show(since.state.get())))
}

fn walk_assuming(
    spec: AnySpec<'_, Infallible>,
    history: &History<AnyOp>,
    assumed: &[Assumption<StatePredicate<'_>>],
    route: &Route,
    until: Option<usize>,
    most: usize,
) -> Result<Walked<Since<AnyState>>, Error> {
    let spec = Assuming::new(&spec, assumed)?;
    unfailing(route.walk(&spec, &spec.mark_all(history), until, most))
}

type StatePredicate<'a> = Box<dyn Fn(&AnyState) -> bool + 'a>;

/// The assumptions, with predicates on states.
fn with_predicates<'a, M: Model>(model: &'a M, assumed: &'a [Assumed]) -> Vec<Assumption<StatePredicate<'a>>> {
    let with_predicate = |assumption: &'a Assumed| match assumption {
        Assumption::Before(first, second) => Assumption::Before(*first, *second),
        Assumption::LeadsTo(op, is_meant) => {
            let holds = move |state: &AnyState| is_meant(&model.show(state.get()));
            Assumption::LeadsTo(*op, Box::new(holds) as StatePredicate<'a>)
        }
    };
    assumed.iter().map(with_predicate).collect()
}

fn erase<T: Clone + Eq + 'static>(history: &History<T>) -> History<AnyOp> {
    let Ok(erased) = history.try_map(|op| Ok::<_, Infallible>(Some(AnyOp::new(op.call.clone()))));
    erased
}

/// Checks operations as they come in, by increasing start. Memory does not grow with their number, except for the
/// order that is found. Always searches the whole history.
pub fn check_stream<M: Model, E: From<Error>>(
    model: &M,
    processes: &[std::sync::Arc<str>],
    ops: impl Iterator<Item = Result<Op<Call>, E>>,
    options: &omnilink_search::Options,
    watch: &dyn Watch,
) -> Result<Checked, E> {
    let mut checker = confirmed(omnilink_search::Checker::new(model, options))?;
    for op in ops {
        let op = op?;
        let bad = |error| Error::BadCall { op: omnilink_history::name(processes, op.process, op.index), error };
        let Some(call) = model.bind(&op).map_err(bad)? else { continue };
        if confirmed(checker.push(op.with(call), watch))?.is_decided() {
            break;
        }
    }
    Ok(show(model, Vec::new(), Method::Search, confirmed(checker.finish(watch))?))
}

fn bind_all<M: Model>(model: &M, history: &History<Call>) -> Result<History<M::Op>, Error> {
    let bound = history.try_map(|op| bind(model, history, op))?;
    refuse_mixed(model, history)?;
    Ok(bound)
}

/// Fails if a number and a text with the same digits occur in the places of one thing.
pub fn refuse_mixed<M: Model>(model: &M, history: &History<Call>) -> Result<(), Error> {
    let ops = history.ops().iter().map(Ok::<_, Error>);
    digits::find(model, history.processes(), ops)?.map_or(Ok(()), |mixed| Err(Error::Mixed(mixed)))
}

fn bind<M: Model>(model: &M, history: &History<Call>, op: &Op<Call>) -> Result<Option<M::Op>, Error> {
    model.bind(op).map_err(|error| Error::BadCall { op: history.name(op.id), error })
}

fn confirm<M: Model>(model: &M, history: &History<M::Op>, witness: Witness) -> Result<Witness, Error> {
    unfailing(omnilink_search::replay(model, history, Criterion::LINEARIZABLE, &witness)).map(|()| witness)
}

/// Confirms an order of operations that each belong to one part.
fn confirm_parts<M: Model>(model: &M, history: &History<M::Op>, witness: Witness) -> Result<Witness, Error> {
    let part = |op: &M::Op| model.partition(op);
    unfailing(omnilink_search::replay_parts(model, history, Criterion::LINEARIZABLE, &witness, part)).map(|()| witness)
}

/// Models do not fail, so only the order can be wrong.
fn unfailing<T>(replayed: Result<T, omnilink_search::ReplayError<Infallible>>) -> Result<T, Error> {
    replayed.map_err(|error| match error {
        omnilink_search::ReplayError::Unconfirmed(error) => Error::Unconfirmed(error),
    })
}

impl From<CheckError<Infallible>> for Error {
    fn from(error: CheckError<Infallible>) -> Error {
        match error {
            CheckError::Unconfirmed(error) => Error::Unconfirmed(error),
        }
    }
}

/// Models do not fail, so only the replay can.
pub(crate) fn confirmed<T>(result: Result<T, CheckError<Infallible>>) -> Result<T, Error> {
    result.map_err(Error::from)
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
    let (settled, stats, undecided, rejected) = (report.settled, report.stats, Vec::new(), Vec::new());
    Checked { verdict, settled, method, no_procedure: None, stats, undecided, rejected }
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
/// Which rejected parts are reported depends on widths, not on time.
fn check_parts<M: Model>(
    model: &M,
    whole: &History<M::Op>,
    parts: Vec<(Atom, History<M::Op>)>,
    options: &ModelOptions,
    watch: &(dyn Watch + Sync),
) -> Result<Checked, Error> {
    let group = |(part, history)| Group { parts: vec![part], history, order: None, is_searched: false };
    let mut groups: Vec<Group<M::Op>> = parts.into_iter().map(group).collect();
    let (mut found, mut operations) = (Found::default(), 0);
    for (index, group) in groups.iter_mut().enumerate() {
        // The procedure does not poll: it takes microseconds for most parts.
        found.stopped = watch.poll(&Stats { operations, ..Stats::default() });
        if found.stopped.is_some() {
            break;
        }
        match model.decide(&group.history) {
            Decision::Linearizable(order) => group.order = Some(Witness::from_order(order)),
            Decision::Violation { ops, reason } => {
                let rejected = group.rejected(model, Some(&reason), &ops);
                let checked = decided(Verdict::Rejected(Failure::Contradiction { ops, reason }));
                found.reject(index, rejected, checked);
            }
            Decision::NotApplicable(reason) => {
                found.no_procedure.get_or_insert_with(|| format!("{}: {reason}", group.name(model)));
                group.is_searched = true;
            }
        }
        if !group.is_searched {
            operations += group.history.ops().len() as u64;
        }
    }
    let searched = groups.iter().filter(|group| group.is_searched).count();
    if let (Some(reason), 2..) = (&mut found.no_procedure, searched) {
        *reason += &format!(" (and {} other parts)", searched - 1);
    }
    loop {
        found.search(model, &mut groups, options, watch)?;
        let live = || groups.iter().filter(|group| !group.parts.is_empty());
        let method = Method::Parts { all: live().count(), searched: live().filter(|group| group.is_searched).count() };
        let undecided = found.open(&groups).into_iter().map(|index| &groups[index]).flat_map(|group| {
            let name = |&part: &Atom| (model.atoms().show_key(part), group.history.ops().len());
            group.parts.iter().map(name)
        });
        let undecided = undecided.collect();
        let Found { mut rejected, first, stopped, no_procedure, stats } = found;
        if let Some(first) = first {
            rejected.sort_by_key(|(index, _)| *index);
            let rejected = rejected.into_iter().map(|(_, rejected)| rejected).collect();
            return Ok(Checked { method, stats, no_procedure, undecided, rejected, ..first });
        }
        if let Some(stop) = stopped {
            return Ok(Checked { method, no_procedure, stats, undecided, ..decided(Verdict::Inconclusive(stop)) });
        }
        // The merge needs the orders only, and takes about as much memory as the parts.
        groups.iter_mut().for_each(|group| drop(take(&mut group.history)));
        let orders: Vec<&Witness> = groups.iter().filter_map(|group| group.order.as_ref()).collect();
        match merge(whole, &orders) {
            Ok(witness) => {
                drop(groups);
                let verdict = Verdict::Accepted(confirm_parts(model, whole, witness)?);
                return Ok(Checked { method, no_procedure, stats, undecided, ..decided(verdict) });
            }
            Err(contradictions) => {
                refill(model, &mut groups, whole);
                if !unite(&mut groups, whole, &contradictions) {
                    let report = omnilink_search::check_watched(model, whole, &options.search, watch);
                    return Ok(Checked { no_procedure, ..show(model, Vec::new(), Method::Search, confirmed(report)?) });
                }
                found = Found { no_procedure, stats, ..Found::default() };
            }
        }
    }
}

impl<T> Group<T> {
    fn name<M: Model>(&self, model: &M) -> String {
        let names: Vec<String> = self.parts.iter().map(|&part| model.atoms().show_key(part)).collect();
        names.join(", ")
    }

    fn rejected<M: Model>(&self, model: &M, reason: Option<&str>, ops: &[OpId]) -> RejectedPart {
        let (name, operations) = (self.name(model), self.history.ops().len());
        RejectedPart { name, operations, reason: reason.map(str::to_owned), ops: ops.to_vec() }
    }
}

/// What is known of the parts.
#[derive(Default)]
struct Found {
    /// The rejected groups by index.
    rejected: Vec<(usize, RejectedPart)>,
    /// The first of them that was found, in full.
    first: Option<Checked>,
    /// Why others are undecided.
    stopped: Option<Stop>,
    no_procedure: Option<String>,
    stats: Stats,
}

impl Found {
    fn reject(&mut self, index: usize, rejected: RejectedPart, checked: Checked) {
        self.rejected.push((index, rejected));
        self.first.get_or_insert(checked);
    }

    /// The groups that are neither accepted nor rejected.
    fn open<T>(&self, groups: &[Group<T>]) -> Vec<usize> {
        let rejected: HashSet<usize> = self.rejected.iter().map(|(index, _)| *index).collect();
        let is_open = |(index, group): &(usize, &Group<T>)| {
            group.order.is_none() && !group.parts.is_empty() && !rejected.contains(index)
        };
        groups.iter().enumerate().filter(is_open).map(|(index, _)| index).collect()
    }

    /// Searches the groups that have no order, in turns of growing width. Ends after the turn in which one is rejected.
    fn search<M: Model>(
        &mut self,
        model: &M,
        groups: &mut [Group<M::Op>],
        options: &ModelOptions,
        watch: &(dyn Watch + Sync),
    ) -> Result<(), Error> {
        let max_width = options.search.max_width.unwrap_or(usize::MAX);
        let mut open = self.open(groups);
        let mut width = FIRST_WIDTH.min(max_width);
        loop {
            let search = omnilink_search::Options { max_width: Some(width), ..options.search.clone() };
            let reports = search_parts(model, groups, &open, &search, options.threads, watch);
            open.clear();
            for (index, report) in reports {
                let report = report?;
                self.stats.add(&report.stats);
                match report.verdict {
                    Verdict::Accepted(witness) => groups[index].order = Some(witness),
                    Verdict::Inconclusive(Stop::Width) if width < max_width => open.push(index),
                    Verdict::Inconclusive(stop) => self.stopped = self.stopped.or(Some(stop)),
                    Verdict::Rejected(ref explanation) => {
                        let group = &groups[index];
                        let rejected = group.rejected(model, None, &explanation.blocked);
                        let parts = group.parts.iter().map(|&part| model.atoms().show_key(part)).collect();
                        self.reject(index, rejected, show(model, parts, Method::Search, report));
                    }
                }
            }
            if open.is_empty() || self.first.is_some() || self.stopped.is_some() {
                return Ok(());
            }
            width = width.saturating_mul(WIDENING).min(max_width);
        }
    }
}

/// Gives the groups their operations again.
fn refill<M: Model>(model: &M, groups: &mut [Group<M::Op>], whole: &History<M::Op>) {
    let parts = groups.iter().enumerate().flat_map(|(index, group)| group.parts.iter().map(move |&part| (part, index)));
    let group_of: HashMap<Atom, usize> = parts.collect();
    let parts = whole.split(|op| group_of.get(&model.partition(op)?).copied());
    for (index, history) in parts.into_iter().flatten() {
        groups[index].history = history;
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

type PartReport<M> = (usize, Result<Report<<M as omnilink_search::Spec>::State>, Error>);

/// Searches the parts at these indices, several at once, and reports by index.
fn search_parts<M: Model>(
    model: &M,
    groups: &[Group<M::Op>],
    open: &[usize],
    options: &omnilink_search::Options,
    threads: usize,
    watch: &(dyn Watch + Sync),
) -> Vec<PartReport<M>> {
    let decided = groups.iter().filter(|group| group.order.is_some()).map(|group| group.history.ops().len() as u64);
    let (next, operations) = (AtomicUsize::new(0), AtomicU64::new(decided.sum()));
    let work = || {
        let search = |&index: &usize| {
            let history = &groups[index].history;
            let watch = PartWatch { watch, before: operations.load(Ordering::Relaxed) };
            let report = confirmed(omnilink_search::check_watched(model, history, options, &watch));
            operations.fetch_add(history.ops().len() as u64, Ordering::Relaxed);
            (index, report)
        };
        std::iter::from_fn(|| open.get(next.fetch_add(1, Ordering::Relaxed))).map(search).collect::<Vec<_>>()
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
    let mut last_of_process: Vec<Option<&Op<T>>> = vec![None; whole.processes().len()];
    for op in whole.ops() {
        if links[op.id.index()].time.is_none() {
            continue;
        }
        let last = &mut last_of_process[op.process.index()];
        let before = last.filter(|last| op.follows(last)).map(|last| last.id);
        if !op.interval.is_unfinished() {
            *last = Some(op);
        }
        follow(&mut links, before, op.id);
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
    Err(flip(omnilink_history::without_sources(flip(omnilink_history::without_sources(edges.collect())))))
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
