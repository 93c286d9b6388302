//! `A \cdot B`: a step by `A` to a state in between, and a step by `B` from there.
//!
//! The steps of `A` are computed first, each to a complete state: a variable that `A` does not mention keeps its value,
//! also if another conjunct has given it a next value already. Then `B` runs with that state as the current one, and
//! what follows the composition with the original one. A predicate is evaluated the same way, but the next state is
//! known there, so `B` is evaluated as a boolean.
//!
//! TLC counts the states in between as generated if the conjuncts that follow are true of the step to them.

use std::ops::ControlFlow::{self, Break, Continue};

use super::explain::{Part, PartOutcome};
use super::{Flow, Machine, State};
use crate::error::Result;
use crate::ir::ExprId;

/// The next values and the current state, to be put back.
type Saved = (Vec<Option<crate::value::Value>>, usize);

impl<'p> Machine<'p> {
    /// Runs `then` for every way to make `A \cdot B` true.
    pub(super) fn act_compose(
        &mut self,
        (first, second): (ExprId, ExprId),
        then: &mut dyn FnMut(&mut Self) -> Flow,
    ) -> Flow {
        let Some(state) = self.current.clone() else { return self.act(second, then) };
        let frame = self.current_frame();
        let was_naming = std::mem::replace(&mut self.is_naming, false);
        let counted = self.between.take();
        let flow = self.states_between(first, &state);
        let middle = flow?;
        if let Some(mut count) = counted {
            for between in &middle {
                count += u64::from(self.is_followed(&state, between, then)?);
            }
            self.between = Some(count);
        }
        if middle.is_empty() && self.recorder.is_some() {
            self.end_attempt(Some(Part::new(self.exprs.site(first), PartOutcome::Truth(false))), None);
        }
        let outer = self.between.take();
        let mut flow = Continue(());
        for between in middle {
            flow = self.starting_at(between.clone(), |machine| {
                machine.act(second, &mut |machine| {
                    machine.at_original(&state, |machine| machine.within(frame, &mut *then))
                })
            })?;
            if flow.is_break() {
                break;
            }
        }
        self.between = outer;
        self.is_naming = was_naming;
        Ok(flow)
    }

    /// Whether `A \cdot B` is true of the step to the next state.
    pub(super) fn test_compose(&mut self, first: ExprId, second: ExprId) -> Result<bool> {
        let Some(state) = self.current.clone() else { return self.test(second) };
        let saved: Saved = (std::mem::replace(&mut self.next, vec![None; state.len()]), self.unassigned);
        self.unassigned = state.len();
        self.epoch += 1;
        let middle = self.states_between(first, &state);
        (self.next, self.unassigned) = saved;
        self.epoch += 1;
        for between in middle? {
            if self.starting_at(between, |machine| machine.test(second))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The states to which the first action leads. A variable with a next value keeps its current one.
    fn states_between(&mut self, first: ExprId, state: &State) -> Result<Vec<State>> {
        let kept = self.next.iter().zip(state.iter()).map(|(next, current)| next.as_ref().map(|_| current.clone()));
        let kept = kept.collect();
        let outer = std::mem::replace(&mut self.next, kept);
        let unassigned = self.unassigned;
        let recorder = self.recorder.take();
        let is_of_step = std::mem::replace(&mut self.is_of_step, false);
        self.epoch += 1;
        let mut middle = Vec::new();
        let flow = self.act(first, &mut |machine| {
            let values = machine.next.iter().zip(state.iter());
            middle.push(values.map(|(next, current)| next.as_ref().unwrap_or(current).clone()).collect());
            Ok(Continue(()))
        });
        self.recorder = recorder;
        self.is_of_step = is_of_step;
        self.next = outer;
        self.unassigned = unassigned;
        self.epoch += 1;
        flow.map(|_| middle)
    }

    /// Whether the conjuncts that follow are true of the step to a state in between.
    fn is_followed(&mut self, state: &State, between: &State, then: &mut dyn FnMut(&mut Self) -> Flow) -> Result<bool> {
        let outer = std::mem::replace(&mut self.next, between.iter().cloned().map(Some).collect());
        let unassigned = std::mem::replace(&mut self.unassigned, 0);
        let was_probing = std::mem::replace(&mut self.is_probing, true);
        self.epoch += 1;
        let flow: Result<ControlFlow<()>> = self.at_original(state, &mut *then);
        self.is_probing = was_probing;
        self.next = outer;
        self.unassigned = unassigned;
        self.epoch += 1;
        Ok(flow?.is_break())
    }

    /// Runs with another current state.
    fn starting_at<R>(&mut self, state: State, run: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let outer = self.current.replace(state);
        self.versions += 1;
        let version = std::mem::replace(&mut self.version, self.versions);
        self.epoch += 1;
        // They are not those of a step from this state.
        let changed = std::mem::take(&mut self.changed);
        let result = run(self);
        self.changed = changed;
        self.current = outer;
        self.version = version;
        self.epoch += 1;
        result
    }

    /// Runs with the state from which the whole step starts, within [`Machine::from_state`].
    fn at_original<R>(&mut self, state: &State, run: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.starting_at(state.clone(), run)
    }
}

/// The sink of a run that is only asked whether it gets there.
pub(super) fn reached() -> Flow {
    Ok(Break(()))
}
