//! Runs a Raft cluster of three processes on loopback, with faults, and leaves a log of events per node.
//!
//! `log-raft run --out DIR` is the driver. It starts three processes `log-raft node`, which run the library `raft`
//! (tikv/raft-rs), proposes values, holds back and drops messages, kills nodes with SIGKILL and starts them again. Each
//! node appends its events to `DIR/node-N.ndjson`, one JSON object per line, at the granularity of `Raft.tla`.
//!
//! - `driver`: the processes and the scenario.
//! - `node`: one node, an event loop around the library.
//! - `disk`: the state that survives a restart.
//! - `wire`: lines of JSON over TCP between nodes, and from the driver to a node.
//! - `trace`: the log of events.

mod disk;
mod driver;
mod node;
mod trace;
mod wire;

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::str::FromStr;

/// A fault of a node that the check should find.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The vote is not persisted, so a node that restarts may vote twice in a term.
    VoteTwice,
    /// A leader commits entries of earlier terms as soon as a quorum has them.
    CommitOldTerm,
}

impl Bug {
    fn name(self) -> &'static str {
        match self {
            Bug::VoteTwice => "vote-twice",
            Bug::CommitOldTerm => "commit-old-term",
        }
    }
}

impl FromStr for Bug {
    type Err = String;

    fn from_str(text: &str) -> Result<Bug, String> {
        [Bug::VoteTwice, Bug::CommitOldTerm]
            .into_iter()
            .find(|bug| bug.name() == text)
            .ok_or_else(|| format!("unrecognized bug `{text}`: expected `vote-twice` or `commit-old-term`"))
    }
}

/// The options of both commands.
pub struct Options {
    pub out: PathBuf,
    pub bug: Option<Bug>,
    pub seed: u64,
    /// The number of this node, and the place of its election timeout among the others'.
    pub id: u64,
    pub rank: usize,
}

const USAGE: &str = "usage: log-raft run --out DIR [--seed N] [--bug vote-twice|commit-old-term]";

fn parse_options(mut args: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let mut options = Options { out: PathBuf::new(), bug: None, seed: 0, id: 0, rank: 0 };
    while let Some(name) = args.next() {
        let value = args.next().ok_or(USAGE)?;
        match name.as_str() {
            "--out" => options.out = value.into(),
            "--bug" => options.bug = Some(value.parse()?),
            "--seed" => options.seed = value.parse()?,
            "--id" => options.id = value.parse()?,
            "--rank" => options.rank = value.parse()?,
            _ => return Err(USAGE.into()),
        }
    }
    if options.out.as_os_str().is_empty() {
        return Err(USAGE.into());
    }
    Ok(options)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let command = args.next();
    let options = parse_options(args)?;
    match command.as_deref() {
        Some("run") => driver::run(&options),
        Some("node") => node::run(&options),
        _ => Err(USAGE.into()),
    }
}
