//! Randomness as the program sees it: drawn from the seed of the execution, with a generator for each thread.
//!
//! A thread's draws do not depend on those of other threads, so a draw is not a step and reveals nothing about them.
//! C++'s `random_device` would use the processor's instruction, so it is here too. Code that reads a device, or has the
//! processor's instruction inline, gets other values in every run. `rand` and `random` have one generator for all
//! threads: they are the C library's, and the audit reports them.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};

use omnilink_schedule::THREADS;
use omnilink_schedule::channel::Settings;

use super::fail;
use crate::decide::Random;
use crate::{baton, real};

/// The generators, by thread number.
struct Sources(UnsafeCell<[Random; THREADS]>);

// SAFETY: only the thread that has the baton accesses them.
unsafe impl Sync for Sources {}

static SOURCES: Sources = Sources(UnsafeCell::new([const { Random(0) }; THREADS]));

/// Separates these generators from the one that decides.
const SEED_OFFSET: u64 = 0x6f6d_6e69_6c69_6e6b;

/// Resets the generators.
pub(super) fn begin(settings: &Settings) {
    let mut seeds = Random(settings.seed ^ SEED_OFFSET);
    // SAFETY: this thread has the baton.
    let sources = unsafe { &mut *SOURCES.0.get() };
    sources.fill_with(|| Random(seeds.next()));
}

fn next() -> u64 {
    // SAFETY: this thread has the baton, and nothing is called while it is borrowed.
    unsafe { (&mut *SOURCES.0.get())[baton::me()].next() }
}

/// # Safety
///
/// There must be space for that many bytes.
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

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn arc4random() -> u32 {
    // SAFETY: it takes no arguments.
    if baton::is_controlled() { next() as u32 } else { unsafe { real::arc4random() } }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn arc4random_buf(buffer: *mut c_void, length: usize) {
    // SAFETY: as the caller promised.
    unsafe {
        if baton::is_controlled() {
            fill(buffer, length);
        } else {
            real::arc4random_buf(buffer, length);
        }
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn arc4random_uniform(limit: u32) -> u32 {
    if !baton::is_controlled() {
        // SAFETY: it takes a number.
        return unsafe { real::arc4random_uniform(limit) };
    }
    (((next() >> 32) * u64::from(limit)) >> 32) as u32
}

/// `std::random_device::_M_getval`, which is in the C++ library.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_snake_case, reason = "a symbol of the C++ library")]
unsafe extern "C-unwind" fn _ZNSt13random_device9_M_getvalEv(device: *mut c_void) -> u32 {
    // SAFETY: as the caller promised.
    if baton::is_controlled() { next() as u32 } else { unsafe { real::_ZNSt13random_device9_M_getvalEv(device) } }
}
