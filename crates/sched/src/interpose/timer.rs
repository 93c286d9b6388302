//! Timers that send signals: whether one is due.
//!
//! They run in real time, so their signals come from outside. A thread that waits for a lock or the like while such a
//! signal is due is not stuck: the signal may end the wait. CPU-time timers do not matter, because no thread runs while
//! all wait. While a periodic timer is due, nothing is a deadlock.
//!
//! A timer that would create threads is rejected: they could not be controlled.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{clockid_t, itimerspec, itimerval, sigevent, timer_t, useconds_t};
use omnilink_schedule::Step;

use super::errno_kept;
use super::table::Table;
use crate::stack::fail;
use crate::{baton, real};

/// Whether a timer was ever set.
static IS_ANY_SET: AtomicBool = AtomicBool::new(false);
/// The POSIX timers that were set.
static TIMERS: Table<()> = Table::new();

/// Waits for a condition, or until a deadline: in real time, while a timer may bring it. Returns `false` if the
/// deadline came first.
pub(super) fn timed(step: Step, deadline: u64, ready: &dyn Fn() -> bool) -> bool {
    if IS_ANY_SET.load(Ordering::Relaxed) && !ready() && is_due() {
        let is_in_time = baton::outside(step, deadline, &|| ready() || !is_due());
        if !is_in_time || ready() {
            return is_in_time;
        }
    }
    baton::timed(step, deadline, ready)
}

/// The same without a deadline.
pub(super) fn blocking(step: Step, ready: &dyn Fn() -> bool) {
    timed(step, baton::NEVER, ready);
}

/// Whether a timer will still send a signal.
fn is_due() -> bool {
    // SAFETY: integers, for which zeros are valid; timers are in the table from when they were set until they are
    // deleted.
    errno_kept(|| unsafe {
        let mut left: itimerval = std::mem::zeroed();
        libc::getitimer(libc::ITIMER_REAL, &raw mut left);
        let is_running = |(timer, ()): &(u64, ())| {
            let mut left: itimerspec = std::mem::zeroed();
            real::timer_gettime(*timer as timer_t, &raw mut left) == 0
                && (left.it_value.tv_sec, left.it_value.tv_nsec) != (0, 0)
        };
        (left.it_value.tv_sec, left.it_value.tv_usec) != (0, 0) || TIMERS.with(|timers| timers.iter().any(is_running))
    })
}

fn note_timer_set() {
    if baton::is_controlled() {
        IS_ANY_SET.store(true, Ordering::Relaxed);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn alarm(seconds: u32) -> u32 {
    note_timer_set();
    // SAFETY: it takes a number.
    unsafe { real::alarm(seconds) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn ualarm(first: useconds_t, then: useconds_t) -> useconds_t {
    note_timer_set();
    // SAFETY: it takes numbers.
    unsafe { real::ualarm(first, then) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn setitimer(which: u32, new: *const itimerval, old: *mut itimerval) -> c_int {
    note_timer_set();
    // SAFETY: as the caller promised.
    unsafe { real::setitimer(which, new, old) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn timer_create(clock: clockid_t, event: *mut sigevent, timer: *mut timer_t) -> c_int {
    // SAFETY: the caller passes an event, or null.
    if baton::is_controlled() && !event.is_null() && unsafe { (*event).sigev_notify } == libc::SIGEV_THREAD {
        fail(&["unsupported: a timer that creates threads (`SIGEV_THREAD`)"]);
    }
    // SAFETY: as the caller promised.
    unsafe { real::timer_create(clock, event, timer) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn timer_settime(
    timer: timer_t,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    note_timer_set();
    if baton::is_controlled() {
        TIMERS.set(timer as u64, Some(()));
    }
    // SAFETY: as the caller promised.
    unsafe { real::timer_settime(timer, flags, new, old) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn timer_delete(timer: timer_t) -> c_int {
    if baton::is_controlled() {
        TIMERS.set(timer as u64, None);
    }
    // SAFETY: as the caller promised.
    unsafe { real::timer_delete(timer) }
}
