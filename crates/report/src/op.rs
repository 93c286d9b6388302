//! References to operations, and the orders between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order between operations of different processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// An operation that returned before another began comes first.
    RealTime,
    /// Only the order within each process counts.
    Program,
    /// No order counts.
    None,
}

/// An operation: an index into [`Report::operations`](crate::Report::operations).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct OpRef(pub usize);
