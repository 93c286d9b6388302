//! Checks the crates below `fleet`, which nothing else builds: their tests, and jobs on real clusters on this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::workspace::{Workspace, call};

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

/// An engine that runs the job in the directory of its name, with its own Python packages: PyFlink needs an older Arrow.
struct Engine {
    name: &'static str,
    environment: &'static str,
    packages: &'static [&'static str],
    /// The arguments of `data.py`: how many operations, and in which form.
    data: &'static [&'static str],
}

const ENGINES: [Engine; 3] = [
    Engine { name: "spark", environment: "env", packages: &["pyarrow", "pandas", "pyspark==4.3.0"], data: &[] },
    Engine { name: "ray", environment: "env", packages: &["ray[data]==2.60.0"], data: &[] },
    Engine {
        name: "flink",
        environment: "flink",
        packages: &["apache-flink==2.3.0"],
        data: &["--format", "jsonl", "--operations", "20000", "--keys", "200"],
    },
];

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    workspace.cargo(&format!("clippy --profile engine {PACKAGES} -p omnilink-python --all-targets -- -D warnings"))?;
    workspace.cargo("clippy --profile engine -p omnilink-cli --features fleet --bins --test keys -- -D warnings")?;
    workspace.cargo(&format!("nextest run --cargo-profile engine {PACKAGES}"))?;
    workspace.cargo("nextest run --cargo-profile engine -p omnilink-cli --features fleet --test keys")?;
    workspace.cargo(&format!("test --quiet --doc --profile engine {PACKAGES}"))?;
    workspace.cargo("nextest run --cargo-profile engine -p omnilink-fuzz --features columns tests::columns")?;
    if options.kills == 0 {
        return Ok(());
    }
    let place: PathBuf = workspace.metadata.target_directory.join("fleet").into();
    let wheels = wheels(workspace, &place)?;
    let example = workspace.root().join("examples/fleet");
    for engine in &ENGINES {
        let bin = place.join(engine.environment).join("bin");
        if !bin.exists() {
            call(Command::new("python3").args(["-m", "venv"]).arg(place.join(engine.environment)))?;
        }
        call(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(engine.packages))?;
        let install = ["install", "--quiet", "--no-deps", "--force-reinstall", "--no-index", "omnilink-keyed"];
        call(Command::new(bin.join("pip")).args(install).arg("--find-links").arg(&wheels))?;
        let operations = place.join(format!("{}-ops", engine.name));
        call(Command::new(bin.join("python")).arg(example.join("data.py")).arg(&operations).args(engine.data))?;
        let kills = options.kills.to_string();
        let mut trial = Command::new(bin.join("python"));
        call(trial.arg(example.join("trial.py")).arg(engine.name).arg(&operations).args(["--kills", &kills]))?;
    }
    Ok(())
}

/// The directory with the wheel of our module.
fn wheels(workspace: &Workspace, place: &Path) -> Result<PathBuf> {
    let bin = place.join("build/bin");
    if !bin.join("maturin").exists() {
        call(Command::new("python3").args(["-m", "venv"]).arg(place.join("build")))?;
        call(Command::new(bin.join("pip")).args(["install", "--quiet", "maturin"]))?;
    }
    let wheels = place.join("wheels");
    let manifest = workspace.root().join("fleet/python/Cargo.toml");
    let mut build = Command::new(bin.join("maturin"));
    build.args(["build", "--quiet", "--profile", "engine", "--manifest-path"]).arg(manifest);
    call(build.arg("--out").arg(&wheels))?;
    Ok(wheels)
}
