//! Mutexes: their owners and lock counts.
//!
//! The kind of a mutex is where the C library stored it. A recursive one counts; an error-checking one returns errors;
//! a normal one that is locked twice by the same thread waits for itself, which is a deadlock. Robust and
//! priority-inheritance mutexes are treated as their plain counterparts: no thread here is killed, and none has a
//! priority.

use std::ffi::c_int;

use libc::{pthread_mutex_t, pthread_mutexattr_t, timespec};
use omnilink_schedule::Kind;

use super::table::Table;
use super::time::deadline;
use super::{is_controlled, step, timer};
use crate::{baton, real};

/// The owner of a mutex, and its lock count.
#[derive(Clone, Copy)]
struct Held {
    by: usize,
    times: u32,
}

static MUTEXES: Table<Held> = Table::new();

/// What a mutex does if its owner locks it.
#[derive(PartialEq, Eq)]
enum Nature {
    Waits,
    Counts,
    Refuses,
}

fn nature(mutex: *const pthread_mutex_t) -> Nature {
    // Lock, count, owner and users come before the kind (`struct __pthread_mutex_s`); the kind itself is the lowest two
    // bits.
    // SAFETY: the caller passes a mutex, which is longer.
    let kind = unsafe { mutex.cast::<c_int>().add(4).read() };
    match kind & 3 {
        libc::PTHREAD_MUTEX_RECURSIVE => Nature::Counts,
        libc::PTHREAD_MUTEX_ERRORCHECK => Nature::Refuses,
        _ => Nature::Waits,
    }
}

/// Resets everything.
pub(super) fn begin() {
    MUTEXES.clear();
}

/// Whether it is free.
pub(super) fn is_free(mutex: u64) -> bool {
    MUTEXES.get(mutex).is_none()
}

/// Takes a free one.
fn take(mutex: u64) {
    MUTEXES.set(mutex, Some(Held { by: baton::me(), times: 1 }));
}

/// Locks it again, or returns the error, if this thread owns it already and it is not a normal one.
fn relock(mutex: *const pthread_mutex_t, refusal: c_int) -> Option<c_int> {
    let held = MUTEXES.get(mutex as u64).filter(|held| held.by == baton::me())?;
    match nature(mutex) {
        Nature::Waits => None,
        Nature::Refuses => Some(refusal),
        Nature::Counts => {
            MUTEXES.set(mutex as u64, Some(Held { times: held.times + 1, ..held }));
            Some(0)
        }
    }
}

/// Locks it, as soon as possible.
pub(super) fn lock(mutex: *const pthread_mutex_t) -> c_int {
    let address = mutex as u64;
    if let Some(answer) = relock(mutex, libc::EDEADLK) {
        return answer;
    }
    baton::acted();
    timer::blocking(step(Kind::Lock, address), &|| is_free(address));
    take(address);
    0
}

/// Locks it, if possible before a deadline.
fn lock_until(mutex: *const pthread_mutex_t, clock: c_int, until: *const timespec) -> c_int {
    let address = mutex as u64;
    if let Some(answer) = relock(mutex, libc::EDEADLK) {
        return answer;
    }
    baton::acted();
    if !timer::timed(step(Kind::Lock, address), deadline(clock, until), &|| is_free(address)) {
        return libc::ETIMEDOUT;
    }
    take(address);
    0
}

/// Unlocks it.
pub(super) fn unlock(mutex: *const pthread_mutex_t) -> c_int {
    let address = mutex as u64;
    let held = MUTEXES.get(address);
    if let Some(held) = held.filter(|held| held.times > 1 && held.by == baton::me()) {
        MUTEXES.set(address, Some(Held { times: held.times - 1, ..held }));
        return 0;
    }
    if held.is_none_or(|held| held.by != baton::me()) && nature(mutex) != Nature::Waits {
        return libc::EPERM;
    }
    baton::acted();
    baton::visible(step(Kind::Unlock, address));
    MUTEXES.set(address, None);
    baton::wrote(address, true);
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_mutex_init(
    mutex: *mut pthread_mutex_t,
    attributes: *const pthread_mutexattr_t,
) -> c_int {
    if is_controlled() {
        MUTEXES.set(mutex as u64, None);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_mutex_init(mutex, attributes) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    if is_controlled() {
        return lock(mutex);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_mutex_lock(mutex) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_mutex_trylock(mutex) };
    }
    if let Some(answer) = relock(mutex, libc::EBUSY) {
        return answer;
    }
    let address = mutex as u64;
    baton::visible(step(Kind::TryLock, address));
    let is_free = is_free(address);
    baton::made(u64::from(is_free), is_free);
    if is_free {
        baton::acted();
        take(address);
        return 0;
    }
    baton::record_idle_read(0, address, 0);
    libc::EBUSY
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_timedlock(
    mutex: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    if is_controlled() {
        return lock_until(mutex, libc::CLOCK_REALTIME, until);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_mutex_timedlock(mutex, until) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    if is_controlled() {
        return lock_until(mutex, clock, until);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_mutex_clocklock(mutex, clock, until) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    if is_controlled() {
        return unlock(mutex);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_mutex_unlock(mutex) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
    if is_controlled() {
        return if is_free(mutex as u64) { 0 } else { libc::EBUSY };
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_mutex_destroy(mutex) }
}
