//! The data, and its form as JSON.

use std::hash::Hasher;

use fnv::FnvHasher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;

/// The name and version of the form in which reports are written.
pub const SCHEMA: &str = "omnilink.report/2";

/// What a check found about one history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// What was checked.
    pub history: History,
    /// What it was checked against.
    pub spec: Spec,
    /// What orders operations of different processes.
    pub order: Order,
    /// The answer.
    pub verdict: Verdict,
    /// The operations that the report speaks of. An [`OpRef`] is a place in this list.
    pub operations: Vec<Operation>,
    /// The texts that places in a specification point into. [`Span::source`] is a place in this list.
    pub sources: Vec<Source>,
    /// What it took.
    pub stats: Stats,
    /// What was assumed about the order of operations: only orders that keep it count.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// What the reader should know and need not act upon.
    pub notes: Vec<String>,
    /// The names of known failures that this one is like, as the settings define them.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What of the specification the history exercised, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Commands that lead further.
    pub next: Vec<Command>,
}

/// A history that could not be checked, and why: it cannot be read, or the specification cannot be applied to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unchecked {
    /// How the user calls the history: mostly a path.
    pub history: String,
    /// How the user calls the specification.
    pub spec: String,
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One reason why a history could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// In one sentence.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// The history that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// How the user calls it: mostly a path.
    pub name: String,
    /// How many operations it has; none if that was not found out.
    pub operations: Option<u64>,
    /// How many processes it has.
    pub processes: usize,
    /// Places where the recording breaks off.
    pub cuts: Vec<String>,
}

/// The specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    /// How the user calls it: a path, or the name of a built-in one.
    pub name: String,
    /// The constants whose values came from the history, with their values.
    pub constants: Vec<Field>,
}

/// What orders operations of different processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// An operation that returned before another began comes first.
    RealTime,
    /// Only the order within each process counts.
    Program,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// The specification allows the history.
    Accepted,
    /// No order of the operations is allowed.
    Rejected(Box<Rejection>),
    /// The check was stopped before it knew.
    Inconclusive {
        /// The limit that was reached.
        limit: Limit,
        /// The same in words, with how far the check was.
        stop: String,
    },
}

/// What can stop a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The limit on time.
    Time,
    /// The limit on memory.
    Memory,
    /// The limit on configurations that are possible at once.
    Width,
    /// The user.
    Interrupt,
}

impl Verdict {
    /// In one word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected(rejection) => rejection.evidence.word(),
            Verdict::Inconclusive { .. } => "inconclusive",
        }
    }
}

/// Why no order of the operations is allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rejection {
    /// In one sentence.
    pub sentence: String,
    /// The operations that no order can place. In real time one, by whose return it has to be placed; none if
    /// operations contradict each other.
    pub blocked: Vec<OpRef>,
    /// How many operations had returned, and can be explained, before.
    pub explained: u64,
    /// What shows it.
    pub evidence: Evidence,
}

impl Rejection {
    /// The operation that a reader should look at first, if one is to blame.
    pub fn subject(&self) -> Option<OpRef> {
        let reasons = if let Evidence::Stuck(stuck) = &self.evidence { &stuck.reasons[..] } else { &[] };
        self.blocked.first().copied().or(reasons.first().map(|reason| reason.op))
    }

    /// The few operations that show it, if they are known.
    pub fn window(&self) -> Option<Window> {
        match &self.evidence {
            Evidence::Stuck(stuck) => stuck.window.clone(),
            Evidence::Contradiction { operations } => {
                Some(Window { start: Vec::new(), operations: operations.clone(), before: 0 })
            }
            Evidence::Invariant(_) => None,
        }
    }
}

/// What makes a rejection checkable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evidence {
    /// Every order gets stuck.
    Stuck(Stuck),
    /// A few operations contradict each other, whatever the others do.
    Contradiction {
        /// These, by start.
        operations: Vec<OpRef>,
    },
    /// Orders exist that the actions allow, and each of them makes an invariant false.
    Invariant(Broken),
}

impl Evidence {
    /// What it makes of a history, in one word.
    fn word(&self) -> &'static str {
        match self {
            Evidence::Stuck(_) | Evidence::Contradiction { .. } => "rejected",
            Evidence::Invariant(_) => "violated",
        }
    }
}

/// Where every order gets stuck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stuck {
    /// The different states that are possible then.
    pub states: Vec<State>,
    /// Each way to explain the operations so far, and where it leads.
    pub interpretations: Vec<Interpretation>,
    /// Why none of the operations that could be next is, those against blocked operations first.
    pub reasons: Vec<Reason>,
    /// Results with which the blocked operation would have been allowed in one of the states.
    pub expected: Vec<Vec<Field>>,
    /// There are more than those.
    pub expects_more: bool,
    /// When the blocked operation would have been allowed as it is recorded.
    pub legal: Legal,
    /// What would be if; each was checked.
    pub what_ifs: Vec<WhatIf>,
    /// A small part of the history that fails by itself.
    pub window: Option<Window>,
}

/// A state of the specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// The same for equal states, in every run.
    pub id: String,
    /// The variables and their values; a specification without variables has one without a name.
    pub variables: Vec<Field>,
}

impl State {
    /// The state with these values.
    pub fn new(variables: Vec<Field>) -> State {
        // People write these down, so they are the same whoever computes them and whenever.
        let mut hasher = FnvHasher::default();
        for text in variables.iter().flat_map(|field| [&field.name, &field.value]) {
            hasher.write(text.as_bytes());
            hasher.write(&[0xff]);
        }
        State { id: format!("{:012x}", hasher.finish() >> 16), variables }
    }
}

/// One way to explain the operations before a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interpretation {
    /// Where it leads: a place in [`Stuck::states`].
    pub state: usize,
    /// The last operations in the order that it puts them in: all since the ways parted.
    pub recent: Vec<Step>,
}

/// A step of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The operation that takes it.
    pub op: OpRef,
    /// True if the operation is not over with it.
    pub partway: bool,
}

/// Why an operation cannot be next, in one or more of the states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The operation.
    pub op: OpRef,
    /// The states that the reason holds in: places in [`Stuck::states`], increasing.
    pub states: Vec<usize>,
    /// The reason.
    pub why: Why,
}

/// The kinds of reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Why {
    /// Another operation returned before this one began, and has not been placed.
    Time {
        /// The other.
        after: OpRef,
    },
    /// The specification says no.
    Guard(Guard),
    /// The specification says no, in its own words.
    Words {
        /// The words.
        text: String,
    },
    /// The step is possible and leads to a state, or is a step, that a constraint of the configuration excludes.
    Excluded {
        /// The constraint, or the invariant.
        name: String,
        /// Where it is defined.
        span: Span,
    },
    /// The specification could not be evaluated.
    Error {
        /// Why.
        message: String,
        /// Where.
        span: Option<Span>,
    },
    /// It is allowed, but whatever follows is stuck too.
    Dead,
}

/// Which part of an action is false.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Guard {
    /// The action.
    pub action: String,
    /// Where it is defined.
    pub span: Span,
    /// How many ways through the action there are; the conjuncts are those of the way that got furthest.
    pub ways: usize,
    /// The choices on that way: names that `\E` bound and their values.
    pub choices: Vec<Field>,
    /// What became of each conjunct, in the order of evaluation.
    pub conjuncts: Vec<Conjunct>,
}

/// One conjunct and what became of it in each of the states of its [`Reason`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conjunct {
    /// Where it stands.
    pub span: Span,
    /// As written, on one line.
    pub text: String,
    /// One for each state.
    pub outcomes: Vec<Outcome>,
    /// What stands in it, with the value it has in each state.
    pub values: Vec<Evaluated>,
}

/// What became of a conjunct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is true, or gave a variable its next value.
    True,
    /// It is false.
    False,
    /// It is a condition, and this decided what comes next.
    Chose(bool),
    /// It has no value, for this reason.
    Error(String),
    /// It was not looked at.
    NotReached,
}

/// A part of an expression and its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluated {
    /// The part, as written.
    pub text: String,
    /// Its value in each of the states; none where it has none.
    pub values: Vec<Option<String>>,
}

/// When an operation would have been allowed as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Legal {
    /// It was, in some state, until this operation took effect: what it saw is stale.
    Earlier {
        /// The first operation after which it was not allowed any more.
        until: OpRef,
    },
    /// It would be, in some state, once this operation has taken effect: what it saw is from the future.
    Later {
        /// The first operation after which it is allowed.
        after: OpRef,
    },
    /// Nowhere near.
    Never {
        /// How many operations before and after were looked at.
        looked_at: u64,
    },
    /// It was not looked for.
    Unknown,
}

/// Something assumed, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhatIf {
    /// What is assumed.
    pub assumption: Assumption,
    /// What the history is then.
    pub outcome: Consequence,
}

/// What can be assumed about the blocked operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Assumption {
    /// It had other results.
    OtherResults {
        /// These.
        results: Vec<Field>,
    },
    /// It never happened.
    Dropped,
    /// Only the order within each process counts.
    ProgramOrder,
}

/// What a history is under an assumption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Consequence {
    /// The specification allows it.
    Accepted,
    /// It is rejected all the same.
    Rejected {
        /// The operation that cannot be placed then.
        blocked: Option<OpRef>,
        /// How many operations had returned, and can be explained, before.
        explained: u64,
    },
    /// It was not found out.
    Inconclusive {
        /// Why.
        stop: String,
    },
}

/// A small part of a history that fails by itself: whatever happened before, one of the start states was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Every state that is possible where it begins.
    pub start: Vec<State>,
    /// The operations of the window, by start.
    pub operations: Vec<OpRef>,
    /// How many operations were placed before it.
    pub before: u64,
}

/// An invariant that every explanation makes false.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Broken {
    /// The invariant.
    pub invariant: String,
    /// Where it is defined.
    pub span: Span,
    /// The states that make the invariant false.
    pub states: Vec<State>,
    /// What became of the parts of the invariant in these states.
    pub conjuncts: Vec<Conjunct>,
}

/// An operation of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Its name: process and place there, such as `T3:12`.
    pub name: String,
    /// Its process.
    pub process: String,
    /// What was called, as it is printed: action, arguments, results.
    pub text: String,
    /// The action.
    pub action: String,
    /// Its arguments.
    pub args: Vec<Field>,
    /// Its results; none if it never finished.
    pub results: Vec<Field>,
    /// A time before it began.
    pub start: u64,
    /// A time after it ended, if it did.
    pub end: Option<u64>,
    /// What else was recorded.
    pub meta: Vec<Field>,
}

/// A name and a value. The name is empty where a value is known by its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The value, as it is printed.
    pub value: String,
}

/// A text that places point into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Its path.
    pub path: String,
    /// The text.
    pub text: String,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// Which text: a place in [`Report::sources`].
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// What a check took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// How the verdict was found, in words.
    pub method: String,
    /// Why the procedure for the specification's data type did not decide it, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_procedure: Option<String>,
    /// How many operations had returned when the check ended.
    pub returned: u64,
    /// How often the specification was asked whether a state allows an operation, and where it leads.
    pub evaluations: u64,
    /// How many configurations were reached.
    pub generated: u64,
    /// How many of them were different from those before.
    pub distinct: u64,
    /// Where most configurations were possible at once.
    pub widest: Option<Widest>,
    /// Wall time.
    pub seconds: f64,
}

/// The widest place of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Widest {
    /// How many configurations there were.
    pub width: usize,
    /// The operation whose return was being looked at.
    pub at: Option<OpRef>,
    /// The operations in flight there; not all if there are many.
    pub in_flight: Vec<OpRef>,
}

/// A command that leads further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// What it does.
    pub what: String,
    /// The command line.
    pub line: String,
}

/// An operation: a place in [`Report::operations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct OpRef(pub usize);

/// The operations that a report speaks of, as it is being written: an [`OpRef`] is a place among them.
#[derive(Debug, Clone)]
pub struct Mentions<Id>(Vec<Id>);

impl<Id> Default for Mentions<Id> {
    fn default() -> Mentions<Id> {
        Mentions(Vec::new())
    }
}

impl<Id: PartialEq> Mentions<Id> {
    /// Mentions an operation.
    pub fn op(&mut self, id: Id) -> OpRef {
        let known = self.0.iter().position(|mentioned| *mentioned == id);
        OpRef(known.unwrap_or_else(|| {
            self.0.push(id);
            self.0.len() - 1
        }))
    }

    /// The operations, in the order of their first mention.
    pub fn ids(&self) -> &[Id] {
        &self.0
    }
}

impl Operation {
    /// When it ran: `[5 9]`, or `[5 ...]` if it never ended.
    pub fn interval(&self) -> String {
        let end = self.end.map_or("...".to_owned(), |end| end.to_string());
        format!("[{} {end}]", self.start)
    }
}

impl Report {
    /// The operation that is meant.
    pub fn op(&self, op: OpRef) -> &Operation {
        &self.operations[op.0]
    }

    /// Why no order is allowed, if none is.
    pub fn rejection(&self) -> Option<&Rejection> {
        if let Verdict::Rejected(rejection) = &self.verdict { Some(rejection) } else { None }
    }

    /// Where every order gets stuck, if that is why none is allowed.
    pub fn stuck(&self) -> Option<&Stuck> {
        if let Evidence::Stuck(stuck) = &self.rejection()?.evidence { Some(stuck) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_never_change() {
        let state = |name: &str, value: &str| State::new(vec![Field { name: name.into(), value: value.into() }]).id;
        assert_eq!(state("queue", "<<1, 2>>"), "c51205822d93");
        assert_ne!(state("ab", "c"), state("a", "bc"));
    }
}
