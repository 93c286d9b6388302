//! The command lines of `omnilink report` and `view`, and exports of the result of a check.

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

    #[command(flatten)]
    pub(crate) options: SubjectOptions,
}

/// How a subject is found, checked and shown.
#[derive(Clone, Debug, Args)]
pub(crate) struct SubjectOptions {
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

impl SubjectOptions {
    /// An option that concerns a specification or a check, if one is given.
    pub(crate) fn of_check(&self) -> Option<&'static str> {
        let SubjectOptions { spec, about, assume, watch, .. } = self;
        let options = [
            ("--spec", spec.is_some()),
            ("--config", about.config.is_some()),
            ("--include", !about.includes.is_empty()),
            ("--settings", about.settings.is_some()),
            ("--level", about.level.level.is_some()),
            ("--order", about.level.order.is_some()),
            ("--order-by", about.order_by.is_some()),
            ("--assume", !assume.assume.is_empty()),
            ("--watch", !watch.is_empty()),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}

impl SubjectArgs {
    pub(crate) fn look(&self) -> ShowOptions {
        ShowOptions { until: None, states: self.options.states, watch: self.options.watch.clone() }
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

/// The result of a check for another program.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// Output file [default: standard output].
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
}
