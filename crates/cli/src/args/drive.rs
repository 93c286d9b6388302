//! The command line of `omnilink drive`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::headings::{INPUT, LIMITS, OUTPUT, SPECIFICATION};
use super::shared::AroundArgs;

/// The default time for an answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct DriveArgs {
    /// Root module of the specification.
    #[arg(value_name = "FILE")]
    pub(crate) spec: PathBuf,

    /// Program to drive, and its arguments. It reads a call per line and answers each with a line.
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    pub(crate) program: Vec<String>,

    #[command(flatten)]
    pub(crate) around: AroundArgs,

    /// Settings that map operations to the module [default: `omnilink.toml` beside it].
    #[arg(long, value_name = "TOML", help_heading = SPECIFICATION)]
    pub(crate) settings: Option<PathBuf>,

    /// Make the calls of these behaviors or scripts, as `omnilink spec simulate -o` writes them, or of the files in a directory.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["runs", "seed", "disabled", "calls"], help_heading = INPUT)]
    pub(crate) from: Vec<PathBuf>,

    /// Also make calls that the specification does not allow: the system must refuse them.
    #[arg(long, help_heading = INPUT)]
    pub(crate) disabled: bool,

    /// Seed of the first run; each further run adds one.
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = INPUT)]
    pub(crate) seed: u64,

    /// Number of runs; each starts the program anew.
    #[arg(long, value_name = "COUNT", default_value_t = 20, help_heading = LIMITS)]
    pub(crate) runs: u64,

    /// Number of calls in a run.
    #[arg(long, value_name = "COUNT", default_value_t = 100, help_heading = LIMITS)]
    pub(crate) calls: usize,

    /// Maximum time for one answer.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, default_value = "10s", help_heading = LIMITS)]
    pub(crate) timeout: Duration,

    /// File for the history of the run that fails.
    #[arg(short, long, value_name = "JSONL", default_value = "target/omnilink/drive.jsonl", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,
}
