//! Threads: start, end and join.
//!
//! A thread ends for us when its destructors have run; they are the program's code. This is detected with a key of
//! ours, whose destructor requests another call until the last round. After that the C library frees the thread's
//! memory, so the next thread waits until the kernel reports that the previous one is gone: memory is allocated in the
//! same order every time. All threads are really joinable, also those that the program detaches.
//!
//! A program that cancels threads is unsupported and ended with a message; so is one in which a thread whose start we
//! did not see locks, wakes or waits.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{clockid_t, pthread_attr_t, pthread_key_t, pthread_t, timespec};
use omnilink_schedule::channel::Standing;
use omnilink_schedule::{Kind, THREADS, thread_object};

use super::time::deadline;
use super::{errno_kept, is_controlled, signal, step, timer};
use crate::real::Routine;
use crate::stack::fail;
use crate::{baton, real, weak};

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, detached: *mut c_int) -> c_int;
}

/// The work of a new thread. It is on the stack of the creating thread, which waits until it was read.
struct Work {
    routine: Routine,
    argument: *mut c_void,
    thread: usize,
    is_read: AtomicU32,
}

/// The key whose destructor is called when a thread ends, plus one; 0 if there is none.
static KEY: AtomicU32 = AtomicU32::new(0);

/// How often destructors are called (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const ROUNDS: usize = 4;

/// Creates the key. Called before there is a second thread.
pub(crate) fn create_key() {
    let mut key: pthread_key_t = 0;
    // SAFETY: a key, and a function that is called with a thread's value.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(ended)) } == 0 {
        KEY.store(key + 1, Ordering::Relaxed);
        // The first thread ends like any other if `main` calls `pthread_exit`.
        set_round(1);
    }
}

/// Resets: the calling thread is the first.
pub(super) fn begin() {
    baton::slot(0).task.store(task(), Ordering::Relaxed);
}

fn set_round(round: usize) {
    // SAFETY: the key was created; the value is a number and not an address.
    unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed) - 1, round as *const c_void) };
}

/// The last step of a thread may call a signal handler. A handler that calls `pthread_exit` here would do so in a
/// destructor of an ending thread, which POSIX leaves undefined: so nothing unwinds through this frame, and `extern
/// "C"` is enough.
unsafe extern "C" fn ended(round: *mut c_void) {
    if (round as usize) < ROUNDS {
        set_round(round as usize + 1);
    } else if baton::is_controlled() {
        HAS_LEFT.set(true);
        baton::leave();
    }
}

thread_local! {
    /// Whether this thread was one of ours. The C library still frees memory in it.
    static HAS_LEFT: Cell<bool> = const { Cell::new(false) };
}

/// Ends the process if this thread never was one of ours and the program has reached `main`, unless it is inside this
/// library.
#[cold]
pub(super) fn refuse_if_unknown() {
    if baton::me() >= THREADS && !HAS_LEFT.get() && crate::start::is_in_main() {
        fail(&[
            "unsupported: a thread not created by `pthread_create` uses a lock or futex, such as one that the C ",
            "library creates for background work",
        ]);
    }
}

/// The kernel's id of this thread.
fn task() -> libc::pid_t {
    // SAFETY: it takes no arguments.
    unsafe { real::syscall(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) as libc::pid_t }
}

/// Waits until a thread that has left is really gone.
pub(crate) fn wait_for_end(thread: usize) {
    let slot = baton::slot(thread);
    if slot.is_detached.get() {
        // SAFETY: the thread is ours, really joinable, and about to end; no other thread joins it.
        unsafe { real::pthread_join(slot.handle.get(), std::ptr::null_mut()) };
        return;
    }
    // The first thread lives as long as the process.
    let is_there = || {
        let (process, task) = (i64::from(std::process::id()), i64::from(slot.task.load(Ordering::Relaxed)));
        // SAFETY: no signal is sent; this only checks whether one could be.
        thread != 0 && errno_kept(|| unsafe { real::syscall(libc::SYS_tgkill, process, task, 0, 0, 0, 0) }) == 0
    };
    while is_there() {
        // SAFETY: it takes no arguments.
        unsafe { real::sched_yield() };
    }
}

extern "C-unwind" fn run(work: *mut c_void) -> *mut c_void {
    let work = work.cast::<Work>().cast_const();
    // SAFETY: the creating thread keeps it until the gate is open.
    let (routine, argument, thread) = unsafe { ((*work).routine, (*work).argument, (*work).thread) };
    // The creating thread waits, so it is as if this one had the baton.
    baton::slot(thread).task.store(task(), Ordering::Relaxed);
    // SAFETY: as above.
    unsafe { baton::open_once(&raw const (*work).is_read) };
    baton::enter(thread);
    forget_stack();
    set_round(1);
    routine(argument)
}

/// Forgets the accesses of an ended thread to the stack and the variables that this one reuses.
fn forget_stack() {
    if !baton::is_ordering() {
        return;
    }
    let (mut start, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: attributes of this thread, which are filled, read, and destroyed.
    baton::without_control(|| unsafe {
        let mut attributes: pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) == 0 {
            libc::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
            libc::pthread_attr_destroy(&raw mut attributes);
        }
    });
    weak::forget(start as u64, size as u64);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    if !is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_create(thread, attributes, routine, argument) };
    }
    baton::acted();
    baton::visible(step(Kind::Create, thread_object(baton::next_thread() as u8)));
    let number = baton::create();
    // Another thread may have created one in between.
    baton::set_step_object(thread_object(number as u8));
    signal::inherit(number);
    let mut detached = libc::PTHREAD_CREATE_JOINABLE;
    // The caller's attributes may be shared by threads, so a copy is changed. It lives no longer than this call, and is
    // not destroyed: what it points to is the caller's.
    // SAFETY: the caller passes attributes, or null.
    let mut own = (!attributes.is_null()).then(|| unsafe { attributes.read() });
    if let Some(own) = &mut own {
        // SAFETY: they are attributes.
        unsafe {
            pthread_attr_getdetachstate(own, &raw mut detached);
            libc::pthread_attr_setdetachstate(own, libc::PTHREAD_CREATE_JOINABLE);
        }
    }
    let attributes = own.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let slot = baton::slot(number);
    // The C library's actions here may be steps of this thread, if the program's allocator has locks. The new thread
    // cannot be chosen before it exists.
    slot.standing.set(Standing::Absent);
    let work = Work { routine, argument, thread: number, is_read: AtomicU32::new(0) };
    // SAFETY: the work lives until it was read, which is waited for.
    let answer = unsafe { real::pthread_create(thread, attributes, run, (&raw const work).cast_mut().cast()) };
    if answer != 0 {
        slot.standing.set(Standing::Ended);
        slot.is_joined.set(true);
        return answer;
    }
    baton::pass(&work.is_read);
    slot.standing.set(Standing::Alive);
    // SAFETY: it was written when the thread was created.
    slot.handle.set(unsafe { thread.read() });
    slot.is_detached.set(detached == libc::PTHREAD_CREATE_DETACHED);
    0
}

/// The thread with this handle.
pub(super) fn find(handle: pthread_t) -> Option<usize> {
    baton::threads().find(|&thread| {
        let slot = baton::slot(thread);
        slot.handle.get() == handle && !slot.is_joined.get() && slot.standing.get() != Standing::Absent
    })
}

/// The same, if there is control.
fn controlled(handle: pthread_t) -> Option<usize> {
    is_controlled().then(|| find(handle)).flatten()
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_join(handle: pthread_t, result: *mut *mut c_void) -> c_int {
    let Some(thread) = controlled(handle) else {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_join(handle, result) };
    };
    // SAFETY: as the caller promised.
    unsafe { join(thread, result, baton::NEVER) }
}

/// Waits until a thread has ended, or until a deadline.
///
/// # Safety
///
/// There must be space for the result, unless it is null.
unsafe fn join(thread: usize, result: *mut *mut c_void, deadline: u64) -> c_int {
    let slot = baton::slot(thread);
    if thread == baton::me() {
        return libc::EDEADLK;
    }
    baton::acted();
    let about = step(Kind::Join, thread_object(thread as u8));
    if !timer::timed(about, deadline, &|| slot.standing.get() == Standing::Ended) {
        return libc::ETIMEDOUT;
    }
    slot.is_joined.set(true);
    // SAFETY: as the caller promised. The thread has ended except for the C library's last actions.
    unsafe { real::pthread_join(slot.handle.get(), result) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_tryjoin_np(handle: pthread_t, result: *mut *mut c_void) -> c_int {
    let Some(thread) = controlled(handle) else {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_tryjoin_np(handle, result) };
    };
    let slot = baton::slot(thread);
    let object = thread_object(thread as u8);
    baton::visible(step(Kind::TryJoin, object));
    if slot.standing.get() != Standing::Ended {
        baton::made(0, false);
        baton::record_idle_read(0, object, 0);
        return libc::EBUSY;
    }
    slot.is_joined.set(true);
    // SAFETY: as the caller promised.
    unsafe { real::pthread_join(handle, result) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_timedjoin_np(
    handle: pthread_t,
    result: *mut *mut c_void,
    until: *const timespec,
) -> c_int {
    let Some(thread) = controlled(handle) else {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_timedjoin_np(handle, result, until) };
    };
    // SAFETY: as the caller promised.
    unsafe { join(thread, result, deadline(libc::CLOCK_REALTIME, until)) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_clockjoin_np(
    handle: pthread_t,
    result: *mut *mut c_void,
    clock: clockid_t,
    until: *const timespec,
) -> c_int {
    let Some(thread) = controlled(handle) else {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_clockjoin_np(handle, result, clock, until) };
    };
    // SAFETY: as the caller promised.
    unsafe { join(thread, result, deadline(clock, until)) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_cancel(handle: pthread_t) -> c_int {
    if baton::is_controlled() {
        fail(&["unsupported: the program cancels a thread (`pthread_cancel`), which may end it between steps"]);
    }
    // SAFETY: as the caller promised.
    unsafe { real::pthread_cancel(handle) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn pthread_detach(handle: pthread_t) -> c_int {
    let Some(thread) = controlled(handle) else {
        // SAFETY: as the caller promised.
        return unsafe { real::pthread_detach(handle) };
    };
    let slot = baton::slot(thread);
    slot.is_detached.set(true);
    if slot.standing.get() == Standing::Ended {
        slot.is_joined.set(true);
        // SAFETY: it has ended, and no other thread joins it.
        return unsafe { real::pthread_join(handle, std::ptr::null_mut()) };
    }
    0
}
