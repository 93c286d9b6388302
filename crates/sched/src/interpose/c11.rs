//! C11's names for threads, mutexes and condition variables: each does what its POSIX counterpart does.
//!
//! The C library's own versions call each other internally, where they cannot be intercepted, so these are needed.

use std::ffi::{c_int, c_void};

use libc::{pthread_cond_t, pthread_mutex_t, pthread_once_t, pthread_t, timespec};

use super::{condvar, mutex, once, thread, time};
use crate::real::Routine;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

/// The C11 result for a POSIX one.
fn translated(answer: c_int) -> c_int {
    match answer {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ENOMEM => NO_MEMORY,
        libc::ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn thrd_create(handle: *mut pthread_t, routine: Routine, argument: *mut c_void) -> c_int {
    // The routine returns a number where a thread's returns an address: the lower half of the same register.
    // SAFETY: as the caller promised.
    translated(unsafe { thread::pthread_create(handle, std::ptr::null(), routine, argument) })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn thrd_join(handle: pthread_t, result: *mut c_int) -> c_int {
    let mut found = std::ptr::null_mut();
    // SAFETY: as the caller promised.
    let answer = unsafe { thread::pthread_join(handle, &raw mut found) };
    if answer == 0 && !result.is_null() {
        // SAFETY: as the caller promised.
        unsafe { result.write(found as usize as c_int) };
    }
    translated(answer)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int {
    // SAFETY: as the caller promised.
    match unsafe { time::clock_nanosleep(libc::CLOCK_REALTIME, 0, time, left) } {
        0 => 0,
        libc::EINTR => -1,
        _ => -2,
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C-unwind" fn thrd_yield() {
    time::sched_yield();
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn call_once(flag: *mut pthread_once_t, routine: extern "C-unwind" fn()) {
    // SAFETY: as the caller promised.
    unsafe { once::pthread_once(flag, routine) };
}

/// Functions that do what another one does, with other result codes.
macro_rules! same {
    ($($name:ident($($argument:ident: $type:ty),*) => $other:path;)*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name($($argument: $type),*) -> c_int {
                // SAFETY: as the caller promised.
                translated(unsafe { $other($($argument),*) })
            }
        )*
    };
}

same! {
    thrd_detach(handle: pthread_t) => thread::pthread_detach;
    mtx_lock(lock: *mut pthread_mutex_t) => mutex::pthread_mutex_lock;
    mtx_trylock(lock: *mut pthread_mutex_t) => mutex::pthread_mutex_trylock;
    mtx_timedlock(lock: *mut pthread_mutex_t, until: *const timespec) => mutex::pthread_mutex_timedlock;
    mtx_unlock(lock: *mut pthread_mutex_t) => mutex::pthread_mutex_unlock;
    cnd_wait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t) => condvar::pthread_cond_wait;
    cnd_timedwait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t, until: *const timespec) =>
        condvar::pthread_cond_timedwait;
    cnd_signal(condition: *mut pthread_cond_t) => condvar::pthread_cond_signal;
    cnd_broadcast(condition: *mut pthread_cond_t) => condvar::pthread_cond_broadcast;
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn mtx_destroy(lock: *mut pthread_mutex_t) {
    // SAFETY: as the caller promised.
    unsafe { mutex::pthread_mutex_destroy(lock) };
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn cnd_init(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: as the caller promised.
    translated(unsafe { condvar::pthread_cond_init(condition, std::ptr::null()) })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn cnd_destroy(condition: *mut pthread_cond_t) {
    // SAFETY: as the caller promised.
    unsafe { condvar::pthread_cond_destroy(condition) };
}
