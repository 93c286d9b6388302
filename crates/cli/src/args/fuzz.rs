//! The command lines of `omnilink fuzz` and `omnilink runs`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use omnilink_campaign::Choice;
use omnilink_explore::{Disturbance, parse_range};

use super::headings::{INPUT, LIMITS, OUTPUT, SCHEDULES};
use super::scheduling::{STRATEGIES, Scheduling, strategy, strategy_named};
use super::shared::{Extra, LevelArgs, Output, Progress, SinceArgs, StoreArgs};

#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// Directory with the harness settings.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Settings file [default: `omnilink.toml` in that directory].
    #[arg(long, value_name = "TOML", help_heading = INPUT)]
    pub(crate) settings: Option<PathBuf>,

    /// Profile of the settings to use.
    #[arg(long, value_name = "NAME", default_value = "default", help_heading = INPUT)]
    pub(crate) profile: String,

    /// Maximum number of runs.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..), help_heading = LIMITS)]
    pub(crate) runs: Option<u64>,

    /// Maximum total time, such as `90s` or `10m`.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = LIMITS)]
    pub(crate) time: Option<Duration>,

    /// Number of threads: a number, or an inclusive range such as `2..4`.
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = INPUT)]
    pub(crate) threads: Option<RangeInclusive<usize>>,

    /// Number of operations per thread: a number or a range.
    #[arg(long, value_name = "RANGE", value_parser = range, help_heading = INPUT)]
    pub(crate) ops: Option<RangeInclusive<usize>>,

    /// Make the calls of this script in every run, instead of drawing them from the seed.
    ///
    /// A harness that `omnilink init` writes reads scripts. A kept run has one in its file `script`.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["threads", "ops"], help_heading = INPUT)]
    pub(crate) script: Option<PathBuf>,

    /// Seed of the first run; each further run adds one [default: random].
    #[arg(long, help_heading = INPUT)]
    pub(crate) seed: Option<u64>,

    /// Scheduling strategy [default: mix if the harness can be instrumented, otherwise free].
    #[arg(long, value_name = "HOW", value_parser = schedules(), help_heading = SCHEDULES)]
    pub(crate) schedule: Option<Choice>,

    /// Maximum number of preemptions, with `--schedule dfs` [default: no limit].
    #[arg(long, value_name = "COUNT", help_heading = SCHEDULES)]
    pub(crate) bound: Option<u32>,

    #[command(flatten)]
    pub(crate) scheduling: Scheduling,

    /// Perform many executions in one process, which is faster.
    ///
    /// The harness must wrap its work in `repeat`. State that an execution leaves is visible to the next, and OmniLink
    /// cannot repeat a run that depends on it.
    #[arg(long, help_heading = SCHEDULES, hide_short_help = true)]
    pub(crate) batch: bool,

    /// Perturbations of free-running threads: a comma-separated list of none, yield, nap, pin and crowd.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = disturbance,
        help_heading = SCHEDULES,
        hide_short_help = true
    )]
    pub(crate) perturb: Option<Vec<Disturbance>>,

    /// Maximum time of one run.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,

    /// Maximum time to check one run: inconclusive after that.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = LIMITS,
        hide_short_help = true
    )]
    pub(crate) check_timeout: Duration,

    /// Continue after the first failing run, and report every cause of failure.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) keep_going: bool,

    /// Exit with 3 if a run is inconclusive, even if others are accepted.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) strict: bool,

    /// Runs to keep: the first of each cause of failure, or all.
    #[arg(long, value_name = "WHICH", default_value = "failing", help_heading = OUTPUT)]
    pub(crate) keep: Keep,

    /// Record every run with this `rr`, in chaos mode. It must be able to record and replay on this machine.
    #[arg(
        long,
        value_name = "RR",
        num_args = 0..=1,
        default_missing_value = "rr",
        help_heading = SCHEDULES,
        hide_short_help = true
    )]
    pub(crate) rr: Option<String>,

    /// Do not build the harness first.
    #[arg(long, help_heading = INPUT)]
    pub(crate) no_build: bool,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Output,

    /// Also write the reports of all runs to a file: `junit=FILE`, `sarif=FILE`, `json=FILE` or `md=FILE`. Repeatable.
    #[arg(long = "report", value_name = "KIND=FILE", help_heading = OUTPUT)]
    pub(crate) reports: Vec<Extra>,

    /// Progress display.
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = OUTPUT)]
    pub(crate) progress: Progress,

    /// The orders that count, and the operations that an operation has to see. Relaxed atomics under `--weak-memory` need
    /// `--order program`: C11 has no real time.
    #[command(flatten)]
    pub(crate) level: LevelArgs,

    /// Command that runs the harness, instead of the one in the settings.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// The name of [`Choice::Free`].
const FREE: &str = "free";

fn schedules() -> impl TypedValueParser<Value = Choice> {
    let free = PossibleValue::new(FREE).help("No scheduler: threads run freely, and are perturbed");
    let names = STRATEGIES.into_iter().map(strategy).chain([free]);
    PossibleValuesParser::new(names).map(|chosen| strategy_named(&chosen).map_or(Choice::Free, Choice::Controlled))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Keep {
    Failing,
    All,
}

fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    parse_range(text)
}

fn disturbance(text: &str) -> Result<Disturbance, String> {
    Disturbance::parse(text)
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the kept runs, the latest last.
    List {
        #[command(flatten)]
        store: StoreArgs,
        /// Output format.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
        format: Output,
    },
    /// Summarize all campaigns of `fuzz`: new causes, how often each occurs, and what was exercised.
    #[command(
        after_help = "Exit codes: 0 no cause is new, or it is accepted; 1 one is new, or a monitor found a violation; 2 the \
                            command line or an input is wrong, 4 there was no campaign."
    )]
    Summary {
        #[command(flatten)]
        store: StoreArgs,
        #[command(flatten)]
        since: SinceArgs,
        /// Output format.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
        format: Output,
    },
    /// Compare two runs, operation by operation.
    Compare {
        /// Run: a prefix of its name, or `latest`.
        #[arg(value_name = "RUN")]
        here: String,
        /// The other run.
        #[arg(value_name = "OTHER")]
        there: String,
        #[command(flatten)]
        store: StoreArgs,
        /// Output format.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
        format: Output,
    },
    /// Show a run and its verdict.
    Show {
        /// Run: a prefix of its name, `latest`, or a file written by `runs pack`.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        #[command(flatten)]
        store: StoreArgs,
        /// Recheck the trace against the specification kept with it, and compare the verdicts.
        #[arg(long, help_heading = OUTPUT)]
        recheck: bool,
    },
    /// Pack a run into one file: trace, specification, verdict and machine.
    Pack {
        /// Run: a prefix of its name, or `latest`.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Output file [default: the name of the run with `.omni`].
        #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
        output: Option<PathBuf>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Remove runs.
    Prune {
        /// Number of latest runs to keep.
        #[arg(long, value_name = "COUNT", help_heading = LIMITS)]
        keep: usize,
        #[command(flatten)]
        store: StoreArgs,
    },
}
