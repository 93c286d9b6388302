//! Sequential specifications of collections in `java.util.concurrent`, and the check of recorded histories against them.
//!
//! Three objects serve all classes: [`Map`], [`Set`] and [`Deque`]. Elements are integers. An exception is its name, a
//! string. A view or an iteration is a tuple of its elements; see [`answer`] for the shapes of results.

pub mod answer;
pub mod class;
pub mod deque;
pub mod levels;
pub mod map;
pub mod set;

pub use crate::class::Class;
pub use crate::deque::Deque;
pub use crate::map::Map;
pub use crate::set::Set;
