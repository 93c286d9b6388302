//! Histories that can be decided without searching.

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
