//! Makes the calls of `Queue.tla` on a queue, from several threads, and records them.
//!
//! The queue is a small one that works, so that you see a run before you change anything. To check
//! your own, replace the parts marked 1, 2 and 3. Calls are drawn and recorded in
//! `operations.rs`.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omnilink_record::drive::{self, Plan};
use operations::{Dequeue, System};

/// 1. The queue under test.
#[derive(Default)]
struct Subject {
    queue: Mutex<VecDeque<i64>>,
}

impl Subject {
    fn queue(&self) -> MutexGuard<'_, VecDeque<i64>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for Subject {
    type Session = ();

    fn session(&self, _thread: usize) -> Self::Session {}

    /// 2. Puts an element in.
    fn enqueue(&self, _session: &mut Self::Session, elem: i64) {
        self.queue().push_back(elem);
    }

    /// 3. Takes an element out, if there is one.
    fn dequeue(&self, _session: &mut Self::Session) -> Dequeue {
        match self.queue().pop_front() {
            Some(elem) => Dequeue::Done { elem },
            None => Dequeue::Empty,
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject::default())?;
        Ok(())
    })
}
