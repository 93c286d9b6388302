//! Groups of arguments that several commands share.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use history::Precedence;
use judge::Assumption;
use judge::load::Around;
use search::Criterion;

/// What a history is, what belongs to its specification, and how long to look.
#[derive(Clone, Debug, Args)]
pub(crate) struct About {
    /// The configuration of a TLA+ module. The file beside it that has the same name and ends in `.cfg` if not given.
    #[arg(long, value_name = "CFG")]
    pub(crate) config: Option<PathBuf>,

    /// Where to look for modules that are neither beside the root module nor built in. May be given several times.
    #[arg(long = "include", value_name = "DIR")]
    pub(crate) includes: Vec<PathBuf>,

    /// How operations and a TLA+ module belong together. The file `omnilink.toml` beside the module if not given.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: Option<PathBuf>,

    /// The format of the histories. Found out by looking at them if not given.
    #[arg(long, value_name = "FORMAT", value_parser = judge::input::parse_format)]
    pub(crate) from: Option<judge::input::Kind>,

    /// What orders operations of different processes: `real-time` for linearizability, `program` for sequential
    /// consistency.
    #[arg(long, value_name = "ORDER", default_value = "real-time")]
    pub(crate) order: Order,

    /// A field by which the system itself orders operations, such as a revision: its order is tried first, and the
    /// history is searched only if the specification does not allow that one.
    #[arg(long, value_name = "FIELD", conflicts_with = "order")]
    pub(crate) order_by: Option<String>,

    /// Give up on a history after this time, such as `90s` or `10m`: inconclusive.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,

    /// Give up on a history when the process uses this much memory, such as `64M` or `2G`: inconclusive.
    #[arg(long, value_name = "SIZE", default_value_t = MEMORY)]
    pub(crate) max_memory: ByteSize,
}

/// What a check may use, where nobody says.
pub(crate) const MEMORY: ByteSize = ByteSize::gib(16);

impl About {
    /// True if it says something that belongs to a history, and not to whatever is looked at.
    pub(crate) fn is_of_history(&self) -> bool {
        self.config.is_some() || !self.includes.is_empty() || self.settings.is_some() || self.from.is_some()
    }
}

/// What is taken for granted.
#[derive(Clone, Debug, Args)]
pub(crate) struct AssumeArgs {
    /// Leave out what contradicts this: `T0:12 < T3:7`, the first takes effect before the second, or `T3:7 = 1a2b3c4d`,
    /// the state after the operation took effect has this fingerprint. May be given several times.
    #[arg(long, value_name = "WHAT")]
    pub(crate) assume: Vec<Assumption>,
}

#[derive(Debug, Args)]
pub(crate) struct AroundArgs {
    /// The configuration. The file beside the module that has the same name and ends in `.cfg` if not given.
    #[arg(long, value_name = "CFG")]
    pub(crate) config: Option<PathBuf>,

    /// Where to look for modules that are neither beside the root module nor built in. May be given several times.
    #[arg(long = "include", value_name = "DIR")]
    pub(crate) includes: Vec<PathBuf>,
}

impl AroundArgs {
    pub(crate) fn around(&self) -> Around {
        Around { config: self.config.clone(), includes: self.includes.clone() }
    }
}

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// Where runs are kept.
    #[arg(long, value_name = "DIR", default_value = "target/omnilink")]
    pub(crate) store: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    RealTime,
    Program,
}

impl Order {
    /// As it stands in reports.
    pub(crate) fn reported(self) -> report::Order {
        match self {
            Order::RealTime => report::Order::RealTime,
            Order::Program => report::Order::Program,
        }
    }

    /// Which orders count.
    pub(crate) fn criterion(self) -> Criterion {
        Criterion { precedence: self.precedence() }
    }

    pub(crate) fn precedence(self) -> Precedence {
        match self {
            Order::RealTime => Precedence::RealTime,
            Order::Program => Precedence::Program,
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

/// A file to write, and what into.
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
    /// True for a page, which shows more than a report knows.
    pub(crate) fn is_page(&self) -> bool {
        self.kind == ExtraKind::Html
    }

    /// Where the file will be, if not here.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.path.parent().filter(|directory| !directory.as_os_str().is_empty())
    }
}

impl FromStr for Extra {
    type Err = String;

    fn from_str(text: &str) -> Result<Extra, String> {
        let (kind, path) = text.split_once('=').ok_or("it has the form `junit=report.xml`")?;
        let kind = match kind {
            "html" => ExtraKind::Html,
            "json" => ExtraKind::Json,
            "junit" => ExtraKind::JUnit,
            "md" => ExtraKind::Markdown,
            "sarif" => ExtraKind::Sarif,
            _ => return Err(format!("there is no report `{kind}`; there are html, json, junit, md and sarif")),
        };
        Ok(Extra { kind, path: path.into() })
    }
}
