//! Steps towards a next state that is known in part, and operators applied to values.
//!
//! A log may tell the next value of a variable. It is assigned before the action runs, so that `x' = e` is a test of
//! `e` instead of an assignment: a wrong choice ends at the first conjunct that contradicts the log, and nothing is
//! enumerated for a variable whose value is known. The states found are those of the action that have these values,
//! because an assignment only ever narrows the rest of a conjunction.

use std::ops::ControlFlow::Continue;

use super::explain::{Explanation, Part, PartOutcome};
use super::frame::Slot;
use super::{Machine, Reading, State};
use crate::datum::{self, Datum};
use crate::error::Result;
use crate::ir::{Body, DefId, VarId};
use crate::program::Operation;
use crate::value::Value;

/// The states in which an operator is evaluated.
#[derive(Debug, Clone, Copy)]
pub enum At<'s> {
    /// None: a constant expression.
    Nowhere,
    /// In one state.
    State(&'s State),
    /// In a step.
    Step(&'s State, &'s State),
}

/// A step to be taken: an operation with arguments, or any step of the next-state relation.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Any step.
    Any,
    /// A step of this operation; unknown arguments are `None`.
    Of(&'a Operation, &'a [Option<Value>]),
}

impl<'p> Machine<'p> {
    /// Adds every state that a step may lead to in which variables have the given values, duplicates included.
    pub fn steps_towards(
        &mut self,
        step: Step<'_>,
        state: &State,
        given: &[(VarId, Value)],
        out: &mut Vec<State>,
    ) -> Result<()> {
        self.fresh_step(state);
        self.assign_given(given);
        let mut found = |machine: &mut Self| {
            out.push(machine.step_state(state)?);
            Ok(Continue(()))
        };
        match (step, self.program.next) {
            (Step::Of(operation, args), _) => self.act_known(operation, args, &mut found).map(|_| ()),
            (Step::Any, Some(next)) => self.act(next, &mut found).map(|_| ()),
            (Step::Any, None) => Ok(()),
        }
    }

    /// Every path through a step in a state with given next values, and where it ended.
    pub fn explain_towards(&mut self, step: Step<'_>, state: &State, given: &[(VarId, Value)]) -> Explanation {
        self.fresh(Some(state.clone()), Reading::Current);
        self.assign_given(given);
        match (step, self.program.next) {
            (Step::Of(operation, args), _) => {
                let site = self.definitions[operation.def.0 as usize].site;
                self.explain_run(site, |machine, then| machine.act_known(operation, args, then))
            }
            (Step::Any, Some(next)) => self.explain_run(self.exprs.site(next), |machine, then| machine.act(next, then)),
            (Step::Any, None) => Explanation::default(),
        }
    }

    /// The value of an operator applied to values.
    pub fn apply_operator(&mut self, def: DefId, args: &[Value], at: At<'_>) -> Result<Value> {
        self.enter_at(at);
        let frame = self.enter_values(args, self.definitions[def.0 as usize].slots);
        let datum = self.run_body(def, frame)?;
        datum::to_value(self, &datum)
    }

    /// Dissects an operator applied to values: why it is true, false, or has no value.
    pub fn explain_operator(&mut self, def: DefId, args: &[Value], at: At<'_>) -> Part {
        self.enter_at(at);
        let definition = &self.definitions[def.0 as usize];
        let frame = self.enter_values(args, definition.slots);
        match definition.body {
            Body::Expr(body) => self.within(frame, |machine| machine.dissect(body, 0)),
            Body::Declared | Body::Native(_) => Part::new(definition.site, PartOutcome::NotReached),
        }
    }

    fn enter_at(&mut self, at: At<'_>) {
        match at {
            At::Nowhere => self.fresh(None, Reading::Current),
            At::State(state) => self.fresh(Some(state.clone()), Reading::Current),
            At::Step(from, to) => {
                self.fresh(Some(from.clone()), Reading::Current);
                self.next = to.iter().cloned().map(Some).collect();
                self.unassigned = 0;
            }
        }
    }

    fn enter_values(&mut self, args: &[Value], slots: usize) -> super::frame::Frame {
        let args: Vec<Datum> = args.iter().cloned().map(Datum::Value).collect();
        self.enter_captured(&[], &args, slots)
    }

    fn assign_given(&mut self, given: &[(VarId, Value)]) {
        for (variable, value) in given {
            self.set_next(*variable, value.clone());
        }
    }

    /// Runs an operation: its body if all arguments are known and nothing else matters, and otherwise the ways to it.
    fn act_known(
        &mut self,
        operation: &Operation,
        args: &[Option<Value>],
        then: &mut dyn FnMut(&mut Self) -> super::Flow,
    ) -> super::Flow {
        let is_known = operation.is_plain && args.len() == operation.params.len() && args.iter().all(Option::is_some);
        if is_known {
            let values = args.iter().flatten().map(|value| Slot::Datum(Datum::Value(value.clone())));
            self.stack.extend(values);
            return self.act_operation(operation, then);
        }
        self.follow_all(operation, args, then)
    }
}
