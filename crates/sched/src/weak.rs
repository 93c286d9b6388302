//! Hands [`Memory`] and [`Races`] what happens in a program under control, if memory is weak or races are looked for.
//!
//! If memory is not weak, a load always reads the last store, and what is left of [`Memory`] is which operation happened
//! before which.
//!
//! Atomic operations of the program come from `tsan`, which does them in memory and asks here what they read. What
//! else synchronizes is known from steps: every step about a lock, a semaphore, a thread or somebody who waits is
//! announced, so `baton` hands all of them over, and functions that are interposed need not care. Those that give
//! something back release when the step is announced, because nothing that the thread does comes between; those that
//! take something acquire when it was made.
//!
//! Who waits, wakes, or was woken runs code of a library that nobody instrumented, such as the slow path of a lock; and
//! that code acquires and releases what we do not see. So whoever does one of these knows everything that was done
//! before, and whoever acquires anything later knows what those did who waited or woke.
//!
//! So does whoever takes something out of a pipe, or puts it in.
//!
//! A history must end with the object that it is about, or one that comes to stand at the same address would have
//! values that it never had. Objects are initialized by plain writes, which end histories; and so does freeing memory.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};

use schedule::{Choice, Kind, MemoryOrder, Step, thread_object};

use crate::channel::CHANNEL;
use crate::memory::Memory;
use crate::races::{Access, Races};
use crate::{baton, real};

/// The memory of this execution.
struct Shared(UnsafeCell<(Memory, Races)>);

// SAFETY: only the thread that has the baton touches it.
unsafe impl Sync for Shared {}

static MEMORY: Shared = Shared(UnsafeCell::new((Memory::new(), Races::new())));

/// Looks at it or changes it.
fn with<R>(what: impl FnOnce(&mut Memory) -> R) -> R {
    with_races(|memory, _| what(memory))
}

fn with_races<R>(what: impl FnOnce(&mut Memory, &mut Races) -> R) -> R {
    // SAFETY: one thread has the baton, and nothing of `Memory` and `Races` comes back here.
    let (memory, races) = unsafe { &mut *MEMORY.0.get() };
    what(memory, races)
}

/// Begins an execution.
pub(crate) fn begin() {
    with_races(|memory, races| {
        memory.clear();
        races.clear();
    });
}

/// A thread is about to make a step.
pub(crate) fn announced(step: &Step) {
    use Kind::*;
    match step.kind() {
        Some(Unlock | Post | Gate) => with(|memory| memory.synchronize_release(baton::me(), step.address)),
        Some(Wait | Wake | Outside) => with(|memory| memory.release_to_all(baton::me())),
        _ => {}
    }
}

/// A thread may make the step that it announced.
pub(crate) fn chosen(step: &Step) {
    use Kind::*;
    let me = baton::me();
    match step.kind() {
        Some(Lock | TryLock | Share | TryShare | Take | TryTake | Gate) => {
            with(|memory| memory.synchronize_acquire(me, step.address));
        }
        Some(Wait | Wake | Woken | Outside) => with(|memory| memory.acquire_from_all(me)),
        Some(Join) => {
            let ended = (step.address - thread_object(0)) / (thread_object(1) - thread_object(0));
            with(|memory| memory.thread_joined(me, ended as usize));
        }
        _ => {}
    }
}

/// This thread has created another.
pub(crate) fn created(thread: usize) {
    with(|memory| memory.thread_created(baton::me(), thread));
}

/// An atomic load. What it reads, and whether that is the last store: `current` is what memory holds.
pub(crate) fn load(address: u64, size: usize, order: c_int, current: u128) -> (u128, bool) {
    let (me, size, order) = (baton::me(), size as u8, MemoryOrder::from_number(order as u8));
    let choice = match baton::is_weak() {
        true => baton::choose(Choice::Read, with(|memory| memory.readable(me, address, size, order, current))),
        false => 0,
    };
    (with(|memory| memory.load(me, address, size, order, choice, current)), choice == 0)
}

/// A compare-exchange that found something else than was expected. What usually follows is the slow path of a lock, in
/// code that nobody instrumented; so it acquires if it would have, had it written.
pub(crate) fn not_exchanged(address: u64, size: usize, order: c_int, failure: c_int, current: u128) {
    let [order, failure] = [order, failure].map(|order| MemoryOrder::from_number(order as u8));
    let is_stronger = order.acquires() && !failure.acquires();
    let order = if is_stronger { MemoryOrder::Acquire } else { failure };
    with(|memory| memory.load(baton::me(), address, size as u8, order, 0, current));
}

/// An atomic store.
pub(crate) fn store(address: u64, size: usize, order: c_int, value: u128, previous: u128) {
    let order = MemoryOrder::from_number(order as u8);
    with(|memory| memory.store(baton::me(), address, size as u8, order, value, previous));
}

/// An atomic operation that has read and written.
pub(crate) fn update(address: u64, size: usize, order: c_int, value: u128, previous: u128) {
    let order = MemoryOrder::from_number(order as u8);
    with(|memory| memory.update(baton::me(), address, size as u8, order, value, previous));
}

/// A fence.
pub(crate) fn fence(order: MemoryOrder) {
    with(|memory| memory.fence(baton::me(), order));
}

/// Memory is written without synchronization.
pub(crate) fn overwritten(address: u64, length: usize) {
    with(|memory| memory.forget(address, length as u64));
}

/// Memory is accessed. Writes down the first race of the execution, after which none is looked for.
pub(crate) fn accessed(address: u64, size: usize, place: u64, writes: bool, is_atomic: bool) {
    let me = baton::me();
    let earlier = with_races(|memory, races| {
        let access = Access { thread: me as u8, writes, is_atomic, place, time: memory.access(me) };
        let knows = |thread: u8, time| memory.happened_before(thread.into(), time, me);
        races.access(access, address, size, knows)
    });
    if let Some(earlier) = earlier {
        CHANNEL.set_race([earlier.place, place], [earlier.writes, writes]);
        baton::stop_looking_for_races();
    }
}

/// Memory is given back to the allocator, which may hand it to another thread.
fn freed(start: *mut c_void) {
    if !start.is_null() && baton::is_ordering() && baton::is_controlled() {
        // SAFETY: it was allocated by the allocator that belongs to this function.
        forget(start as u64, unsafe { libc::malloc_usable_size(start) } as u64);
    }
}

/// Memory becomes that of another object.
pub(crate) fn forget(address: u64, size: u64) {
    with_races(|memory, races| {
        memory.forget(address, size);
        races.forget(address, size);
    });
}

thread_local! {
    /// Whether this thread is in [`free`]: looking up the real one may free something itself.
    static FREES: Cell<bool> = const { Cell::new(false) };
}

// AddressSanitizer frees memory while it prepares what checked code needs, so this cannot be checked code.
#[cfg_attr(not(any(test, omnilink_asan)), unsafe(no_mangle))]
unsafe extern "C-unwind" fn free(start: *mut c_void) {
    if FREES.get() {
        // What is freed while the function that frees is looked up is a few bytes, once.
        return;
    }
    freed(start);
    FREES.set(true);
    // SAFETY: as the caller promised.
    unsafe { real::free(start) };
    FREES.set(false);
}

#[cfg_attr(not(any(test, omnilink_asan)), unsafe(no_mangle))]
unsafe extern "C-unwind" fn realloc(start: *mut c_void, size: usize) -> *mut c_void {
    freed(start);
    // SAFETY: as the caller promised.
    unsafe { real::realloc(start, size) }
}
