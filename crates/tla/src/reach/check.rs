//! Checks a program: its assumptions, then every reachable state, then its postconditions.
//!
//! Each worker has its own machine and world. The first worker computes the initial states, labels the steps of
//! counterexamples and evaluates the postconditions. Values set by `TLCSet` are per worker in TLC, so a program that
//! uses them, or reads the progress of the search, has one worker.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::random::Random;
use super::share::Shared;
use super::symmetry::{Images, Symmetry};
use super::{Claim, End, Explorer, Limit, Plan, ReachOrder, Stats, TraceStep, explore};
use crate::datum::{Datum, World};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::ExprId;
use crate::machine::{Label, Machine, State};
use crate::program::{Program, Property};
use crate::value::Value;

/// The verdict of a check, and its progress.
#[derive(Debug)]
pub struct Checked {
    /// The verdict.
    pub verdict: Verdict,
    /// The progress.
    pub stats: Stats,
}

/// The verdict of a check.
#[derive(Debug)]
pub enum Verdict {
    /// No violation in any reachable state, or up to where the specification ended the search.
    Holds {
        /// Whether the specification ended the search.
        is_cut_short: bool,
    },
    /// An assumption is false; its index in [`crate::ir::Module::assumptions`].
    AssumptionFalse(usize),
    /// An invariant is false in the last state.
    Violated {
        /// Its index in [`Program::invariants`].
        invariant: usize,
        /// From an initial state.
        trace: Vec<TraceStep<Label, State>>,
    },
    /// A property is false of the last state, of the last step or of the whole behavior.
    PropertyViolated {
        /// Its index in [`Program::properties`].
        property: usize,
        /// From an initial state.
        trace: Vec<TraceStep<Label, State>>,
    },
    /// The last state has no successor.
    Deadlock {
        /// From an initial state.
        trace: Vec<TraceStep<Label, State>>,
    },
    /// A postcondition is false; its index in [`Program::postconditions`].
    PostconditionFalse(usize),
    /// An evaluation failed.
    Error {
        /// The cause.
        error: Box<EvalError>,
        /// The part that was being evaluated.
        during: During,
        /// From an initial state to the failure; may be empty.
        trace: Vec<TraceStep<Label, State>>,
    },
    /// A limit was reached.
    Stopped {
        /// The limit.
        limit: Limit,
        /// The states from an initial one to the one found last; empty if an evaluation was interrupted.
        path: Vec<State>,
    },
}

/// The formula being evaluated when an error occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum During {
    /// An assumption; its index in [`crate::ir::Module::assumptions`].
    Assumption(usize),
    /// The set of permutations.
    Symmetry,
    /// The initial predicate, the next-state relation, a constraint or the view.
    Search,
    /// An invariant; its index in [`Program::invariants`].
    Invariant(usize),
    /// A property; its index in [`Program::properties`].
    Property(usize),
    /// A postcondition; its index in [`Program::postconditions`].
    Postcondition(usize),
    /// The predicate that ends a random walk.
    Goal,
}

/// Checks a program with one worker for each world. `watch` is called now and then, and may stop the search. If the
/// program depends on how the search proceeds, the first worker does all the work.
///
/// # Panics
///
/// If there are no worlds.
pub fn check<'p>(
    program: &'p Program,
    order: ReachOrder,
    mut worlds: Vec<Box<dyn World + Send + 'p>>,
    watch: &mut dyn FnMut(&Stats) -> Option<Limit>,
) -> Checked {
    let is_serial = program.reads_progress() || order == ReachOrder::Depth;
    if is_serial {
        worlds.truncate(1);
    }
    let failed = |verdict| Checked { verdict, stats: Stats::default() };
    let mut workers = match workers(program, worlds) {
        Ok(workers) => workers,
        Err(verdict) => return failed(verdict),
    };
    let progress = workers[0].progress.clone();
    let mut watch = |stats: &Stats| {
        progress.set(stats);
        watch(stats)
    };
    if program.init.is_none() {
        let verdict = workers[0].conclude(false);
        return failed(workers[0].unless_stopped(verdict));
    }
    let outcome = explore(&mut workers, Plan { order, check_deadlock: program.check_deadlock, is_serial }, &mut watch);
    progress.set(&outcome.stats);
    Checked { verdict: workers[0].verdict(outcome.end), stats: outcome.stats }
}

/// A worker for each world. The assumptions were checked, and the symmetry evaluated.
pub(super) fn workers<'p>(
    program: &'p Program,
    worlds: Vec<Box<dyn World + Send + 'p>>,
) -> std::result::Result<Vec<Checker<'p>>, Verdict> {
    assert!(!worlds.is_empty(), "at least one world is needed");
    let workers = worlds.len();
    let progress = Arc::new(Progress::default());
    let worker = |inner| {
        let (level, random) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let world =
            Watched { inner, level: level.clone(), progress: progress.clone(), random: Arc::clone(&random), workers };
        let machine = Machine::new(program, Box::new(world));
        let (symmetry, images, shared) = (Arc::default(), Images::default(), Shared::default());
        let properties = program.properties.iter().enumerate();
        let (promises, steps) = properties.partition::<Vec<_>, _>(|(_, (_, property))| property.is_promise());
        let [steps, promises] = [steps, promises].map(|list| list.into_iter().map(|(index, _)| index).collect());
        let progress = progress.clone();
        Checker { machine, level, progress, random, start: None, symmetry, images, shared, steps, promises }
    };
    let mut workers: Vec<Checker<'p>> = worlds.into_iter().map(worker).collect();
    if let Err(verdict) = workers[0].prepare() {
        return Err(workers[0].unless_stopped(verdict));
    }
    let symmetry = workers[0].symmetry.clone();
    workers.iter_mut().for_each(|worker| worker.symmetry = symmetry.clone());
    Ok(workers)
}

/// The fields of `ALIAS` in a state, or the variables, each with its name.
pub fn shown(machine: &mut Machine<'_>, state: &State) -> Vec<(String, Value)> {
    let program = machine.program();
    // A failing alias must not hide the state.
    let alias = program.alias.and_then(|alias| machine.value(alias, Some(state)).ok());
    let fields = alias.as_ref().and_then(|alias| Some((alias.function_domain()?, alias.function_values()?)));
    if let Some((names, values)) = fields
        && names.is_strings()
    {
        let name = |name: &Value| match name {
            Value::Str(name) => program.module.strings.text(name).to_owned(),
            other => other.display(&program.module.strings).to_string(),
        };
        return names.elements().iter().map(name).zip(values.iter().cloned()).collect();
    }
    match alias {
        Some(value) => vec![("alias".into(), value)],
        None => {
            let names = program.module.variables.iter().map(|variable| variable.name.clone());
            names.zip(state.iter().cloned()).collect()
        }
    }
}

/// The progress of the search, readable by the specification.
#[derive(Default)]
struct Progress {
    initial: AtomicU64,
    generated: AtomicU64,
    distinct: AtomicU64,
    queued: AtomicU64,
    depth: AtomicUsize,
    has_exited: AtomicBool,
}

impl Progress {
    fn set(&self, stats: &Stats) {
        self.initial.store(stats.initial, Ordering::Relaxed);
        self.generated.store(stats.generated, Ordering::Relaxed);
        self.distinct.store(stats.distinct, Ordering::Relaxed);
        self.queued.store(stats.queued, Ordering::Relaxed);
        self.depth.store(stats.depth, Ordering::Relaxed);
    }
}

/// A world with access to the progress of the search.
struct Watched<'p> {
    inner: Box<dyn World + Send + 'p>,
    level: Arc<AtomicUsize>,
    progress: Arc<Progress>,
    /// The state of the random numbers of a walk.
    random: Arc<Mutex<Option<Random>>>,
    workers: usize,
}

impl World for Watched<'_> {
    fn print(&mut self, line: &str) {
        self.inner.print(line);
    }

    fn read(&mut self, path: &str) -> std::result::Result<Vec<u8>, String> {
        self.inner.read(path)
    }

    fn environment(&mut self) -> Vec<(String, String)> {
        self.inner.environment()
    }

    fn register(&self, index: i64) -> Option<Datum> {
        self.inner.register(index)
    }

    fn set_register(&mut self, index: i64, value: Datum) {
        self.inner.set_register(index, value);
    }

    fn statistic(&self, name: &str) -> Option<Value> {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed) as i64;
        Some(Value::Int(match name {
            "level" => self.level.load(Ordering::Relaxed) as i64,
            "workers" => self.workers as i64,
            "diameter" => self.progress.depth.load(Ordering::Relaxed) as i64,
            "initial" => count(&self.progress.initial),
            "generated" => count(&self.progress.generated),
            "distinct" => count(&self.progress.distinct),
            "queue" => count(&self.progress.queued),
            _ => return self.inner.statistic(name),
        }))
    }

    fn exit(&mut self) {
        self.progress.has_exited.store(true, Ordering::Relaxed);
    }

    fn random(&mut self, bound: u64) -> u64 {
        match self.random.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(random) => random.below(bound),
            None => self.inner.random(bound),
        }
    }

    fn limit(&self) -> Option<Limit> {
        self.inner.limit()
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.inner.has_room(bytes)
    }
}

/// One worker.
pub(super) struct Checker<'p> {
    pub(super) machine: Machine<'p>,
    level: Arc<AtomicUsize>,
    progress: Arc<Progress>,
    random: Arc<Mutex<Option<Random>>>,
    /// The state to begin in, if it is not any initial one.
    pub(super) start: Option<State>,
    symmetry: Arc<Symmetry>,
    images: Images,
    shared: Shared,
    /// The properties of initial states and steps; indices in [`Program::properties`].
    steps: Vec<usize>,
    /// Those of the form `[](p => []q)`.
    promises: Vec<usize>,
}

impl Checker<'_> {
    /// Gives the choices of the specification, such as `RandomElement`, a seed.
    pub(super) fn set_seed(&mut self, seed: u64) {
        *self.random.lock().unwrap_or_else(PoisonError::into_inner) = Some(Random::new(seed));
    }

    /// The verdict of a search that ended like this.
    pub(super) fn verdict(&mut self, end: End<Self>) -> Verdict {
        let verdict = match end {
            End::Finished => self.conclude(false),
            End::Exited => self.conclude(true),
            End::Violated { claim: Claim::Invariant(invariant), trace } => Verdict::Violated { invariant, trace },
            End::Violated { claim: Claim::Property(index), trace } => {
                Verdict::PropertyViolated { property: self.steps[index], trace }
            }
            End::Violated { claim: Claim::Promise(index), trace } => {
                Verdict::PropertyViolated { property: self.promises[index], trace }
            }
            End::Deadlock { trace } => Verdict::Deadlock { trace },
            End::Error { error, claim, trace } => {
                let during = match claim {
                    None => During::Search,
                    Some(Claim::Invariant(invariant)) => During::Invariant(invariant),
                    Some(Claim::Property(index)) => During::Property(self.steps[index]),
                    Some(Claim::Promise(index)) => During::Property(self.promises[index]),
                };
                Verdict::Error { error, during, trace }
            }
            End::Stopped { limit, path } => Verdict::Stopped { limit, path },
        };
        self.unless_stopped(verdict)
    }

    /// Checks the assumptions and evaluates the symmetry.
    fn prepare(&mut self) -> std::result::Result<(), Verdict> {
        let program = self.machine.program();
        let failed = |error, during| Verdict::Error { error, during, trace: Vec::new() };
        for (index, (_, assumption)) in program.module.assumptions.iter().enumerate() {
            match self.claims(*assumption) {
                Ok(true) => {}
                Ok(false) => return Err(Verdict::AssumptionFalse(index)),
                Err(error) => return Err(failed(error, During::Assumption(index))),
            }
        }
        if let Some(symmetry) = program.symmetry {
            let permutations = self.machine.value(symmetry, None);
            let machine = &mut self.machine;
            let symmetry = permutations.and_then(|permutations| Symmetry::new(&permutations, &mut || machine.tick()));
            self.symmetry = Arc::new(symmetry.map_err(|error| failed(error, During::Symmetry))?);
        }
        Ok(())
    }

    /// The verdict of a search without an event.
    fn conclude(&mut self, is_cut_short: bool) -> Verdict {
        self.set_level(0);
        for (index, (_, postcondition)) in self.machine.program().postconditions.iter().enumerate() {
            match self.claims(*postcondition) {
                Ok(true) => {}
                Ok(false) => return Verdict::PostconditionFalse(index),
                Err(error) => {
                    return Verdict::Error { error, during: During::Postcondition(index), trace: Vec::new() };
                }
            }
        }
        Verdict::Holds { is_cut_short }
    }

    /// Replaces the verdict by [`Verdict::Stopped`] if the search was stopped in the middle of an expression.
    fn unless_stopped(&mut self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Error { error, .. } if error.kind == ErrorKind::Stopped => {
                // The limit may have been lifted since; the search was stopped all the same.
                let limit = self.machine.world().limit().unwrap_or(Limit::Interrupt);
                Verdict::Stopped { limit, path: Vec::new() }
            }
            verdict => verdict,
        }
    }

    /// The first property that is false of a step or an initial state.
    fn first_violated(
        &mut self,
        from: Option<&State>,
        state: &State,
    ) -> std::result::Result<Option<usize>, (usize, Box<EvalError>)> {
        for (index, &property) in self.steps.iter().enumerate() {
            let holds = match (&self.machine.program().properties[property].1, from) {
                (Property::Initial(predicate), None) => self.machine.holds(*predicate, state),
                (Property::Step(action), Some(from)) => self.machine.holds_whole_step(*action, from, state),
                _ => continue,
            };
            if !holds.map_err(|error| (index, error))? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Whether the action constraints allow a step.
    fn allows_step(&mut self, from: &State, to: &State) -> Result<bool> {
        for (_, constraint) in &self.machine.program().action_constraints {
            if !self.machine.holds_step(*constraint, from, to)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a constant formula is true.
    fn claims(&mut self, claim: ExprId) -> Result<bool> {
        match self.machine.value(claim, None)? {
            Value::Bool(truth) => Ok(truth),
            other => {
                let message = format!("expected a boolean, found {}", other.kind_name());
                let mut error = EvalError::new(ErrorKind::WrongKind, message);
                error.site = Some(self.machine.program().module.exprs.site(claim));
                Err(error)
            }
        }
    }
}

impl Explorer for Checker<'_> {
    type State = State;
    type Label = Label;
    type Error = Box<EvalError>;

    fn initial(&mut self, out: &mut Vec<State>) -> Result<()> {
        match &self.start {
            None => self.machine.initial_states(out),
            Some(state) => {
                out.push(state.clone());
                Ok(())
            }
        }
    }

    fn successors(&mut self, state: &State, out: &mut Vec<State>) -> Result<()> {
        self.machine.successors(state, out)
    }

    fn between(&mut self) -> u64 {
        self.machine.take_between()
    }

    fn is_explored(&mut self, from: Option<&State>, state: &State) -> Result<bool> {
        let program = self.machine.program();
        for (_, constraint) in &program.constraints {
            if !self.machine.holds(*constraint, state)? {
                return Ok(false);
            }
        }
        let Some(from) = from.filter(|_| !program.action_constraints.is_empty()) else { return Ok(true) };
        // A step has the level of the state that it starts from.
        let level = self.level.load(Ordering::Relaxed);
        self.set_level(level.saturating_sub(1));
        let is_allowed = self.allows_step(from, state);
        self.set_level(level);
        is_allowed
    }

    fn kept(&mut self, state: State) -> State {
        self.shared.state(state)
    }

    fn key(&mut self, state: &State) -> Result<Option<State>> {
        let Checker { machine, symmetry, images, .. } = self;
        let least = match symmetry.is_trivial() {
            true => None,
            false => Some(symmetry.least(state, images, &mut || machine.tick())?),
        };
        match self.machine.program().view {
            Some(view) => {
                let view = self.machine.value(view, Some(least.as_ref().unwrap_or(state)))?;
                Ok(Some([view].into()))
            }
            None => Ok(least),
        }
    }

    fn violated(&mut self, state: &State) -> std::result::Result<Option<usize>, (usize, Box<EvalError>)> {
        for (index, (_, invariant)) in self.machine.program().invariants.iter().enumerate() {
            if !self.machine.holds(*invariant, state).map_err(|error| (index, error))? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn violated_property(
        &mut self,
        from: Option<&State>,
        state: &State,
    ) -> std::result::Result<Option<usize>, (usize, Box<EvalError>)> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        // A step has the level of the state that it starts from.
        let level = self.level.load(Ordering::Relaxed);
        self.set_level(level - usize::from(from.is_some()));
        let violated = self.first_violated(from, state);
        self.set_level(level);
        violated
    }

    fn promises(&self) -> usize {
        self.promises.len()
    }

    fn promise(&mut self, promise: usize, state: &State) -> Result<(bool, bool)> {
        let (_, property) = &self.machine.program().properties[self.promises[promise]];
        let Property::Promise { given, kept, .. } = property else { unreachable!("only promises are asked for") };
        Ok((self.machine.holds(*given, state)?, self.machine.holds(*kept, state)?))
    }

    fn is_promised_anew(&self, promise: usize) -> bool {
        matches!(self.machine.program().properties[self.promises[promise]].1, Property::Promise { is_always: true, .. })
    }

    fn report(&mut self, stats: &Stats) {
        self.progress.set(stats);
    }

    fn label(&mut self, from: &State, to: &State) -> Option<Label> {
        // If not all successors can be computed, the step cannot be labelled.
        let successors = self.machine.labelled_successors(from).ok()?;
        successors.into_iter().find(|(_, successor)| successor == to).map(|(label, _)| label)
    }

    fn set_level(&mut self, level: usize) {
        self.level.store(level, Ordering::Relaxed);
    }

    fn has_exited(&self) -> bool {
        self.progress.has_exited.load(Ordering::Relaxed)
    }
}
