//! Arguments of `omnilink log`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::headings::INPUT;

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Write a first mapping of a log to a specification, from names and shapes that coincide.
    #[command(
        after_help = "The mapping goes to standard output; comments say what could not be told. Exit codes: 0 written, 2 \
                            the specification or the log cannot be read."
    )]
    Infer(InferArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InferArgs {
    /// TLA+ module.
    pub(crate) spec: PathBuf,
    /// Log: a file with lines of JSON, or a directory of such files.
    pub(crate) log: PathBuf,
    /// Lines at the beginning of each file that are not events.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = INPUT)]
    pub(crate) header: usize,
}
