//! Explanations as text: one line for each part with its outcome, text and location, and the values inside it.

use std::fmt::Write;

use super::explain::{Attempt, Choice, Explanation, Part, PartOutcome};
use crate::ir::Module;
use crate::source::Site;
use crate::value::Value;

/// The maximum number of characters of an expression to show.
const MOST_CHARACTERS: usize = 60;

impl Explanation {
    /// The text of every attempt, the one that got furthest first.
    pub fn text(&self, module: &Module) -> String {
        let mut attempts: Vec<&Attempt> = self.attempts.iter().collect();
        attempts.sort_by_key(|attempt| (attempt.state.is_none(), usize::MAX - attempt.reached()));
        let mut text = String::new();
        for attempt in attempts {
            text += &attempt.text(module);
        }
        if self.is_truncated {
            text += "and more ways, not shown\n";
        }
        text
    }
}

impl Attempt {
    /// The path, and the outcome of each conjunct.
    pub fn text(&self, module: &Module) -> String {
        let mut text = String::new();
        let choices: Vec<String> = self.choices.iter().map(|choice| choice.text(module)).collect();
        let end = if self.state.is_some() { "leads to a state" } else { "leads nowhere" };
        let way = if choices.is_empty() { "the only way".to_owned() } else { choices.join(", ") };
        let _ = writeln!(text, "{way}: {end}");
        for part in &self.conjuncts {
            part.write(module, 1, false, &mut text);
        }
        text
    }
}

impl Choice {
    fn text(&self, module: &Module) -> String {
        match self {
            Choice::Disjunct(site) => words(module, *site),
            Choice::Binding { values, .. } => bindings(module, values),
        }
    }
}

impl Part {
    /// The part and everything inside it.
    pub fn text(&self, module: &Module) -> String {
        let mut text = String::new();
        self.write(module, 0, false, &mut text);
        text
    }

    /// If a sibling is false, the reasons for a true part are left out.
    fn write(&self, module: &Module, depth: usize, is_blamed: bool, text: &mut String) {
        let (indent, words) = ("  ".repeat(depth), words(module, self.site));
        let position = module.sources.start(self.site);
        let place = format!("{}:{}:{}", module.sources.get(self.site.source).name, position.line, position.column);
        let given = match self.bindings.is_empty() {
            true => String::new(),
            false => format!("  with {}", bindings(module, &self.bindings)),
        };
        let line = match &self.outcome {
            PartOutcome::Truth(true) => format!("true   {words}{given}  at {place}"),
            PartOutcome::Truth(false) => format!("false  {words}{given}  at {place}"),
            PartOutcome::Chose(truth) => {
                format!("{}  {words}{given}  at {place}, so", if *truth { "true " } else { "false" })
            }
            PartOutcome::NotReached => format!("-      {words}  not reached"),
            PartOutcome::Assigned(variable, value) => {
                let name = &module.variables[variable.0 as usize].name;
                format!("true   {words}  makes {name}' = {}", value.display(&module.strings))
            }
            PartOutcome::Error(error) => format!("error  {words}{given}  at {place}: {error}"),
            PartOutcome::Value(value) => format!("       {words} = {}{given}", value.display(&module.strings)),
            PartOutcome::Lazy(shown) => format!("       {words} = {shown}{given}"),
        };
        let _ = writeln!(text, "{indent}{line}");
        if !(is_blamed && matches!(self.outcome, PartOutcome::Truth(true))) {
            self.write_parts(module, depth + 1, text);
        }
    }

    fn is_false(&self) -> bool {
        matches!(self.outcome, PartOutcome::Truth(false))
    }

    fn write_parts(&self, module: &Module, depth: usize, text: &mut String) {
        let is_blamed = self.is_false() && self.parts.iter().any(Part::is_false);
        for part in self.parts.iter().filter(|part| !part.says_nothing(module)) {
            if part.site == self.site {
                // A definition without a name is shown by the text of its body.
                part.write_parts(module, depth, text);
            } else {
                part.write(module, depth, is_blamed, text);
            }
        }
    }

    /// Whether the value is the same as its text.
    fn says_nothing(&self, module: &Module) -> bool {
        match &self.outcome {
            PartOutcome::Value(value) => value.display(&module.strings).to_string() == words(module, self.site),
            _ => false,
        }
    }
}

fn bindings(module: &Module, values: &[(String, Value)]) -> String {
    let bound = values.iter().map(|(name, value)| format!("{name} = {}", value.display(&module.strings)));
    bound.collect::<Vec<_>>().join(", ")
}

/// The text at a location in one line, truncated if it is long.
fn words(module: &Module, site: Site) -> String {
    let words: Vec<&str> = module.sources.words(site).split_whitespace().collect();
    let words = words.join(" ");
    match words.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
