//! Checks the crates below `fleet`, which nothing else builds: their tests, and jobs on real clusters on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use clap::Args;

use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Options {
    /// The number of times that a worker of each cluster is killed in the middle of a check; 0 runs no cluster
    #[arg(long, default_value_t = 1)]
    kills: u32,
}

impl Options {
    pub(crate) fn full() -> Options {
        Options { kills: 1 }
    }
}

/// The packages, which need a query engine.
const PACKAGES: &str = "-p omnilink-columns -p omnilink-keyed -p omnilink-fleet";

/// The Python packages of the clusters, as pip names them.
const CLUSTERS: [&str; 5] = ["pyarrow", "pandas", "pyspark==4.3.0", "ray[data]==2.60.0", "maturin"];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    workspace.cargo(&format!("clippy --profile engine {PACKAGES} -p omnilink-python --all-targets -- -D warnings"))?;
    workspace.cargo("clippy --profile engine -p omnilink-cli --features fleet -- -D warnings")?;
    workspace.cargo(&format!("nextest run --cargo-profile engine {PACKAGES}"))?;
    workspace.cargo(&format!("test --quiet --doc --profile engine {PACKAGES}"))?;
    if options.kills == 0 {
        return Ok(());
    }
    let place: PathBuf = workspace.metadata.target_directory.join("fleet").into();
    let python = environment(workspace, &place)?;
    let example = workspace.root().join("examples/fleet");
    let operations = place.join("ops");
    call(Command::new(&python).arg(example.join("data.py")).arg(&operations))?;
    for engine in ["spark", "ray"] {
        let kills = options.kills.to_string();
        call(
            Command::new(&python).arg(example.join("trial.py")).arg(engine).arg(&operations).args(["--kills", &kills]),
        )?;
    }
    Ok(())
}

/// A Python environment with the engines and our module; returns its interpreter.
fn environment(workspace: &Workspace, place: &Path) -> Result<PathBuf> {
    let bin = place.join("env/bin");
    if !bin.join("maturin").exists() {
        call(Command::new("python3").args(["-m", "venv"]).arg(place.join("env")))?;
        call(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(CLUSTERS))?;
    }
    let wheels = place.join("wheels");
    let manifest = workspace.root().join("fleet/python/Cargo.toml");
    call(
        Command::new(bin.join("maturin"))
            .args(["build", "--quiet", "--profile", "engine", "--manifest-path"])
            .arg(manifest)
            .arg("--out")
            .arg(&wheels),
    )?;
    let mut install = Command::new(bin.join("pip"));
    install.args([
        "install",
        "--quiet",
        "--no-deps",
        "--force-reinstall",
        "omnilink-keyed",
        "--no-index",
        "--find-links",
    ]);
    call(install.arg(&wheels))?;
    Ok(bin.join("python"))
}

fn call(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
