//! The parts of a specification that histories exercised.
//!
//! An accepted history says nothing about an action that never happened, nor about a guard that was never false. So
//! operations are counted by action, and the parts of an action by how often each was taken and how often it disabled a
//! step, in the order of operations that a check found. The counts of several histories add up.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

use crate::wording::{brief, count, number, pad};

/// The exercised parts of a specification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// The actions of the specification, or the operations of a built-in one.
    pub actions: Vec<CoveredAction>,
    /// The number of operations, of any action.
    pub operations: u64,
    /// The number of operations that concern the specification: an operation that failed had no effect.
    pub relevant: u64,
    /// The number of steps examined. Parts of actions are counted for these.
    pub steps: u64,
    /// True if some steps were not examined.
    pub is_cut_off: bool,
}

/// The exercised parts of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredAction {
    /// Its name.
    pub name: String,
    /// The number of operations recorded as this action.
    pub operations: u64,
    /// The number of its steps.
    pub steps: u64,
    /// True if no operation records it.
    pub is_internal: bool,
    /// Its guards, branches and conditions.
    pub parts: Vec<CoveredPart>,
}

/// How often a part of an action was true and false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredPart {
    /// Its kind.
    pub kind: PartKind,
    /// Its file.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// Its source text, on one line.
    pub text: String,
    /// How often a step passed through it: a guard or condition was true, a branch led to a state.
    pub taken: u64,
    /// How often it was false for an operation that had begun.
    pub refused: u64,
}

/// The kind of a part of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// A conjunct about the state before the step.
    Guard,
    /// An alternative of a disjunction.
    Branch,
    /// The condition of `IF` or of an arm of `CASE`.
    Condition,
}

/// The maximum width of a part's text in the table.
const WIDTH: usize = 80;

/// The maximum number of parts listed per kind.
const MOST_LISTED: usize = 12;

impl Coverage {
    /// Adds the coverage of another history of the same specification.
    pub fn add(&mut self, other: &Coverage) {
        self.operations += other.operations;
        self.relevant += other.relevant;
        self.steps += other.steps;
        self.is_cut_off |= other.is_cut_off;
        for action in &other.actions {
            match self.actions.iter_mut().find(|known| known.name == action.name) {
                Some(known) => known.add(action),
                None => self.actions.push(action.clone()),
            }
        }
    }

    /// The actions that operations can be recorded as, but none was.
    pub fn never_seen(&self) -> impl Iterator<Item = &CoveredAction> {
        self.actions.iter().filter(|action| action.operations == 0 && !action.is_internal)
    }

    /// A table for people.
    pub fn text(&self) -> String {
        let width = self.actions.iter().map(|action| action.name.width()).max().unwrap_or(0).clamp(6, 32);
        let mut text = format!("  {}  operations   steps  branches   guards false\n", pad("action", width));
        for action in &self.actions {
            let operations = match action.is_internal {
                true => "internal".to_owned(),
                false => number(action.operations),
            };
            let branches = action.share(&[PartKind::Branch, PartKind::Condition], CoveredPart::is_exercised);
            let guards = action.share(&[PartKind::Guard], |part| part.refused > 0);
            let name = pad(&brief(&action.name, width), width);
            let steps = number(action.steps);
            let never = match action.operations + action.steps {
                0 => "  never seen",
                _ => "",
            };
            let _ = writeln!(text, "  {name}  {operations:>10}  {steps:>6}  {branches:>8}  {guards:>12}{never}");
        }
        let is_branch = |part: &CoveredPart| part.kind != PartKind::Guard;
        self.list(&mut text, "never taken", |part| is_branch(part) && part.taken == 0);
        self.list(&mut text, "never false", |part| {
            part.kind != PartKind::Branch && part.refused == 0 && part.taken > 0
        });
        if self.is_cut_off {
            let _ = writeln!(text, "  (branches and guards of the first {})", count(self.steps, "step"));
        }
        text
    }

    /// Lists the parts of exercised actions that satisfy a predicate.
    fn list(&self, text: &mut String, title: &str, is_meant: impl Fn(&CoveredPart) -> bool) {
        let seen = self.actions.iter().filter(|action| action.steps > 0);
        let parts = seen.flat_map(|action| action.parts.iter().map(move |part| (action, part)));
        let parts: Vec<_> = parts.filter(|(_, part)| is_meant(part)).collect();
        if parts.is_empty() {
            return;
        }
        let _ = writeln!(text, "  {title}");
        for (action, part) in parts.iter().take(MOST_LISTED) {
            let place = format!("    {}:{}:{}: {}: ", part.path, part.line, part.column, action.name);
            let room = WIDTH.saturating_sub(place.width()).max(20);
            let _ = writeln!(text, "{place}{}", brief(&part.text, room));
        }
        if parts.len() > MOST_LISTED {
            let _ = writeln!(text, "    and {} more", number((parts.len() - MOST_LISTED) as u64));
        }
    }
}

impl CoveredAction {
    fn add(&mut self, other: &CoveredAction) {
        self.operations += other.operations;
        self.steps += other.steps;
        for part in &other.parts {
            let is_same = |known: &&mut CoveredPart| {
                (known.kind, &known.path, known.line, known.column) == (part.kind, &part.path, part.line, part.column)
            };
            match self.parts.iter_mut().find(is_same) {
                Some(known) => {
                    known.taken += part.taken;
                    known.refused += part.refused;
                }
                None => self.parts.push(part.clone()),
            }
        }
    }

    /// How many of its parts satisfy a predicate, of how many: `2/3`, or nothing if it has no parts.
    fn share(&self, kinds: &[PartKind], is_so: impl Fn(&CoveredPart) -> bool) -> String {
        let parts: Vec<&CoveredPart> = self.parts.iter().filter(|part| kinds.contains(&part.kind)).collect();
        match parts.len() {
            0 => "-".to_owned(),
            all => format!("{}/{all}", parts.iter().filter(|part| is_so(part)).count()),
        }
    }
}

impl CoveredPart {
    /// Whether a branch was taken, and a condition was both true and false.
    fn is_exercised(&self) -> bool {
        self.taken > 0 && (self.kind == PartKind::Branch || self.refused > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(kind: PartKind, line: usize, text: &str, taken: u64, refused: u64) -> CoveredPart {
        CoveredPart { kind, path: "Queue.tla".into(), line, column: 4, text: text.into(), taken, refused }
    }

    fn action(name: &str, operations: u64, parts: Vec<CoveredPart>) -> CoveredAction {
        CoveredAction { name: name.into(), operations, steps: operations, is_internal: false, parts }
    }

    fn coverage() -> Coverage {
        let enqueue = vec![part(PartKind::Guard, 10, "Len(queue) < Capacity", 1200, 0)];
        let dequeue = vec![
            part(PartKind::Branch, 20, "queue # <<>> /\\ queue' = Tail(queue)", 7, 0),
            part(PartKind::Guard, 20, "queue # <<>>", 7, 2),
            part(PartKind::Branch, 21, "queue = <<>> /\\ UNCHANGED queue /\\ result = a value that is long", 0, 0),
        ];
        let actions = vec![action("Enqueue", 1200, enqueue), action("Dequeue", 7, dequeue), action("Clear", 0, vec![])];
        Coverage { actions, operations: 1207, relevant: 1207, steps: 1207, is_cut_off: false }
    }

    #[test]
    fn the_table_fits_a_terminal() {
        let text = coverage().text();
        assert!(text.lines().all(|line| line.width() <= WIDTH), "{text}");
        insta::assert_snapshot!(text, @r"
        action   operations   steps  branches   guards false
        Enqueue       1,200   1,200         -           0/1
        Dequeue           7       7       1/2           1/1
        Clear             0       0         -             -  never seen
        never taken
          Queue.tla:21:4: Dequeue: queue = <<>> /\ UNCHANGED queue /\ result = a valu…
        never false
          Queue.tla:10:4: Enqueue: Len(queue) < Capacity
        ");
    }

    #[test]
    fn histories_add_up() {
        let mut both = coverage();
        let mut other = coverage();
        other.actions[2].operations = 3;
        other.actions[1].parts[2].taken = 1;
        assert_eq!(both.never_seen().count(), 1);
        both.add(&other);
        assert_eq!(both.never_seen().count(), 0);
        assert_eq!(both.actions[1].parts[1].refused, 4);
        assert!(!both.text().contains("never taken"));
    }
}
