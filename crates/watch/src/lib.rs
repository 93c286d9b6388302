//! Runs a monitor on a source, for programs that embed one.
//!
//! ```
//! use omnilink_judge::{CheckOptions, Judge};
//! use omnilink_monitor::Alert;
//! use omnilink_watch::{Outlet, ReadOptions, Source, Watch, WatchError, WatchOptions};
//!
//! /// Prints alerts.
//! struct Printer;
//!
//! impl Outlet for Printer {
//!     fn alerts(&self, _partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError> {
//!         alerts.iter().for_each(|alert| println!("{}", alert.sentence));
//!         Ok(())
//!     }
//! }
//!
//! let lines = r#"{"process": "a", "action": "write", "args": {"key": 7, "value": 1}, "start": 1, "end": 2}
//! {"process": "b", "action": "read", "args": {"key": 7}, "results": {"value": 0}, "start": 3, "end": 4}"#;
//! let judge = Judge::new("register", CheckOptions::default()).expect("a built-in specification");
//! let options = WatchOptions { is_complete: true, ..WatchOptions::default() };
//! let watch = Watch::begin(judge, options, None)?;
//! // `std::io::stdin()` in place of the bytes reads standard input; `Source::open` follows a file.
//! let source = Source::lines("lines", lines.as_bytes(), watch.position(), &ReadOptions::default());
//! let counts = watch.run(source, &Printer)?;
//! assert_eq!((counts.operations, counts.violations), (2, 1));
//! # Ok::<(), WatchError>(())
//! ```
//!
//! ```text
//!  Source ── lines ──► Monitor ──► Outlet: alerts, notices, intervals
//!  (a thread)          │     └───► Status: counts, causes and alerts, for /metrics, /health and a page
//!                      └── state and position: in one file (Watch), or in the store of a group of monitors (Group)
//! ```
//!
//! A watch has a [`Subject`]: operations and their specification, or transactions and their level. A [`Watch`] has the whole input. A [`Group`] shares the partitions of a [`Log`](omnilink_monitor::share::Log) with other
//! monitors, and each partition has a thread with all of the above. State and position are stored together, so that every
//! operation is checked once, no matter which process is killed when.
//!
//! The crate prints nothing. Sources open files, read the clock and, with the feature `http`, listen on addresses.

mod error;
mod group;
#[cfg(feature = "http")]
mod http;
mod interval;
mod options;
mod outlet;
mod partition;
mod source;
mod state;
mod status;
mod subject;
mod watch;
mod written;

pub use error::WatchError;
pub use group::Group;
#[cfg(feature = "http")]
pub use http::{Access, OnRefusal, Page, SpanReceiver, serve};
pub use interval::Interval;
pub use options::WatchOptions;
pub use outlet::{Notice, Outlet};
pub use source::{Position, ReadOptions, Source};
pub use status::{Progress, Raised, Status};
pub use subject::Subject;
pub use watch::Watch;
