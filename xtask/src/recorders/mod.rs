//! Compares the recorders: same bytes, no record lost, and their cost.
//!
//! Each recorder has the same small test programs, in its own language. `script` records the operations of a script,
//! with a clock that the script sets, so two recorders that follow `FORMAT.md` write the same bytes. `victim` records
//! until it is killed, and notes independently of the recorder which records must be in the trace. `cost` and `queue`
//! measure.

mod cost;
mod kills;
mod programs;
mod scripts;

use std::path::PathBuf;
use std::{env, fs, process};

use anyhow::Result;
use clap::Args;

use self::programs::Programs;
use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Options {
    /// The number of recording programs to kill, for each language
    #[arg(long, default_value_t = 40)]
    kills: usize,
    /// The number of random scripts that every recorder runs
    #[arg(long, default_value_t = 50)]
    random: usize,
    /// Also measure the cost of recording; meaningful only on an idle machine
    #[arg(long)]
    cost: bool,
    /// The seed of random scripts and random times
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Options {
    /// The options before every merge.
    pub(crate) fn quick() -> Options {
        Options { kills: 40, random: 50, cost: false, seed: 1 }
    }
}

/// Builds the programs of all recorders, and runs the selected comparisons.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let scratch = Scratch::new()?;
    let programs = Programs::build(workspace, &scratch, options.cost)?;
    programs.test(&scratch)?;
    scripts::compare(workspace, &programs, &scratch, options)?;
    kills::run(&programs, &scratch, options)?;
    if options.cost {
        cost::print(&programs)?;
    }
    Ok(())
}

/// A directory that is gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        let directory = env::temp_dir().join(format!("omnilink-recorders-{}", process::id()));
        fs::create_dir_all(&directory)?;
        Ok(Scratch(directory))
    }

    /// A place in it where nothing stands.
    fn empty(&self, name: &str) -> Result<PathBuf> {
        let path = self.0.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the cleanup of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
