//! The command line of `omnilink gen` and `omnilink init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::AroundArgs;

#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    /// The language of the harness.
    pub(crate) language: Language,

    /// The specification: a TLA+ module.
    #[arg(value_name = "SPEC")]
    pub(crate) spec: PathBuf,

    /// Where the harness stands.
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,

    /// Write nothing, and say whether the harness still is what would be written.
    #[arg(long)]
    pub(crate) check: bool,

    /// What belongs to the specification and its harness. The file `omnilink.toml` beside the module if not given.
    #[arg(long, value_name = "TOML")]
    pub(crate) settings: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) around: AroundArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where to set up the project. It is made if it is not there; nothing in it is overwritten.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// The language of the harness.
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) lang: Language,

    /// What the system is like.
    #[arg(long, value_name = "TEMPLATE")]
    pub(crate) template: Template,

    /// Where the harness is to be run on every change.
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
    /// First in, first out; a dequeue may find nothing.
    Queue,
    /// One value that is read, written, and compared and set.
    Register,
    /// Values under keys.
    Map,
    /// A lock that knows its owner.
    Lock,
    /// A store with transactions under snapshot isolation.
    Transaction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ci {
    Github,
    Gitlab,
    None,
}
