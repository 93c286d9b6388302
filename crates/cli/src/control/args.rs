//! The command lines of what is done under control.

use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use explore::{MOST_STEPS, STEP_LIMIT};

use crate::fuzz::args::StoreArgs;

/// How schedules are chosen.
#[derive(Debug, Clone, Args)]
pub(crate) struct Scheduling {
    /// How many times, plus one, a thread loses its priority, with `--schedule pct`.
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,

    /// How many times at most a thread is interrupted that could go on, with `--schedule dfs`. No limit if not given.
    #[arg(long, value_name = "COUNT")]
    pub(crate) bound: Option<u32>,

    /// How many steps an execution may make: inconclusive after that.
    #[arg(long, value_name = "COUNT", default_value_t = STEP_LIMIT, value_parser = value_parser!(u64).range(1..=MOST_STEPS))]
    pub(crate) max_steps: u64,

    /// Let loads read older stores where C11 allows it. What is found then may not happen on your processor, and where
    /// code synchronizes that was not instrumented, it may not happen at all.
    #[arg(long)]
    pub(crate) weak_memory: bool,

    /// Perform many executions in one process, with a harness that runs what it does with `repeat`: faster, but what one
    /// leaves behind is there for the next, and a run that depends on it cannot be repeated.
    #[arg(long)]
    pub(crate) batch: bool,

    /// Also switch threads at accesses that are not atomic, for programs with data races.
    #[arg(long)]
    pub(crate) plain: bool,
}

/// What chooses who makes the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum How {
    /// Any thread that can go on, each as likely as the others.
    Random,
    /// The thread with the highest of random priorities, which change a few times.
    Pct,
    /// The thread whose next step has the highest priority; drawn again for steps that race.
    Pos,
    /// All schedules one after the other, with few interruptions first.
    Dfs,
    /// All schedules, but one of those that differ only in the order of steps that do not meet.
    Dpor,
    /// Nobody: threads run freely, and are disturbed.
    Free,
}

impl How {
    pub(crate) fn name(self) -> &'static str {
        match self {
            How::Random => "random",
            How::Pct => "pct",
            How::Pos => "pos",
            How::Dfs => "dfs",
            How::Dpor => "dpor",
            How::Free => "free",
        }
    }

    /// Whether it ends by itself, when there is nothing left.
    pub(crate) fn is_exploration(self) -> bool {
        matches!(self, How::Dfs | How::Dpor)
    }
}

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
