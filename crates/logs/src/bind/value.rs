//! The values of an event: of paths and expressions, in conditions and in updates.

use omnilink_history::format::json::Json;
use omnilink_tla::ir::VarId;
use omnilink_tla::machine::At;
use omnilink_tla::source::Site;
use omnilink_tla::value::Value;
use omnilink_validate::Problem;

use super::{Binder, BoundCondition, BoundExpr, Context, Event, Raw, Slot, find};
use crate::line::Line;
use crate::mapping::{self, Expr, Param, Source};
use crate::problem::Failure;
use crate::update::{Op, Update};

impl<'m> Binder<'m, '_> {
    pub(super) fn translate(&self, json: &Json) -> Value {
        self.values.translate(json, &self.program.module.strings)
    }

    /// The value of a source for an event.
    pub(super) fn source(
        &mut self,
        source: &Source,
        context: &Context,
        raw: &Raw<'_>,
        names: &[(String, Slot)],
    ) -> Result<Value, Failure> {
        match source {
            Source::Path(path, site) => match find(path, raw.root, raw.line) {
                Some(json) => Ok(self.translate(json)),
                None => {
                    let message = format!("{} has no field `{path}`", self.place(raw.line));
                    let help = format!("if it may be missing, add `has = \"{path}\"` to the rule");
                    Err(Problem::new(message).at(*site, "").help(help).into())
                }
            },
            Source::Expr(expr) => {
                let bound = self.expr(expr, context, raw, names)?;
                let args = bound.values(&[]);
                let value = self.machine.apply_operator(expr.def, &args, At::Nowhere);
                value.map_err(|error| Failure::Evaluation { error, note: Some(self.place(raw.line)) })
            }
        }
    }

    pub(super) fn expr(
        &mut self,
        expr: &Expr,
        context: &Context,
        raw: &Raw<'_>,
        names: &[(String, Slot)],
    ) -> Result<BoundExpr, Failure> {
        let missing = |what: &str, binder: &Self| {
            Problem::new(format!("{} has no {what}", binder.place(raw.line))).at(expr.site, "")
        };
        let mut args = Vec::new();
        for param in &expr.params {
            let slot = match param {
                Param::Event => Slot::Value(context.event.clone().ok_or_else(|| missing("event", self))?),
                Param::Previous => {
                    let previous = context.previous.clone();
                    Slot::Value(previous.ok_or_else(|| missing("event before it in its process", self))?)
                }
                Param::Begin => Slot::Value(context.begin.clone().ok_or_else(|| missing("first event", self))?),
                Param::Boot => return Err(missing("bootstrap event", self).into()),
                Param::Field(name) => match raw.root.field(name) {
                    Some(json) => Slot::Value(self.translate(json)),
                    None => return Err(missing(&format!("field `{name}`"), self).into()),
                },
                Param::Name(name) => match names.iter().find(|(known, _)| known == name) {
                    Some((_, slot)) => slot.clone(),
                    None => return Err(missing(&format!("`{name}`"), self).into()),
                },
            };
            args.push(slot);
        }
        Ok(BoundExpr { expr: expr.clone(), args })
    }

    pub(super) fn condition(
        &mut self,
        condition: &mapping::Condition,
        context: &Context,
        raw: &Raw<'_>,
        outer: &[(String, Slot)],
    ) -> Result<BoundCondition, Failure> {
        let mut names: Vec<(String, Slot)> = outer.to_vec();
        for (name, source) in &condition.names {
            if !names.iter().any(|(known, _)| known == name) {
                let value = self.source(source, context, raw, &[])?;
                names.push((name.clone(), Slot::Value(value)));
            }
        }
        let left = self.expr(&condition.left, context, raw, &names)?;
        let value = self.source(&condition.right, context, raw, &names)?;
        let (right, is_path) = match &condition.right {
            Source::Path(_, site) => (*site, true),
            Source::Expr(expr) => (expr.site, false),
        };
        let expected = self
            .expected(condition, value)
            .map_err(|message| Problem::new(format!("{}: {message}", self.place(raw.line))).at(right, ""))?;
        Ok(BoundCondition { left, expected, right, is_path })
    }

    /// A condition on the initial state that needs no event.
    pub(super) fn initial_condition(&mut self, condition: &mapping::Condition) -> Result<BoundCondition, Failure> {
        let line = Line { file: 0, number: 0, json: Json::Null };
        let raw = Raw { line: &line, root: &line.json, name: None, process: 0 };
        self.condition(condition, &Context::default(), &raw, &[])
    }

    /// The values that a value of the log stands for.
    pub(super) fn expected(&self, condition: &mapping::Condition, value: Value) -> Result<Vec<Value>, String> {
        let strings = &self.program.module.strings;
        if !condition.one_of.is_empty() {
            let shown = match &value {
                Value::Str(text) => strings.text(text).to_owned(),
                other => other.display(strings).to_string(),
            };
            let Some(values) = condition.one_of.get(&shown) else {
                let known: Vec<&str> = condition.one_of.keys().map(String::as_str).collect();
                return Err(format!("`{shown}` is not one of the values of `in`: {}", known.join(", ")));
            };
            return Ok(values.iter().map(|text| self.translate(&Json::Text(text.clone()))).collect());
        }
        Ok(vec![match condition.form {
            Some(form) => self.values.shaped(value, form, strings)?,
            None => value,
        }])
    }

    /// The changes of variables that an event logs.
    pub(super) fn updates(&self, raw: &Raw<'_>) -> Result<Vec<(VarId, Vec<Update>)>, Failure> {
        let mut updates = Vec::new();
        for (name, variable) in &self.mapping.update {
            let Some(json) = raw.root.field(name) else { continue };
            let wrong = |message: String| Problem::new(format!("{}: `{name}`: {message}", self.place(raw.line)));
            let Json::Array(operations) = json else {
                return Err(wrong(format!("expected an array of operations, found {}", json.kind())).into());
            };
            let mut changes = Vec::new();
            for operation in operations {
                let Some(Json::Text(op)) = operation.field("op") else {
                    return Err(wrong("an operation has no `op`".into()).into());
                };
                let (op, least) =
                    Op::by_name(op).map_err(|help| wrong(format!("unrecognized operation `{op}`")).help(help))?;
                let array = |field: &str| match operation.field(field) {
                    Some(Json::Array(values)) => values.iter().map(|json| self.translate(json)).collect(),
                    _ => Vec::new(),
                };
                let (path, args): (Vec<Value>, Vec<Value>) = (array("path"), array("args"));
                if args.len() < least {
                    return Err(wrong(format!("an operation has {} arguments, expected {least}", args.len())).into());
                }
                changes.push(Update { op, path, args });
            }
            updates.push((*variable, changes));
        }
        Ok(updates)
    }

    /// Marks the variables that each event leaves unchanged. A variable that no event mentions is not logged.
    pub(super) fn complete(&mut self, events: &mut [Event]) -> Vec<(VarId, Site)> {
        let mut complete = Vec::new();
        for &(variable, site) in &self.mapping.complete {
            let is_told = |event: &Event| event.updates.iter().any(|(told, _)| *told == variable);
            if !events.iter().any(is_told) {
                let name = &self.program.module.variables[variable.0 as usize].name;
                self.notes.push(format!("no event logs `{name}`, so OmniLink does not take it as complete"));
                continue;
            }
            complete.push((variable, site));
            for event in events.iter_mut() {
                if !event.updates.iter().any(|(told, _)| *told == variable) {
                    event.kept.push(variable);
                }
            }
        }
        complete
    }
}
