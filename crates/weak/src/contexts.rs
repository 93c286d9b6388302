//! Levels at which the operations that an operation has to see depend on the visible operations of others.
//!
//! The search of Emmi and Enea (CAV 2018), which here remembers more. It extends `lin` by one operation, and gives this one
//! each *least* set of earlier operations that satisfies the axioms and explains its results:
//! - It visits only sets that are closed under the axioms, from the least one upwards: it extends a set that explains
//!   nothing by one operation, and closes it again. It reaches every least set that explains the results this way, because
//!   all closed sets below such a set explain nothing. Under causal axioms closed sets are prefixes of processes, so there
//!   are at most as many as vector clocks.
//! - *No-good rule.* Suppose an attempt that has placed some operations, with the changing ones in some order, has failed.
//!   Any attempt with the same operations in the same order in which every operation sees as much or more fails as well:
//!   the axioms grow with `vis`, so it has to meet every demand that the first could not meet.
//! - Runs are shared: a set of states and the next operation determine the next set of states.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use omnilink_history::{History, Op, OpId, Precedence, Stop};
use omnilink_search::{Spec, Stats, Successors, Watch};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::axiom::{Atom, Filter, Relation};
use crate::level::Level;
use crate::views::{Context, Forms, ViewError};
use crate::visibility::Visibility;

/// The reductions of visibility to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// All of them: sets of states where operations choose independently, and remembered failures elsewhere.
    #[default]
    Reduced,
    /// Least visible sets alone, as in the paper of Emmi and Enea.
    Least,
    /// No reduction: the search tries every visible set.
    Naive,
}

/// A set of operations.
pub(crate) type Set = u128;

/// The maximum number of operations in a set.
pub(crate) const MOST: usize = Set::BITS as usize;

/// The data of an operation that the search needs.
pub(crate) struct Contextual<'h, T> {
    pub(crate) forms: &'h Forms<T>,
    pub(crate) action: &'h str,
    pub(crate) visibility: Visibility,
    pub(crate) is_pure: bool,
}

/// A relation over the operations of one history.
enum Compiled {
    Atom(Atom),
    Then(Box<Compiled>, Box<Compiled>),
    Or(Box<Compiled>, Box<Compiled>),
    And(Box<Compiled>, Box<Compiled>),
    Plus(Box<Compiled>),
    Maybe(Box<Compiled>),
    Filter(Set),
}

/// An order of operations, and the operations that each one sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Execution {
    pub(crate) lin: Vec<usize>,
    pub(crate) vis: Vec<Set>, // By operation.
}

/// The result of a search.
pub(crate) enum Found {
    Accepted(Execution),
    /// The longest attempt.
    Rejected(Execution),
    Stopped(Stop),
}

pub(crate) struct Contexts<'h, 'w, S: Spec> {
    spec: &'h S,
    context: Context,
    ops: Vec<Contextual<'h, S::Op>>,
    intervals: Vec<omnilink_history::Interval>,
    must_precede: Vec<Set>, // By operation: those before it by order, and by edges.
    po: Vec<Set>,
    hb: Vec<Set>,
    finished: Set,
    last: Set, // Operations that were blocked at the end: they come after all others, and see them.
    in_real_time: bool,
    demands: Vec<Compiled>,
    remembers: bool,
    is_naive: bool,
    runs: Runs<S>,
    failed: FxHashMap<(Set, Vec<u8>), Vec<Vec<Set>>>,
    most_failed: usize,
    kept: usize,
    longest: Execution,
    pub(crate) stats: Stats,
    watch: &'w dyn Watch,
    unwatched: usize,
}

/// Sets of states, and the operations that lead from one to another.
struct Runs<S: Spec> {
    sets: Vec<Vec<S::State>>,
    after: FxHashMap<(u32, u32), u32>,
    explains: FxHashMap<(u32, u32), bool>,
    initial: u32,
}

/// The number of steps between two checks of the limits.
const STEPS_UNWATCHED: usize = 1 << 10;

impl<'h, 'w, S: Spec> Contexts<'h, 'w, S> {
    pub(crate) fn new<T>(
        spec: &'h S,
        history: &History<T>,
        ops: Vec<Contextual<'h, S::Op>>,
        level: &Level,
        context: Context,
        watch: &'w dyn Watch,
    ) -> Result<Contexts<'h, 'w, S>, ViewError<S::Error>> {
        let mut initial = Vec::new();
        spec.initial(&mut initial).map_err(ViewError::Spec)?;
        let all = history.ops();
        let set = |is_in: &dyn Fn(&Op<T>) -> bool| members(all.iter().map(is_in));
        let po = |op: &Op<T>| set(&|other| other.process == op.process && other.index < op.index);
        let in_time = |op: &Op<T>| set(&|other| other.interval.precedes(op.interval));
        let edges = |op: &Op<T>| set(&|other| history.edges().contains(&(other.id, op.id)));
        let order = |op: &Op<T>| match level.order {
            Precedence::RealTime => po(op) | in_time(op),
            Precedence::Program => po(op),
            Precedence::None => 0,
        };
        let last = set(&|op| op.is_last);
        let at_end = |op: &Op<T>| if op.is_last { !last } else { 0 };
        let compiled = level.demands().iter().map(|relation| compile(relation, &ops)).collect();
        Ok(Contexts {
            spec,
            context,
            intervals: all.iter().map(|op| op.interval).collect(),
            must_precede: all.iter().map(|op| order(op) | edges(op) | at_end(op)).collect(),
            po: all.iter().map(po).collect(),
            hb: all.iter().map(order).collect(),
            finished: set(&|op| !op.interval.is_unfinished()),
            last,
            in_real_time: level.order == Precedence::RealTime,
            demands: compiled,
            remembers: true,
            is_naive: false,
            runs: Runs { sets: vec![initial], after: FxHashMap::default(), explains: FxHashMap::default(), initial: 0 },
            failed: FxHashMap::default(),
            most_failed: usize::MAX,
            kept: 0,
            longest: Execution::default(),
            stats: Stats::default(),
            watch,
            unwatched: 0,
            ops,
        })
    }

    /// Sets the maximum number of failed attempts to keep.
    pub(crate) fn limit(&mut self, most: Option<usize>) {
        self.most_failed = most.unwrap_or(usize::MAX);
    }

    /// Uses these reductions only.
    pub(crate) fn reduce(&mut self, method: Method) {
        self.remembers = method == Method::Reduced;
        self.is_naive = method == Method::Naive;
    }

    pub(crate) fn search(&mut self) -> Result<Found, ViewError<S::Error>> {
        let mut now = Execution { lin: Vec::new(), vis: vec![0; self.ops.len()] };
        if self.runs.sets[self.runs.initial as usize].is_empty() {
            return Ok(Found::Rejected(now));
        }
        Ok(match self.extend(&mut now, 0)? {
            Ok(true) => Found::Accepted(now),
            Ok(false) => Found::Rejected(std::mem::take(&mut self.longest)),
            Err(stop) => Found::Stopped(stop),
        })
    }

    fn extend(&mut self, now: &mut Execution, placed: Set) -> Result<Result<bool, Stop>, ViewError<S::Error>> {
        if self.finished & !placed == 0 {
            return Ok(Ok(true));
        }
        if self.longest.vis.is_empty() || now.lin.len() > self.longest.lin.len() {
            self.longest = now.clone();
            self.stats.operations = now.lin.len() as u64;
        }
        self.stats.steps += 1;
        self.unwatched += 1;
        if self.unwatched >= STEPS_UNWATCHED {
            self.unwatched = 0;
            if let Some(stop) = self.watch.poll(&self.stats) {
                return Ok(Err(stop));
            }
        }
        let key = self.remembers.then(|| (placed, self.changes(&now.lin)));
        if let Some(failed) = key.as_ref().and_then(|key| self.failed.get(key))
            && failed.iter().any(|failed| failed.iter().zip(&now.vis).all(|(less, more)| less & !more == 0))
        {
            return Ok(Ok(false));
        }
        for next in self.ready(placed) {
            let sets = match self.least_sets(now, placed, next)? {
                Ok(sets) => sets,
                Err(stop) => return Ok(Err(stop)),
            };
            for set in sets {
                self.stats.generated += 1;
                now.lin.push(next);
                now.vis[next] = set;
                match self.extend(now, placed | bit(next))? {
                    Ok(false) => {}
                    decided => return Ok(decided),
                }
                now.lin.pop();
                now.vis[next] = 0;
            }
        }
        if let Some(key) = key {
            let failed = self.failed.entry(key).or_default();
            failed.retain(|failed| !now.vis.iter().zip(failed.iter()).all(|(less, more)| less & !more == 0));
            failed.push(now.vis.clone());
            self.kept += 1;
            self.stats.distinct = self.kept as u64;
            self.stats.width = self.kept;
            if self.kept > self.most_failed {
                return Ok(Err(Stop::Width));
            }
        }
        Ok(Ok(false))
    }

    /// The placed operations that others may notice, in their order.
    fn changes(&self, lin: &[usize]) -> Vec<u8> {
        lin.iter().filter(|&&op| !self.ops[op].is_pure).map(|&op| op as u8).collect()
    }

    pub(crate) fn ready(&self, placed: Set) -> Vec<usize> {
        let is_late = |op: usize| {
            let latest = self.intervals[op].latest().filter(|_| self.in_real_time);
            latest.is_some_and(|latest| elements(placed).any(|other| self.intervals[other].start() > latest))
        };
        let is_over = |op: usize| placed & self.last != 0 && self.last & bit(op) == 0;
        let is_ready =
            |&op: &usize| placed & bit(op) == 0 && self.must_precede[op] & self.finished & !placed == 0 && !is_over(op);
        let mut ready: Vec<usize> = (0..self.ops.len()).filter(is_ready).filter(|&op| !is_late(op)).collect();
        // Reads first, then the operations that end first: this finds most executions sooner.
        ready.sort_by_key(|&op| (!self.ops[op].is_pure, self.intervals[op].deadline()));
        ready
    }

    /// The least sets of placed operations that an operation may see, and that explain its results.
    fn least_sets(
        &mut self,
        now: &mut Execution,
        placed: Set,
        next: usize,
    ) -> Result<Result<Vec<Set>, Stop>, ViewError<S::Error>> {
        let mut found: Vec<Set> = Vec::new();
        let seen = if self.last & bit(next) != 0 { placed } else { 0 };
        let Some(least) = self.closed(now, placed, next, seen) else { return Ok(Ok(found)) };
        let mut waiting = BinaryHeap::from([Reverse((least.count_ones(), least))]);
        let mut seen: FxHashSet<Set> = [least].into_iter().collect();
        while let Some(Reverse((_, set))) = waiting.pop() {
            if !self.is_naive && found.iter().any(|found| found & !set == 0) {
                continue;
            }
            if self.unwatched >= STEPS_UNWATCHED {
                self.unwatched = 0;
                if let Some(stop) = self.watch.poll(&self.stats) {
                    return Ok(Err(stop));
                }
            }
            if self.is_explained(&now.lin, set, next)? {
                found.push(set);
                if !self.is_naive {
                    continue;
                }
            }
            for other in elements(placed & !set) {
                self.stats.steps += 1;
                self.unwatched += 1;
                if let Some(larger) = self.closed(now, placed, next, set | bit(other))
                    && seen.insert(larger)
                {
                    waiting.push(Reverse((larger.count_ones(), larger)));
                }
            }
        }
        Ok(Ok(found))
    }

    /// The least set that contains this one and satisfies the axioms. `None` if it would contain an operation that is
    /// not placed.
    pub(crate) fn closed(&self, now: &mut Execution, placed: Set, next: usize, set: Set) -> Option<Set> {
        let mut set = set;
        loop {
            now.vis[next] = set;
            let needed = self.demands.iter().fold(set, |all, demand| all | self.before(demand, now, placed, bit(next)));
            if needed == set {
                now.vis[next] = 0;
                return (set & !placed == 0).then_some(set);
            }
            set = needed;
        }
    }

    /// The operations from which a relation leads into a set.
    fn before(&self, relation: &Compiled, now: &Execution, placed: Set, to: Set) -> Set {
        let go = |relation: &Compiled, to: Set| self.before(relation, now, placed, to);
        let join = |sets: &[Set]| elements(to).fold(0, |all, op| all | sets[op]);
        match relation {
            Compiled::Atom(Atom::Po) => join(&self.po),
            // An unfinished operation that is not placed did not happen.
            Compiled::Atom(Atom::Hb) => join(&self.hb) & (self.finished | placed),
            Compiled::Atom(Atom::Vis) => join(&now.vis),
            Compiled::Atom(Atom::Lin) => {
                if to & !placed != 0 {
                    return placed; // Before the operation that is next.
                }
                let last = now.lin.iter().rposition(|&op| to & bit(op) != 0).unwrap_or(0);
                now.lin[..last].iter().fold(0, |all, &op| all | bit(op))
            }
            Compiled::Then(first, second) => go(first, go(second, to)),
            Compiled::Or(a, b) => go(a, to) | go(b, to),
            Compiled::And(a, b) => elements(to).fold(0, |all, op| all | (go(a, bit(op)) & go(b, bit(op)))),
            Compiled::Plus(inner) => {
                let mut all = go(inner, to);
                loop {
                    let more = all | go(inner, all);
                    if more == all {
                        return all;
                    }
                    all = more;
                }
            }
            Compiled::Maybe(inner) => to | go(inner, to),
            Compiled::Filter(kept) => to & kept,
        }
    }

    /// True if a run of these operations, in order, explains the results of an operation.
    fn is_explained(&mut self, lin: &[usize], set: Set, next: usize) -> Result<bool, ViewError<S::Error>> {
        let is_complete = self.ops[next].visibility == Visibility::Complete;
        let run = self.run(lin, set, is_complete)?;
        let form = next as u32 * 2;
        if let Some(&explains) = self.runs.explains.get(&(run, form)) {
            return Ok(explains);
        }
        let mut is_explained = false;
        for place in 0..self.runs.sets[run as usize].len() {
            let reached = self.step(run, place, &self.ops[next].forms.recorded)?;
            is_explained |= !reached.is_empty();
        }
        self.runs.explains.insert((run, form), is_explained);
        if !self.remembers {
            self.runs.clear();
        }
        Ok(is_explained)
    }

    /// The states after a run of these operations.
    pub(crate) fn run(&mut self, lin: &[usize], set: Set, is_complete: bool) -> Result<u32, ViewError<S::Error>> {
        let mut run = self.runs.initial;
        for &op in lin.iter().filter(|&&op| set & bit(op) != 0) {
            let Contextual { forms, visibility, is_pure, .. } = &self.ops[op];
            // All operations with complete visibility are in one run, which has all the recorded results.
            let is_one_run = is_complete && *visibility == Visibility::Complete;
            if *is_pure && !is_one_run {
                continue;
            }
            let is_recorded = *visibility == Visibility::Complete || self.context == Context::Recorded;
            let form = if is_recorded { Some(&forms.recorded) } else { forms.free.as_ref() };
            let Some(form) = form else { continue };
            let step = (run, op as u32 * 2 + u32::from(!is_recorded));
            if let Some(&after) = self.runs.after.get(&step) {
                run = after;
                continue;
            }
            let mut reached: Vec<S::State> = Vec::new();
            for place in 0..self.runs.sets[run as usize].len() {
                for state in self.step(run, place, form)? {
                    if !reached.contains(&state) {
                        reached.push(state);
                    }
                }
            }
            run = self.runs.sets.len() as u32;
            self.runs.sets.push(reached);
            self.runs.after.insert(step, run);
        }
        Ok(run)
    }

    /// The states of a run.
    pub(crate) fn states(&self, run: u32) -> &[S::State] {
        &self.runs.sets[run as usize]
    }

    fn step(&self, run: u32, place: usize, form: &S::Op) -> Result<Vec<S::State>, ViewError<S::Error>> {
        let mut successors = Successors::default();
        let state = &self.runs.sets[run as usize][place];
        self.spec.step(state, form, &mut successors).map_err(ViewError::Spec)?;
        let (done, partway) = successors.into_parts();
        if partway.is_empty() { Ok(done) } else { Err(ViewError::Partway) }
    }
}

impl<S: Spec> Runs<S> {
    fn clear(&mut self) {
        self.sets.truncate(1);
        self.after.clear();
        self.explains.clear();
    }
}

fn compile<T>(relation: &Relation, ops: &[Contextual<'_, T>]) -> Compiled {
    let go = |relation: &Relation| Box::new(compile(relation, ops));
    let such = |is_in: &dyn Fn(&Contextual<'_, T>) -> bool| Compiled::Filter(members(ops.iter().map(is_in)));
    let named = |names: &[std::sync::Arc<str>], action: &str| names.iter().any(|name| **name == *action);
    match relation {
        Relation::Atom(atom) => Compiled::Atom(*atom),
        Relation::Then(a, b) => Compiled::Then(go(a), go(b)),
        Relation::Or(a, b) => Compiled::Or(go(a), go(b)),
        Relation::And(a, b) => Compiled::And(go(a), go(b)),
        Relation::Plus(a) => Compiled::Plus(go(a)),
        Relation::Maybe(a) => Compiled::Maybe(go(a)),
        Relation::Filter(Filter::Mutator) => such(&|op| !op.is_pure),
        Relation::Filter(Filter::ReadOnly) => such(&|op| op.is_pure),
        Relation::Filter(Filter::Actions(names)) => such(&|op| named(names, op.action)),
        Relation::Filter(Filter::Except(names)) => such(&|op| !named(names, op.action)),
    }
}

pub(crate) fn bit(op: usize) -> Set {
    1 << op
}

pub(crate) fn elements(set: Set) -> impl Iterator<Item = usize> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let next = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (next < MOST).then_some(next)
    })
}

fn members(is_in: impl Iterator<Item = bool>) -> Set {
    is_in.enumerate().fold(0, |set, (op, is_in)| if is_in { set | bit(op) } else { set })
}

/// The numbers of the operations of a set.
pub(crate) fn ids<T>(history: &History<T>, set: Set) -> Vec<OpId> {
    elements(set).map(|op| history.ops()[op].id).collect()
}
