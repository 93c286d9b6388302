//! A mapping as data, for the oracle, and as the text of settings, for the crate.

use std::fmt::Write;

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
    /// Only before events whose field `flag` is true.
    pub(crate) is_flagged: bool,
    pub(crate) max: Option<u32>,
    pub(crate) needed: bool,
}

/// A mapping of logs to a specification.
pub(crate) struct Mapping {
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
    /// The settings.
    pub(crate) fn text(&self, spec: &Spec) -> String {
        let mut text = String::from("[log]\nevent = \"ev\"\nargs = \"args\"\n");
        let mut line = |line: String| writeln!(text, "{line}").expect("a string grows");
        let list = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        line(format!("update = [{}]\ncomplete = [{}]", list(&self.update), list(&self.complete)));
        if self.skips {
            line("skip = [\"Note\"]".to_owned());
        }
        if self.has_process {
            line("process = \"proc\"".to_owned());
        }
        let time = |uncertainty| match uncertainty {
            Uncertainty::None => "time = \"ts\"",
            Uncertainty::One => "time = \"ts\", uncertainty = \"1\"",
            Uncertainty::Field => "time = \"ts\", uncertainty = \"u\"",
        };
        match self.order {
            Order::File => {}
            Order::Time(uncertainty) => line(format!("order = {{ {} }}", time(uncertainty))),
            Order::Vector => line("order = { vector = \"vc\" }".to_owned()),
            Order::Messages => line("order = { send = \"snd\", receive = \"rcv\" }".to_owned()),
            Order::TimeAndMessages => {
                line(format!("order = {{ {}, send = \"snd\", receive = \"rcv\" }}", time(Uncertainty::One)));
            }
        }
        if let Some((left, right, _)) = spec.init.filter(|_| self.has_init) {
            line(format!("init = {{ '{left}' = '{right}' }}"));
        }
        for (place, field, condition) in [("before", "pre", self.before), ("after", "post", self.after)] {
            let Some(condition) = condition else { continue };
            let has = if condition.needs_who { format!("\"{field}\", \"who\"") } else { format!("\"{field}\"") };
            let words = condition.one_of.iter().map(|(word, values)| format!("{word} = [{}]", list(values)));
            let words: Vec<String> = words.collect();
            let right = match (condition.is_set, words.is_empty()) {
                (true, _) => format!("{{ field = \"{field}\", as = \"set\" }}"),
                (false, true) => format!("\"{field}\""),
                (false, false) => format!("{{ field = \"{field}\", in = {{ {} }} }}", words.join(", ")),
            };
            line(format!("[[log.rule]]\nhas = [{has}]\n{place} = {{ '{}' = {right} }}", condition.left));
        }
        if self.has_step {
            let (before, after, _) = spec.measure;
            line(format!("[[log.rule]]\nhas = \"d\"\nstep = '''{after} - {before} = e.d'''"));
        }
        for rule in &self.rules {
            line(format!("[[log.rule]]\nevent = \"{}\"", rule.event));
            if let Some(param) = rule.who {
                line(format!("args = {{ {param} = \"who\" }}"));
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
                        line(format!("until = '''{} = e.goal'''", spec.measure.1));
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
                line(format!("args = {{ {param} = \"who\" }}"));
            }
            if unlogged.is_flagged {
                line("step = 'e.flag'".to_owned());
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
