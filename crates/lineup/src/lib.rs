//! Checks an object against its own serial behavior.
//!
//! ```
//! use omnilink_lineup::{Answer, Explanation, Observations, Observed, Operation, SerialRun, Test, Thread, explain, headline};
//!
//! // Two threads increment a counter and read it. Its serial runs are its specification.
//! let test: Test = "inc() get() || inc()".parse()?;
//! let mut observations = Observations::new(test.clone());
//! while let Some(order) = observations.missing(1).pop() {
//!     let (mut count, mut steps) = (0, Vec::new());
//!     for (operation, &thread) in order.threads().iter().enumerate() {
//!         let is_get = thread == 0 && order.threads()[..operation].contains(&0);
//!         count += i32::from(!is_get);
//!         let results = if is_get { count.to_string() } else { String::new() };
//!         steps.push((Thread::Column(thread), Answer::Returned(results)));
//!     }
//!     observations.insert(&SerialRun { steps })?;
//! }
//! assert_eq!(observations.full(), 3);
//!
//! // A concurrent execution in which an increment is lost.
//! let (first, second) = (Thread::Column(0), Thread::Column(1));
//! let operations = vec![
//!     Operation::returned(first, 1, 4, ""),
//!     Operation::returned(second, 2, 3, ""),
//!     Operation::returned(first, 5, 6, "1"),
//! ];
//! let explanation = explain(&observations, &Observed::full(&test, operations)?);
//! let failure = explanation.failure().expect("no serial run explains this");
//! assert_eq!(
//!     headline(&test, failure),
//!     "In every serial order that fits these times, `get()` of thread 0 returns 2; here it returned 1."
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! If an object is meant to be deterministic, its own serial runs are its specification: a [`Test`] is run in every serial
//! order, the answers become [`Observations`], and they explain each concurrent execution, [`Observed`], or not. A failure
//! shows that the object is linearizable for no deterministic specification. The method is Line-Up (Burckhardt, Dern,
//! Musuvathi, Tan, PLDI 2010).
//!
//! This crate executes nothing: its caller runs tests, and passes the answers as text.

mod call;
mod columns;
mod fit;
mod headline;
mod observations;
mod observed;
mod orders;
mod run;
mod test;
mod text;
mod trace;
mod witness;

pub use crate::columns::columns;
pub use crate::fit::fit;
pub use crate::headline::headline;
pub use crate::observations::{NodeId, Nondeterminism, Observations, Refused};
pub use crate::observed::{Observed, Operation};
pub use crate::orders::{Orders, SerialOrder};
pub use crate::run::{Answer, Misfit, Place, SerialRun, Thread, UnknownThread, call_text, results_text};
pub use crate::test::{Test, TestError, Unlisted};
pub use crate::text::Unreadable;
pub use crate::trace::{UnreadableTrace, read_trace, segments};
pub use crate::witness::{Answers, Closest, Differing, Explanation, Failure, SerialSpec, demands, explain};
