//! The command lines of `omnilink report`, `view` and the exports of a check's result.

use std::path::PathBuf;

use clap::Args;
use omnilink_judge::ShowOptions;

use super::headings::{OUTPUT, SPECIFICATION};
use super::shared::{About, AssumeArgs, SinceArgs, StoreArgs};

/// The subject: a run, a history or a report.
#[derive(Debug, Args)]
pub(crate) struct SubjectArgs {
    /// Run: a prefix of its name, `latest`, or a file written by `runs pack`. Or a TLA+ module, unless `--spec` is
    /// given, followed by a history. Or a report written by `--report json=FILE`.
    #[arg(required = true, value_name = "RUN", num_args = 1..=2)]
    pub(crate) paths: Vec<PathBuf>,

    /// Specification of a history: a built-in one with its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC", help_heading = SPECIFICATION)]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreArgs,

    /// Number of last states to show.
    #[arg(long, value_name = "COUNT", default_value_t = ShowOptions::default().states, help_heading = OUTPUT)]
    pub(crate) states: usize,

    /// Show the value of this TLA+ expression in every state. Repeatable.
    #[arg(long, value_name = "EXPR", help_heading = OUTPUT)]
    pub(crate) watch: Vec<String>,

    #[command(flatten)]
    pub(crate) about: About,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,
}

impl SubjectArgs {
    pub(crate) fn look(&self) -> ShowOptions {
        ShowOptions { until: None, states: self.states, watch: self.watch.clone() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// Output file, or directory for a directory of runs [default: named after the subject].
    #[arg(short, long, value_name = "PATH", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Show this kept run beside it [default for a run that `shrink` made: the run that it was made from].
    #[arg(long, value_name = "RUN", help_heading = OUTPUT)]
    pub(crate) compare: Option<String>,

    #[command(flatten)]
    pub(crate) since: SinceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// Port to serve on; 0 for any free port.
    #[arg(long, value_name = "PORT", default_value_t = 0, help_heading = OUTPUT)]
    pub(crate) port: u16,

    /// Do not open a browser.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
}
