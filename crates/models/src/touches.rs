//! The reads and writes of a history that has only these, and what they contradict.

use omnilink_history::{History, OpId};
use omnilink_weak::Level;
use omnilink_weak::registers::{self, Axioms, Decision, Touch};

use crate::Model;

/// The reads and writes of a history that has only these.
pub(crate) struct Touches {
    history: History<Touch>,
    initial: u64,
}

impl Touches {
    /// `None` if there are other operations.
    pub(crate) fn of<M: Model, T>(model: &M, bound: &History<T>, recorded: impl Fn(&T) -> &M::Op) -> Option<Touches> {
        let mut initial = 0;
        let history = bound.try_map(|op| {
            let (touch, first) = model.touch(recorded(&op.call)).ok_or(())?;
            initial = first;
            Ok::<_, ()>(Some(touch))
        });
        Some(Touches { history: history.ok()?, initial })
    }

    /// Decides without searching. `None` if there is no procedure for the level.
    pub(crate) fn decide(&self, level: &Level) -> Option<Decision> {
        Some(registers::decide(&self.history, self.initial, &Axioms::of(level)?, level.order))
    }

    /// Operations that contradict each other at a weaker level, and why: the weakest such level makes for the simplest
    /// reason. For levels without a procedure of their own.
    pub(crate) fn refute(&self, level: &Level) -> Option<(Vec<OpId>, String)> {
        let mut presets: Vec<Level> = Level::presets().filter_map(|(name, _)| Level::named(name).ok()).collect();
        presets.retain(|weaker| level.implies(weaker) && weaker != level);
        presets.iter().rev().find_map(|weaker| match self.decide(weaker)? {
            Decision::Violation { ops, reason } => Some((ops, format!("{reason} (not even at the level `{weaker}`)"))),
            Decision::Consistent(_) | Decision::NotApplicable(_) => None,
        })
    }
}
