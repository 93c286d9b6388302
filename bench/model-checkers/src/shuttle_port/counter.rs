//! A counter with a lock that has to be released by hand.
//!
//! The mistake: `get` returns early if the count changed while it waited for the lock, and keeps the lock then. Every
//! later call waits for ever. No call does so while threads take turns.

use shuttle::sync::atomic::{AtomicI64, Ordering::SeqCst};
use shuttle::sync::{Condvar, Mutex};

pub struct Counter {
    count: AtomicI64,
    lock: Lock,
    is_fixed: bool,
}

impl Counter {
    pub fn wrong() -> Counter {
        Counter { count: AtomicI64::new(0), lock: Lock::default(), is_fixed: false }
    }

    pub fn fixed() -> Counter {
        Counter { is_fixed: true, ..Counter::wrong() }
    }

    pub fn inc(&self) {
        self.lock.acquire();
        self.count.store(self.count.load(SeqCst) + 1, SeqCst);
        self.lock.release();
    }

    pub fn get(&self) -> i64 {
        let seen = self.count.load(SeqCst);
        self.lock.acquire();
        let count = self.count.load(SeqCst);
        if count != seen && !self.is_fixed {
            return count; // Without a release.
        }
        self.lock.release();
        count
    }
}

/// A lock without guards.
#[derive(Default)]
struct Lock {
    is_held: Mutex<bool>,
    released: Condvar,
}

impl Lock {
    fn acquire(&self) {
        let is_held = self.is_held.lock().expect("no thread panics");
        *self.released.wait_while(is_held, |is_held| *is_held).expect("no thread panics") = true;
    }

    fn release(&self) {
        *self.is_held.lock().expect("no thread panics") = false;
        self.released.notify_one();
    }
}
