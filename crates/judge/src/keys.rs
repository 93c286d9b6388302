//! Checks the operations of one key: what engines that partition operations by key call, once for each.
//!
//! Operations come in by increasing start, and nothing but the verdict is made for a key that is accepted. A key that is
//! not accepted gets a report, as long as its operations can be read once more.

use std::sync::Arc;

use history::{Call, History, Op, Value, Verdict};
use models::check::Failure;
use models::digits;
use report::Report;
use search::Witness;

use crate::builtin::Builtin;
use crate::recording::Recording;
use crate::{Against, Case, Failed, InputError, Judge, Limits, Options};

/// The operations of one key.
pub struct Key<'a> {
    /// The key for people.
    pub label: &'a str,
    /// Its operations.
    pub ops: &'a mut dyn KeyOps,
    /// The states in which an earlier check of the same key ended, as in [`Carried`]; initial states if `None`.
    pub begin: Option<&'a [Value]>,
    /// A time before which no operation of a later check starts, if there will be one.
    pub cut: Option<u64>,
    /// The limits.
    pub limits: &'a dyn Limits,
}

/// Operations by increasing start.
pub trait KeyOps {
    /// The next operation.
    fn next(&mut self) -> Result<Option<Op<Call>>, Failed>;

    /// The names of the processes of all operations so far.
    fn processes(&self) -> &[Arc<str>];

    /// All operations so far once more, for a report; `None` if there are too many.
    fn again(&mut self) -> Result<Option<Vec<Op<Call>>>, Failed>;
}

/// The verdict about one key.
#[derive(Debug)]
pub struct KeyVerdict {
    /// The number of its operations.
    pub operations: u64,
    /// The verdict: `accepted`, `rejected`, `violated` or `inconclusive`.
    pub word: &'static str,
    /// Why it is not accepted.
    pub reason: Option<String>,
    /// The report, unless it is accepted or has too many operations.
    pub report: Option<Box<Report>>,
    /// What a later check of the same key begins with, if requested and if this one is accepted.
    pub carried: Option<Carried>,
}

/// What a later check of the same key begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// The states that the object may have been in at the last instant without an operation in flight.
    pub states: Vec<Value>,
    /// The number of operations after that instant. They are the last ones, and the later check needs them again.
    pub since: u64,
}

impl Judge {
    /// Checks the operations of one key.
    pub fn check_key(&self, key: Key<'_>) -> Result<KeyVerdict, Failed> {
        match self.against.builtin() {
            Some(builtin) => builtin.check_key(&self.options, key),
            None => check_whole(&*self.against, &self.options, key),
        }
    }
}

impl Judge {
    /// Whether what one check of a key leaves can be carried to the next one.
    pub fn carries(&self) -> bool {
        let nothing = Key { label: "", ops: &mut NoOps, begin: None, cut: Some(0), limits: &crate::Unlimited };
        self.check_key(nothing).is_ok()
    }

    /// Whether operations keep the argument of this name that says which object they are about. The operations of most
    /// built-in types have no such argument.
    pub fn takes_key(&self, name: &str) -> bool {
        self.against.builtin().is_none_or(|builtin| builtin.takes_key(name))
    }

    /// A key as operations are separated by it: with the option that makes texts of digits numbers, the number.
    pub fn key(&self, key: Value) -> Value {
        let reads_digits = self.against.builtin().is_some_and(Builtin::reads_digits);
        if reads_digits { digits::numbers(&key).unwrap_or(key) } else { key }
    }

    /// The number that a key is, or prints as, and whether it is text. `None` for other keys, and for specifications
    /// that do not tell numbers and texts of digits apart, or for which that is not a mistake.
    pub fn digits_of(&self, key: &Value) -> Option<(Value, bool)> {
        let tells_apart = self.against.builtin().is_some_and(|builtin| !builtin.reads_digits());
        if tells_apart { digits::form(key) } else { None }
    }

    /// The state of a key after an operation, if it does not depend on the state before.
    pub fn settled(&self, op: &Op<Call>) -> Option<Value> {
        self.against.builtin()?.settled(op).ok().flatten()
    }
}

/// No operations.
struct NoOps;

impl KeyOps for NoOps {
    fn next(&mut self) -> Result<Option<Op<Call>>, Failed> {
        Ok(None)
    }

    fn processes(&self) -> &[Arc<str>] {
        &[]
    }

    fn again(&mut self) -> Result<Option<Vec<Op<Call>>>, Failed> {
        Ok(Some(Vec::new()))
    }
}

/// Checks a key by its whole history.
pub(crate) fn check_whole(against: &dyn Against, options: &Options, key: Key<'_>) -> Result<KeyVerdict, Failed> {
    if key.begin.is_some() || key.cut.is_some() {
        let message =
            format!("unsupported: states of `{}` cannot be carried from one check to another", against.name());
        let help = "check the operations of a key together".to_owned();
        return Err(InputError { message, help: Some(help) }.into());
    }
    let mut ops = Vec::new();
    while let Some(op) = key.ops.next()? {
        ops.push(op);
    }
    let operations = ops.len() as u64;
    let recording = Recording::of(History::from_ops(key.ops.processes().into(), ops));
    let case = &mut Case { recording: &recording, label: key.label, witness: None, limits: key.limits };
    Ok(KeyVerdict::of(against.check(options, case, None)?, operations, None))
}

impl KeyVerdict {
    /// The verdict of a report.
    pub(crate) fn of(report: Report, operations: u64, carried: Option<Carried>) -> KeyVerdict {
        let report = report.with_headline();
        let is_accepted = report.verdict == report::Verdict::Accepted;
        KeyVerdict {
            operations,
            word: report.verdict.word(),
            reason: report::sentence(&report),
            report: (!is_accepted).then(|| Box::new(report)),
            carried,
        }
    }

    /// A key with too many operations to be kept for a report.
    pub(crate) fn without_report(verdict: &Verdict<Witness, Failure>, operations: u64) -> KeyVerdict {
        let (word, reason) = match verdict {
            Verdict::Accepted(_) => ("accepted", None),
            Verdict::Inconclusive(stop) => ("inconclusive", Some(stop.to_string())),
            Verdict::Rejected(Failure::Contradiction { reason, .. }) => ("rejected", Some(reason.clone())),
            Verdict::Rejected(Failure::Stuck { explanation, .. }) => {
                let explained = explanation.explained;
                ("rejected", Some(format!("no order continues after {explained} of its {operations} operations")))
            }
        };
        KeyVerdict { operations, word, reason, report: None, carried: None }
    }

    /// A key that is accepted.
    pub(crate) fn accepted(operations: u64, carried: Option<Carried>) -> KeyVerdict {
        KeyVerdict { operations, word: report::Verdict::Accepted.word(), reason: None, report: None, carried }
    }
}
