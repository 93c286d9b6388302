//! The data, and its form as JSON.

use std::hash::Hasher;

use fnv::FnvHasher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::closest::ClosestRun;
use crate::coverage::Coverage;
use crate::interleaving::Interleaving;
use crate::isolation::{Anomaly, Isolation};
pub use crate::op::{OpRef, Order};

/// The name and version of the report format.
pub const SCHEMA: &str = "omnilink.report/2";

/// The result of checking one history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// The history.
    pub history: History,
    /// The specification.
    pub spec: Spec,
    /// The order between operations of different processes.
    pub order: Order,
    /// The operations that an operation has to see, if these are not all before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The isolation level, if the operations are transactions that were checked without a specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// The verdict.
    pub verdict: Verdict,
    /// The operations that the report mentions. An [`OpRef`] is an index into this list.
    pub operations: Vec<Operation>,
    /// The texts that spans point into. [`Span::source`] is an index into this list.
    pub sources: Vec<Source>,
    /// The cost of the check.
    pub stats: Stats,
    /// Assumptions about the order of operations: only orders consistent with them count.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// Notes that need no action.
    pub notes: Vec<String>,
    /// The names of the known failures that this one matches, as defined in the settings.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The unit of times, such as `ns` or `steps`, if the trace says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// The exercised parts of the specification, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// How the run ended, if it did not end normally or had a data race: a verdict about its operations is then not
    /// one about the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The steps of the execution, if its schedule was controlled and it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Interleaving>,
    /// The serial run of the same test that comes closest, if the specification is the serial runs of an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest_run: Option<ClosestRun>,
    /// The verdicts of keys, if keys were decided separately and some are not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Keys>,
    /// Follow-up commands.
    pub next: Vec<Command>,
}

/// The keys of a history that are not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Keys {
    /// The number of all keys.
    pub all: usize,
    /// The rejected ones, by their first operation. The verdict explains one of them.
    pub rejected: Vec<RejectedKey>,
    /// The undecided ones, by their first operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
}

/// A key whose operations no order explains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedKey {
    /// The key.
    pub key: String,
    /// The number of its operations.
    pub operations: usize,
    /// Why it is rejected, in a sentence.
    pub sentence: String,
}

/// A history that could not be checked, and why: it cannot be read, or the specification cannot be applied to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unchecked {
    /// The user's name for the history: mostly a path.
    pub history: String,
    /// The user's name for the specification.
    pub spec: String,
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One reason why a history could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// In one sentence.
    pub message: String,
    /// The next step for the user.
    pub help: Option<String>,
}

/// The history that was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// The user's name for the history: mostly a path.
    pub name: String,
    /// The number of operations; `None` if unknown.
    pub operations: Option<u64>,
    /// The number of processes.
    pub processes: usize,
    /// Places where the trace is cut off.
    pub cuts: Vec<String>,
    /// Events beside the operations, such as faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

/// Something that is not an operation and has no influence on the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// When it began.
    pub start: u64,
    /// When it ended, if it lasted and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// The nodes that it happened to; none if it concerns all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
    /// Anything else.
    pub text: String,
}

/// The specification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    /// The user's name for it: a path, or the name of a built-in one.
    pub name: String,
    /// The constants that got their values from the history, with these values.
    pub constants: Vec<Field>,
}

/// A level at which operations need not see everything before them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// As given on the command line.
    pub name: String,
    /// The number of operations that missed something, if the history is accepted.
    pub missing: usize,
    /// The first of them, each with what it missed.
    pub missed: Vec<Missed>,
}

/// An operation that did not see some operations before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missed {
    /// The operation.
    pub op: OpRef,
    /// The operations that it missed.
    pub missed: Vec<OpRef>,
}

/// The verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// The specification allows the history.
    Accepted,
    /// No order of the operations is legal.
    Rejected(Box<Rejection>),
    /// The check was stopped before it had a verdict.
    Inconclusive {
        /// The limit that was reached.
        limit: Limit,
        /// The same in words, with the progress of the check.
        stop: String,
    },
}

/// The reasons to stop a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// The limit on simultaneous configurations.
    Width,
    /// The number of operations up to which the level is searched for; no option changes it.
    Operations,
    /// The user.
    Interrupt,
    /// None: operations are missing from the trace.
    Incomplete,
}

impl Verdict {
    /// The verdict in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Rejected(rejection) => rejection.evidence.word(),
            Verdict::Inconclusive { .. } => "inconclusive",
        }
    }
}

/// Why no order of the operations is legal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rejection {
    /// In one sentence.
    pub sentence: String,
    /// The proof of the sentence, in a few more; often empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// The operations that no order can place. In real time there is one, which has to be placed by its return; none if
    /// operations contradict each other.
    pub blocked: Vec<OpRef>,
    /// The number of operations that had returned before and can be explained.
    pub explained: u64,
    /// The evidence.
    pub evidence: Evidence,
}

impl Rejection {
    /// The operation that a reader should look at first, if one is to blame.
    pub fn subject(&self) -> Option<OpRef> {
        match &self.evidence {
            Evidence::Invariant(broken) => broken.broke.first().or(self.blocked.first()).copied(),
            Evidence::Stuck(stuck) => {
                self.blocked.first().copied().or_else(|| stuck.reasons.first().map(|reason| reason.op))
            }
            Evidence::Contradiction { .. } | Evidence::Views(_) | Evidence::Anomaly(_) => self.blocked.first().copied(),
        }
    }

    /// The few operations that show it, if known.
    pub fn window(&self) -> Option<Window> {
        match &self.evidence {
            Evidence::Stuck(stuck) => stuck.window.clone(),
            // The reasons were not found in time.
            Evidence::Contradiction { operations } if operations.is_empty() => None,
            Evidence::Contradiction { operations } => {
                Some(Window { start: Vec::new(), operations: operations.clone(), before: 0 })
            }
            Evidence::Invariant(_) | Evidence::Views(_) | Evidence::Anomaly(_) => None,
        }
    }
}

/// Evidence that makes a rejection checkable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Evidence {
    /// Every order gets stuck.
    Stuck(Stuck),
    /// A few operations contradict each other, whatever the others do.
    Contradiction {
        /// These, by start; none if a limit was reached before they were found.
        operations: Vec<OpRef>,
    },
    /// Orders exist that the actions allow, and each of them violates an invariant.
    Invariant(Broken),
    /// Whatever operations see, no order explains them.
    Views(Views),
    /// Transactions that come before each other, or read what no order explains.
    Anomaly(Anomaly),
}

/// Operations whose results nothing explains that they may have seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Views {
    /// At least one.
    pub views: Vec<View>,
    /// A weaker level that allows the history, and was checked.
    pub holds: Option<String>,
}

/// The operations that an operation may have seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct View {
    /// The operation.
    pub op: OpRef,
    /// The operations that it has to see, in words that follow its name.
    pub sees: String,
    /// The last operations that it has to see.
    pub must_see: Vec<OpRef>,
    /// The number of all that it has to see.
    pub must_see_count: usize,
    /// The last operations that it may miss.
    pub may_miss: Vec<OpRef>,
    /// The number of all that it may miss.
    pub may_miss_count: usize,
    /// The states that it may see, as far as known.
    pub states: Vec<State>,
    /// Why the first of them does not explain its results.
    pub why: Option<String>,
}

impl Evidence {
    /// The verdict on the history in one word.
    fn word(&self) -> &'static str {
        match self {
            Evidence::Stuck(_) | Evidence::Contradiction { .. } | Evidence::Views(_) | Evidence::Anomaly(_) => {
                "rejected"
            }
            Evidence::Invariant(_) => "violated",
        }
    }
}

/// Where every order gets stuck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stuck {
    /// The distinct states possible at that point.
    pub states: Vec<State>,
    /// The same states by the values that the false conjunct reads, if there is one for all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<StateGroup>,
    /// The ways to explain the operations so far, each with the state that it leads to.
    pub interpretations: Vec<Interpretation>,
    /// Why no operation can be next; reasons against blocked operations come first.
    pub reasons: Vec<Reason>,
    /// Results with which the blocked operation would have been legal in one of the states.
    pub expected: Vec<Vec<Field>>,
    /// True if there are more.
    pub expects_more: bool,
    /// When the blocked operation would have been legal as recorded.
    pub legal: Legal,
    /// Verdicts under other assumptions; each was checked.
    pub what_ifs: Vec<WhatIf>,
    /// A small part of the history that fails by itself.
    pub window: Option<Window>,
}

/// A state of the specification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// Equal for equal states, in every run.
    pub id: String,
    /// The variables and their values; a specification without variables has one variable without a name.
    pub variables: Vec<Field>,
}

impl State {
    /// The state with these values.
    pub fn new(variables: Vec<Field>) -> State {
        // Users copy fingerprints, so they must be the same on every machine and in every version.
        let mut hasher = FnvHasher::default();
        for text in variables.iter().flat_map(|field| [&field.name, &field.value]) {
            hasher.write(text.as_bytes());
            hasher.write(&[0xff]);
        }
        State { id: format!("{:012x}", hasher.finish() >> 16), variables }
    }
}

/// States in which the expressions that a conjunct reads have the same values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateGroup {
    /// The expressions and their values.
    pub values: Vec<Field>,
    /// The states: indices, increasing.
    pub states: Vec<usize>,
}

/// One way to explain the operations before a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interpretation {
    /// The state that it leads to: an index into [`Stuck::states`].
    pub state: usize,
    /// The last operations in its order: all since the orders diverged.
    pub recent: Vec<Step>,
}

/// A step of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The operation.
    pub op: OpRef,
    /// True if the operation needs further steps.
    pub partway: bool,
}

/// Why an operation cannot be next, in one or more of the states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The operation.
    pub op: OpRef,
    /// The states in which the reason holds: indices into [`Stuck::states`], increasing.
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
        /// The other operation.
        after: OpRef,
    },
    /// The specification does not enable it.
    Guard(Guard),
    /// The specification does not enable it, for a reason in its own words.
    Words {
        /// The words.
        text: String,
    },
    /// The step is possible, but a constraint of the configuration excludes it or the state it leads to.
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
    /// It is legal, but every continuation gets stuck too.
    Dead,
}

/// The false parts of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Guard {
    /// The action.
    pub action: String,
    /// Where it is defined.
    pub span: Span,
    /// The number of ways through the action; the conjuncts are those of the way that got furthest.
    pub ways: usize,
    /// The choices on that way: names that `\E` bound and their values.
    pub choices: Vec<Field>,
    /// The outcome of each conjunct, in the order of evaluation.
    pub conjuncts: Vec<Conjunct>,
}

impl Guard {
    /// The end of [`Guard::action`] if the guard compares the state before the step with a value in the log.
    pub const BEFORE: &str = " (before the step)";

    /// The same for the state after the step.
    pub const AFTER: &str = " (after the step)";
}

/// One conjunct and its outcome in each of the states of its [`Reason`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conjunct {
    /// Its place.
    pub span: Span,
    /// As written, on one line.
    pub text: String,
    /// One outcome for each state.
    pub outcomes: Vec<Outcome>,
    /// Its subexpressions, with their values in each state.
    pub values: Vec<Evaluated>,
}

/// The outcome of a conjunct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is true, or gave a variable its next value.
    True,
    /// It is false.
    False,
    /// It is a condition, and decided what was evaluated next.
    Chose(bool),
    /// It has no value, for this reason.
    Error(String),
    /// It was not evaluated.
    NotReached,
}

/// A subexpression and its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evaluated {
    /// The subexpression, as written.
    pub text: String,
    /// Its value in each of the states; `None` where it has no value.
    pub values: Vec<Option<String>>,
}

/// When an operation would have been legal as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Legal {
    /// It was legal in some state until this operation took effect: it saw something stale.
    Earlier {
        /// The first operation after which it was no longer legal.
        until: OpRef,
    },
    /// It is legal in some state once this operation has taken effect: it saw something from the future.
    Later {
        /// The first operation after which it is legal.
        after: OpRef,
    },
    /// At no nearby point.
    Never {
        /// The number of operations examined, before and after it.
        looked_at: u64,
    },
    /// Not determined.
    Unknown,
}

/// An assumption and the verdict under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhatIf {
    /// The assumption.
    pub assumption: Assumption,
    /// The verdict under it.
    pub outcome: Consequence,
}

/// The possible assumptions about the blocked operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Assumption {
    /// It had other results.
    OtherResults {
        /// These results.
        results: Vec<Field>,
    },
    /// It never happened.
    Dropped,
    /// Only the order within each process counts.
    ProgramOrder,
    /// An event of a log is left out.
    EventDropped {
        /// The event.
        event: OpRef,
    },
    /// A step that the log does not have comes before an event.
    StepInserted {
        /// Its action.
        action: String,
        /// The event.
        before: OpRef,
    },
    /// A variable may change in events that do not log it.
    NotComplete {
        /// The variable.
        variable: String,
    },
    /// An event logs another value of a variable.
    OtherField {
        /// The event.
        event: OpRef,
        /// The variable and the value with which the log is accepted.
        field: String,
    },
    /// A condition of the mapping on an event is ignored.
    FieldIgnored {
        /// The event.
        event: OpRef,
        /// The condition.
        field: String,
    },
    /// Two events come in the other order.
    Exchanged {
        /// The first of them in the log.
        first: OpRef,
        /// The second.
        second: OpRef,
    },
}

/// The verdict on a history under an assumption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Consequence {
    /// The specification allows it.
    Accepted,
    /// It is still rejected.
    Rejected {
        /// The operation that cannot be placed then.
        blocked: Option<OpRef>,
        /// The number of operations that had returned before and can be explained.
        explained: u64,
    },
    /// Not determined.
    Inconclusive {
        /// Why.
        stop: String,
    },
}

/// A small part of a history that fails by itself: before it, one of the start states was reached in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Every state possible at its start.
    pub start: Vec<State>,
    /// The operations of the window, by start.
    pub operations: Vec<OpRef>,
    /// The number of operations placed before it.
    pub before: u64,
}

/// An invariant that every explanation violates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Broken {
    /// The invariant.
    pub invariant: String,
    /// Where it is defined.
    pub span: Span,
    /// The operations whose step makes it false, each in one of the orders; none if steps do that are not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broke: Vec<OpRef>,
    /// The states that violate the invariant.
    pub states: Vec<State>,
    /// The outcomes of the invariant's parts in these states.
    pub conjuncts: Vec<Conjunct>,
}

/// An operation of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Operation {
    /// Its name: its process and its index there, such as `T3:12`.
    pub name: String,
    /// Its process.
    pub process: String,
    /// The call as printed: action, arguments, results.
    pub text: String,
    /// The action.
    pub action: String,
    /// Its arguments.
    pub args: Vec<Field>,
    /// Its results; none if it is unfinished.
    pub results: Vec<Field>,
    /// A time before it began.
    pub start: u64,
    /// A time after it ended, if it did.
    pub end: Option<u64>,
    /// How it ended, if it did not return normally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ended>,
    /// Further recorded fields.
    pub meta: Vec<Field>,
}

/// How an operation ended that did not return normally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It never returned: its outcome is unknown.
    Unfinished,
    /// It was waiting when the execution got stuck.
    Blocked,
    /// It had no effect.
    Failed,
}

/// A name and a value. The name is empty if the value is identified by its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The value, as printed.
    pub value: String,
}

/// A text that spans point into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// Its path.
    pub path: String,
    /// The text.
    pub text: String,
}

/// A range of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// The text: an index into [`Report::sources`].
    pub source: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// The cost of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// The method that found the verdict, in words.
    pub method: String,
    /// Why the procedure for the specification's data type did not decide, if it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_procedure: Option<String>,
    /// The number of operations that had returned when the check ended.
    pub returned: u64,
    /// The number of times the specification was evaluated for an operation in a state.
    pub evaluations: u64,
    /// The number of configurations reached.
    pub generated: u64,
    /// The number of distinct configurations.
    pub distinct: u64,
    /// The point with the most configurations at once.
    pub widest: Option<Widest>,
    /// Wall time.
    pub seconds: f64,
}

/// The widest point of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Widest {
    /// The number of configurations.
    pub width: usize,
    /// The operation whose return was being processed.
    pub at: Option<OpRef>,
    /// The operations in flight there; only some if there are many.
    pub in_flight: Vec<OpRef>,
}

/// A follow-up command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// Its effect.
    pub what: String,
    /// The command line.
    pub line: String,
}

impl Operation {
    /// Its interval: `[5 9]`, or `[5 ...]` if it never ended.
    pub fn interval(&self) -> String {
        let end = self.end.map_or("...".to_owned(), |end| end.to_string());
        format!("[{} {end}]", self.start)
    }
}

impl Report {
    /// A report with a history and a verdict, and nothing else to say.
    pub fn new(history: History, verdict: Verdict) -> Report {
        Report {
            schema: SCHEMA.into(),
            history,
            spec: Spec::default(),
            order: Order::RealTime,
            level: None,
            isolation: None,
            verdict,
            operations: Vec::new(),
            sources: Vec::new(),
            stats: Stats::default(),
            assumed: Vec::new(),
            notes: Vec::new(),
            tags: Vec::new(),
            clock: None,
            coverage: None,
            ended: None,
            interleaving: None,
            closest_run: None,
            keys: None,
            next: Vec::new(),
        }
    }

    /// The operation at this index.
    pub fn op(&self, op: OpRef) -> &Operation {
        &self.operations[op.0]
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
