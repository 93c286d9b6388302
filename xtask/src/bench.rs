//! Builds the benchmarks and runs them.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::{Build, Workspace};

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
    let status = command.current_dir(workspace.root()).status().context("cannot run the driver")?;
    ensure!(status.success(), "controlled schedules are not what they should be");
    Ok(())
}
