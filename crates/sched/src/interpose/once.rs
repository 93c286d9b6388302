//! `pthread_once`, barriers, and spin locks.
//!
//! Completion of a `pthread_once` is stored where the C library stores it, in the program's own word, so that one
//! completed before control counts. Running initializers are in a table. Barriers have their own table, with the
//! lifetime of the barrier.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use libc::{pthread_barrier_t, pthread_barrierattr_t, pthread_once_t};
use omnilink_schedule::Kind;

use super::table::Table;
use super::{is_controlled, step, timer, word_step};
use crate::{baton, real};

/// The initializers currently running.
static DOING: Table<()> = Table::new();
/// The word's value after completion.
const DONE: c_int = 2;

/// Spin locks that are held.
static SPINS: Table<()> = Table::new();

/// All barriers.
static BARRIERS: Table<Barrier> = Table::new();

#[derive(Clone, Copy)]
struct Barrier {
    count: u32,
    waiting: u32,
    /// Different for every barrier and every round.
    round: u64,
}

static ROUNDS: AtomicU64 = AtomicU64::new(0);

fn next_round() -> u64 {
    ROUNDS.fetch_add(1, Ordering::Relaxed)
}

/// Resets the running initializers.
pub(super) fn begin() {
    DOING.clear();
    SPINS.clear();
}

/// Ends a running initializer, also if it throws an exception.
struct Doing {
    address: u64,
}

impl Drop for Doing {
    fn drop(&mut self) {
        baton::visible(word_step(Kind::Unlock, self.address));
        DOING.set(self.address, None);
        baton::wrote(self.address, true);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_once(
    control: *mut pthread_once_t,
    routine: extern "C-unwind" fn(),
) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_once(control, routine) };
    }
    // SAFETY: the caller passes a word that lives for ever.
    let word = unsafe { AtomicI32::from_ptr(control) };
    let address = control as u64;
    if word.load(Ordering::SeqCst) == DONE {
        baton::visible(word_step(Kind::Load, address));
        return 0;
    }
    baton::acted();
    timer::blocking(word_step(Kind::Lock, address), &|| DOING.get(address).is_none());
    if word.load(Ordering::SeqCst) == DONE {
        return 0;
    }
    DOING.set(address, Some(()));
    let doing = Doing { address };
    routine();
    word.store(DONE, Ordering::SeqCst);
    drop(doing);
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_barrier_init(
    barrier: *mut pthread_barrier_t,
    attributes: *const pthread_barrierattr_t,
    count: u32,
) -> c_int {
    // SAFETY: as the caller promised.
    let answer = unsafe { real::pthread_barrier_init(barrier, attributes, count) };
    if answer == 0 && is_controlled() {
        BARRIERS.set(barrier as u64, Some(Barrier { count, waiting: 0, round: next_round() }));
    }
    answer
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    if is_controlled() {
        BARRIERS.set(barrier as u64, None);
    }
    // SAFETY: as the caller promised. No thread waits in the C library.
    unsafe { real::pthread_barrier_destroy(barrier) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    let address = barrier as u64;
    if !is_controlled() || BARRIERS.get(address).is_none() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_barrier_wait(barrier) };
    }
    baton::acted();
    baton::visible(step(Kind::Wait, address));
    let Some(mut state) = BARRIERS.get(address) else { return libc::EINVAL };
    let mine = state.round;
    state.waiting += 1;
    let is_last = state.waiting == state.count;
    if is_last {
        state = Barrier { waiting: 0, round: next_round(), ..state };
    }
    BARRIERS.set(address, Some(state));
    if is_last {
        return libc::PTHREAD_BARRIER_SERIAL_THREAD;
    }
    // The first thread to continue may destroy it.
    let is_open = || BARRIERS.get(address).is_none_or(|barrier| barrier.round != mine);
    timer::blocking(step(Kind::Woken, address), &is_open);
    0
}

fn is_free(lock: *const c_void) -> bool {
    SPINS.get(lock as u64).is_none()
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_spin_init(lock: *mut c_void, shared: c_int) -> c_int {
    if is_controlled() {
        SPINS.set(lock as u64, None);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_spin_init(lock, shared) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_spin_lock(lock: *mut c_void) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_spin_lock(lock) };
    }
    baton::acted();
    timer::blocking(word_step(Kind::Lock, lock as u64), &|| is_free(lock));
    SPINS.set(lock as u64, Some(()));
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_spin_trylock(lock: *mut c_void) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_spin_trylock(lock) };
    }
    baton::visible(word_step(Kind::TryLock, lock as u64));
    let is_free = is_free(lock);
    baton::made(u64::from(is_free), is_free);
    if !is_free {
        baton::record_idle_read(0, lock as u64, 0);
        return libc::EBUSY;
    }
    baton::acted();
    SPINS.set(lock as u64, Some(()));
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_spin_unlock(lock: *mut c_void) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_spin_unlock(lock) };
    }
    baton::acted();
    baton::visible(word_step(Kind::Unlock, lock as u64));
    SPINS.set(lock as u64, None);
    baton::wrote(lock as u64, true);
    0
}
