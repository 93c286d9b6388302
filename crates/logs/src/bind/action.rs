//! The actions of events and of unlogged steps, and their arguments.

use omnilink_history::format::json::Json;
use omnilink_tla::program::Operation;
use omnilink_validate::Problem;
use smallvec::SmallVec;

use super::{Alternative, Args, Binder, BoundArg, BoundUnlogged, Raw, Steps, find};
use crate::problem::Failure;

impl<'m> Binder<'m, '_> {
    /// The arguments of an action by place, as far as they are known before the search.
    pub(super) fn placed(
        &mut self,
        action: usize,
        known: &Args,
        args: &[(String, BoundArg)],
        raw: &Raw<'_>,
    ) -> Result<Args, Failure> {
        let operation = self.actions[action].clone();
        let mut placed: Args = known.clone();
        for (name, arg) in args {
            let Some(place) = operation.params.iter().position(|param| param.name == *name) else {
                let names = operation.params.iter().map(|param| param.name.as_str());
                let problem = Problem::new(format!("the action `{}` has no parameter `{name}`", operation.name));
                let hint = omnilink_suggest::hint(name, names);
                return Err(problem.help(hint).into());
            };
            if let BoundArg::Value(value) = arg {
                placed[place] = Some(value.clone());
            }
        }
        self.admit(&operation, &placed, raw)?;
        Ok(placed)
    }

    /// Checks arguments against the constant sets that `Next` takes them from.
    pub(super) fn admit(&mut self, operation: &Operation, args: &Args, raw: &Raw<'_>) -> Result<(), Failure> {
        let refused = match self.machine.admits(operation, args) {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(place)) => place,
            Err(error) => return Err(Failure::Evaluation { error, note: Some(self.place(raw.line)) }),
        };
        let strings = &self.program.module.strings;
        let value = args.get(refused).and_then(Option::as_ref).map(|value| value.display(strings).to_string());
        let param = operation.params.get(refused);
        let name = param.map_or("", |param| &param.name);
        let set = param.and_then(|param| param.set.as_ref());
        let message = format!(
            "{}: `{}` of `{}` is {}, which is not an element of {}",
            self.place(raw.line),
            name,
            operation.name,
            value.unwrap_or_default(),
            set.map_or("its set".to_owned(), |(text, _)| format!("`{text}`")),
        );
        let problem = Problem::new(message)
            .help("`[log.constants]` takes the values of constants from the log or from a file beside it".to_owned());
        Err(set.map_or(problem.clone(), |(_, site)| problem.at(*site, "")).into())
    }

    /// The action of an event without a rule.
    pub(super) fn by_name(&mut self, raw: &Raw<'_>) -> Result<Alternative, Failure> {
        let Some(name) = &raw.name else { return Ok(Alternative::new(Steps::Any)) };
        let action = self.action(name, raw)?;
        let operation = &self.actions[action];
        let mut args: Args = SmallVec::from_elem(None, operation.params.len());
        let found = self.mapping.args.as_ref().and_then(|path| find(path, raw.root, raw.line));
        match found {
            None => {}
            Some(Json::Array(values)) if values.len() <= args.len() => {
                for (arg, json) in args.iter_mut().zip(values) {
                    *arg = Some(self.values.translate(json, &self.program.module.strings));
                }
            }
            Some(Json::Array(values)) => {
                let message = format!(
                    "{}: `{name}` has {} arguments, and the action has {} parameters",
                    self.place(raw.line),
                    values.len(),
                    args.len()
                );
                return Err(Problem::new(message).into());
            }
            Some(Json::Object(fields)) => {
                for (field, json) in fields {
                    let Some(place) = operation.params.iter().position(|param| param.name == *field) else {
                        let message =
                            format!("{}: the action `{name}` has no parameter `{field}`", self.place(raw.line));
                        return Err(Problem::new(message).into());
                    };
                    args[place] = Some(self.values.translate(json, &self.program.module.strings));
                }
            }
            Some(other) => {
                let message =
                    format!("{}: the arguments are {}, not an array or an object", self.place(raw.line), other.kind());
                return Err(Problem::new(message).into());
            }
        }
        Ok(Alternative::new(Steps::Action(action, args)))
    }

    /// The index of an action of the next-state relation.
    pub(super) fn action(&mut self, name: &str, raw: &Raw<'_>) -> Result<usize, Failure> {
        if let Some(known) = self.names.get(name) {
            return Ok(*known);
        }
        match self.program.operation(name) {
            Some(operation) => Ok(self.keep(name, operation)),
            None => {
                let known = crate::step_names(self.program);
                let help = omnilink_suggest::hint(name, known.iter().map(String::as_str))
                    .unwrap_or_else(|| format!("the actions are {}", known.join(", ")));
                let message = format!("{}: `{name}` is not an action of the specification", self.place(raw.line));
                let help = format!("{help}; a `[[log.rule]]` for it can name an action, or `skip = true`");
                Err(Problem::new(message).help(help).into())
            }
        }
    }

    /// The same for an operator that need not be part of the next-state relation.
    pub(super) fn any_action(&mut self, name: &str, raw: &Raw<'_>) -> Result<usize, Failure> {
        if let Some(known) = self.names.get(name) {
            return Ok(*known);
        }
        if let Some(operation) = self.program.operation(name) {
            return Ok(self.keep(name, operation));
        }
        match self.program.free_operation(name) {
            Some(operation) => Ok(self.keep(name, operation)),
            None => self.action(name, raw),
        }
    }

    pub(super) fn keep(&mut self, name: &str, operation: Operation) -> usize {
        let place = self.actions.len();
        self.names.insert(name.to_owned(), place);
        self.actions.push(operation);
        place
    }

    pub(super) fn unlogged(&mut self) -> Result<Vec<BoundUnlogged>, Failure> {
        let mut all = Vec::new();
        for unlogged in &self.mapping.unlogged {
            let mut actions = Vec::new();
            let (all_names, steps) = (self.program.operation_names(), crate::step_names(self.program));
            for pattern in &unlogged.actions {
                // A pattern means steps; a name may be that of any operator of `Next`.
                let known = if pattern.contains('*') { &steps } else { &all_names };
                let found: Vec<&String> =
                    known.iter().filter(|name| omnilink_settings::log::matches(pattern, name)).collect();
                for name in &found {
                    match (self.names.get(*name), self.program.operation(name)) {
                        (Some(place), _) => actions.push(*place),
                        (None, Some(operation)) => actions.push(self.keep(name, operation)),
                        (None, None) => {}
                    }
                }
                if found.is_empty() {
                    let hint = omnilink_suggest::hint(pattern, steps.iter().map(String::as_str));
                    let problem =
                        Problem::new(format!("the unlogged action `{pattern}` is not an action of the specification"));
                    return Err(problem.help(hint).into());
                }
            }
            all.push(BoundUnlogged {
                actions,
                before: unlogged.before.clone(),
                args: unlogged.args.clone(),
                step: unlogged.step.clone(),
                max: unlogged.max,
                needed: unlogged.needed,
                only: None,
            });
        }
        Ok(all)
    }
}
