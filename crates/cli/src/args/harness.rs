//! The command line of `omnilink gen`, `omnilink init` and `omnilink schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::headings::{INPUT, OUTPUT, SPECIFICATION};
use super::shared::AroundArgs;

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

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Directory of the project: an existing Cargo, CMake, Meson or Make project, or a new one. Existing files are never
    /// overwritten.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Specification to write a harness for: a TLA+ module, in the project or elsewhere [default: the only module in the
    /// directory].
    #[arg(long, value_name = "SPEC", conflicts_with = "template", help_heading = SPECIFICATION)]
    pub(crate) spec: Option<PathBuf>,

    /// Language of the harness [default: that of the project].
    #[arg(long, value_name = "LANGUAGE", help_heading = INPUT)]
    pub(crate) lang: Option<Language>,

    /// New project with a specification and a small working system of this kind.
    #[arg(long, value_name = "TEMPLATE", requires = "lang", help_heading = INPUT)]
    pub(crate) template: Option<Template>,

    /// CI service that runs the harness on every change.
    #[arg(long, value_name = "WHERE", default_value = "none", help_heading = OUTPUT)]
    pub(crate) ci: Ci,

    /// Remove the files that an earlier `omnilink init` wrote here, and what it added to others.
    #[arg(long, conflicts_with_all = ["spec", "template", "lang", "ci"], help_heading = OUTPUT)]
    pub(crate) undo: bool,

    /// Keep files that were edited since.
    #[arg(long, requires = "undo", help_heading = OUTPUT)]
    pub(crate) keep_edited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    /// C++
    Cpp,
}

impl Language {
    /// The language, as on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::Cpp => "cpp",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// FIFO queue; a dequeue may find it empty.
    Queue,
    /// One value with read, write and compare-and-set.
    Register,
    /// Key-value map.
    Map,
    /// Lock with an owner.
    Lock,
    /// Transactional store under snapshot isolation.
    Transaction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ci {
    Github,
    Gitlab,
    None,
}

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
