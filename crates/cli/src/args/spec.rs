//! The command line of `omnilink spec`.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, Subcommand};

use super::headings::{EXPERTS, INPUT, LIMITS, OUTPUT, SPECIFICATION};
use super::shared::{AroundArgs, Output, Progress};

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Visit every reachable state of a TLA+ specification, and check its invariants and properties.
    #[command(
        after_help = "Exit codes: 0 nothing is wrong, 1 something is violated, 2 the command line, the specification \
                            or its configuration is wrong, 3 a limit was reached, 4 there is no state."
    )]
    Check(SpecCheckArgs),
    /// Make random behaviors of a TLA+ specification, or a few that cover it, and check its invariants and properties on the way.
    #[command(
        after_help = "Exit codes: 0 nothing was found to be wrong, 1 something is violated, 2 the command line, the \
                            specification or its configuration is wrong, 3 a limit was reached, 4 there is no state."
    )]
    Simulate(SpecSimulateArgs),
    /// List the actions of a specification's next-state relation.
    Actions(ActionsArgs),
    /// Evaluate an expression, in a specification or on its own.
    Eval(EvalArgs),
    /// List the built-in specifications, or show the operations of one.
    List {
        /// Specification to show.
        name: Option<String>,
    },
    /// List the levels for `--level`: the orders that count, and the operations that an operation has to see.
    Levels,
}

/// A specification and the files that belong to it.
#[derive(Debug, Args)]
pub(crate) struct Located {
    /// Root module.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) around: AroundArgs,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Output,
}

/// The order of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SearchOrder {
    /// First found, first visited: a counterexample is a shortest one
    Breadth,
    /// Last found, first visited: finds a log that fits sooner; a counterexample may be long
    Depth,
}

/// The properties to check, and the limits.
#[derive(Debug, Args)]
pub(crate) struct StatesArgs {
    /// Report a state without successors [default: set by the configuration].
    #[arg(long, value_name = "YES/NO", action = clap::ArgAction::Set, help_heading = SPECIFICATION)]
    pub(crate) deadlock: Option<bool>,

    /// Skip the temporal properties of the configuration.
    #[arg(long, help_heading = SPECIFICATION)]
    pub(crate) skip_properties: bool,

    /// Skip the conjuncts of temporal properties that are about infinite behaviors, instead of rejecting them.
    #[arg(long, help_heading = SPECIFICATION)]
    pub(crate) skip_liveness: bool,

    /// Give up after this many distinct states: inconclusive.
    #[arg(long, value_name = "COUNT", help_heading = LIMITS)]
    pub(crate) max_states: Option<u64>,

    /// Give up after this time, such as `90s` or `10m`: inconclusive.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,

    /// Give up if the process uses more memory than this, such as `64M` or `2G`: inconclusive.
    #[arg(long, value_name = "SIZE", default_value = "16G", help_heading = LIMITS)]
    pub(crate) max_memory: ByteSize,

    /// Number of states to explore in parallel; the result is the same [default: all cores].
    #[arg(short = 'j', long, value_name = "COUNT", help_heading = LIMITS)]
    pub(crate) workers: Option<usize>,

    /// Progress display.
    #[arg(long, value_name = "HOW", default_value = "auto", help_heading = OUTPUT)]
    pub(crate) progress: Progress,

    #[command(flatten)]
    pub(crate) located: Located,
}

#[derive(Debug, Args)]
pub(crate) struct SpecCheckArgs {
    #[command(flatten)]
    pub(crate) states: StatesArgs,

    /// Order in which to visit states; `depth` visits the state found last first, with one worker, as TLC does with its
    /// `StateDeque`.
    #[arg(long, value_name = "ORDER", default_value = "breadth", help_heading = EXPERTS, hide_short_help = true)]
    pub(crate) search: SearchOrder,
}

/// The choice of the next state of a random behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ChooseBy {
    /// All distinct successors are equally likely
    Successor,
    /// All actions that are enabled are equally likely, then all successors of the action
    Action,
}

/// The parts of a specification that behaviors cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CoverBy {
    /// Every action that is ever enabled
    Actions,
    /// Every reachable state
    States,
    /// Every step between two reachable states
    Transitions,
}

/// The format of a written behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BehaviorForm {
    /// A history in JSON Lines: each step is an operation, and its notes have the state
    Jsonl,
    /// The Informal Trace Format of Apalache and Quint
    Itf,
    /// The calls alone, which `omnilink fuzz --script`, `omnilink drive --from` and generated harnesses read
    Script,
}

#[derive(Debug, Args)]
pub(crate) struct SpecSimulateArgs {
    /// Number of behaviors.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) walks: u64,

    /// Maximum number of steps of a behavior; one that covers something may have as many as it needs to get there.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) depth: usize,

    /// Seed of the random choices.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Make only the behavior with this number.
    #[arg(long, value_name = "NUMBER", conflicts_with = "walks")]
    pub(crate) walk: Option<u64>,

    /// Choice of the next state.
    #[arg(long, value_name = "BY", default_value = "successor")]
    pub(crate) choose: ChooseBy,

    /// End a behavior in a state in which this predicate is true.
    #[arg(long, value_name = "EXPR")]
    pub(crate) until: Option<String>,

    /// Instead of random behaviors, visit all states, and make a small set of behaviors that covers these.
    #[arg(long, value_name = "PARTS", conflicts_with_all = ["walks", "seed", "walk", "choose", "until"])]
    pub(crate) cover: Option<CoverBy>,

    /// Write each behavior to a file in this directory, which must be empty or new.
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,

    /// Format of the files.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", requires = "output", help_heading = OUTPUT)]
    pub(crate) to: BehaviorForm,

    #[command(flatten)]
    pub(crate) states: StatesArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ActionsArgs {
    #[command(flatten)]
    pub(crate) located: Located,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Module whose definitions the expression may use.
    #[arg(value_name = "FILE", required_unless_present = "alone")]
    pub(crate) file: Option<PathBuf>,

    /// Expression.
    #[arg(value_name = "EXPR", required_unless_present_any = ["alone", "lines"])]
    pub(crate) expression: Option<String>,

    /// Evaluate every line of this file instead, with one line of output each: a value, or an error.
    #[arg(long, value_name = "EXPRS", requires = "file", conflicts_with = "expression", help_heading = INPUT)]
    pub(crate) lines: Option<PathBuf>,

    /// Expression that needs built-in modules only.
    #[arg(short = 'e', long = "expr", value_name = "EXPR", conflicts_with = "file", help_heading = INPUT)]
    pub(crate) alone: Option<String>,

    /// Built-in modules for the expression of `-e`.
    #[arg(
        long,
        value_name = "MODULES",
        value_delimiter = ',',
        conflicts_with = "file",
        default_value = "Integers,Sequences,FiniteSets,TLC",
        help_heading = SPECIFICATION
    )]
    pub(crate) extends: Vec<String>,

    #[command(flatten)]
    pub(crate) around: AroundArgs,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = OUTPUT)]
    pub(crate) format: Output,
}
