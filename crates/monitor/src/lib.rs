//! Checks operations and transactions as they happen, key by key, in bounded memory.
//!
//! ```
//! use omnilink_judge::Judge;
//! use omnilink_monitor::{Lines, Monitor, MonitorOptions};
//!
//! let judge = Judge::new("register", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
//! let mut monitor = Monitor::new(judge, MonitorOptions::default());
//! let lines = r#"
//!     {"process": "a", "progress": 0}
//!     {"process": "b", "progress": 0}
//!     {"process": "a", "action": "write", "args": {"key": 7, "value": 1}, "start": 1, "end": 2}
//!     {"process": "b", "action": "read", "args": {"key": 7}, "results": {"value": 0}, "start": 3, "end": 4}
//!     {"process": "a", "progress": 5, "is_last": true}
//!     {"process": "b", "progress": 5, "is_last": true}
//! "#;
//! let mut reader = Lines::default();
//! for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
//!     monitor.feed(reader.read(line)?);
//! }
//! let mut alerts = monitor.advance();
//! alerts.extend(monitor.finish(false));
//! assert_eq!(alerts.len(), 1);
//! # Ok::<(), String>(())
//! ```
//!
//! ```text
//!  lines ──► Item ──► Processes ── in order, each once ──► Key: states at the last quiet instant, operations since
//!                        │  what is missing: Gap              │ check up to the watermark
//!                        └── watermark: no operation ─────────▼
//!                            starts before it              Alert, Counts
//! ```
//!
//! **The meaning of a verdict.** A key is *rejected* only if no order of its operations is legal, whatever other operations
//! there are. It is *accepted* only if all its operations are known. Otherwise it is *unknown*, and the monitor counts its
//! operations:
//!
//! - Each operation has a number in its process. A number that never arrives is a lost operation. It may have been of any
//!   key, so all keys are unknown from then on, until an operation settles their state, such as a write that no operation
//!   overlaps. An unreadable line has the same effect, unless all operations are numbered.
//! - A process reports its progress, with its operations or without: it will not start another operation earlier. The
//!   smallest progress is the watermark. The monitor decides nothing after it.
//! - An operation that arrives although it starts before the watermark is late. Within the retention, the monitor decides
//!   again everything that it has decided since the start of the operation, and withdraws an alert that proves wrong.
//!   Otherwise the key is unknown.
//!
//! **Transactions** have a monitor of their own, which compares their reads and writes with the stamps of the database.
//!
//! **Memory** is bounded by the options: the number of keys, and the number of operations that the monitor keeps for each.
//! A dropped key is unknown when it occurs again. The number of running processes has no bound.

mod alert;
mod checkpoint;
mod counts;
mod forms;
mod item;
mod key;
mod line_monitor;
mod monitor;
mod processes;
pub mod share;
mod transactions;

pub use alert::{Alert, AlertKind, Cause};
pub use checkpoint::{BadCheckpoint, Checkpoint};
pub use counts::Counts;
pub use item::{Item, Line, Lines};
pub use key::NewLimits;
pub use line_monitor::LineMonitor;
pub use monitor::{Monitor, MonitorOptions};
pub use transactions::{TransactionMonitor, TransactionOptions};
