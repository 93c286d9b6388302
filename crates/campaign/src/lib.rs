//! Many executions of one system: what to execute, what came of it, and what may be claimed about it.
//!
//! ```text
//!  Free, Schedules, a function ── Next ──► run or overlap ── Executed ──► Judging: Campaign's checks, or a collection
//!  omnilink.toml ── Workload ──► Plan      Budget, Stopped                      │
//!                                                                               ▼
//!                                          Findings: Tally of verdicts and causes, Explored with its claims, kept runs
//!  a kept run ── Replay ──► the same execution again ── shrink ──► a smaller run
//! ```
//!
//! There is one loop, in `executions`, and several doors to it: a command that fuzzes a program, a test that runs a
//! function, and whatever else collects histories. Nothing here prints: whoever opens a door is told what happens, in
//! values, and lends it the clock, the environment and interrupts of its program, as a [`Host`].

mod campaign;
mod clock;
mod error;
mod executions;
mod explored;
mod free;
mod harness;
mod host;
mod replay;
mod schedules;
mod shrink;
mod tally;
mod tier;
mod workload;

use std::io;
use std::path::Path;

pub use campaign::{Campaign, Event, Executed, Findings};
pub use clock::now;
pub use error::Error;
pub use executions::{Budget, Count, Judging, Next, Stopped, overlap, run};
pub use explored::Explored;
pub use free::Free;
pub use harness::{Harness, Tried, environment, follow};
pub use host::{Host, Tools};
pub use replay::{Replay, judge_of, spec_of};
pub use schedules::{Decided, How, Schedules, Scheduling};
pub use shrink::{Effort, Shrunk, Smaller, shrink};
pub use tally::{Kind, Seen, Tally, too_long};
pub use tier::Choice;
pub use workload::{Asked, BadProfile, Workload};

/// Removes a recording, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path),
        false if path.exists() => std::fs::remove_file(path),
        false => Ok(()),
    }
}
