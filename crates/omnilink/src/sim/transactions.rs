//! Transactions of simulated clients. One lives across `.await`; if it is dropped, for example with the host that crashed,
//! its outcome is unknown.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use omnilink_isolation::Status;

use super::{Recorded, locked};
use crate::transactions::{Open, Scalar};

/// A client of a store with transactions: it performs one transaction after the other.
#[derive(Debug)]
pub struct Session {
    recorded: Arc<Recorded>,
    /// The name, as JSON.
    name: String,
}

/// A transaction that has begun. Dropping it leaves its outcome unknown.
#[derive(Debug)]
#[must_use = "a transaction that is dropped has an unknown outcome"]
pub struct Transaction<'a> {
    session: &'a mut Session,
    open: Open,
    status: Status,
}

impl Session {
    pub(super) fn new(recorded: Arc<Recorded>, name: String) -> Session {
        Session { recorded, name }
    }

    /// A value that no session of the run has drawn before, and not 0, which a register may hold at first.
    pub fn fresh(&self) -> i64 {
        self.recorded.fresh.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Call it before the store begins a transaction.
    pub fn begin(&mut self) -> Transaction<'_> {
        let open = Open::at(self.recorded.clock.tick());
        Transaction { session: self, open, status: Status::Unknown }
    }
}

impl Transaction<'_> {
    /// The transaction has read a register.
    pub fn read(&mut self, key: impl Scalar, value: impl Scalar) {
        self.open.read(key, value);
    }

    /// The transaction has read a whole list.
    pub fn read_list<S: Scalar>(&mut self, key: impl Scalar, elements: impl IntoIterator<Item = S>) {
        self.open.read_list(key, elements);
    }

    /// The transaction writes a register. Call it before the store gets the write, which may outlive the client.
    pub fn write(&mut self, key: impl Scalar, value: impl Scalar) {
        self.open.write(key, value);
    }

    /// The transaction appends an element to a list. Call it before the store gets the element.
    pub fn append(&mut self, key: impl Scalar, element: impl Scalar) {
        self.open.append(key, element);
    }

    /// The store has committed the transaction.
    pub fn commit(mut self) {
        self.status = Status::Committed;
    }

    /// The transaction has had no effect.
    pub fn abort(mut self) {
        self.status = Status::Aborted;
    }

    /// The transaction may have had an effect, or may yet.
    pub fn unknown(self) {}
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let Session { recorded, name } = &*self.session;
        let end = recorded.clock.tick();
        *locked(&recorded.transactions) += &self.open.line(name, end, self.status);
    }
}
