//! Evaluates idioms, on the fast path if it gives the same result, else as written.
//!
//! The fast path needs a function that is already a value and a key that can be compared with its keys; everything
//! else is left to the original expression, so that an idiom changes no result and no message. No part is evaluated
//! again after an error: with nested idioms, that would double the work at each level.

use super::Machine;
use super::eval::{is_listed, lazy_function};
use super::frame::Slot;
use crate::datum::{Closure, Datum, Elements};
use crate::error::{ErrorKind, EvalError, Result};
use crate::ir::{Arg, ExprId, Idiom, Node, Pattern};
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn idiom(&mut self, idiom: Idiom, written: ExprId) -> Result<Datum> {
        let short = match idiom {
            Idiom::With { function, key, value } => {
                if !self.is_function_at_hand(function) {
                    return self.eval(written);
                }
                let key = self.eval_key(key).map_err(|e| self.as_written(e, written))?;
                let value = match self.eval_key(value) {
                    Ok(value) => value,
                    Err(error) => return self.without_value(error, written),
                };
                self.peek(function).and_then(|function| function.with(&key, value).ok())
            }
            Idiom::Without { function, key } => {
                if !self.is_function_at_hand(function) {
                    return self.eval(written);
                }
                let key = self.eval_key(key)?;
                self.peek(function).and_then(|function| function.without(&key).ok())
            }
            Idiom::SameParts { left, right } => self.same_parts(left, right)?,
            Idiom::Count { filter } => self.count(filter).map_err(|e| self.as_written(e, written))?,
        };
        match short {
            Some(value) => Ok(Datum::Value(value)),
            None => self.eval(written),
        }
    }

    /// Whether two parts of sequences are equal; `None` if they must be evaluated.
    fn same_parts(&mut self, left: ExprId, right: ExprId) -> Result<Option<Value>> {
        let (Some((a, i, m)), Some((b, j, n))) = (self.part(left)?, self.part(right)?) else { return Ok(None) };
        let (Value::Seq(a), Value::Seq(b)) = (a, b) else { return Ok(None) };
        let range = |first: i64, last: i64, len: usize| match first > last {
            true => Some(0..0),
            false => (first >= 1 && last <= len as i64).then_some(first as usize - 1..last as usize),
        };
        let (Some(i), Some(j)) = (range(i, m, a.len()), range(j, n, b.len())) else { return Ok(None) };
        if std::sync::Arc::ptr_eq(&a, &b) && i == j {
            return Ok(Some(Value::Bool(true)));
        }
        let (a, b) = (&a.elements()[i], &b.elements()[j]);
        if a.len() != b.len() {
            return Ok(Some(Value::Bool(false)));
        }
        for (a, b) in a.iter().zip(b) {
            match a.is_identical(b) || crate::value::equal(a, b).is_ok_and(|is_equal| is_equal) {
                true => {}
                // Whether they differ or cannot be compared is found as written.
                false => return Ok(None),
            }
        }
        Ok(Some(Value::Bool(true)))
    }

    /// The arguments of `SubSeq`, if they are a sequence and integers.
    fn part(&mut self, call: ExprId) -> Result<Option<(Value, i64, i64)>> {
        let Node::Call { args, .. } = self.exprs.node(call) else { return Ok(None) };
        let [Arg::Expr(row), Arg::Expr(first), Arg::Expr(last)] = &**args else { return Ok(None) };
        let row = self.eval(*row)?;
        let bounds = (self.eval(*first)?, self.eval(*last)?);
        Ok(match (row, bounds) {
            (Datum::Value(row), (Datum::Value(Value::Int(first)), Datum::Value(Value::Int(last)))) => {
                Some((row, first, last))
            }
            _ => None,
        })
    }

    #[inline]
    fn is_function_at_hand(&self, function: ExprId) -> bool {
        matches!(self.peek(function), Some(Value::Seq(_) | Value::Fun(_)))
    }

    /// The number of elements that a filter keeps; `None` if the set cannot be walked directly.
    fn count(&mut self, filter: ExprId) -> Result<Option<Value>> {
        let Node::Filter { bound, body } = self.exprs.node(filter) else {
            unreachable!("what is counted is a filter");
        };
        if let Node::Domain(function) = self.exprs.node(bound.set)
            && let (Some(Value::Fun(function)), Pattern::Slot(slot)) = (self.peek(*function), &bound.pattern)
        {
            // The keys are an array, so they are walked without an iterator over the set.
            let domain = function.domain().clone();
            let mut count = 0;
            for key in domain.elements() {
                self.tick()?;
                self.set_slot(*slot, Slot::Datum(Datum::Value(key.clone())));
                count += i64::from(self.test(*body)?);
            }
            return Ok(Some(Value::Int(count)));
        }
        let set = self.eval(bound.set)?;
        if !matches!(set, Datum::Set(_) | Datum::Value(Value::Set(_))) || !is_listed(&set) {
            return Ok(None);
        }
        let mut elements = Elements::new(self, &set).map_err(|e| self.at(e, bound.set))?;
        let mut count = 0;
        while let Some(element) = elements.next(self).map_err(|e| self.at(e, bound.set))? {
            self.tick()?;
            self.bind(&bound.pattern, element, filter)?;
            count += i64::from(self.test(*body)?);
        }
        // TLC's integers have 32 bits.
        Ok(i32::try_from(count).is_ok().then_some(Value::Int(count)))
    }

    fn eval_key(&mut self, expr: ExprId) -> Result<Value> {
        match self.peek(expr) {
            Some(value) => Ok(value.clone()),
            None => self.eval_value(expr),
        }
    }

    /// The result if the new value cannot be evaluated: a lazy function can still be applied at other arguments.
    #[cold]
    fn without_value(&mut self, error: Box<EvalError>, written: ExprId) -> Result<Datum> {
        let Node::Function { bounds, .. } = self.exprs.node(written) else {
            return Err(self.as_written(error, written));
        };
        if matches!(error.kind, ErrorKind::Limit | ErrorKind::Stopped) {
            return Err(error);
        }
        let domain = self.eval(bounds[0].set)?;
        let closure = Closure { code: written, frame: self.capture(written) };
        Ok(lazy_function(domain, closure))
    }

    /// An error with the calls that led to it.
    #[cold]
    fn as_written(&self, mut error: Box<EvalError>, written: ExprId) -> Box<EvalError> {
        let Node::Call { def, args } = self.exprs.node(written) else {
            return error;
        };
        if let Some(Arg::Expr(inner)) = args.first()
            && let Node::Call { def, .. } = self.exprs.node(*inner)
        {
            error = self.called(error, *def, *inner);
        }
        self.called(error, *def, written)
    }
}
