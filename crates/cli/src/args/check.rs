//! The command lines of `omnilink check`, `explain`, `convert` and `doctor`.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};

use super::shared::{About, AssumeArgs, Extra, MEMORY, Output, Progress};

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

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The `rr` to try.
    #[arg(long, value_name = "RR", default_value = "rr")]
    pub(crate) rr: String,

    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Output,
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
