//! The verdict on a history.
//!
//! If the specification has invariants, only orders that keep them explain a history. A history that has an order, and none
//! that keeps them, is explained by the actions and refused by an invariant alone, which is another answer than that no
//! order exists.

use history::{History, OpId, Stop, Verdict};
use search::{
    CheckError, Checker, Explanation, Options, Report, Stats, Strategy, Unconfirmed, Watch, Witness, check_watched,
};

use crate::bind::TraceOp;
use crate::cut::Cut;
use crate::spec::{Fault, TraceSpec, TraceState};

/// What a check found, and what it took.
#[derive(Debug)]
pub struct Checked {
    /// The answer.
    pub outcome: Outcome,
    /// Counts of work.
    pub stats: Stats,
    /// A point before the end from which an explanation can begin.
    pub checkpoint: Checkpoint,
}

/// The last points of a check at which all configurations had placed the same operations, one now and then.
#[derive(Debug, Default)]
pub struct Checkpoint {
    last: Option<Cut>,
    before: Option<Cut>,
}

/// So many operations lie between two checkpoints, at least.
const BETWEEN: usize = 2048;

/// After so many operations it is tried again, if there was none.
const AGAIN: usize = 16;

impl Checkpoint {
    fn note(&mut self, cut: Cut) {
        self.before = self.last.replace(cut);
    }

    /// The latest point that lies far enough before an operation.
    pub(crate) fn before(&self, spec: &TraceSpec<'_>, history: &History<TraceOp>, op: OpId) -> Result<Cut, NoAnswer> {
        let mut known = [&self.last, &self.before].into_iter().flatten();
        match known.find(|cut| cut.is_far_before(history, op)) {
            Some(cut) => Ok(cut.clone()),
            None => Cut::beginning(spec),
        }
    }
}

/// The answers.
#[derive(Debug)]
pub enum Outcome {
    /// The specification allows the history, and this shows how.
    Accepted(Witness),
    /// No order of the operations is allowed.
    Rejected(Explanation<TraceState>),
    /// The actions allow orders, and each makes an invariant false. This is where the last of them does.
    Violated(Explanation<TraceState>),
    /// The check stopped before it knew.
    Inconclusive(Stop),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// The specification could not be evaluated.
    #[error("{0}")]
    Fault(Fault),
    /// An order was found that does not stand up when replayed: `RandomElement` or a bug.
    #[error("the order found was not confirmed when it was replayed: {0}")]
    Unconfirmed(Unconfirmed),
}

impl From<CheckError<Fault>> for NoAnswer {
    fn from(error: CheckError<Fault>) -> NoAnswer {
        match error {
            CheckError::Spec(fault) => NoAnswer::Fault(fault),
            CheckError::Unconfirmed(error) => NoAnswer::Unconfirmed(error),
        }
    }
}

/// Checks a history.
pub fn check(
    spec: &mut TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Checked, NoAnswer> {
    // Hardly any order makes an invariant false, so one is looked for as if there were none. Only if it does are all
    // others looked at. Somebody who wants every configuration counted wants the invariants to count.
    let has_invariants = !spec.program.invariants.is_empty();
    spec.ignore_invariants(has_invariants && options.reduce);
    let (first, checkpoint) = search(spec, history, options, watch)?;
    let checked = |outcome, stats, checkpoint| Ok(Checked { outcome, stats, checkpoint });
    match first.verdict {
        Verdict::Inconclusive(stop) => checked(Outcome::Inconclusive(stop), first.stats, checkpoint),
        Verdict::Rejected(stuck) if options.reduce || !has_invariants => {
            checked(Outcome::Rejected(stuck), first.stats, checkpoint)
        }
        Verdict::Accepted(witness) => {
            let is_kept = !options.reduce
                || !has_invariants
                || spec.is_invariant_along(history, &witness).map_err(NoAnswer::Fault)?;
            if is_kept {
                return checked(Outcome::Accepted(witness), first.stats, checkpoint);
            }
            spec.ignore_invariants(false);
            let (second, checkpoint) = search(spec, history, options, watch)?;
            let mut stats = first.stats;
            stats.add(&second.stats);
            match second.verdict {
                Verdict::Accepted(witness) => checked(Outcome::Accepted(witness), stats, checkpoint),
                Verdict::Rejected(stuck) => checked(Outcome::Violated(stuck), stats, checkpoint),
                Verdict::Inconclusive(stop) => checked(Outcome::Inconclusive(stop), stats, checkpoint),
            }
        }
        Verdict::Rejected(refused) => {
            spec.ignore_invariants(true);
            let (second, other) = search(spec, history, options, watch)?;
            match second.verdict {
                Verdict::Accepted(_) => {
                    spec.ignore_invariants(false);
                    checked(Outcome::Violated(refused), first.stats, checkpoint)
                }
                Verdict::Rejected(stuck) => checked(Outcome::Rejected(stuck), first.stats, other),
                Verdict::Inconclusive(stop) => checked(Outcome::Inconclusive(stop), first.stats, checkpoint),
            }
        }
    }
}

/// Searches for an order, and notes points from which to look back.
fn search(
    spec: &TraceSpec<'_>,
    history: &History<TraceOp>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<(Report<TraceState>, Checkpoint), NoAnswer> {
    let mut checkpoint = Checkpoint::default();
    if options.strategy != Strategy::JustInTime {
        return Ok((check_watched(spec, history, options, watch)?, checkpoint));
    }
    let mut checker: Checker<'_, _, &TraceOp> = Checker::new(spec, options)?;
    let mut due = BETWEEN;
    for (index, op) in history.ops().iter().enumerate() {
        if checker.push(op.with(&op.call), watch)?.is_decided() {
            break;
        }
        if index >= due {
            let cut = Cut::now(&checker, index + 1);
            due = index + if cut.is_some() { BETWEEN } else { AGAIN };
            cut.into_iter().for_each(|cut| checkpoint.note(cut));
        }
    }
    Ok((checker.finish(watch)?, checkpoint))
}
