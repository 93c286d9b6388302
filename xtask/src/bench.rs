//! Builds what is measured, and measures it.

use anyhow::Result;

use crate::workspace::Workspace;

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
pub(crate) fn schedules(workspace: &Workspace, quick: bool, only: Option<&str>) -> Result<()> {
    let quick = if quick { "--quick" } else { "" };
    let only = only.map_or_else(String::new, |only| format!("--only {only}"));
    workspace.cargo(&format!("run --quiet --release --manifest-path bench/schedules/Cargo.toml -- {quick} {only}"))
}
