//! Reports on checks by the stamps of a database: the reads and writes that do not fit them, with words.

use omnilink_isolation::{Doubt, Explanation, Level, Misfit, StampOutcome, StampRejection, Transactions, TxnId};
use omnilink_report::{Anomaly, Evidence, Limit, OpRef, Operation, Rejection, Report, Timeline, Verdict};
use omnilink_suggest::counted;

use crate::inconclusive;
use crate::isolation::{Found, accesses, involve, replayed, taking_part, timeline};

/// A history decided by stamps.
#[derive(Clone, Copy, Debug)]
pub struct DecidedByStamps<'a> {
    /// The user's name for the history.
    pub name: &'a str,
    /// Its transactions.
    pub txns: &'a Transactions,
    /// The level of the check.
    pub level: Level,
    /// The verdict.
    pub outcome: &'a StampOutcome,
}

/// Why a check by stamps has no verdict, and what helps.
pub fn why_doubtful(txns: &Transactions, doubt: Doubt) -> (String, &'static str) {
    let reason = match doubt {
        Doubt::Stopped(stop) => stop.to_string(),
        Doubt::Tied { first, .. } => format!("{doubt}, such as: {}", with_names(&first.explain(txns), txns)),
    };
    let help = match doubt {
        Doubt::Stopped(_) => "`--timeout` and `--max-memory` are the limits",
        Doubt::Tied { .. } => {
            "record a pair of numbers as `commit_ts`, of which the second tells commits of one time apart, \
             and `commit_ts` of unknown transactions"
        }
    };
    (reason, help)
}

/// The sentence of an explanation with the names of transactions instead of their labels.
pub fn with_names(explanation: &Explanation, txns: &Transactions) -> String {
    // The last labels first: T12 begins like T1.
    let name = |text: String, (label, txn): &(String, TxnId)| text.replace(label, &txns.name(*txn));
    explanation.txns.iter().rev().fold(explanation.sentence.clone(), name)
}

impl DecidedByStamps<'_> {
    /// The report. Its time is that of the caller.
    pub fn report(&self) -> Report {
        let mut operations = Vec::new();
        let mut notes = Vec::new();
        let verdict = match self.outcome {
            StampOutcome::Accepted(certificate) => {
                notes.push("the reads and writes fit the stamps of the database".to_owned());
                notes.push(replayed(certificate));
                Verdict::Accepted
            }
            StampOutcome::Rejected(rejection) => {
                notes.extend(rejection.misfits[1..].iter().map(|misfit| self.note(*misfit)));
                Verdict::Rejected(Box::new(self.rejection(rejection, &mut operations)))
            }
            StampOutcome::Inconclusive(doubt) => {
                let (text, help) = why_doubtful(self.txns, *doubt);
                notes.push(help.to_owned());
                match doubt {
                    Doubt::Stopped(stop) => inconclusive(*stop, text),
                    Doubt::Tied { .. } => Verdict::Inconclusive { limit: Limit::Operations, stop: text },
                }
            }
        };
        let found = Found { verdict, operations, notes, strongest: Vec::new(), method: "stamps of the database" };
        found.report(self.name, self.txns, self.level)
    }

    fn note(&self, misfit: Misfit) -> String {
        let explanation = misfit.explain(self.txns);
        format!("{}: {}", explanation.anomaly, with_names(&explanation, self.txns))
    }

    fn rejection(&self, rejection: &StampRejection, operations: &mut Vec<Operation>) -> Rejection {
        let explanation = rejection.explain(self.txns);
        let transactions = involve(self.txns, &explanation, operations);
        let micros = rejection.misfits.first().map_or(Vec::new(), |misfit| misfit.micros());
        let accesses = accesses(self.txns, &explanation, &micros);
        let stamps: Vec<String> = explanation.edges.iter().map(|(txn, stamps)| format!("{txn}: {stamps}.")).collect();
        let details = format!(
            "The stamps of the database do not fit `{}`: {}. {} {} in all.",
            self.level,
            taking_part(self.txns, &explanation),
            stamps.join(" "),
            counted(rejection.count as u64, "misfit")
        );
        Rejection {
            sentence: format!("{}: {}", explanation.anomaly, explanation.sentence),
            details,
            blocked: (0..operations.len()).map(OpRef).collect(),
            explained: 0,
            evidence: Evidence::Anomaly(Anomaly {
                name: explanation.anomaly,
                transactions,
                edges: Vec::new(),
                accesses,
            }),
        }
    }

    /// The whole history beside the report.
    pub fn timeline(&self) -> Timeline {
        match self.outcome {
            StampOutcome::Accepted(certificate) => timeline(self.txns, &[], Some(certificate)),
            StampOutcome::Rejected(rejection) => timeline(self.txns, &rejection.explain(self.txns).txns, None),
            StampOutcome::Inconclusive(_) => timeline(self.txns, &[], None),
        }
    }
}
