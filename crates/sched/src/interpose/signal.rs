//! Signals: handlers run between steps.
//!
//! A handler may run the program's code anywhere, even inside this library, or in a thread that does not have the
//! baton. So the kernel calls a function of ours that only marks the signal, and the program's handler is called when
//! the thread announces its next step. A signal for the whole process goes to the next thread that announces a step and
//! does not block it.
//!
//! A signal from one thread to another, or to itself, never reaches the kernel if the program handles it: the mark is
//! set directly, so it is the same every time. A signal from outside (a timer, another process) arrives at an
//! unpredictable time, and the outcome says so.
//!
//! A signal interrupts a thread that sleeps, waits for input, at a futex or for a semaphore. It does not interrupt one
//! that waits for a lock, a condition variable or another thread: that calls the handler after its wait. (The C library
//! calls it earlier, and then continues to wait.) If the wait needs the handler to end, it is a deadlock.
//!
//! Signals that a thread causes itself (a bad address, say) are delivered at once, and so is every signal that the
//! program does not handle.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use libc::{pid_t, pthread_t, sighandler_t, siginfo_t, sigset_t, timespec};
use omnilink_schedule::channel::{ExecutionOutcome, Standing, WHERE};
use omnilink_schedule::{Kind, THREADS, thread_object};

use super::{errno_kept, fail, number, step, thread, time};
use crate::channel::CHANNEL;
use crate::{baton, real};

/// Signals are numbered from 1 to this.
const SIGNALS: usize = 64;

/// The program's actions, by signal number. Changed by the thread that has the baton, and read by a signal handler in
/// any thread at any time. So a stored action is never changed or freed: programs set few.
static ACTIONS: [AtomicPtr<libc::sigaction>; SIGNALS + 1] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; SIGNALS + 1];

/// Whether any signal may be marked.
static IS_ANY_MARKED: AtomicBool = AtomicBool::new(false);
/// Whether a signal came from outside.
static CAME_FROM_OUTSIDE: AtomicBool = AtomicBool::new(false);
/// Marks for the next thread.
static FOR_ALL: AtomicU64 = AtomicU64::new(0);
/// The signals that each thread blocks.
static BLOCKED: [AtomicU64; THREADS] = [const { AtomicU64::new(0) }; THREADS];

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// The program's action for a signal, if it is deferred.
fn action(signal: c_int) -> Option<libc::sigaction> {
    let index = usize::try_from(signal).ok().filter(|index| (1..=SIGNALS).contains(index))?;
    let action = ACTIONS[index].load(Ordering::Acquire);
    // SAFETY: it is null, or an action that never changes.
    (!action.is_null()).then(|| unsafe { action.read() })
}

/// Sets the program's action for a valid signal.
fn set_action(signal: c_int, action: Option<libc::sigaction>) {
    let action = action.map_or(std::ptr::null_mut(), |action| Box::into_raw(Box::new(action)));
    ACTIONS[signal as usize].store(action, Ordering::Release);
}

/// Whether a thread causes it itself, or it cannot be handled.
fn goes_through(signal: c_int) -> bool {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSTOP, SIGSYS, SIGTRAP};
    let is_signal = (1..=SIGNALS as c_int).contains(&signal);
    !is_signal || matches!(signal, SIGSEGV | SIGBUS | SIGFPE | SIGILL | SIGTRAP | SIGABRT | SIGSYS | SIGKILL | SIGSTOP)
}

/// Resets: nothing is marked.
pub(super) fn begin() {
    FOR_ALL.store(0, Ordering::Relaxed);
    IS_ANY_MARKED.store(false, Ordering::Relaxed);
    // SAFETY: an empty set; it only queries what is blocked.
    let now = unsafe {
        let mut now: sigset_t = std::mem::zeroed();
        real::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut now);
        word(&now)
    };
    BLOCKED[0].store(now, Ordering::Relaxed);
}

/// A new thread inherits its creator's mask.
pub(super) fn inherit(child: usize) {
    BLOCKED[child].store(BLOCKED[baton::me()].load(Ordering::Relaxed), Ordering::Relaxed);
}

/// A set as bits.
fn word(set: &sigset_t) -> u64 {
    // SAFETY: a set is longer, and begins with the existing signals.
    unsafe { (&raw const *set).cast::<u64>().read() }
}

/// The marks of a thread whose handlers may be called.
fn due(thread: usize) -> u64 {
    let marked = baton::slot(thread).signals.load(Ordering::Relaxed) | FOR_ALL.load(Ordering::Relaxed);
    marked & !BLOCKED[thread].load(Ordering::Relaxed)
}

/// Whether a handler is to be called in a thread.
pub(super) fn is_pending(thread: usize) -> bool {
    IS_ANY_MARKED.load(Ordering::Relaxed) && due(thread) != 0
}

/// Calls the handlers in a thread that waited, before it returns with `EINTR`.
pub(super) fn interrupted() -> c_int {
    deliver();
    libc::EINTR
}

/// Calls the handlers of marked signals.
#[inline]
pub(crate) fn deliver() {
    if IS_ANY_MARKED.load(Ordering::Relaxed) {
        deliver_marked();
    }
}

#[cold]
fn deliver_marked() {
    if !baton::is_watched() {
        return;
    }
    let me = baton::me();
    if CAME_FROM_OUTSIDE.swap(false, Ordering::Relaxed) {
        CHANNEL.add_flags(ExecutionOutcome::SIGNALLED);
    }
    while due(me) != 0 {
        let signal = due(me).trailing_zeros() as c_int + 1;
        unmark(me, signal);
        call(signal);
    }
    IS_ANY_MARKED.store(false, Ordering::SeqCst);
    let is_marked = |thread: usize| baton::slot(thread).signals.load(Ordering::SeqCst) != 0;
    if FOR_ALL.load(Ordering::SeqCst) != 0 || baton::threads().any(is_marked) {
        IS_ANY_MARKED.store(true, Ordering::SeqCst);
    }
}

/// Clears a mark, the thread's own first.
fn unmark(thread: usize, signal: c_int) {
    let before = baton::slot(thread).signals.fetch_and(!bit(signal), Ordering::SeqCst);
    if before & bit(signal) == 0 {
        FOR_ALL.fetch_and(!bit(signal), Ordering::SeqCst);
    }
}

fn mark(marks: &AtomicU64, signal: c_int) {
    marks.fetch_or(bit(signal), Ordering::SeqCst);
    IS_ANY_MARKED.store(true, Ordering::SeqCst);
}

/// Calls the program's handler in this thread.
fn call(signal: c_int) {
    let Some(action) = action(signal) else { return };
    if action.sa_flags & libc::SA_RESETHAND != 0 {
        // SAFETY: resets the signal to its default action.
        unsafe { self::signal(signal, libc::SIG_DFL) };
    }
    let me = baton::me();
    let mut blocked = word(&action.sa_mask);
    if action.sa_flags & libc::SA_NODEFER == 0 {
        blocked |= bit(signal);
    }
    let before = BLOCKED[me].fetch_or(blocked, Ordering::Relaxed);
    baton::acted();
    errno_kept(|| call_handler(&action, signal, None));
    BLOCKED[me].store(before, Ordering::Relaxed);
}

/// Calls a handler, with the kernel's arguments, or with what they would be.
fn call_handler(action: &libc::sigaction, signal: c_int, said: Option<(*mut siginfo_t, *mut c_void)>) {
    // SAFETY: the program declares which of two types its handler has. Zeros are valid for both structures.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO == 0 {
            let handler: extern "C-unwind" fn(c_int) = std::mem::transmute(action.sa_sigaction);
            return handler(signal);
        }
        let handler: extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void) =
            std::mem::transmute(action.sa_sigaction);
        let mut info: siginfo_t = std::mem::zeroed();
        let mut context: libc::ucontext_t = std::mem::zeroed();
        info.si_signo = signal;
        let (info, context) = said.unwrap_or((&raw mut info, (&raw mut context).cast()));
        handler(signal, info, context);
    }
}

/// The handler that the kernel calls.
extern "C-unwind" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(action) = action(signal) else { return };
    if !baton::is_under_control() {
        return call_handler(&action, signal, Some((info, context)));
    }
    CAME_FROM_OUTSIDE.store(true, Ordering::Relaxed);
    let me = baton::me();
    // SAFETY: the kernel passes it.
    let is_for_me = me < THREADS && unsafe { (*info).si_code } == SI_TKILL;
    mark(if is_for_me { &baton::slot(me).signals } else { &FOR_ALL }, signal);
}

/// The code of a signal that was sent to a thread.
const SI_TKILL: c_int = -6;

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    if !baton::is_controlled() || goes_through(signal) {
        // SAFETY: as the caller promised.
        return unsafe { real::sigaction(signal, new, old) };
    }
    let before = action(signal);
    // SAFETY: the caller passes an action, or null.
    let wanted = (!new.is_null()).then(|| unsafe { new.read() });
    let is_handled = wanted.is_some_and(|wanted| !matches!(wanted.sa_sigaction, libc::SIG_DFL | libc::SIG_IGN));
    let mut ours = wanted;
    if let Some(ours) = ours.as_mut().filter(|_| is_handled) {
        ours.sa_sigaction = on_signal as *const () as sighandler_t;
        ours.sa_flags = (ours.sa_flags | libc::SA_SIGINFO | libc::SA_RESTART) & !libc::SA_RESETHAND;
    }
    let new = ours.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    if wanted.is_some() {
        // Stored before the kernel knows it.
        set_action(signal, wanted.filter(|_| is_handled));
    }
    // SAFETY: as the caller promised; our handler takes the kernel's arguments.
    let answer = unsafe { real::sigaction(signal, new, old) };
    if let Some(before) = before.filter(|_| answer == 0 && !old.is_null()) {
        // SAFETY: the caller has space for it.
        unsafe { old.write(before) };
    }
    answer
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: zeros are a valid action, which is completed.
    unsafe {
        let (mut new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        new.sa_sigaction = handler;
        new.sa_flags = libc::SA_RESTART;
        if sigaction(signal, &raw const new, &raw mut old) == 0 { old.sa_sigaction } else { libc::SIG_ERR }
    }
}

/// Sends a signal that the program handles to one of its threads. `None` if it does not handle it, or there is no such
/// thread.
fn send(target: Option<usize>, signal: c_int) -> Option<c_int> {
    let target = target.filter(|_| baton::is_controlled() && action(signal).is_some())?;
    if target != baton::me() {
        baton::visible(step(Kind::Wake, thread_object(target as u8)));
    }
    mark(&baton::slot(target).signals, signal);
    // A thread's signal to itself arrives before this returns.
    deliver();
    Some(0)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn raise(signal: c_int) -> c_int {
    // SAFETY: it takes a number.
    send(Some(baton::me()), signal).unwrap_or_else(|| unsafe { real::raise(signal) })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_kill(handle: pthread_t, signal: c_int) -> c_int {
    let target = baton::is_controlled().then(|| thread::find(handle)).flatten();
    // SAFETY: as the caller promised.
    send(target, signal).unwrap_or_else(|| unsafe { real::pthread_kill(handle, signal) })
}

/// Sends to a thread by the program's id. `None` if it is not one of its threads, or the signal is not handled.
pub(super) fn to_thread(thread: pid_t, signal: c_int) -> Option<c_int> {
    send(number::thread_of(thread), signal)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub(super) unsafe extern "C-unwind" fn kill(process: pid_t, signal: c_int) -> c_int {
    // The kernel accepts a thread's id for its process.
    let is_thread = baton::is_controlled() && number::thread_of(process).is_some();
    let is_own = is_thread || u32::try_from(process).is_ok_and(|process| process == std::process::id());
    if !baton::is_controlled() || !is_own || action(signal).is_none() {
        // SAFETY: it takes numbers.
        return unsafe { real::kill(number::task(process), signal) };
    }
    mark(&FOR_ALL, signal);
    deliver();
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: as the caller promised.
    let answer = unsafe { real::pthread_sigmask(how, set, old) };
    if answer == 0 && !set.is_null() && baton::is_controlled() {
        // SAFETY: the caller passes a set.
        let bits = word(unsafe { &*set });
        let blocked = &BLOCKED[baton::me()];
        match how {
            libc::SIG_BLOCK => blocked.fetch_or(bits, Ordering::Relaxed),
            libc::SIG_UNBLOCK => blocked.fetch_and(!bits, Ordering::Relaxed),
            _ => blocked.swap(bits, Ordering::Relaxed),
        };
        deliver();
    }
    answer
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: as the caller promised.
    let answer = unsafe { pthread_sigmask(how, set, old) };
    if answer == 0 { 0 } else { fail(answer) as c_int }
}

/// Waits until a handler was called.
fn suspend() -> c_int {
    let me = baton::me();
    baton::acted();
    baton::outside(step(Kind::Outside, 0), baton::NEVER, &|| is_pending(me));
    fail(interrupted()) as c_int
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn pause() -> c_int {
    // SAFETY: it takes no arguments.
    if baton::is_controlled() { suspend() } else { unsafe { real::pause() } }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sigsuspend(set: *const sigset_t) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::sigsuspend(set) };
    }
    // SAFETY: as the caller promised; the previous mask is restored. Handlers are called in between, and not by setting
    // the mask.
    unsafe {
        let mut before: sigset_t = std::mem::zeroed();
        real::pthread_sigmask(libc::SIG_SETMASK, set, &raw mut before);
        let blocked = BLOCKED[baton::me()].swap(word(&*set), Ordering::Relaxed);
        let answer = suspend();
        BLOCKED[baton::me()].store(blocked, Ordering::Relaxed);
        real::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        answer
    }
}

/// Waits for one of these signals, or until a deadline. Returns the signal, or -1.
fn wait_for(set: &sigset_t, info: *mut siginfo_t, deadline: u64) -> c_int {
    let (me, wanted) = (baton::me(), word(set));
    let ours = || (baton::slot(me).signals.load(Ordering::Relaxed) | FOR_ALL.load(Ordering::Relaxed)) & wanted;
    // SAFETY: a set that is filled.
    let theirs = || unsafe {
        let mut pending: sigset_t = std::mem::zeroed();
        errno_kept(|| real::sigpending(&raw mut pending));
        word(&pending) & wanted
    };
    baton::acted();
    if !baton::outside(step(Kind::Outside, 0), deadline, &|| ours() != 0 || theirs() != 0) {
        return fail(libc::EAGAIN) as c_int;
    }
    if ours() == 0 {
        let at_once = timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: as the caller promised.
        return unsafe { real::sigtimedwait(set, info, &raw const at_once) };
    }
    let signal = ours().trailing_zeros() as c_int + 1;
    unmark(me, signal);
    if !info.is_null() {
        // SAFETY: the caller has space for it, and zeros are valid.
        unsafe {
            info.write(std::mem::zeroed());
            (*info).si_signo = signal;
        }
    }
    signal
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int {
    if !baton::is_controlled() {
        // SAFETY: as the caller promised.
        return unsafe { real::sigtimedwait(set, info, limit) };
    }
    // SAFETY: as the caller promised.
    unsafe {
        let deadline = if limit.is_null() { baton::NEVER } else { time::after(&*limit) };
        wait_for(&*set, info, deadline)
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { sigtimedwait(set, info, std::ptr::null()) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
    // SAFETY: as the caller promised.
    unsafe {
        match sigtimedwait(set, std::ptr::null_mut(), std::ptr::null()) {
            -1 => *libc::__errno_location(),
            found => {
                signal.write(found);
                0
            }
        }
    }
}

/// Resets `SIGCHLD` to the default action. Returns the previous action.
pub(crate) fn reset_child_signal() -> libc::sigaction {
    // SAFETY: zeros are the default action.
    unsafe {
        let (new, mut old): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
        real::sigaction(libc::SIGCHLD, &raw const new, &raw mut old);
        old
    }
}

/// Restores a previous action.
pub(crate) fn restore(signal: c_int, action: &libc::sigaction) {
    // SAFETY: it was in force before.
    unsafe { real::sigaction(signal, action, std::ptr::null_mut()) };
}

/// Installs handlers that record the crash location.
pub(crate) fn install_crash_handlers() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // SAFETY: an action that calls our function once, and then the default action.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
            real::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// The number of threads asked for their stacks, and the number that have answered.
static ASKED: AtomicU32 = AtomicU32::new(0);
static ANSWERED: AtomicU32 = AtomicU32::new(0);

/// Installs the handler for the driver's signal [`WHERE`], upon which every thread records its stack, because the
/// execution does not end.
pub(crate) fn install_stack_handler() {
    // SAFETY: an action that calls our function.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_stack_request as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        real::sigaction(WHERE, &raw const action, std::ptr::null_mut());
    }
}

/// The kernel delivers the driver's signal to one thread, which asks the others. The running thread records the next
/// steps of all threads, because only it may read them. It was interrupted anywhere, so an entry that it was changing
/// may be wrong; the driver ends the process after this.
extern "C" fn on_stack_request(_: c_int) {
    let me = baton::me();
    if !baton::is_under_control() || !crate::start::is_in_main() {
        return;
    }
    errno_kept(|| {
        let is_alive =
            |thread: &usize| matches!(baton::slot(*thread).standing.get(), Standing::Alive | Standing::Spinning);
        let alive = || baton::threads().filter(is_alive);
        if ASKED.compare_exchange(0, alive().count() as u32, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            for thread in alive().filter(|&thread| thread != me) {
                let task = i64::from(baton::slot(thread).task.load(Ordering::Relaxed));
                let process = i64::from(std::process::id());
                // SAFETY: a signal to a thread of this process.
                unsafe { real::kernel(libc::SYS_tgkill, [process, task, i64::from(WHERE), 0, 0, 0]) };
            }
            if me >= THREADS {
                return;
            }
        }
        if me < THREADS {
            if me == baton::current() {
                baton::record_pending();
            }
            crate::stack::record_stack(me);
            if ANSWERED.fetch_add(1, Ordering::SeqCst) + 1 == ASKED.load(Ordering::SeqCst) {
                CHANNEL.add_flags(ExecutionOutcome::ANSWERED_WHERE);
                // The driver may ask again.
                ANSWERED.store(0, Ordering::SeqCst);
                ASKED.store(0, Ordering::SeqCst);
            }
        }
    });
}

/// The signal that a thread crashed by.
static CRASH: AtomicI32 = AtomicI32::new(0);
/// How long recording a crash location may take, in seconds. The crash may have broken anything.
const PATIENCE: i64 = 2;

extern "C" fn crashed(signal: c_int) {
    CRASH.store(signal, Ordering::Relaxed);
    // SAFETY: an action that ends the process after a while, whatever this thread does; the program's own alarms no
    // longer matter.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = end_by_crash_signal as *const () as usize;
        real::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
        let mut alarm: sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        real::pthread_sigmask(libc::SIG_UNBLOCK, &raw const alarm, std::ptr::null_mut());
        real::syscall(libc::SYS_alarm, PATIENCE, 0, 0, 0, 0, 0);
    }
    crate::start::crashed(signal);
    // SAFETY: the default action happens when this returns.
    unsafe { real::raise(signal) };
}

/// Ends the process by the signal that a thread crashed by, with what was recorded so far.
extern "C" fn end_by_crash_signal(_: c_int) {
    // SAFETY: the kernel takes the default action, because it has already called our function once.
    unsafe { real::raise(CRASH.load(Ordering::Relaxed)) };
}
