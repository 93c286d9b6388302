//! The functions of the C library in which threads meet, or learn something that is not the same every time.
//!
//! Under control none of them calls the kernel to wait. Each keeps what it has to know about locks and the like in a table
//! of its own, by address; what stands in the program's objects is left as it is. An object that is not in a table is as
//! it was made: free, nobody waiting.

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

use schedule::channel::Settings;
use schedule::{Kind, Step};

use crate::baton;

/// A step about an object.
pub(crate) fn step(kind: Kind, address: u64) -> Step {
    Step { kind: kind as u8, address, size: 8, ..Step::default() }
}

/// A step about a word.
fn word_step(kind: Kind, address: u64) -> Step {
    Step { size: 4, ..step(kind, address) }
}

/// As [`baton::is_controlled`], for what threads meet in. Ends the process, with a message, if a thread asks that we did not
/// see begin, such as one that the C library creates for a timer: it would pass by locks that others have.
#[inline]
fn is_controlled() -> bool {
    let is_controlled = baton::is_controlled();
    if !is_controlled && baton::is_under_control() {
        thread::refuse_if_unknown();
    }
    is_controlled
}

/// Says why a function of the C library failed, and returns what it returns then.
fn fail(error: c_int) -> c_long {
    // SAFETY: every thread has its own.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Asks something without a trace in `errno`.
fn errno_kept<R>(what: impl FnOnce() -> R) -> R {
    // No reference to it: what is asked writes to it too.
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

/// Forgets everything, for another execution.
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
