//! Translates values of a trace to values of a specification.
//!
//! Integers, Booleans, tuples, sets, records and functions translate to themselves. A string that is the name of a
//! model value becomes that model value, because a trace cannot write one otherwise. The settings or the specification
//! define the value for `nil`. Numbers that are not integers have no translation.
//!
//! Values of a state that is carried from one check to another are written and read differently: a string stays a string,
//! and a model value is a record with one field, whose name no record of a specification has.

use hashbrown::HashMap;
use omnilink_tla::config::Config;
use omnilink_tla::strings::{Str, Strings};
use omnilink_tla::value::{Model, Value};
use rustc_hash::FxBuildHasher;

/// Translates recorded values for one specification.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    models: HashMap<String, Model, FxBuildHasher>,
    pub(crate) nil: Option<Value>,
}

/// Why a recorded value has no translation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untranslatable {
    #[error("`{0}` is not an integer, and TLA+ has no other numbers here")]
    Float(String),
    #[error("`{0}` has more than 64 bits, and integers of TLA+ have no more here")]
    Big(String),
    #[error("the specification has nothing that stands for no value")]
    Nil,
    #[error("{0}")]
    Mixed(String),
}

impl Values {
    /// Collects the model values of a configuration.
    pub(crate) fn new(config: &Config, strings: &Strings) -> Values {
        Values { models: config.models(strings), nil: None }
    }

    /// Translates a recorded value.
    pub(crate) fn translate(
        &self,
        value: &omnilink_history::Value,
        strings: &Strings,
    ) -> Result<Value, Untranslatable> {
        Ok(match value {
            omnilink_history::Value::Nil => self.nil.clone().ok_or(Untranslatable::Nil)?,
            omnilink_history::Value::Bool(truth) => Value::Bool(*truth),
            omnilink_history::Value::Int(number) => Value::Int(*number),
            omnilink_history::Value::Big(_) => return Err(Untranslatable::Big(value.to_string())),
            omnilink_history::Value::Float(_) => return Err(Untranslatable::Float(value.to_string())),
            omnilink_history::Value::Str(text) => self.text(text, strings),
            omnilink_history::Value::Tuple(elements) => Value::seq(self.all(elements, strings)?),
            omnilink_history::Value::Set(set) => {
                Value::set(self.all(set.elements(), strings)?).map_err(|error| Untranslatable::Mixed(error.message))?
            }
            omnilink_history::Value::Function(function) => {
                let mut pairs = Vec::new();
                for (key, value) in function.pairs() {
                    // A field name is never a model value.
                    let key = match key {
                        omnilink_history::Value::Str(name) => Value::Str(strings.str(name)),
                        key => self.translate(key, strings)?,
                    };
                    pairs.push((key, self.translate(value, strings)?));
                }
                Value::pairs(pairs).map_err(|error| Untranslatable::Mixed(error.message))?
            }
        })
    }

    /// Translates a text: a model value if it is the name of one, otherwise a string.
    pub(crate) fn text(&self, text: &str, strings: &Strings) -> Value {
        match self.models.get(text) {
            Some(model) => Value::Model(*model),
            None => Value::Str(strings.str(text)),
        }
    }

    /// Translates the name of a process: a number if it is one, otherwise as a text.
    pub(crate) fn process(&self, name: &str, strings: &Strings) -> Value {
        match name.parse() {
            Ok(number) if !self.models.contains_key(name) => Value::Int(number),
            _ => self.text(name, strings),
        }
    }

    /// Reads a value that [`save`] wrote. `None` for anything else.
    pub(crate) fn load(&self, saved: &omnilink_history::Value, strings: &Strings) -> Option<Value> {
        let all = |elements: &[omnilink_history::Value]| -> Option<Vec<Value>> {
            elements.iter().map(|element| self.load(element, strings)).collect()
        };
        Some(match saved {
            omnilink_history::Value::Bool(truth) => Value::Bool(*truth),
            omnilink_history::Value::Int(number) => Value::Int(*number),
            omnilink_history::Value::Str(text) => Value::Str(strings.str(text)),
            omnilink_history::Value::Tuple(elements) => Value::seq(all(elements)?),
            omnilink_history::Value::Set(set) => Value::set(all(set.elements())?).ok()?,
            omnilink_history::Value::Function(function) => match function.pairs() {
                [(field, name)] if field.as_str() == Some(MODEL) => Value::Model(*self.models.get(name.as_str()?)?),
                pairs => {
                    let pair = |(key, value): &_| Some((self.load(key, strings)?, self.load(value, strings)?));
                    Value::pairs(pairs.iter().map(pair).collect::<Option<_>>()?).ok()?
                }
            },
            omnilink_history::Value::Nil | omnilink_history::Value::Big(_) | omnilink_history::Value::Float(_) => {
                return None;
            }
        })
    }

    fn all(&self, elements: &[omnilink_history::Value], strings: &Strings) -> Result<Vec<Value>, Untranslatable> {
        elements.iter().map(|element| self.translate(element, strings)).collect()
    }
}

/// The field of a record that stands for a model value.
const MODEL: &str = "model value";

/// A value for [`Values::load`]. `None` for a record with the field that model values have.
pub(crate) fn save(value: &Value, strings: &Strings) -> Option<omnilink_history::Value> {
    convert(value, strings, true)
}

/// A value as a recorder writes it: a model value is its name.
pub fn recorded(value: &Value, strings: &Strings) -> omnilink_history::Value {
    // Invariant: only values to load have a reserved field.
    convert(value, strings, false).expect("a value without reserved fields")
}

fn convert(value: &Value, strings: &Strings, is_to_load: bool) -> Option<omnilink_history::Value> {
    let all = |elements: &[Value]| -> Option<Vec<omnilink_history::Value>> {
        elements.iter().map(|element| convert(element, strings, is_to_load)).collect()
    };
    Some(match value {
        Value::Bool(truth) => omnilink_history::Value::Bool(*truth),
        Value::Int(number) => omnilink_history::Value::Int(*number),
        Value::Str(text) => omnilink_history::Value::str(strings.text(text)),
        Value::Model(model) => {
            let name = omnilink_history::Value::str(strings.text(&Str::Known(model.name)));
            if is_to_load { omnilink_history::Value::record([(MODEL, name)])? } else { name }
        }
        Value::Set(set) => omnilink_history::Value::set(all(set.elements())?),
        Value::Seq(seq) => omnilink_history::Value::tuple(all(seq.elements())?),
        Value::Fun(fun) => {
            let (keys, values) = (all(fun.domain().elements())?, all(fun.values())?);
            if is_to_load && keys.iter().any(|key| key.as_str() == Some(MODEL)) {
                return None;
            }
            omnilink_history::Value::function(keys.into_iter().zip(values))?
        }
    })
}

/// Interns all strings of a value, so that comparing them is cheap.
pub(crate) fn intern(value: &omnilink_history::Value, strings: &mut Strings) {
    match value {
        omnilink_history::Value::Str(text) => {
            strings.intern(text);
        }
        omnilink_history::Value::Tuple(elements) => elements.iter().for_each(|element| intern(element, strings)),
        omnilink_history::Value::Set(set) => set.elements().iter().for_each(|element| intern(element, strings)),
        omnilink_history::Value::Function(function) => {
            for (key, value) in function.pairs() {
                intern(key, strings);
                intern(value, strings);
            }
        }
        omnilink_history::Value::Nil
        | omnilink_history::Value::Bool(_)
        | omnilink_history::Value::Int(_)
        | omnilink_history::Value::Big(_)
        | omnilink_history::Value::Float(_) => {}
    }
}
