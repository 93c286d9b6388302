//! The command lines of `omnilink completions` and `omnilink man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete commands in.
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory of the pages. Created if missing; pages of the same names are replaced.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
