//! The command lines of `omnilink export`, `confirm` and `witness`.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, Subcommand};

use crate::args::{CheckArgs, CheckOutput, Order, Progress};

#[derive(Debug, Subcommand)]
pub(crate) enum ExportCommand {
    /// A module that TLC decides: it finds the invariant violated if the history is accepted.
    Tlc(ExportArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum WitnessCommand {
    /// Go through an order step by step, without searching.
    #[command(
        after_help = "Exit codes: 0 the order explains the history, 1 it does not, 2 the command line or an input \
                            is wrong."
    )]
    Verify(WitnessArgs),
}

/// A history and what it is checked against.
#[derive(Debug, Args)]
pub(crate) struct About {
    /// The configuration of the module. The file beside it that has the same name and ends in `.cfg` if not given.
    #[arg(long, value_name = "CFG")]
    pub(crate) config: Option<PathBuf>,

    /// Where to look for modules that are neither beside the root module nor built in. May be given several times.
    #[arg(long = "include", value_name = "DIR")]
    pub(crate) includes: Vec<PathBuf>,

    /// How operations and the module belong together. The file `omnilink.toml` beside the module if not given.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: Option<PathBuf>,

    /// The format of the history. Found out by looking at it if not given.
    #[arg(long, value_name = "FORMAT", value_parser = crate::input::parse_format)]
    pub(crate) from: Option<crate::input::Kind>,

    /// What orders operations of different processes: `real-time` for linearizability, `program` for sequential
    /// consistency.
    #[arg(long, value_name = "ORDER", default_value = "real-time")]
    pub(crate) order: Order,

    /// Give up after this time, such as `90s` or `10m`: inconclusive.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// The history: a file, a trace directory, or `-` for standard input.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The directory to write to. It is made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct ConfirmArgs {
    /// The TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// The history: a file or a trace directory.
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// The jar of TLC, `tla2tools.jar`. `java` must be on the path.
    #[arg(long, value_name = "JAR")]
    pub(crate) tlc: PathBuf,

    #[command(flatten)]
    pub(crate) about: About,
}

#[derive(Debug, Args)]
pub(crate) struct WitnessArgs {
    /// A TLA+ module, unless `--spec` is given; then the history; then the file that `check --witness` wrote.
    #[arg(required = true, value_name = "PATH", num_args = 2..=3)]
    pub(crate) paths: Vec<PathBuf>,

    /// The specification: the name of a built-in one and its options, or a TLA+ module.
    #[arg(long, value_name = "SPEC")]
    pub(crate) spec: Option<String>,

    #[command(flatten)]
    pub(crate) about: About,
}

impl About {
    /// What `omnilink check` would be asked with the same words.
    pub(crate) fn check_args(&self) -> CheckArgs {
        CheckArgs {
            paths: Vec::new(),
            spec: None,
            config: self.config.clone(),
            includes: self.includes.clone(),
            settings: self.settings.clone(),
            from: self.from,
            order: self.order,
            format: CheckOutput::Human,
            reports: Vec::new(),
            stats: false,
            witness: None,
            timeout: self.timeout,
            max_memory: ByteSize::gib(16),
            max_width: None,
            no_shortcuts: false,
            exhaustive: false,
            jobs: None,
            progress: Progress::None,
            quiet: false,
        }
    }
}
