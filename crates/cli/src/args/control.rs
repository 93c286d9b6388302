//! The command lines of what is done under control.

use std::path::PathBuf;

use clap::Args;

use super::shared::StoreArgs;

/// A run that was kept.
#[derive(Debug, Args)]
pub(crate) struct Kept {
    /// The beginning of the name of a run, or `latest`.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// Where the harness is. Two directories above the runs if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub(crate) kept: Kept,

    /// Replay it so many times.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub(crate) times: u32,

    /// Print every step.
    #[arg(long)]
    pub(crate) steps: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DebugArgs {
    #[command(flatten)]
    pub(crate) kept: Kept,

    /// Stop where this operation starts, called as in reports: `T3:12`. Where a run failed that crashed or is stuck, at its
    /// last step if not given.
    #[arg(long, value_name = "OPERATION")]
    pub(crate) at: Option<String>,

    /// Stop before this step instead, from 1.
    #[arg(long, value_name = "NUMBER", conflicts_with = "at")]
    pub(crate) step: Option<u64>,

    /// What else to tell the debugger, after it has stopped there.
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShrinkArgs {
    #[command(flatten)]
    pub(crate) kept: Kept,

    /// How many executions to try for each smaller number of threads and operations.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub(crate) tries: u64,

    /// How many executions to spend on a simpler schedule.
    #[arg(long, value_name = "COUNT", default_value_t = 2000)]
    pub(crate) runs: usize,
}
