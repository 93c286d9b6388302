//! Builds the fuzz targets with coverage instrumentation, and runs them with libFuzzer.
//!
//! libFuzzer needs only instrumentation that every Rust compiler can emit: counters on edges, a table of their
//! addresses, and calls at comparisons. Our code is safe, so AddressSanitizer, which needs nightly, would find nothing
//! more. Each target has a directory in `fuzz/seeds` with a few inputs to start from. Inputs that reach new code are
//! stored in `fuzz/corpus`, which is not committed. Tests run the targets too, with seeds only and without
//! instrumentation.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;

const RUSTFLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";

/// Runs one target, or all in turn, for this many seconds each.
pub(crate) fn run(workspace: &Workspace, seconds: u32, only: Option<&str>) -> Result<()> {
    let fuzz = workspace.root().join("fuzz");
    let seeds = fs::read_dir(fuzz.join("seeds"))?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut targets = seeds.collect::<Result<Vec<String>>>()?;
    targets.sort_unstable();
    targets.retain(|target| only.is_none_or(|only| only == *target));
    ensure!(!targets.is_empty(), "there is no fuzz target `{}`", only.unwrap_or("*"));

    // Naming the machine keeps the flags from build scripts and macros, which cannot be linked with them.
    let machine = machine()?;
    let build = format!("build --quiet --release --manifest-path fuzz/libfuzzer/Cargo.toml --target {machine}");
    workspace.cargo_with(&build, &[("RUSTFLAGS", RUSTFLAGS), ("CARGO_TARGET_DIR", "fuzz/target")])?;
    let program = fuzz.join("target").join(machine).join("release/omnilink-libfuzzer");
    for target in targets {
        run_target(&fuzz, &program, &target, seconds)?;
    }
    Ok(())
}

fn run_target(fuzz: &Path, program: &Path, target: &str, seconds: u32) -> Result<()> {
    let directory = |name: &str| fuzz.join(name).join(target);
    for name in ["corpus", "artifacts"] {
        fs::create_dir_all(directory(name))?;
    }
    let output = Command::new(program)
        .env("OMNILINK_FUZZ_TARGET", target)
        .args([format!("-max_total_time={seconds}"), format!("-artifact_prefix={}/", directory("artifacts").display())])
        .args(["-seed=1", "-rss_limit_mb=2048", "-max_len=4096", "-timeout=10"])
        .args([directory("corpus"), directory("seeds")]) // New inputs go to the first.
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        // The failure follows the last line about progress.
        let reason = log.rsplit("\n#").next().unwrap_or_default();
        bail!("{reason}\nfuzz target `{target}` failed; the input stands in {}", directory("artifacts").display());
    }
    println!("{target}: {}", summary(&log).context("libFuzzer did not say that it is done")?);
    Ok(())
}

/// The final statistics of libFuzzer: coverage, number of inputs, and speed.
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
