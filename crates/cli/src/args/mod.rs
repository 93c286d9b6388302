//! The command line. Nothing here knows what runs a command.

mod build;
mod check;
mod control;
mod fuzz;
mod harness;
mod look;
mod shared;
mod spec;
mod trust;

use clap::{Parser, Subcommand, ValueEnum};

pub(crate) use build::{AuditArgs, BuildCommand, CargoArgs, CxxArgs, RunArgs};
pub(crate) use check::{CheckArgs, CheckOutput, ConvertArgs, DoctorArgs, Writable};
pub(crate) use control::{DebugArgs, Kept, ReplayArgs, ShrinkArgs};
pub(crate) use fuzz::{FuzzArgs, Keep, RunsCommand, Scheduling};
pub(crate) use harness::{Ci, GenArgs, InitArgs, Language, Template};
pub(crate) use look::{ReportArgs, ShownArgs, SubjectArgs, ViewArgs};
pub(crate) use shared::{About, AroundArgs, Extra, ExtraKind, Order, Output, Progress};
pub(crate) use spec::{ActionsArgs, EvalArgs, SpecCheckArgs, SpecCommand};
pub(crate) use trust::{ConfirmArgs, ExportArgs, ExportCommand, WitnessArgs, WitnessCommand};

/// Could what my system did have been done by its specification, and if not, why not?
#[derive(Debug, Parser)]
#[command(name = "omnilink", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check recorded histories against a specification.
    #[command(after_help = "Exit codes: 0 every history is accepted, 1 one is rejected, 2 the command line or an \
                            input is wrong, 3 one is inconclusive, 4 nothing to check, 6 all are accepted and say too \
                            little (`--strict`). 2 wins over 1, 1 over 3, and 3 over 6.")]
    Check(CheckArgs),
    /// Check, and explain a rejection in full: every possible state, every reason, every order that is still possible. Also
    /// shows a report again that `--report json=FILE` wrote.
    Explain(CheckArgs),
    /// Write a page about a run, a history or a directory of runs: one file that needs nothing else.
    #[command(after_help = "A page holds what was recorded: who gets it can read all of it. Exit codes are those of \
                            `check`, for what the page is about.")]
    Report(Box<ReportArgs>),
    /// Look at the same page while it is served on this machine: assumptions are checked, expressions are evaluated.
    #[command(after_help = "Exit codes: 0 ended with Ctrl-C, 2 the command line or an input is wrong, 3 inconclusive.")]
    View(Box<ViewArgs>),
    /// Write a history and its specification for another checker, or what a check found for another program.
    #[command(subcommand)]
    Export(ExportCommand),
    /// Let TLC decide a history too, and compare.
    #[command(
        after_help = "Exit codes: 0 both verdicts are the same, 1 they differ, 2 the command line or an input is \
                            wrong, or TLC has no verdict, 3 inconclusive, 4 nothing to check."
    )]
    Confirm(ConfirmArgs),
    /// Work with the orders that `check --witness` writes.
    #[command(subcommand)]
    Witness(WitnessCommand),
    /// Run a harness many times, check every recording, and keep what fails.
    #[command(
        after_help = "Exit codes: 0 every run is accepted, 1 one is rejected, 2 the command line, the settings, the \
                            specification or the build is wrong, 3 one is inconclusive, 4 nothing was recorded, 5 the \
                            harness crashed or did not end. 2 wins over 1, 1 over 5, and 5 over 3."
    )]
    Fuzz(FuzzArgs),
    /// Repeat a run that was kept, step by step, and compare.
    #[command(
        after_help = "Exit codes: those of `check` for what the run shows, 5 it crashes or is stuck again, 2 it went \
                            another way than when it was kept, or something is wrong."
    )]
    Replay(ReplayArgs),
    /// Repeat a run under gdb, stopped where an operation starts.
    Debug(DebugArgs),
    /// Find a smaller run that fails for the same reason, with fewer switches between threads.
    #[command(
        after_help = "Exit codes: 1 a smaller run is kept that is rejected, 5 one that crashes or is stuck, 2 something \
                            is wrong."
    )]
    Shrink(ShrinkArgs),
    /// Build a program so that its threads can be controlled.
    #[command(subcommand)]
    #[command(after_help = "Exit codes: those of what is run, 2 the command line is wrong or nothing can be run.")]
    Build(BuildCommand),
    /// Look at the runs that were kept.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Say what can be done on this machine: clocks, `rr`, compilers, Java.
    Doctor(DoctorArgs),
    /// Convert a history from one format to another.
    Convert(ConvertArgs),
    /// Write a harness from a specification: a function to fill in for each call, and code that draws and records calls.
    #[command(
        after_help = "Exit codes: 0 written, or up to date with --check, 1 the harness and the specification have \
                            drifted apart, 2 the command line, the specification or the settings are wrong."
    )]
    Gen(GenArgs),
    /// Set up a project: a specification, a harness with a small system in it that works, and settings.
    Init(InitArgs),
    /// Check, list or evaluate a TLA+ specification on its own.
    #[command(subcommand)]
    Spec(SpecCommand),
    /// List the built-in specifications, or show the operations of one.
    Specs {
        /// The specification to show.
        name: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}
