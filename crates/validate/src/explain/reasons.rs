//! Why an operation cannot be next in a state, grouped by reason and not by state.

use omnilink_history::OpId;
use omnilink_report::{Evidence, Reason, Rejection, Why};
use omnilink_search::{Explanation, Successors};
use omnilink_tla::machine::{Part, State};
use omnilink_tla::program::Operation;
use omnilink_tla::source::Site;

use super::guard::{GuardBuilder, Ways, outcome};
use super::{Explainer, States};
use crate::bind::TraceOp;
use crate::fault::Broken;
use crate::spec::{Exclusion, TraceState};

/// The maximum number of states that an operation of several steps passes through when it is tried on its own.
const MOST_PARTWAY: usize = 256;

/// Why one operation cannot be next in one state.
enum Found {
    Time(OpId),
    Dead,
    Excluded(Exclusion),
    Guard(Ways),
    Words(String),
    Error(String, Option<Site>),
}

/// The key of a reason: the operation, and where it fails.
#[derive(PartialEq)]
enum Key {
    Time(OpId),
    Dead,
    Words(String),
    At(Option<Site>),
}

/// Equal reasons, with the states in which each was found.
type Group = (OpId, Key, Vec<(usize, Found)>);

impl Explainer<'_, '_> {
    /// Every reason against every operation in flight, in every state.
    pub(super) fn reasons(&mut self, stuck: &Explanation<TraceState>, states: &States) -> Vec<Reason> {
        let mut groups: Vec<Group> = Vec::new();
        for stuck in &stuck.stuck {
            let at = states.place(&stuck.state.values);
            for refusal in &stuck.refused {
                let found = match refusal.why {
                    omnilink_search::Why::MustFollow(before) => Found::Time(before),
                    // An unrecorded action may still happen where the operation itself cannot.
                    omnilink_search::Why::LeadsNowhere
                        if self.can_step(&self.history.op(refusal.op).call, &stuck.state) =>
                    {
                        Found::Dead
                    }
                    // The specification has no words of its own: these are about assumptions.
                    omnilink_search::Why::Disabled(Some(ref words)) => Found::Words(words.clone()),
                    omnilink_search::Why::LeadsNowhere | omnilink_search::Why::Disabled(None) => {
                        self.disabled(&self.history.op(refusal.op).call, &stuck.state)
                    }
                };
                let key = key(&found);
                match groups.iter_mut().find(|(op, known, _)| *op == refusal.op && *known == key) {
                    Some((.., members)) if members.iter().any(|(known, _)| *known == at) => {}
                    Some((.., members)) => members.push((at, found)),
                    None => groups.push((refusal.op, key, vec![(at, found)])),
                }
            }
        }
        groups.into_iter().map(|(op, _, members)| self.reason(op, members)).collect()
    }

    /// Why the specification does not allow an operation in a state.
    fn disabled(&self, op: &TraceOp, state: &TraceState) -> Found {
        let action = &self.spec.binder.actions[op.step.action as usize];
        let mut best: Option<Ways> = None;
        for stage in &action.stages {
            let args = stage.args(&op.step.args);
            let explanation =
                self.spec.with_machine(|machine| machine.explain_operation(&stage.operation, &args, &state.values));
            let Some(furthest) = explanation.furthest() else { continue };
            if let Some(next) = &furthest.state {
                let excluded = self.spec.with_machine(|machine| self.spec.excluded(machine, Some(&state.values), next));
                match excluded {
                    Ok(Some(exclusion)) => return Found::Excluded(exclusion),
                    Ok(None) => continue,
                    Err(error) => return Found::Error(error.message, error.site),
                }
            }
            if best.as_ref().is_none_or(|best| best.furthest.reached() < furthest.reached()) {
                best = Some(Ways {
                    action: stage.operation.name.clone(),
                    site: self.definition(&stage.operation),
                    count: explanation.attempts.len(),
                    furthest: furthest.clone(),
                });
            }
        }
        best.map_or(Found::Dead, Found::Guard)
    }

    fn guards(&mut self) -> GuardBuilder<'_> {
        GuardBuilder { program: self.spec.program, report_builder: self.report_builder }
    }

    fn definition(&self, operation: &Operation) -> Site {
        self.spec.program.definition(operation.def).site
    }

    /// One reason, with its details in each of its states.
    fn reason(&mut self, op: OpId, mut members: Vec<(usize, Found)>) -> Reason {
        members.sort_by_key(|(state, _)| *state);
        let states = members.iter().map(|(state, _)| *state).collect();
        let op = self.report_builder.op(op);
        let mut guards = Vec::new();
        let mut why = Why::Dead;
        for (_, found) in members {
            why = match found {
                Found::Time(before) => Why::Time { after: self.report_builder.op(before) },
                Found::Dead => Why::Dead,
                Found::Excluded(exclusion) => {
                    let site = self.predicate_site(&exclusion);
                    Why::Excluded { name: exclusion.name, span: self.report_builder.span(site) }
                }
                Found::Words(text) => Why::Words { text },
                Found::Error(message, site) => {
                    Why::Error { message, span: site.map(|site| self.report_builder.span(site)) }
                }
                Found::Guard(ways) => {
                    guards.push(ways);
                    continue;
                }
            };
        }
        if !guards.is_empty() {
            why = Why::Guard(self.guards().guard(&guards));
        }
        Reason { op, states, why }
    }

    fn predicate_site(&self, exclusion: &Exclusion) -> Site {
        self.spec.program.predicate_site(&exclusion.name, exclusion.predicate)
    }

    /// The violated invariant and the states that violate it: successors of the stuck configurations, or else the state
    /// in which an order that the actions allow violates it.
    pub(super) fn violation(&mut self, stuck: &Explanation<TraceState>, broken: &Broken) -> Rejection {
        let (name, predicate) = self.spec.program.invariants[broken.invariant].clone();
        let exclusion = Exclusion { name, predicate };
        let (mut states, mut broke) = (Vec::new(), Vec::new());
        for stuck in &stuck.stuck {
            for refusal in &stuck.refused {
                let op = &self.history.op(refusal.op).call;
                if self.add_violations(op, &stuck.state, &exclusion, &mut states) && !broke.contains(&refusal.op) {
                    broke.push(refusal.op);
                }
            }
        }
        if states.is_empty() {
            states.push(broken.state.clone());
        }
        let explain =
            |state: &State| self.spec.with_machine(|machine| machine.explain_predicate(exclusion.predicate, state));
        let parts: Vec<Part> = states.iter().map(explain).collect();
        let conjunct = self.guards().conjunct(&parts.iter().collect::<Vec<_>>());
        let site = self.predicate_site(&exclusion);
        let sentence = match self.spec.program.invariants.len() {
            1 => format!("every order that the actions allow breaks `{}`", exclusion.name),
            _ => format!(
                "every order that the actions allow breaks an invariant; the first found breaks `{}`",
                exclusion.name
            ),
        };
        let broken = omnilink_report::Broken {
            invariant: exclusion.name,
            broke: broke.into_iter().map(|op| self.report_builder.op(op)).collect(),
            span: self.report_builder.span(site),
            states: states.iter().map(|state| self.spec.show(state)).collect(),
            conjuncts: vec![conjunct],
        };
        Rejection {
            sentence,
            details: String::new(),
            blocked: stuck.blocked.iter().map(|&op| self.report_builder.op(op)).collect(),
            explained: stuck.explained,
            evidence: Evidence::Invariant(broken),
        }
    }

    /// Adds the states in which a step of an operation, or of an unrecorded action, violates an invariant. True if one
    /// of the operation does.
    fn add_violations(&self, op: &TraceOp, state: &TraceState, invariant: &Exclusion, out: &mut Vec<State>) -> bool {
        let stages = &self.spec.binder.actions[op.step.action as usize].stages;
        let stages = stages.iter().map(|stage| (&stage.operation, stage.args(&op.step.args), true));
        let internal = self.spec.binder.internal.iter();
        let internal = internal.map(|operation| (operation, vec![None; operation.params.len()].into(), false));
        let mut is_own = false;
        self.spec.with_machine(|machine| {
            for (operation, args, is_recorded) in stages.chain(internal) {
                let mut next = Vec::new();
                if machine.perform(operation, &args, &state.values, &mut next).is_err() {
                    continue;
                }
                for next in next {
                    let excluded = self.spec.excluded(machine, Some(&state.values), &next);
                    if !matches!(&excluded, Ok(Some(exclusion)) if exclusion == invariant) {
                        continue;
                    }
                    is_own |= is_recorded;
                    if !out.contains(&next) {
                        out.push(next);
                    }
                }
            }
        });
        is_own
    }

    /// Whether an operation is legal in a state: on its own, in as many steps as it takes.
    pub(super) fn allows(&self, op: &TraceOp, state: &TraceState) -> bool {
        let mut reached = vec![state.clone()];
        let mut next = 0;
        while next < reached.len() && reached.len() < MOST_PARTWAY {
            let mut out = Successors::default();
            if omnilink_search::Spec::step(self.spec, &reached[next], op, &mut out).is_err() {
                return false;
            }
            let (done, partway) = out.into_parts();
            if !done.is_empty() {
                return true;
            }
            for state in partway {
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
            next += 1;
        }
        false
    }

    /// Whether an operation can take a step of its own in a state.
    fn can_step(&self, op: &TraceOp, state: &TraceState) -> bool {
        let stages = &self.spec.binder.actions[op.step.action as usize].stages;
        self.spec.with_machine(|machine| {
            let mut found = Vec::new();
            stages.iter().any(|stage| {
                let args = stage.args(&op.step.args);
                machine.perform(&stage.operation, &args, &state.values, &mut found).is_ok() && !found.is_empty()
            })
        })
    }
}

fn key(found: &Found) -> Key {
    match found {
        Found::Time(before) => Key::Time(*before),
        Found::Dead => Key::Dead,
        Found::Words(words) => Key::Words(words.clone()),
        Found::Excluded(_) => Key::At(None),
        Found::Error(_, site) => Key::At(*site),
        Found::Guard(ways) => {
            let is_failed = |part: &&Part| {
                matches!(outcome(part), omnilink_report::Outcome::False | omnilink_report::Outcome::Error(_))
            };
            let failed = ways.furthest.conjuncts.iter().find(is_failed);
            Key::At(failed.map(|part| part.site))
        }
    }
}
