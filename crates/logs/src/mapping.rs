//! The mapping of the settings, resolved against a specification.
//!
//! Every expression of the mapping becomes an operator of the module, with parameters for the names that it uses: `e`, the
//! event; `prev`, the event before it of the same process; `begin`, the first event of a span; names of `let`; parameters
//! of the action; and fields of events that the specification does not define. So an expression is parsed and resolved
//! once, its errors have a place in the settings, and an event passes values.

use std::collections::{BTreeMap, BTreeSet};

use omnilink_history::format::json::Json;
use omnilink_settings::log::{self, Argument, Conditions, Form, Text};
use omnilink_tla::ir::{DefId, Module, VarId};
use omnilink_tla::resolve::{Excerpt, resolve_operator};
use omnilink_tla::source::{Site, SourceId};
use omnilink_tla_syntax::Span;
use omnilink_validate::Problem;

use crate::path::Path;
use crate::problem::Failure;

/// An operator made from an expression, and the names that it takes.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub(crate) def: DefId,
    pub(crate) params: Vec<Param>,
    pub(crate) site: Site,
}

/// A parameter of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Param {
    /// The event.
    Event,
    /// The event before it of the same process.
    Previous,
    /// The first event of a span.
    Begin,
    /// The last bootstrap event of each process.
    Boot,
    /// A name of `let`, or an argument of the action.
    Name(String),
    /// A field of the event.
    Field(String),
}

/// A value that an event has.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Path(Path, Site),
    Expr(Expr),
}

/// An expression of the specification and its value in the log.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub(crate) left: Expr,
    pub(crate) right: Source,
    pub(crate) form: Option<Form>,
    pub(crate) one_of: BTreeMap<String, Vec<String>>,
    /// The names that its right side may use.
    pub(crate) names: Vec<(String, Source)>,
}

/// The value of an argument.
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Value(Source),
    Chosen { set: Expr, filter: Option<Expr> },
}

/// The meaning of an event.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) events: log::Names,
    pub(crate) has: Vec<Path>,
    pub(crate) when: Option<Expr>,
    pub(crate) names: Vec<(String, Source)>,
    pub(crate) meaning: Meaning,
    pub(crate) args: Vec<(String, Arg)>,
    pub(crate) before: Vec<Condition>,
    pub(crate) after: Vec<Condition>,
    pub(crate) step: Option<Expr>,
    pub(crate) until: Option<Expr>,
    pub(crate) span: Option<(log::Names, Vec<Path>)>,
}

/// The step of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// None: the rule adds conditions to others.
    Conditions,
    /// The event is not a step.
    Skip,
    /// One of these actions.
    Actions(Vec<String>),
    /// One of these sequences of actions.
    Sequences(Vec<Vec<String>>),
    /// One or more steps of an action.
    Repeat(String),
}

/// Steps that are not in the log.
#[derive(Debug, Clone)]
pub(crate) struct Unlogged {
    pub(crate) actions: Vec<String>,
    pub(crate) before: log::Names,
    pub(crate) args: Vec<(String, Source)>,
    pub(crate) step: Option<Expr>,
    pub(crate) max: u32,
    pub(crate) needed: bool,
}

/// The mapping of a log to a specification.
#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    pub(crate) settings: log::Log,
    pub(crate) rules: Vec<Rule>,
    pub(crate) unlogged: Vec<Unlogged>,
    /// Expressions for strings of the log.
    pub(crate) values: Vec<(String, Expr)>,
    pub(crate) null: Option<Expr>,
    /// Conditions on the initial state.
    pub(crate) init: Vec<Condition>,
    /// Conditions on the initial state by the last bootstrap event of each process.
    pub(crate) bootstrap: Vec<Condition>,
    /// Variables that begin with other values.
    pub(crate) starts: Vec<(VarId, Expr)>,
    pub(crate) update: Vec<(String, VarId)>,
    pub(crate) complete: Vec<(VarId, Site)>,
    pub(crate) root: Option<Path>,
    pub(crate) event: Option<Path>,
    pub(crate) args: Option<Path>,
    pub(crate) process: Option<Path>,
    pub(crate) key: Option<Source>,
    /// Every path that the mapping reads.
    pub(crate) read: Vec<Path>,
}

/// The maximum number of unlogged steps before one event, unless the settings have another number.
const MOST_UNLOGGED: u32 = 64;

/// Resolves the expressions of a mapping.
pub(crate) struct Resolver<'a> {
    module: &'a mut Module,
    file: &'a str,
    name: &'a str,
    source: SourceId,
    /// The fields of events and of their lines.
    fields: BTreeSet<String>,
    /// The fields of lines that are not fields of events.
    outer: BTreeSet<String>,
    read: Vec<Path>,
}

impl Mapping {
    /// Resolves a mapping. `file` and `name` are the settings' text and its name; `events` are those of the log.
    pub(crate) fn new(
        settings: &log::Log,
        file: &str,
        name: &str,
        module: &mut Module,
        lines: &[&Json],
    ) -> Result<Mapping, Failure> {
        let root = path(settings.root.as_ref(), "root")?;
        let mut fields = BTreeSet::new();
        let mut outer = BTreeSet::new();
        for line in lines {
            let event = root.as_ref().map_or(Some(*line), |root| root.find(line));
            fields.extend(event.into_iter().flat_map(names_of));
            outer.extend(names_of(line));
        }
        let outer = outer.difference(&fields).cloned().collect();
        let source = module.sources.add(name, file);
        let mut resolver = Resolver { module, file, name, source, fields, outer, read: Vec::new() };
        resolver.mapping(settings, root)
    }
}

impl Mapping {
    /// The operators of all expressions that are evaluated in states.
    pub(crate) fn operators(&self) -> Vec<DefId> {
        let mut all: Vec<DefId> =
            self.unlogged.iter().filter_map(|unlogged| unlogged.step.as_ref()).map(|e| e.def).collect();
        for rule in &self.rules {
            let conditions = rule.before.iter().chain(&rule.after).map(|condition| condition.left.def);
            let steps = rule.step.iter().chain(&rule.until).map(|expr| expr.def);
            all.extend(conditions.chain(steps));
            for (_, arg) in &rule.args {
                if let Arg::Chosen { set, filter } = arg {
                    all.push(set.def);
                    all.extend(filter.as_ref().map(|filter| filter.def));
                }
            }
        }
        // Values of events are computed by the other expressions, which may compute with integers.
        let sources = self.rules.iter().flat_map(|rule| {
            let conditions = rule.before.iter().chain(&rule.after);
            let args = rule.args.iter().filter_map(|(_, arg)| match arg {
                Arg::Value(source) => Some(source),
                Arg::Chosen { .. } => None,
            });
            let names = rule.names.iter().map(|(_, source)| source);
            conditions
                .flat_map(|c| std::iter::once(&c.right).chain(c.names.iter().map(|(_, s)| s)))
                .chain(args)
                .chain(names)
        });
        let hidden = self.unlogged.iter().flat_map(|unlogged| &unlogged.args).map(|(_, source)| source);
        let sources = sources.chain(hidden);
        all.extend(sources.filter_map(|source| if let Source::Expr(expr) = source { Some(expr.def) } else { None }));
        all
    }
}

/// The names of the fields of an object.
fn names_of(json: &Json) -> Vec<String> {
    match json {
        Json::Object(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
        _ => Vec::new(),
    }
}

fn path(text: Option<&Text>, what: &str) -> Result<Option<Path>, Problem> {
    let Some(text) = text else { return Ok(None) };
    match Path::parse(&text.text) {
        Some(path) => Ok(Some(path)),
        None => Err(Problem::new(format!("`{what}` of `[log]` is not a path: `{}`", text.text))),
    }
}

impl Resolver<'_> {
    fn mapping(&mut self, settings: &log::Log, root: Option<Path>) -> Result<Mapping, Failure> {
        let event = path(settings.event.as_ref(), "event")?;
        let args = path(settings.args.as_ref(), "args")?;
        let process = self.known_path(settings.process.as_ref(), "process")?;
        let mut rules = Vec::new();
        for rule in &settings.rule {
            rules.push(self.rule(rule, &settings.state)?);
        }
        let mut unlogged = Vec::new();
        for steps in &settings.unlogged {
            unlogged.push(Unlogged {
                actions: steps.action.0.iter().map(|text| text.text.clone()).collect(),
                before: steps.before.clone(),
                args: self.names(&steps.args)?,
                step: self.optional(steps.step.as_ref(), &[])?,
                max: steps.max.unwrap_or(MOST_UNLOGGED),
                needed: steps.needed,
            });
        }
        let mut values = Vec::new();
        for (string, text) in &settings.values {
            values.push((string.clone(), self.expr(text, &[])?));
        }
        let null = self.optional(settings.null.as_ref(), &[])?;
        let init = self.conditions(&settings.init.is, &[])?;
        let bootstrap = self.conditions(&settings.init.state, &[])?;
        let mut starts = Vec::new();
        for (variable, text) in &settings.init.set {
            starts.push((self.variable(variable)?, self.expr(text, &["boot".to_owned()])?));
        }
        let mut update = Vec::new();
        for text in &settings.update {
            update.push((text.text.clone(), self.variable(text)?));
        }
        let mut complete = Vec::new();
        for text in &settings.complete {
            complete.push((self.variable(text)?, self.site(text)));
        }
        let order = &settings.order;
        let paths =
            [&order.time, &order.earliest, &order.latest, &order.vector, &order.lamport, &order.send, &order.receive];
        for text in paths.into_iter().flatten() {
            let path = self.known_path(Some(text), "order")?;
            self.read.extend(path);
        }
        let key = match &order.messages {
            Some(messages) => Some(self.source(&messages.key, &[])?),
            None => None,
        };
        self.read.extend([&event, &args, &process].into_iter().flatten().cloned());
        self.read.extend(settings.ignore.iter().filter_map(|text| Path::parse(text)));
        self.read.extend(settings.update.iter().filter_map(|text| Path::parse(&text.text)));
        let read = std::mem::take(&mut self.read);
        Ok(Mapping {
            settings: settings.clone(),
            rules,
            unlogged,
            values,
            null,
            init,
            bootstrap,
            starts,
            update,
            complete,
            root,
            event,
            args,
            process,
            key,
            read,
        })
    }

    fn rule(&mut self, rule: &log::Rule, bundles: &[log::Bundle]) -> Result<Rule, Failure> {
        let names = self.names(&rule.names)?;
        let args: Vec<String> = rule.args.keys().map(|text| text.text.clone()).collect();
        let scope: Vec<String> = names.iter().map(|(name, _)| name.clone()).chain(args).collect();
        let mut has = Vec::new();
        for text in &rule.has.0 {
            has.extend(self.known_path(Some(text), "has")?);
        }
        let mut resolved_args = Vec::new();
        for (name, arg) in &rule.args {
            let arg = match arg {
                Argument::Value(text) => Arg::Value(self.source(text, &names)?),
                Argument::Chosen { set, filter } => {
                    Arg::Chosen { set: self.expr(set, &scope)?, filter: self.optional(filter.as_ref(), &scope)? }
                }
            };
            resolved_args.push((name.text.clone(), arg));
        }
        let span = match &rule.span {
            None => None,
            Some(span) => {
                let mut keys = Vec::new();
                for text in &span.key {
                    keys.extend(self.known_path(Some(text), "span")?);
                }
                Some((span.from.clone(), keys))
            }
        };
        let meaning = self.meaning(rule)?;
        Ok(Rule {
            events: rule.event.clone(),
            has,
            when: self.optional(rule.when.as_ref(), &scope)?,
            meaning,
            before: self.all_conditions(&rule.before, bundles, &names)?,
            after: self.all_conditions(&rule.after, bundles, &names)?,
            step: self.optional(rule.step.as_ref(), &scope)?,
            until: self.optional(rule.until.as_ref(), &scope)?,
            args: resolved_args,
            names,
            span,
        })
    }

    fn meaning(&mut self, rule: &log::Rule) -> Result<Meaning, Problem> {
        let kinds = [
            rule.skip.then_some(("skip", Meaning::Skip)),
            (!rule.action.0.is_empty())
                .then(|| ("action", Meaning::Actions(rule.action.0.iter().map(|text| text.text.clone()).collect()))),
            (!rule.then.is_empty()).then(|| ("then", Meaning::Sequences(rule.then.clone()))),
            rule.repeat.as_ref().map(|text| ("repeat", Meaning::Repeat(text.text.clone()))),
        ];
        let mut kinds = kinds.into_iter().flatten();
        match (kinds.next(), kinds.next()) {
            (None, _) => Ok(Meaning::Conditions),
            (Some((_, meaning)), None) => Ok(meaning),
            (Some((first, _)), Some((second, _))) => {
                let place = rule.event.0.first().or(rule.when.as_ref());
                let problem = Problem::new(format!("a rule has both `{first}` and `{second}`"))
                    .help("an event is one of them; write two rules".to_owned());
                Err(place.map_or(problem.clone(), |place| problem.at(self.site(place), "")))
            }
        }
    }

    fn names(&mut self, names: &BTreeMap<Text, Text>) -> Result<Vec<(String, Source)>, Failure> {
        let mut resolved = Vec::new();
        for (name, text) in names {
            resolved.push((name.text.clone(), self.source(text, &[])?));
        }
        Ok(resolved)
    }

    /// The conditions of a list, or of the `[[log.state]]` with a name, which may name another one.
    fn all_conditions<'s>(
        &mut self,
        mut conditions: &'s Conditions,
        bundles: &'s [log::Bundle],
        names: &[(String, Source)],
    ) -> Result<Vec<Condition>, Failure> {
        let mut names = names.to_vec();
        let mut entered: Vec<&str> = Vec::new();
        loop {
            let name = match conditions {
                Conditions::List(list) => return self.conditions(list, &names),
                Conditions::Bundle(name) => name,
            };
            let Some(bundle) = bundles.iter().find(|bundle| bundle.name == name.text) else {
                let help = omnilink_suggest::hint(&name.text, bundles.iter().map(|bundle| bundle.name.as_str()));
                let problem = Problem::new(format!("no `[[log.state]]` has the name `{}`", name.text)).help(help);
                return Err(problem.at(self.site(name), "").into());
            };
            if entered.contains(&bundle.name.as_str()) {
                let problem = Problem::new(format!("the `[[log.state]]` `{}` contains itself", bundle.name));
                return Err(problem.at(self.site(name), "").into());
            }
            entered.push(&bundle.name);
            // The names of an inner one come first.
            let mut inner = self.names(&bundle.names)?;
            inner.append(&mut names);
            names = inner;
            conditions = &bundle.is;
        }
    }

    fn conditions(&mut self, list: &[log::Condition], names: &[(String, Source)]) -> Result<Vec<Condition>, Failure> {
        let scope: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
        let mut conditions = Vec::new();
        for log::Condition { left, right } in list {
            let form = match &right.form {
                None => None,
                Some(form) => {
                    let form = Form::by_name(form);
                    Some(form.map_err(|message| Problem::new(message).at(self.site(&right.value), ""))?)
                }
            };
            let left = self.expr(left, &scope)?;
            let source = self.source(&right.value, names)?;
            let names = names.to_vec();
            conditions.push(Condition { left, right: source, form, one_of: right.one_of.clone(), names });
        }
        Ok(conditions)
    }

    fn variable(&self, text: &Text) -> Result<VarId, Problem> {
        let mut variables = self.module.variables.iter();
        match variables.position(|variable| variable.name == text.text) {
            Some(place) => Ok(VarId(u32::try_from(place).unwrap_or(u32::MAX))),
            None => {
                let names = self.module.variables.iter().map(|variable| variable.name.as_str());
                let problem = Problem::new(format!("the specification has no variable `{}`", text.text));
                let hint = omnilink_suggest::hint(&text.text, names);
                Err(problem.help(hint).at(self.site(text), ""))
            }
        }
    }

    fn optional(&mut self, text: Option<&Text>, scope: &[String]) -> Result<Option<Expr>, Failure> {
        text.map(|text| self.expr(text, scope)).transpose()
    }

    /// A path that at least one event has.
    fn known_path(&self, text: Option<&Text>, what: &str) -> Result<Option<Path>, Problem> {
        let Some(path) = path(text, what)? else { return Ok(None) };
        let (Some(text), Some(first)) = (text, path.first()) else { return Ok(Some(path)) };
        if self.fields.is_empty() || self.fields.contains(first) || self.outer.contains(first) {
            return Ok(Some(path));
        }
        Err(self.unknown_field(first, text))
    }

    fn unknown_field(&self, field: &str, text: &Text) -> Problem {
        let known: Vec<&str> = self.fields.iter().chain(&self.outer).map(String::as_str).collect();
        let help = omnilink_suggest::hint(field, known.iter().copied());
        let help = help.unwrap_or_else(|| format!("the events have the fields {}", known.join(", ")));
        Problem::new(format!("no event has the field `{field}`")).at(self.site(text), "").help(help)
    }

    /// A value: a path of the event, or an expression.
    fn source(&mut self, text: &Text, names: &[(String, Source)]) -> Result<Source, Failure> {
        let scope: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
        // `e.a` and `e["a b"]`.
        let inside = |rest: &&str| rest.starts_with('[');
        let of_event = text.text.strip_prefix("e.").or_else(|| text.text.strip_prefix('e').filter(inside));
        let plain = of_event.unwrap_or(&text.text);
        if let Some(path) = Path::parse(plain)
            && let Some(first) = path.first()
            && !scope.iter().any(|name| name == first)
        {
            if self.fields.contains(first) || self.outer.contains(first) {
                self.read.push(path.clone());
                return Ok(Source::Path(path, self.site(text)));
            }
            let is_expression =
                self.module.names.contains_key(first) || matches!(first, "TRUE" | "FALSE" | "prev" | "begin");
            if !is_expression && !self.fields.is_empty() {
                return Err(self.unknown_field(first, text).into());
            }
        }
        Ok(Source::Expr(self.expr(text, &scope)?))
    }

    /// An expression.
    fn expr(&mut self, text: &Text, scope: &[String]) -> Result<Expr, Failure> {
        let used = identifiers(&text.text);
        self.read.extend(used.paths.iter().filter_map(|text| Path::parse(text)));
        let mut params = Vec::new();
        for name in &used.names {
            let param = match name.as_str() {
                "boot" if scope == ["boot"] => Param::Boot,
                name if scope.iter().any(|known| known == name) => Param::Name(name.to_owned()),
                "e" => Param::Event,
                "prev" => Param::Previous,
                "begin" => Param::Begin,
                name if self.fields.contains(name) && !self.is_defined(name) => {
                    self.read.extend(Path::parse(name));
                    Param::Field(name.to_owned())
                }
                _ => continue,
            };
            params.push((name.as_str(), param));
        }
        let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
        let excerpt = match text.offset(self.file) {
            Some(offset) => Excerpt { source: self.source, offset: u32::try_from(offset).unwrap_or_default() },
            None => Excerpt { source: self.module.sources.add(self.name, text.text.clone()), offset: 0 },
        };
        let def = resolve_operator(self.module, &names, &text.text, excerpt)?;
        let length = u32::try_from(text.text.len()).unwrap_or_default();
        let span = Span { start: excerpt.offset, end: excerpt.offset + length };
        let site = Site { source: excerpt.source, span };
        Ok(Expr { def, params: params.into_iter().map(|(_, param)| param).collect(), site })
    }

    fn is_defined(&self, name: &str) -> bool {
        let is_variable = self.module.variables.iter().any(|variable| variable.name == name);
        is_variable || self.module.names.contains_key(name)
    }

    /// The place of a text in the settings.
    fn site(&self, text: &Text) -> Site {
        let at = |byte: usize| u32::try_from(byte).unwrap_or_default();
        let span = match text.offset(self.file) {
            Some(offset) => Span { start: at(offset), end: at(offset + text.text.len()) },
            None => Span { start: at(text.place.start), end: at(text.place.end) },
        };
        Site { source: self.source, span }
    }
}

/// The names in a text of TLA+ that may be free in it, and the fields that it selects from the event.
#[derive(Debug, Default)]
pub(crate) struct Identifiers {
    pub(crate) names: BTreeSet<String>,
    /// `msg.term` for `e.msg.term`.
    pub(crate) paths: BTreeSet<String>,
}

/// Scans a text for names, except in strings, after a dot, and of fields in records.
pub(crate) fn identifiers(text: &str) -> Identifiers {
    let mut found = Identifiers::default();
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    let mut last = ' ';
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else if first == '\\' {
            // An operator such as `\in`.
            1 + rest[1..].find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len() - 1).max(1).min(rest.len() - 1)
        } else if is_start(first) {
            rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length.clamp(1, rest.len()));
        let follows = after.trim_start();
        let is_field_name = follows.starts_with("|->") || (follows.starts_with(':') && matches!(last, '[' | ','));
        if is_start(first) && last != '.' && last != '!' && !is_field_name {
            found.names.insert(word.to_owned());
            if word == "e" {
                let mut path = String::new();
                let mut tail = after;
                while let Some(next) = tail.strip_prefix('.') {
                    let end = next.find(|c: char| !is_part(c)).unwrap_or(next.len());
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(&next[..end]);
                    tail = &next[end..];
                }
                if !path.is_empty() {
                    found.paths.insert(path);
                }
            }
        }
        last = word.chars().next_back().filter(|c| !c.is_whitespace()).unwrap_or(last);
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let found = identifiers(text);
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        format!("{} | {}", list(&found.names), list(&found.paths))
    }

    #[test]
    fn names_of_expressions_are_found() {
        assert_eq!(check("e.msg.term + n - 1"), "e n | msg.term");
        assert_eq!(check(r#"[type |-> "x", to |-> nid] \in S"#), "S nid | ");
        assert_eq!(check(r"\A x \in Range(inbox[e.pkt.rcv]) : x.q # 0"), "Range e inbox x | pkt.rcv");
        assert_eq!(check("Net!Sent(m) /\\ x' = e.a[1].b"), "Net e m x | a");
    }
}
