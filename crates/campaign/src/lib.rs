//! Campaigns: many executions of one system, their verdicts, and the claims they support.
//!
//! ```text
//!  Free, Schedules, a function ── Next ──► run or overlap ── Executed ──► Judging: Campaign's checks, or a collection
//!  omnilink.toml ── Workload ──► Plan      Budget, Stopped                      │
//!                                                                               ▼
//!                                          Findings: Tally of verdicts and causes, Explored with claims, stored runs
//!  a stored run ── Replay ──► the same execution again ── shrink ──► a smaller run
//! ```
//!
//! There is one loop, in `executions`, with several entry points: a command that fuzzes a program, a test that runs a
//! function, and any other collector of histories. Nothing here prints: the caller receives events as values, and
//! provides its clock, environment and interrupts as a [`Host`].

mod campaign;
mod clock;
mod error;
mod executions;
mod explored;
mod free;
mod harness;
mod host;
mod lineup;
mod replay;
mod schedules;
mod shrink;
mod tally;
mod tier;

pub use campaign::{Campaign, Event, Executed, Findings};
pub use clock::now;
pub use error::Error;
pub use executions::{Budget, Count, Judging, Next, Stopped, overlap, run};
pub use explored::Explored;
pub use free::Free;
pub use harness::{Harness, Tried, environment, follow};
pub use host::{Host, Tools};
pub use lineup::{Exploration, LineupVerdict, ObjectProgram, Tested, Unexplained};
pub use replay::{Replay, judge_of, spec_of};
pub use schedules::{Decided, How, Schedules, Scheduling};
pub use shrink::{Effort, Shrunk, Smaller, shrink};
pub use tally::{Kind, Seen, Tally, too_long};
pub use tier::Choice;
