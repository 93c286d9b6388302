//! Checks histories against criteria weaker than linearizability, for any specification.
//!
//! A [`Level`] is an order and, for each action, the earlier operations that its operations have to see. [`check`] searches
//! for an execution in one of three ways:
//! - if every operation sees everything, with the search for linearizability and another order;
//! - if the operations that an operation has to see depend on the order alone, with the same search over sets of states
//!   (`views.rs`);
//! - otherwise with a search for least visible sets (`contexts.rs`), for small histories.
//!
//! ```
//! use std::sync::Arc;
//!
//! use omnilink_history::History;
//! use omnilink_search::{Spec, Successors, Unwatched};
//! use omnilink_weak::{Action, Forms, WeakOptions, check};
//!
//! /// A counter: `add` adds one, `read` returns how often.
//! struct Counter;
//!
//! #[derive(Clone, PartialEq, Eq)]
//! enum Op { Add, Read(u64) }
//!
//! impl Spec for Counter {
//!     type Op = Op;
//!     type State = u64;
//!     type Error = std::convert::Infallible;
//!
//!     fn initial(&self, out: &mut Vec<u64>) -> Result<(), Self::Error> {
//!         Ok(out.push(0))
//!     }
//!
//!     fn step(&self, count: &u64, op: &Op, out: &mut Successors<u64>) -> Result<(), Self::Error> {
//!         match op {
//!             Op::Add => out.done(count + 1),
//!             Op::Read(seen) if seen == count => out.done(*count),
//!             Op::Read(_) => {}
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let add = || Action { name: Arc::from("add"), forms: Forms { recorded: Op::Add, free: Some(Op::Add) } };
//! let read = |seen| Action { name: Arc::from("read"), forms: Forms { recorded: Op::Read(seen), free: None } };
//! // The first read misses an `add` that overlaps it, and that another read has seen.
//! let calls = [(0, 1, Some(9), add()), (1, 2, Some(3), read(1)), (2, 4, Some(5), read(0))];
//! let history = History::from_calls(calls)?;
//! let accepts = |level: &str| {
//!     let options = WeakOptions { level: level.parse().expect("a level"), ..WeakOptions::default() };
//!     check(&Counter, &history, &options, &Unwatched).expect("a verdict").verdict.is_accepted()
//! };
//! assert!(!accepts("linearizable"));
//! assert!(accepts("linearizable, read=overlap"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For registers whose values identify their writes, [`registers`] decides most levels without searching.

mod axiom;
mod check;
mod contexts;
mod find;
mod level;
pub mod registers;
mod views;
mod visibility;

pub use crate::axiom::{Axiom, AxiomError};
pub use crate::check::{Action, Blocked, Error, Explained, Failure, Report, Unexplained, WeakOptions, check, is_local};
pub use crate::contexts::Method;
pub use crate::find::{Answer, ByAction, Effort, Found, find, find_by_action};
pub use crate::level::{Class, Level, LevelError, order_name, order_named};
pub use crate::views::{Context, Forms, ViewError};
pub use crate::visibility::Visibility;
