//! Results with which an operation would have been legal.
//!
//! Candidates are the values of the set that the next-state relation takes the result from, if there are few, and
//! otherwise the results of operations of the same kind anywhere in the history.

use omnilink_history::OpId;
use omnilink_report::Field;
use omnilink_search::Watch;
use omnilink_tla::machine::State;
use omnilink_tla::value::Value;

use super::{Cost, Explainer};
use crate::bind::{Args, TraceOp};
use crate::cut::Cuts;
use crate::show::shown;

/// The maximum number of values tried for one result.
const MOST_VALUES: usize = 1_000;
/// The maximum number of combinations of results tried.
const MOST_TRIED: usize = 1_000;
/// The maximum cost of all of them together.
const MOST_WORK: u64 = 1_000_000;
/// The maximum number of legal results reported.
const MOST_ALLOWED: usize = 12;

/// Arguments with which an operation would have been legal.
#[derive(Default)]
pub(super) struct Expected {
    pub(super) allowed: Vec<Args>,
    /// True if there may be more.
    pub(super) is_cut_off: bool,
}

impl Explainer<'_, '_> {
    /// Other results with which the operations have an order up to its return.
    pub(super) fn expected(&mut self, goal: OpId, cuts: &Cuts, states: &[State], watch: &dyn Watch) -> Expected {
        let op = &self.history.op(goal).call;
        let (results, cut) = (self.spec.binder.results(op), cuts.last_before(self.history, goal));
        let mut expected = Expected::default();
        let Some(state) = states.first().filter(|_| !results.is_empty()) else { return expected };
        let choices: Vec<Vec<Value>> =
            results.iter().map(|&place| self.choices(op, place, state, &mut expected)).collect();
        let (mut tried, mut steps) = (0, 0);
        let cost = Cost::new(self.spec, cut);
        for_each_combination(&choices, &mut |values| {
            tried += 1;
            let mut args = op.step.args.clone();
            for (&place, value) in results.iter().zip(values) {
                args[place] = Some(value.clone());
            }
            if args != op.step.args {
                let other = self.spec.with_args(op, args.clone());
                let ops = cut.until(self.history, goal).map(|op| if op.id == goal { op.with(&other) } else { op });
                // An evaluation error with another result says nothing about the recorded one.
                if let Ok(report) = cut.check(self.spec, ops, self.options, watch) {
                    steps += report.stats.steps;
                    match report.verdict.is_accepted() && expected.allowed.len() < MOST_ALLOWED {
                        true => expected.allowed.push(args),
                        false => expected.is_cut_off |= report.verdict.is_accepted(),
                    }
                }
            }
            tried < MOST_TRIED && cost.of(steps) < MOST_WORK
        });
        expected.is_cut_off |= tried >= MOST_TRIED || cost.of(steps) >= MOST_WORK;
        expected
    }

    /// The candidates for a result.
    fn choices(&self, op: &TraceOp, place: usize, state: &State, expected: &mut Expected) -> Vec<Value> {
        let action = &self.spec.binder.actions[op.step.action as usize];
        for stage in &action.stages {
            let Some(param) = stage.places.iter().position(|other| *other == place) else { continue };
            let candidates =
                self.spec.with_machine(|machine| machine.candidates(&stage.operation, param, state, MOST_VALUES));
            if let Some(candidates) = candidates {
                return candidates;
            }
        }
        // Values that were never recorded may be legal too.
        expected.is_cut_off = true;
        let mut values: Vec<Value> = Vec::new();
        for other in self.history.ops() {
            if other.call.step.action == op.step.action
                && let Some(value) = &other.call.step.args[place]
                && !values.contains(value)
            {
                values.push(value.clone());
                if values.len() == MOST_VALUES {
                    break;
                }
            }
        }
        values.sort();
        values
    }

    /// The results among the arguments of an operation, by their recorded names.
    pub(super) fn named_results(&self, goal: Option<OpId>, args: &Args) -> Vec<Field> {
        let Some(goal) = goal else { return Vec::new() };
        let op = &self.history.op(goal).call;
        let field = |place: usize| {
            let name = self.spec.binder.actions[op.step.action as usize].params[place].clone();
            let value = args[place].as_ref().map(|value| shown(self.spec.program, value)).unwrap_or_default();
            Field { name, value }
        };
        self.spec.binder.results(op).into_iter().map(field).collect()
    }
}

/// Visits every combination of one value each, while `visit` returns true.
fn for_each_combination(choices: &[Vec<Value>], visit: &mut dyn FnMut(&[Value]) -> bool) {
    fn go(choices: &[Vec<Value>], taken: &mut Vec<Value>, visit: &mut dyn FnMut(&[Value]) -> bool) -> bool {
        let Some(values) = choices.get(taken.len()) else { return visit(taken) };
        for value in values {
            taken.push(value.clone());
            let goes_on = go(choices, taken, visit);
            taken.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }
    go(choices, &mut Vec::new(), visit);
}
