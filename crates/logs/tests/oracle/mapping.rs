//! A mapping as data, for the oracle, and as the text of settings, for the crate.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use crate::specs::{Condition, Spec};

/// How the events of a log are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    File,
    Time(Uncertainty),
    Vector,
    Messages,
    TimeAndMessages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uncertainty {
    None,
    One,
    Field,
}

/// The meaning of events with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    Actions(Vec<&'static str>),
    Sequences(Vec<&'static [&'static str]>),
    Repeat { action: &'static str, has_goal: bool },
}

/// A rule for events of one name.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) event: String,
    pub(crate) meaning: Meaning,
    /// The parameter that the field `who` has the value of.
    pub(crate) who: Option<&'static str>,
}

/// Steps that are not in the log.
#[derive(Debug, Clone)]
pub(crate) struct Unlogged {
    pub(crate) actions: Vec<&'static str>,
    pub(crate) before: Vec<&'static str>,
    pub(crate) who: Option<&'static str>,
    /// Whether the argument is an expression and not a path.
    pub(crate) is_computed: bool,
    /// Only before events whose field `flag` is true.
    pub(crate) is_flagged: bool,
    pub(crate) max: Option<u32>,
    pub(crate) needed: bool,
}

/// Where a line has a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// `who`
    Plain,
    /// `["the who"]`
    Quoted,
    /// `box_who[2]`
    Indexed,
    /// `["in.ner"].who`
    Deep,
}

/// The fields that may be anywhere in a line.
pub(crate) const FIELDS: [&str; 14] =
    ["ev", "args", "proc", "ts", "u", "vc", "snd", "rcv", "who", "pre", "post", "d", "flag", "goal"];

/// A mapping of logs to a specification.
pub(crate) struct Mapping {
    /// The place of each of the fields.
    pub(crate) places: [Place; FIELDS.len()],
    pub(crate) update: Vec<&'static str>,
    pub(crate) complete: Vec<&'static str>,
    /// Whether events called `Note` are skipped.
    pub(crate) skips: bool,
    /// Whether events have a field for their process.
    pub(crate) has_process: bool,
    pub(crate) order: Order,
    pub(crate) before: Option<&'static Condition>,
    pub(crate) after: Option<&'static Condition>,
    /// Whether the field `d` is the difference that a step makes.
    pub(crate) has_step: bool,
    pub(crate) rules: Vec<Rule>,
    pub(crate) unlogged: Vec<Unlogged>,
    pub(crate) has_init: bool,
}

impl Mapping {
    fn place(&self, field: &str) -> Place {
        FIELDS.iter().position(|known| *known == field).map_or(Place::Plain, |index| self.places[index])
    }

    /// The path of a field.
    pub(crate) fn path(&self, field: &str) -> String {
        match self.place(field) {
            Place::Plain => field.to_owned(),
            Place::Quoted => format!("[\"the {field}\"]"),
            Place::Indexed => format!("box_{field}[2]"),
            Place::Deep => format!("[\"in.ner\"].{field}"),
        }
    }

    /// A field in an expression.
    fn expr(&self, field: &str) -> String {
        match self.place(field) {
            Place::Plain | Place::Indexed => format!("e.{}", self.path(field)),
            Place::Quoted | Place::Deep => format!("e{}", self.path(field)),
        }
    }

    /// A line with its fields at their places.
    pub(crate) fn dressed(&self, fields: Map<String, Json>) -> Json {
        let mut line = Map::new();
        let mut inner = Map::new();
        for (field, value) in fields {
            match self.place(&field) {
                Place::Plain => drop(line.insert(field, value)),
                Place::Quoted => drop(line.insert(format!("the {field}"), value)),
                Place::Indexed => drop(line.insert(format!("box_{field}"), json!([0, value]))),
                Place::Deep => drop(inner.insert(field, value)),
            }
        }
        if !inner.is_empty() {
            line.insert("in.ner".to_owned(), inner.into());
        }
        line.into()
    }

    /// The settings.
    pub(crate) fn text(&self, spec: &Spec) -> String {
        let mut text = format!("[log]\nevent = '{}'\nargs = '{}'\n", self.path("ev"), self.path("args"));
        let mut line = |line: String| writeln!(text, "{line}").expect("a string grows");
        let list = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        line(format!("update = [{}]\ncomplete = [{}]", list(&self.update), list(&self.complete)));
        if self.skips {
            line("skip = [\"Note\"]".to_owned());
        }
        if self.has_process {
            line(format!("process = '{}'", self.path("proc")));
        }
        let time = |uncertainty| match uncertainty {
            Uncertainty::None => format!("time = '{}'", self.path("ts")),
            Uncertainty::One => format!("time = '{}', uncertainty = \"1\"", self.path("ts")),
            Uncertainty::Field => format!("time = '{}', uncertainty = '{}'", self.path("ts"), self.path("u")),
        };
        let messages = format!("send = '{}', receive = '{}'", self.path("snd"), self.path("rcv"));
        match self.order {
            Order::File => {}
            Order::Time(uncertainty) => line(format!("order = {{ {} }}", time(uncertainty))),
            Order::Vector => line(format!("order = {{ vector = '{}' }}", self.path("vc"))),
            Order::Messages => line(format!("order = {{ {messages} }}")),
            Order::TimeAndMessages => line(format!("order = {{ {}, {messages} }}", time(Uncertainty::One))),
        }
        if let Some((left, right, _)) = spec.init.filter(|_| self.has_init) {
            line(format!("init = {{ '{left}' = '{right}' }}"));
        }
        for (place, field, condition) in [("before", "pre", self.before), ("after", "post", self.after)] {
            let Some(condition) = condition else { continue };
            let field = self.path(field);
            let who = if condition.needs_who { format!(", '{}'", self.path("who")) } else { String::new() };
            let words = condition.one_of.iter().map(|(word, values)| format!("{word} = [{}]", list(values)));
            let words: Vec<String> = words.collect();
            let right = match (condition.is_set, words.is_empty()) {
                (true, _) => format!("{{ field = '{field}', as = \"set\" }}"),
                (false, true) => format!("'{field}'"),
                (false, false) => format!("{{ field = '{field}', in = {{ {} }} }}", words.join(", ")),
            };
            let left = condition.left.replace("e.who", &self.expr("who"));
            line(format!("[[log.rule]]\nhas = ['{field}'{who}]\n{place} = {{ '{left}' = {right} }}"));
        }
        if self.has_step {
            let (before, after, _) = spec.measure;
            let (path, expr) = (self.path("d"), self.expr("d"));
            line(format!("[[log.rule]]\nhas = '{path}'\nstep = '''{after} - {before} = {expr}'''"));
        }
        for rule in &self.rules {
            line(format!("[[log.rule]]\nevent = \"{}\"", rule.event));
            if let Some(param) = rule.who {
                line(format!("args = {{ {param} = '{}' }}", self.path("who")));
            }
            match &rule.meaning {
                Meaning::Actions(actions) => line(format!("action = [{}]", list(actions))),
                Meaning::Sequences(all) => {
                    let all: Vec<String> = all.iter().map(|sequence| format!("[{}]", list(sequence))).collect();
                    line(format!("then = [{}]", all.join(", ")));
                }
                Meaning::Repeat { action, has_goal } => {
                    line(format!("repeat = \"{action}\""));
                    if *has_goal {
                        line(format!("until = '''{} = {}'''", spec.measure.1, self.expr("goal")));
                    }
                }
            }
        }
        for unlogged in &self.unlogged {
            line(format!("[[log.unlogged]]\naction = [{}]", list(&unlogged.actions)));
            if !unlogged.before.is_empty() {
                line(format!("before = [{}]", list(&unlogged.before)));
            }
            if let Some(param) = unlogged.who {
                let (path, expr) = (self.path("who"), self.expr("who"));
                let value = if unlogged.is_computed { format!("IF TRUE THEN {expr} ELSE {expr}") } else { path };
                line(format!("args = {{ {param} = '{value}' }}"));
            }
            if unlogged.is_flagged {
                line(format!("step = '{}'", self.expr("flag")));
            }
            if let Some(max) = unlogged.max {
                line(format!("max = {max}"));
            }
            if unlogged.needed {
                line("needed = true".to_owned());
            }
        }
        text
    }
}
