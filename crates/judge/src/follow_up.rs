//! Follow-up commands of a report.

use std::fmt::Write as _;
#[cfg(feature = "tla")]
use std::path::Path;

use omnilink_report::{Command, Evidence, Limit, Report, Verdict};
#[cfg(feature = "tla")]
use omnilink_weak::Class;

use crate::recording::Recording;
use crate::{CheckOptions, quoted};

/// The form in which a command line names a specification.
pub(crate) enum Named<'a> {
    /// A TLA+ module, before the histories.
    #[cfg(feature = "tla")]
    Module(&'a Path),
    /// A specification of any other kind.
    Builtin(&'a str),
}

/// The next commands for a history that is not accepted.
pub(crate) fn commands(spec: &Named<'_>, asked: &CheckOptions, recording: &Recording, report: &Report) -> Vec<Command> {
    let Some(path) = recording.path() else { return Vec::new() };
    let path = quoted(path.display());
    let mut what = match spec {
        #[cfg(feature = "tla")]
        Named::Module(module) => format!("{} {path}", quoted(module.display())),
        Named::Builtin(name) => format!("{path} --spec {}", quoted(name)),
    };
    let files = [("--config", &asked.config), ("--settings", &asked.settings)];
    let files = files.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?)));
    for (option, file) in files.chain(asked.includes.iter().map(|include| ("--include", include))) {
        let _ = write!(what, " {option} {}", quoted(file.display()));
    }
    if !asked.is_linearizable() {
        let _ = write!(what, " --level {}", quoted(asked.level()));
    }
    for assumption in &asked.assume {
        let _ = write!(what, " --assume {}", quoted(assumption));
    }
    let command = |does: &str, line: String| Command { what: does.into(), line };
    match &report.verdict {
        Verdict::Accepted => Vec::new(),
        Verdict::Inconclusive { limit, .. } => match limit {
            Limit::Time => vec![command("more time", format!("omnilink check {what} --timeout 1h"))],
            Limit::Memory => {
                let twice = asked.max_memory.saturating_mul(2) >> 20;
                vec![command("more memory", format!("omnilink check {what} --max-memory {twice}MiB"))]
            }
            Limit::Width => {
                let wider = asked.max_width.map(|width| width.saturating_mul(10));
                let wider = wider.map(|wider| command("wider", format!("omnilink check {what} --max-width {wider}")));
                wider.into_iter().collect()
            }
            Limit::Operations | Limit::Interrupt | Limit::Incomplete => Vec::new(),
        },
        Verdict::Rejected(rejection) => {
            let mut next = Vec::new();
            if !matches!(rejection.evidence, Evidence::Contradiction { .. }) {
                next.push(command("full explanation", format!("omnilink check --full {what}")));
            }
            // The others take no assumptions.
            if asked.assume.is_empty() {
                next.push(command("page", format!("omnilink view {what}")));
                #[cfg(feature = "tla")]
                if asked.level().class() == Class::Strong && matches!(spec, Named::Module(_)) && !recording.is_log() {
                    next.push(command("second opinion", format!("omnilink check {what} --tlc tla2tools.jar")));
                }
            }
            next
        }
    }
}
