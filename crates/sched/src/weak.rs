//! Feeds [`Memory`] and [`Races`] with a program's operations, if memory is weak or races are looked for.
//!
//! If memory is not weak, a load always reads the last store, and [`Memory`] only tracks happens-before.
//!
//! Atomic operations come from `tsan`, which performs them in memory and asks here what they read. All other
//! synchronization is known from steps: every step on a lock, a semaphore, a thread or a wait queue is announced, so
//! `baton` passes all of them on, and interposed functions need not care. Releasing operations release when the step is
//! announced, because the thread does nothing in between; acquiring operations acquire after the step.
//!
//! A thread that waits, wakes, or was woken runs uninstrumented library code, such as the slow path of a lock, which
//! acquires and releases unobserved. So such a step acquires everything done before, and any later acquire also
//! acquires what the waiting and waking threads did.
//!
//! The same holds for reading from and writing to a pipe, and for calls of Rust programs into a standard library that is
//! not instrumented ([`omnilink_enter_std`]). Such a library may take other steps, too: it reads a clock in the middle of a
//! wait, for example, after which it takes a lock unobserved.
//!
//! A location's history must end with its object, or a later object at the same address would have values it never had.
//! Objects are initialized by plain writes, which end histories; so does freeing memory.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use omnilink_schedule::{Choice, Kind, MemoryOrder, Step, thread_object};

use crate::channel::CHANNEL;
use crate::memory::Memory;
use crate::races::{Access, Races};
use crate::{baton, real, stack};

/// The memory of this execution.
struct Shared(UnsafeCell<(Memory, Races, Sharing)>);

/// The threads that hold locks in shared mode, with the addresses of the locks.
type Sharing = Vec<(usize, u64)>;

// SAFETY: only the thread that has the baton accesses it.
unsafe impl Sync for Shared {}

static MEMORY: Shared = Shared(UnsafeCell::new((Memory::new(), Races::new(), Vec::new())));

/// Accesses the memory.
fn with<R>(what: impl FnOnce(&mut Memory) -> R) -> R {
    with_races(|memory, _| what(memory))
}

fn with_races<R>(what: impl FnOnce(&mut Memory, &mut Races) -> R) -> R {
    // SAFETY: one thread has the baton, and nothing in `Memory` and `Races` calls back here.
    let (memory, races, _) = unsafe { &mut *MEMORY.0.get() };
    what(memory, races)
}

fn with_sharing<R>(what: impl FnOnce(&mut Sharing) -> R) -> R {
    // SAFETY: as above.
    let (_, _, sharing) = unsafe { &mut *MEMORY.0.get() };
    what(sharing)
}

/// Starts an execution.
pub(crate) fn begin() {
    with_races(|memory, races| {
        memory.clear();
        memory.is_fresh = baton::is_fresh();
        races.clear();
    });
    with_sharing(|sharing| *sharing = Vec::new());
}

/// The object that a shared lock is released to: only exclusive locks acquire it. No program has such addresses.
fn shared(address: u64) -> u64 {
    address | 1 << 63
}

/// Whether a thread held a lock in shared mode, which it no longer does.
fn stop_sharing(thread: usize, address: u64) -> bool {
    with_sharing(|sharing| {
        let held = sharing.iter().position(|held| *held == (thread, address));
        held.map(|held| sharing.swap_remove(held)).is_some()
    })
}

/// A thread announced a step.
pub(crate) fn announced(step: &Step) {
    use Kind::*;
    match step.kind() {
        Some(Unlock | Post | Gate) => {
            let me = baton::me();
            // Threads that share a lock are not ordered by it.
            let object = if stop_sharing(me, step.address) { shared(step.address) } else { step.address };
            with(|memory| memory.synchronize_release(me, object));
        }
        Some(Wait | Wake | Outside) => with(|memory| memory.release_to_all(baton::me())),
        Some(kind) if may_be_of_std(kind) => with(|memory| memory.release_to_all(baton::me())),
        _ => {}
    }
}

/// Whether there is a standard library that is not instrumented: its functions were called.
static HAS_UNSEEN_STD: AtomicBool = AtomicBool::new(false);

/// Whether a step may be one in the middle of a function that acquires and releases unobserved.
fn may_be_of_std(kind: Kind) -> bool {
    matches!(kind, Kind::Yield | Kind::Sleep | Kind::Clock | Kind::Deadline | Kind::TryJoin)
        && HAS_UNSEEN_STD.load(Ordering::Relaxed)
}

/// A thread may take the step that it announced.
pub(crate) fn chosen(step: &Step) {
    use Kind::*;
    let me = baton::me();
    match step.kind() {
        Some(Lock | TryLock) => {
            stop_sharing(me, step.address);
            with(|memory| {
                memory.synchronize_acquire(me, step.address);
                memory.synchronize_acquire(me, shared(step.address));
            });
        }
        Some(Share | TryShare) => {
            with_sharing(|sharing| sharing.push((me, step.address)));
            with(|memory| memory.synchronize_acquire(me, step.address));
        }
        Some(Take | TryTake | Gate) => with(|memory| memory.synchronize_acquire(me, step.address)),
        Some(Wait | Wake | Woken | Outside) => with(|memory| memory.acquire_from_all(me)),
        Some(kind) if may_be_of_std(kind) => with(|memory| memory.acquire_from_all(me)),
        Some(Return) => with(|memory| memory.operation_returned(me)),
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

/// An atomic load. Returns what it reads, and whether that is the last store: `current` is the value in memory.
pub(crate) fn load(address: u64, size: usize, order: c_int, current: u128) -> (u128, bool) {
    let (me, size, order) = (baton::me(), size as u8, MemoryOrder::from_number(order as u8));
    let choice = match baton::is_weak() {
        true => baton::choose(Choice::Read, with(|memory| memory.readable(me, address, size, order, current))),
        false => 0,
    };
    (with(|memory| memory.load(me, address, size, order, choice, current)), choice == 0)
}

/// A failed compare-exchange. Usually the slow path of a lock follows, in uninstrumented code; so it acquires if it
/// would have acquired on success.
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

/// An atomic read-modify-write.
pub(crate) fn update(address: u64, size: usize, order: c_int, value: u128, previous: u128) {
    let order = MemoryOrder::from_number(order as u8);
    with(|memory| memory.update(baton::me(), address, size as u8, order, value, previous));
}

/// A fence.
pub(crate) fn fence(order: MemoryOrder) {
    with(|memory| memory.fence(baton::me(), order));
}

/// An unsynchronized write.
pub(crate) fn overwritten(address: u64, length: usize) {
    with(|memory| memory.forget(address, length as u64));
}

/// A memory access. Records the first race of the execution, after which no more are looked for, and the stacks of the
/// accesses that the driver watches.
pub(crate) fn accessed(address: u64, size: usize, place: u64, writes: bool, is_atomic: bool) {
    compare(address, size as u64, Access { writes, is_atomic, ..Access::writing(place) });
}

/// Compares an access of this thread with earlier ones.
fn compare(address: u64, size: u64, access: Access) {
    let me = baton::me();
    let (access, earlier) = with_races(|memory, races| {
        let (time, number) = (memory.access(me), races.count());
        let access = Access { thread: me as u8, time, number, ..access };
        let is_known = |earlier: &Access| baton::is_known_race(earlier.place, access.place);
        let is_ordered =
            |earlier: &Access| memory.happened_before(earlier.thread.into(), earlier.time, me) || is_known(earlier);
        let earlier = match access.frees {
            true => races.free(access, address, size, is_ordered),
            false => races.access(access, address, size as usize, is_ordered),
        };
        (access, earlier.filter(|earlier| !is_known(earlier)))
    });
    if let Some(which) = CHANNEL.settings().watch.iter().position(|&watched| watched == access.number) {
        CHANNEL.set_race_stack(which, stack::frames());
    }
    if let Some(earlier) = earlier {
        CHANNEL.set_race([earlier, access]);
        baton::stop_looking_for_races();
    }
}

/// Called by the stubs that programs of Rust have for the functions of a standard library that is not instrumented: with the
/// function in `r11`, and everything else as the function takes it.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C-unwind" fn omnilink_enter_std() {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "push r10",
        "push r11",
        "sub rsp, 128",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "call {}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop r11",
        "pop r10",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp r11",
        sym entered,
    )
}

/// This thread calls a function that may acquire and release unobserved. No other thread runs until it returns or takes
/// a step, so what it releases was done before.
extern "C" fn entered() {
    HAS_UNSEEN_STD.store(true, Ordering::Relaxed);
    if baton::is_ordering() && baton::is_controlled() {
        let me = baton::me();
        with(|memory| {
            memory.release_to_all(me);
            memory.acquire_from_all(me);
        });
    }
}

/// Memory is returned to the allocator, which may give it to another thread. False if it has been returned before.
fn freed(start: *mut c_void, place: u64) -> bool {
    if start.is_null() || !baton::is_ordering() || !baton::is_controlled() {
        return true;
    }
    let address = start as u64;
    if with_races(|_, races| races.is_freed(address)) {
        if baton::looks_for_races() {
            compare(address, 1, Access::freeing(place));
        }
        return false;
    }
    // SAFETY: it was allocated by the allocator that belongs to this function, and is not freed yet.
    let size = unsafe { libc::malloc_usable_size(start) } as u64;
    match baton::looks_for_races() {
        true => compare(address, size, Access::freeing(place)),
        false => with_races(|_, races| races.forget(address, size)),
    }
    with(|memory| memory.forget(address, size));
    true
}

/// Memory comes from the allocator.
fn allocated(start: *mut c_void) -> *mut c_void {
    if !start.is_null() && baton::is_ordering() && baton::is_controlled() {
        // SAFETY: it was allocated by the allocator that belongs to this function.
        let size = unsafe { libc::malloc_usable_size(start) } as u64;
        with_races(|_, races| races.forget(start as u64, size));
    }
    start
}

/// Memory becomes part of another object.
pub(crate) fn forget(address: u64, size: u64) {
    with_races(|memory, races| {
        memory.forget(address, size);
        races.forget(address, size);
    });
}

thread_local! {
    /// Whether this thread is in the allocator: looking up a function of it may itself allocate and free memory.
    static ALLOCATES: Cell<bool> = const { Cell::new(false) };
}

/// Calls the allocator. `otherwise` is the answer during the lookup of one of its functions.
fn allocator<R>(otherwise: R, call: impl FnOnce() -> R) -> R {
    if ALLOCATES.replace(true) {
        return otherwise;
    }
    let result = call();
    ALLOCATES.set(false);
    result
}

// AddressSanitizer frees memory while it sets up checked code, so this cannot be checked code.
#[cfg_attr(not(any(test, omnilink_asan)), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C-unwind" fn free(start: *mut c_void) {
    std::arch::naked_asm!("mov rsi, [rsp]", "jmp {}", sym free_at)
}

unsafe extern "C-unwind" fn free_at(start: *mut c_void, place: u64) {
    if !ALLOCATES.get() && freed(start, place) {
        // Memory freed during the lookup of `free` leaks: a few bytes, once.
        // SAFETY: as the caller promised.
        allocator((), || unsafe { real::free(start) });
    }
}

#[cfg_attr(not(any(test, omnilink_asan)), unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C-unwind" fn realloc(start: *mut c_void, size: usize) -> *mut c_void {
    std::arch::naked_asm!("mov rdx, [rsp]", "jmp {}", sym realloc_at)
}

unsafe extern "C-unwind" fn realloc_at(start: *mut c_void, size: usize, place: u64) -> *mut c_void {
    let nothing = std::ptr::null_mut();
    if ALLOCATES.get() || !freed(start, place) {
        return nothing;
    }
    // SAFETY: as the caller promised.
    allocated(allocator(nothing, || unsafe { real::realloc(start, size) }))
}

macro_rules! allocating {
    ($(fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        $(#[cfg_attr(not(any(test, omnilink_asan)), unsafe(no_mangle))]
        unsafe extern "C-unwind" fn $name($($argument: $type),*) -> *mut c_void {
            // SAFETY: as the caller promised.
            allocated(allocator(std::ptr::null_mut(), || unsafe { real::$name($($argument),*) }))
        })*
    };
}

allocating! {
    fn malloc(size: usize);
    fn calloc(count: usize, size: usize);
    fn aligned_alloc(alignment: usize, size: usize);
    fn memalign(alignment: usize, size: usize);
}

#[cfg_attr(not(any(test, omnilink_asan)), unsafe(no_mangle))]
unsafe extern "C-unwind" fn posix_memalign(start: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    // SAFETY: as the caller promised.
    let failed = allocator(libc::ENOMEM, || unsafe { real::posix_memalign(start, alignment, size) });
    if failed == 0 {
        // SAFETY: it was written.
        allocated(unsafe { *start });
    }
    failed
}
