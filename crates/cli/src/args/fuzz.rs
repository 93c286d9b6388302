//! The command lines of `omnilink fuzz` and `omnilink runs`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use campaign::{Choice, How};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum, value_parser};
use explore::{Disturbance, MOST_STEPS, STEP_LIMIT, parse_range};

use super::shared::{Extra, Order, Output, Progress, StoreArgs};

#[derive(Debug, Args)]
pub(crate) struct FuzzArgs {
    /// The directory with the settings of the harness.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Other settings than the file `omnilink.toml` in that directory.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: Option<PathBuf>,

    /// Which profile of the settings to use.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) profile: String,

    /// How many runs, at most.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,

    /// How long in all, such as `90s` or `10m`.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) time: Option<Duration>,

    /// How many threads: a number, or a range such as `2..4`, both included.
    #[arg(long, value_name = "RANGE", value_parser = range)]
    pub(crate) threads: Option<RangeInclusive<usize>>,

    /// How many operations each thread performs: a number or a range.
    #[arg(long, value_name = "RANGE", value_parser = range)]
    pub(crate) ops: Option<RangeInclusive<usize>>,

    /// The seed of the first run; the next run has the next one. Another one every time if not given.
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    /// What decides who runs. If not given, it is `random` if the harness can be built so that it can be controlled, and
    /// `free` if not.
    #[arg(long, value_name = "HOW", value_parser = schedules())]
    pub(crate) schedule: Option<Choice>,

    #[command(flatten)]
    pub(crate) scheduling: Scheduling,

    /// What orders operations of different threads: `real-time` for linearizability, `program` for sequential
    /// consistency, such as for code with relaxed atomics under `--weak-memory`: C11 has no real time.
    #[arg(long, value_name = "ORDER", default_value = "real-time")]
    pub(crate) order: Order,

    /// What may disturb threads that run freely: any of none, yield, nap, pin and crowd, with commas between them.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = disturbance)]
    pub(crate) perturb: Option<Vec<Disturbance>>,

    /// How long one run may take.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// How long the check of one run may take: inconclusive after that.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "10s")]
    pub(crate) check_timeout: Duration,

    /// Go on after the first run that fails, and tell runs that fail for different reasons apart.
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Which runs to keep: the first of each reason to fail, or all of them.
    #[arg(long, value_name = "WHICH", default_value = "failing")]
    pub(crate) keep: Keep,

    /// Record every run with this `rr`, threads scheduled at random by it. Refused if it cannot record and replay here.
    #[arg(long, value_name = "RR", num_args = 0..=1, default_missing_value = "rr")]
    pub(crate) rr: Option<String>,

    /// Do not build the harness before.
    #[arg(long)]
    pub(crate) no_build: bool,

    /// How to print the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Output,

    /// Also write the reports of all runs to a file: `junit=FILE`, `sarif=FILE`, `json=FILE` or `md=FILE`. May be given
    /// several times.
    #[arg(long = "report", value_name = "KIND=FILE")]
    pub(crate) reports: Vec<Extra>,

    /// How to show progress.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: Progress,

    /// The command that runs the harness, instead of the one in the settings.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// How schedules are chosen.
#[derive(Debug, Clone, Args)]
pub(crate) struct Scheduling {
    /// How many times, plus one, a thread loses its priority, with `--schedule pct`.
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = value_parser!(u32).range(1..))]
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
const SCHEDULES: [(Choice, &str, &str); 6] = [
    (Choice::Controlled(How::Random), "random", "Any thread that can go on, each as likely as the others"),
    (Choice::Controlled(How::Pct), "pct", "The thread with the highest of random priorities, which change a few times"),
    (
        Choice::Controlled(How::Pos),
        "pos",
        "The thread whose next step has the highest priority; drawn again for steps that race",
    ),
    (Choice::Controlled(How::Dfs), "dfs", "All schedules one after the other, with few interruptions first"),
    (
        Choice::Controlled(How::Dpor),
        "dpor",
        "All schedules, but one of those that differ only in the order of steps that do not meet",
    ),
    (Choice::Free, "free", "Nobody: threads run freely, and are disturbed"),
];

fn schedules() -> impl TypedValueParser<Value = Choice> {
    let names = SCHEDULES.map(|(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).map(|chosen| {
        let known = SCHEDULES.into_iter().find(|(_, name, _)| *name == chosen);
        known.map_or(Choice::Best, |(choice, ..)| choice)
    })
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
    /// List the runs that were kept, the last one last.
    List {
        #[command(flatten)]
        store: StoreArgs,
        /// How to print them.
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: Output,
    },
    /// Show what ran, and what came of it.
    Show {
        /// The beginning of the name of a run, `latest`, or a file that `runs pack` wrote.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        #[command(flatten)]
        store: StoreArgs,
        /// Check the recording again, against the specification that is kept with it, and compare.
        #[arg(long)]
        recheck: bool,
    },
    /// Put a run into one file: recording, specification, verdict and where it ran.
    Pack {
        /// The beginning of the name of a run, or `latest`.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// The file. The name of the run with `.omni` if not given.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Remove runs.
    Prune {
        /// How many of the last ones to keep.
        #[arg(long, value_name = "COUNT")]
        keep: usize,
        #[command(flatten)]
        store: StoreArgs,
    },
}
