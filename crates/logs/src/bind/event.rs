//! The meaning of one event: the rules that fit it, and their effects.

use std::sync::Arc;

use omnilink_history::format::json::Json;
use omnilink_tla::error::ErrorKind;
use omnilink_tla::ir::VarId;
use omnilink_tla::machine::At;
use omnilink_tla::value::Value;
use omnilink_validate::Problem;
use smallvec::SmallVec;

use super::{Alternative, Binder, BoundArg, Context, Event, Open, Raw, Slot, Steps, find};
use crate::mapping::{self, Arg, Expr, Meaning, Param, Source};
use crate::order::Clock;
use crate::problem::Failure;
use crate::update::Update;

impl<'m> Binder<'m, '_> {
    /// The event of a line, with the step of its span before it, if there is one.
    pub(super) fn event(
        &mut self,
        raw: &Raw<'_>,
        open: &mut Vec<Open>,
        place: usize,
    ) -> Result<(Vec<Event>, Vec<Clock>), Failure> {
        let context = Arc::new(self.context(raw, None));
        let clock = self.clock(raw, &context)?;
        let fitting = self.fitting(raw, &context)?;
        let (spans, rules): (Vec<_>, Vec<_>) = fitting.into_iter().partition(|rule| rule.span.is_some());
        let name = raw.name.as_deref().unwrap_or_default();
        let begins =
            self.mapping.rules.iter().any(|rule| rule.span.as_ref().is_some_and(|(from, _)| from.contains(name)));
        let is_boundary = begins || !spans.is_empty();
        let mut events = Vec::new();
        let mut clocks = Vec::new();
        if let Some((from, keys)) = spans.first().and_then(|rule| rule.span.as_ref()) {
            let key_of = |json: &Json| keys.iter().map(|key| key.find(json).cloned()).collect::<Vec<Option<Json>>>();
            let key = key_of(raw.root);
            let is_begin =
                |open: &Open| open.process == raw.process && from.contains(&open.name) && key_of(&open.root) == key;
            let Some(found) = open.iter().rposition(is_begin) else {
                let message = format!("{}: no event before it begins the span that it ends", self.place(raw.line));
                return Err(Problem::new(message).into());
            };
            let begin = open.remove(found);
            let value = self.translate(&begin.root);
            let inner = Arc::new(Context { begin: Some(value), ..(*context).clone() });
            let updates = self.updates(raw)?;
            events.push(self.bound_event(raw, &inner, &spans, false, updates)?);
            clocks.push(Clock {
                process: raw.process,
                after: Some(begin.place),
                before: Some(place + 1),
                ..Clock::default()
            });
        }
        let updates = if events.is_empty() { self.updates(raw)? } else { Vec::new() };
        let own = place + events.len();
        events.push(self.bound_event(raw, &context, &rules, is_boundary, updates)?);
        clocks.push(clock);
        if begins {
            open.push(Open { place: own, process: raw.process, name: name.to_owned(), root: raw.root.clone() });
        }
        Ok((events, clocks))
    }

    /// An event with the meaning that rules give it.
    pub(super) fn bound_event(
        &mut self,
        raw: &Raw<'_>,
        context: &Arc<Context>,
        rules: &[&mapping::Rule],
        is_boundary: bool,
        updates: Vec<(VarId, Vec<Update>)>,
    ) -> Result<Event, Failure> {
        let mut alternatives: Vec<Alternative> = Vec::new();
        let mut extra = Alternative::skip();
        let skip = &self.mapping.settings.skip;
        match &raw.name {
            Some(name) if skip.contains(name) => alternatives.push(Alternative::skip()),
            // The event may be any event, so it may be one that is not a step.
            None if !skip.0.is_empty() && rules.iter().all(|rule| rule.meaning == Meaning::Conditions) => {
                alternatives.extend([Alternative::new(Steps::Any), Alternative::skip()]);
            }
            _ => {}
        }
        for rule in rules {
            let bound = self.alternative(rule, context, raw)?;
            match rule.meaning {
                Meaning::Conditions => bound.into_iter().for_each(|bound| extra.conjoin(bound)),
                _ => {
                    for bound in bound {
                        match alternatives.iter_mut().find(|known| known.meaning == bound.meaning) {
                            Some(known) => known.conjoin(bound),
                            None => alternatives.push(bound),
                        }
                    }
                }
            }
        }
        if alternatives.is_empty() {
            alternatives.push(if is_boundary { Alternative::skip() } else { self.by_name(raw)? });
        }
        for alternative in &mut alternatives {
            alternative.conjoin(extra.clone());
            if let Steps::Action(action, args) = &alternative.meaning {
                let args = self.placed(*action, args, &alternative.args, raw)?;
                alternative.meaning = Steps::Action(*action, args);
            }
        }
        let mentions = self.mentions(raw, context, &alternatives);
        Ok(Event {
            file: raw.line.file,
            line: raw.line.number,
            name: raw.name.clone(),
            process: raw.process,
            args: self.shown_args(raw),
            fields: self.shown_fields(raw),
            alternatives,
            updates,
            kept: Vec::new(),
            mentions,
            context: context.clone(),
            paths: self.paths(raw),
        })
    }

    /// The values of arguments of unlogged steps that are paths.
    fn paths(&self, raw: &Raw<'_>) -> Vec<Vec<Option<Value>>> {
        let value = |source: &Source| match source {
            Source::Path(path, _) => find(path, raw.root, raw.line).map(|json| self.translate(json)),
            Source::Expr(_) => None,
        };
        let unlogged = self.mapping.unlogged.iter();
        unlogged.map(|steps| steps.args.iter().map(|(_, source)| value(source)).collect()).collect()
    }

    /// The values that an event mentions, those that they may be converted to, and those that its conditions expect.
    pub(super) fn mentions(&self, raw: &Raw<'_>, context: &Context, alternatives: &[Alternative]) -> Vec<Value> {
        let strings = &self.program.module.strings;
        let mut mentions = vec![self.translate(&raw.line.json)];
        mentions.extend(context.previous.iter().chain(&context.begin).cloned());
        let conditions = alternatives.iter().flat_map(|known| known.before.iter().chain(&known.after));
        mentions.extend(conditions.flat_map(|condition| &condition.expected).cloned());
        let mut index = 0;
        while index < mentions.len() {
            let converted = match &mentions[index] {
                Value::Int(number) => Some(Value::Str(strings.str(&number.to_string()))),
                Value::Str(text) => strings.text(text).parse().ok().map(Value::Int),
                _ => None,
            };
            for value in crate::values::parts(&mentions[index]).into_iter().chain(converted) {
                if !mentions.contains(&value) {
                    mentions.push(value);
                }
            }
            index += 1;
        }
        mentions.retain(|value| !matches!(value, Value::Set(_) | Value::Seq(_) | Value::Fun(_)));
        mentions
    }

    /// The rules that fit an event.
    pub(super) fn fitting(&mut self, raw: &Raw<'_>, context: &Context) -> Result<Vec<&'m mapping::Rule>, Failure> {
        let mut fitting = Vec::new();
        for rule in &self.mapping.rules {
            let is_named =
                rule.events.0.is_empty() || raw.name.as_deref().is_some_and(|name| rule.events.contains(name));
            let has_all = rule.has.iter().all(|path| find(path, raw.root, raw.line).is_some());
            if !is_named || !has_all {
                continue;
            }
            if let Some(when) = &rule.when {
                let Some(args) = self.when_args(when, rule, context, raw)? else { continue };
                match self.machine.apply_operator(when.def, &args, At::Nowhere) {
                    Ok(Value::Bool(true)) => {}
                    Ok(Value::Bool(false)) => continue,
                    Ok(other) => {
                        let shown = other.display(&self.program.module.strings).to_string();
                        let problem =
                            Problem::new(format!("`when` is {shown}, neither TRUE nor FALSE")).at(when.site, "");
                        return Err(problem.note(self.place(raw.line)).into());
                    }
                    // The rule does not mean a line without the field.
                    Err(error) if error.kind == ErrorKind::OutsideDomain => continue,
                    Err(error) => {
                        return Err(Failure::Evaluation { error, note: Some(self.place(raw.line)) });
                    }
                }
            }
            fitting.push(rule);
        }
        Ok(fitting)
    }

    /// The arguments of `when`; `None` if the line lacks one.
    pub(super) fn when_args(
        &mut self,
        when: &Expr,
        rule: &mapping::Rule,
        context: &Context,
        raw: &Raw<'_>,
    ) -> Result<Option<Vec<Value>>, Failure> {
        let mut args = Vec::new();
        for param in &when.params {
            let value = match param {
                Param::Event => context.event.clone(),
                Param::Previous => context.previous.clone(),
                Param::Begin => context.begin.clone(),
                Param::Boot => None,
                Param::Field(name) => raw.root.field(name).map(|json| self.translate(json)),
                Param::Name(name) => match rule.names.iter().find(|(known, _)| known == name) {
                    Some((_, source)) => Some(self.source(source, context, raw, &[])?),
                    None => None,
                },
            };
            match value {
                Some(value) => args.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(args))
    }

    /// The alternatives of a rule: one for each of its actions or sequences.
    pub(super) fn alternative(
        &mut self,
        rule: &mapping::Rule,
        context: &Context,
        raw: &Raw<'_>,
    ) -> Result<Vec<Alternative>, Failure> {
        let mut names: Vec<(String, Slot)> = Vec::new();
        for (name, source) in &rule.names {
            names.push((name.clone(), Slot::Value(self.source(source, context, raw, &[])?)));
        }
        let mut args: Vec<(String, BoundArg)> = Vec::new();
        for (name, arg) in &rule.args {
            match arg {
                Arg::Value(source) => {
                    let value = self.source(source, context, raw, &names)?;
                    names.push((name.clone(), Slot::Value(value.clone())));
                    args.push((name.clone(), BoundArg::Value(value)));
                }
                Arg::Chosen { .. } => names.push((name.clone(), Slot::Chosen(name.clone()))),
            }
        }
        for (name, arg) in &rule.args {
            if let Arg::Chosen { set, filter } = arg {
                let set = self.expr(set, context, raw, &names)?;
                let filter = filter.as_ref().map(|filter| self.expr(filter, context, raw, &names)).transpose()?;
                args.push((name.clone(), BoundArg::Chosen { set, filter }));
            }
        }
        let mut bound = Alternative::new(Steps::Skip);
        for condition in &rule.before {
            bound.before.push(self.condition(condition, context, raw, &names)?);
        }
        for condition in &rule.after {
            bound.after.push(self.condition(condition, context, raw, &names)?);
        }
        bound.steps.extend(rule.step.as_ref().map(|step| self.expr(step, context, raw, &names)).transpose()?);
        bound.until = rule.until.as_ref().map(|until| self.expr(until, context, raw, &names)).transpose()?;
        bound.args = args;
        let steps = match &rule.meaning {
            Meaning::Conditions | Meaning::Skip => vec![Steps::Skip],
            Meaning::Actions(actions) => {
                let mut steps = Vec::new();
                for action in actions {
                    let action = self.action(action, raw)?;
                    let params = self.actions[action].params.len();
                    steps.push(Steps::Action(action, SmallVec::from_elem(None, params)));
                }
                steps
            }
            Meaning::Sequences(sequences) => {
                let mut steps = Vec::new();
                for sequence in sequences {
                    let actions =
                        sequence.iter().map(|action| self.any_action(action, raw)).collect::<Result<_, _>>()?;
                    steps.push(Steps::Sequence(actions));
                }
                steps
            }
            Meaning::Repeat(action) => vec![Steps::Repeat(self.any_action(action, raw)?)],
        };
        Ok(steps.into_iter().map(|meaning| Alternative { meaning, ..bound.clone() }).collect())
    }

    /// The arguments of an event for display.
    pub(super) fn shown_args(&self, raw: &Raw<'_>) -> Vec<(String, String)> {
        match self.mapping.args.as_ref().and_then(|path| find(path, raw.root, raw.line)) {
            None => Vec::new(),
            Some(Json::Array(values)) => values.iter().map(|value| (String::new(), value.to_string())).collect(),
            Some(Json::Object(fields)) => {
                fields.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
            }
            Some(other) => vec![(String::new(), other.to_string())],
        }
    }

    /// The other fields of an event for display.
    pub(super) fn shown_fields(&self, raw: &Raw<'_>) -> Vec<(String, String)> {
        let shown = [&self.mapping.event, &self.mapping.process, &self.mapping.args];
        let is_shown = |name: &str| shown.into_iter().flatten().any(|path| path.to_string() == name);
        let Json::Object(fields) = raw.root else { return Vec::new() };
        let fields = fields.iter().filter(|(name, _)| !is_shown(name));
        fields.map(|(name, value)| (name.clone(), value.to_string())).collect()
    }
}
