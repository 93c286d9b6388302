//! Makes the calls of `Transaction.tla` on a store, from several threads, and records them.
//!
//! The store is a small one that works, so that you see a run before you change anything. To check
//! your own, replace the parts marked 1 to 7. Calls are drawn and recorded in
//! `operations.rs`.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omnilink_record::drive::{self, Plan};
use operations::{Call, Commit, System};

/// 1. The store under test.
#[derive(Default)]
struct Subject {
    store: Mutex<Store>,
}

#[derive(Default)]
struct Store {
    /// The number of committed transactions.
    commits: u64,
    /// Each value, and the commit that wrote it.
    values: HashMap<&'static str, (i64, u64)>,
}

impl Subject {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 2. The state of a thread: its transaction, if one is open.
#[derive(Default)]
struct Session {
    transaction: Option<Transaction>,
}

#[derive(Default)]
struct Transaction {
    commits_before: u64,
    sees: HashMap<&'static str, i64>,
    written: Vec<&'static str>,
}

impl System for Subject {
    type Session = Session;

    fn session(&self, _thread: usize) -> Self::Session {
        Session::default()
    }

    /// A transaction begins when none is open; everything else needs an open one.
    fn allows(&self, session: &Self::Session, call: Call) -> bool {
        (call == Call::Begin) == session.transaction.is_none()
    }

    /// 3. Begins a transaction.
    fn begin(&self, session: &mut Self::Session) {
        let store = self.store();
        let sees = store
            .values
            .iter()
            .map(|(key, (value, _))| (*key, *value))
            .collect();
        let transaction = Transaction {
            commits_before: store.commits,
            sees,
            written: Vec::new(),
        };
        session.transaction = Some(transaction);
    }

    /// 4. Reads a value: 0 if there is none.
    fn read(&self, session: &mut Self::Session, key: &'static str) -> i64 {
        let transaction = session.transaction.as_ref();
        transaction
            .and_then(|transaction| transaction.sees.get(key))
            .copied()
            .unwrap_or(0)
    }

    /// 5. Writes a value.
    fn write(&self, session: &mut Self::Session, key: &'static str, value: i64) {
        if let Some(transaction) = &mut session.transaction {
            transaction.sees.insert(key, value);
            transaction.written.push(key);
        }
    }

    /// 6. Commits, unless another transaction has committed one of the same keys meanwhile.
    fn commit(&self, session: &mut Self::Session) -> Commit {
        let transaction = session.transaction.take().unwrap_or_default();
        let mut store = self.store();
        let commit_of = |key| store.values.get(key).map_or(0, |(_, commit)| *commit);
        if transaction
            .written
            .iter()
            .any(|key| commit_of(key) > transaction.commits_before)
        {
            return Commit::Conflict;
        }
        store.commits += 1;
        let commit = store.commits;
        for key in transaction.written {
            store.values.insert(key, (transaction.sees[key], commit));
        }
        Commit::Done
    }

    /// 7. Gives up.
    fn abort(&self, session: &mut Self::Session) {
        session.transaction = None;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject::default())?;
        Ok(())
    })
}
