//! The command line of `omnilink convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::headings::OUTPUT;
use super::inspection::SubjectOptions;

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// History to read: a file, a trace directory, or `-` for standard input.
    ///
    /// Several inputs are traces of one history, of different clients, with times that can be compared. For `tlc`,
    /// `perfetto`, `itf` and `dot`: a TLA+ module, unless `--spec` is given, followed by one history; or a run, if it is
    /// not for `tlc`.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", help_heading = OUTPUT)]
    pub(crate) to: Target,

    /// Output file, or directory for `binary` and `tlc` [default: standard output].
    #[arg(short, long, value_name = "PATH", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Argument or field of the metadata that the column `key` of a Parquet file repeats.
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "FIELD", help_heading = OUTPUT)]
    pub(crate) by: Option<String>,

    #[command(flatten)]
    pub(crate) options: SubjectOptions,
}

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// The history as JSON Lines
    Jsonl,
    /// The history as text
    Text,
    /// The history as a trace directory
    Binary,
    /// The history as a Parquet file
    #[cfg(feature = "fleet")]
    Parquet,
    /// The history and its specification as a TLA+ module: TLC finds an invariant violated if the history is accepted
    Tlc,
    /// The check as Chrome trace events for Perfetto: operations over time, the last steps of the order as arrows
    Perfetto,
    /// The last states in the Informal Trace Format, for Apalache, Quint and editor viewers
    Itf,
    /// The interpretations as a Graphviz graph
    Dot,
}
