//! Tests the recorders for Python, Go and Java, and runs the examples that use them with real servers.
//!
//! The work is in shell scripts, which a user runs in the same way. Here they get the command that was built.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// The examples. Each starts its servers on this machine, and stops them.
const SERVERS: &[&str] = &[
    "examples/redis-replica/run.sh",
    "examples/postgres-counter/run.sh",
    "examples/zookeeper-sync/run.sh",
    "examples/monitor-soak/run.sh",
];

/// Runs the tests of the recorders, and the programs that the book shows.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    run(workspace, &["recorders/test.sh"])
}

/// Runs the examples: each must find its anomaly, and none in the right configuration.
pub(crate) fn run_servers(workspace: &Workspace) -> Result<()> {
    run(workspace, SERVERS)
}

fn run(workspace: &Workspace, scripts: &[&str]) -> Result<()> {
    let omnilink = workspace.build_programs()?.join("omnilink");
    for script in scripts {
        let mut command = Command::new(workspace.root().join(script));
        let status = command.env("OMNILINK", &omnilink).status().with_context(|| format!("cannot run {script}"))?;
        ensure!(status.success(), "{script} failed: {status}");
    }
    Ok(())
}
