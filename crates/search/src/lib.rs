//! Finds an order of operations that a specification accepts, or shows that none exists.

mod spec;

pub use crate::spec::{Spec, Successors};
