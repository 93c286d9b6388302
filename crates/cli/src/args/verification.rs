//! Checks of one history by other means, and modules for TLC.

use std::path::PathBuf;

use clap::Args;

use super::headings::{OPINION, OUTPUT, SPECIFICATION};
use super::shared::About;

/// A history and its specification as a module for TLC.
#[derive(Debug, Args)]
pub(crate) struct ModuleArgs {
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

/// A history that TLC checks, too.
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

/// An order of a history, to be replayed.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// TLA+ module, unless `--spec` is given; then the history; then the file written by `check --witness`.
    #[arg(required = true, value_name = "PATH", num_args = 2..=3)]
    pub(crate) paths: Vec<PathBuf>,

    /// Specification: a built-in one with its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC", help_heading = SPECIFICATION)]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) about: About,
}
