//! Generators and the brute-force oracle that tests compare with.

pub mod levels;
mod oracle;
pub mod recording;
mod table;
pub mod tla;
pub mod workload;

pub use crate::oracle::{Reachable, is_allowed, is_order, reachable};
pub use crate::table::{Table, TableOp, random_history, with_random_edges, with_random_last};
