//! The command lines of `omnilink export`, `confirm` and `witness`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::look::ShownArgs;
use super::shared::About;

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// A module that TLC decides: it finds the invariant violated if the history is accepted.
    Tlc(ExportArgs),
    /// Chrome trace events, which Perfetto shows: processes, operations in time, the last steps of the order as arrows.
    Perfetto(Box<ShownArgs>),
    /// The last states in the Informal Trace Format, which Apalache, Quint and viewers in editors read.
    Itf(Box<ShownArgs>),
    /// The interpretations as a graph for Graphviz.
    Dot(Box<ShownArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum WitnessCommand {
    /// Go through an order step by step, without searching.
    #[command(
        after_help = "Exit codes: 0 the order explains the history, 1 it does not, 2 the command line or an input \
                            is wrong."
    )]
    Verify(WitnessArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// The history: a file, a trace directory, or `-` for standard input.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The directory to write to. It is made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct ConfirmArgs {
    /// The TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// The history: a file or a trace directory.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The jar of TLC, `tla2tools.jar`. `java` must be on the path.
    #[arg(long, value_name = "JAR")]
    pub(crate) tlc: PathBuf,

    #[command(flatten)]
    pub(crate) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct WitnessArgs {
    /// A TLA+ module, unless `--spec` is given; then the history; then the file that `check --witness` wrote.
    #[arg(required = true, value_name = "PATH", num_args = 2..=3)]
    pub(crate) paths: Vec<PathBuf>,

    /// The specification: the name of a built-in one and its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC")]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) about: About,
}
