//! Translates values of a trace to values of a specification.
//!
//! Integers, Booleans, tuples, sets, records and functions translate to themselves. A string that is the name of a
//! model value becomes that model value, because a trace cannot write one otherwise. The settings or the specification
//! define the value for `nil`. Numbers that are not integers have no translation.

use hashbrown::HashMap;
use omnilink_tla::config::Config;
use omnilink_tla::strings::Strings;
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

    fn all(&self, elements: &[omnilink_history::Value], strings: &Strings) -> Result<Vec<Value>, Untranslatable> {
        elements.iter().map(|element| self.translate(element, strings)).collect()
    }
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
