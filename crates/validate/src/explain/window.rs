//! A small part of the history that fails by itself.

use omnilink_history::OpId;
use omnilink_report::Window;
use omnilink_search::Watch;

use super::Explainer;
use crate::cut::Cuts;
use crate::fault::NoAnswer;

impl Explainer<'_, '_> {
    /// The smallest part of the history that ends with the failure and fails from every state possible before it.
    pub(super) fn window(&mut self, goal: OpId, cuts: &Cuts, watch: &dyn Watch) -> Result<Option<Window>, NoAnswer> {
        let Some(cut) = cuts.smallest(self.history, goal) else { return Ok(None) };
        let report = cut.check(self.spec, cut.until(self.history, goal), self.options, watch)?;
        if !report.verdict.is_rejected() {
            return Ok(None);
        }
        let operations = cut.until(self.history, goal).map(|op| self.report_builder.op(op.id)).collect();
        let start = cut.states.iter().map(|state| self.spec.show(&state.values)).collect();
        Ok(Some(Window { start, operations, before: cut.before() }))
    }
}
