//! Measures what controlled schedules find, whether they repeat, what they cost, and what weak memory shows.
//!
//! Every number that is printed was measured in this run, by programs that this run has compiled. It fails if a number
//! that is known is another one: a count of classes, a log that differs from the others, an outcome that is forbidden.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints tables")]

mod cost;
mod litmus;
mod lost;
mod programs;
mod repeat;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::programs::Programs;

#[derive(Parser)]
#[command(name = "schedules", about = "Measures what controlled schedules find, repeat and cost")]
struct Options {
    /// Fewer executions
    #[arg(long)]
    quick: bool,
    /// Only this table
    #[arg(long)]
    only: Option<Table>,
}

/// Prints a table, with fewer executions if that is asked for, and fails if a number in it is wrong.
type Measure = fn(&Programs, bool) -> Result<()>;

/// What can be measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    /// How often and how soon defects are found
    Lost,
    /// Whether the same seed gives the same execution
    Repeat,
    /// What operations and executions cost
    Cost,
    /// What weak memory shows
    Litmus,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let programs = Programs::new()?;
    let tables: [(Table, Measure); 4] = [
        (Table::Lost, lost::run),
        (Table::Repeat, repeat::run),
        (Table::Cost, cost::run),
        (Table::Litmus, litmus::run),
    ];
    for (table, run) in tables {
        if options.only.is_none_or(|only| only == table) {
            run(&programs, options.quick)?;
            println!();
        }
    }
    Ok(())
}
