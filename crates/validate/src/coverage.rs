//! The parts of a specification that a history exercised.
//!
//! The analysis follows the order that a check found, and explains each step. The attempt that led to the next state
//! shows the branches and guards it passed; failed attempts show the guards that were false. A few operations that had
//! begun and were not placed yet are explained in the same state: a guard that is false there delayed an operation. A
//! guard that is never false decided nothing in this history.
//!
//! An operation of a companion is not an action of `Next`. A step of it counts for every action of `Next` that it
//! entered as well.

use omnilink_history::{History, OpId};
use omnilink_report::{CoveredAction, CoveredPart};
use omnilink_search::{Placed, successor};
use omnilink_tla::ir::DefId;
use omnilink_tla::machine::{Attempt, Choice, Explanation, Part, PartOutcome, State};
use omnilink_tla::program::{Operation, PartKind};
use omnilink_tla::source::Site;
use omnilink_tla::value::Value;

use crate::bind::TraceOp;
use crate::check::{Checked, TraceOutcome as Answer};
use crate::fault::NoAnswer;
use crate::show::words;
use crate::spec::TraceSpec;

/// The number of steps explained. Later ones are only counted.
const MOST_STEPS: u64 = 20_000;

/// The number of operations in flight explained beside each step.
const MOST_WAITING: usize = 4;

/// The parts of the specification that a history exercised, in the order that a check found, as far as it found one.
pub fn coverage(
    spec: &mut TraceSpec<'_>,
    history: &History<TraceOp>,
    checked: &Checked,
) -> Result<omnilink_report::Coverage, NoAnswer> {
    let (initial, steps) = order(checked);
    spec.ignore_invariants(checked.ignores_invariants());
    let mut tally = Tally::new(spec, history);
    tally.follow(initial, &steps)?;
    Ok(tally.finish())
}

/// The initial state and the steps of one order, as far as there is one.
fn order(checked: &Checked) -> (u32, Vec<Placed>) {
    let settled = || checked.settled.steps();
    match &checked.outcome {
        Answer::Accepted(witness) => (witness.initial(), witness.steps().collect()),
        Answer::Inconclusive(_) => (checked.settled.initial(), settled().collect()),
        Answer::Rejected(stuck) | Answer::Violated(stuck, _) => match stuck.stuck.first() {
            Some(stuck) => (stuck.initial, settled().chain(stuck.recent.iter().copied()).collect()),
            None => (checked.settled.initial(), settled().collect()),
        },
    }
}

/// Counts exercised parts.
struct Tally<'s, 'p> {
    spec: &'s TraceSpec<'p>,
    history: &'s History<TraceOp>,
    /// The actions of the specification, each with its counts.
    actions: Vec<(Operation, CoveredAction, Vec<Site>)>,
    explained: u64,
    steps: u64,
}

impl<'s, 'p> Tally<'s, 'p> {
    fn new(spec: &'s TraceSpec<'p>, history: &'s History<TraceOp>) -> Tally<'s, 'p> {
        let mut tally = Tally { spec, history, actions: Vec::new(), explained: 0, steps: 0 };
        let program = spec.program;
        let bound = || spec.binder.actions.iter().flat_map(|action| &action.stages).map(|stage| &stage.operation);
        // What is recorded as a whole is not missing in its parts: `Insert == InsertNew \/ InsertOld`.
        let is_whole = |operation: &&Operation| {
            !operation.is_free() && program.actions.iter().all(|action| action.name != operation.name)
        };
        let within: Vec<_> = bound().filter(is_whole).flat_map(|whole| program.actions_of(whole.def)).collect();
        let is_part = |name: &String| within.contains(name);
        let names = program.actions.iter().map(|action| &action.name).filter(|name| !is_part(name));
        let reached = names.filter_map(|name| program.operation(name));
        for operation in reached.chain(bound().cloned()) {
            tally.add_action(operation);
        }
        for op in history.ops() {
            for stage in &spec.binder.actions[op.call.step.action as usize].stages {
                tally.action(&stage.operation).operations += 1;
            }
        }
        tally
    }

    fn add_action(&mut self, operation: Operation) {
        if self.actions.iter().any(|(known, ..)| known.def == operation.def) {
            return;
        }
        let program = self.spec.program;
        let parts = program.parts(&operation);
        let covered = |part: &omnilink_tla::program::Part| {
            let start = program.module.sources.start(part.site);
            let path = program.module.sources.get(part.site.source).name.clone();
            let (line, column) = (start.line, start.column);
            let kind = match part.kind {
                PartKind::Guard => omnilink_report::PartKind::Guard,
                PartKind::Branch => omnilink_report::PartKind::Branch,
                PartKind::Condition => omnilink_report::PartKind::Condition,
            };
            CoveredPart { kind, path, line, column, text: words(program, part.site), taken: 0, refused: 0 }
        };
        let action = CoveredAction {
            name: operation.name.clone(),
            operations: 0,
            steps: 0,
            is_internal: self.spec.binder.internal.iter().any(|internal| internal.def == operation.def),
            parts: parts.iter().map(covered).collect(),
        };
        self.actions.push((operation, action, parts.iter().map(|part| part.site).collect()));
    }

    fn action(&mut self, operation: &Operation) -> &mut CoveredAction {
        let place = self.actions.iter().position(|(known, ..)| known.def == operation.def);
        &mut self.actions[place.expect("every operation was added")].1
    }

    fn follow(&mut self, initial: u32, steps: &[Placed]) -> Result<(), NoAnswer> {
        let mut states = Vec::new();
        omnilink_search::Spec::initial(self.spec, &mut states).map_err(NoAnswer::Fault)?;
        let Some(mut state) = states.into_iter().nth(initial as usize) else { return Ok(()) };
        let mut is_placed = vec![false; self.history.ops().last().map_or(0, |op| op.id.index() + 1)];
        let mut next = 0;
        for placed in steps {
            let op = self.history.op(placed.op);
            self.steps += 1;
            if self.explained >= MOST_STEPS || self.spec.stopped().is_some() {
                continue;
            }
            self.explained += 1;
            let after = successor(self.spec, &state, &op.call, *placed).map_err(NoAnswer::Fault)?;
            let Some(after) = after else { break };
            self.step(&op.call, &state.values, &after.values);
            is_placed[placed.op.index()] |= !placed.partway;
            // Operations that had begun by the time this one ended may have been waiting.
            while self.history.ops().get(next).is_some_and(|first| is_placed[first.id.index()]) {
                next += 1;
            }
            let end = op.interval.deadline();
            let waiting = self.history.ops()[next..].iter().take_while(|other| other.interval.start() <= end);
            let waiting: Vec<OpId> = waiting.map(|other| other.id).filter(|id| !is_placed[id.index()]).collect();
            for id in waiting.into_iter().take(MOST_WAITING) {
                self.wait(&self.history.op(id).call, &after.values);
            }
            state = after;
        }
        Ok(())
    }

    /// Counts a step that led from one state to another.
    fn step(&mut self, op: &TraceOp, from: &State, to: &State) {
        let stages = &self.spec.binder.actions[op.step.action as usize].stages;
        let own = stages.iter().map(|stage| (&stage.operation, stage.args(&op.step.args).into_owned()));
        let internal = self.spec.binder.internal.iter();
        let internal = internal.map(|operation| (operation, vec![None; operation.params.len()]));
        for (operation, args) in own.chain(internal) {
            let explanation = self.explain(operation, &args, from);
            let (mut is_taken, mut entered) = (false, Vec::new());
            for attempt in &explanation.attempts {
                if attempt.state.as_ref() == Some(to) {
                    is_taken = true;
                    self.count(operation, attempt, true);
                    if operation.is_free() {
                        entered.extend(&attempt.entered);
                        self.count_entered(attempt);
                    }
                } else if attempt.state.is_none() {
                    self.count(operation, attempt, false);
                }
            }
            self.action(operation).steps += u64::from(is_taken);
            let is_entered = |known: &Operation| !known.is_free() && entered.contains(&known.def);
            for (_, action, _) in self.actions.iter_mut().filter(|(known, ..)| is_entered(known)) {
                action.operations += 1;
                action.steps += 1;
            }
        }
    }

    /// Counts the parts of the actions that a step of a companion entered.
    fn count_entered(&mut self, attempt: &Attempt) {
        let entered = self.actions.iter().map(|(operation, ..)| operation);
        let entered: Vec<Operation> =
            entered.filter(|known| !known.is_free() && attempt.entered.contains(&known.def)).cloned().collect();
        entered.iter().for_each(|operation| self.count(operation, attempt, true));
    }

    /// Counts the guards that kept a started operation from being next in a state.
    fn wait(&mut self, op: &TraceOp, state: &State) {
        for stage in &self.spec.binder.actions[op.step.action as usize].stages {
            let explanation = self.explain(&stage.operation, &stage.args(&op.step.args), state);
            let is_refused = |attempt: &&Attempt| attempt.state.is_none();
            explanation.attempts.iter().filter(is_refused).for_each(|attempt| {
                self.count(&stage.operation, attempt, false);
            });
        }
    }

    fn explain(&self, operation: &Operation, args: &[Option<Value>], state: &State) -> Explanation {
        self.spec.with_machine(|machine| machine.explain_operation(operation, args, state))
    }

    /// Counts the parts on one way through an action: all of them if it was taken, and the false one if it was not.
    fn count(&mut self, operation: &Operation, attempt: &Attempt, is_taken: bool) {
        let place = self.actions.iter().position(|(known, ..)| known.def == operation.def);
        let Some((_, action, sites)) = place.map(|place| &mut self.actions[place]) else { return };
        let parts = &mut action.parts;
        if is_taken {
            for choice in &attempt.choices {
                if let Choice::Disjunct(site) = choice {
                    note(sites, parts, *site, true, &[omnilink_report::PartKind::Branch]);
                }
            }
        }
        attempt.conjuncts.iter().for_each(|part| note_all(sites, parts, part, is_taken));
    }

    fn finish(mut self) -> omnilink_report::Coverage {
        let relevant = self.history.ops().len() as u64;
        // An operator of a companion is not an action of the specification, so it need not be used.
        self.actions.retain(|(operation, action, _)| action.operations > 0 || !operation.is_free());
        if self.steps > self.explained {
            // A later step of a companion may have entered an action that no explained one entered.
            let program = self.spec.program;
            let free = self.actions.iter().map(|(operation, ..)| operation).filter(|operation| operation.is_free());
            let callees: Vec<DefId> = free.flat_map(|operation| program.callees(operation.def)).collect();
            self.actions.retain(|(known, action, _)| action.operations > 0 || !callees.contains(&known.def));
        }
        omnilink_report::Coverage {
            actions: self.actions.into_iter().map(|(_, action, _)| action).collect(),
            operations: relevant,
            relevant,
            steps: self.explained,
            is_cut_off: self.steps > self.explained,
        }
    }
}

/// Counts a conjunct and its parts.
fn note_all(sites: &[Site], parts: &mut [CoveredPart], part: &Part, is_taken: bool) {
    const KINDS: &[omnilink_report::PartKind] =
        &[omnilink_report::PartKind::Guard, omnilink_report::PartKind::Condition];
    let truth = match part.outcome {
        PartOutcome::Truth(truth) | PartOutcome::Chose(truth) => truth,
        _ => return,
    };
    // A guard that was true on a way that led nowhere has neither enabled nor disabled a step.
    let counts = is_taken || !truth || matches!(part.outcome, PartOutcome::Chose(_));
    if sites.contains(&part.site) {
        if counts {
            note(sites, parts, part.site, truth, KINDS);
        }
        return;
    }
    part.parts.iter().for_each(|inner| note_all(sites, parts, inner, is_taken));
}

fn note(sites: &[Site], parts: &mut [CoveredPart], site: Site, truth: bool, kinds: &[omnilink_report::PartKind]) {
    for (known, part) in sites.iter().zip(parts) {
        if *known == site && kinds.contains(&part.kind) {
            match truth {
                true => part.taken += 1,
                false => part.refused += 1,
            }
        }
    }
}
