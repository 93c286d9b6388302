//! The strings and model values inside a value.
//!
//! The names of fields, and other strings that a function maps, are not among them: they name parts of a value.

use super::{Model, Value};
use crate::error::Result;
use crate::strings::Str;

impl Value {
    /// Visits every model value.
    pub(crate) fn for_each_model(&self, visit: &mut dyn FnMut(Model)) {
        match self {
            Value::Model(model) => visit(*model),
            Value::Bool(_) | Value::Int(_) | Value::Str(_) => {}
            Value::Set(set) => set.elements().iter().for_each(|element| element.for_each_model(visit)),
            Value::Seq(seq) => seq.elements().iter().for_each(|element| element.for_each_model(visit)),
            Value::Fun(fun) => {
                fun.domain().elements().iter().chain(fun.values()).for_each(|part| part.for_each_model(visit));
            }
        }
    }

    /// Visits every string.
    pub(crate) fn for_each_string(&self, visit: &mut dyn FnMut(&Str)) {
        match self {
            Value::Str(text) => visit(text),
            Value::Bool(_) | Value::Int(_) | Value::Model(_) => {}
            Value::Set(set) => set.elements().iter().for_each(|element| element.for_each_string(visit)),
            Value::Seq(seq) => seq.elements().iter().for_each(|element| element.for_each_string(visit)),
            Value::Fun(fun) => fun.values().iter().for_each(|value| value.for_each_string(visit)),
        }
    }

    /// The value with some of its strings replaced.
    pub(crate) fn with_strings(&self, replace: &dyn Fn(&Str) -> Option<Value>) -> Result<Value> {
        let all = |values: &[Value]| values.iter().map(|value| value.with_strings(replace)).collect::<Result<Vec<_>>>();
        Ok(match self {
            Value::Str(text) => replace(text).unwrap_or_else(|| self.clone()),
            Value::Bool(_) | Value::Int(_) | Value::Model(_) => self.clone(),
            Value::Set(set) => Value::set(all(set.elements())?)?,
            Value::Seq(seq) => Value::seq(all(seq.elements())?),
            Value::Fun(fun) => Value::function(fun.domain().clone(), all(fun.values())?),
        })
    }
}
