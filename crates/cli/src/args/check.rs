//! The command lines of `omnilink check` and `doctor`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::headings::{EXPERTS, INPUT, LIMITS, OPINION, ORDERS, OUTPUT, SPECIFICATION};
use super::shared::{About, AssumeArgs, Extra, Output, Progress};

/// The options that a second opinion does not have.
const OF_A_SEARCH: [&str; 18] = [
    "merge",
    "find_level",
    "stamps",
    "jobs",
    "full",
    "format",
    "reports",
    "witness",
    "coverage",
    "strict",
    "stats",
    "progress",
    "quiet",
    "by",
    "assume",
    "max_width",
    "no_shortcuts",
    "exhaustive",
];

/// An isolation level on the command line, with a hint for a misspelled one.
pub(crate) fn parse_isolation(name: &str) -> Result<omnilink_isolation::Level, String> {
    use omnilink_isolation::{Isolation, Level, LevelError};

    name.parse().map_err(|error: LevelError| match error {
        LevelError::Unknown(_) => {
            let named = Level::NAMED.map(|(name, ..)| name);
            let names: Vec<&str> = Isolation::ALL.map(Isolation::name).into_iter().chain(named).collect();
            let hint = omnilink_suggest::hint(name, names.iter().copied());
            format!("{error}; {}", hint.unwrap_or_else(|| format!("the levels are {}", names.join(", "))))
        }
        error => error.to_string(),
    })
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// TLA+ module, unless `--spec` is given, followed by the histories.
    ///
    /// A history is a file, a trace directory, or `-` for standard input; a directory of either has several.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Built-in specification, such as `queue:capacity=4`, or a TLA+ module.
    ///
    /// `omnilink spec list` lists the built-in ones and their options.
    #[arg(long, value_name = "SPEC", help_heading = SPECIFICATION)]
    pub(crate) spec: Option<String>,

    /// Check all traces as one history.
    ///
    /// Each trace has the operations of different clients, and their times can be compared.
    #[arg(long, conflicts_with = "find_level", help_heading = INPUT)]
    pub(crate) merge: bool,

    /// Check the isolation of transactions at this level, such as `snapshot` or `strict-serializable`.
    ///
    /// It needs no specification. `--order` replaces the order of the level: `none`, `session` or `real-time`. `isolation`
    /// and `order` in `omnilink.toml` have the same meaning: they count if no option names a level or a specification.
    #[arg(
        long,
        value_name = "LEVEL",
        value_parser = parse_isolation,
        conflicts_with_all = [
            "spec", "level", "find_level", "merge", "assume", "order_by", "coverage", "strict", "stats", "full", "jobs",
            "max_width", "no_shortcuts", "exhaustive", "context", "by", "tlc",
        ],
        help_heading = ORDERS
    )]
    pub(crate) isolation: Option<omnilink_isolation::Level>,

    /// Check the isolation level by the stamps of the database: timestamps of snapshots and commits, or PostgreSQL's snapshots.
    ///
    /// For `prefix`, `snapshot` and `serializable`. Each read must return the version that its snapshot has, so that histories
    /// that have the level are rejected, too, if their stamps are wrong. It takes linear time.
    #[arg(long, conflicts_with_all = ["spec", "full"], help_heading = ORDERS)]
    pub(crate) stamps: bool,

    /// Find the strongest levels that explain all histories.
    ///
    /// OmniLink finds them by name and for each action, instead of checking at one level. Without a specification, it finds
    /// the strongest isolation levels of each history of transactions, for each order; with `--stamps`, those that the stamps of the
    /// database fit.
    #[arg(
        long,
        conflicts_with_all = ["level", "order", "witness", "reports", "assume", "order_by", "coverage", "strict"],
        help_heading = ORDERS
    )]
    pub(crate) find_level: bool,

    /// Number of parts of a history to search in parallel [default: all cores].
    #[arg(short = 'j', long, value_name = "COUNT", help_heading = LIMITS)]
    pub(crate) jobs: Option<usize>,

    /// Explain a rejection in full: every possible state, reason and remaining order.
    ///
    /// It also shows a report written by `--report json=FILE`: name that file instead of a history.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) full: bool,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: CheckOutput,

    /// Also write a report: `html=FILE`, `junit=`, `sarif=`, `json=` or `md=`. Repeatable.
    ///
    /// An HTML page covers one history; several histories get a list in this file, and a page beside it for each that is
    /// not accepted.
    #[arg(long = "report", value_name = "KIND=FILE", help_heading = OUTPUT)]
    pub(crate) reports: Vec<Extra>,

    /// Write the order found for an accepted history, one operation per line; of transactions, the run of begins and commits.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) witness: Option<PathBuf>,

    /// Show the parts of the specification that the histories exercised.
    ///
    /// These are its actions, branches and false guards. JSON lists them per history.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) coverage: bool,

    /// Exit with 6 if the histories exercise too little of the specification.
    ///
    /// This is the case if a history has no operation of the specification, or if an action of the specification occurs in
    /// no history.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) strict: bool,

    /// Show the cost of the check: configurations, evaluations, widest point.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stats: bool,

    /// Progress display.
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = OUTPUT)]
    pub(crate) progress: Progress,

    /// Print nothing for accepted histories.
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,

    /// Replay an order that `--witness` wrote for one history, without a search.
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_A_SEARCH, help_heading = OPINION)]
    pub(crate) verify: Option<PathBuf>,

    /// Let TLC check one history, and compare the verdicts.
    ///
    /// JAR is the path of `tla2tools.jar`. `java` must be on the path.
    #[arg(
        long,
        value_name = "JAR",
        conflicts_with_all = OF_A_SEARCH,
        conflicts_with = "verify",
        help_heading = OPINION
    )]
    pub(crate) tlc: Option<PathBuf>,

    #[cfg(feature = "fleet")]
    #[command(flatten)]
    pub(crate) keys: KeyArgs,

    /// Needs the feature `fleet`, and is here to say so.
    #[cfg(not(feature = "fleet"))]
    #[arg(long, value_name = "COLUMN", hide = true)]
    pub(crate) by: Option<String>,

    #[command(flatten)]
    pub(crate) about: About,

    #[command(flatten)]
    pub(crate) assume: AssumeArgs,

    /// Give up on a history with more than this many configurations at once: inconclusive [default: 250000, or no limit
    /// with --exhaustive].
    #[arg(long, value_name = "COUNT", help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) max_width: Option<usize>,

    /// Search the whole history: do not split it into independent parts, and use no procedure for its data type.
    #[arg(long, help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) no_shortcuts: bool,

    /// Place operations one by one in every possible order, without pruning, like a model checker. The counts of
    /// `--stats` are then comparable with those of TLC on the output of `omnilink convert --to tlc`.
    #[arg(long, help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) exhaustive: bool,
}

/// A verdict for each key of operations in Parquet files.
#[cfg(feature = "fleet")]
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Keys in Parquet files")]
pub(crate) struct KeyArgs {
    /// Check the operations of each key separately: the column of Parquet files that has the key.
    ///
    /// The histories are files, directories of them, or `s3://` addresses. `--jobs` is the number of partitions. To stay
    /// below `--max-memory`, the engine writes to the disk.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["witness", "assume", "order_by", "coverage", "strict"])]
    pub(crate) by: Option<String>,

    /// Condition in SQL that selects operations, such as `region = 'eu' AND start < 1700000000`.
    #[arg(long = "where", value_name = "SQL", requires = "by")]
    pub(crate) filter: Option<String>,

    /// Write the verdicts to a Parquet file, one row for each key.
    #[arg(long, value_name = "FILE", requires = "by")]
    pub(crate) verdicts: Option<PathBuf>,

    /// Begin with the states in the verdicts of an earlier check with `--cut`. Repeatable.
    #[arg(long, value_name = "FILE", requires = "by")]
    pub(crate) after: Vec<PathBuf>,

    /// Time before which no operation of a later check starts: the verdicts then hold the states with which that check
    /// begins.
    #[arg(long, value_name = "TIME", requires = "verdicts")]
    pub(crate) cut: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// `rr` to try.
    #[arg(long, value_name = "RR", default_value = "rr", help_heading = INPUT)]
    pub(crate) rr: String,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Output,
}

/// How reports are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckOutput {
    Human,
    Json,
    /// Markdown
    Md,
}
