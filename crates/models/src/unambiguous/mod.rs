//! Histories that can be decided without searching.
//!
//! For queues, stacks, priority queues and sets, histories in which each value goes in at most once are decided in
//! `O(n log n)`, however many operations overlap, and so are histories of registers in which each value is written at
//! most once. For containers the order of such a history is turned into ranks: each call and each return gets its own
//! number, and an operation precedes another exactly if its return comes before the other's call. *Slot* `i` is the
//! time between event `i` and event `i + 1`, and an operation takes effect in some slot from its call up to its
//! return. A value is *surely in* during the slots that follow the return of its insert and precede the call of its
//! remove. The rest is reasoning about slots, described in each file.
//!
//! A decision carries its own evidence: an order that the model accepts, or a few operations that cannot be ordered
//! regardless of the others.

mod items;
pub mod priority_queue;
pub mod queue;
mod ranks;
pub(crate) mod register;
pub mod set;
pub mod stack;
mod tree;

use omnilink_history::OpId;

/// The result of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The model accepts the operations in this order, which respects their intervals. Unfinished operations that
    /// need not have happened are left out.
    Linearizable(Vec<OpId>),
    /// There is no such order.
    Violation {
        /// Operations that cannot be ordered, regardless of the others.
        ops: Vec<OpId>,
        /// Why they cannot: a claim, and mostly a colon and its proof.
        reason: String,
    },
    /// The procedure does not apply, for this reason.
    NotApplicable(String),
}
