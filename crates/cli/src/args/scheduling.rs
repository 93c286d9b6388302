//! Options for controlled schedules, which `fuzz` and `lineup` share.

use clap::builder::PossibleValue;
use clap::{Args, value_parser};
use omnilink_campaign::How;
use omnilink_explore::{ExecutionOrder, MOST_STEPS, STEP_LIMIT};

use super::headings::{LIMITS, SCHEDULES};

/// Schedule selection.
#[derive(Debug, Clone, Args)]
pub(crate) struct Scheduling {
    /// Number of priority changes plus one, with `--schedule pct`.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 3,
        value_parser = value_parser!(u32).range(1..),
        help_heading = SCHEDULES,
        hide_short_help = true
    )]
    pub(crate) depth: u32,

    /// Maximum number of steps of an execution: inconclusive after that.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = STEP_LIMIT,
        value_parser = value_parser!(u64).range(1..=MOST_STEPS),
        help_heading = LIMITS,
        hide_short_help = true
    )]
    pub(crate) max_steps: u64,

    /// Let loads read older stores where C11 allows it.
    ///
    /// Findings may not be reproducible on your processor, and may be impossible if uninstrumented code synchronizes.
    #[arg(long, help_heading = SCHEDULES)]
    pub(crate) weak_memory: bool,

    /// Also switch threads at non-atomic accesses, for programs with data races.
    #[arg(long, help_heading = SCHEDULES)]
    pub(crate) plain: bool,

    /// Execute redundant schedules, with `--schedule dfs`.
    ///
    /// They differ from another schedule only in the order of independent steps, or in a switch just after a call or before
    /// a return.
    #[arg(long, help_heading = SCHEDULES, hide_short_help = true)]
    pub(crate) every_schedule: bool,
}

impl Scheduling {
    /// The order for each execution, without its schedule.
    pub(crate) fn order(&self, seed: u64, batch: bool) -> ExecutionOrder {
        let Scheduling { depth, max_steps, weak_memory, plain, .. } = *self;
        ExecutionOrder { seed, depth, weak: weak_memory, plain, batch, limit: max_steps, ..ExecutionOrder::default() }
    }
}

/// The strategies under control.
pub(crate) const STRATEGIES: [How; 6] = [How::Mix, How::Random, How::Pct, How::Pos, How::Dfs, How::Dpor];

/// A strategy as the value of an option.
pub(crate) fn strategy(how: How) -> PossibleValue {
    PossibleValue::new(how.name()).help(match how {
        How::Mix => "`random`, `pct` and `pos` in turns",
        How::Random => "A uniformly random enabled thread",
        How::Pct => "The enabled thread of highest random priority, which changes a few times",
        How::Pos => "The thread whose next step has the highest random priority; redrawn for racing steps",
        How::Dfs => "All schedules with at most `--bound` preemptions, those with few first",
        How::Dpor => "All schedules, one of each set that differs only in the order of independent steps",
    })
}

/// The strategy with this name.
pub(crate) fn strategy_named(name: &str) -> Option<How> {
    STRATEGIES.into_iter().find(|how| how.name() == name)
}
