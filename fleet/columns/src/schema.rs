//! The names and types of the columns.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};

/// The version of the columns of operations.
pub const VERSION: &str = "1";

/// The metadata field of the version.
pub const VERSION_KEY: &str = "omnilink.operations";

/// The metadata field that names the field of an operation that the column `key` repeats.
pub(crate) const KEY_OF: &str = "omnilink.key";

/// The metadata field of the events of a trace, as JSON Lines.
pub(crate) const EVENTS: &str = "omnilink.events";

/// A column that is not null in rows that are not operations: the states that an earlier check of the key left.
pub const CARRIED: &str = "carried";

/// The columns of operations.
pub(crate) mod column {
    pub(crate) const PROCESS: &str = "process";
    pub(crate) const KEY: &str = "key";
    pub(crate) const ACTION: &str = "action";
    pub(crate) const ARGUMENTS: &str = "arguments";
    pub(crate) const RESULTS: &str = "results";
    pub(crate) const START: &str = "start";
    pub(crate) const END: &str = "end";
    pub(crate) const LATEST: &str = "latest";
    pub(crate) const OUTCOME: &str = "outcome";
    pub(crate) const METADATA: &str = "metadata";
}

/// The endings of operations, in the column `outcome`.
pub(crate) mod outcome {
    pub(crate) const FINISHED: &str = "finished";
    pub(crate) const UNKNOWN: &str = "unknown";
    pub(crate) const FAILED: &str = "failed";
    pub(crate) const BLOCKED: &str = "blocked";
}

/// The columns of verdicts: one row for each key. Keys are integers or strings, as in the operations.
pub fn verdicts(key: &DataType) -> Arc<Schema> {
    let key = if key.is_integer() && *key != DataType::UInt64 { DataType::Int64 } else { DataType::Utf8 };
    Arc::new(Schema::new(vec![
        Field::new("key", key, true),
        Field::new("operations", DataType::Int64, false),
        Field::new("verdict", DataType::Utf8, false),
        Field::new("reason", DataType::Utf8, true),
        Field::new("report", DataType::Utf8, true),
        Field::new(CARRIED, DataType::Utf8, true),
    ]))
}
