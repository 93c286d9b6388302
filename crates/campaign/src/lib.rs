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

#[cfg(feature = "control")]
mod campaign;
mod clock;
#[cfg(feature = "control")]
mod error;
mod executions;
#[cfg(feature = "control")]
mod explored;
#[cfg(feature = "control")]
mod free;
#[cfg(feature = "control")]
mod harness;
#[cfg(feature = "control")]
mod host;
#[cfg(feature = "control")]
mod replay;
#[cfg(feature = "control")]
mod schedules;
#[cfg(feature = "control")]
mod shrink;
#[cfg(feature = "control")]
mod tally;
#[cfg(feature = "control")]
mod tier;
mod workload;

#[cfg(feature = "control")]
pub use campaign::{Campaign, Event, Executed, Findings};
pub use clock::now;
#[cfg(feature = "control")]
pub use error::Error;
pub use executions::{Budget, Count, Judging, Next, Stopped, overlap, run};
#[cfg(feature = "control")]
pub use explored::Explored;
#[cfg(feature = "control")]
pub use free::Free;
#[cfg(feature = "control")]
pub use harness::{Harness, Tried, environment, follow};
#[cfg(feature = "control")]
pub use host::{Host, Tools};
#[cfg(feature = "control")]
pub use replay::{Replay, judge_of, spec_of};
#[cfg(feature = "control")]
pub use schedules::{Decided, How, Schedules, Scheduling};
#[cfg(feature = "control")]
pub use shrink::{Effort, Shrunk, Smaller, shrink};
#[cfg(feature = "control")]
pub use tally::{Kind, Seen, Tally, too_long};
#[cfg(feature = "control")]
pub use tier::Choice;
pub use workload::{Asked, BadProfile, Workload};
