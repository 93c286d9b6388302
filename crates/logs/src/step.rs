//! The relation between states that an event of a log stands for.
//!
//! A step of an event in a state takes one of the event's alternatives. It tests the conditions on the state before,
//! assigns the next values that the log has, runs the action, and tests the conditions on the step and on the state after
//! it. A composition passes through intermediate states; the logged values hold for its last state, and conditions on the
//! state before hold for its first.

use omnilink_tla::error::ErrorKind;
use omnilink_tla::ir::{ExprLevel, VarId};
use omnilink_tla::machine::{At, Machine, State, Step};
use omnilink_tla::program::Program;
use omnilink_tla::value::Value;
use omnilink_validate::Problem;

use crate::bind::{Alternative, Args, Bound, BoundArg, BoundCondition, Event, Steps, context_args, lacks};
use crate::mapping::Source;
use crate::problem::Failure;
use crate::symmetry::Symmetry;

/// The maximum number of steps of one event with `repeat`.
const MOST_REPEATED: usize = 64;

/// The last step to a configuration.
#[derive(Debug, Clone)]
pub(crate) enum By {
    /// It is an initial one.
    Initial,
    /// By an event.
    Event {
        event: u32,
        alternative: u32,
        /// The states between.
        through: Vec<State>,
    },
    /// By an unlogged step of this action.
    Unlogged(u32),
}

/// A state that an event leads to.
#[derive(Debug, Clone)]
pub(crate) struct Reached {
    pub(crate) state: State,
    /// The alternative of the event.
    pub(crate) alternative: usize,
    /// The states between.
    pub(crate) through: Vec<State>,
}

/// Evaluates the steps of a log.
pub(crate) struct Stepper<'a, 'p> {
    pub(crate) program: &'p Program,
    pub(crate) machine: &'a mut Machine<'p>,
    pub(crate) bound: &'a Bound,
    /// An initial state, for updates that return to it.
    pub(crate) initial: Option<State>,
    /// Whether states that violate an invariant are left out.
    pub(crate) enforces_invariants: bool,
    pub(crate) symmetry: Option<&'a Symmetry>,
    /// The explained part of the log where steps are computed.
    pub(crate) position: Box<[u32]>,
    /// A variable that does not count as complete.
    pub(crate) relaxed: Option<VarId>,
    pub(crate) evaluations: u64,
}

impl<'a, 'p> Stepper<'a, 'p> {
    pub(crate) fn new(machine: &'a mut Machine<'p>, bound: &'a Bound) -> Stepper<'a, 'p> {
        Stepper {
            program: machine.program(),
            machine,
            bound,
            initial: None,
            enforces_invariants: false,
            symmetry: None,
            position: Box::default(),
            relaxed: None,
            evaluations: 0,
        }
    }

    /// The initial state that updates return to.
    pub(crate) fn initial(machine: &mut Machine<'_>, bound: &Bound) -> Option<State> {
        let mut stepper = Stepper::new(machine, bound);
        stepper.initial_states().ok().and(stepper.initial)
    }

    /// The initial states that the log allows.
    pub(crate) fn initial_states(&mut self) -> Result<Vec<State>, Failure> {
        let mut all = Vec::new();
        self.machine.initial_states(&mut all)?;
        if !self.bound.starts.is_empty() {
            for state in &mut all {
                let mut values: Vec<Value> = state.to_vec();
                for (variable, value) in &self.bound.starts {
                    values[variable.0 as usize] = value.clone();
                }
                *state = values.into();
            }
        }
        self.initial = all.first().cloned();
        let mut allowed = Vec::new();
        for state in all {
            let mut holds = true;
            for condition in &self.bound.init {
                holds = holds && self.holds(condition, &state, &[])?;
            }
            if holds && !self.is_excluded(None, &state)? {
                allowed.push(state);
            }
        }
        allowed.sort();
        allowed.dedup();
        Ok(allowed)
    }

    /// Whether a condition holds in a state. A part of the state that does not exist differs from every logged value.
    pub(crate) fn holds(
        &mut self,
        condition: &BoundCondition,
        state: &State,
        chosen: &[(String, Value)],
    ) -> Result<bool, Failure> {
        let args = condition.left.values(chosen);
        match self.machine.apply_operator(condition.left.expr.def, &args, At::State(state)) {
            Ok(value) => Ok(condition.expected.contains(&value)),
            Err(error) if error.kind == ErrorKind::OutsideDomain && !error.is_too_short => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a constraint, or an invariant if they are enforced, excludes a state or the step to it.
    pub(crate) fn is_excluded(&mut self, from: Option<&State>, to: &State) -> Result<bool, Failure> {
        Ok(self.machine.exclusion(from, to, self.enforces_invariants)?.is_some())
    }

    /// The logged next values of an event; `Err` says why the event cannot be about this state.
    pub(crate) fn given(&self, event: &Event, state: &State) -> Result<Vec<(VarId, Value)>, (VarId, String)> {
        let strings = &self.program.module.strings;
        let mut given = Vec::new();
        for (variable, updates) in &event.updates {
            let place = variable.0 as usize;
            let initial = self.initial.as_ref().map_or(&state[place], |initial| &initial[place]);
            let mut value = state[place].clone();
            for update in updates {
                value = update
                    .apply(&value, initial, &self.bound.reset, strings)
                    .map_err(|error| (*variable, error.message))?;
            }
            given.push((*variable, value));
        }
        let kept = event.kept.iter().filter(|variable| Some(**variable) != self.relaxed);
        given.extend(kept.map(|variable| (*variable, state[variable.0 as usize].clone())));
        Ok(given)
    }

    /// Adds every state that an event leads to.
    pub(crate) fn steps(&mut self, event: &Event, state: &State, out: &mut Vec<Reached>) -> Result<(), Failure> {
        let Ok(given) = self.given(event, state) else { return Ok(()) };
        for (place, alternative) in event.alternatives.iter().enumerate() {
            self.alternative(alternative, place, state, &given, out)?;
        }
        Ok(())
    }

    fn alternative(
        &mut self,
        alternative: &Alternative,
        place: usize,
        state: &State,
        given: &[(VarId, Value)],
        out: &mut Vec<Reached>,
    ) -> Result<(), Failure> {
        for chosen in self.choices(alternative, state)? {
            let mut holds = true;
            for condition in &alternative.before {
                holds = holds && self.holds(condition, state, &chosen)?;
            }
            if !holds {
                continue;
            }
            let mut reached: Vec<(State, Vec<State>)> = Vec::new();
            match &alternative.meaning {
                Steps::Skip => {
                    if given.iter().all(|(variable, value)| state[variable.0 as usize] == *value) {
                        reached.push((state.clone(), Vec::new()));
                    }
                }
                Steps::Any => {
                    let states = self.run(Step::Any, state, given)?;
                    reached.extend(states.into_iter().map(|state| (state, Vec::new())));
                }
                Steps::Action(action, args) => {
                    let args = self.with_chosen(*action, args, &chosen);
                    if !chosen.is_empty() && !self.is_admitted(*action, &args)? {
                        continue;
                    }
                    for args in self.representatives(*action, args, state) {
                        let states = self.run_action(*action, &args, state, given)?;
                        reached.extend(states.into_iter().map(|state| (state, Vec::new())));
                    }
                }
                Steps::Sequence(actions) => {
                    reached = self.sequence(actions, &alternative.args, &chosen, state, given)?;
                }
                Steps::Repeat(action) => {
                    reached = self.repeat(*action, alternative, &chosen, state, given)?;
                }
            }
            for (next, through) in reached {
                if self.is_allowed(alternative, &chosen, state, &next)? {
                    out.push(Reached { state: next, alternative: place, through });
                }
            }
        }
        Ok(())
    }

    /// Whether the conditions on a step and on the state after it hold.
    pub(crate) fn is_allowed(
        &mut self,
        alternative: &Alternative,
        chosen: &[(String, Value)],
        state: &State,
        next: &State,
    ) -> Result<bool, Failure> {
        for condition in &alternative.after {
            if !self.holds(condition, next, chosen)? {
                return Ok(false);
            }
        }
        for step in &alternative.steps {
            if !self.is_true(step.expr.def, &step.values(chosen), At::Step(state, next))? {
                return Ok(false);
            }
        }
        Ok(!self.is_excluded(Some(state), next)?)
    }

    /// Whether an operator is true.
    pub(crate) fn is_true(
        &mut self,
        def: omnilink_tla::ir::DefId,
        args: &[Value],
        at: At<'_>,
    ) -> Result<bool, Failure> {
        match self.machine.apply_operator(def, args, at)? {
            Value::Bool(truth) => Ok(truth),
            other => {
                let site = self.program.definition(def).site;
                let shown = other.display(&self.program.module.strings).to_string();
                let problem = Problem::new(format!("this is {shown}, neither TRUE nor FALSE"));
                Err(problem.at(site, "").into())
            }
        }
    }

    /// The arguments that the alternative chooses in a state: every combination.
    pub(crate) fn choices(
        &mut self,
        alternative: &Alternative,
        state: &State,
    ) -> Result<Vec<Vec<(String, Value)>>, Failure> {
        let mut choices: Vec<Vec<(String, Value)>> = vec![Vec::new()];
        for (name, arg) in &alternative.args {
            let BoundArg::Chosen { set, filter } = arg else { continue };
            let mut longer = Vec::new();
            for chosen in choices {
                let value = self.machine.apply_operator(set.expr.def, &set.values(&chosen), At::State(state))?;
                let elements: Vec<Value> = match &value {
                    Value::Set(set) => set.elements().to_vec(),
                    other => {
                        let message = format!("`in` is {}, not a set", other.kind_name());
                        return Err(Problem::new(message).at(set.expr.site, "").into());
                    }
                };
                for element in elements {
                    let mut with = chosen.clone();
                    with.push((name.clone(), element));
                    let is_meant = match filter {
                        Some(filter) => self.is_true(filter.expr.def, &filter.values(&with), At::State(state))?,
                        None => true,
                    };
                    if is_meant {
                        longer.push(with);
                    }
                }
            }
            choices = longer;
        }
        Ok(choices)
    }

    fn run(&mut self, step: Step<'_>, state: &State, given: &[(VarId, Value)]) -> Result<Vec<State>, Failure> {
        self.evaluations += 1;
        let mut states = Vec::new();
        self.machine.steps_towards(step, state, given, &mut states)?;
        Ok(states)
    }

    fn run_action(
        &mut self,
        action: usize,
        args: &Args,
        state: &State,
        given: &[(VarId, Value)],
    ) -> Result<Vec<State>, Failure> {
        let bound = self.bound;
        self.run(Step::Of(&bound.actions[action], args), state, given)
    }

    /// Whether the constant sets of `Next` contain the known arguments of an action. Those of events that are one step
    /// were checked when the event was bound.
    fn is_admitted(&mut self, action: usize, args: &Args) -> Result<bool, Failure> {
        let bound = self.bound;
        Ok(self.machine.admits(&bound.actions[action], args)?.is_ok())
    }

    /// The arguments of an action, with the chosen ones.
    pub(crate) fn with_chosen(&self, action: usize, args: &Args, chosen: &[(String, Value)]) -> Args {
        let mut args = args.clone();
        for (param, arg) in self.bound.actions[action].params.iter().zip(&mut args) {
            if let Some((_, value)) = chosen.iter().find(|(name, _)| *name == param.name) {
                *arg = Some(value.clone());
            }
        }
        args
    }

    /// The arguments of an action of a composition, by name.
    pub(crate) fn named(&self, action: usize, args: &[(String, BoundArg)], chosen: &[(String, Value)]) -> Args {
        let params = self.bound.actions[action].params.iter();
        let value = |name: &str| {
            let chosen = chosen.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            chosen.or_else(|| {
                let arg = args.iter().find(|(known, _)| known == name)?;
                if let BoundArg::Value(value) = &arg.1 { Some(value.clone()) } else { None }
            })
        };
        params.map(|param| value(&param.name)).collect()
    }

    /// The arguments to try instead of all: one of those that permutations of values map to each other.
    fn representatives(&mut self, action: usize, args: Args, state: &State) -> Vec<Args> {
        match self.symmetry {
            Some(symmetry) if args.iter().any(Option::is_none) => {
                symmetry.representatives(self.machine, &self.bound.actions[action], args, &self.position, state)
            }
            _ => vec![args],
        }
    }

    fn sequence(
        &mut self,
        actions: &[usize],
        args: &[(String, BoundArg)],
        chosen: &[(String, Value)],
        state: &State,
        given: &[(VarId, Value)],
    ) -> Result<Vec<(State, Vec<State>)>, Failure> {
        let mut reached = vec![(state.clone(), Vec::new())];
        for (place, action) in actions.iter().enumerate() {
            let given = if place + 1 == actions.len() { given } else { &[] };
            let args = self.named(*action, args, chosen);
            if !self.is_admitted(*action, &args)? {
                return Ok(Vec::new());
            }
            let mut longer: Vec<(State, Vec<State>)> = Vec::new();
            for (from, through) in reached {
                let mut passed = through.clone();
                if place > 0 {
                    passed.push(from.clone());
                }
                for next in self.run_action(*action, &args, &from, given)? {
                    longer.push((next, passed.clone()));
                }
            }
            longer.sort_by(|a, b| a.0.cmp(&b.0));
            longer.dedup_by(|a, b| a.0 == b.0);
            reached = longer;
        }
        Ok(reached)
    }

    fn repeat(
        &mut self,
        action: usize,
        alternative: &Alternative,
        chosen: &[(String, Value)],
        state: &State,
        given: &[(VarId, Value)],
    ) -> Result<Vec<(State, Vec<State>)>, Failure> {
        let args = self.named(action, &alternative.args, chosen);
        if !self.is_admitted(action, &args)? {
            return Ok(Vec::new());
        }
        let mut done: Vec<(State, Vec<State>)> = Vec::new();
        let mut seen = vec![state.clone()];
        let mut latest: Vec<(State, Vec<State>)> = vec![(state.clone(), Vec::new())];
        for round in 0..MOST_REPEATED {
            let mut longer: Vec<(State, Vec<State>)> = Vec::new();
            for (from, through) in &latest {
                let mut passed = through.clone();
                if round > 0 {
                    passed.push(from.clone());
                }
                for next in self.run_action(action, &args, from, &[])? {
                    let is_last = match &alternative.until {
                        Some(until) => {
                            let has_primes = self.program.definition(until.expr.def).level == ExprLevel::Action;
                            let at = if has_primes { At::Step(from, &next) } else { At::State(&next) };
                            self.is_true(until.expr.def, &until.values(chosen), at)?
                        }
                        None => true,
                    };
                    let is_told = given.iter().all(|(variable, value)| next[variable.0 as usize] == *value);
                    if is_last && is_told && !done.iter().any(|(known, _)| *known == next) {
                        done.push((next.clone(), passed.clone()));
                    }
                    if (!is_last || alternative.until.is_none()) && !seen.contains(&next) {
                        seen.push(next.clone());
                        longer.push((next, passed.clone()));
                    }
                }
            }
            if longer.is_empty() {
                break;
            }
            latest = longer;
        }
        Ok(done)
    }

    /// The states that an unlogged step before an event leads to, each with its action.
    pub(crate) fn unlogged(
        &mut self,
        kind: usize,
        event: &Event,
        state: &State,
        out: &mut Vec<(State, usize)>,
    ) -> Result<(), Failure> {
        let bound = self.bound;
        let unlogged = &bound.unlogged[kind];
        for &action in &unlogged.actions {
            let Some(known) = self.unlogged_args(kind, action, event)? else { continue };
            if !self.is_admitted(action, &known)? {
                continue;
            }
            for args in self.representatives(action, known, state) {
                for next in self.run_action(action, &args, state, &[])? {
                    let is_meant = match &unlogged.step {
                        None => true,
                        Some(step) => match context_args(step, event, &self.program.module.strings) {
                            Some(args) => self.is_true(step.def, &args, At::Step(state, &next))?,
                            None => false,
                        },
                    };
                    if is_meant && next != *state && !self.is_excluded(Some(state), &next)? {
                        out.push((next, action));
                    }
                }
            }
        }
        Ok(())
    }

    /// The arguments of an unlogged step that the event after it has; `None` if it lacks one.
    fn unlogged_args(&mut self, kind: usize, action: usize, event: &Event) -> Result<Option<Args>, Failure> {
        let bound = self.bound;
        let mut args: Args = smallvec::SmallVec::from_elem(None, bound.actions[action].params.len());
        for (param, arg) in bound.actions[action].params.iter().zip(&mut args) {
            let known = &bound.unlogged[kind].args;
            let Some(place) = known.iter().position(|(name, _)| *name == param.name) else { continue };
            let value = match &known[place].1 {
                Source::Path(..) => event.paths[kind][place].clone(),
                Source::Expr(expr) => match context_args(expr, event, &self.program.module.strings) {
                    Some(values) => match self.machine.apply_operator(expr.def, &values, At::Nowhere) {
                        Ok(value) => Some(value),
                        Err(error) if lacks(event, &error) => None,
                        Err(error) => return Err(error.into()),
                    },
                    None => None,
                },
            };
            match value {
                Some(value) => *arg = Some(value),
                None => return Ok(None),
            }
        }
        Ok(Some(args))
    }

    /// Whether an event or an unlogged step leads from one state to another, in a position in which it may be next.
    pub(crate) fn leads(&mut self, position: &[u32], from: &State, by: &By, to: &State) -> Result<bool, Failure> {
        let bound = self.bound;
        let whole: Vec<(VarId, Value)> =
            (0_u32..).zip(to.iter()).map(|(variable, value)| (VarId(variable), value.clone())).collect();
        match by {
            By::Initial => Ok(false),
            By::Unlogged(action) => {
                let args: Args = smallvec::SmallVec::from_elem(None, bound.actions[*action as usize].params.len());
                Ok(!self.run_action(*action as usize, &args, from, &whole)?.is_empty())
            }
            By::Event { event, alternative, .. } => {
                let (event, place) = (*event as usize, *alternative as usize);
                let is_next = bound.order.next(position).any(|next| next == event);
                let alternative = &bound.events[event].alternatives[place];
                let mut reached = Vec::new();
                match (&alternative.meaning, self.given(&bound.events[event], from)) {
                    (_, Err(_)) => return Ok(false),
                    (Steps::Any | Steps::Action(..), Ok(given)) => {
                        let is_told = given.iter().all(|(variable, value)| to[variable.0 as usize] == *value);
                        if is_told {
                            self.alternative(alternative, place, from, &whole, &mut reached)?;
                        }
                    }
                    (_, Ok(given)) => self.alternative(alternative, place, from, &given, &mut reached)?,
                }
                Ok(is_next && reached.iter().any(|reached| reached.state == *to))
            }
        }
    }
}
