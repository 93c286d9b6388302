//! Time, as the program sees it: reading a clock advances it, and it jumps to the next deadline when no thread is
//! enabled.
//!
//! Reading advances it because a program that waits by reading a clock would wait for ever otherwise. A thread that
//! does nothing but read clocks, often, sees time advance faster and faster.
//!
//! All threads share the time, so every operation that advances it or depends on it is a step on one object, the clock:
//! the order of two readings passes information between threads. No other step takes time, or else every step would be
//! one on the clock. A thread that computes a deadline reads the time without advancing it. A deadline is compared with
//! the time in that step and never again, except when no thread is enabled.
//!
//! CPU-time clocks of this process or a thread show how long it has been running: anything else would vary between
//! runs. (Those of another process or thread, which have their own ids, are the kernel's, and so is `getrusage`.)
//!
//! A sleeping thread continues when no thread is enabled: shorter sleeps end first, and a working thread is assumed to
//! be faster than any sleeping one. Sleeps that end while other threads still work are not explored.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

use libc::{clock_t, clockid_t, time_t, timespec, timeval, useconds_t};
use omnilink_schedule::{CLOCK, Kind};

use super::{fail, signal, step};
use crate::{baton, real};

/// The time of day when the program starts, in seconds: a day in November 2023.
const TIME_OF_DAY: u64 = 1_700_000_000;
/// The initial value of all other clocks, except CPU-time clocks.
const UPTIME: u64 = 1_000;
/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// The number of clock readings.
static READINGS: AtomicU64 = AtomicU64::new(0);
/// After this many readings each takes twice as long as before.
const FASTER_AFTER: u64 = 64;
/// How long the first reading takes, and how often that is doubled at most.
const READING: u64 = 1_000;
const DOUBLINGS: u64 = 10;

/// Resets the time.
pub(super) fn begin() {
    READINGS.store(0, Ordering::Relaxed);
}

/// The value of a clock when the program started, in nanoseconds.
fn base(clock: c_int) -> u64 {
    let seconds = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => TIME_OF_DAY,
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => UPTIME,
    };
    seconds * SECOND
}

/// Reads a clock, and advances it.
fn read_clock(clock: c_int) -> u64 {
    // It waits for a time, which will come: it does not wait for other threads.
    baton::acted();
    baton::visible(step(Kind::Clock, CLOCK));
    let readings = READINGS.fetch_add(1, Ordering::Relaxed);
    baton::advance(READING << (readings / FASTER_AFTER).min(DOUBLINGS));
    baton::made(baton::now(), true);
    base(clock) + baton::now()
}

/// The time, for a deadline.
fn current_time() -> u64 {
    baton::visible(step(Kind::Deadline, CLOCK));
    baton::made(baton::now(), false);
    baton::now()
}

/// The deadline at which a clock reaches this time; [`baton::NEVER`] for null.
pub(super) fn deadline(clock: c_int, until: *const timespec) -> u64 {
    if until.is_null() {
        return baton::NEVER;
    }
    // SAFETY: the caller passes a time.
    let until = nanoseconds(unsafe { &*until }).saturating_sub(base(clock));
    if until <= current_time() { baton::PASSED } else { until.min(baton::NEVER - 1) }
}

/// The deadline after this duration.
pub(super) fn after(time: &timespec) -> u64 {
    after_nanoseconds(nanoseconds(time))
}

/// See [`after`].
pub(super) fn after_nanoseconds(time: u64) -> u64 {
    // A thread that does not wait need not read the time.
    if time == 0 { baton::PASSED } else { current_time().saturating_add(time).min(baton::NEVER - 1) }
}

fn nanoseconds(time: &timespec) -> u64 {
    (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec.max(0) as u64)
}

/// Whether it is a valid time.
pub(super) fn is_valid(time: *const timespec) -> bool {
    // SAFETY: the caller passes a time, or null.
    !time.is_null() && (0..SECOND as i64).contains(&unsafe { &*time }.tv_nsec)
}

/// Sleeps until a deadline. Returns `false` if a signal came first.
fn sleep_until(deadline: u64) -> bool {
    baton::acted();
    if deadline == baton::PASSED {
        baton::yielding(step(Kind::Sleep, 0));
        return true;
    }
    let me = baton::me();
    let is_interrupted = baton::timed(step(Kind::Sleep, 0), deadline, &|| signal::is_pending(me));
    if is_interrupted {
        signal::interrupted();
    }
    !is_interrupted
}

/// Stores the remaining time, unless the pointer is null.
fn set_left(left: *mut timespec, deadline: u64) {
    if !left.is_null() {
        let nanoseconds = deadline.saturating_sub(current_time());
        // SAFETY: the caller has space for it.
        unsafe { left.write(spec(nanoseconds)) };
    }
}

fn spec(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND) as time_t, tv_nsec: (nanoseconds % SECOND) as i64 }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    // Clocks of other processes and threads, and all others that not every process has, have other ids.
    if !baton::is_controlled() || !(0..=libc::CLOCK_TAI).contains(&clock) {
        // SAFETY: as the caller promised.
        return unsafe { real::clock_gettime(clock, time) };
    }
    let now = read_clock(clock);
    if !time.is_null() {
        // SAFETY: as the caller promised.
        unsafe { time.write(spec(now)) };
    }
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::gettimeofday(time, zone) };
    }
    let now = spec(read_clock(libc::CLOCK_REALTIME));
    if !time.is_null() {
        // SAFETY: as the caller promised.
        unsafe { time.write(timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 }) };
    }
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn time(time: *mut time_t) -> time_t {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::time(time) };
    }
    let now = (read_clock(libc::CLOCK_REALTIME) / SECOND) as time_t;
    if !time.is_null() {
        // SAFETY: as the caller promised.
        unsafe { time.write(now) };
    }
    now
}

/// C11's name for the time of day.
const TIME_UTC: c_int = 1;

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn timespec_get(time: *mut timespec, base: c_int) -> c_int {
    if !baton::is_controlled() || base != TIME_UTC {
        // SAFETY: as the caller promised.
        return unsafe { real::timespec_get(time, base) };
    }
    // SAFETY: as the caller promised.
    unsafe { time.write(spec(read_clock(libc::CLOCK_REALTIME))) };
    base
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn clock() -> clock_t {
    if !baton::is_controlled() {
        // SAFETY: it takes no arguments.
        return unsafe { real::clock() };
    }
    // There are a million in a second (`CLOCKS_PER_SEC`).
    (read_clock(libc::CLOCK_PROCESS_CPUTIME_ID) / 1000) as clock_t
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::nanosleep(time, left) };
    }
    // SAFETY: as the caller promised.
    let answer = unsafe { clock_nanosleep(libc::CLOCK_MONOTONIC, 0, time, left) };
    if answer == 0 { 0 } else { fail(answer) as c_int }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::clock_nanosleep(clock, flags, time, left) };
    }
    if !is_valid(time) {
        return libc::EINVAL;
    }
    let is_moment = flags & libc::TIMER_ABSTIME != 0;
    // SAFETY: as the caller promised, and it is not null.
    let until = if is_moment { deadline(clock, time) } else { after(unsafe { &*time }) };
    if sleep_until(until) {
        return 0;
    }
    if !is_moment {
        set_left(left, until);
    }
    libc::EINTR
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn usleep(time: useconds_t) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: it takes a number.
        return unsafe { real::usleep(time) };
    }
    if sleep_until(after_nanoseconds(u64::from(time) * 1000)) { 0 } else { fail(libc::EINTR) as c_int }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sleep(time: u32) -> u32 {
    if !baton::is_controlled() {
        // SAFETY: it takes a number.
        return unsafe { real::sleep(time) };
    }
    let until = after_nanoseconds(u64::from(time) * SECOND);
    if sleep_until(until) { 0 } else { until.saturating_sub(current_time()).div_ceil(SECOND) as u32 }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) extern "C-unwind" fn sched_yield() -> c_int {
    if !baton::is_controlled() {
        // SAFETY: it takes no arguments.
        return unsafe { real::sched_yield() };
    }
    baton::yielding(step(Kind::Yield, 0));
    0
}

/// The older name, which old programs call.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C-unwind" fn pthread_yield() -> c_int {
    sched_yield()
}
