//! Generators and the brute-force oracle that tests compare with.

mod oracle;
mod table;
pub mod workload;

pub use crate::oracle::is_allowed;
pub use crate::table::{Table, TableOp, random_history};
