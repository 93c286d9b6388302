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

  cargo omnilink test     build the tests, and run each test with many schedules
  cargo omnilink run      the same with a program
  cargo omnilink build    only build, into `omnilink-sched` in the target directory

COMMAND and ARGUMENTS are those of Cargo: `cargo help COMMAND` describes them. Arguments after `--` are those of the tests:
`cargo omnilink test -- --exact NAME` runs one test.

Options of `test` and `run`, anywhere before `--`:
  --schedule HOW   Scheduling strategy: random, pct, pos, mix, dfs or dpor [default: mix]
  --runs COUNT     Number of schedules to try for each test [default: 1000 in at most 20 s; all with dfs or dpor]
  --seed SEED      Seed of the first schedule; the next schedule has the next seed [default: 1]
  --time TIME      Maximum time for the schedules of each test, such as `90s`
  --bound COUNT    Maximum number of preemptions, with `--schedule dfs`
  --weak-memory    Let loads read older stores where C11 allows it
  --plain          Also switch threads at non-atomic accesses, for programs with data races
  --depth COUNT, --max-steps COUNT, --every-schedule: see `omnilink build run --help`

Environment variables:
  OMNILINK_RUNS    The same as `--runs`
  OMNILINK_SEED    The same as `--seed`
  OMNILINK_STD     `precompiled`: do not build the standard library, even if the toolchain has its sources

A test that fails is kept as a run in `omnilink` in the target directory. `omnilink replay`, `omnilink shrink` and
`omnilink debug` work on it.
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
