//! Time, as the program sees it: it passes with steps, and jumps to the next moment somebody waits for.

use std::ffi::c_int;

use libc::timespec;

use crate::baton;

/// What the clock that tells the time of day says when the program starts, in seconds: a day in November 2023.
const TIME_OF_DAY: u64 = 1_700_000_000;
/// What all others say then.
const UPTIME: u64 = 1_000;
/// Nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// What a clock says, in nanoseconds.
pub(super) fn reading(clock: c_int) -> u64 {
    let is_time_of_day = matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI);
    let base = if is_time_of_day { TIME_OF_DAY } else { UPTIME };
    base * SECOND + baton::now()
}

/// The moment at which a clock says this; never, if there is none.
pub(super) fn deadline(clock: c_int, until: *const timespec) -> u64 {
    if until.is_null() {
        return u64::MAX;
    }
    // SAFETY: the caller hands over a time.
    let until = unsafe { until.read() };
    let until = (until.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(until.tv_nsec.max(0) as u64);
    baton::now().saturating_add(until.saturating_sub(reading(clock))).min(u64::MAX - 1)
}

/// The moment that is so far away.
pub(super) fn after(time: &timespec) -> u64 {
    let nanoseconds = (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec.max(0) as u64);
    baton::now().saturating_add(nanoseconds).min(u64::MAX - 1)
}
