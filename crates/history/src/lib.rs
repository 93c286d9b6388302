//! Operations, their order, trace readers, and verdicts.
//!
//! ```
//! use omnilink_history::{History, format};
//!
//! let trace = format::text::read(b"T0 [1 4] write(1)\nT1 [2 3] read() = 1\nT0 [5 ...] write(2)\n")?;
//! let history = History::new(trace)?;
//! let [write, read, unfinished] = history.ops() else { panic!("three operations") };
//! assert_eq!(read.call.action(), "read");
//! assert!(!write.interval.precedes(read.interval)); // They overlap.
//! assert!(unfinished.interval.is_unfinished());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Bytes become a [`Trace`] (every record was understood), a trace becomes a [`History`] (each process is sequential,
//! intervals are valid, unfinished operations are marked), and a history has an [`Order`]. This crate does not
//! interpret operations.

pub mod format;
mod history;
mod id;
mod interval;
mod number;
mod op;
mod order;
mod trace;
mod value;
mod verdict;

pub use crate::history::{Cyclic, History, IllFormed, Sequence, name, without_sources};
pub use crate::id::{OpId, ProcessId};
pub use crate::interval::{End, Interval};
pub use crate::number::BadNumber;
pub use crate::op::{Call, Op, Outcome, Schema};
pub use crate::order::{Order, Position, Precedence};
pub use crate::trace::{Cut, Event, Record, Trace};
pub use crate::value::{Big, Float, Function, Set, Value};
pub use crate::verdict::{Halt, Stop, Verdict};
