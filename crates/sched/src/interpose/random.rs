//! Randomness, as the program sees it: drawn from the seed of the execution, by a generator of its own.
//!
//! What the program draws is the same whatever the schedule is, if its threads draw in the same order. `rand` and `random`
//! are the same in every run anyway. The devices and the processor's instruction are not interposed: what is read from
//! there differs from run to run.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};

use schedule::channel::Settings;

use super::fail;
use crate::decide::Random;
use crate::{baton, real};

/// The generator.
struct Source(UnsafeCell<Random>);

// SAFETY: only the thread that has the baton touches it.
unsafe impl Sync for Source {}

static SOURCE: Source = Source(UnsafeCell::new(Random(0)));

/// Set apart from the generator that decides.
const APART: u64 = 0x6f6d_6e69_6c69_6e6b;

/// Begins anew.
pub(super) fn begin(settings: &Settings) {
    // SAFETY: this thread has the baton.
    unsafe { *SOURCE.0.get() = Random(settings.seed ^ APART) };
}

fn next() -> u64 {
    // SAFETY: this thread has the baton, and nothing is called while it is borrowed.
    unsafe { (*SOURCE.0.get()).next() }
}

/// # Safety
///
/// There must be room for so many bytes.
unsafe fn fill(buffer: *mut c_void, length: usize) {
    // SAFETY: as the caller promised.
    let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length) };
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&next().to_le_bytes()[..chunk.len()]);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn getrandom(buffer: *mut c_void, length: usize, flags: u32) -> isize {
    if baton::is_controlled() {
        // SAFETY: as the caller promised.
        unsafe { fill(buffer, length) };
        return length as isize;
    }
    // SAFETY: as the caller promised.
    unsafe { real::getrandom(buffer, length, flags) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn getentropy(buffer: *mut c_void, length: usize) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::getentropy(buffer, length) };
    }
    if length > 256 {
        return fail(libc::EIO) as c_int;
    }
    // SAFETY: as the caller promised.
    unsafe { fill(buffer, length) };
    0
}
