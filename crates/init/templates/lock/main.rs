//! Makes the calls of `Lock.tla` on a lock, from several threads, and records them.
//!
//! The lock is a small one that works, so that you see a run before you change anything. To check
//! your own, replace the parts marked 1 to 4. Calls are drawn and recorded in
//! `operations.rs`.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use omnilink_record::drive::{self, Plan};
use operations::{Acquire, Call, System, TryAcquire};

/// 1. The lock under test.
#[derive(Default)]
struct Subject {
    is_locked: AtomicBool,
}

impl Subject {
    fn lock(&self) -> bool {
        !self.is_locked.swap(true, Ordering::Acquire)
    }
}

/// Whether the thread owns the lock.
struct Session {
    is_owner: bool,
}

impl System for Subject {
    type Session = Session;

    fn session(&self, _thread: usize) -> Self::Session {
        Session { is_owner: false }
    }

    /// Only the owner releases the lock, and the owner does not take it again.
    fn allows(&self, session: &Self::Session, call: Call) -> bool {
        (call == Call::Release) == session.is_owner
    }

    /// 2. Waits for the lock, but not forever: the owner may have made all its calls.
    fn acquire(&self, session: &mut Self::Session) -> Acquire {
        for _ in 0..100 {
            session.is_owner = self.lock();
            if session.is_owner {
                return Acquire::Done;
            }
            thread::yield_now();
        }
        Acquire::Timeout
    }

    /// 3. Takes the lock if it is free.
    fn try_acquire(&self, session: &mut Self::Session) -> TryAcquire {
        session.is_owner = self.lock();
        if session.is_owner {
            TryAcquire::Done
        } else {
            TryAcquire::Busy
        }
    }

    /// 4. Gives the lock back.
    fn release(&self, session: &mut Self::Session) {
        session.is_owner = false;
        self.is_locked.store(false, Ordering::Release);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject::default())?;
        Ok(())
    })
}
