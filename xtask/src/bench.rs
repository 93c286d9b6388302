//! Builds the benchmarks and runs them.

use std::process::Command;

use anyhow::Result;

use crate::workspace::{Build, Workspace, call, with_path};

/// Runs both benchmarks, even if the first finds something too slow, and prints or writes their tables.
pub(crate) fn run(workspace: &Workspace, write: bool) -> Result<()> {
    let omnilink = workspace.metadata.target_directory.join("release/omnilink");
    let write = if write { "--write bench/README.md" } else { "" };
    let peers = "run --quiet --release --manifest-path bench/peers/Cargo.toml --";
    workspace.cargo("build --quiet --release --package omnilink-cli")?;
    let compared = workspace.cargo(&format!("{peers} compare {write}"));
    workspace.cargo(&format!("{peers} limits --omnilink {omnilink} {write}"))?;
    compared
}

/// Measures controlled schedules. With few executions it takes half a minute, and otherwise minutes.
///
/// The measured programs are compiled the same way for every build of this driver; only the cost of the driver itself needs
/// a release build.
pub(crate) fn schedules(workspace: &Workspace, build: Build, quick: bool, only: Option<&str>) -> Result<()> {
    let driver = match build {
        Build::Debug => workspace.build_programs()?,
        Build::Release => {
            workspace.cargo("build --quiet --release --package schedules")?;
            workspace.metadata.target_directory.join("release").into()
        }
    };
    let mut command = Command::new(driver.join("schedules"));
    command.args(quick.then_some("--quick")).args(only.iter().flat_map(|only| ["--only", only]));
    call(command.current_dir(workspace.root()))
}

/// Compares Line-Up with loom and shuttle on the same objects.
pub(crate) fn model_checkers(workspace: &Workspace) -> Result<()> {
    let omnilink = workspace.build_programs()?.join("omnilink");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--release", "--", "--omnilink"]).arg(omnilink);
    call(command.current_dir(workspace.root().join("bench/model-checkers")))
}

/// Looks for seeded mistakes, shrinks what fails, and runs the corrected programs.
pub(crate) fn seeded(workspace: &Workspace) -> Result<()> {
    let place = workspace.build_programs()?;
    let runs = [
        "--ways fuzz,rust-fuzz,test --seeds 2 --at-least 22",
        "--ways rust-lineup --seeds 1",
        "--ways fuzz,rust-fuzz,test --seeds 1 --shrink",
        "--ways fuzz,rust-fuzz,test --right 10",
        "--litmus",
    ];
    for options in runs {
        let mut command = Command::new(workspace.root().join("bench/seeded/run.py"));
        call(with_path(&mut command, &place)?.args(options.split(' ')))?;
    }
    Ok(())
}

/// Shrinks a few failures of each project.
pub(crate) fn shrink(workspace: &Workspace) -> Result<()> {
    let place = workspace.build_programs()?;
    let mut command = Command::new(workspace.root().join("bench/shrink/run.py"));
    call(with_path(&mut command, &place)?.args(["--count", "2"]))
}
