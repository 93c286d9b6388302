//! The data exchanged by a program under control and its driver: steps, decisions, and their layout.
//!
//! The runtime runs inside the user's process and shares only this crate with the rest: plain data without behavior.
//! A [`Step`] is one visible operation of a thread. A [`Decision`] is one choice of the runtime; all of them in order
//! are a [`Schedule`], and replay a run. [`channel`] is the layout of the file that the two processes share.

pub mod channel;
mod decision;
mod step;

pub use decision::{BadSchedule, Choice, Decision, Schedule};
pub use step::{CLOCK, Kind, MemoryOrder, Step, THREADS, dependent, may_be_enabled_together, members, thread_object};
