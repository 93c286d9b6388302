//! What a program under control and its driver say to each other: steps, decisions, and where they stand.
//!
//! The runtime lives in somebody else's process and shares no code with the rest but this: plain data without
//! behavior. A [`Step`] is one visible operation of a thread. A [`Decision`] is one choice that the runtime made where
//! it had one; all of them in order are a [`Schedule`], and replay a run. [`channel`] says where both stand in the file
//! that the two processes share.

pub mod channel;
mod decision;
mod step;

pub use decision::{BadSchedule, Choice, Decision, Schedule};
pub use step::{CLOCK, Kind, MemoryOrder, Step, THREADS, dependent, may_be_enabled_together, members, thread_object};
