//! The number of times that a trace has each operation of a built-in type.

use omnilink_history::{Call, History, Op};
use omnilink_report::{Coverage, CoveredAction};

/// Counts operations by name, if requested.
pub(super) struct CoverageCounter {
    pub(super) coverage: Option<Coverage>,
    operations: &'static [omnilink_models::Operation],
    /// True if the specification does not list its operations.
    is_open: bool,
}

impl CoverageCounter {
    pub(super) fn new(spec: &str, is_wanted: bool) -> CoverageCounter {
        let name = spec.split_once(':').map_or(spec, |(name, _)| name);
        let about = omnilink_models::names().iter().find(|about| about.name == name);
        let operations = about.map_or(&[][..], |about| about.operations);
        let actions = operations.iter().map(|operation| action(operation.name(), 0)).collect();
        let coverage = is_wanted.then(|| Coverage { actions, ..Coverage::default() });
        CoverageCounter { coverage, operations, is_open: about.is_none() }
    }

    /// The counts of a whole history, if requested.
    pub(super) fn of(spec: &str, is_wanted: bool, history: &History<Call>) -> Option<Coverage> {
        let mut counter = is_wanted.then(|| CoverageCounter::new(spec, is_wanted))?;
        history.ops().iter().for_each(|op| counter.add(op));
        counter.coverage
    }

    pub(super) fn add(&mut self, op: &Op<Call>) {
        let Some(coverage) = &mut self.coverage else { return };
        coverage.operations += 1;
        coverage.relevant += u64::from(!op.call.failed);
        let name = op.call.action();
        let known = self.operations.iter().find(|known| known.aliases.contains(&name));
        let name = known.map_or(name, |known| known.name());
        match coverage.actions.iter_mut().find(|action| action.name == name) {
            Some(action) => action.operations += 1,
            None if self.is_open => coverage.actions.push(action(name, 1)),
            None => {}
        }
    }
}

/// An action with this many operations.
fn action(name: &str, operations: u64) -> CoveredAction {
    CoveredAction { name: name.to_owned(), operations, steps: 0, is_internal: false, parts: Vec::new() }
}
