//! The command lines of the commands that replay runs under the scheduler.

use std::path::PathBuf;

use clap::Args;

use super::headings::{INPUT, LIMITS, OUTPUT};
use super::shared::StoreArgs;

/// A kept run.
#[derive(Debug, Args)]
pub(crate) struct Kept {
    /// Run: a prefix of its name, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// Directory of the harness [default: two directories above the runs].
    #[arg(long, value_name = "DIR", help_heading = INPUT)]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) kept: Kept,

    /// Number of replays.
    #[arg(long, value_name = "COUNT", default_value_t = 1, help_heading = LIMITS)]
    pub(crate) times: u32,

    /// Print every step.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) steps: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) kept: Kept,

    /// Stop where this operation starts, named as in reports: `T3:12` [default: the operation that no order can
    /// place, or the last step, where a run that crashed or got stuck failed].
    #[arg(long, value_name = "OPERATION", help_heading = INPUT)]
    pub(crate) at: Option<String>,

    /// Stop before this step instead, counted from 1.
    #[arg(long, value_name = "NUMBER", conflicts_with = "at", help_heading = INPUT)]
    pub(crate) step: Option<u64>,

    /// Arguments for the debugger, applied after it has stopped there.
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShrinkArgs {
    #[command(flatten)]
    pub(crate) kept: Kept,

    /// Number of random schedules to try for each choice of operations, if the recorded schedule does not fail with it.
    #[arg(long, value_name = "COUNT", default_value_t = 20, help_heading = LIMITS)]
    pub(crate) tries: u64,

    /// Number of executions to spend on simplifying the schedule.
    #[arg(long, value_name = "COUNT", default_value_t = 2000, help_heading = LIMITS)]
    pub(crate) runs: usize,
}
