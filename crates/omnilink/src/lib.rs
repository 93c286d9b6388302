//! Could what my system did have been done by its specification, and if not, why not?
//!
//! Record what a concurrent program did as operations, each with a time before it began and a time after it ended, and
//! check them against a specification: a built-in model, or a [`Spec`] of your own. This crate holds no logic; it is
//! what a test depends on.
//!
//! ```
//! use omnilink::models::check::{Options, check};
//! use omnilink::{Call, History, models::counter::Counter};
//! use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
//!
//! let (clock, counter) = (AtomicU64::new(0), AtomicI64::new(0));
//! let call = |process: u32| {
//!     let start = clock.fetch_add(1, SeqCst);
//!     let old = counter.fetch_add(1, SeqCst); // What is being tested.
//!     let end = clock.fetch_add(1, SeqCst);
//!     (process, start, Some(end), Call::positional("fetch_add", [1.into()], [old.into()]))
//! };
//! let calls = std::thread::scope(|scope| {
//!     let threads = [0, 1].map(|process| scope.spawn(move || (0..100).map(|_| call(process)).collect::<Vec<_>>()));
//!     threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
//! });
//! let history = History::from_calls(calls)?;
//! let checked = check(&Counter::new(0), &history, &Options::default(), &|_| None)?;
//! assert!(checked.verdict.is_accepted());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`search::check`] shows how to write a [`Spec`].

pub use history::{
    Call, History, IllFormed, Interval, Op, OpId, Outcome, Precedence, ProcessId, Record, Schema, Stop, Trace, Value,
    Verdict, format,
};
pub use models;
pub use search;
pub use search::{Spec, Successors};
