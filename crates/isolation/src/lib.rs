//! Decides isolation levels of transactions, from read committed to strict serializable.
//!
//! A [`Level`] is an [`Isolation`] and an order. [`check`] decides one level: an accepted history has a [`Certificate`], which
//! code of its own replays, and a rejected one a [`Violation`], which a second function verifies. [`find`] finds the strongest
//! levels.
//!
//! ```
//! use omnilink_history::Halt;
//! use omnilink_isolation::{Effort, Outcome, check, read};
//!
//! // Two transactions read both keys, and each writes the one that the other did not.
//! let text = r#"
//! {"process": 0, "txn": [["r", "x", 0], ["r", "y", 0], ["w", "x", 1]], "start": 1, "end": 5}
//! {"process": 1, "txn": [["r", "x", 0], ["r", "y", 0], ["w", "y", 1]], "start": 2, "end": 6}
//! "#;
//! let txns = read::transactions(text.as_bytes(), &Halt::default())?;
//! let decide = |level: &str| check(&txns, level.parse().expect("a level"), &Effort::default(), &Halt::default());
//! let Outcome::Accepted(certificate) = decide("strong-snapshot") else { panic!("it is accepted") };
//! certificate.replay(&txns)?;
//! let Outcome::Rejected(rejection) = decide("serializable") else { panic!("it is rejected") };
//! rejection.verify(&txns)?;
//! assert_eq!(rejection.explain(&txns).anomaly, "write skew");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Files in reading order: `level`, `transactions` (columns), `model` (transactions that count, and bad reads), `graph`,
//! `versions` (chains of writes), `points` (the graph of begins and commits), `past` (clocks), `forced` (levels that need no
//! choice), `solver` and `pairs` (version orders that are not known), `effort`, `decide`, `evidence`, `shrink`, `check`; `certify` and
//! `verify`, which trust none of these; `anomaly` (words). `stamp`, `key`, `single` (a transaction by itself) and `stamps` check by the times of the database, for which
//! [`check_stamps`] is the entry point for a whole history, and [`Stream`] for transactions that arrive one by one.

mod anomaly;
mod certify;
mod check;
mod decide;
mod effort;
mod evidence;
mod forced;
mod graph;
pub mod key;
mod level;
mod model;
mod pairs;
mod past;
mod points;
pub mod read;
mod shrink;
mod single;
mod smallest;
mod solver;
mod stamp;
mod stamps;
mod transactions;
mod verify;
mod versions;

pub use crate::anomaly::Explanation;
pub use crate::certify::{Certificate, Step};
pub use crate::check::{Inconclusive, Outcome, Rejection, Strongest, bad_read, check, check_plainly, find};
pub use crate::effort::Effort;
pub use crate::evidence::{Cycle, Edge, Violation, Why};
pub use crate::level::{Isolation, Level, LevelError, ORDERS, order_name};
pub use crate::model::{BadRead, ReadAnomaly};
pub use crate::smallest::Smallest;
pub use crate::stamp::{Snapshot, Stamp};
pub use crate::stamps::{
    Alarm, AlarmKind, Doubt, Misfit, SavedKey, SavedStream, StampError, StampOutcome, StampRejection, Stream,
    StreamCounts, StreamLimits, check_stamps,
};
pub use crate::transactions::{BuildError, Builder, MicroId, Status, Transactions, TxnId};
