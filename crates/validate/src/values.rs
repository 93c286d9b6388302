//! From values of a recording to values of a specification.
//!
//! Integers, truth values, tuples, sets, records and functions are what they look like. A string that is the name of a
//! model value is that model value, since a recording cannot write one otherwise. No value is whatever the
//! specification says it is. A number that is not an integer is nothing in TLA+.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use tla::config::{Config, Literal, LiteralKind, Meaning};
use tla::strings::Strings;
use tla::value::{Model, Value};

/// Turns recorded values into values of one specification.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    models: HashMap<String, Model, FxBuildHasher>,
    pub(crate) nil: Option<Value>,
}

/// Why the specification has no value for a recorded one.
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
    /// Knows the model values that a configuration makes up.
    pub(crate) fn new(config: &Config, strings: &Strings) -> Values {
        let mut values = Values::default();
        for assignment in &config.constants {
            if let Meaning::Value(literal) = &assignment.meaning {
                values.collect(literal, strings);
            }
        }
        values
    }

    fn collect(&mut self, literal: &Literal, strings: &Strings) {
        match &literal.kind {
            LiteralKind::Model(model) => {
                let name = strings.text(&tla::strings::Str::Known(model.name)).to_owned();
                self.models.insert(name, *model);
            }
            LiteralKind::Set(elements) | LiteralKind::Tuple(elements) => {
                elements.iter().for_each(|element| self.collect(element, strings));
            }
            LiteralKind::Bool(_) | LiteralKind::Int(_) | LiteralKind::Str(_) | LiteralKind::Computed(_) => {}
        }
    }

    /// The value of the specification that a recorded one is.
    pub(crate) fn translate(&self, value: &history::Value, strings: &Strings) -> Result<Value, Untranslatable> {
        Ok(match value {
            history::Value::Nil => self.nil.clone().ok_or(Untranslatable::Nil)?,
            history::Value::Bool(truth) => Value::Bool(*truth),
            history::Value::Int(number) => Value::Int(*number),
            history::Value::Big(_) => return Err(Untranslatable::Big(value.to_string())),
            history::Value::Float(_) => return Err(Untranslatable::Float(value.to_string())),
            history::Value::Str(text) => self.text(text, strings),
            history::Value::Tuple(elements) => Value::seq(self.all(elements, strings)?),
            history::Value::Set(set) => {
                Value::set(self.all(set.elements(), strings)?).map_err(|error| Untranslatable::Mixed(error.message))?
            }
            history::Value::Function(function) => {
                let mut pairs = Vec::new();
                for (key, value) in function.pairs() {
                    // The name of a field is never a model value.
                    let key = match key {
                        history::Value::Str(name) => Value::Str(strings.str(name)),
                        key => self.translate(key, strings)?,
                    };
                    pairs.push((key, self.translate(value, strings)?));
                }
                Value::pairs(pairs).map_err(|error| Untranslatable::Mixed(error.message))?
            }
        })
    }

    /// The value that a text is, such as the name of a process.
    pub(crate) fn text(&self, text: &str, strings: &Strings) -> Value {
        match self.models.get(text) {
            Some(model) => Value::Model(*model),
            None => Value::Str(strings.str(text)),
        }
    }

    /// The value that a process is: a number if its name is one.
    pub(crate) fn process(&self, name: &str, strings: &Strings) -> Value {
        match name.parse() {
            Ok(number) if !self.models.contains_key(name) => Value::Int(number),
            _ => self.text(name, strings),
        }
    }

    fn all(&self, elements: &[history::Value], strings: &Strings) -> Result<Vec<Value>, Untranslatable> {
        elements.iter().map(|element| self.translate(element, strings)).collect()
    }
}

/// Adds every string in a value to the table, so that comparing it costs little.
pub(crate) fn intern(value: &history::Value, strings: &mut Strings) {
    match value {
        history::Value::Str(text) => {
            strings.intern(text);
        }
        history::Value::Tuple(elements) => elements.iter().for_each(|element| intern(element, strings)),
        history::Value::Set(set) => set.elements().iter().for_each(|element| intern(element, strings)),
        history::Value::Function(function) => {
            for (key, value) in function.pairs() {
                intern(key, strings);
                intern(value, strings);
            }
        }
        history::Value::Nil
        | history::Value::Bool(_)
        | history::Value::Int(_)
        | history::Value::Big(_)
        | history::Value::Float(_) => {}
    }
}
