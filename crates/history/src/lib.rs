//! Operations, their order, trace readers, and verdicts.
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
pub use crate::trace::{Cut, Record, Trace};
pub use crate::value::{Big, Float, Function, Set, Value};
pub use crate::verdict::{Halt, Stop, Verdict};
