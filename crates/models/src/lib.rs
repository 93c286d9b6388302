//! Specs in Rust for the data types that are checked most.
//!
//! ```
//! use omnilink_history::{History, format};
//! use omnilink_models::check::{ModelOptions, check};
//! use omnilink_models::queue::Queue;
//! use omnilink_search::Unwatched;
//!
//! let check = |text: &str| -> Result<bool, Box<dyn std::error::Error>> {
//!     let history = History::new(format::text::read(text.as_bytes())?)?;
//!     Ok(check(&Queue::new(None), &history, &ModelOptions::default(), &Unwatched)?.verdict.is_accepted())
//! };
//! // The two calls of `enqueue` overlap, so 2 may be first in the queue.
//! assert!(check("a [1 4] enqueue(1)\nb [2 3] enqueue(2)\na [5 6] dequeue() = 2\n")?);
//! assert!(!check("a [1 2] enqueue(1)\nb [3 4] enqueue(2)\na [5 6] dequeue() = 2\n")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Model`] is a [`omnilink_search::Spec`] that can also read recorded calls, split a history into independent parts, and,
//! for some types, decide a history without searching ([`unambiguous`]). Each model has its own file, which opens
//! with its operations; queues, stacks and priority queues share [`container`]. [`registry`] finds a model by name.

pub mod atom;
pub mod bank;
mod bind;
pub mod check;
pub mod container;
pub mod counter;
pub mod digits;
pub mod kv;
pub mod kv_append;
pub mod level;
mod model;
pub mod mutex;
mod object;
pub mod priority_queue;
pub mod queue;
pub mod register;
pub mod registry;
mod row;
pub mod set;
pub mod smallest;
pub mod stack;
mod touches;
pub mod unambiguous;

pub use crate::atom::{Atom, Interner};
pub use crate::bind::BadCall;
pub use crate::model::{About, Model, Operation};
pub use crate::object::{Answer, Asked, Object, Sequential};
pub use crate::registry::{BadModel, Chosen, Visitor, names, with_model};
pub use crate::row::Row;
