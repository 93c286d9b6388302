//! The command line. It does not know the code that runs a command.

mod build;
mod check;
mod control;
mod convert;
mod drive;
mod former;
mod fuzz;
mod harness;
mod headings;
mod inspection;
mod install;
mod lineup;
mod monitor;
mod overview;
mod scheduling;
mod shared;
mod spec;
mod verification;

use clap::{Parser, Subcommand, ValueEnum};

use self::headings::OUTPUT;

pub(crate) use build::{AuditArgs, BuildCommand, CargoArgs, CxxArgs, RunArgs, RunOptions};
pub(crate) use check::{CheckArgs, CheckOutput, DoctorArgs, parse_isolation};
pub(crate) use control::{DebugArgs, Kept, ReplayArgs, ShrinkArgs};
pub(crate) use convert::{ConvertArgs, Target};
pub(crate) use drive::{ANSWER_WITHIN, DriveArgs};
pub(crate) use former::{ExportCommand, FormerCommand, InferArgs, LogCommand, WitnessCommand};
pub(crate) use fuzz::{FuzzArgs, Keep, RunsCommand};
pub(crate) use harness::{GenArgs, InitArgs, SchemaArgs, SchemaOf};
pub(crate) use inspection::{ExportArgs, ReportArgs, SubjectArgs, ViewArgs};
pub(crate) use install::{CompletionsArgs, ManArgs};
pub(crate) use lineup::{LineupArgs, Size};
pub(crate) use monitor::{MonitorArgs, Unit};
pub(crate) use overview::command;
pub(crate) use shared::{About, AroundArgs, Extra, ExtraKind, Order, Output, Progress, STORE};
pub(crate) use spec::{
    ActionsArgs, BehaviorForm, ChooseBy, CoverBy, EvalArgs, SearchOrder, SpecCheckArgs, SpecCommand, SpecSimulateArgs,
    StatesArgs,
};
pub(crate) use verification::{ConfirmArgs, ModuleArgs, VerifyArgs};

/// After the other options of a command.
const LAST: usize = 900;

/// Check whether a specification allows what your system did, and explain why not.
#[derive(Debug, Parser)]
#[command(name = "omnilink", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = OUTPUT,
        display_order = LAST
    )]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check recorded histories against a specification.
    #[command(
        after_help = "Exit codes: 0 accepted, 1 rejected, 2 wrong input, 3 inconclusive, 4 nothing to check.",
        after_long_help = "Exit codes: 0 every history is accepted, 1 one is rejected, 2 the command line or an input is \
                           wrong, 3 one is inconclusive, 4 nothing to check, 6 all are accepted but exercise too \
                           little (`--strict`). 2 wins over 1, 1 over 3, and 3 over 6. With `--verify`: 0 the order \
                           explains the history, 1 it does not. With `--tlc`: 0 both verdicts are the same, 1 they \
                           differ, 2 TLC has no verdict or an input is wrong."
    )]
    Check(Box<CheckArgs>),
    /// Write a page about a history, a run or a directory of runs.
    ///
    /// The page is one self-contained file.
    #[command(after_help = "A page contains the whole recorded history, readable by every recipient. Exit codes are \
                            those of `check`, for the subject of the page.")]
    Report(Box<ReportArgs>),
    /// Serve a page on this machine, and check assumptions on demand.
    ///
    /// It evaluates expressions on demand.
    #[command(after_help = "Exit codes: 0 stopped by Ctrl-C, 2 the command line or an input is wrong, 3 inconclusive.")]
    View(Box<ViewArgs>),
    /// Run a harness under many schedules, and keep the runs that fail.
    ///
    /// OmniLink checks every trace.
    #[command(
        after_help = "Exit codes: 0 no run fails and one is accepted, 1 one is rejected, 2 the command line, the settings, \
                            the specification or the build is wrong, 3 one is inconclusive and none is accepted (with \
                            `--strict`, one is inconclusive), 4 nothing was recorded, 5 the harness crashed or did not \
                            end, 7 one has a data race. 2 wins over 1, 1 over 5, 5 over 7, and 7 over 3."
    )]
    Fuzz(FuzzArgs),
    /// Let a specification choose a program's calls, and check its answers.
    ///
    /// The program reads a call per line and answers each with a line, in JSON.
    #[command(
        after_help = "Exit codes: 0 every answer is allowed, 1 one is not, 2 the command line, the specification or the \
                            settings are wrong, 3 the check of a run reached a limit, 4 no call was made, 5 the program \
                            crashed, did not answer, or its answer cannot be read, 130 it was interrupted before."
    )]
    Drive(DriveArgs),
    /// Check an object without a specification, against its serial runs.
    ///
    /// Every concurrent execution must give results that some serial run gives.
    #[command(
        after_help = "Exit codes: 0 every test passed (random tests of growing sizes: as far as explored), 1 one failed, \
                            2 the command line, the settings or the build is wrong, 3 one was not explored to the end, \
                            130 the same after an interrupt, 5 the object crashed or did not end, 7 one has a data race. \
                            2 wins over 1, 1 over 5, 5 over 7, and 7 over 3."
    )]
    Lineup(LineupArgs),
    /// Replay a kept run step by step, and compare.
    #[command(after_help = "Exit codes: those of `check` for the run, 5 it crashes or is stuck again, 7 it has \
                            its data race again, 2 it diverges from the kept run, or something is wrong.")]
    Replay(ReplayArgs),
    /// Replay a run under gdb, stopped where an operation starts.
    Debug(DebugArgs),
    /// Find a smaller run that fails for the same reason.
    ///
    /// It has fewer operations and thread switches.
    #[command(
        after_help = "Exit codes: 1 a smaller run is kept that is rejected, 5 one that crashes or is stuck, 7 one with a \
                            data race, 2 something is wrong."
    )]
    Shrink(ShrinkArgs),
    /// Build a program for controlled scheduling.
    #[command(subcommand)]
    #[command(after_help = "Exit codes: those of the program, 2 the command line is wrong or it cannot be run.")]
    Build(BuildCommand),
    /// Check operations while the system runs, and report violations.
    ///
    /// The monitor checks each key as a separate object.
    #[command(
        after_help = "Exit codes, once the input has ended: 0 everything is accepted, 1 a violation, 2 the command line or \
                            an input is wrong, 3 something is undecided, 4 there was no operation."
    )]
    Monitor(Box<MonitorArgs>),
    /// List, show, compare, pack or remove kept runs.
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Report what works on this machine: clocks, `rr`, compilers, Java.
    Doctor(DoctorArgs),
    /// Convert a history to another format, or its check for another tool.
    #[command(
        after_help = "Exit codes: 0 written, 2 the command line or an input is wrong, 3 inconclusive, 4 there was no \
                            operation. `tlc`, `perfetto`, `itf` and `dot` need the specification of the history; all \
                            but `tlc` also take a kept run."
    )]
    Convert(Box<ConvertArgs>),
    /// Set up a harness in an existing project or a new one.
    ///
    /// Use your own specification, or a template that comes with a small working system.
    #[command(
        after_help = "Exit codes: 0 written, removed with --undo, or up to date with --check, 1 out of date with \
                            --check, 2 the command line, the specification or the project is wrong; then nothing is \
                            written."
    )]
    Init(InitArgs),
    /// Print the JSON Schema of a file, for editors and other programs.
    #[command(
        after_help = "`omnilink init` writes the schema of `omnilink.toml` and refers to it in the first line of \
                            that file, where editors look for it."
    )]
    Schema(SchemaArgs),
    /// List specifications; check or evaluate a TLA+ module on its own.
    #[command(subcommand)]
    Spec(SpecCommand),
    /// Write a completion script for a shell to standard output.
    #[command(
        after_help = "`omnilink completions bash > ~/.local/share/bash-completion/completions/omnilink` installs \
                            it for bash."
    )]
    Completions(CompletionsArgs),
    /// Write the man pages of all commands, one file each.
    Man(ManArgs),
    #[command(flatten)]
    Former(FormerCommand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}
