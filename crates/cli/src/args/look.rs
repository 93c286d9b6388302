//! The command lines of `omnilink report`, `view` and the exports that show what a check found.

use std::path::PathBuf;

use clap::Args;
use judge::Look;

use super::shared::{About, AssumeArgs, StoreArgs};

/// What to look at.
#[derive(Debug, Args)]
pub(crate) struct SubjectArgs {
    /// A run: the beginning of its name, `latest`, or a file that `runs pack` wrote. Or a TLA+ module, unless `--spec` is
    /// given, and then a history. Or a report that `--report json=FILE` wrote.
    #[arg(required = true, value_name = "RUN", num_args = 1..=2)]
    pub(crate) paths: Vec<PathBuf>,

    /// The specification of a history: the name of a built-in one and its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC")]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    #[command(flatten)]
    pub(crate) about: About,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,

    /// How many of the last states to show.
    #[arg(long, value_name = "COUNT", default_value_t = Look::default().states)]
    pub(crate) states: usize,

    /// Show the value of this TLA+ expression in every state. May be given several times.
    #[arg(long, value_name = "EXPR")]
    pub(crate) watch: Vec<String>,
}

impl SubjectArgs {
    pub(crate) fn look(&self) -> Look {
        Look { until: None, states: self.states, watch: self.watch.clone() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// The file to write, or the directory for a directory of runs. Called after what is shown if not given.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// The port to serve on. One that is free if not given.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,

    /// Do not open a browser.
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// The file to write. Standard output if not given.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
