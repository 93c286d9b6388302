//! `[f EXCEPT ![a].b = e]`: a copy of a function with some of its values replaced.
//!
//! Updates apply from left to right and `@` is the result of the previous update. An index outside the domain changes
//! nothing, and its new value is not evaluated; TLC warns there and continues.

use super::Machine;
use super::frame::Slot;
use crate::datum::{self, Datum};
use crate::error::Result;
use crate::ir::{ExprId, Step, Update};
use crate::value::Value;

impl<'p> Machine<'p> {
    pub(super) fn except(&mut self, function: ExprId, updates: &'p [Update], expr: ExprId) -> Result<Datum> {
        if let [update] = updates
            && let Some(changed) = self.replace_one(function, update, expr)?
        {
            return Ok(changed);
        }
        let mut result = self.eval(function)?;
        for update in updates {
            if let Some(changed) = self.update(&result, &update.path, update, expr)? {
                result = changed;
            }
        }
        Ok(result)
    }

    /// The most common update, `[f EXCEPT ![k] = e]` of a function that is already a value; `None` for any other.
    fn replace_one(&mut self, function: ExprId, update: &'p Update, expr: ExprId) -> Result<Option<Datum>> {
        let key = match &*update.path {
            [Step::Index(index)] if self.peek(function).is_some() => self.eval_value(*index)?,
            _ => return Ok(None),
        };
        let Some(old) = self.peek(function) else {
            return Ok(None);
        };
        match old.get(&key).map_err(|e| self.at(e, expr))? {
            None => return Ok(Some(old.clone().into())),
            Some(at) if update.reads_at => {
                let at = Slot::Datum(at.clone().into());
                self.set_slot(update.at, at);
            }
            Some(_) => {}
        }
        let new = self.eval_value(update.value)?;
        let Some(old) = self.peek(function) else {
            return Ok(None);
        };
        Ok(old.except(&key, new).map_err(|e| self.at(e, expr))?.map(Datum::Value))
    }

    /// A function with its value at the end of a path replaced; `None` if it is unchanged.
    fn update(&mut self, old: &Datum, path: &'p [Step], update: &'p Update, expr: ExprId) -> Result<Option<Datum>> {
        let [step, rest @ ..] = path else {
            self.set_slot(update.at, Slot::Datum(old.clone()));
            return self.eval(update.value).map(Some);
        };
        let key = match step {
            Step::Index(index) => self.eval_value(*index)?,
            Step::Field(field) => Value::Str(field.clone()),
        };
        let inner = match old {
            Datum::Value(old) => old.get(&key).map_err(|e| self.at(e, expr))?.cloned().map(Datum::Value),
            lazy => {
                let key = Datum::Value(key.clone());
                let domain = datum::domain(lazy).map_err(|e| self.at(e, expr))?;
                match datum::contains(self, &domain, &key).map_err(|e| self.at(e, expr))? {
                    true => Some(datum::apply(self, lazy, &key).map_err(|e| self.at(e, expr))?),
                    false => None,
                }
            }
        };
        let Some(inner) = inner else {
            return Ok(None);
        };
        let Some(new) = self.update(&inner, rest, update, expr)? else {
            return Ok(None);
        };
        match (old, new) {
            (Datum::Value(old), new) => {
                let new = self.settled(new, update.value)?;
                Ok(old.except(&key, new).map_err(|e| self.at(e, expr))?.map(Datum::Value))
            }
            (lazy, new) => datum::except(self, lazy, &key.into(), new).map_err(|e| self.at(e, expr)),
        }
    }
}
