//! Translates values of a log to values of a specification.
//!
//! Objects become records, arrays become sequences. A string becomes the value that the settings give it, or the model
//! value of that name, or itself. TLA+ has integers only: another number becomes a string with its digits, which can be
//! compared but not used in arithmetic.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use omnilink_history::format::json::Json;
use omnilink_settings::log::Form;
use omnilink_tla::config::Config;
use omnilink_tla::strings::Strings;
use omnilink_tla::value::{Model, Value};
use rustc_hash::FxBuildHasher;

/// Translates values for one specification.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    models: HashMap<String, Model, FxBuildHasher>,
    /// Strings that stand for other values.
    pub(crate) named: BTreeMap<String, Value>,
    /// The value of `null`.
    pub(crate) null: Option<Value>,
}

impl Values {
    /// Collects the model values of a configuration.
    pub(crate) fn new(config: &Config, strings: &Strings) -> Values {
        Values { models: config.models(strings), ..Values::default() }
    }

    /// The value of a part of a line. An array of different kinds of values is a sequence all the same.
    pub(crate) fn translate(&self, json: &Json, strings: &Strings) -> Value {
        match json {
            Json::Null => self.null.clone().unwrap_or_else(|| Value::Str(strings.str("null"))),
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(omnilink_history::Value::Int(number)) => Value::Int(*number),
            Json::Number(other) => Value::Str(strings.str(&other.to_string())),
            Json::Text(text) => self.text(text, strings),
            Json::Array(elements) => {
                Value::seq(elements.iter().map(|element| self.translate(element, strings)).collect())
            }
            Json::Object(fields) => {
                let field = |(name, value): &(String, Json)| (strings.str(name), self.translate(value, strings));
                Value::record(fields.iter().map(field).collect())
            }
        }
    }

    fn text(&self, text: &str, strings: &Strings) -> Value {
        match (self.named.get(text), self.models.get(text)) {
            (Some(value), _) => value.clone(),
            (None, Some(model)) => Value::Model(*model),
            (None, None) => Value::Str(strings.str(text)),
        }
    }

    /// A value in another form; `Err` says why it has none.
    pub(crate) fn shaped(&self, value: Value, form: Form, strings: &Strings) -> Result<Value, String> {
        let set = |value: &Value| match value {
            Value::Seq(elements) => Value::set(elements.elements().to_vec()).map_err(|error| error.message),
            other => Err(format!("expected an array, found {}", other.kind_name())),
        };
        match (form, &value) {
            (Form::Set, _) => set(&value),
            (Form::TupleOfSets, Value::Seq(elements)) => {
                Ok(Value::seq(elements.elements().iter().map(set).collect::<Result<_, _>>()?))
            }
            (Form::TupleOfSets, other) => Err(format!("expected an array of arrays, found {}", other.kind_name())),
            (Form::Number, Value::Str(text)) => {
                let text = strings.text(text);
                text.parse().map(Value::Int).map_err(|_| format!("`{text}` is not an integer"))
            }
            (Form::Number, Value::Int(_)) => Ok(value),
            (Form::Number, other) => Err(format!("expected a number, found {}", other.kind_name())),
            (Form::String, Value::Int(number)) => Ok(self.text(&number.to_string(), strings)),
            (Form::String, _) => Ok(value),
            (Form::Function, _) => {
                let (Some(domain), Some(values)) = (value.function_domain(), value.function_values()) else {
                    return Err(format!("expected an object, found {}", value.kind_name()));
                };
                let key = |key: &Value| match key {
                    Value::Str(text) => match strings.text(text).parse() {
                        Ok(number) => Ok(Value::Int(number)),
                        Err(_) => Err(format!("the key `{}` is not an integer", strings.text(text))),
                    },
                    other => Ok(other.clone()),
                };
                let pairs = domain.elements().iter().zip(values).map(|(k, value)| Ok((key(k)?, value.clone())));
                Value::pairs(pairs.collect::<Result<_, String>>()?).map_err(|error| error.message)
            }
        }
    }
}

/// Interns all strings of a line, so that comparing them is cheap.
pub(crate) fn intern(json: &Json, strings: &mut Strings) {
    match json {
        Json::Text(text) => drop(strings.intern(text)),
        Json::Array(elements) => elements.iter().for_each(|element| intern(element, strings)),
        Json::Object(fields) => {
            for (name, value) in fields {
                strings.intern(name);
                intern(value, strings);
            }
        }
        Json::Number(number @ (omnilink_history::Value::Big(_) | omnilink_history::Value::Float(_))) => {
            strings.intern(&number.to_string());
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// The direct parts of a value, including the domain of a sequence.
pub(crate) fn parts(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Model(_) => Vec::new(),
        Value::Set(set) => set.elements().to_vec(),
        Value::Seq(seq) => seq.elements().iter().cloned().chain((1..=seq.len() as i64).map(Value::Int)).collect(),
        Value::Fun(fun) => fun.domain().elements().iter().chain(fun.values()).cloned().collect(),
    }
}

/// A value with its strings in another table.
pub(crate) fn carry(value: &Value, from: &Strings, to: &mut Strings) -> Value {
    let mut all = |values: &[Value]| values.iter().map(|value| carry(value, from, to)).collect::<Vec<Value>>();
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Model(_) => value.clone(),
        Value::Str(text) => Value::Str(to.intern(from.text(text))),
        Value::Set(set) => Value::set(all(set.elements())).unwrap_or_else(|_| value.clone()),
        Value::Seq(seq) => Value::seq(all(seq.elements())),
        Value::Fun(fun) => {
            let (keys, values) = (all(fun.domain().elements()), all(fun.values()));
            Value::pairs(keys.into_iter().zip(values).collect()).unwrap_or_else(|_| value.clone())
        }
    }
}
