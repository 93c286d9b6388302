//! Tests the recorders for Python, Go and Java, and runs the examples that use them with real servers.
//!
//! The work is in scripts, which a user runs in the same way. Here they get the command that was built.

use std::process::Command;

use anyhow::Result;

use crate::workspace::{Workspace, call, with_path};

/// The examples. Each starts its servers on this machine, and stops them.
const SERVERS: &[&str] = &[
    "examples/redis-replica/run.sh",
    "examples/postgres-counter/run.sh",
    "examples/zookeeper-sync/run.sh",
    "examples/monitor-soak/run.sh",
];

/// Runs the tests of the recorders, and the programs that the book shows.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    run(workspace, "recorders/test.sh", &[])
}

/// Runs the examples: each must find its anomaly, and none in the right configuration.
pub(crate) fn run_servers(workspace: &Workspace) -> Result<()> {
    SERVERS.iter().try_for_each(|script| run(workspace, script, &[]))
}

/// Records a few histories of each cluster, and finds their levels.
pub(crate) fn run_levels(workspace: &Workspace) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    let histories = scratch.path().to_string_lossy();
    run(workspace, "examples/server-levels/run.sh", &[&histories, "--histories", "10", "--seconds", "10"])?;
    run(workspace, "examples/server-levels/table.py", &[&histories])
}

/// Records transactions of each isolation level of five systems, and finds the levels that they have.
pub(crate) fn run_isolation(workspace: &Workspace) -> Result<()> {
    let scratch = tempfile::tempdir()?;
    run(workspace, "examples/isolation-levels/run.sh", &[&scratch.path().to_string_lossy()])
}

/// Records a few histories of each class of the JDK, and finds the levels of its methods.
pub(crate) fn run_jdk(workspace: &Workspace) -> Result<()> {
    workspace.cargo("test --quiet --release --manifest-path examples/jdk-levels/Cargo.toml")?;
    run(workspace, "examples/jdk-levels/run.sh", &["--histories", "200"])
}

fn run(workspace: &Workspace, script: &str, args: &[&str]) -> Result<()> {
    let place = workspace.build_programs()?;
    let mut command = Command::new(workspace.root().join(script));
    call(with_path(&mut command, &place)?.args(args).env("OMNILINK", place.join("omnilink")))
}
