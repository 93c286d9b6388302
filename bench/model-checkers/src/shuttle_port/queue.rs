//! A queue behind a lock.
//!
//! The mistake: `try_take` gives up if another thread holds the lock, and so finds a queue empty that never was.

use shuttle::sync::Mutex;
use std::collections::VecDeque;

pub struct Queue {
    items: Mutex<VecDeque<i64>>,
    is_fixed: bool,
}

impl Queue {
    pub fn wrong() -> Queue {
        Queue { items: Mutex::default(), is_fixed: false }
    }

    pub fn fixed() -> Queue {
        Queue { is_fixed: true, ..Queue::wrong() }
    }

    pub fn add(&self, item: i64) {
        self.items.lock().expect("no thread panics").push_back(item);
    }

    pub fn try_take(&self) -> Option<i64> {
        if self.is_fixed {
            return self.items.lock().expect("no thread panics").pop_front();
        }
        self.items.try_lock().ok()?.pop_front()
    }
}
