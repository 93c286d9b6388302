//! The times at which an operation would have been legal as recorded.
//!
//! The operation is removed, and the operations around it are put into a legal order. If it is legal in an earlier
//! state, it returned a stale value; if it is legal in a later state, it returned a value from the future.

use omnilink_history::{Op, OpId, Verdict};
use omnilink_report::Legal;
use omnilink_search::{Watch, Witness, successor};

use super::Explainer;
use crate::bind::TraceOp;
use crate::cut::{Cut, Cuts};
use crate::fault::NoAnswer;
use crate::spec::TraceState;

/// The maximum number of operations examined after the failure.
const LOOKED_AT: usize = 256;

/// An operation, and the state after it.
type Path = Vec<(OpId, TraceState)>;

impl Explainer<'_, '_> {
    pub(super) fn legal(&mut self, goal: OpId, cuts: &Cuts, watch: &dyn Watch) -> Result<Legal, NoAnswer> {
        let history = self.history;
        let blocked = &history.op(goal).call;
        let cut = cuts.first();
        let before: Vec<Op<&TraceOp>> = cut.until(history, goal).filter(|op| op.id != goal).collect();
        let Some(past) = self.path(cut, &before, watch)? else { return Ok(Legal::Unknown) };
        let is_legal = |(_, state): &(OpId, TraceState)| self.allows(blocked, state);
        if let Some(last) = past.iter().rposition(is_legal) {
            return Ok(match past.get(last + 1) {
                Some((until, _)) => Legal::Earlier { until: self.report_builder.op(*until) },
                None => Legal::Unknown,
            });
        }
        let cut = cuts.last_before(history, goal);
        let mut after: Vec<Op<&TraceOp>> = Vec::new();
        let end = history.op(goal).interval.deadline();
        let mut later = 0;
        for op in cut.ops(history).filter(|op| op.id != goal) {
            later += usize::from(op.interval.start() > end);
            if later > LOOKED_AT {
                break;
            }
            after.push(op.with(&op.call));
        }
        let future = self.path(cut, &after, watch)?.unwrap_or_default();
        Ok(match future.iter().find(|step| is_legal(step)) {
            Some((after, _)) => Legal::Later { after: self.report_builder.op(*after) },
            None => Legal::Never { looked_at: (past.len() + future.len()) as u64 },
        })
    }

    /// An order of the operations from a cut on, with the states between, as far as there is one.
    fn path(&self, cut: &Cut, ops: &[Op<&TraceOp>], watch: &dyn Watch) -> Result<Option<Path>, NoAnswer> {
        let report = cut.check(self.spec, ops.iter().cloned(), self.options, watch)?;
        match report.verdict {
            Verdict::Accepted(witness) => self.replayed(cut, ops, &witness).map(Some),
            Verdict::Inconclusive(_) => Ok(None),
            Verdict::Rejected(explanation) => {
                // The operations before the next failure have an order.
                let Some(&failed) = explanation.blocked.first() else { return Ok(None) };
                let end = self.history.op(failed).interval.deadline();
                let before = ops.iter().filter(|op| op.interval.deadline() < end).cloned();
                let before: Vec<Op<&TraceOp>> = before.collect();
                let report = cut.check(self.spec, before.iter().cloned(), self.options, watch)?;
                match report.verdict {
                    Verdict::Accepted(witness) => self.replayed(cut, &before, &witness).map(Some),
                    _ => Ok(None),
                }
            }
        }
    }

    fn replayed(&self, cut: &Cut, ops: &[Op<&TraceOp>], witness: &Witness) -> Result<Path, NoAnswer> {
        let mut path = Vec::new();
        let Some(mut state) = cut.states.get(witness.initial() as usize).cloned() else { return Ok(path) };
        for placed in witness.steps() {
            let Some(op) = ops.iter().find(|op| op.id == placed.op) else { break };
            let Some(next) = successor(self.spec, &state, op.call, placed).map_err(NoAnswer::Fault)? else { break };
            path.push((placed.op, next.clone()));
            state = next;
        }
        Ok(path)
    }
}
