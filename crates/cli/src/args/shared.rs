//! Groups of arguments that several commands share.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use omnilink_history::Precedence;
use omnilink_judge::load::Around;
use omnilink_judge::{Assumption, quoted};
use omnilink_weak::Level;

use super::headings::{EXPERTS, INPUT, LIMITS, ORDERS, SPECIFICATION};

/// The format of a history, the files of its specification, and the limits of the check.
#[derive(Clone, Debug, Args)]
pub(crate) struct About {
    /// TLC configuration file [default: the module's path with `.cfg`].
    #[arg(long, value_name = "CFG", help_heading = SPECIFICATION)]
    pub(crate) config: Option<PathBuf>,

    /// Directory to search for further modules. Repeatable.
    ///
    /// Modules beside the root module and built-in ones are found without it.
    #[arg(long = "include", value_name = "DIR", help_heading = SPECIFICATION)]
    pub(crate) includes: Vec<PathBuf>,

    /// Settings that map operations to a TLA+ module [default: `omnilink.toml` beside the module].
    #[arg(long, value_name = "TOML", help_heading = SPECIFICATION)]
    pub(crate) settings: Option<PathBuf>,

    /// Format of the histories [default: detected].
    #[arg(long, value_name = "FORMAT", value_parser = omnilink_judge::input::parse_format, help_heading = INPUT)]
    pub(crate) from: Option<omnilink_judge::input::Kind>,

    /// Field by which the system orders operations, such as a revision.
    ///
    /// OmniLink tries this order first, and searches the history only if the specification does not allow it.
    #[arg(long, value_name = "FIELD", conflicts_with = "order", help_heading = ORDERS)]
    pub(crate) order_by: Option<String>,

    /// Give up on a history after this time, such as `90s` or `10m`.
    ///
    /// Its verdict is then inconclusive.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,

    /// Give up if the process uses more memory, such as `64M` or `2G`.
    ///
    /// The verdict is then inconclusive.
    #[arg(long, value_name = "SIZE", default_value = MEMORY, help_heading = LIMITS)]
    pub(crate) max_memory: ByteSize,

    #[command(flatten)]
    pub(crate) level: LevelArgs,
}

/// The default memory limit of a check. Help texts show it as it is typed.
pub(crate) const MEMORY: &str = "16GiB";

impl About {
    /// True if an option is given that applies to a history only.
    pub(crate) fn is_of_history(&self) -> bool {
        self.config.is_some() || !self.includes.is_empty() || self.settings.is_some() || self.from.is_some()
    }
}

/// Assumptions about the order.
#[derive(Clone, Debug, Args)]
pub(crate) struct AssumeArgs {
    /// Consider only orders consistent with: `T0:12 < T3:7`, the first takes effect before the second, or `T3:7 =
    /// 1a2b3c4d`, the state after the operation has this fingerprint. Repeatable.
    #[arg(long, value_name = "WHAT", help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) assume: Vec<Assumption>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct AroundArgs {
    /// TLC configuration file [default: the module's path with `.cfg`].
    #[arg(long, value_name = "CFG", help_heading = SPECIFICATION)]
    pub(crate) config: Option<PathBuf>,

    /// Directory to search for further modules. Repeatable.
    ///
    /// Modules beside the root module and built-in ones are found without it.
    #[arg(long = "include", value_name = "DIR", help_heading = SPECIFICATION)]
    pub(crate) includes: Vec<PathBuf>,
}

impl AroundArgs {
    pub(crate) fn around(&self) -> Around {
        Around { config: self.config.clone(), includes: self.includes.clone() }
    }

    /// The same options for another command line, each after a space.
    pub(crate) fn again(&self) -> String {
        let config = self.config.iter().map(|config| ("--config", config));
        let all = config.chain(self.includes.iter().map(|include| ("--include", include)));
        all.map(|(option, path)| format!(" {option} {}", quoted(path.display()))).collect()
    }
}

/// The default directory of kept runs.
pub(crate) const STORE: &str = "target/omnilink";

/// The directory of kept runs.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArgs {
    /// Directory of kept runs.
    #[arg(long, value_name = "DIR", default_value = STORE, help_heading = INPUT)]
    pub(crate) store: PathBuf,
}

/// The start of the period in which causes count as new.
#[derive(Debug, Args)]
pub(crate) struct SinceArgs {
    /// Causes first seen after this are new: a commit, a day such as `2026-11-16`, a time, or a duration such as `14d`
    /// [default: the commit before the last one].
    #[arg(long, value_name = "WHEN", help_heading = INPUT)]
    pub(crate) since: Option<String>,
}

/// The orders that count, and the operations that an operation has to see.
#[derive(Clone, Debug, Args)]
pub(crate) struct LevelArgs {
    /// Level, such as `linearizable` or `causal` [default: that of the settings, or `linearizable`].
    ///
    /// A level says which operations an operation has to see, and in which orders: see `omnilink spec levels`. You can add a
    /// visibility for an action, such as `linearizable, size=overlap`.
    #[arg(long, value_name = "LEVEL", value_parser = Level::from_str, help_heading = ORDERS, display_order = 0)]
    pub(crate) level: Option<Level>,

    /// Order between operations at any level: `real-time` for linearizability, `program` for sequential consistency, `none`
    /// for serializability.
    #[arg(long, value_name = "ORDER", help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) order: Option<Order>,

    /// Results of visible operations: `free` allows any, except for operations that see everything; `recorded` requires
    /// those in the history.
    ///
    /// This matters at levels such as `causal`, at which operations need not see everything.
    #[arg(long, value_name = "RESULTS", default_value = "free", help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) context: Context,
}

impl LevelArgs {
    /// The level, if one was given.
    pub(crate) fn given(&self) -> Option<Level> {
        match (&self.level, self.order) {
            (Some(level), Some(order)) => Some(level.clone().with_order(order.precedence())),
            (Some(level), None) => Some(level.clone()),
            (None, Some(order)) => Some(Level::strong(order.precedence())),
            (None, None) => None,
        }
    }

    /// The order, if every operation sees everything before it.
    pub(crate) fn strong(&self) -> Result<Precedence, omnilink_judge::InputError> {
        let level = self.level();
        level.criterion().map(|criterion| criterion.precedence).ok_or_else(|| {
            omnilink_judge::InputError::new(format!(
                "unsupported at the level `{level}`: operations do not all see one state"
            ))
        })
    }

    /// The level, or the default one.
    pub(crate) fn level(&self) -> Level {
        self.given().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    RealTime,
    #[value(alias = "session")]
    Program,
    None,
}

impl Order {
    pub(crate) fn precedence(self) -> Precedence {
        match self {
            Order::RealTime => Precedence::RealTime,
            Order::Program => Precedence::Program,
            Order::None => Precedence::None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Context {
    Free,
    Recorded,
}

impl From<Context> for omnilink_weak::Context {
    fn from(context: Context) -> omnilink_weak::Context {
        match context {
            Context::Free => omnilink_weak::Context::Free,
            Context::Recorded => omnilink_weak::Context::Recorded,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    Human,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// A bar on a terminal, counters elsewhere.
    Auto,
    Bar,
    /// A line every few seconds.
    Counters,
    None,
}

/// A report to write to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extra {
    pub(crate) kind: ExtraKind,
    pub(crate) path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExtraKind {
    Html,
    Json,
    JUnit,
    Markdown,
    Sarif,
}

impl Extra {
    /// True for a page, which shows more than a report contains.
    pub(crate) fn is_page(&self) -> bool {
        self.kind == ExtraKind::Html
    }

    /// The directory of the file, unless it is the current one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.path.parent().filter(|directory| !directory.as_os_str().is_empty())
    }
}

impl FromStr for Extra {
    type Err = String;

    fn from_str(text: &str) -> Result<Extra, String> {
        let (kind, path) = text.split_once('=').ok_or("expected `KIND=FILE`, such as `junit=report.xml`")?;
        let kind = match kind {
            "html" => ExtraKind::Html,
            "json" => ExtraKind::Json,
            "junit" => ExtraKind::JUnit,
            "md" => ExtraKind::Markdown,
            "sarif" => ExtraKind::Sarif,
            _ => return Err(format!("unrecognized report `{kind}` (expected html, json, junit, md or sarif)")),
        };
        Ok(Extra { kind, path: path.into() })
    }
}
