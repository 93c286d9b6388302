//! The scripts of this repository, in Rust: `cargo xtask ci`, `tidy`, `smoke`, `viewer` and so on.
//!
//! `ci` is what must pass before a change is merged, the same on a laptop and in automation. `tidy`, `smoke`, `studies`,
//! `viewer`, `fuzz` and `oracle` are steps of it that are also useful alone; `oracle` needs Java, `viewer` needs Node and
//! Chromium, and some studies need packages of Debian. `bench` takes minutes and means something only on a machine that
//! does nothing else, and so does what `schedules` says about cost.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a script prints to its user")]

mod bench;
mod book;
mod ci;
mod fuzz;
mod hostile;
mod mutants;
mod oracle;
mod packages;
mod recorders;
mod reference;
mod sanitizers;
mod smoke;
mod studies;
mod tidy;
mod viewer;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::workspace::{Build, Workspace};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The scripts of this repository")]
enum Command {
    /// Run every check, and stop at the first that fails
    Ci {
        /// Also run what takes long: ignored tests, AddressSanitizer, Miri, `cargo deny`, more of TLC, a minute of each fuzz
        /// target, mutation tests
        #[arg(long)]
        full: bool,
        /// Only this step, such as `clippy`
        #[arg(long, value_name = "STEP")]
        only: Option<String>,
        /// When the work began, in seconds since 1970: what came before the first step is a row of the table of times
        #[arg(long, value_name = "SECONDS", conflicts_with = "only")]
        since: Option<u64>,
    },
    /// Check what compilers do not: layers, licences, layout, text
    Tidy,
    /// Run the examples in documents and compare what they print
    Smoke {
        /// Write down what they print instead
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
    /// Run the case studies and compare their verdicts with what is expected of them
    Studies {
        /// Only this one
        name: Option<String>,
        /// With the release build of the command
        #[arg(long)]
        release: bool,
        /// Print how soon each schedule finds what is to be found instead
        #[arg(long)]
        compare: bool,
        /// How often each schedule tries
        #[arg(long, default_value_t = 3, requires = "compare", value_parser = clap::value_parser!(u64).range(1..))]
        seeds: u64,
    },
    /// Feed arbitrary bytes to the fuzz targets
    Fuzz {
        /// How long to run each target
        #[arg(long, default_value_t = 60)]
        seconds: u32,
        /// Only this target
        target: Option<String>,
    },
    /// Change the code in one place at a time, and list the changes that no test notices; takes hours
    Mutants(mutants::Options),
    /// Run the command on inputs made to use up time or memory, and compare what it takes with its limits
    Hostile {
        /// With the larger inputs too
        #[arg(long)]
        full: bool,
        /// Replace the table in `bench/README.md`
        #[arg(long)]
        write: bool,
        /// Run this command instead of building one
        #[arg(long)]
        command: Option<PathBuf>,
        /// Only inputs whose name contains this
        name: Option<String>,
    },
    /// Ask a real TLC, and compare its answers with the recorded ones or with our engine's
    Oracle(oracle::Options),
    /// Compare the recorders: same bytes, nothing lost when a program dies, and what they cost
    Recorders(recorders::Options),
    /// Build the page that shows reports, and look at golden reports in a browser
    Viewer(viewer::Options),
    /// Measure the release build, beside another checker and alone
    Bench {
        /// Replace the tables in `bench/README.md`
        #[arg(long)]
        write: bool,
    },
    /// Measure what controlled schedules find, whether they repeat, and what they cost; needs g++ and clang++
    Schedules {
        /// With fewer executions
        #[arg(long)]
        quick: bool,
        /// Only this table: `lost`, `repeat`, `cost` or `litmus`
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

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::load()?;
    match command {
        Command::Ci { only: Some(only), .. } => ci::run_only(&workspace, &only),
        Command::Ci { full, since, .. } => ci::run(&workspace, full, since),
        Command::Tidy => tidy::run(&workspace),
        Command::Smoke { write } => smoke::run(&workspace, write),
        Command::Book => book::run(&workspace),
        Command::Reference(options) => reference::run(&workspace, &options),
        Command::Packages { kind } => packages::run(&workspace, kind),
        Command::Studies { name, release, compare, seeds } => {
            let build = if release { Build::Release } else { Build::Debug };
            match compare {
                true => studies::compare(&workspace, name.as_deref(), build, seeds),
                false => studies::run(&workspace, name.as_deref(), build),
            }
        }
        Command::Fuzz { seconds, target } => fuzz::run(&workspace, seconds, target.as_deref()),
        Command::Mutants(options) => mutants::run(&workspace, &options),
        Command::Hostile { full, write, command, name } => {
            hostile::run(&workspace, &hostile::Options { full, write, command, name })
        }
        Command::Oracle(options) => oracle::run(&workspace, &options),
        Command::Recorders(options) => recorders::run(&workspace, &options),
        Command::Viewer(options) => viewer::run(&workspace, &options),
        Command::Bench { write } => bench::run(&workspace, write),
        Command::Schedules { quick, only } => bench::schedules(&workspace, Build::Release, quick, only.as_deref()),
    }
}
