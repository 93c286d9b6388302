//! Actions: computes the successors allowed by a next-state relation as TLC does.
//!
//! The problem: given a state and a formula about it and the next one, find all next states that make it true,
//! without trying every possible state. TLC's answer, which every specification that runs on it relies on: evaluate
//! conjunctions from left to right; branch at disjunctions and `\E`; the first `x' = e` or `x' \in S` that mentions a
//! variable without a value *assigns* it, later ones test it; everything else is evaluated and must be true.
//!
//! Here each formula gets its continuation as a function, `then`. A conjunction runs its first part, then the second,
//! and so on; a disjunction runs `then` once for every way to be true; so duplicates are found as often as TLC finds
//! them. Once every variable has a value, the rest is evaluated as a plain boolean, as in TLC, which is why
//! `x' = 1 /\ (TRUE \/ TRUE)` has one successor and `(TRUE \/ TRUE) /\ x' = 1` has two.

use std::ops::ControlFlow::{Break, Continue};

use smallvec::SmallVec;

use super::explain::{Choice, Part, PartOutcome};
use super::frame::{Frame, Slot};
use super::{Flow, Machine, Naming, Reading};
use crate::datum::{Datum, Elements, LazySet};
use crate::error::{EvalError, Result};
use crate::ir::{Arg, Body, Bound, DefId, ExprId, Node, VarId};
use crate::value::Value;

/// The variables that a conjunction has assigned, to be undone.
type Assigned = SmallVec<[VarId; 8]>;

/// The continuation once a formula is true.
pub(super) type Then<'a, 'p> = &'a mut dyn FnMut(&mut Machine<'p>) -> Flow;

impl<'p> Machine<'p> {
    /// Runs `then` for every way to make a formula true, with the next values it needs assigned.
    pub(super) fn act(&mut self, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        if self.recorder.is_some() && !self.reads_next(expr, self.current_frame()) {
            return self.act_recorded(expr, then);
        }
        // These lead to most of the work, and a small function is entered faster.
        match self.exprs.node(expr) {
            Node::And(parts) => {
                let was_naming = std::mem::replace(&mut self.is_naming, false);
                let flow = self.act_all(parts, 0, then);
                self.is_naming = was_naming;
                flow
            }
            Node::Or(parts) => {
                for &part in parts {
                    if self.act_branch(|machine| Choice::Disjunct(machine.exprs.site(part)), part, then)?.is_break() {
                        return Ok(Break(()));
                    }
                }
                Ok(Continue(()))
            }
            Node::Inlined { def, args, body } => {
                let outer = self.label;
                if self.is_naming {
                    self.label = Some(Naming::Inlined(*def, args, self.current_frame()));
                }
                let flow = self.entering(*def, |machine| machine.act(*body, then));
                let flow = flow.map_err(|e| self.called(e, *def, expr));
                self.label = outer;
                flow
            }
            _ => self.act_other(expr, then),
        }
    }

    fn act_other(&mut self, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        match self.exprs.node(expr) {
            Node::Exists { bounds, body } => self.act_exists(bounds, *body, expr, then),
            Node::Forall { bounds, body } => self.act_forall(bounds, *body, expr, then),
            Node::If(condition, yes, no) => {
                let truth = self.test(*condition)?;
                self.act_decided(*condition, truth, if truth { *yes } else { *no }, then)
            }
            Node::Case { arms, other } => {
                let branch = self.choose_arm(arms, *other, expr)?;
                match arms.iter().find(|(_, then)| *then == branch) {
                    Some((guard, _)) => self.act_decided(*guard, true, branch, then),
                    None => self.act(branch, then),
                }
            }
            Node::Implies(condition, body) => {
                if self.test(*condition)? {
                    self.act(*body, then)
                } else {
                    then(self)
                }
            }
            Node::Let { slot, value, body } => {
                let frame = self.current_frame();
                self.set_slot(*slot, Slot::Thunk { expr: *value, frame });
                self.act(*body, then)
            }
            Node::Call { def, args } => self.act_call(*def, args, expr, then),
            Node::CallArgument { slot, args } => {
                let (def, frame) = self.enter_argument(*slot, args).map_err(|e| self.at(e, expr))?;
                let flow = match self.definitions[def.0 as usize].body {
                    Body::Expr(body) => self.act_within(frame, body, then).map_err(|e| self.called(e, def, expr)),
                    _ => {
                        self.leave(frame);
                        return self.act_test(expr, then);
                    }
                };
                self.leave(frame);
                flow
            }
            Node::Argument(slot) => match self.slot(*slot) {
                Slot::Thunk { expr, frame } => {
                    let (expr, frame, top) = (*expr, *frame, self.current_frame());
                    // The operator may run its argument again before this run is finished.
                    self.act_within(frame, expr, &mut |machine| machine.keeping(frame, top.start(), &mut *then))
                }
                _ => self.act_test(expr, then),
            },
            Node::Equal(left, right) => match self.to_assign(*left) {
                Some(variable) => match self.eval_value(*right) {
                    Ok(value) => self.act_assign(variable, value, expr, then),
                    Err(error) => self.act_failed(error, expr),
                },
                None => self.act_test(expr, then),
            },
            Node::In(left, right) => match self.to_assign(*left) {
                Some(variable) => match self.eval(*right) {
                    Ok(set) => self.act_in(variable, set, expr, then),
                    Err(error) => self.act_failed(error, expr),
                },
                None => self.act_test(expr, then),
            },
            Node::Subseteq(left, right) => match self.to_assign(*left) {
                Some(variable) => match self.eval(*right) {
                    Ok(set) => self.act_in(variable, LazySet::Subsets(set).into(), expr, then),
                    Err(error) => self.act_failed(error, expr),
                },
                None => self.act_test(expr, then),
            },
            Node::Unchanged(inner) => self.act_unchanged(*inner, then),
            Node::Square(action, subscript) => {
                if self.act(*action, then)?.is_break() {
                    return Ok(Break(()));
                }
                self.act_unchanged(*subscript, then)
            }
            Node::Angle(action, subscript) => {
                let (subscript, frame) = (*subscript, self.current_frame());
                self.act(*action, &mut |machine| {
                    machine.within(
                        frame,
                        |machine| {
                            if machine.changes(subscript)? { then(machine) } else { Ok(Continue(())) }
                        },
                    )
                })
            }
            Node::Compose(first, second) => self.act_compose((*first, *second), then),
            Node::Apply(function, arg) if !matches!(self.exprs.node(*function), Node::Variable(_)) => {
                self.act_apply(*function, *arg, expr, then)
            }
            _ => self.act_test(expr, then),
        }
    }

    fn act_exists(&mut self, bounds: &'p [Bound], body: ExprId, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        if self.is_refuted_step(expr) {
            return Ok(Continue(()));
        }
        let sets = self.sets_of(bounds)?;
        if self.is_refuted(expr, &sets) {
            return Ok(Continue(()));
        }
        let mut flow = Continue(());
        self.for_each_of(bounds, &sets, expr, &mut |machine| {
            let choice = |machine: &Self| machine.binding(expr, bounds);
            flow = machine.act_branch(choice, body, then)?;
            Ok(flow.is_continue())
        })?;
        Ok(flow)
    }

    fn act_call(&mut self, def: DefId, args: &'p [Arg], expr: ExprId, then: Then<'_, 'p>) -> Flow {
        let definition = &self.definitions[def.0 as usize];
        let Body::Expr(body) = definition.body else {
            return self.act_test(expr, then);
        };
        let frame = self.enter(definition, args);
        let outer = self.label;
        if self.is_naming {
            self.label = Some(Naming::Called(def, frame));
        }
        let flow = self.entering(def, |machine| machine.act_within(frame, body, then));
        let flow = flow.map_err(|e| self.called(e, def, expr));
        // The continuation belongs to the caller, and the frame of the label ends here.
        self.label = outer;
        self.leave(frame);
        flow
    }

    /// `f[x]`, where the body of `f` may be true in several ways if it was not precomputed.
    fn act_apply(&mut self, function: ExprId, arg: ExprId, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        let lazy = match self.eval(function)? {
            Datum::Function(lazy) if lazy.changes.is_empty() && self.recorder.is_none() => lazy,
            _ => return self.act_test(expr, then),
        };
        let arg = self.eval_value(arg)?;
        let (body, frame) = self.enter_function(&lazy, &arg).map_err(|e| self.at(e, expr))?;
        let flow = self.act_within(frame, body, then);
        self.leave(frame);
        flow
    }

    /// Runs the parts of a conjunction from one of them on.
    pub(super) fn act_all(&mut self, parts: &'p [ExprId], index: usize, then: Then<'_, 'p>) -> Flow {
        if index == parts.len() {
            return then(self);
        }
        if self.recorder.is_some() {
            return self.act_all_recorded(parts, index, then);
        }
        let mut assigned = Assigned::new();
        let flow = self.act_straight(parts, index, &mut assigned, then);
        for variable in assigned {
            self.unassign(variable);
        }
        flow
    }

    /// Runs the parts of a conjunction in a loop as long as there is only one way, and leaves the rest to
    /// [`Machine::act`].
    fn act_straight(&mut self, parts: &'p [ExprId], from: usize, assigned: &mut Assigned, then: Then<'_, 'p>) -> Flow {
        for (index, &part) in parts.iter().enumerate().skip(from) {
            let holds = if index > 0 && self.unassigned == 0 {
                self.test(part)?
            } else {
                match self.exprs.node(part) {
                    Node::Equal(left, right) => match self.to_assign(*left) {
                        Some(variable) => {
                            let value = self.eval_value(*right)?;
                            self.set_next(variable, value);
                            assigned.push(variable);
                            true
                        }
                        None => self.test(part)?,
                    },
                    Node::Unchanged(inner) => match self.plain_variables(inner) {
                        Some(variables) => self.keep(variables, assigned)?,
                        None => return self.act_then_rest(parts, index, then),
                    },
                    Node::Not(_) | Node::NotEqual(..) | Node::NotIn(..) | Node::Arithmetic(..) => self.test(part)?,
                    Node::Apply(function, _) if matches!(self.exprs.node(*function), Node::Variable(_)) => {
                        self.test(part)?
                    }
                    Node::In(left, _) if self.to_assign(*left).is_none() => self.test(part)?,
                    Node::Argument(slot) if matches!(self.slot(*slot), Slot::Datum(_)) => self.test(part)?,
                    _ => return self.act_then_rest(parts, index, then),
                }
            };
            if !holds {
                return Ok(Continue(()));
            }
        }
        then(self)
    }

    fn act_then_rest(&mut self, parts: &'p [ExprId], index: usize, then: Then<'_, 'p>) -> Flow {
        if index + 1 == parts.len() {
            return self.act(parts[index], then);
        }
        let frame = self.current_frame();
        let mut rest = |machine: &mut Self| machine.within(frame, |machine| machine.act_all(parts, index + 1, then));
        self.act(parts[index], &mut rest)
    }

    /// The variables of `UNCHANGED <<x, y>>`, if it contains only variables.
    fn plain_variables(&self, expr: &'p ExprId) -> Option<&'p [ExprId]> {
        let exprs = self.exprs;
        let is_variable = |expr: &ExprId| matches!(exprs.node(*expr), Node::Variable(_));
        self.current.as_ref()?;
        match exprs.node(*expr) {
            Node::Variable(_) => Some(std::slice::from_ref(expr)),
            Node::Inlined { body, .. } => self.plain_variables(body),
            Node::Tuple(parts) if parts.iter().all(is_variable) => Some(parts),
            Node::Call { def, args } if args.is_empty() && self.bound(*def).is_none() => {
                match &self.definitions[def.0 as usize].body {
                    Body::Expr(body) => self.plain_variables(body),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Leaves variables unchanged; `false` if one already has another value.
    fn keep(&mut self, variables: &'p [ExprId], assigned: &mut Assigned) -> Result<bool> {
        for &expr in variables {
            let Node::Variable(variable) = self.exprs.node(expr) else {
                unreachable!("only variables are kept");
            };
            let index = variable.0 as usize;
            if self.next[index].is_some() {
                if self.changes(expr)? {
                    return Ok(false);
                }
            } else if let Some(current) = &self.current {
                let value = current[index].clone();
                self.set_next(*variable, value);
                assigned.push(*variable);
            }
        }
        Ok(true)
    }

    /// Runs one of several branches.
    #[inline]
    fn act_branch(&mut self, choice: impl FnOnce(&Self) -> Choice, body: ExprId, then: Then<'_, 'p>) -> Flow {
        if self.recorder.is_none() {
            return self.act(body, then);
        }
        let choice = choice(self);
        self.chosen(choice, |machine| machine.act(body, then))
    }

    pub(super) fn act_assign(&mut self, variable: VarId, value: Value, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        if self.recorder.is_none() {
            return self.assign(variable, value, then);
        }
        let part = Part::new(self.exprs.site(expr), PartOutcome::Assigned(variable, value.clone()));
        self.recorded(part, &mut |machine| machine.assign(variable, value.clone(), then))
    }

    /// A conjunct has no value: ends the evaluation, or only this path if paths are being explained.
    #[cold]
    fn act_failed(&mut self, error: Box<EvalError>, expr: ExprId) -> Flow {
        if self.recorder.is_none() {
            return Err(error);
        }
        let part = Part::new(self.exprs.site(expr), PartOutcome::Error(error));
        self.end_attempt(Some(part), None);
        Ok(Continue(()))
    }

    /// Runs a formula in a frame, and the continuation in its own frame.
    fn act_within(&mut self, frame: Frame, body: ExprId, then: Then<'_, 'p>) -> Flow {
        let outer = self.current_frame();
        self.deeper(|machine| {
            machine.within(frame, |machine| machine.act(body, &mut |machine| machine.within(outer, &mut *then)))
        })
    }

    /// `\A x \in S : A` is the conjunction of `A` over all choices, the first one first and the others from the last.
    fn act_forall(&mut self, bounds: &'p [Bound], body: ExprId, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        let mut choices = Vec::new();
        self.for_each(bounds, expr, &mut |machine| {
            let mut choice = Vec::new();
            for bound in bounds {
                choice.extend(bound.pattern.slots().iter().map(|&slot| (slot, machine.slot(slot).clone())));
            }
            choices.push(choice);
            Ok(true)
        })?;
        if let Some(others) = choices.get_mut(1..) {
            others.reverse();
        }
        self.act_choices(&choices, 0, self.stack.len(), body, then)
    }

    fn act_choices(
        &mut self,
        choices: &[Vec<(crate::ir::SlotId, Slot<'p>)>],
        index: usize,
        top: usize,
        body: ExprId,
        then: Then<'_, 'p>,
    ) -> Flow {
        let Some(choice) = choices.get(index) else {
            return then(self);
        };
        for (slot, content) in choice {
            self.set_slot(*slot, content.clone());
        }
        if index > 0 && self.unassigned == 0 {
            return if self.test(body)? {
                self.act_choices(choices, index + 1, top, body, then)
            } else {
                Ok(Continue(()))
            };
        }
        let frame = self.current_frame();
        self.act(body, &mut |machine| {
            machine.within(frame, |machine| {
                if index + 1 == choices.len() {
                    return then(machine);
                }
                // The next choice binds the same slots, and this one may have other ways to be true.
                machine.keeping(frame, top, |machine| machine.act_choices(choices, index + 1, top, body, then))
            })
        })
    }

    fn act_test(&mut self, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        if self.recorder.is_some() {
            return self.act_recorded(expr, then);
        }
        if self.test(expr)? { then(self) } else { Ok(Continue(())) }
    }

    /// `x' \in S`, for a variable without a value.
    fn act_in(&mut self, variable: VarId, set: Datum, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        let mut elements = match Elements::new(self, &set) {
            Ok(elements) => elements,
            Err(error) => return self.act_failed(self.at(error, expr), expr),
        };
        let mut is_empty = true;
        while let Some(element) = elements.next(self).map_err(|e| self.at(e, expr))? {
            is_empty = false;
            self.tick()?;
            if self.act_assign(variable, element, expr, then)?.is_break() {
                return Ok(Break(()));
            }
        }
        if is_empty && self.recorder.is_some() {
            let part = self.dissect_empty(expr);
            self.end_attempt(Some(part), None);
        }
        Ok(Continue(()))
    }

    /// `UNCHANGED e`: assigns a variable, splits a tuple, enters a definition.
    fn act_unchanged(&mut self, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        match self.exprs.node(expr) {
            Node::Call { def, .. } if self.bound(*def).is_some() => self.act_unchanged_bound(*def, expr, then),
            Node::Variable(variable) => self.act_unchanged_variable(*variable, expr, then),
            Node::Tuple(parts) => self.act_unchanged_all(parts, then),
            Node::Inlined { body, .. } => self.act_unchanged(*body, then),
            Node::Call { def, args } if args.is_empty() => match self.definitions[def.0 as usize].body {
                Body::Expr(body) => {
                    let frame = self.enter(&self.definitions[def.0 as usize], &[]);
                    let outer = self.current_frame();
                    let flow = self.within(frame, |machine| {
                        machine.act_unchanged(body, &mut |machine| machine.within(outer, &mut *then))
                    });
                    self.leave(frame);
                    flow
                }
                _ => self.act_unchanged_test(expr, then),
            },
            Node::Argument(slot) => match self.slot(*slot) {
                Slot::Thunk { expr, frame } | Slot::Forced { expr, frame, .. } => {
                    let (expr, frame, outer) = (*expr, *frame, self.current_frame());
                    self.within(frame, |machine| {
                        machine.act_unchanged(expr, &mut |machine| machine.within(outer, &mut *then))
                    })
                }
                _ => self.act_unchanged_test(expr, then),
            },
            _ => self.act_unchanged_test(expr, then),
        }
    }

    fn act_unchanged_all(&mut self, parts: &'p [ExprId], then: Then<'_, 'p>) -> Flow {
        let [part, rest @ ..] = parts else {
            return then(self);
        };
        let frame = self.current_frame();
        self.act_unchanged(*part, &mut |machine| machine.within(frame, |machine| machine.act_unchanged_all(rest, then)))
    }

    fn act_unchanged_variable(&mut self, variable: VarId, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        let index = variable.0 as usize;
        match &self.current {
            Some(current) if self.next[index].is_none() => {
                let value = current[index].clone();
                self.act_assign(variable, value, expr, then)
            }
            _ => self.act_unchanged_test(expr, then),
        }
    }

    pub(super) fn act_unchanged_test(&mut self, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        match self.changes(expr) {
            Err(error) => self.act_failed(error, expr),
            Ok(false) => then(self),
            Ok(true) => {
                if self.recorder.is_some() {
                    self.end_attempt(Some(Part::new(self.exprs.site(expr), PartOutcome::Truth(false))), None);
                }
                Ok(Continue(()))
            }
        }
    }

    /// The variable that `expr = e` assigns, if it has no value yet.
    fn to_assign(&self, expr: ExprId) -> Option<VarId> {
        let variable = self.assignable(expr, self.current_frame())?;
        self.next[variable.0 as usize].is_none().then_some(variable)
    }

    /// The variable that `expr = e` is about: a primed one, possibly behind parameters, `LET` and definitions.
    fn assignable(&self, expr: ExprId, frame: Frame) -> Option<VarId> {
        match self.exprs.node(expr) {
            Node::Prime(inner) if self.reading == Reading::Current => self.plain_variable(*inner, frame),
            Node::Variable(variable) if self.reading == Reading::Next => Some(*variable),
            Node::Call { def, .. } if self.bound_next(*def).is_some() => self.bound(*def),
            Node::Inlined { body, .. } => self.assignable(*body, frame),
            Node::Argument(_) | Node::Call { .. } => self.look_through(expr, frame, Self::assignable),
            _ => None,
        }
    }

    fn plain_variable(&self, expr: ExprId, frame: Frame) -> Option<VarId> {
        match self.exprs.node(expr) {
            Node::Variable(variable) => Some(*variable),
            Node::Call { def, .. } if self.bound(*def).is_some() => self.bound(*def),
            Node::Inlined { body, .. } => self.plain_variable(*body, frame),
            Node::Argument(_) | Node::Call { .. } => self.look_through(expr, frame, Self::plain_variable),
            _ => None,
        }
    }

    fn look_through(
        &self,
        expr: ExprId,
        frame: Frame,
        next: fn(&Self, ExprId, Frame) -> Option<VarId>,
    ) -> Option<VarId> {
        match self.exprs.node(expr) {
            Node::Argument(slot) => match self.slot_of(frame, *slot) {
                Slot::Thunk { expr, frame } | Slot::Forced { expr, frame, .. } => next(self, *expr, *frame),
                _ => None,
            },
            Node::Call { def, args } => {
                let definition = &self.definitions[def.0 as usize];
                match (&definition.body, &**args) {
                    (Body::Expr(body), []) if !definition.is_recursive => next(self, *body, frame),
                    // An instance's parameter may be the variable.
                    (Body::Expr(body), args) => match self.exprs.node(*body) {
                        Node::Argument(slot) => match args.get(slot.0 as usize)? {
                            Arg::Expr(expr) => next(self, *expr, frame),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
