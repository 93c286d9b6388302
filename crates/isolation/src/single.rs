//! A transaction by itself, for those that arrive one by one.

use std::sync::Arc;

use omnilink_history::Value;

use crate::key::Access;
use crate::stamp::Stamp;
use crate::transactions::Status;

/// A transaction with the timestamps that the database gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Its process.
    pub process: Arc<str>,
    /// Its number in the process, if the line has one.
    pub seq: Option<u64>,
    /// The interval in which it ran: its start, and its end if it is known.
    pub times: Option<(u64, Option<u64>)>,
    /// How it ended.
    pub status: Status,
    /// When it took its snapshot.
    pub snapshot: Option<Stamp>,
    /// When it committed.
    pub commit: Option<Stamp>,
    /// Its accesses to keys, in order. A read of nil or 0 may be one of the initial value.
    pub accesses: Vec<(Value, Access<Value>)>,
}

impl Transaction {
    /// True if it writes a key.
    pub fn writes(&self) -> bool {
        self.accesses.iter().any(|(_, access)| access.is_write())
    }
}
