//! The text of a value: as TLC prints it, which is valid TLA+.

use std::fmt;

use super::{Fun, Value};
use crate::strings::Strings;

/// A value to be displayed.
#[derive(Debug, Clone, Copy)]
pub struct Displayed<'a> {
    value: &'a Value,
    strings: &'a Strings,
}

impl Value {
    /// Displays the value as TLC prints it.
    pub fn display<'a>(&'a self, strings: &'a Strings) -> Displayed<'a> {
        Displayed { value: self, strings }
    }
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::Bool(true) => f.write_str("TRUE"),
            Value::Bool(false) => f.write_str("FALSE"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Str(string) => write!(f, "\"{}\"", escape(self.strings.text(string))),
            Value::Model(model) => f.write_str(self.strings.text(&crate::strings::Str::Known(model.name))),
            Value::Set(set) => self.row(f, "{", set.elements(), "}"),
            Value::Seq(seq) => self.row(f, "<<", seq.elements(), ">>"),
            Value::Fun(fun) => self.function(f, fun),
        }
    }
}

impl<'a> Displayed<'a> {
    fn row(&self, f: &mut fmt::Formatter<'_>, open: &str, values: &[Value], close: &str) -> fmt::Result {
        f.write_str(open)?;
        for (index, value) in values.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}", value.display(self.strings))?;
        }
        f.write_str(close)
    }

    fn function(&self, f: &mut fmt::Formatter<'_>, fun: &'a Fun) -> fmt::Result {
        let pairs = fun.domain().elements().iter().zip(fun.values());
        let names: Option<Vec<&str>> = fun.domain().elements().iter().map(|key| self.field_name(key)).collect();
        if let Some(names) = names {
            f.write_str("[")?;
            for (index, (name, value)) in names.iter().zip(fun.values()).enumerate() {
                let comma = if index > 0 { ", " } else { "" };
                write!(f, "{comma}{name} |-> {}", value.display(self.strings))?;
            }
            return f.write_str("]");
        }
        f.write_str("(")?;
        for (index, (key, value)) in pairs.enumerate() {
            let and = if index > 0 { " @@ " } else { "" };
            write!(f, "{and}{} :> {}", key.display(self.strings), value.display(self.strings))?;
        }
        f.write_str(")")
    }

    /// The text of a key that is valid as a field name.
    fn field_name(&self, key: &'a Value) -> Option<&'a str> {
        let Value::Str(string) = key else { return None };
        let text = self.strings.text(string);
        let is_name = text.chars().all(|c| c == '_' || c.is_alphanumeric())
            && text.chars().any(char::is_alphabetic)
            && (text.len() < 4 || !(text.starts_with("WF_") || text.starts_with("SF_")));
        is_name.then_some(text)
    }
}

/// Escapes a text for use in a string literal.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\u{c}' => escaped.push_str("\\f"),
            '\r' => escaped.push_str("\\r"),
            c => escaped.push(c),
        }
    }
    escaped
}
