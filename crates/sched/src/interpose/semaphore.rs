//! Semaphores.
//!
//! The count is where the C library keeps it, in the first word, and there is no other state. So a semaphore
//! initialized before control, or left by an earlier execution of a batch, keeps its count.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{clockid_t, sem_t, timespec};
use omnilink_schedule::Kind;

use super::{fail, is_controlled, signal, step, time, timer};
use crate::{baton, real};

/// The largest count of a semaphore (`SEM_VALUE_MAX`).
const MOST: u32 = i32::MAX as u32;

fn count(semaphore: *mut sem_t) -> &'static AtomicU32 {
    // SAFETY: the caller passes a semaphore that lives while it is used, and begins with the count.
    unsafe { AtomicU32::from_ptr(semaphore.cast()) }
}

fn is_there(semaphore: *mut sem_t) -> bool {
    count(semaphore).load(Ordering::SeqCst) > 0
}

fn take(semaphore: *mut sem_t) {
    count(semaphore).fetch_sub(1, Ordering::SeqCst);
    baton::acted();
    baton::wrote(semaphore as u64, true);
}

/// Takes one, until a deadline. Returns the error, or 0.
fn wait(semaphore: *mut sem_t, deadline: u64) -> c_int {
    let me = baton::me();
    baton::acted();
    let is_in_time =
        timer::timed(step(Kind::Take, semaphore as u64), deadline, &|| is_there(semaphore) || signal::is_pending(me));
    match (is_in_time, is_there(semaphore)) {
        (true, true) => {
            take(semaphore);
            0
        }
        (true, false) => fail(signal::interrupted()) as c_int,
        (false, _) => fail(libc::ETIMEDOUT) as c_int,
    }
}

fn wait_until(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
    if !time::is_valid(until) {
        return fail(libc::EINVAL) as c_int;
    }
    wait(semaphore, time::deadline(clock, until))
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sem_wait(semaphore: *mut sem_t) -> c_int {
    if is_controlled() {
        return wait(semaphore, baton::NEVER);
    }
    // SAFETY: as the caller promised.
    unsafe { real::sem_wait(semaphore) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sem_timedwait(semaphore: *mut sem_t, until: *const timespec) -> c_int {
    if is_controlled() {
        return wait_until(semaphore, libc::CLOCK_REALTIME, until);
    }
    // SAFETY: as the caller promised.
    unsafe { real::sem_timedwait(semaphore, until) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sem_clockwait(semaphore: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
    if is_controlled() {
        return wait_until(semaphore, clock, until);
    }
    // SAFETY: as the caller promised.
    unsafe { real::sem_clockwait(semaphore, clock, until) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sem_trywait(semaphore: *mut sem_t) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::sem_trywait(semaphore) };
    }
    baton::visible(step(Kind::TryTake, semaphore as u64));
    let is_there = is_there(semaphore);
    baton::made(u64::from(is_there), is_there);
    if !is_there {
        baton::record_idle_read(0, semaphore as u64, 0);
        return fail(libc::EAGAIN) as c_int;
    }
    take(semaphore);
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sem_post(semaphore: *mut sem_t) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::sem_post(semaphore) };
    }
    baton::acted();
    baton::visible(step(Kind::Post, semaphore as u64));
    let before = count(semaphore).load(Ordering::SeqCst);
    if before >= MOST {
        return fail(libc::EOVERFLOW) as c_int;
    }
    count(semaphore).store(before + 1, Ordering::SeqCst);
    baton::made(u64::from(before) + 1, true);
    baton::wrote(semaphore as u64, true);
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int {
    if is_controlled() {
        baton::visible(step(Kind::Load, semaphore as u64));
        let count = count(semaphore).load(Ordering::SeqCst);
        baton::made(count.into(), false);
        baton::record_idle_read(0, semaphore as u64, count.into());
    }
    // SAFETY: as the caller promised. It reads the count.
    unsafe { real::sem_getvalue(semaphore, value) }
}
