//! The data exchanged by a program under control and its driver: steps, decisions, and their layout.
//!
//! ```
//! use omnilink_schedule::Schedule;
//!
//! // Thread 0 makes two steps, thread 1 three, thread 0 one.
//! let schedule: Schedule = "omnilink-schedule 1\n0*2 1*3 0\n".parse()?;
//! assert_eq!(schedule.threads().collect::<Vec<_>>(), [0, 0, 1, 1, 1, 0]);
//! assert_eq!(schedule.switches(), 2);
//! assert_eq!(schedule.to_string(), "omnilink-schedule 1\n0*2 1*3 0\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The runtime runs inside the user's process and shares only this crate with the rest: plain data without behavior.
//! A [`Step`] is one visible operation of a thread. A [`Decision`] is one choice of the runtime; all of them in order
//! are a [`Schedule`], and replay a run. [`channel`] is the layout of the file that the two processes share.

pub mod channel;
mod decision;
mod step;

pub use decision::{BadSchedule, Choice, Decision, Schedule};
pub use step::{CLOCK, Kind, MemoryOrder, Step, THREADS, dependent, may_be_enabled_together, members, thread_object};
