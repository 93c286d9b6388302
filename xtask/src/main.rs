//! The scripts of this repository, in Rust: `cargo xtask ci`, `tidy`, `smoke`, `viewer` and others.
//!
//! `ci` must pass before a change is merged, and runs the same steps on a laptop and in automation. The other commands
//! are steps of `ci` or tools for developers. `oracle` needs Java; `viewer` needs Node, Chromium and Firefox; some
//! studies need Debian packages. `bench`, and the costs that `schedules` measures, are meaningful only on an idle
//! machine.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script prints to its user")]

mod bench;
mod book;
mod ci;
mod fleet;
mod fuzz;
mod hostile;
mod languages;
mod lineup;
mod mutants;
mod oracle;
mod packages;
mod recorders;
mod reference;
mod sanitizers;
mod smoke;
mod sources;
mod studies;
mod tidy;
mod tools;
mod viewer;
mod workflows;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use crate::ci::Selection;
use crate::workspace::{Build, Workspace};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The scripts of this repository")]
enum Command {
    /// Run all checks, and stop at the first failure
    Ci {
        /// Run only checks that need Cargo alone
        #[arg(long)]
        quick: bool,
        /// Add the slow checks, which CONTRIBUTING.md lists by part
        #[arg(long, conflicts_with = "quick")]
        full: bool,
        /// Run only this part of the slow checks, such as `fuzz`
        #[arg(long, value_name = "PART", conflicts_with_all = ["quick", "full"])]
        part: Option<String>,
        /// Write the time that the part took into CONTRIBUTING.md
        #[arg(long, requires = "part")]
        write: bool,
        /// Run only this step, such as `clippy`
        #[arg(long, value_name = "STEP", conflicts_with_all = ["quick", "full", "part"])]
        only: Option<String>,
        /// Start of the job, in seconds since 1970: the table of times gets a row for the time before the first step
        #[arg(long, value_name = "SECONDS", conflicts_with = "only")]
        since: Option<u64>,
    },
    /// Check the rules of the repository: layers, manifests, licences, layout, text, tables in documents
    Tidy {
        /// Write the tables of documents that repeat code
        #[arg(long)]
        write: bool,
    },
    /// Run the examples in documents, and compare their output
    Smoke {
        /// Replace the output in the documents instead
        #[arg(long)]
        write: bool,
    },
    /// Build the book with mdBook, and check its links
    Book,
    /// Write the command reference of the book from the help texts of the built command
    Reference(reference::Options),
    /// Build the crates, the wheel and the Debian package, install each in a place of its own, and use it there
    Packages {
        /// Only this kind
        kind: Option<packages::Kind>,
    },
    /// Check objects without a specification, and print a table; needs g++, libconcurrentqueue-dev and libboost-dev
    Lineup {
        /// Only objects whose directory or name contains this
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
        /// Threads and calls per thread
        #[arg(long, value_name = "THREADSxCALLS", default_value = "3x3")]
        size: String,
        /// Random tests of each object
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        tests: u64,
        /// Maximum time for each object
        #[arg(long, value_name = "TIME", default_value = "20m")]
        time: String,
    },
    /// Run the case studies, and compare their verdicts with the expected ones
    Studies {
        /// Run only this study
        name: Option<String>,
        /// Run only those whose schedules are controlled
        #[arg(long, conflicts_with = "name")]
        controlled: bool,
        /// Use the release build of the command
        #[arg(long)]
        release: bool,
        /// Measure instead how soon each schedule finds the expected failures
        #[arg(long)]
        compare: bool,
        /// The number of seeds for each schedule
        #[arg(long, default_value_t = 3, requires = "compare", value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
    },
    /// Check the crates below `fleet`, and jobs on clusters on this machine; needs Java and Python
    Fleet(fleet::Options),
    /// Check the crates below `sources`, and monitors on brokers on this machine; needs Python
    Sources(sources::Options),
    /// Run the fuzz targets with libFuzzer
    Fuzz {
        /// The time for each target, in seconds
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Run only this target
        target: Option<String>,
    },
    /// Run mutation tests: change the code in one place at a time, and list the changes that no test detects; takes hours
    Mutants(mutants::Options),
    /// Run the command on inputs that exhaust time or memory, and compare its time and memory with its limits
    Hostile {
        /// Add the larger inputs
        #[arg(long)]
        full: bool,
        /// Replace the table in `bench/README.md`
        #[arg(long)]
        write: bool,
        /// Run this command [default: build it]
        #[arg(long)]
        command: Option<PathBuf>,
        /// Run only inputs whose names contain this
        name: Option<String>,
    },
    /// Run TLC, and compare its answers with the recorded ones or with those of our engine
    Oracle(oracle::Options),
    /// Compare the recorders: same bytes, no record lost when a program is killed, and their cost
    Recorders(recorders::Options),
    /// Build the page that shows reports, and test it in a browser with golden reports
    Viewer(viewer::Options),
    /// Lint the workflows, the action, the hooks and what `omnilink init --ci` writes, and rehearse the action
    Workflows(workflows::Options),
    /// Measure the release build, against another checker and alone
    Bench {
        /// Replace the tables in `bench/README.md`
        #[arg(long)]
        write: bool,
    },
    /// Measure the findings, the repeatability and the cost of controlled schedules; needs g++ and clang++
    Schedules {
        /// Run fewer executions
        #[arg(long)]
        quick: bool,
        /// Print only this table: `lost`, `repeat`, `cost` or `litmus`
        #[arg(long)]
        only: Option<String>,
    },
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The commands with their summaries.
pub(crate) fn command_rows() -> Vec<[String; 2]> {
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    Command::command().get_subcommands().map(|command| [format!("`{}`", command.get_name()), about(command)]).collect()
}

/// The options of all commands.
pub(crate) fn options() -> Vec<String> {
    let all = Command::command();
    let options = all.get_subcommands().flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long);
    options.map(|name| format!("--{name}")).collect()
}

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::load()?;
    match command {
        Command::Ci { only: Some(only), .. } => ci::run_only(&workspace, &only),
        Command::Ci { part: Some(part), write, since, .. } => {
            match ci::run(&workspace, &Selection::Part(part.clone()), since)? {
                Some(took) if write => tidy::note_time(&workspace, &part, took),
                _ => Ok(()),
            }
        }
        Command::Ci { quick, full, since, .. } => {
            let selection = match (quick, full) {
                (true, _) => Selection::Quick,
                (_, true) => Selection::Full,
                _ => Selection::Usual,
            };
            ci::run(&workspace, &selection, since).map(drop)
        }
        Command::Tidy { write } => tidy::run(&workspace, write),
        Command::Smoke { write } => smoke::run(&workspace, write),
        Command::Book => book::run(&workspace),
        Command::Reference(options) => reference::run(&workspace, &options),
        Command::Packages { kind } => packages::run(&workspace, kind),
        Command::Lineup { only, size, tests, time } => {
            lineup::run(&workspace, &lineup::Asked { only, size, tests, time })
        }
        Command::Studies { name, controlled, release, compare, seeds } => {
            let build = if release { Build::Release } else { Build::Debug };
            let selected = match &name {
                Some(name) => studies::Selected::Named(name),
                None if controlled => studies::Selected::Controlled,
                None => studies::Selected::All,
            };
            match compare {
                true => studies::compare(&workspace, selected, build, seeds),
                false => studies::run(&workspace, selected, build),
            }
        }
        Command::Fleet(options) => fleet::run(&workspace, &options),
        Command::Sources(options) => sources::run(&workspace, &options),
        Command::Fuzz { seconds, target } => fuzz::run(&workspace, seconds, target.as_deref()),
        Command::Mutants(options) => mutants::run(&workspace, &options),
        Command::Hostile { full, write, command, name } => {
            hostile::run(&workspace, &hostile::Options { full, write, command, name })
        }
        Command::Oracle(options) => oracle::run(&workspace, &options),
        Command::Recorders(options) => recorders::run(&workspace, &options),
        Command::Viewer(options) => viewer::run(&workspace, &options),
        Command::Workflows(options) => workflows::run(&workspace, &options),
        Command::Bench { write } => bench::run(&workspace, write),
        Command::Schedules { quick, only } => bench::schedules(&workspace, Build::Release, quick, only.as_deref()),
    }
}
