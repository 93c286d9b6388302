//! The order in which the search places operations: the current goal, and the operations to try for it.
//!
//! The search extends configurations, one operation at a time, until each meets the current *goal*; a walk defines
//! the goal and the operations to try. Walking just in time ([`crate::stream`]), the goal is to have placed the
//! operation that returns next; walking by level ([`crate::levels`]), it is to have placed one operation more.

use std::hash::{Hash, Hasher};

use omnilink_history::{Op, OpId};

/// A walk of the search. `P` is the payload of operations.
pub(crate) trait Walk<P> {
    /// Which operations a configuration has placed.
    type Cut: Clone + Eq;

    /// True if the goal is reached.
    fn is_met(&self, cut: &Self::Cut) -> bool;

    /// True if a configuration that has not reached the goal may stay unchanged: the goal is an operation that counts
    /// as placed although its effect was not used, or one that need not take effect at all.
    fn may_pass(&self, _cut: &Self::Cut) -> bool {
        false
    }

    /// True if a configuration may stay unchanged after a step of this operation that is not its last.
    fn may_stop(&self, _partway: Move) -> bool {
        false
    }

    /// Adds the operations to try on the way to the goal. If `thorough`, these are all operations that may be next;
    /// otherwise those whose place does not matter for the goal are left out.
    fn moves(&self, cut: &Self::Cut, thorough: bool, out: &mut Vec<Move>);

    /// Adds the observers that may be next: all of them, or those that the last move may have enabled.
    fn observers(&self, cut: &Self::Cut, after: Option<Move>, out: &mut Vec<Move>);

    /// True if placing an observer may make another one available.
    fn has_chains(&self) -> bool;

    /// The operation of a move.
    fn op(&self, next: Move) -> &Op<P>;

    /// The cut after a move. An operation that is partway with it is not placed.
    fn place(&self, cut: &Self::Cut, next: Move, partway: bool) -> Self::Cut;

    /// Adds the operations that the move between two cuts has absorbed: they count as placed directly before it.
    fn absorbed(&self, _before: &Self::Cut, _after: &Self::Cut, _out: &mut Vec<OpId>) {}

    /// The operations that count as placed although their effect was not used.
    fn optional(&self, _cut: &Self::Cut) -> Vec<OpId> {
        Vec::new()
    }

    /// The number of operations used up that others still have. Less is better.
    fn cost(&self, _cut: &Self::Cut) -> usize {
        0
    }

    /// The reason required for an operation that has just been placed.
    fn reason(&self, _cut: &Self::Cut, _last: Move) -> Reason {
        Reason::None
    }

    /// True if an operation directly after another could be a reason to place the other.
    fn may_follow(&self, _last: Move, _next: Move) -> bool {
        true
    }

    /// Operations that may not be next, each with one that must come before it.
    fn waiting(&self, cut: &Self::Cut) -> Vec<(OpId, OpId)>;

    /// Hashes the part that two cuts must share for one to cover the other.
    fn hash_core<H: Hasher>(&self, cut: &Self::Cut, hasher: &mut H);

    /// True if, from the same state, every continuation of `b` is one of `a`. Every cut covers itself.
    fn covers(&self, a: &Self::Cut, b: &Self::Cut) -> bool;
}

/// An operation that may be next, by its number in the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Move(pub(crate) u32);

/// The condition for placing an operation before the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It needs no reason.
    None,
    /// The next operation must not overwrite it.
    Kept,
    /// The operation is unfinished. The next operation must not be possible without it, with the same effect.
    Needed,
}
