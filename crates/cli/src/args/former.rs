//! The former names of commands, which still work and which help texts do not list.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::check::CheckArgs;
use super::harness::GenArgs;
use super::inspection::ExportArgs;
use super::verification::{ConfirmArgs, ModuleArgs, VerifyArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum FormerCommand {
    /// The same as `omnilink check --full`.
    #[command(hide = true)]
    Explain(Box<CheckArgs>),
    /// The same as `omnilink convert --to`.
    #[command(hide = true, subcommand)]
    Export(ExportCommand),
    /// The same as `omnilink check --tlc`.
    #[command(hide = true)]
    Confirm(ConfirmArgs),
    /// The same as `omnilink check --verify`.
    #[command(hide = true, subcommand)]
    Witness(WitnessCommand),
    /// The same as `omnilink init --update` and `omnilink init --check`.
    #[command(hide = true)]
    Gen(GenArgs),
    /// The same as `omnilink init --log`.
    #[command(hide = true, subcommand)]
    Log(LogCommand),
    /// The same as `omnilink spec levels`.
    #[command(hide = true)]
    Levels,
    /// The same as `omnilink spec list`.
    #[command(hide = true)]
    Specs {
        /// Specification to show.
        name: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// The same as `omnilink convert --to tlc`.
    Tlc(Box<ModuleArgs>),
    /// The same as `omnilink convert --to perfetto`.
    Perfetto(Box<ExportArgs>),
    /// The same as `omnilink convert --to itf`.
    Itf(Box<ExportArgs>),
    /// The same as `omnilink convert --to dot`.
    Dot(Box<ExportArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum WitnessCommand {
    /// The same as `omnilink check --verify`.
    Verify(VerifyArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// The same as `omnilink init --log`.
    Infer(InferArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InferArgs {
    /// TLA+ module.
    pub(crate) spec: PathBuf,
    /// Log: a file with lines of JSON, or a directory of such files.
    pub(crate) log: PathBuf,
    /// Lines at the beginning of each file that are not events.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) header: usize,
}
