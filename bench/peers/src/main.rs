//! Measures OmniLink beside porcupine-rs, and alone at its limits.
//!
//! `compare` runs both checkers on the same histories and fails if they disagree or if ours is the slower one; `limits`
//! runs ours where others give up. Each prints a table and, with `--write`, replaces the one in the README. Every
//! measurement has a process of its own, which is this program again with the command `child`.

mod cases;
mod compare;
mod limits;
mod measure;
mod porcupine;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::cases::Checker;

#[derive(Parser)]
#[command(name = "peers", about = "Measures OmniLink beside another checker, and alone at its limits")]
enum Command {
    /// Run both checkers on the same histories
    Compare {
        /// Replace the table in this file
        #[arg(long)]
        write: Option<PathBuf>,
        /// Only cases whose names contain this
        #[arg(long)]
        only: Option<String>,
    },
    /// Run OmniLink on long and wide histories
    Limits {
        /// The command to measure
        #[arg(long)]
        omnilink: PathBuf,
        /// Replace the table in this file
        #[arg(long)]
        write: Option<PathBuf>,
        /// Only cases whose names contain this
        #[arg(long)]
        only: Option<String>,
    },
    /// Measure one checker on one case
    #[command(hide = true)]
    Child { checker: Checker, case: String },
    /// Measure another command
    #[command(hide = true)]
    Other { program: String, args: Vec<String> },
    /// Measure a search and the replay of what it found
    #[command(hide = true)]
    Replay { kind: limits::Kind, operations: u64 },
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// False if the figures are not what they should be.
fn run(command: Command) -> Result<bool> {
    match command {
        Command::Compare { write, only } => compare::run(write.as_deref(), only.as_deref()),
        Command::Limits { omnilink, write, only } => limits::run(&omnilink, write.as_deref(), only.as_deref()),
        Command::Child { checker, case } => cases::child(checker, &case).map(|()| true),
        Command::Other { program, args } => measure::other(&program, &args).map(|()| true),
        Command::Replay { kind, operations } => limits::replay(kind, operations).map(|()| true),
    }
}
