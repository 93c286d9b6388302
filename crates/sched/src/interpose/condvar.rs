//! Condition variables.
//!
//! To wait is four steps, each on one object: the thread joins the waiting threads, releases the mutex, continues after
//! a wake, and takes the mutex. It waits before the mutex is free, so no later wake is lost. A wait times out when no
//! thread is enabled, or at once if the deadline has passed.
//!
//! The clock of timed waits is set when a condition variable is initialized. It is remembered for the lifetime of the
//! condition variable, also from one execution of a batch to the next.

use std::ffi::c_int;

use libc::{clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};
use omnilink_schedule::Kind;

use super::table::Table;
use super::{is_controlled, mutex, step, time, waiters};
use crate::{baton, real};

/// The clocks of condition variables that do not use the time of day.
static CLOCKS: Table<clockid_t> = Table::new();

fn clock_of(condition: *const pthread_cond_t) -> clockid_t {
    CLOCKS.get(condition as u64).unwrap_or(libc::CLOCK_REALTIME)
}

/// Waits for a wake, or until a deadline.
pub(super) fn wait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t, deadline: u64) -> c_int {
    let address = condition as u64;
    baton::acted();
    baton::visible(step(Kind::Wait, address));
    let ticket = waiters::enter(address, waiters::ANY);
    let answer = mutex::unlock(lock);
    if answer != 0 {
        waiters::leave(ticket);
        return answer;
    }
    let is_woken = waiters::wait(step(Kind::Woken, address), ticket, deadline, &|| false);
    let answer = mutex::lock(lock);
    if answer == 0 && !is_woken { libc::ETIMEDOUT } else { answer }
}

/// Wakes at most `most` of the waiting threads.
pub(super) fn wake(condition: *mut pthread_cond_t, most: usize) -> c_int {
    let address = condition as u64;
    baton::acted();
    baton::visible(step(Kind::Wake, address));
    let woken = waiters::wake(address, most, waiters::ANY);
    baton::made(woken as u64, true);
    0
}

/// Waits until a clock reaches this time, at the latest.
pub(super) fn wait_until(
    condition: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    if !time::is_valid(until) {
        return libc::EINVAL;
    }
    wait(condition, lock, time::deadline(clock, until))
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_cond_init(
    condition: *mut pthread_cond_t,
    attributes: *const pthread_condattr_t,
) -> c_int {
    if is_controlled() {
        let mut clock = libc::CLOCK_REALTIME;
        if !attributes.is_null() {
            // SAFETY: the caller passes attributes.
            unsafe { libc::pthread_condattr_getclock(attributes, &raw mut clock) };
        }
        CLOCKS.set(condition as u64, (clock != libc::CLOCK_REALTIME).then_some(clock));
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cond_init(condition, attributes) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int {
    if is_controlled() {
        CLOCKS.set(condition as u64, None);
    }
    // SAFETY: as the caller promised. No thread waits in the C library.
    unsafe { real::pthread_cond_destroy(condition) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_cond_wait(
    condition: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
) -> c_int {
    if is_controlled() {
        return wait(condition, lock, baton::NEVER);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cond_wait(condition, lock) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    until: *const timespec,
) -> c_int {
    if is_controlled() {
        return wait_until(condition, lock, clock_of(condition), until);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cond_timedwait(condition, lock, until) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_cond_clockwait(
    condition: *mut pthread_cond_t,
    lock: *mut pthread_mutex_t,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    if is_controlled() {
        return wait_until(condition, lock, clock, until);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cond_clockwait(condition, lock, clock, until) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
    if is_controlled() {
        return wake(condition, 1);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cond_signal(condition) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
    if is_controlled() {
        return wake(condition, usize::MAX);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cond_broadcast(condition) }
}
