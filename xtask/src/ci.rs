//! Every check, in the order in which they fail fastest.
//!
//! A new check is a new line in [`STEPS`], or in [`FULL`] if it takes more than a few minutes. Besides what Rust brings,
//! the steps need Java and pip, for TLC, C++ compilers, CMake and gdb, for recorders and programs under control, and Node
//! and Chromium, for the page.

use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::workspace::{Build, Workspace};
use crate::{bench, fuzz, oracle, recorders, smoke, studies, tidy, viewer};

/// How many random expressions TLC and our engine are asked; specs are a hundredth of it.
const RANDOM: usize = 500;

/// How many random histories TLC and our engine decide.
const TRACES: usize = 8;

/// A heading, and what is done under it.
type Step = (&'static str, fn(&Workspace) -> Result<()>);

/// What runs before every merge.
const STEPS: &[Step] = &[
    ("format", |workspace| workspace.cargo("fmt --check")),
    ("clippy", |workspace| workspace.cargo("clippy --workspace --all-targets -- -D warnings")),
    ("tidy", tidy::run),
    ("tests", |workspace| nextest(workspace, "--workspace")),
    ("doctests", |workspace| workspace.cargo("test --quiet --doc --workspace --features omnilink-record/derive")),
    ("docs", |workspace| workspace.cargo_with("doc --no-deps --workspace", &[("RUSTDOCFLAGS", "-D warnings")])),
    ("fuzz for one second", |workspace| fuzz::run(workspace, 1, None)),
    ("examples in documents", |workspace| smoke::run(workspace, false)),
    ("page in a browser", |workspace| viewer::run(workspace, &viewer::Options::default())),
    ("recorders", |workspace| recorders::run(workspace, &recorders::Options::quick())),
    ("controlled schedules", |workspace| bench::schedules(workspace, true, None)),
    ("case studies", |workspace| studies::run(workspace, None, Build::Release)),
    ("answers of TLC", |workspace| oracle::run(workspace, &oracle::Options::quick())),
    ("random answers of TLC", |workspace| oracle::run(workspace, &oracle::Options::random(RANDOM))),
    ("random histories", |workspace| oracle::run(workspace, &oracle::Options::traces(TRACES))),
];

/// What takes long, and runs when asked for.
const FULL: &[Step] = &[
    ("ignored tests", |workspace| {
        nextest(workspace, "--workspace --release --profile full --run-ignored only --no-tests pass")
    }),
    ("cargo deny", |workspace| installed(workspace, "deny")?.cargo("deny check licenses bans sources")),
    ("answers of TLC on large specs", |workspace| oracle::run(workspace, &oracle::Options::large())),
    ("fuzz for a minute", |workspace| fuzz::run(workspace, 60, None)),
    ("mutants", |workspace| installed(workspace, "mutants")?.cargo("mutants --workspace --test-tool nextest")),
];

/// Runs the steps, and stops at the first that fails.
pub(crate) fn run(workspace: &Workspace, full: bool) -> Result<()> {
    for (name, step) in STEPS.iter().chain(if full { FULL } else { &[] }) {
        println!("\n== {name}");
        let start = Instant::now();
        step(workspace).with_context(|| format!("{name} failed"))?;
        println!("== {name}: {:.1} s", start.elapsed().as_secs_f64());
    }
    println!("\neverything passed");
    Ok(())
}

fn nextest(workspace: &Workspace, args: &str) -> Result<()> {
    installed(workspace, "nextest")?.cargo(&format!("nextest run {args}"))
}

fn installed<'a>(workspace: &'a Workspace, name: &str) -> Result<&'a Workspace> {
    ensure!(workspace.has_subcommand(name), "install it with `cargo install --locked cargo-{name}`");
    Ok(workspace)
}
