//! The command line of `omnilink lineup`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use omnilink_campaign::How;
use omnilink_lineup::Test;

use super::headings::{INPUT, LIMITS, OUTPUT, SCHEDULES};
use super::scheduling::{STRATEGIES, Scheduling, strategy, strategy_named};
use super::shared::{Output, Progress};

/// The threads of a test, and the calls of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) threads: usize,
    pub(crate) calls: usize,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.threads, self.calls)
    }
}

#[derive(Debug, Args)]
pub(crate) struct LineupArgs {
    /// Directory with the settings of the object program.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Settings file [default: `omnilink.toml` in that directory].
    #[arg(long, value_name = "TOML", help_heading = INPUT)]
    pub(crate) settings: Option<PathBuf>,

    /// Test to run, such as `add(200) try_take() || add(400) try_take()`. Repeatable.
    #[arg(long = "test", value_name = "TEST", help_heading = INPUT)]
    pub(crate) given: Vec<Test>,

    /// File with tests, one per line; empty lines and lines that start with `#` are skipped.
    #[arg(long, value_name = "FILE", help_heading = INPUT)]
    pub(crate) file: Option<PathBuf>,

    /// Threads and calls per thread of random tests [default: 2x2, then 2x3, then 3x3].
    #[arg(long, value_name = "THREADSxCALLS", value_parser = size, help_heading = INPUT)]
    pub(crate) size: Option<Size>,

    /// Number of different random tests of each size, if none are given [default: 100].
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..), help_heading = INPUT)]
    pub(crate) tests: Option<u64>,

    /// Seed of the first random test; each further test adds one.
    #[arg(long, default_value_t = 1, help_heading = INPUT)]
    pub(crate) seed: u64,

    /// List the calls of the object, and exit.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) calls: bool,

    /// Schedules of the concurrent executions [default: dpor for tests of at most 6 calls if all code is
    /// instrumented, otherwise dfs and then 600 of mix].
    #[arg(long, value_name = "HOW", value_parser = schedules(), help_heading = SCHEDULES)]
    pub(crate) schedule: Option<How>,

    /// Maximum number of preemptions, with `--schedule dfs`.
    #[arg(long, value_name = "COUNT", default_value_t = 2, help_heading = SCHEDULES)]
    pub(crate) bound: u32,

    #[command(flatten)]
    pub(crate) scheduling: Scheduling,

    /// Maximum number of concurrent executions of one test [default: no limit for dpor and dfs, otherwise 1000].
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..), help_heading = LIMITS)]
    pub(crate) executions: Option<u64>,

    /// Start a process for every execution.
    ///
    /// By default, OmniLink runs many executions in one process, and detects whether one affects the next.
    #[arg(long, help_heading = SCHEDULES, hide_short_help = true)]
    pub(crate) isolate: bool,

    /// Maximum total time, such as `90s` or `10m` [default: 60s if tests, their size and their number are not given].
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = LIMITS)]
    pub(crate) time: Option<Duration>,

    /// Maximum time of one execution.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = humantime::parse_duration,
        default_value = "10s",
        help_heading = LIMITS
    )]
    pub(crate) timeout: Duration,

    /// Continue after the first failing test.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) keep_going: bool,

    /// Do not make failing tests smaller.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) no_reduce: bool,

    /// Do not build the object program first.
    #[arg(long, help_heading = INPUT)]
    pub(crate) no_build: bool,

    /// File with the serial behavior of the given test.
    ///
    /// OmniLink writes it if it does not exist; otherwise the object must still behave like that.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) observations: Option<PathBuf>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Output,

    /// Progress display.
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = OUTPUT)]
    pub(crate) progress: Progress,

    /// Command that runs the object program, instead of the one in the settings.
    ///
    /// If its first word is that of the settings, OmniLink builds the program for control; otherwise you must have built it
    /// for control.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

fn schedules() -> impl TypedValueParser<Value = How> {
    PossibleValuesParser::new(STRATEGIES.map(strategy)).map(|chosen| strategy_named(&chosen).unwrap_or(How::Dpor))
}

/// `3x2`: three threads with two calls each.
fn size(text: &str) -> Result<Size, String> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
    let parsed = text
        .split_once('x')
        .and_then(|(threads, calls)| Some(Size { threads: number(threads)?, calls: number(calls)? }));
    parsed.ok_or_else(|| format!("`{text}`, expected a size such as `3x3`: threads, and calls of each"))
}
