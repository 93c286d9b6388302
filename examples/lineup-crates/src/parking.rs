//! Objects of `parking_lot`: a lock, a lock for readers and writers, and an event with a condition variable.
//!
//! Locks stay locked from call to call, so `try_lock` has a reason to fail in a serial run, too.

use std::sync::Arc;
use std::time::Duration;

use omnilink_record::object;
use parking_lot::{
    ArcMutexGuard, ArcRwLockReadGuard, ArcRwLockWriteGuard, Condvar, Mutex, RawMutex, RawRwLock, RwLock,
};

use crate::held::Held;

/// `parking_lot::Mutex`.
#[derive(Default)]
pub struct Lock {
    held: Held<ArcMutexGuard<RawMutex, ()>>,
    lock: Arc<Mutex<()>>,
}

#[object]
impl Lock {
    pub fn lock(&self) {
        self.held.put(self.lock.lock_arc());
    }

    pub fn try_lock(&self) -> bool {
        self.held.put_some(self.lock.try_lock_arc())
    }

    pub fn try_lock_for_zero(&self) -> bool {
        self.held.put_some(self.lock.try_lock_arc_for(Duration::ZERO))
    }

    /// Returns whether this thread held the lock.
    pub fn unlock(&self) -> bool {
        self.held.take().is_some()
    }

    pub fn unlock_fair(&self) -> bool {
        self.held.take().map(ArcMutexGuard::unlock_fair).is_some()
    }

    pub fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }
}

/// `parking_lot::RwLock`.
///
/// A waiting writer keeps new readers out, although the lock could be shared. This is by design, but no serial run
/// explains a reader that waits, or gives up, because of a call that has not returned yet. Nor one in which
/// `is_locked_exclusive` takes a waiting writer for one that has the lock.
#[derive(Default)]
pub struct SharedLock {
    held: Held<Access>,
    lock: Arc<RwLock<()>>,
}

enum Access {
    Read { _guard: ArcRwLockReadGuard<RawRwLock, ()> },
    Write(ArcRwLockWriteGuard<RawRwLock, ()>),
}

#[object]
impl SharedLock {
    pub fn read(&self) {
        self.held.put(Access::Read { _guard: self.lock.read_arc() });
    }

    pub fn try_read(&self) -> bool {
        self.held.put_some(self.lock.try_read_arc().map(|_guard| Access::Read { _guard }))
    }

    pub fn write(&self) {
        self.held.put(Access::Write(self.lock.write_arc()));
    }

    pub fn try_write(&self) -> bool {
        self.held.put_some(self.lock.try_write_arc().map(Access::Write))
    }

    /// Returns whether this thread held the lock.
    pub fn unlock(&self) -> bool {
        self.held.take().is_some()
    }

    /// Goes on as a reader, and returns whether this thread holds the lock.
    pub fn downgrade(&self) -> bool {
        self.held.put_some(self.held.take().map(|access| match access {
            Access::Write(guard) => Access::Read { _guard: ArcRwLockWriteGuard::downgrade(guard) },
            read => read,
        }))
    }

    pub fn is_locked_exclusive(&self) -> bool {
        self.lock.is_locked_exclusive()
    }
}

/// A manual-reset event of `parking_lot::Mutex` and `parking_lot::Condvar`.
#[derive(Default)]
pub struct Event {
    is_set: Mutex<bool>,
    was_set: Condvar,
}

#[object]
impl Event {
    pub fn set(&self) {
        *self.is_set.lock() = true;
        self.was_set.notify_all();
    }

    pub fn reset(&self) {
        *self.is_set.lock() = false;
    }

    pub fn wait(&self) {
        self.was_set.wait_while(&mut self.is_set.lock(), |is_set| !*is_set);
    }

    pub fn wait_for_zero(&self) -> bool {
        !self.was_set.wait_while_for(&mut self.is_set.lock(), |is_set| !*is_set, Duration::ZERO).timed_out()
    }

    pub fn is_set(&self) -> bool {
        *self.is_set.lock()
    }
}
