//! Checks the operations of one key. Engines that partition operations by key call this once for each.
//!
//! Operations arrive by increasing start, and an accepted key gets nothing but a verdict. A key that is not accepted gets a
//! report, as long as its operations can be read once more.

use std::sync::Arc;

use omnilink_history::{Call, History, Op, Value, Verdict};
use omnilink_models::check::Failure;
use omnilink_report::{Evidence, Report};
use omnilink_search::{Cut, Witness};

use crate::recording::Recording;
use crate::{Against, Case, CheckOptions, Failed, InputError, Limits};

/// The operations of one key.
pub struct Key<'a> {
    /// The key for display.
    pub label: &'a str,
    /// Its operations.
    pub ops: &'a mut dyn KeyOps,
    /// The states in which an earlier check of the same key ended, as in [`CheckedKey::carried`]; initial states if `None`.
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

/// A key that was checked.
#[derive(Debug)]
pub struct CheckedKey {
    /// The number of its operations.
    pub operations: u64,
    /// The verdict.
    pub verdict: KeyVerdict,
    /// The reason why it is not accepted.
    pub reason: Option<String>,
    /// The report, unless it is accepted or has too many operations.
    pub report: Option<Box<Report>>,
    /// The beginning of a later check of the same key, if requested and if this key is accepted. That check needs the
    /// operations since then again.
    pub carried: Option<Cut<Value>>,
}

/// The verdict about one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyVerdict {
    /// An order of its operations is legal.
    Accepted,
    /// No order of its operations is legal.
    Rejected,
    /// Every legal order violates an invariant.
    Violated,
    /// A limit ended the check.
    Inconclusive,
}

impl KeyVerdict {
    /// The word for it in reports and tables.
    pub fn word(self) -> &'static str {
        match self {
            KeyVerdict::Accepted => "accepted",
            KeyVerdict::Rejected => "rejected",
            KeyVerdict::Violated => "violated",
            KeyVerdict::Inconclusive => "inconclusive",
        }
    }
}

impl From<&omnilink_report::Verdict> for KeyVerdict {
    fn from(verdict: &omnilink_report::Verdict) -> KeyVerdict {
        match verdict {
            omnilink_report::Verdict::Accepted => KeyVerdict::Accepted,
            omnilink_report::Verdict::Inconclusive { .. } => KeyVerdict::Inconclusive,
            omnilink_report::Verdict::Rejected(rejection) => match rejection.evidence {
                Evidence::Invariant(_) => KeyVerdict::Violated,
                _ => KeyVerdict::Rejected,
            },
        }
    }
}

/// Checks a key by its whole history.
pub(crate) fn check_whole(against: &dyn Against, options: &CheckOptions, key: Key<'_>) -> Result<CheckedKey, Failed> {
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
    Ok(CheckedKey::of(against.check(options, case, None)?, operations, None))
}

impl CheckedKey {
    /// The verdict of a report.
    pub(crate) fn of(report: Report, operations: u64, carried: Option<Cut<Value>>) -> CheckedKey {
        let report = report.with_headline();
        let verdict = KeyVerdict::from(&report.verdict);
        CheckedKey {
            operations,
            verdict,
            reason: omnilink_report::sentence(&report),
            report: (verdict != KeyVerdict::Accepted).then(|| Box::new(report)),
            carried,
        }
    }

    /// A key with too many operations to be kept for a report.
    pub(crate) fn without_report(verdict: &Verdict<Witness, Failure>, operations: u64) -> CheckedKey {
        let (verdict, reason) = match verdict {
            Verdict::Accepted(_) => (KeyVerdict::Accepted, None),
            Verdict::Inconclusive(stop) => (KeyVerdict::Inconclusive, Some(stop.to_string())),
            Verdict::Rejected(Failure::Contradiction { reason, .. }) => (KeyVerdict::Rejected, Some(reason.clone())),
            Verdict::Rejected(Failure::Stuck { explanation, .. }) => {
                let explained = explanation.explained;
                (
                    KeyVerdict::Rejected,
                    Some(format!("no order continues after {explained} of its {operations} operations")),
                )
            }
        };
        CheckedKey { operations, verdict, reason, report: None, carried: None }
    }

    /// A key that is accepted.
    pub(crate) fn accepted(operations: u64, carried: Option<Cut<Value>>) -> CheckedKey {
        CheckedKey { operations, verdict: KeyVerdict::Accepted, reason: None, report: None, carried }
    }
}
