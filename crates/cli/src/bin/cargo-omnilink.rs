//! `cargo omnilink test|build|run …`: Cargo, with everything built so that its threads can be controlled.
//!
//! It hands over to `omnilink build cargo`, the command beside it, which knows how.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// As for a wrong command line.
const WRONG: u8 = 2;

const HELP: &str = "\
Run Cargo with everything built so that its threads can be controlled

Usage: cargo omnilink COMMAND [ARGUMENTS]...

  cargo omnilink test     build the tests, and run each test program with many schedules
  cargo omnilink run      the same with a program
  cargo omnilink build    only build, into `omnilink-sched` in the target directory

COMMAND and ARGUMENTS are those of Cargo: `cargo help COMMAND` describes them.

Environment variables:
  OMNILINK_RUNS    Number of schedules to try [default: 100]
  OMNILINK_SEED    Seed of the first schedule; the next schedule has the next seed [default: 1]
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    // Cargo repeats the name of the subcommand.
    arguments.next_if(|argument| argument == "omnilink");
    // Cargo's own help would come otherwise.
    if arguments.peek().is_none_or(|argument| argument == "--help" || argument == "-h") {
        anstream::print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let beside = std::env::current_exe().ok().map(|file| file.with_file_name("omnilink"));
    let omnilink = beside.filter(|file| file.exists()).unwrap_or_else(|| PathBuf::from("omnilink"));
    let error = Command::new(&omnilink).args(["build", "cargo", "--"]).args(arguments).exec();
    anstream::eprintln!("error: `{}` cannot be run: {error}", omnilink.display());
    ExitCode::from(WRONG)
}
