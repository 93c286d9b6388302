//! The configuration of an exported module: the user's constants, and nothing else of the user's configuration.
//!
//! The module defines each constant with a value from the trace, and each constant that TLC's configurations cannot
//! express: tuples and negative numbers.

use std::fmt::Write;

use omnilink_tla::config::{Assignment, Config, Literal, LiteralKind, Meaning};
use omnilink_tla::strings::Str;
use omnilink_tla::value::Value;

use super::literal::{Literals, model_constant};
use crate::problem::Problem;

/// The constants.
pub(super) struct Constants {
    /// Those that the module defines.
    pub(super) definitions: String,
    lines: Vec<String>,
}

impl Constants {
    pub(super) fn new(config: &Config, literals: &mut Literals<'_>) -> Result<Constants, Problem> {
        let mut constants = Constants { definitions: String::new(), lines: Vec::new() };
        for assignment in &config.constants {
            constants.add(assignment, literals)?;
        }
        if !constants.definitions.is_empty() {
            constants.definitions.insert_str(0, "\\* The constants.\n");
            constants.definitions.push('\n');
        }
        Ok(constants)
    }

    fn add(&mut self, assignment: &Assignment, literals: &mut Literals<'_>) -> Result<(), Problem> {
        let name = &assignment.name.text;
        let module = assignment.module.as_ref().map_or(String::new(), |module| format!("[{}]", module.text));
        let args = match &assignment.args {
            None => String::new(),
            Some(args) => {
                let args: Option<Vec<String>> = args.iter().map(|arg| configured(arg, literals)).collect();
                let args = args.ok_or_else(|| Problem::new(format!("TLC cannot read the arguments of `{name}`")))?;
                format!("({})", args.join(", "))
            }
        };
        let line = match &assignment.meaning {
            Meaning::Definition(other) => format!("{name}{args} <- {module}{}", other.text),
            Meaning::Value(literal) => match configured(literal, literals) {
                Some(text) => format!("{name}{args} = {module}{text}"),
                None => {
                    let value =
                        value(literal).map_err(|error| Problem::new(format!("the constant `{name}`: {error}")))?;
                    let text = literals.text(&value);
                    let text = text.map_err(|error| Problem::new(format!("the constant `{name}`: {error}")))?;
                    let own = format!("OL_Constant_{}", name.replace('!', "_"));
                    let _ = writeln!(self.definitions, "{own} == {text}");
                    format!("{name}{args} <- {module}{own}")
                }
            },
        };
        self.lines.push(line);
        Ok(())
    }

    /// The text of the configuration.
    pub(super) fn config(&self, literals: &Literals<'_>, invariant: &str, has_view: bool) -> String {
        let mut out = String::new();
        let models = literals.models.iter().map(|name| format!("{} = {name}", model_constant(name)));
        let lines: Vec<String> = self.lines.iter().cloned().chain(models).collect();
        if !lines.is_empty() {
            let _ = writeln!(out, "CONSTANTS\n    {}", lines.join("\n    "));
        }
        let _ = writeln!(out, "INIT OL_Init\nNEXT OL_Next\nINVARIANT {invariant}");
        if has_view {
            out.push_str("VIEW OL_View\n");
        }
        out
    }
}

/// The text of a value in a configuration, if TLC reads it there.
fn configured(literal: &Literal, literals: &Literals<'_>) -> Option<String> {
    Some(match &literal.kind {
        LiteralKind::Bool(true) => "TRUE".to_owned(),
        LiteralKind::Bool(false) => "FALSE".to_owned(),
        LiteralKind::Int(number) => i32::try_from(*number).ok().filter(|number| *number >= 0)?.to_string(),
        LiteralKind::Str(string) => format!("\"{}\"", literals.string(string)),
        LiteralKind::Model(model) => literals.string(&Str::Known(model.name)).to_owned(),
        LiteralKind::Set(elements) => {
            let elements: Option<Vec<String>> = elements.iter().map(|element| configured(element, literals)).collect();
            format!("{{{}}}", elements?.join(", "))
        }
        LiteralKind::Tuple(_) | LiteralKind::Computed(_) => return None,
    })
}

/// The value of a literal.
fn value(literal: &Literal) -> Result<Value, Box<omnilink_tla::error::EvalError>> {
    let all = |elements: &[Literal]| elements.iter().map(value).collect::<Result<Vec<Value>, _>>();
    Ok(match &literal.kind {
        LiteralKind::Bool(truth) => Value::Bool(*truth),
        LiteralKind::Int(number) => Value::Int(*number),
        LiteralKind::Str(string) => Value::Str(string.clone()),
        LiteralKind::Model(model) => Value::Model(*model),
        LiteralKind::Set(elements) => Value::set(all(elements)?)?,
        LiteralKind::Tuple(elements) => Value::seq(all(elements)?),
        LiteralKind::Computed(value) => value.clone(),
    })
}
