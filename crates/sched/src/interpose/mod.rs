//! The functions of the C library in which threads synchronize, or obtain values that vary between runs.
//!
//! Under control none of them waits in the kernel. Each keeps its state of locks and other objects in a table, by
//! address; the program's objects are left as they are. An object that is not in a table is in its initial state: free,
//! without waiting threads.

mod c11;
mod condvar;
pub(crate) mod exit;
mod futex;
pub(crate) mod gate;
mod mutex;
mod number;
mod once;
pub(crate) mod outside;
mod random;
mod rwlock;
mod semaphore;
pub(crate) mod signal;
pub(crate) mod table;
pub(crate) mod thread;
mod time;
mod timer;
mod waiters;

use std::ffi::{c_int, c_long};

use omnilink_schedule::channel::Settings;
use omnilink_schedule::{Kind, Step};

use crate::baton;

/// A step on an object.
pub(crate) fn step(kind: Kind, address: u64) -> Step {
    Step { kind: kind as u8, address, size: 8, ..Step::default() }
}

/// A step on a word.
fn word_step(kind: Kind, address: u64) -> Step {
    Step { size: 4, ..step(kind, address) }
}

/// As [`baton::is_controlled`], for synchronization. Ends the process with a message if it is called by a thread whose
/// start we did not see, such as one that the C library creates for a timer: it would bypass locks that other threads
/// hold.
#[inline]
fn is_controlled() -> bool {
    let is_controlled = baton::is_controlled();
    if !is_controlled && baton::is_under_control() {
        thread::refuse_if_unknown();
    }
    is_controlled
}

/// Sets `errno` for a function of the C library that failed, and returns its result.
fn fail(error: c_int) -> c_long {
    // SAFETY: every thread has its own.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Calls a function without changing `errno`.
fn errno_kept<R>(what: impl FnOnce() -> R) -> R {
    // No reference to it: the function writes to it too.
    // SAFETY: every thread has its own, for as long as it lives.
    let (errno, before) = unsafe {
        let errno = libc::__errno_location();
        (errno, errno.read())
    };
    let result = what();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}

/// Resets everything, for another execution.
pub(crate) fn begin(settings: &Settings) {
    gate::begin();
    mutex::begin();
    once::begin();
    random::begin(settings);
    rwlock::begin();
    signal::begin();
    thread::begin();
    time::begin();
    waiters::begin();
}
