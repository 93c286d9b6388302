//! The command lines of `omnilink report` and `view`, and exports of the result of a check.

use std::path::{Path, PathBuf};

use clap::Args;
use omnilink_judge::ShowOptions;

use super::headings::{OUTPUT, SPECIFICATION};
use super::shared::{About, AssumeArgs, Context, STORE, SinceArgs, StoreArgs};

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

/// Options to find, check and show a subject.
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
    /// An option that concerns a specification, if one is given.
    pub(crate) fn of_specification(&self) -> Option<&'static str> {
        let About { config, includes, settings, level, order_by, .. } = &self.about;
        given([
            ("--spec", self.spec.is_some()),
            ("--config", config.is_some()),
            ("--include", !includes.is_empty()),
            ("--settings", settings.is_some()),
            ("--level", level.level.is_some()),
            ("--order", level.order.is_some()),
            ("--order-by", order_by.is_some()),
        ])
    }

    /// An option that concerns the result of a check, if one is given with another value than the default one.
    pub(crate) fn of_result(&self) -> Option<&'static str> {
        given([
            ("--store", self.store.store != Path::new(STORE)),
            ("--states", self.states != ShowOptions::default().states),
            ("--watch", !self.watch.is_empty()),
            ("--assume", !self.assume.assume.is_empty()),
            ("--context", self.about.level.context != Context::Free),
        ])
    }
}

fn given<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
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

    /// Show this kept run beside it [default: the original of a run that `shrink` made].
    #[arg(long, value_name = "RUN", help_heading = OUTPUT)]
    pub(crate) compare: Option<String>,

    #[command(flatten)]
    pub(crate) since: SinceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) subject: SubjectArgs,

    /// Port to serve on; 0 selects a free port.
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
