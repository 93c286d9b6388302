//! `cargo omnilink test|build|run …`: Cargo, with everything built so that its threads can be controlled.
//!
//! It hands over to `omnilink build cargo`, the command beside it, which knows how.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// As for a wrong command line.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    // Cargo repeats the name of the subcommand.
    arguments.next_if(|argument| argument == "omnilink");
    let beside = std::env::current_exe().ok().map(|file| file.with_file_name("omnilink"));
    let omnilink = beside.filter(|file| file.exists()).unwrap_or_else(|| PathBuf::from("omnilink"));
    let error = Command::new(&omnilink).args(["build", "cargo", "--"]).args(arguments).exec();
    anstream::eprintln!("error: `{}` cannot be run: {error}", omnilink.display());
    ExitCode::from(WRONG)
}
