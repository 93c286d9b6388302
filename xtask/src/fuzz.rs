//! Builds the fuzz targets with coverage instrumentation, and runs them.
//!
//! libFuzzer needs only what any Rust compiler can emit: counters on edges, a table of their addresses, and calls at
//! comparisons. Our code is safe, so address sanitizing, which would need nightly, would find nothing more. A target is
//! a file in `fuzz/src/bin`. Inputs that reached new code are kept in `fuzz/corpus`, which is not committed; a few that
//! give a head start stand in `fuzz/seeds`, which is.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::MetadataCommand;

use crate::workspace::Workspace;

const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Runs one target, or all in turn, for so many seconds each.
pub(crate) fn run(workspace: &Workspace, seconds: u32, only: Option<&str>) -> Result<()> {
    let fuzz = workspace.root().join("fuzz");
    let metadata = MetadataCommand::new().manifest_path(fuzz.join("Cargo.toml")).no_deps().exec()?;
    let mut targets: Vec<&str> =
        metadata.packages.iter().flat_map(|package| &package.targets).map(|t| &*t.name).collect();
    targets.sort_unstable();
    targets.retain(|target| only.is_none_or(|only| only == *target));
    ensure!(!targets.is_empty(), "there is no fuzz target `{}`", only.unwrap_or("*"));

    // Naming the machine keeps the flags from build scripts and macros, which cannot be linked with them.
    let machine = machine()?;
    let build = format!("build --quiet --release --manifest-path fuzz/Cargo.toml --target {machine}");
    workspace.cargo_with(&build, &[("RUSTFLAGS", RUSTFLAGS), ("CARGO_TARGET_DIR", "fuzz/target")])?;
    for target in targets {
        run_target(&fuzz, &fuzz.join("target").join(&machine).join("release").join(target), target, seconds)?;
    }
    Ok(())
}

fn run_target(fuzz: &Path, binary: &Path, target: &str, seconds: u32) -> Result<()> {
    let directory = |name: &str| fuzz.join(name).join(target);
    for name in ["corpus", "seeds", "artifacts"] {
        fs::create_dir_all(directory(name))?;
    }
    let output = Command::new(binary)
        .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/", directory("artifacts").display())])
        .args(["-seed=1", "-rss_limit_mb=2048", "-max_len=4096", "-timeout=10"])
        .args([directory("corpus"), directory("seeds")]) // New inputs go to the first.
        .output()
        .with_context(|| format!("cannot run {}", binary.display()))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        // What failed stands after the last line about progress.
        let reason = log.rsplit("\n#").next().unwrap_or_default();
        bail!("{reason}\nfuzz target `{target}` failed; the input stands in {}", directory("artifacts").display());
    }
    println!("{target}: {}", summary(&log).context("libFuzzer did not say that it is done")?);
    Ok(())
}

/// What libFuzzer says at the end: how much was covered, by how many inputs, and how fast.
fn summary(log: &str) -> Option<&str> {
    let done = log.lines().rev().find(|line| line.contains("DONE"))?;
    done.find("cov:").map(|start| &done[start..])
}

fn machine() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let version = String::from_utf8(output.stdout)?;
    let machine = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(machine.to_owned())
}
