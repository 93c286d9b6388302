//! Finds an order of operations that a specification accepts, or shows that none exists.
//!
//! The specification is a [`Spec`]; the history comes from the `history` crate; [`check`] returns the verdict. The
//! search inspects neither operations nor time: the spec interprets operations, and time is only an order.
//!
//! ```
//! use omnilink_history::History;
//! use omnilink_search::{Options, Spec, Successors, check};
//!
//! /// A counter: `Add` adds one, `Read` returns how often.
//! struct Counter;
//!
//! #[derive(PartialEq, Eq)]
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
//! // Process, start, end, operation.
//! let history = History::from_calls([(0, 1, Some(4), Op::Add), (1, 2, Some(3), Op::Read(1))])?;
//! assert!(check(&Counter, &history, &Options::default())?.verdict.is_accepted());
//!
//! let history = History::from_calls([(0, 1, Some(2), Op::Add), (1, 3, Some(4), Op::Read(0))])?;
//! assert!(check(&Counter, &history, &Options::default())?.verdict.is_rejected());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assume;
mod check;
mod criterion;
mod engine;
mod erased;
mod explain;
mod follow;
mod frontier;
mod levels;
mod observe;
mod replay;
mod ring;
mod route;
mod slots;
mod spec;
mod stream;
mod stretch;
mod trail;
mod walk;

pub use crate::assume::{Assuming, Assumption, Marked, Since, TooMany};
pub use crate::check::{CheckError, Checker, Lent, Options, Progress, Report, check, check_watched};
pub use crate::criterion::{Criterion, Reduction};
pub use crate::erased::{AnyOp, AnySpec, AnyState, Erased};
pub use crate::explain::{Explanation, Refusal, Stuck, Why};
pub use crate::follow::{Follower, Misfit};
pub use crate::observe::{Stats, Unwatched, Watch, Widest};
pub use crate::replay::{ReplayError, Unconfirmed, Witness, replay, replay_parts};
pub use crate::route::{Ending, Route, Walked, successor};
pub use crate::spec::{Spec, Successors};
pub use crate::stretch::{Cut, Stretch, check_stretch};
pub use crate::trail::Placed;
