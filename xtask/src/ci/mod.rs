//! All checks, the quickest to fail first, with the time of each.
//!
//! A new check is a new line in [`STEPS`], or in [`FULL`] if it takes more than a few minutes. The steps need a Rust
//! toolchain, Java and pip for TLC, C++ compilers, CMake, gdb, Python, Go and a JDK for recorders and programs under
//! control, Node, Chromium and Firefox for the page, npm and pip for linters of workflows, and mdBook.
//!
//! Three measures keep CI fast. Everything is built in one profile and with one set of features, that of
//! [`Workspace::build_programs`], so nothing is built twice. Steps that leave cores idle run side by side. And the
//! table of times at the end shows which step has become slower.

mod steps;
mod times;

use anyhow::{Context, Result, bail, ensure};

use self::steps::{Step, With};
use crate::workspace::{Build, Workspace};
use crate::{
    bench, book, fleet, fuzz, hostile, languages, mutants, oracle, packages, recorders, reference, sanitizers, smoke,
    sources, studies, tidy, viewer, workflows,
};

/// How many random expressions TLC and our engine are asked; specs are a hundredth of it.
const RANDOM: usize = 500;

/// How many random histories TLC and our engine decide.
const TRACES: usize = 8;

/// The steps before every merge.
const STEPS: &[Step] = &[
    Step::new("format", With::Nothing, |workspace| workspace.cargo("fmt --check")),
    Step::new("tidy", With::Nothing, tidy::run),
    Step::new("clippy", With::Nothing, |workspace| workspace.cargo("clippy --all-targets -- -D warnings")),
    Step::new("facade without features", With::Nothing, |workspace| {
        workspace.cargo("clippy --package omnilink --no-default-features -- -D warnings")
    }),
    Step::new("clippy of sources", With::Nothing, sources::lint),
    Step::new("building tests", With::Nothing, |workspace| nextest(workspace, "--no-run")),
    Step::new("tests", With::Nothing, |workspace| nextest(workspace, "")),
    Step::new("examples in documents", With::Nothing, |workspace| smoke::run(workspace, false)),
    Step::new("command reference", With::Nothing, |workspace| reference::run(workspace, &reference::Options::check())),
    Step::new("workflows", With::Nothing, |workspace| workflows::run(workspace, &workflows::Options::default())),
    Step::new("page in a browser", With::Nothing, |workspace| viewer::run(workspace, &viewer::Options::default())),
    Step::new("case studies", With::Nothing, |workspace| studies::run(workspace, None, Build::Debug)),
    Step::new("controlled schedules", With::Others, |workspace| bench::schedules(workspace, Build::Debug, true, None)),
    Step::new("answers of TLC", With::Others, |workspace| oracle::run(workspace, &oracle::Options::quick())),
    Step::new("recorders", With::Others, |workspace| recorders::run(workspace, &recorders::Options::quick())),
    Step::new("recorders in other languages", With::Others, languages::test),
    Step::new("doctests", With::Others, |workspace| {
        workspace.cargo("test --quiet --doc --features omnilink-record/derive")
    }),
    Step::new("random answers of TLC", With::Others, |workspace| {
        oracle::run(workspace, &oracle::Options::random(RANDOM))
    }),
    Step::new("docs", With::Others, |workspace| {
        workspace.cargo_with("doc --no-deps", &[("RUSTDOCFLAGS", "-D warnings")])
    }),
    Step::new("random histories", With::Others, |workspace| oracle::run(workspace, &oracle::Options::traces(TRACES))),
];

/// The slow steps, for `--full`.
const FULL: &[Step] = &[
    Step::new("ignored tests", With::Nothing, |workspace| {
        nextest(workspace, "--release --profile full --run-ignored only --no-tests pass")
    }),
    Step::new("AddressSanitizer", With::Nothing, |workspace| sanitizers::address(installed(workspace, "nextest")?))
        .unless(sanitizers::lacks_nightly),
    Step::new("Miri", With::Nothing, sanitizers::miri).unless(sanitizers::lacks_miri),
    Step::new("hostile inputs", With::Nothing, |workspace| hostile::run(workspace, &hostile::Options::default())),
    Step::new("book", With::Nothing, book::run),
    Step::new("packages", With::Nothing, |workspace| packages::run(workspace, None)),
    Step::new("examples with servers", With::Nothing, languages::run_servers),
    Step::new("cargo deny", With::Nothing, |workspace| {
        installed(workspace, "deny")?.cargo("deny check licenses bans sources")
    }),
    Step::new("answers of TLC on large specs", With::Nothing, |workspace| {
        oracle::run(workspace, &oracle::Options::large())
    }),
    Step::new("sources", With::Nothing, |workspace| sources::run(workspace, &sources::Options::full())),
    Step::new("fleet", With::Nothing, |workspace| fleet::run(workspace, &fleet::Options::full())),
    Step::new("fuzz for a minute", With::Nothing, |workspace| fuzz::run(workspace, 60, None)),
    Step::new("mutants", With::Nothing, |workspace| mutants::run(workspace, &mutants::Options::default())),
];

/// Runs the steps, stops at the first failure, and prints their times.
pub(crate) fn run(workspace: &Workspace, full: bool, since: Option<u64>) -> Result<()> {
    let steps: Vec<&Step> = STEPS.iter().chain(if full { FULL } else { &[] }).collect();
    let mut times = times::Times::new(since);
    let outcome = steps::run(workspace, &steps, &mut times);
    println!("\n{times}");
    outcome?;
    println!("{}", if times.is_complete() { "everything passed" } else { "everything that ran passed" });
    Ok(())
}

/// Runs one step, here. One that cannot run is an error.
pub(crate) fn run_only(workspace: &Workspace, name: &str) -> Result<()> {
    let step = STEPS.iter().chain(FULL).find(|step| step.name == name);
    let names: Vec<&str> = STEPS.iter().chain(FULL).map(|step| step.name).collect();
    let step = step.with_context(|| format!("there is no step `{name}`; there are {}", names.join(", ")))?;
    if let Some(why) = step.lacks() {
        bail!("{name} was not run: {why}");
    }
    (step.run)(workspace)
}

fn nextest(workspace: &Workspace, args: &str) -> Result<()> {
    installed(workspace, "nextest")?.cargo(&format!("nextest run {args}"))
}

fn installed<'a>(workspace: &'a Workspace, name: &str) -> Result<&'a Workspace> {
    ensure!(workspace.has_subcommand(name), "install it with `cargo install --locked cargo-{name}`");
    Ok(workspace)
}
