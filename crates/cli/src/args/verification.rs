//! The command lines of `omnilink export`, `confirm` and `witness`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::headings::{OPINION, OUTPUT, SPECIFICATION};
use super::inspection::ShownArgs;
use super::shared::About;

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// TLA+ module for TLC: TLC finds the invariant violated if the history is accepted.
    Tlc(Box<ExportArgs>),
    /// Chrome trace events for Perfetto: processes, operations over time, the last steps of the order as arrows.
    Perfetto(Box<ShownArgs>),
    /// The last states in the Informal Trace Format, for Apalache, Quint and editor viewers.
    Itf(Box<ShownArgs>),
    /// The interpretations as a Graphviz graph.
    Dot(Box<ShownArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum WitnessCommand {
    /// Replay an order step by step, without searching.
    #[command(
        after_help = "Exit codes: 0 the order explains the history, 1 it does not, 2 the command line or an input \
                            is wrong."
    )]
    Verify(WitnessArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// History: a file, a trace directory, or `-` for standard input.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// Output directory. Created if missing.
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct ConfirmArgs {
    /// TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// History: a file or a trace directory.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// Path of TLC's `tla2tools.jar`. `java` must be on the path.
    #[arg(long, value_name = "JAR", help_heading = OPINION)]
    pub(crate) tlc: PathBuf,

    #[command(flatten)]
    pub(crate) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct WitnessArgs {
    /// TLA+ module, unless `--spec` is given; then the history; then the file written by `check --witness`.
    #[arg(required = true, value_name = "PATH", num_args = 2..=3)]
    pub(crate) paths: Vec<PathBuf>,

    /// Specification: a built-in one with its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC", help_heading = SPECIFICATION)]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) about: About,
}
