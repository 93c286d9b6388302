//! The machine as a host of lazy sets, lazy functions and native operators.

use std::sync::Arc;

use super::Machine;
use super::frame::{Frame, Slot};
use crate::datum::{self, Closure, Datum, Host, LazyFunction, Operator, World};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{ExprId, Node, Pattern};
use crate::strings::Strings;
use crate::value::Value;

/// A value with fewer elements costs neither noticeable time nor memory.
const MANY: usize = 1 << 14;

impl Host for Machine<'_> {
    fn strings(&self) -> &Strings {
        &self.program.module.strings
    }

    fn reads_text(&mut self) {
        self.reads_text = true;
    }

    fn apply(&mut self, operator: &Operator, args: &[Datum]) -> Result<Datum> {
        let slots = self.definitions[operator.def.0 as usize].slots;
        let frame = self.enter_captured(&operator.captured, args, slots);
        self.run_body(operator.def, frame)
    }

    fn test(&mut self, filter: &Closure, element: &Datum) -> Result<bool> {
        let Node::Filter { bound, body } = self.exprs.node(filter.code) else {
            unreachable!("only filters become lazy sets with a predicate");
        };
        let frame = self.enter_closure(filter);
        let result = self.within(frame, |machine| {
            match (&bound.pattern, element) {
                (Pattern::Slot(slot), element) => machine.set_slot(*slot, Slot::Datum(element.clone())),
                (pattern, Datum::Value(value)) => machine.bind(pattern, value.clone(), filter.code)?,
                _ => return Err(EvalError::new(ErrorKind::WrongKind, "the element of a filter is not a tuple")),
            }
            machine.deeper(|machine| machine.test(*body))
        });
        self.leave(frame);
        result
    }

    fn compute(&mut self, function: &LazyFunction, arg: &Value) -> Result<Datum> {
        let (body, frame) = self.enter_body(function, arg)?;
        let result = self.within(frame, |machine| machine.deeper(|machine| machine.eval(body)));
        self.leave(frame);
        result
    }

    fn world(&mut self) -> &mut dyn World {
        &mut *self.world
    }

    fn tick(&mut self) -> Result<()> {
        Machine::tick(self)
    }

    fn charge(&mut self, places: usize) -> Result<()> {
        if places < MANY {
            return Ok(());
        }
        if places as u128 > datum::LIMIT {
            return Err(datum::too_large());
        }
        match self.world.limit().is_none() && self.world.has_room((places * size_of::<Value>()) as u64) {
            true => Ok(()),
            false => Err(Machine::stopped()),
        }
    }
}

impl Machine<'_> {
    /// The body of an applied function, and a frame in which its argument is bound.
    pub(super) fn enter_function(&mut self, function: &LazyFunction, arg: &Value) -> Result<(ExprId, Frame)> {
        if !datum::contains(self, &function.domain, &Datum::Value(arg.clone()))? {
            let message = format!("the argument {} is outside the domain", arg.display(self.strings()));
            return Err(EvalError::new(ErrorKind::OutsideDomain, message));
        }
        self.enter_body(function, arg)
    }

    fn enter_body(&mut self, function: &LazyFunction, arg: &Value) -> Result<(ExprId, Frame)> {
        let code = function.closure.code;
        let Node::Function { bounds, body, this } = self.exprs.node(code) else {
            unreachable!("only function constructors become lazy functions");
        };
        let frame = self.enter_closure(&function.closure);
        let bound = self.within(frame, |machine| {
            if let Some(slot) = this {
                // A recursive reference means the function as defined, without the changes of `EXCEPT`.
                let itself = LazyFunction { changes: Vec::new(), ..function.clone() };
                machine.set_slot(*slot, Slot::Datum(Datum::Function(Arc::new(itself))));
            }
            machine.bind_args(bounds, arg, code)
        });
        match bound {
            Ok(()) => Ok((*body, frame)),
            Err(error) => {
                self.leave(frame);
                Err(error)
            }
        }
    }
}
