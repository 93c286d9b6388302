//! A concurrent execution of a test beside the serial run that agrees with it in the most answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A serial run beside the execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClosestRun {
    /// Why no serial run explains the execution, in one sentence.
    pub sentence: String,
    /// All calls of the execution, by thread.
    pub calls: Vec<TestedCall>,
    /// The serial run: indices into the calls. It ends early if a call blocks.
    pub order: Vec<usize>,
}

/// A call of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedCall {
    /// The process of the thread.
    pub process: String,
    /// The call, as the test has it.
    pub call: String,
    /// When it was called. Only the order of times counts.
    pub start: u64,
    /// When it returned; `None` if it blocks.
    pub end: Option<u64>,
    /// Its answer in the execution, such as ` = 200` or ` blocks`; empty if it returned nothing.
    pub answer: String,
    /// Its answer in the serial run, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
}
