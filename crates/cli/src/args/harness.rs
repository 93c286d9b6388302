//! The command line of `omnilink gen` and `omnilink init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::AroundArgs;

#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    /// Language of the harness.
    pub(crate) language: Language,

    /// Specification: a TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// Directory of the harness.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,

    /// Write nothing; report whether the harness is up to date.
    #[arg(long)]
    pub(crate) check: bool,

    /// Settings of the specification and its harness [default: `omnilink.toml` beside the module].
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) around: AroundArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Directory of the project. Created if missing; existing files are never overwritten.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Language of the harness.
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) lang: Language,

    /// Kind of system.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) template: Template,

    /// CI service that runs the harness on every change.
    #[arg(long, value_name = "WHERE", default_value = "none")]
    pub(crate) ci: Ci,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    /// C++
    Cpp,
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
