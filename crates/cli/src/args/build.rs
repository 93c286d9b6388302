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
    /// Run a program many times, each with another schedule: what `cargo omnilink test` runs tests with.
    Run(RunArgs),
    /// Say what of a program is seen when it is controlled, and what is not.
    Audit(AuditArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CxxArgs {
    /// Print the name of a toolchain file for CMake instead: `cmake -DCMAKE_TOOLCHAIN_FILE=$(omnilink build cxx
    /// --print-cmake) ...`.
    #[arg(long, conflicts_with = "command")]
    pub(crate) print_cmake: bool,

    /// A directory with the runtime to link, as this command has installed it. The user's cache if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) runtime: Option<PathBuf>,

    /// The compiler and its arguments, or a command that builds and finds its compilers in `CC`, `CXX` or `PATH`.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "print_cmake")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct CargoArgs {
    /// What Cargo is to do. What it builds goes to `omnilink-sched` in the target directory.
    #[arg(last = true, value_name = "ARGUMENTS", required = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// How many schedules to try.
    #[arg(long, value_name = "COUNT", env = "OMNILINK_RUNS", default_value_t = 100)]
    pub(crate) runs: u64,

    /// The seed of the first; the next one has the next.
    #[arg(long, env = "OMNILINK_SEED", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// The program.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Output,
}
