//! A store with transactions under snapshot isolation, one at a time in each process.
//!
//! The transactions of process 0 are all named `t0`, those of process 1 `t1`, and so on: the spec lets a name be
//! reused, and so the state does not grow with the trace.

use std::collections::BTreeSet;
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, Schema, Value};

use super::{Object, call, schema};

const KEYS: [&str; 3] = ["x", "y", "z"];
const VALUES: i64 = 4;

/// The value of each of [`KEYS`], if any.
type Store = [Option<i64>; KEYS.len()];

pub(super) struct Snapshot {
    store: Store,
    open: Vec<Option<Transaction>>, // By process.
    begin: Arc<Schema>,
    read: Arc<Schema>,
    write: Arc<Schema>,
    commit: Arc<Schema>,
    abort: Arc<Schema>,
}

struct Transaction {
    sees: Store,
    written: BTreeSet<usize>,
    outdated: BTreeSet<usize>,
}

impl Snapshot {
    pub(super) fn new(processes: usize) -> Snapshot {
        Snapshot {
            store: [None; KEYS.len()],
            open: (0..processes).map(|_| None).collect(),
            begin: schema("Begin", &["tx"], &[]),
            read: schema("Read", &["tx", "key"], &["value"]),
            write: schema("Write", &["tx", "key", "value"], &[]),
            commit: schema("Commit", &["tx"], &["status"]),
            abort: schema("Abort", &["tx"], &[]),
        }
    }

    /// Returns false if there was a conflict.
    fn commit(&mut self, transaction: Transaction) -> bool {
        let ok = transaction.written.is_disjoint(&transaction.outdated);
        if ok {
            transaction.written.iter().for_each(|&key| self.store[key] = transaction.sees[key]);
            self.open.iter_mut().flatten().for_each(|other| other.outdated.extend(&transaction.written));
        }
        ok
    }
}

impl Object for Snapshot {
    fn step(&mut self, process: usize, rng: &mut Rng) -> Option<Call> {
        let tx = Value::str(format!("t{process}"));
        let Some(mut transaction) = self.open[process].take() else {
            let (written, outdated) = Default::default();
            self.open[process] = Some(Transaction { sees: self.store, written, outdated });
            return Some(call(&self.begin, [tx]));
        };
        let key = rng.usize(..KEYS.len());
        Some(match rng.u8(..12) {
            0 => call(&self.abort, [tx]),
            1..4 => {
                let status = if self.commit(transaction) { "ok" } else { "conflict" };
                call(&self.commit, [tx, Value::str(status)])
            }
            4..8 => {
                let value = transaction.sees[key].map_or(Value::Nil, Value::Int);
                self.open[process] = Some(transaction);
                call(&self.read, [tx, Value::str(KEYS[key]), value])
            }
            _ => {
                let value = rng.i64(1..=VALUES);
                transaction.sees[key] = Some(value);
                transaction.written.insert(key);
                self.open[process] = Some(transaction);
                call(&self.write, [tx, Value::str(KEYS[key]), Value::Int(value)])
            }
        })
    }
}
