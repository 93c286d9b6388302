//! The command line of `omnilink build`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::shared::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum BuildCommand {
    /// Run a C or C++ compiler, or a build that calls one: `omnilink build cxx -- g++ -O2 x.cpp -o x`,
    /// `omnilink build cxx -- make`.
    Cxx(CxxArgs),
    /// Run Cargo: `omnilink build cargo -- build --release`. The same as `cargo omnilink build --release`.
    Cargo(CargoArgs),
    /// Run a program many times, each time with another schedule. `cargo omnilink test` runs tests with this.
    Run(RunArgs),
    /// List what the scheduler can and cannot observe in a program.
    Audit(AuditArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CxxArgs {
    /// Print the name of a toolchain file for CMake instead: `cmake -DCMAKE_TOOLCHAIN_FILE=$(omnilink build cxx
    /// --print-cmake) ...`.
    #[arg(long, conflicts_with = "command")]
    pub(crate) print_cmake: bool,

    /// Directory of the installed runtime to link [default: the user's cache].
    #[arg(long, value_name = "DIR")]
    pub(crate) runtime: Option<PathBuf>,

    /// The compiler and its arguments, or a command that builds and finds its compilers in `CC`, `CXX` or `PATH`.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "print_cmake")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CargoArgs {
    /// Arguments for Cargo. Build output goes to `omnilink-sched` in the target directory.
    #[arg(last = true, value_name = "ARGUMENTS", required = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Number of schedules to try.
    #[arg(long, value_name = "COUNT", env = "OMNILINK_RUNS", default_value_t = 100)]
    pub(crate) runs: u64,

    /// Seed of the first schedule; each further schedule adds one.
    #[arg(long, env = "OMNILINK_SEED", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Program and its arguments.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Program to inspect.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Output,
}
