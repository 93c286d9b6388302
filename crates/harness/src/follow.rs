//! Follows the specification while a system answers calls: the states that agree with everything seen.
//!
//! A step of the specification is the outcome of a call. Its parameters are the arguments of the call and its results, as in
//! the [plan](crate::Plan), so the steps of the possible states say which calls the specification allows, and the answer
//! of the system says which of these steps were possible. Steps of internal actions may come between.
//!
//! Constraints limit the calls that are offered, because they bound a search; they are no rules for the system.

use std::collections::BTreeMap;

use omnilink_history::{Call as Operation, Value as Recorded};
use omnilink_settings::Settings;
use omnilink_tla::datum::World;
use omnilink_tla::machine::{Machine, State};
use omnilink_tla::program::Program;

use crate::input::{Input, OutcomeStep, StepReader};
use crate::lost::{Lost, MOST_STATES};
use crate::plan::Plan;

/// A step that the specification allows.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The outcome of a call that it is.
    pub step: OutcomeStep,
    /// True if the constraints exclude the step or the state.
    is_excluded: bool,
    /// The place of the state before it among the possible ones.
    from: usize,
    to: State,
}

/// The states that agree with everything seen.
pub struct Follower<'p> {
    machine: Machine<'p>,
    steps: StepReader<'p>,
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
        let steps = StepReader::new(&mut machine, &initial, plan, settings)?;
        let mut follower = Follower { machine, steps, initial, states: Vec::new(), allowed: None };
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

    /// The process that a thread of a script stands for; `None` if the specification names none.
    pub fn process(&self, thread: usize) -> Result<Option<Recorded>, String> {
        self.steps.process(thread)
    }

    /// The steps that are allowed in a possible state.
    pub fn allowed(&mut self) -> Result<&[Allowed], Lost> {
        if self.allowed.is_none() {
            let mut allowed = Vec::new();
            for (from, state) in self.states.clone().into_iter().enumerate() {
                for (label, to) in self.machine.labelled_successors(&state)? {
                    let Some(step) = self.steps.read(&label)? else { continue };
                    let is_excluded = self.machine.exclusion(Some(&state), &to, false)?.is_some();
                    allowed.push(Allowed { step, is_excluded, from, to });
                }
            }
            self.allowed = Some(allowed);
        }
        Ok(self.allowed.as_deref().unwrap_or_default())
    }

    /// The calls that have a step within the constraints, each once.
    pub fn inputs(&mut self) -> Result<Vec<Input>, Lost> {
        let allowed = self.allowed()?.iter().filter(|allowed| !allowed.is_excluded);
        let mut inputs: Vec<Input> = allowed.map(|allowed| allowed.step.input.clone()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        Ok(inputs)
    }

    /// Whether every possible state has a step for a call.
    pub fn is_allowed_everywhere(&mut self, input: &Input) -> Result<bool, Lost> {
        let mut with_step = vec![false; self.states.len()];
        let allowed = self.allowed()?.iter().filter(|allowed| allowed.step.input.fits(input));
        allowed.for_each(|allowed| with_step[allowed.from] = true);
        Ok(!with_step.is_empty() && with_step.iter().all(|has_step| *has_step))
    }

    /// Keeps the states that have this outcome of a call with these results, after it.
    pub fn answer(&mut self, input: &Input, outcome: &str, results: &BTreeMap<String, Recorded>) -> Result<(), Lost> {
        let is_seen =
            |step: &OutcomeStep| step.input.fits(input) && step.outcome == outcome && step.results == *results;
        let seen = self.allowed()?.iter().filter(|allowed| is_seen(&allowed.step));
        let states = seen.map(|allowed| allowed.to.clone()).collect();
        self.go_to(states)
    }

    /// The names of the variables.
    pub fn variables(&self) -> Vec<String> {
        self.machine.program().module.variables.iter().map(|variable| variable.name.clone()).collect()
    }

    /// The call and the outcome of an operation that a process recorded; `None` if the system takes the step by itself.
    pub fn answered(&self, operation: &Operation, process: &str) -> Result<Option<OutcomeStep>, Lost> {
        self.steps.answered(operation, process)
    }

    /// Keeps the states in which variables have these values. If there is none, keeps all, and returns false.
    pub fn keep(&mut self, values: &BTreeMap<String, Recorded>) -> bool {
        let variables = &self.machine.program().module.variables;
        let place = |name: &String| variables.iter().position(|variable| variable.name == *name);
        let reported: Vec<(usize, Recorded)> =
            values.iter().filter_map(|(name, value)| Some((place(name)?, self.steps.with_null(value)))).collect();
        let fits = |state: &State| reported.iter().all(|(at, value)| self.steps.reported(&state[*at]) == *value);
        let states: Vec<State> = self.states.iter().filter(|state| fits(state)).cloned().collect();
        let is_possible = !states.is_empty();
        if states.len() < self.states.len() && is_possible {
            self.states = states;
            self.allowed = None;
        }
        is_possible
    }

    /// The values that variables have in the possible states, each once.
    pub fn values(&self, variables: &BTreeMap<String, Recorded>) -> BTreeMap<String, Vec<Recorded>> {
        let mut all = BTreeMap::new();
        for (place, variable) in self.machine.program().module.variables.iter().enumerate() {
            if variables.contains_key(&variable.name) {
                let values = self.states.iter().map(|state| self.steps.reported(&state[place]));
                let mut values: Vec<Recorded> = values.collect();
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
        while let Some(state) = states.get(at).cloned().filter(|_| self.steps.has_internal()) {
            at += 1;
            for (label, to) in self.machine.labelled_successors(&state)? {
                if self.steps.is_internal(&label.name) && !states.contains(&to) {
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
}
