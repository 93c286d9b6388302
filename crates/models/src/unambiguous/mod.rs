//! Histories that can be decided without searching.
//!
//! For queues, stacks, priority queues and sets, histories in which each value goes in at most once are decided in `O(n
//! log n)`, however many operations overlap, and so are histories of registers in which each value is written at most
//! once. For containers the order of such a history is turned into ranks: each call and each return gets a number of its own, and an operation precedes another exactly if its return comes before the other's
//! call. *Slot* `i` is the time between event `i` and event `i + 1`, and an operation takes effect in some slot from
//! its call up to its return. A value is *surely in* during the slots that follow the return of its insert and precede
//! the call of its remove. Everything else is arguing about slots; each file says how.
//!
//! A decision carries what is needed to check it: an order that the model accepts, or a few operations that cannot be
//! ordered whatever the others do.

mod items;
pub mod priority_queue;
pub mod queue;
mod ranks;
pub(crate) mod register;
pub mod set;
pub mod stack;
mod tree;

use history::OpId;

/// What a procedure found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The model accepts the operations in this order, which respects their intervals. Operations that never finished
    /// and need not have happened are left out.
    Linearizable(Vec<OpId>),
    /// There is no such order.
    Violation {
        /// Operations that cannot be ordered, whatever the others do.
        ops: Vec<OpId>,
        /// Why they cannot.
        reason: String,
    },
    /// The procedure cannot tell, for this reason.
    NotApplicable(String),
}
