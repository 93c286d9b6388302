//! Random walks: behaviors in which every successor is chosen at random.
//!
//! Everything that [`check`](super::check()) asks of reachable states is asked of *all* successors of a visited state, not only
//! of the chosen one. A walk has random numbers of its own, which depend on the seed and on its number, so that one walk can be
//! repeated alone, and the result does not depend on the number of workers: of several walks that end with an event, the one with
//! the least number counts, and only walks before it.
//!
//! The behavior of a violation is the walk up to it. A breadth-first search from its first state then looks for a shorter one,
//! within a fixed number of states.
//!
//! States and transitions are counted in full, without `VIEW` and `SYMMETRY`.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;

use super::check::{Checker, During, workers};
use super::random::Random;
use super::store::Store;
use super::{BehaviorStep, Claim, End, Explorer, Limit, Plan, Trace, TraceStep, Verdict, explore};
use crate::datum::{Datum, World};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::DefId;
use crate::machine::{Label, State};
use crate::program::Program;
use crate::source::Site;
use crate::value::Value;

/// The walks to make.
#[derive(Debug, Clone, Copy)]
pub struct WalkPlan {
    /// The number of the first walk.
    pub first: u64,
    /// The number of walks.
    pub walks: u64,
    /// The maximum number of steps of a walk.
    pub depth: usize,
    /// The seed of all walks.
    pub seed: u64,
    /// How a successor is chosen.
    pub choose: Choose,
    /// A walk ends in a state in which this predicate is true.
    pub until: Option<DefId>,
}

/// How a walk chooses a successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choose {
    /// All distinct successors are equally likely, and then all steps that lead to the chosen one.
    Successor,
    /// All actions with a successor are equally likely, and then all successors of the action: an action with few parameters is
    /// as likely as one with many.
    Action,
}

/// The result of walks.
#[derive(Debug)]
pub struct Simulated {
    /// The verdict, about the walks that were made.
    pub verdict: Verdict,
    /// The number of the walk that ended with the verdict.
    pub walk: Option<u64>,
    /// The parts of the specification that the walks visited.
    pub visited: Visited,
}

/// The parts of a specification that walks visited.
#[derive(Debug, Clone, Default)]
pub struct Visited {
    /// The number of walks.
    pub walks: u64,
    /// The walks that ended after the maximum number of steps.
    pub at_depth: u64,
    /// The walks that ended where the predicate was true.
    pub at_goal: u64,
    /// The number of steps of all walks.
    pub steps: u64,
    /// The number of states that were checked: all successors of visited states.
    pub generated: u64,
    /// The number of distinct states that were visited.
    pub states: u64,
    /// The number of distinct transitions that were taken: two states, and an action with its arguments.
    pub transitions: u64,
    /// The number of transitions that were taken once.
    pub once: u64,
    /// How often each action was taken.
    pub actions: BTreeMap<String, u64>,
    /// Whether there were too many states to count more of them.
    pub is_counted_in_part: bool,
}

impl Visited {
    /// The share of steps that would be new if the walks continued, as Good and Turing estimate it.
    pub fn share_of_new_steps(&self) -> f64 {
        if self.steps == 0 { 0.0 } else { self.once as f64 / self.steps as f64 }
    }
}

/// The maximum number of distinct states to count.
const MOST_COUNTED: u64 = 10_000_000;

/// The number of states to check between two calls of `watch`, about.
const AT_ONCE: u64 = 20_000;

/// The maximum number of walks between them.
const MOST_AT_ONCE: u64 = 1024;

/// The number of states in which to look for a shorter behavior.
const SHORTER_WITHIN: u64 = 200_000;

/// Makes random walks with one worker for each world. `watch` is called now and then, and may stop them. `behavior` receives
/// every complete walk with its number, in order.
///
/// # Panics
///
/// If there are no worlds.
pub fn simulate<'p>(
    program: &'p Program,
    plan: &WalkPlan,
    mut worlds: Vec<Box<dyn World + Send + 'p>>,
    watch: &mut dyn FnMut(&Visited) -> Option<Limit>,
    behavior: &mut dyn FnMut(u64, &[BehaviorStep]),
) -> Simulated {
    if program.reads_progress() {
        worlds.truncate(1);
    }
    let mut tally = Tally::default();
    let mut workers = match workers(program, worlds) {
        Ok(workers) => workers,
        Err(verdict) => return Simulated { verdict, walk: None, visited: tally.visited },
    };
    let starts = match workers[0].starts() {
        Ok(starts) => starts,
        Err(end) => {
            let verdict = workers[0].verdict(*end);
            return Simulated { verdict, walk: None, visited: tally.visited };
        }
    };
    tally.visited.generated = starts.generated;
    let mut at_once = workers.len() as u64;
    let (mut first, past) = (plan.first, plan.first.saturating_add(plan.walks));
    while first < past && !starts.states.is_empty() {
        let until = past.min(first + at_once);
        let before = tally.visited.generated;
        for (number, walk) in batch(&mut workers, plan, &starts.states, first..until) {
            tally.add(&walk);
            let Some(end) = walk.event else {
                behavior(number, &walk.behavior);
                continue;
            };
            let end = workers[0].shortened(*end);
            let mut verdict = workers[0].verdict(end);
            if let (Verdict::Error { during, .. }, true) = (&mut verdict, walk.is_at_goal) {
                *during = During::Goal;
            }
            return Simulated { verdict, walk: Some(number), visited: tally.visited };
        }
        first = until;
        if tally.visited.generated - before < AT_ONCE {
            at_once = (at_once * 2).min(MOST_AT_ONCE);
        }
        if let Some(limit) = watch(&tally.visited) {
            let verdict = Verdict::Stopped { limit, path: Vec::new() };
            return Simulated { verdict, walk: None, visited: tally.visited };
        }
    }
    Simulated { verdict: workers[0].verdict(End::Finished), walk: None, visited: tally.visited }
}

/// A walk, and the findings on it.
struct Walk<'p> {
    behavior: Trace<Checker<'p>>,
    generated: u64,
    ended: Ended,
    /// Whether the predicate that ends a walk is being evaluated.
    is_at_goal: bool,
    event: Option<Box<End<Checker<'p>>>>,
}

/// Why a walk without an event ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    AtDepth,
    AtGoal,
    /// The constraints allow no successor, or there is none and none is needed.
    WithoutSuccessor,
}

/// Makes the walks with these numbers, and returns them in order, up to the first with an event.
fn batch<'p>(
    workers: &mut [Checker<'p>],
    plan: &WalkPlan,
    starts: &[State],
    numbers: std::ops::Range<u64>,
) -> Vec<(u64, Walk<'p>)> {
    let (next, last) = (AtomicU64::new(numbers.start), AtomicU64::new(numbers.end - 1));
    let work = |worker: &mut Checker<'p>| {
        let mut walks = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number > last.load(Ordering::Relaxed) {
                return walks;
            }
            let walk = worker.walk(plan, starts, number);
            if walk.event.is_some() {
                last.fetch_min(number, Ordering::Relaxed);
            }
            walks.push((number, walk));
        }
    };
    let mut walks = match workers {
        [worker] => work(worker),
        workers => std::thread::scope(|scope| {
            let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(|| work(worker))).collect();
            // Invariant: a worker panics only if the evaluator has a defect, and then so does this thread.
            threads.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect()
        }),
    };
    walks.sort_by_key(|(number, _)| *number);
    let end = walks.iter().position(|(_, walk)| walk.event.is_some());
    walks.truncate(end.map_or(walks.len(), |end| end + 1));
    walks
}

/// The initial states that the constraints allow, each once.
struct Starts {
    states: Vec<State>,
    generated: u64,
}

/// The promises that were given on the way to a state.
type Given = Vec<bool>;

/// A successor that may be chosen.
struct Candidate {
    state: State,
    /// The steps that lead to it.
    labels: Vec<Label>,
    promised: Given,
}

/// Chooses a successor, and one of the steps that lead to it.
fn choose(choose: Choose, candidates: &[Candidate], random: &mut Random) -> (usize, usize) {
    let below = |random: &mut Random, count: usize| random.below(count as u64) as usize;
    match choose {
        Choose::Successor => {
            let chosen = below(random, candidates.len());
            (chosen, below(random, candidates[chosen].labels.len()))
        }
        Choose::Action => {
            let all = || {
                let labels = |(place, candidate): (usize, &Candidate)| {
                    let sites = candidate.labels.iter().map(|label| label.site).enumerate();
                    sites.map(|(index, site)| (site, place, index)).collect::<Vec<_>>()
                };
                candidates.iter().enumerate().flat_map(labels)
            };
            let actions: BTreeSet<Site> = all().map(|(site, ..)| site).collect();
            let action = actions.iter().copied().nth(below(random, actions.len()));
            let mut of_action: Vec<(usize, usize)> =
                all().filter(|(site, ..)| Some(*site) == action).map(|(_, place, index)| (place, index)).collect();
            // Several steps of the action to one successor make it no more likely.
            of_action.dedup_by_key(|(place, _)| *place);
            *random.pick(&of_action)
        }
    }
}

type Checked<'p, T> = std::result::Result<T, Box<End<Checker<'p>>>>;

impl<'p> Checker<'p> {
    /// Computes and checks the initial states.
    fn starts(&mut self) -> Checked<'p, Starts> {
        let mut states = Vec::new();
        self.set_level(0);
        let result = self.initial(&mut states);
        self.set_level(1);
        let generated = states.len() as u64;
        let mut known = Store::new(1);
        states.retain(|state| known.place(state).1);
        let mut allowed = Vec::new();
        for state in states {
            if self.judge(&[], None, &state)?.is_some() {
                allowed.push(state);
            }
        }
        match result {
            Ok(()) => Ok(Starts { states: allowed, generated }),
            Err(error) => Err(Box::new(End::Error { error, claim: None, trace: Vec::new() })),
        }
    }

    /// Makes a walk.
    fn walk(&mut self, plan: &WalkPlan, starts: &[State], number: u64) -> Walk<'p> {
        let mut random = Random::of_walk(plan.seed, number);
        self.set_seed(random.next());
        let state = random.pick(starts).clone();
        let behavior = vec![TraceStep { label: None, state }];
        let mut walk = Walk { behavior, generated: 0, ended: Ended::AtDepth, is_at_goal: false, event: None };
        match self.go(plan, &mut random, &mut walk) {
            Ok(ended) => walk.ended = ended,
            Err(end) => walk.event = Some(end),
        }
        walk
    }

    /// Makes steps until the walk ends.
    fn go(&mut self, plan: &WalkPlan, random: &mut Random, walk: &mut Walk<'p>) -> Checked<'p, Ended> {
        self.set_level(1);
        let first = walk.behavior[0].state.clone();
        let mut given = self.judge(&[], None, &first)?.unwrap_or_default();
        loop {
            let state = walk.behavior.last().expect("a walk has a first state").state.clone();
            let level = walk.behavior.len();
            self.set_level(level);
            let fail = |error, walk: &mut Walk<'p>| {
                Box::new(End::Error { error, claim: None, trace: mem::take(&mut walk.behavior) })
            };
            walk.is_at_goal = true;
            if self.is_goal(plan, &state).map_err(|error| fail(error, walk))? {
                return Ok(Ended::AtGoal);
            }
            walk.is_at_goal = false;
            if level > plan.depth {
                return Ok(Ended::AtDepth);
            }
            let successors = self.machine.labelled_successors(&state).map_err(|error| fail(error, walk))?;
            let between = self.between();
            walk.generated += between + successors.len() as u64;
            if self.has_exited() {
                return Err(Box::new(End::Exited));
            }
            if successors.is_empty() && between == 0 && self.machine.program().check_deadlock {
                return Err(Box::new(End::Deadlock { trace: mem::take(&mut walk.behavior) }));
            }
            self.set_level(level + 1);
            let mut candidates = self.candidates(&walk.behavior, &given, successors)?;
            if candidates.is_empty() {
                return Ok(Ended::WithoutSuccessor);
            }
            let (chosen, label) = choose(plan.choose, &candidates, random);
            let Candidate { state, mut labels, promised } = candidates.swap_remove(chosen);
            walk.behavior.push(TraceStep { label: Some(labels.swap_remove(label)), state });
            given = promised;
        }
    }

    /// Checks all successors, and returns those that the constraints allow, each once.
    fn candidates(
        &mut self,
        behavior: &[BehaviorStep],
        given: &[bool],
        successors: Vec<(Label, State)>,
    ) -> Checked<'p, Vec<Candidate>> {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut known = Store::new(1);
        // The candidate of each known state, unless the constraints exclude it.
        let mut places: Vec<Option<usize>> = Vec::new();
        for (label, state) in successors {
            let (index, is_new) = known.place(&state);
            if is_new {
                let promised = self.judge(behavior, Some((given, &label)), &state)?;
                places.push(promised.is_some().then_some(candidates.len()));
                candidates.extend(promised.map(|promised| Candidate { state, labels: vec![label], promised }));
            } else if let Some(place) = places[index] {
                candidates[place].labels.push(label);
            }
        }
        Ok(candidates)
    }

    /// Checks an initial state, or a successor of the last state of a behavior, given the promises before and the label of the step.
    /// Returns the promises that were given up to it, or `None` if the constraints exclude it.
    fn judge(
        &mut self,
        behavior: &[BehaviorStep],
        step: Option<(&[bool], &Label)>,
        state: &State,
    ) -> Checked<'p, Option<Given>> {
        let from = behavior.last().map(|last| &last.state);
        let trace = || {
            let last = TraceStep { label: step.map(|(_, label)| label.clone()), state: state.clone() };
            behavior.iter().cloned().chain([last]).collect()
        };
        let failed = |error, claim| Box::new(End::Error { error, claim, trace: trace() });
        let is_allowed = self.is_explored(from, state).map_err(|error| failed(error, None))?;
        let violated = self.violated(state).map_err(|(index, error)| failed(error, Some(Claim::Invariant(index))))?;
        if let Some(index) = violated {
            return Err(Box::new(End::Violated { claim: Claim::Invariant(index), trace: trace() }));
        }
        let violated = self
            .violated_property(from, state)
            .map_err(|(index, error)| failed(error, Some(Claim::Property(index))))?;
        if let Some(index) = violated {
            return Err(Box::new(End::Violated { claim: Claim::Property(index), trace: trace() }));
        }
        let mut promised = Given::new();
        if is_allowed {
            for promise in 0..self.promises() {
                let claim = Claim::Promise(promise);
                let (p, q) = self.promise(promise, state).map_err(|error| failed(error, Some(claim)))?;
                let is_given = match step {
                    None => p,
                    Some((given, _)) => given[promise] || p && self.is_promised_anew(promise),
                };
                if is_given && !q {
                    return Err(Box::new(End::Violated { claim, trace: trace() }));
                }
                promised.push(is_given);
            }
        }
        Ok(is_allowed.then_some(promised))
    }

    fn is_goal(&mut self, plan: &WalkPlan, state: &State) -> Result<bool> {
        let Some(until) = plan.until else { return Ok(false) };
        match self.machine.evaluate_definition(until, Some(state))? {
            Datum::Value(Value::Bool(truth)) => Ok(truth),
            _ => Err(EvalError::new(ErrorKind::WrongKind, "the predicate that ends a walk is not a boolean")),
        }
    }

    /// The same violation with a shorter behavior from the same first state, if there is one among the states nearest to it.
    fn shortened(&mut self, end: End<Checker<'p>>) -> End<Checker<'p>> {
        let (kind, longest) = match &end {
            End::Violated { claim, trace } => (Some(*claim), trace),
            End::Deadlock { trace } => (None, trace),
            _ => return end,
        };
        self.start = longest.first().map(|step| step.state.clone());
        let plan = Plan { check_deadlock: self.machine.program().check_deadlock, is_serial: true, ..Plan::default() };
        let watch = &mut |stats: &super::Stats| (stats.generated >= SHORTER_WITHIN).then_some(Limit::States);
        let found = explore(std::slice::from_mut(self), plan, watch).end;
        self.start = None;
        match &found {
            End::Violated { claim, trace } if Some(*claim) == kind && trace.len() < longest.len() => found,
            End::Deadlock { trace } if kind.is_none() && trace.len() < longest.len() => found,
            _ => end,
        }
    }
}

/// Counts the parts that walks visited.
struct Tally {
    visited: Visited,
    states: Store<State>,
    /// The transitions, and whether each was taken once: two states, and an action with its arguments.
    transitions: FxHashMap<(usize, u32, usize), bool>,
    labels: FxHashMap<Label, u32>,
}

impl Default for Tally {
    fn default() -> Tally {
        let (transitions, labels) = (FxHashMap::default(), FxHashMap::default());
        Tally { visited: Visited::default(), states: Store::new(1), transitions, labels }
    }
}

impl Tally {
    fn add(&mut self, walk: &Walk<'_>) {
        let behavior = match walk.event.as_deref() {
            None => &walk.behavior,
            // The last state is the one that was not chosen.
            Some(End::Violated { trace, .. } | End::Deadlock { trace } | End::Error { trace, .. }) => trace,
            Some(_) => return,
        };
        self.visited.walks += 1;
        self.visited.at_depth += u64::from(walk.event.is_none() && walk.ended == Ended::AtDepth);
        self.visited.at_goal += u64::from(walk.event.is_none() && walk.ended == Ended::AtGoal);
        self.visited.generated += walk.generated;
        let mut before = None;
        for step in behavior {
            if let Some(label) = &step.label {
                self.visited.steps += 1;
                match self.visited.actions.get_mut(&label.name) {
                    Some(count) => *count += 1,
                    None => {
                        self.visited.actions.insert(label.name.clone(), 1);
                    }
                }
            }
            if self.visited.states >= MOST_COUNTED {
                self.visited.is_counted_in_part = true;
                continue;
            }
            let (id, is_new) = self.states.place(&step.state);
            self.visited.states += u64::from(is_new);
            let from = before.replace(id);
            if let (Some(from), Some(label)) = (from, &step.label) {
                let count = self.labels.len() as u32;
                let label = match self.labels.get(label) {
                    Some(&label) => label,
                    None => *self.labels.entry(label.clone()).or_insert(count),
                };
                match self.transitions.insert((from, label, id), true) {
                    None => {
                        self.visited.transitions += 1;
                        self.visited.once += 1;
                    }
                    Some(was_once) => {
                        self.visited.once -= u64::from(was_once);
                        self.transitions.insert((from, label, id), false);
                    }
                }
            }
        }
    }
}
