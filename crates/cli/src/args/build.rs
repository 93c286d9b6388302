//! The command line of `omnilink build`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use omnilink_campaign::How;

use super::headings::{INPUT, LIMITS, OUTPUT, SCHEDULES};
use super::scheduling::{STRATEGIES, Scheduling, strategy, strategy_named};
use super::shared::{Output, STORE};

#[derive(Debug, Subcommand)]
pub(crate) enum BuildCommand {
    /// Run a C or C++ compiler, or a build that calls one: `omnilink build cxx -- g++ -O2 x.cpp -o x`,
    /// `omnilink build cxx -- make`.
    Cxx(CxxArgs),
    /// Run Cargo: `omnilink build cargo -- build --release`. The same as `cargo omnilink build --release`.
    Cargo(CargoArgs),
    /// Run a program many times, each time with another schedule.
    ///
    /// `cargo omnilink test` runs tests with this command: it runs a program of Rust tests once for each test.
    #[command(after_help = "Exit codes: 0 no schedule failed, 2 the command line is wrong or the program cannot be \
                            controlled, 3 a schedule took too many steps, 5 a schedule failed, 7 one has a data race.")]
    Run(Box<RunArgs>),
    /// List what the scheduler can and cannot observe in a program.
    Audit(AuditArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CxxArgs {
    /// Print the name of a toolchain file for CMake instead: `cmake -DCMAKE_TOOLCHAIN_FILE=$(omnilink build cxx
    /// --print-cmake) ...`.
    #[arg(long, conflicts_with = "command", help_heading = OUTPUT)]
    pub(crate) print_cmake: bool,

    /// Directory of the installed runtime to link [default: the user's cache].
    #[arg(long, value_name = "DIR", help_heading = INPUT)]
    pub(crate) runtime: Option<PathBuf>,

    /// The compiler and its arguments, or a command that builds and finds its compilers in `CC`, `CXX` or `PATH`.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "print_cmake")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CargoArgs {
    /// Arguments for Cargo, and options of `omnilink build run` before the next `--`. Cargo writes to `omnilink-sched` in
    /// the target directory.
    #[arg(last = true, value_name = "ARGUMENTS", required = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// Options for the runs of a program or a test. `cargo omnilink test` accepts them as well.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Number of schedules to try for each test [default: 1000 in at most 20 s, or all with `--schedule dfs` or `dpor`].
    #[arg(
        long,
        value_name = "COUNT",
        env = "OMNILINK_RUNS",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = LIMITS
    )]
    pub(crate) runs: Option<u64>,

    /// Maximum time for the schedules of each test, such as `90s` or `10m`.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = LIMITS)]
    pub(crate) time: Option<Duration>,

    /// Seed of the first schedule; each further schedule adds one.
    #[arg(long, env = "OMNILINK_SEED", default_value_t = 1, help_heading = SCHEDULES)]
    pub(crate) seed: u64,

    /// Scheduling strategy.
    #[arg(long, value_name = "HOW", value_parser = strategies(), default_value = "mix", help_heading = SCHEDULES)]
    pub(crate) schedule: How,

    /// Maximum number of preemptions, with `--schedule dfs` [default: no limit].
    #[arg(long, value_name = "COUNT", help_heading = SCHEDULES)]
    pub(crate) bound: Option<u32>,

    #[command(flatten)]
    pub(crate) scheduling: Scheduling,
}

fn strategies() -> impl TypedValueParser<Value = How> {
    PossibleValuesParser::new(STRATEGIES.map(strategy)).map(|name| strategy_named(&name).unwrap_or(How::Mix))
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) options: RunOptions,

    /// Directory of kept runs.
    #[arg(long, value_name = "DIR", env = "OMNILINK_STORE", default_value = STORE, help_heading = OUTPUT)]
    pub(crate) store: PathBuf,

    /// Program and its arguments.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Program to inspect.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Output,
}
