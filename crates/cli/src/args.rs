//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::spec::args::SpecCommand;

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
                            input is wrong, 3 one is inconclusive, 4 nothing to check. 2 wins over 1, and 1 over 3.")]
    Check(CheckArgs),
    /// Convert a history from one format to another.
    Convert(ConvertArgs),
    /// Check, list or evaluate a TLA+ specification on its own.
    #[command(subcommand)]
    Spec(SpecCommand),
    /// List the built-in specifications, or show the operations of one.
    Specs {
        /// The specification to show.
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// What to check: files, trace directories, directories of either, or `-` for standard input.
    #[arg(required = true, value_name = "HISTORY")]
    pub(crate) histories: Vec<PathBuf>,

    /// The specification: the name of a built-in one and its options, such as `queue:capacity=4`. `omnilink specs` lists
    /// them.
    #[arg(long, value_name = "SPEC")]
    pub(crate) spec: String,

    /// The format of the histories. Found out by looking at them if not given.
    #[arg(long, value_name = "FORMAT", value_parser = crate::input::parse_format)]
    pub(crate) from: Option<crate::input::Kind>,

    /// What orders operations of different processes: `real-time` for linearizability, `program` for sequential
    /// consistency.
    #[arg(long, value_name = "ORDER", default_value = "real-time")]
    pub(crate) order: Order,

    /// How to print the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Output,

    /// Write the order that was found for an accepted history to this file, one operation a line.
    #[arg(long, value_name = "FILE")]
    pub(crate) witness: Option<PathBuf>,

    /// Give up on a history after this time, such as `90s` or `10m`: inconclusive.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Give up on a history when the process uses this much memory, such as `64M` or `2G`: inconclusive.
    #[arg(long, value_name = "SIZE", default_value = "16G")]
    pub(crate) max_memory: ByteSize,

    /// Give up on a history when more configurations than this are possible at once: inconclusive.
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_width: Option<usize>,

    /// Neither split a history into independent parts nor use a procedure made for one data type: search it whole.
    #[arg(long)]
    pub(crate) no_shortcuts: bool,

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
    #[arg(long, value_name = "FORMAT", value_parser = crate::input::parse_format)]
    pub(crate) from: Option<crate::input::Kind>,

    /// The format to write.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) to: Writable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    RealTime,
    Program,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Human,
    Json,
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
