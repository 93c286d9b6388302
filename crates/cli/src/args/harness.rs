//! The command line of `omnilink init` and `omnilink schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use omnilink_init::{Ci, Language, Template};

use super::headings::{INPUT, OUTPUT, SPECIFICATION};
use super::shared::AroundArgs;

/// The generated part of a harness, to be written or compared.
#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    /// Language of the harness.
    pub(crate) language: Language,

    /// Specification: a TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// Directory of the harness.
    #[arg(short, long, value_name = "DIR", default_value = ".", help_heading = OUTPUT)]
    pub(crate) output: PathBuf,

    /// Write nothing; report whether the harness is up to date.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) check: bool,

    /// Settings of the specification and its harness [default: `omnilink.toml` beside the module].
    #[arg(long, value_name = "TOML", help_heading = INPUT)]
    pub(crate) settings: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) around: AroundArgs,
}

/// The modes that concern the generated part of a harness.
const GENERATED: &str = "generated";

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Directory of the project: an existing Cargo, CMake, Meson or Make project, or a new one.
    ///
    /// `init` never overwrites existing files, except the generated part of a harness with `--update`.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Specification to write a harness for: a TLA+ module [default: the only module in DIR].
    ///
    /// With `--update` and `--check`, the default is the specification of the harness in DIR. If you name one, DIR is the
    /// directory of the generated file.
    #[arg(long, value_name = "SPEC", conflicts_with = "template", help_heading = SPECIFICATION)]
    pub(crate) spec: Option<PathBuf>,

    /// TLC configuration file, for `--update` and `--check` [default: the module's path with `.cfg`].
    #[arg(long, value_name = "CFG", requires = GENERATED, help_heading = SPECIFICATION, hide_short_help = true)]
    pub(crate) config: Option<PathBuf>,

    /// Directory to search for further modules, for `--update` and `--check`. Repeatable.
    #[arg(
        long = "include",
        value_name = "DIR",
        requires = GENERATED,
        help_heading = SPECIFICATION,
        hide_short_help = true
    )]
    pub(crate) includes: Vec<PathBuf>,

    /// Settings, for `--update` and `--check` [default: `omnilink.toml` in DIR, or beside the module if `--spec` names it].
    #[arg(long, value_name = "TOML", requires = GENERATED, help_heading = SPECIFICATION, hide_short_help = true)]
    pub(crate) settings: Option<PathBuf>,

    /// Language of the harness [default: that of the project].
    #[arg(long, value_name = "LANGUAGE", help_heading = PROJECT)]
    pub(crate) lang: Option<Language>,

    /// Create a project with a specification and a small working system of this kind.
    #[arg(long, value_name = "TEMPLATE", requires = "lang", help_heading = PROJECT)]
    pub(crate) template: Option<Template>,

    /// CI service that runs the harness on every change.
    #[arg(long, value_name = "WHERE", default_value = "none", help_heading = PROJECT)]
    pub(crate) ci: Ci,

    /// Write the generated part of a harness again, after a change of the specification or the settings.
    ///
    /// `init` writes the file to fill in only if it does not exist.
    #[arg(long, group = GENERATED, conflicts_with_all = OF_A_PROJECT, help_heading = LATER)]
    pub(crate) update: bool,

    /// Write nothing; exit with 1 if `--update` would change something.
    #[arg(long, group = GENERATED, conflicts_with_all = OF_A_PROJECT, help_heading = LATER)]
    pub(crate) check: bool,

    /// Remove the files that an earlier `omnilink init` wrote here, and its additions to other files.
    #[arg(long, conflicts_with_all = ["spec", "template", "lang", "ci", GENERATED], help_heading = LATER)]
    pub(crate) undo: bool,

    /// Keep files that you have edited since.
    #[arg(long, requires = "undo", help_heading = LATER)]
    pub(crate) keep_edited: bool,

    /// Print a first mapping of this log to the specification, and write nothing.
    ///
    /// The log is a file with lines of JSON, or a directory of such files. The mapping is for `omnilink.toml`; comments
    /// mark the decisions that are left to you.
    #[arg(
        long,
        value_name = "LOG",
        conflicts_with_all = ["template", "lang", "ci", "undo", GENERATED],
        help_heading = MAPPING
    )]
    pub(crate) log: Option<PathBuf>,

    /// Lines at the beginning of each file of the log that are not events.
    #[arg(long, value_name = "COUNT", requires = "log", default_value_t = 0, help_heading = MAPPING)]
    pub(crate) header: usize,
}

/// The headings of the options of `init`.
const PROJECT: &str = "Project";
const LATER: &str = "Later";
const MAPPING: &str = "Mapping of a log";

/// The options that set up a project.
const OF_A_PROJECT: [&str; 2] = ["template", "ci"];

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Kind of file.
    #[arg(value_name = "FILE", default_value = "settings")]
    pub(crate) file: SchemaOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// `omnilink.toml`.
    Settings,
    /// Reports written by `--report json=FILE`.
    Report,
}
