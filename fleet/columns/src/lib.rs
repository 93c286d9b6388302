//! Operations as Arrow columns, and Parquet files of them.
//!
//! ```
//! use omnilink_history::format::text;
//!
//! let trace = text::read(b"a [1 2] write(1)\nb [3 4] read() = 1\n")?;
//! let mut bytes = Vec::new();
//! omnilink_columns::file::write(&trace, None, &mut bytes)?;
//! let mut again = omnilink_history::Trace::default();
//! omnilink_columns::read(&omnilink_columns::write(&trace, None)?, &mut again)?;
//! assert_eq!(again, trace);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `FORMAT.md` specifies the columns.

pub mod file;
mod read;
mod schema;
mod values;
mod write;

pub use crate::read::{Rows, Shapes, read, read_events};
pub use crate::schema::{CARRIED, VERSION, VERSION_KEY, verdicts};
pub use crate::values::{BadColumn, Key, Keys, Text};
pub use crate::write::write;
