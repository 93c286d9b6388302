//! Follows the specification while a system answers calls: the states that agree with everything seen.
//!
//! A step of the specification is the outcome of a call. Its parameters are the arguments of the call and its results, as in
//! the [plan](crate::Plan), so the steps of the possible states say which calls the specification allows, and the answer
//! of the system says which of these steps were possible. Steps of internal actions may come between.
//!
//! Constraints limit the calls that are offered, because they bound a search; they are no rules for the system.

use std::collections::BTreeMap;

use omnilink_history::Value as Recorded;
use omnilink_settings::Settings;
use omnilink_tla::datum::World;
use omnilink_tla::error::EvalError;
use omnilink_tla::machine::{Label, Machine, State};
use omnilink_tla::program::Program;
use omnilink_tla::value::Value;
use omnilink_validate::recorded;
use thiserror::Error;

use crate::calls::{PROCESS, find_nil};
use crate::plan::Plan;

/// The maximum number of possible states.
pub const MOST_STATES: usize = 10_000;

/// A call with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// Its name in the plan.
    pub call: String,
    /// The process that makes it, if the specification names processes.
    pub process: Option<Recorded>,
    /// Its arguments, by the names in the plan.
    pub arguments: BTreeMap<String, Recorded>,
}

/// A step that the specification allows: an outcome of a call.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The call.
    pub input: Input,
    /// The recorded name of the outcome.
    pub outcome: String,
    /// Its results, by recorded name.
    pub results: BTreeMap<String, Recorded>,
    /// True if the constraints exclude the step or the state.
    is_excluded: bool,
    /// The place of the state before it among the possible ones.
    from: usize,
    to: State,
}

/// Why the specification cannot be followed.
#[derive(Debug, Error)]
pub enum Lost {
    /// An evaluation failed.
    #[error("{}", .0.message)]
    Evaluation(Box<EvalError>),
    /// Too many states are possible.
    #[error("more than {MOST_STATES} states of the specification agree with the answers")]
    States,
    /// An action is neither internal nor an outcome of a call.
    #[error(
        "the action `{0}` is no outcome of a call; name it under `internal` in omnilink.toml if the system takes it by itself"
    )]
    Action(String),
}

impl From<Box<EvalError>> for Lost {
    fn from(error: Box<EvalError>) -> Lost {
        Lost::Evaluation(error)
    }
}

/// The states that agree with everything seen.
pub struct Follower<'p> {
    machine: Machine<'p>,
    plan: &'p Plan,
    settings: &'p Settings,
    /// The value that stands for the absence of a value, which is null in an answer.
    nil: Option<Value>,
    initial: Vec<State>,
    states: Vec<State>,
    /// The steps of the possible states, if they were computed.
    allowed: Option<Vec<Allowed>>,
}

impl<'p> Follower<'p> {
    /// Begins in the initial states.
    pub fn new(
        program: &'p Program,
        plan: &'p Plan,
        settings: &'p Settings,
        world: Box<dyn World + Send + 'p>,
    ) -> Result<Follower<'p>, Lost> {
        let mut machine = Machine::new(program, world);
        let mut initial = Vec::new();
        machine.initial_states(&mut initial)?;
        let nil = find_nil(&mut machine, settings);
        let mut follower = Follower { machine, plan, settings, nil, initial, states: Vec::new(), allowed: None };
        follower.restart()?;
        Ok(follower)
    }

    /// Begins again in the initial states.
    pub fn restart(&mut self) -> Result<(), Lost> {
        self.go_to(self.initial.clone())
    }

    /// The possible states; none if the system did something that the specification does not allow.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// The steps that are allowed in a possible state.
    pub fn allowed(&mut self) -> Result<&[Allowed], Lost> {
        if self.allowed.is_none() {
            let mut allowed = Vec::new();
            for (from, state) in self.states.clone().into_iter().enumerate() {
                for (label, to) in self.machine.labelled_successors(&state)? {
                    if self.is_internal(&label) {
                        continue;
                    }
                    let is_excluded = self.machine.exclusion(Some(&state), &to, false)?.is_some();
                    allowed.push(self.read(&label, from, to, is_excluded)?);
                }
            }
            self.allowed = Some(allowed);
        }
        Ok(self.allowed.as_deref().unwrap_or_default())
    }

    /// The calls that have a step within the constraints, each once.
    pub fn inputs(&mut self) -> Result<Vec<Input>, Lost> {
        let allowed = self.allowed()?.iter().filter(|step| !step.is_excluded);
        let mut inputs: Vec<Input> = allowed.map(|step| step.input.clone()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        Ok(inputs)
    }

    /// Whether every possible state has a step for a call.
    pub fn is_allowed_everywhere(&mut self, input: &Input) -> Result<bool, Lost> {
        let mut with_step = vec![false; self.states.len()];
        self.allowed()?.iter().filter(|step| step.input.fits(input)).for_each(|step| with_step[step.from] = true);
        Ok(!with_step.is_empty() && with_step.iter().all(|has_step| *has_step))
    }

    /// Keeps the states that have this outcome of a call with these results, after it.
    pub fn answer(&mut self, input: &Input, outcome: &str, results: &BTreeMap<String, Recorded>) -> Result<(), Lost> {
        let is_seen = |step: &&Allowed| step.input.fits(input) && step.outcome == outcome && step.results == *results;
        let states = self.allowed()?.iter().filter(is_seen).map(|step| step.to.clone()).collect();
        self.go_to(states)
    }

    /// Keeps the states in which variables have these values. If there is none, keeps all, and returns false.
    pub fn keep(&mut self, values: &BTreeMap<String, Recorded>) -> bool {
        let program = self.machine.program();
        let strings = &program.module.strings;
        let places: Vec<(usize, &Recorded)> = values
            .iter()
            .filter_map(|(name, value)| {
                let place = program.module.variables.iter().position(|variable| variable.name == *name);
                place.map(|place| (place, value))
            })
            .collect();
        let is_told = |state: &State| places.iter().all(|(place, value)| recorded(&state[*place], strings) == **value);
        let states: Vec<State> = self.states.iter().filter(|state| is_told(state)).cloned().collect();
        let is_possible = !states.is_empty();
        if states.len() < self.states.len() && is_possible {
            self.states = states;
            self.allowed = None;
        }
        is_possible
    }

    /// The values that variables have in the possible states, each once.
    pub fn values(&self, variables: &BTreeMap<String, Recorded>) -> BTreeMap<String, Vec<Recorded>> {
        let program = self.machine.program();
        let strings = &program.module.strings;
        let mut all = BTreeMap::new();
        for (place, variable) in program.module.variables.iter().enumerate() {
            if variables.contains_key(&variable.name) {
                let mut values: Vec<Recorded> =
                    self.states.iter().map(|state| recorded(&state[place], strings)).collect();
                values.sort_unstable();
                values.dedup();
                all.insert(variable.name.clone(), values);
            }
        }
        all
    }

    /// Makes these states, and those that internal steps lead to, the possible ones.
    fn go_to(&mut self, mut states: Vec<State>) -> Result<(), Lost> {
        states.sort_unstable();
        states.dedup();
        let mut at = 0;
        while let Some(state) = states.get(at).cloned().filter(|_| !self.settings.internal.is_empty()) {
            at += 1;
            for (label, to) in self.machine.labelled_successors(&state)? {
                if self.is_internal(&label) && !states.contains(&to) {
                    states.push(to);
                }
            }
            if states.len() > MOST_STATES {
                return Err(Lost::States);
            }
        }
        if states.len() > MOST_STATES {
            return Err(Lost::States);
        }
        self.states = states;
        self.allowed = None;
        Ok(())
    }

    fn is_internal(&self, label: &Label) -> bool {
        self.settings.internal.contains(&label.name)
            || self.plan.unsupported.iter().any(|left| left.action == label.name)
    }

    /// The call and the outcome of a step.
    fn read(&self, label: &Label, from: usize, to: State, is_excluded: bool) -> Result<Allowed, Lost> {
        let strings = &self.machine.program().module.strings;
        let renamed =
            self.settings.operations.iter().find(|(_, mapping)| mapping.action.as_deref() == Some(&label.name));
        let name = renamed.map_or(&label.name, |(name, _)| name);
        let mapping = self.settings.mapping(name);
        let (call, outcome) = self.plan.outcome(name).ok_or_else(|| Lost::Action(label.name.clone()))?;
        let mut input = Input { call: call.name.clone(), process: None, arguments: BTreeMap::new() };
        let mut results = BTreeMap::new();
        for (param, value) in label.args.iter().filter(|(param, _)| !mapping.any.contains(param)) {
            let field = mapping.fields.iter().find(|(_, name)| *name == param).map_or(param, |(field, _)| field);
            let value = match self.nil.as_ref() == Some(value) {
                true => Recorded::Nil,
                false => recorded(value, strings),
            };
            let argument = outcome.arguments.iter().find(|(_, name)| name == field);
            let is_process = match &self.settings.process {
                Some(process) => process == param,
                None => PROCESS.contains(&param.as_str()),
            };
            if let Some((place, _)) = argument {
                input.arguments.insert(call.arguments[*place].field.name.clone(), value);
            } else if outcome.results.iter().any(|result| result.name == *field) {
                results.insert(field.clone(), value);
            } else if is_process {
                input.process = Some(value);
            }
        }
        Ok(Allowed { input, outcome: outcome.action.clone(), results, is_excluded, from, to })
    }
}

impl Input {
    /// Whether a call is this one: an outcome need not have all arguments.
    fn fits(&self, call: &Input) -> bool {
        self.call == call.call
            && self.process == call.process
            && self.arguments.iter().all(|(name, value)| call.arguments.get(name) == Some(value))
    }
}
