//! `ENABLED A`: whether some next state makes an action true.
//!
//! `ENABLED` binds the next values of the variables of its module. If that module is an instance in which an expression
//! replaces a variable, `x <- y + 1`, then `x'` inside is a value of its own, which `A` assigns, and not `(y + 1)'`. These
//! values come after those of the variables of the specification.

use std::ops::ControlFlow::{self, Break};

use super::action::Then;
use super::frame::Reads;
use super::{Flow, Machine, Reading};
use crate::datum::Datum;
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{DefId, ExprId, VarId};

impl<'p> Machine<'p> {
    /// Whether some next state makes an action true. It also assigns the next values of variables that these
    /// definitions replace.
    pub(super) fn enabled(&mut self, action: ExprId, replaced: &'p [DefId]) -> Result<bool> {
        let variables = self.own_variables() + replaced.len();
        let next = std::mem::replace(&mut self.next, vec![None; variables]);
        let outer = std::mem::replace(&mut self.replaced, replaced);
        let unassigned = std::mem::replace(&mut self.unassigned, variables);
        let was_naming = std::mem::replace(&mut self.is_naming, false);
        let is_of_step = std::mem::replace(&mut self.is_of_step, false);
        self.epoch += 1;
        let flow = self.act(action, &mut |_| Ok(Break(())));
        self.is_of_step = is_of_step;
        self.next = next;
        self.replaced = outer;
        self.unassigned = unassigned;
        self.is_naming = was_naming;
        self.epoch += 1;
        flow.map(|flow: ControlFlow<()>| flow.is_break())
    }

    fn own_variables(&self) -> usize {
        self.program.module.variables.len()
    }

    /// The variable that a definition replaces, if `ENABLED` binds its next value here.
    #[inline]
    pub(super) fn bound(&self, def: DefId) -> Option<VarId> {
        if self.replaced.is_empty() {
            return None;
        }
        let index = self.replaced.iter().position(|&replaced| replaced == def)?;
        let variable = self.own_variables() + index;
        // A state between two steps has no such values.
        (variable < self.next.len()).then_some(VarId(variable as u32))
    }

    /// The same, where the next state is read.
    #[inline]
    pub(super) fn bound_next(&self, def: DefId) -> Option<VarId> {
        if self.reading == Reading::Next { self.bound(def) } else { None }
    }

    /// The next value of such a variable.
    pub(super) fn next_of(&self, variable: VarId, def: DefId) -> Result<Datum> {
        self.reads.set(self.reads.get().and(Reads::NEXT));
        match &self.next[variable.0 as usize] {
            Some(value) => Ok(value.clone().into()),
            None => {
                let name = &self.definitions[def.0 as usize].name;
                Err(EvalError::new(ErrorKind::Unassigned, format!("`{name}'` has no value yet")))
            }
        }
    }

    /// `UNCHANGED x`, where a definition replaces `x`.
    pub(super) fn act_unchanged_bound(&mut self, def: DefId, expr: ExprId, then: Then<'_, 'p>) -> Flow {
        match self.bound(def) {
            Some(variable) if self.next[variable.0 as usize].is_none() => {
                let value = self.eval_value(expr)?;
                self.act_assign(variable, value, expr, then)
            }
            _ => self.act_unchanged_test(expr, then),
        }
    }
}
