//! Read-write locks: shared by many threads, or held by one.
//!
//! No thread is preferred: any thread that the lock admits may be chosen to take it next. This includes the C library's
//! default, which prefers readers.

use std::ffi::c_int;

use libc::{clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};
use omnilink_schedule::Kind;

use super::table::Table;
use super::{is_controlled, step, time, timer};
use crate::{baton, real};

/// How a lock is held.
#[derive(Clone, Copy)]
enum Held {
    Alone(usize),
    /// The number of readers.
    Shared(u32),
}

static LOCKS: Table<Held> = Table::new();

/// Resets everything.
pub(super) fn begin() {
    LOCKS.clear();
}

/// How a lock is requested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Alone,
    Shared,
}

impl Wish {
    fn is_possible(self, lock: u64) -> bool {
        match LOCKS.get(lock) {
            None => true,
            Some(Held::Shared(_)) => self == Wish::Shared,
            Some(Held::Alone(_)) => false,
        }
    }

    fn take(self, lock: u64) {
        let sharing = if let Some(Held::Shared(count)) = LOCKS.get(lock) { count } else { 0 };
        LOCKS.set(
            lock,
            Some(match self {
                Wish::Alone => Held::Alone(baton::me()),
                Wish::Shared => Held::Shared(sharing + 1),
            }),
        );
    }
}

fn is_mine_alone(lock: u64) -> bool {
    matches!(LOCKS.get(lock), Some(Held::Alone(thread)) if thread == baton::me())
}

/// Takes it as soon as possible, until a deadline.
fn lock(lock: *mut pthread_rwlock_t, wish: Wish, deadline: u64) -> c_int {
    let address = lock as u64;
    if is_mine_alone(address) {
        return libc::EDEADLK;
    }
    baton::acted();
    let kind = if wish == Wish::Alone { Kind::Lock } else { Kind::Share };
    if !timer::timed(step(kind, address), deadline, &|| wish.is_possible(address)) {
        return libc::ETIMEDOUT;
    }
    wish.take(address);
    0
}

fn lock_until(lock: *mut pthread_rwlock_t, wish: Wish, clock: clockid_t, until: *const timespec) -> c_int {
    if !time::is_valid(until) {
        return libc::EINVAL;
    }
    self::lock(lock, wish, time::deadline(clock, until))
}

fn try_lock(lock: *mut pthread_rwlock_t, wish: Wish) -> c_int {
    let address = lock as u64;
    let kind = if wish == Wish::Alone { Kind::TryLock } else { Kind::TryShare };
    baton::visible(step(kind, address));
    let is_possible = wish.is_possible(address);
    baton::made(u64::from(is_possible), is_possible);
    if !is_possible {
        baton::record_idle_read(0, address, 0);
        return libc::EBUSY;
    }
    baton::acted();
    wish.take(address);
    0
}

fn unlock(lock: *mut pthread_rwlock_t) -> c_int {
    let address = lock as u64;
    baton::acted();
    baton::visible(step(Kind::Unlock, address));
    let left = match LOCKS.get(address) {
        Some(Held::Shared(count)) if count > 1 => Some(Held::Shared(count - 1)),
        _ => None,
    };
    LOCKS.set(address, left);
    baton::wrote(address, true);
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_rwlock_init(
    rwlock: *mut pthread_rwlock_t,
    attributes: *const pthread_rwlockattr_t,
) -> c_int {
    if is_controlled() {
        LOCKS.set(rwlock as u64, None);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_rwlock_init(rwlock, attributes) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_rwlock_destroy(rwlock: *mut pthread_rwlock_t) -> c_int {
    if is_controlled() {
        LOCKS.set(rwlock as u64, None);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_rwlock_destroy(rwlock) }
}

/// Functions that behave differently under control.
macro_rules! interposed {
    ($($name:ident($($argument:ident: $type:ty),*) => $ours:expr;)*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name(rwlock: *mut pthread_rwlock_t $(, $argument: $type)*) -> c_int {
                if is_controlled() {
                    let ours: fn(*mut pthread_rwlock_t $(, $type)*) -> c_int = $ours;
                    return ours(rwlock $(, $argument)*);
                }
                // SAFETY: as the caller promised.
                unsafe { real::$name(rwlock $(, $argument)*) }
            }
        )*
    };
}

interposed! {
    pthread_rwlock_rdlock() => |rwlock| lock(rwlock, Wish::Shared, baton::NEVER);
    pthread_rwlock_wrlock() => |rwlock| lock(rwlock, Wish::Alone, baton::NEVER);
    pthread_rwlock_tryrdlock() => |rwlock| try_lock(rwlock, Wish::Shared);
    pthread_rwlock_trywrlock() => |rwlock| try_lock(rwlock, Wish::Alone);
    pthread_rwlock_timedrdlock(until: *const timespec) =>
        |rwlock, until| lock_until(rwlock, Wish::Shared, libc::CLOCK_REALTIME, until);
    pthread_rwlock_timedwrlock(until: *const timespec) =>
        |rwlock, until| lock_until(rwlock, Wish::Alone, libc::CLOCK_REALTIME, until);
    pthread_rwlock_clockrdlock(clock: clockid_t, until: *const timespec) =>
        |rwlock, clock, until| lock_until(rwlock, Wish::Shared, clock, until);
    pthread_rwlock_clockwrlock(clock: clockid_t, until: *const timespec) =>
        |rwlock, clock, until| lock_until(rwlock, Wish::Alone, clock, until);
    pthread_rwlock_unlock() => unlock;
}
