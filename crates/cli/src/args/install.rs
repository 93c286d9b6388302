//! The command lines of `omnilink completions` and `omnilink man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::headings::OUTPUT;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete commands in.
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory of the pages. Created if missing; pages of the same names are replaced.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) out: PathBuf,
}
