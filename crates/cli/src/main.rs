//! The command: arguments, files, colors, exit codes.

#[macro_use]
mod terminal;

mod args;
mod build;
mod check;
mod comparison;
mod control;
mod convert;
mod doctor;
mod drive;
mod exit;
mod files;
mod former;
mod fuzz;
mod harness;
mod host;
mod inspection;
mod install;
mod kit;
mod limits;
mod lineup;
mod log;
mod monitor;
mod options;
mod outcome;
mod progress;
mod project;
mod quote;
mod runs;
mod spec;
mod verification;

use std::process::ExitCode;

use crate::args::{Cli, Color, Command};
use clap::FromArgMatches as _;

/// Exploring states creates and drops small values on several threads at once, which this allocator is good at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut matches = args::command(std::env::args_os().len() > 1).get_matches();
    let cli = Cli::from_arg_matches_mut(&mut matches).unwrap_or_else(|error| error.exit());
    match cli.color {
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::Always,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    match limits::supervise(move || run(cli.command)) {
        Ok(code) => code,
        Err(exit) => terminal::finish(exit).into(),
    }
}

fn run(command: Command) -> ExitCode {
    let exit = match command {
        Command::Check(args) => verification::check(*args),
        Command::Report(args) => inspection::report::run(&args),
        Command::View(args) => inspection::view::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Drive(args) => drive::run(&args),
        Command::Lineup(args) => lineup::run(&args),
        Command::Replay(args) => control::replay::run(&args),
        Command::Debug(args) => control::debug::run(&args),
        Command::Shrink(args) => control::shrink::run(&args),
        Command::Build(command) => return build::run(&command),
        Command::Monitor(args) => monitor::run(&args),
        Command::Runs(command) => runs::run(&command),
        Command::Doctor(args) => doctor::run(&args),
        Command::Convert(args) => convert::run(*args),
        Command::Init(args) => harness::init::run(&args),
        Command::Schema(args) => harness::print_schema(&args),
        Command::Spec(command) => spec::run(&command),
        Command::Completions(args) => install::write_completions(&args),
        Command::Man(args) => install::write_pages(&args),
        Command::Former(command) => former::run(command),
    };
    terminal::finish(exit).into()
}
