//! Campaigns: many executions of one system, their verdicts, and the claims they support.
//!
//! ```
//! use std::convert::Infallible;
//! use std::ops::ControlFlow;
//!
//! use omnilink_campaign::{Budget, Next, Stopped, run};
//!
//! // An execution is a call of a function here; `Free` and `Schedules` execute a harness.
//! let mut seed = 0;
//! let execute = || -> Result<_, Infallible> {
//!     seed += 1;
//!     Ok(Next::Executed(seed))
//! };
//! let mut failed = None;
//! let mut judge = |seed: u64| match seed % 7 {
//!     0 => {
//!         failed = Some(seed);
//!         ControlFlow::Break(())
//!     }
//!     _ => ControlFlow::Continue(()),
//! };
//! let budget = Budget { executions: 100, until: None, is_interrupted: || false };
//! assert_eq!(run(&budget, execute, &mut judge)?, Stopped::Enough);
//! assert_eq!(failed, Some(7));
//! # Ok::<(), Infallible>(())
//! ```
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
//! function, a test program that has no specification, and any other collector of histories. The crate prints nothing: the
//! caller receives events as values, and provides its clock, environment and interrupts as a [`Host`].

mod campaign;
mod causes;
mod clock;
mod collected;
mod error;
mod executions;
mod explored;
mod harness;
mod host;
mod interleaving;
mod ledger;
mod lineup;
mod overview;
mod race;
mod replay;
mod schedule_source;
mod schedules;
mod seen;
mod shrink;
mod tally;
mod testing;
mod trials;
mod uncontrolled;

pub use campaign::{Campaign, Event, Executed, Findings};
pub use causes::{KnownCause, interval};
pub use clock::now;
pub use error::Error;
pub use executions::{Budget, Count, Judging, Next, Stopped, overlap, run};
pub use explored::Explored;
pub use harness::{Harness, Tried, environment, follow};
pub use host::{Host, Tools};
pub use interleaving::interleaving;
pub use ledger::{Described, Entry, Failure, Ledger, MONITORED, commit_of};
pub use lineup::{Crashed, Exploration, Isolated, LineupVerdict, ObjectProgram, Raced, Tested, Unexplained};
pub use overview::{Overview, Since};
pub use replay::{Replay, judge_of, spec_of};
pub use schedule_source::Choice;
pub use schedules::{Decided, DfsOptions, How, Schedules, Scheduling};
pub use seen::{Kind, Seen};
pub use shrink::{Effort, Shrunk, Smaller, shrink};
pub use tally::{Tally, too_long};
pub use testing::{FailedTest, TestRun, TestVerdict, Testing};
pub use trials::without_switches;
pub use uncontrolled::Free;
