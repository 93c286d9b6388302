//! Values as TLA+ text that TLC reads.
//!
//! A model value has no name in a module unless a constant represents it, so each model value is collected, and the
//! module declares a constant for it. TLC has integers of 32 bits. A record is written by its fields if their names are
//! identifiers, and as a function otherwise.

use std::collections::BTreeSet;
use std::fmt::Write;

use omnilink_tla::strings::{Str, Strings};
use omnilink_tla::value::{Value, escape};

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} does not fit TLC's 32-bit integers")]
pub(super) struct TooLarge(pub(super) i64);

/// Writes values, and collects what the module around them needs.
pub(super) struct Literals<'s> {
    strings: &'s Strings,
    /// The names of model values that were written.
    pub(super) models: BTreeSet<String>,
    /// Whether a number below zero was written, for which a minus has to be defined.
    pub(super) has_negative: bool,
    /// Whether `:>` and `@@` were written.
    pub(super) has_functions: bool,
}

impl<'s> Literals<'s> {
    pub(super) fn new(strings: &'s Strings) -> Literals<'s> {
        Literals { strings, models: BTreeSet::new(), has_negative: false, has_functions: false }
    }

    /// The text of a string.
    pub(super) fn string<'a>(&'a self, string: &'a Str) -> &'a str {
        self.strings.text(string)
    }

    /// The text of a value.
    pub(super) fn text(&mut self, value: &Value) -> Result<String, TooLarge> {
        let mut text = String::new();
        self.write(value, &mut text)?;
        Ok(text)
    }

    fn write(&mut self, value: &Value, out: &mut String) -> Result<(), TooLarge> {
        match value {
            Value::Bool(true) => out.push_str("TRUE"),
            Value::Bool(false) => out.push_str("FALSE"),
            Value::Int(number) => {
                i32::try_from(*number).map_err(|_| TooLarge(*number))?;
                self.has_negative |= *number < 0;
                // A minus binds less tightly than some operators around it.
                let _ = if *number < 0 { write!(out, "({number})") } else { write!(out, "{number}") };
            }
            Value::Str(string) => {
                let _ = write!(out, "\"{}\"", escape(self.strings.text(string)));
            }
            Value::Model(model) => {
                let name = self.strings.text(&Str::Known(model.name)).to_owned();
                out.push_str(&model_constant(&name));
                self.models.insert(name);
            }
            Value::Set(set) => self.row("{", set.elements(), "}", out)?,
            Value::Seq(seq) => self.row("<<", seq.elements(), ">>", out)?,
            Value::Fun(fun) => {
                let keys = fun.domain().elements();
                let fields: Option<Vec<&str>> = keys.iter().map(|key| field_name(key, self.strings)).collect();
                let fields: Option<Vec<String>> = fields.map(|names| names.into_iter().map(str::to_owned).collect());
                self.has_functions |= fields.is_none();
                out.push_str(if fields.is_some() { "[" } else { "(" });
                for (index, value) in fun.values().iter().enumerate() {
                    match &fields {
                        Some(names) => {
                            out.push_str(if index > 0 { ", " } else { "" });
                            let _ = write!(out, "{} |-> ", names[index]);
                            self.write(value, out)?;
                        }
                        None => {
                            out.push_str(if index > 0 { " @@ (" } else { "(" });
                            self.write(&keys[index], out)?;
                            out.push_str(" :> ");
                            self.write(value, out)?;
                            out.push(')');
                        }
                    }
                }
                out.push_str(if fields.is_some() { "]" } else { ")" });
            }
        }
        Ok(())
    }

    fn row(&mut self, open: &str, values: &[Value], close: &str, out: &mut String) -> Result<(), TooLarge> {
        out.push_str(open);
        for (index, value) in values.iter().enumerate() {
            out.push_str(if index > 0 { ", " } else { "" });
            self.write(value, out)?;
        }
        out.push_str(close);
        Ok(())
    }
}

/// The constant that represents a model value.
pub(super) fn model_constant(name: &str) -> String {
    format!("OL_Model_{name}")
}

/// The text of a key that can be written as the name of a field. All words of the language are written in capitals.
fn field_name<'a>(key: &'a Value, strings: &'a Strings) -> Option<&'a str> {
    let Value::Str(string) = key else { return None };
    let text = strings.text(string);
    let is_name = text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        && text.contains(|c: char| c.is_ascii_lowercase())
        && !(text.starts_with("WF_") || text.starts_with("SF_"));
    is_name.then_some(text)
}

#[cfg(test)]
mod tests {
    use omnilink_tla::value::Model;

    use super::*;

    fn check(value: impl FnOnce(&mut Strings) -> Value) -> String {
        let mut strings = Strings::default();
        let value = value(&mut strings);
        let mut literals = Literals::new(&strings);
        match literals.text(&value) {
            Ok(text) => {
                let Literals { models, has_negative, has_functions, .. } = literals;
                let models = models.into_iter().map(|name| format!(" needs {name}")).collect::<String>();
                let negative = if has_negative { " needs -" } else { "" };
                let functions = if has_functions { " needs :> and @@" } else { "" };
                text + &models + negative + functions
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_are_written_as_tla() {
        let str = |strings: &mut Strings, text: &str| Value::Str(strings.intern(text));
        insta::assert_snapshot!(check(|_| Value::seq(vec![Value::Int(1), Value::Bool(true)])), @"<<1, TRUE>>");
        insta::assert_snapshot!(check(|_| Value::set(vec![Value::Int(-3), Value::Int(2)]).unwrap()), @"{(-3), 2} needs -");
        insta::assert_snapshot!(check(|strings| str(strings, "a\"b\\c\nd")), @r#""a\"b\\c\nd""#);
        insta::assert_snapshot!(check(|_| Value::pairs(vec![]).unwrap()), @"<<>>");
        insta::assert_snapshot!(check(|_| Value::pairs(vec![(Value::Int(7), Value::Int(8))]).unwrap()), @"((7 :> 8)) needs :> and @@");
        insta::assert_snapshot!(check(|_| Value::Int(1 << 31)), @"2147483648 does not fit TLC's 32-bit integers");
    }

    #[test]
    fn a_record_needs_fields_that_are_names() {
        let check = |name: &str| check(|strings| Value::record(vec![(strings.intern(name), Value::Int(1))]));
        insta::assert_snapshot!(check("key"), @"[key |-> 1]");
        insta::assert_snapshot!(check("two words"), @r#"(("two words" :> 1)) needs :> and @@"#);
        insta::assert_snapshot!(check("IN"), @r#"(("IN" :> 1)) needs :> and @@"#);
    }

    #[test]
    fn model_values_get_a_constant() {
        let model = |strings: &mut Strings| match strings.intern("p1") {
            Str::Known(name) => Value::Model(Model { name, class: 0 }),
            Str::Made(_) => unreachable!("it was just added"),
        };
        insta::assert_snapshot!(check(|strings| Value::seq(vec![model(strings)])), @"<<OL_Model_p1>> needs p1");
    }
}
