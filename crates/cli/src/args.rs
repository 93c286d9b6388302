//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};
use history::Precedence;
use search::Criterion;

use crate::build::args::BuildCommand;
use crate::check::output::Extra;
use crate::control::args::{DebugArgs, ReplayArgs, ShrinkArgs};
use crate::doctor::DoctorArgs;
use crate::fuzz::args::{FuzzArgs, RunsCommand};
use crate::harness::args::{GenArgs, InitArgs};
use crate::limits::Settings;
use crate::look::args::{AssumeArgs, ReportArgs, ViewArgs};
use crate::spec::args::SpecCommand;
use crate::trust::args::{ConfirmArgs, ExportCommand, WitnessCommand};

/// Could what my system did have been done by its specification, and if not, why not?
#[derive(Debug, Parser)]
#[command(name = "omnilink", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check recorded histories against a specification.
    #[command(after_help = "Exit codes: 0 every history is accepted, 1 one is rejected, 2 the command line or an \
                            input is wrong, 3 one is inconclusive, 4 nothing to check, 6 all are accepted and say too \
                            little (`--strict`). 2 wins over 1, 1 over 3, and 3 over 6.")]
    Check(CheckArgs),
    /// Check, and explain a rejection in full: every possible state, every reason, every order that is still possible. Also
    /// shows a report again that `--report json=FILE` wrote.
    Explain(CheckArgs),
    /// Write a page about a run, a history or a directory of runs: one file that needs nothing else.
    #[command(after_help = "A page holds what was recorded: who gets it can read all of it. Exit codes are those of \
                            `check`, for what the page is about.")]
    Report(Box<ReportArgs>),
    /// Look at the same page while it is served on this machine: assumptions are checked, expressions are evaluated.
    #[command(after_help = "Exit codes: 0 ended with Ctrl-C, 2 the command line or an input is wrong, 3 inconclusive.")]
    View(Box<ViewArgs>),
    /// Write a history and its specification for another checker, or what a check found for another program.
    #[command(subcommand)]
    Export(ExportCommand),
    /// Let TLC decide a history too, and compare.
    #[command(
        after_help = "Exit codes: 0 both verdicts are the same, 1 they differ, 2 the command line or an input is \
                            wrong, or TLC has no verdict, 3 inconclusive, 4 nothing to check."
    )]
    Confirm(ConfirmArgs),
    /// Work with the orders that `check --witness` writes.
    #[command(subcommand)]
    Witness(WitnessCommand),
    /// Run a harness many times, check every recording, and keep what fails.
    #[command(
        after_help = "Exit codes: 0 every run is accepted, 1 one is rejected, 2 the command line, the settings, the \
                            specification or the build is wrong, 3 one is inconclusive, 4 nothing was recorded, 5 the \
                            harness crashed or did not end. 2 wins over 1, 1 over 5, and 5 over 3."
    )]
    Fuzz(FuzzArgs),
    /// Repeat a run that was kept, step by step, and compare.
    #[command(
        after_help = "Exit codes: those of `check` for what the run shows, 5 it crashes or is stuck again, 2 it went \
                            another way than when it was kept, or something is wrong."
    )]
    Replay(ReplayArgs),
    /// Repeat a run under gdb, stopped where an operation starts.
    Debug(DebugArgs),
    /// Find a smaller run that fails for the same reason, with fewer switches between threads.
    #[command(
        after_help = "Exit codes: 1 a smaller run is kept that is rejected, 5 one that crashes or is stuck, 2 something \
                            is wrong."
    )]
    Shrink(ShrinkArgs),
    /// Build a program so that its threads can be controlled.
    #[command(subcommand)]
    #[command(after_help = "Exit codes: those of what is run, 2 the command line is wrong or nothing can be run.")]
    Build(BuildCommand),
    /// Look at the runs that were kept.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Say what can be done on this machine: clocks, `rr`, compilers, Java.
    Doctor(DoctorArgs),
    /// Convert a history from one format to another.
    Convert(ConvertArgs),
    /// Write a harness from a specification: a function to fill in for each call, and code that draws and records calls.
    #[command(
        after_help = "Exit codes: 0 written, or up to date with --check, 1 the harness and the specification have \
                            drifted apart, 2 the command line, the specification or the settings are wrong."
    )]
    Gen(GenArgs),
    /// Set up a project: a specification, a harness with a small system in it that works, and settings.
    Init(InitArgs),
    /// Check, list or evaluate a TLA+ specification on its own.
    #[command(subcommand)]
    Spec(SpecCommand),
    /// List the built-in specifications, or show the operations of one.
    Specs {
        /// The specification to show.
        name: Option<String>,
    },
}

/// What a history is, what belongs to its specification, and how long to look.
#[derive(Clone, Debug, Args)]
pub(crate) struct About {
    /// The configuration of a TLA+ module. The file beside it that has the same name and ends in `.cfg` if not given.
    #[arg(long, value_name = "CFG")]
    pub(crate) config: Option<PathBuf>,

    /// Where to look for modules that are neither beside the root module nor built in. May be given several times.
    #[arg(long = "include", value_name = "DIR")]
    pub(crate) includes: Vec<PathBuf>,

    /// How operations and a TLA+ module belong together. The file `omnilink.toml` beside the module if not given.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: Option<PathBuf>,

    /// The format of the histories. Found out by looking at them if not given.
    #[arg(long, value_name = "FORMAT", value_parser = judge::input::parse_format)]
    pub(crate) from: Option<judge::input::Kind>,

    /// What orders operations of different processes: `real-time` for linearizability, `program` for sequential
    /// consistency.
    #[arg(long, value_name = "ORDER", default_value = "real-time")]
    pub(crate) order: Order,

    /// A field by which the system itself orders operations, such as a revision: its order is tried first, and the
    /// history is searched only if the specification does not allow that one.
    #[arg(long, value_name = "FIELD", conflicts_with = "order")]
    pub(crate) order_by: Option<String>,

    /// Give up on a history after this time, such as `90s` or `10m`: inconclusive.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Give up on a history when the process uses this much memory, such as `64M` or `2G`: inconclusive.
    #[arg(long, value_name = "SIZE", default_value_t = MEMORY)]
    pub(crate) max_memory: ByteSize,
}

/// What a check may use, where nobody says.
const MEMORY: ByteSize = ByteSize::gib(16);

impl About {
    /// True if it says something that belongs to a history, and not to whatever is looked at.
    pub(crate) fn is_of_history(&self) -> bool {
        self.config.is_some() || !self.includes.is_empty() || self.settings.is_some() || self.from.is_some()
    }

    /// What it says about how to check.
    pub(crate) fn options(&self) -> judge::Options {
        judge::Options {
            config: self.config.clone(),
            includes: self.includes.clone(),
            settings: self.settings.clone(),
            criterion: self.order.criterion(),
            order_by: self.order_by.clone(),
            max_memory: self.max_memory.as_u64(),
            print: |text| text.lines().for_each(|line| errln!("{}", report::clean(line))),
            ..judge::Options::default()
        }
    }
}

impl From<&About> for Settings {
    fn from(about: &About) -> Settings {
        Settings { timeout: about.timeout, max_memory: about.max_memory.as_u64(), progress: Progress::None }
    }
}

impl From<&CheckArgs> for judge::Options {
    fn from(args: &CheckArgs) -> judge::Options {
        judge::Options {
            max_width: args.max_width,
            shortcuts: !args.no_shortcuts,
            exhaustive: args.exhaustive,
            jobs: args.jobs,
            assume: args.assume.assume.clone(),
            // Pages show it too.
            coverage: args.coverage || args.strict || args.reports.iter().any(Extra::is_page),
            ..args.about.options()
        }
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// A TLA+ module, unless `--spec` is given, and then what to check: files, trace directories, directories of either,
    /// or `-` for standard input.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// The specification: the name of a built-in one and its options, such as `queue:capacity=4`, or a TLA+ module.
    /// `omnilink specs` lists those that are built in.
    #[arg(long, value_name = "SPEC")]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) about: About,

    /// How to print the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: CheckOutput,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,

    /// Also write a report to a file: `html=FILE`, `junit=FILE`, `sarif=FILE`, `json=FILE` or `md=FILE`. May be given
    /// several times. A page is about one history; of several, each has a page of its own, and they are numbered.
    #[arg(long = "report", value_name = "KIND=FILE")]
    pub(crate) reports: Vec<Extra>,

    /// Show what the check took: configurations, evaluations, how many fell together, the widest place.
    #[arg(long)]
    pub(crate) stats: bool,

    /// Show what of the specification the histories exercised: actions, branches, and guards that were ever false. JSON
    /// has it for each history.
    #[arg(long)]
    pub(crate) coverage: bool,

    /// End with 6 if a history has no operation that the specification says something about, or if an action of the
    /// specification occurs in no history.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Write the order that was found for an accepted history to this file, one operation a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) witness: Option<PathBuf>,

    /// Give up on a history when more configurations than this are possible at once: inconclusive [default: 250000, or no
    /// limit with --exhaustive].
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_width: Option<usize>,

    /// Neither split a history into independent parts nor use a procedure made for one data type: search it whole.
    #[arg(long)]
    pub(crate) no_shortcuts: bool,

    /// Place operations one by one in every order that is possible, and leave nothing out, as a model checker does. The
    /// counts that `--stats` shows can then be compared with those of TLC on what `omnilink export tlc` writes.
    #[arg(long)]
    pub(crate) exhaustive: bool,

    /// How many parts of a history to search at once. All cores if not given.
    #[arg(short = 'j', long, value_name = "COUNT")]
    pub(crate) jobs: Option<usize>,

    /// How to show progress.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: Progress,

    /// Print nothing for histories that are accepted.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// The history to read: a file, a trace directory, or `-` for standard input.
    pub(crate) input: PathBuf,

    /// Where to write it: a file, or a directory for the format `binary`. Standard output if not given.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,

    /// The format to read. Found out by looking if not given.
    #[arg(long, value_name = "FORMAT", value_parser = judge::input::parse_format)]
    pub(crate) from: Option<judge::input::Kind>,

    /// The format to write.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) to: Writable,

    /// Give up after this time, such as `90s` or `10m`.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Give up when the process uses this much memory, such as `64M` or `2G`.
    #[arg(long, value_name = "SIZE", default_value_t = MEMORY)]
    pub(crate) max_memory: ByteSize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    RealTime,
    Program,
}

impl Order {
    /// As it stands in reports.
    pub(crate) fn reported(self) -> report::Order {
        match self {
            Order::RealTime => report::Order::RealTime,
            Order::Program => report::Order::Program,
        }
    }

    /// Which orders count.
    pub(crate) fn criterion(self) -> Criterion {
        Criterion { precedence: self.precedence() }
    }

    pub(crate) fn precedence(self) -> Precedence {
        match self {
            Order::RealTime => Precedence::RealTime,
            Order::Program => Precedence::Program,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Human,
    Json,
}

/// How reports are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckOutput {
    Human,
    Json,
    /// Markdown
    Md,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Writable {
    Jsonl,
    Text,
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// A bar on a terminal, counters elsewhere.
    Auto,
    Bar,
    /// A line every few seconds.
    Counters,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}
