//! Checks a whole history at a level, and shows the operations that each operation saw.

use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;

use omnilink_history::{History, Op, OpId, Precedence, Stop, Verdict};
use omnilink_search::{
    CheckError, Checker, Criterion, Placed, Spec, Stats, Unconfirmed, Watch, Witness, check_watched,
};

use crate::contexts::{Contexts, Contextual, Execution, Found, MOST, Method, Set, bit, elements, ids};
use crate::level::{Class, Level};
use crate::views::{Context, Forms, View, ViewError, Viewed, Views, is_always_possible, under};
use crate::visibility::Visibility;

/// An operation with its action, which decides its visibility.
#[derive(Clone, Debug)]
pub struct Action<T> {
    /// The name of the action.
    pub name: Arc<str>,
    /// The operation in both forms.
    pub forms: Forms<T>,
}

/// Options of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeakOptions {
    /// The level.
    pub level: Level,
    /// The results that visible operations may have had.
    pub context: Context,
    /// The reductions of visibility to use. They do not change verdicts.
    pub method: Method,
    /// Options of the search. The check does not use their criterion.
    pub search: omnilink_search::Options,
}

/// An execution that explains a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explained {
    /// The order of all operations.
    pub order: Vec<OpId>,
    /// The operations that did not see everything before them, each with the operations that it missed. Missed operations
    /// that never change anything are not listed.
    pub missed: Vec<(OpId, Vec<OpId>)>,
}

/// The reason why a history is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unexplained<S> {
    /// No visible operations explain the history.
    Views(Failure<S>),
    /// A few operations contradict each other, whatever the other operations do.
    Contradiction {
        /// The operations.
        ops: Vec<OpId>,
        /// The reason why they cannot all have happened.
        reason: String,
    },
}

impl<S> Unexplained<S> {
    /// Converts the states.
    pub fn map_states<T>(self, view: impl Fn(S) -> T) -> Unexplained<T> {
        match self {
            Unexplained::Views(failure) => Unexplained::Views(failure.map_states(view)),
            Unexplained::Contradiction { ops, reason } => Unexplained::Contradiction { ops, reason },
        }
    }
}

/// The reason why a history has no execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure<S> {
    /// The number of operations in the longest attempts.
    pub explained: u64,
    /// The operations that could be next there, but that no view explains.
    pub blocked: Vec<Blocked<S>>,
    /// The order of one of the longest attempts.
    pub order: Vec<OpId>,
    /// The number of configurations in which the search got stuck; zero if it is not known.
    pub configurations: usize,
}

impl<S> Failure<S> {
    /// Converts the states.
    pub fn map_states<T>(self, view: impl Fn(S) -> T) -> Failure<T> {
        let blocked = |blocked: Blocked<S>| {
            let Blocked { op, visibility, must_see, may_miss, states, why } = blocked;
            Blocked { op, visibility, must_see, may_miss, states: states.into_iter().map(&view).collect(), why }
        };
        Failure {
            explained: self.explained,
            blocked: self.blocked.into_iter().map(blocked).collect(),
            order: self.order,
            configurations: self.configurations,
        }
    }
}

/// An operation that no view explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked<S> {
    /// The operation.
    pub op: OpId,
    /// Its visibility.
    pub visibility: Visibility,
    /// The earlier operations in the attempt that it has to see, and that may change the state.
    pub must_see: Vec<OpId>,
    /// The earlier operations that it may miss.
    pub may_miss: Vec<OpId>,
    /// The known states that it may see.
    pub states: Vec<S>,
    /// The reason why the specification refuses the operation in the first of these states.
    pub why: Option<String>,
}

/// The result of a check, and the work it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<S> {
    /// The verdict.
    pub verdict: Verdict<Explained, Failure<S>>,
    /// Counts of work.
    pub stats: Stats,
    /// The reason why there is no verdict, if the level sets a limit of its own.
    pub limit: Option<String>,
}

/// The reason why there is no verdict.
pub type Error<E> = CheckError<ViewError<E>>;

/// Checks a history.
pub fn check<S: Spec>(
    spec: &S,
    history: &History<Action<S::Op>>,
    options: &WeakOptions,
    watch: &dyn Watch,
) -> Result<Report<S::State>, Error<S::Error>> {
    if options.method == Method::Reduced
        && options.search.reduce
        && let Some(report) = check_strong(spec, history, options, watch)?
    {
        return Ok(report);
    }
    match (options.level.class(), options.method) {
        (Class::Strong | Class::Independent, Method::Reduced) => check_independent(spec, history, options, watch),
        _ => check_dependent(spec, history, options, watch),
    }
}

/// Searches for an execution in which every operation sees everything before it, by a narrow search in real time. Returns
/// `None` if it finds none.
///
/// Such an execution explains a history at every level whose order real time contains: every relation that a level demands
/// lies inside `lin`, so all of it is visible; and a run with the recorded results is one with any results. The search is
/// cheap, and most histories have such an execution.
fn check_strong<S: Spec>(
    spec: &S,
    history: &History<Action<S::Op>>,
    options: &WeakOptions,
    watch: &dyn Watch,
) -> Result<Option<Report<S::State>>, Error<S::Error>> {
    if !history.edges().is_empty() {
        return Ok(None);
    }
    let search = omnilink_search::Options { criterion: Criterion::LINEARIZABLE, ..options.search.clone() };
    let failed = |error| match error {
        CheckError::Spec(error) => CheckError::Spec(ViewError::Spec(error)),
        CheckError::Unconfirmed(error) => CheckError::Unconfirmed(error),
    };
    let Some(mut checker) = Checker::first(spec, &search).map_err(failed)? else { return Ok(None) };
    for op in history.ops() {
        if checker.push(op.with(&op.call.forms.recorded), watch).map_err(failed)?.is_decided() {
            return Ok(None);
        }
    }
    let found = checker.finish(watch).map_err(failed)?;
    Ok(match found.verdict {
        Verdict::Accepted(witness) if !witness.steps().any(|placed| placed.partway) => {
            let order = witness.steps().map(|placed| placed.op).collect();
            let verdict = Verdict::Accepted(Explained { order, missed: Vec::new() });
            Some(Report { verdict, stats: found.stats, limit: None })
        }
        _ => None,
    })
}

/// True if an operation never changes anything, whatever its results.
fn is_pure<S: Spec>(spec: &S, forms: &Forms<S::Op>) -> bool {
    forms.free.as_ref().is_none_or(|free| spec.is_observer(free))
}

/// Lifts a history to views. At every level, an operation that was blocked at the end has seen everything: otherwise it
/// would have continued.
fn lift<'s, 'h, S: Spec>(spec: &'s S, history: &'h History<Action<S::Op>>, options: &WeakOptions) -> Views<'s, 'h, S> {
    let Level { order, .. } = options.level;
    let has_exceptions = !options.level.actions.is_empty();
    let visibility = |op: &Op<Action<S::Op>>| match has_exceptions {
        _ if op.is_last => Visibility::Complete,
        true => under(order, options.level.visibility_of(&op.call.name)),
        false => under(order, options.level.visibility),
    };
    let viewed = history.ops().iter().enumerate().map(|(place, op)| Viewed {
        forms: &op.call.forms,
        visibility: visibility(op),
        process: op.process,
        place: place as u32,
        start: op.interval.start(),
        deadline: op.interval.deadline(),
        missable: None,
        is_touched: false,
        touches: false,
        is_explained: op.interval.is_unfinished() && spec.is_total(&op.call.forms.recorded),
        is_pure: is_pure(spec, &op.call.forms),
    });
    let mut ops: Vec<Viewed<'h, S::Op>> = viewed.collect();
    let has_runs = ops.iter().all(|op| is_always_possible(spec, options.context, op));
    if !has_runs {
        ops.iter_mut().for_each(|op| op.is_explained = false);
    }
    let needs = |op: &&Viewed<'h, S::Op>, wanted| !op.is_explained && op.visibility == wanted;
    // By start: the latest deadline so far of the operations that may miss other operations.
    let mut latest: Vec<(u64, u64)> = Vec::new();
    for op in ops.iter().filter(|op| needs(op, Visibility::Overlap)) {
        latest.push((op.start, op.deadline.max(latest.last().map_or(0, |last| last.1))));
    }
    let mut sessions: Vec<_> = ops.iter().filter(|op| needs(op, Visibility::Session)).map(|op| op.process).collect();
    sessions.sort();
    sessions.dedup();
    let has_weak = ops.iter().any(|op| needs(&op, Visibility::Weak));
    for op in ops.iter_mut().filter(|op| !op.is_pure) {
        let began = latest.partition_point(|&(start, _)| start <= op.deadline);
        let last = began.checked_sub(1).map(|last| latest[last]);
        op.missable = last.filter(|&(_, deadline)| deadline >= op.start).map(|(start, _)| start);
    }
    let mut last_of: Vec<Option<usize>> = vec![None; history.processes().len()];
    for place in 0..ops.len() {
        if let Some(last) = last_of[ops[place].process.index()].replace(place)
            && ops[last].deadline == ops[place].start
        {
            ops[last].is_touched = true;
            ops[place].touches = true;
        }
    }
    Views {
        spec,
        context: options.context,
        has_runs,
        sessions,
        has_complete: ops.iter().any(|op| op.visibility == Visibility::Complete),
        has_overlap: !latest.is_empty(),
        has_weak,
        latest,
        ops,
        successors: RefCell::default(),
    }
}

fn check_independent<S: Spec>(
    spec: &S,
    history: &History<Action<S::Op>>,
    options: &WeakOptions,
    watch: &dyn Watch,
) -> Result<Report<S::State>, Error<S::Error>> {
    let views = lift(spec, history, options);
    let mut ops = views.ops.iter();
    let lifted = history.try_map(|_| Ok::<_, Infallible>(ops.next().copied()));
    let Ok(lifted) = lifted;
    let criterion = Criterion { precedence: options.level.order };
    let search = omnilink_search::Options { criterion, ..options.search.clone() };
    let report = check_watched(&views, &lifted, &search, watch)?;
    let verdict = match report.verdict {
        Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
        Verdict::Accepted(witness) => {
            let order = witness.steps().map(|placed| placed.op).collect();
            Verdict::Accepted(confirm(&views, &lifted, order)?)
        }
        Verdict::Rejected(explanation) => {
            let stuck = explanation.stuck.first();
            let order = stuck.map_or_else(Vec::new, |stuck| path(&report.settled, &stuck.recent));
            let blocked = |&op: &OpId| blocked(&views, &lifted, &order, stuck.map(|stuck| &stuck.state), op);
            Verdict::Rejected(Failure {
                explained: explanation.explained,
                blocked: explanation.blocked.iter().map(blocked).collect(),
                configurations: explanation.stuck.len(),
                order: order.clone(),
            })
        }
    };
    Ok(Report { verdict, stats: report.stats, limit: None })
}

/// The operations of the steps, in order.
fn path(settled: &Witness, recent: &[Placed]) -> Vec<OpId> {
    settled.steps().chain(recent.iter().copied()).filter(|placed| !placed.partway).map(|placed| placed.op).collect()
}

fn blocked<'h, S: Spec>(
    views: &Views<'_, 'h, S>,
    history: &History<Viewed<'h, S::Op>>,
    order: &[OpId],
    view: Option<&View<S::State>>,
    id: OpId,
) -> Blocked<S::State> {
    let op = &history.op(id).call;
    let changes = order.iter().copied().filter(|&other| !history.op(other).call.is_pure);
    let (may_miss, must_see) = changes.partition(|&other| op.may_miss(&history.op(other).call));
    let states = view.map_or_else(Vec::new, |view| views.seen_by(view, op));
    Blocked {
        op: id,
        visibility: op.visibility,
        must_see,
        may_miss,
        why: states.first().and_then(|state| views.spec.why_not(state, &op.forms.recorded)),
        states,
    }
}

/// Confirms an order without the search and its views: finds runs for the operations, one after the other.
fn confirm<'h, S: Spec>(
    views: &Views<'_, 'h, S>,
    history: &History<Viewed<'h, S::Op>>,
    order: Vec<OpId>,
) -> Result<Explained, Error<S::Error>> {
    let mut initial = Vec::new();
    views.spec.initial(&mut initial).map_err(|error| CheckError::Spec(ViewError::Spec(error)))?;
    // The placed operations that change something, and the states after each prefix of them.
    let mut before: Vec<&Viewed<'h, S::Op>> = Vec::new();
    let mut prefixes: Vec<Vec<S::State>> = vec![initial];
    let mut explained = Explained { missed: Vec::new(), order };
    for (place, &id) in explained.order.iter().enumerate() {
        let op = &history.op(id).call;
        // The replay of the search confirms the one run of the operations with complete visibility.
        if op.visibility != Visibility::Complete && !op.is_explained {
            let missed = least_missed(views, &before, &prefixes, op).map_err(CheckError::Spec)?;
            let missed = missed.ok_or(CheckError::Unconfirmed(Unconfirmed::Disabled { op: id, step: place }))?;
            if !missed.is_empty() {
                let id = |place: usize| history.ops()[before[place].place as usize].id;
                explained.missed.push((op_id(history, op), missed.into_iter().map(id).collect()));
            }
        }
        if let Some(form) = views.form(op) {
            let mut after: Vec<S::State> = Vec::new();
            for state in &prefixes[before.len()] {
                let add = |state| {
                    if !after.contains(&state) {
                        after.push(state)
                    }
                };
                views.post(state, form, add).map_err(CheckError::Spec)?;
            }
            before.push(op);
            prefixes.push(after);
        }
    }
    Ok(explained)
}

fn op_id<T>(history: &History<Viewed<'_, T>>, op: &Viewed<'_, T>) -> OpId {
    history.ops()[op.place as usize].id
}

/// The fewest operations that an operation has to miss for its results to be explained, by their places. `None` if no run
/// explains them.
fn least_missed<'h, S: Spec>(
    views: &Views<'_, 'h, S>,
    before: &[&Viewed<'h, S::Op>],
    prefixes: &[Vec<S::State>],
    op: &Viewed<'h, S::Op>,
) -> Result<Option<Vec<usize>>, ViewError<S::Error>> {
    for state in &prefixes[before.len()] {
        if views.accepts(state, op)? {
            return Ok(Some(Vec::new()));
        }
    }
    let first = before.iter().position(|other| op.may_miss(other)).unwrap_or(before.len());
    let mut runs: Vec<(S::State, Vec<usize>)> =
        prefixes[first].iter().map(|state| (state.clone(), Vec::new())).collect();
    for (place, other) in before.iter().enumerate().skip(first) {
        let Some(form) = views.form(other) else { continue };
        let mut after: Vec<(S::State, Vec<usize>)> = Vec::new();
        let mut add = |state: S::State, missed: Vec<usize>| match after.iter_mut().find(|run| run.0 == state) {
            Some(run) if run.1.len() > missed.len() => run.1 = missed,
            Some(_) => {}
            None => after.push((state, missed)),
        };
        for (state, missed) in &runs {
            views.post(state, form, |state| add(state, missed.clone()))?;
            if op.may_miss(other) {
                add(state.clone(), [missed.as_slice(), &[place]].concat());
            }
        }
        runs = after;
    }
    runs.sort_by_key(|run| run.1.len());
    for (state, missed) in runs {
        if views.accepts(&state, op)? {
            return Ok(Some(missed));
        }
    }
    Ok(None)
}

fn check_dependent<S: Spec>(
    spec: &S,
    history: &History<Action<S::Op>>,
    options: &WeakOptions,
    watch: &dyn Watch,
) -> Result<Report<S::State>, Error<S::Error>> {
    let count = history.ops().len();
    if count > MOST {
        let limit = format!(
            "`{}` is searched for at most {MOST} operations, because what an operation has to see depends on what others \
             see; this history has {count}",
            options.level
        );
        return Ok(Report { verdict: Verdict::Inconclusive(Stop::Width), stats: Stats::default(), limit: Some(limit) });
    }
    let visibility = |op: &Op<Action<S::Op>>| match op.is_last {
        true => Visibility::Complete,
        false => under(options.level.order, options.level.visibility_of(&op.call.name)),
    };
    let ops = history.ops().iter().map(|op| Contextual {
        forms: &op.call.forms,
        action: &op.call.name,
        visibility: visibility(op),
        is_pure: is_pure(spec, &op.call.forms),
    });
    let WeakOptions { level, context, method, search } = options;
    let search_failed = CheckError::Spec;
    let mut contexts = Contexts::new(spec, history, ops.collect(), level, *context, watch).map_err(search_failed)?;
    contexts.limit(search.max_width);
    contexts.reduce(*method);
    let found = contexts.search().map_err(search_failed)?;
    let is_pure = |op: usize| is_pure(spec, &history.ops()[op].call.forms);
    let changing = |set: Set| elements(set).filter(|&op| !is_pure(op)).fold(0, |all, op| all | bit(op));
    let verdict = match found {
        Found::Stopped(stop) => Verdict::Inconclusive(stop),
        Found::Accepted(Execution { lin, vis }) => {
            let mut explained = Explained::default();
            let mut placed = 0;
            for &op in &lin {
                let missed = changing(placed & !vis[op]);
                if missed != 0 && !history.ops()[op].interval.is_unfinished() {
                    explained.missed.push((history.ops()[op].id, ids(history, missed)));
                }
                placed |= bit(op);
                explained.order.push(history.ops()[op].id);
            }
            Verdict::Accepted(explained)
        }
        Found::Rejected(mut longest) => {
            let placed = longest.lin.iter().fold(0, |all, &op| all | bit(op));
            let order: Vec<OpId> = longest.lin.iter().map(|&op| history.ops()[op].id).collect();
            let mut all = Vec::new();
            for op in contexts.ready(placed) {
                let next = &history.ops()[op];
                if next.interval.is_unfinished() {
                    continue;
                }
                let must_see = contexts.closed(&mut longest, placed, op, 0).unwrap_or(placed);
                let run = contexts.run(&longest.lin, must_see, false).map_err(search_failed)?;
                let states = contexts.states(run).to_vec();
                all.push(Blocked {
                    op: next.id,
                    visibility: level.visibility_of(&next.call.name),
                    must_see: ids(history, changing(must_see)),
                    may_miss: ids(history, changing(placed & !must_see)),
                    why: states.first().and_then(|state| spec.why_not(state, &next.call.forms.recorded)),
                    states,
                });
            }
            Verdict::Rejected(Failure { explained: order.len() as u64, blocked: all, order, configurations: 0 })
        }
    };
    Ok(Report { verdict, stats: contexts.stats, limit: None })
}

/// True if accepted parts of an object make up an accepted whole, where every operation belongs to one of several
/// independent parts. A rejected part always rejects the whole, because an execution of the whole contains one of each
/// part.
///
/// In real time this is the argument of Herlihy and Wing: the orders of the parts and the interval order together have
/// no cycle, so they fit into one order; and an operation may see all operations on other parts that are before it, as
/// these change nothing about its results. They are a run if none of them is impossible there: those with complete
/// visibility saw the same, and the others have to be possible in every state.
pub fn is_local<S: Spec>(spec: &S, history: &History<Action<S::Op>>, options: &WeakOptions) -> bool {
    options.level.order == Precedence::RealTime
        && match options.level.class() {
            Class::Strong => true,
            Class::Independent => lift(spec, history, options).has_runs,
            Class::Dependent => false,
        }
}
