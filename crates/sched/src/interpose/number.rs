//! Thread ids as the program sees them: the same every time.
//!
//! The kernel knows other ids. So every function that takes one is here: it passes the kernel's id for one of our
//! threads, and any other id unchanged.

use std::ffi::{c_int, c_long};
use std::sync::atomic::Ordering;

use libc::{cpu_set_t, id_t, pid_t, sched_param, timespec};

use super::signal;
use crate::{baton, real};

/// Threads are numbered from here: the last ids that the kernel would assign.
const FIRST: pid_t = 4_194_200;

/// The id that the program sees.
pub(super) fn number(thread: usize) -> pid_t {
    FIRST + thread as pid_t
}

/// The thread with that id.
pub(super) fn thread_of(number: pid_t) -> Option<usize> {
    baton::threads().find(|&thread| self::number(thread) == number)
}

/// The kernel's id.
pub(super) fn task(number: pid_t) -> pid_t {
    let thread = if baton::is_controlled() { thread_of(number) } else { None };
    thread.map_or(number, |thread| baton::slot(thread).task.load(Ordering::Relaxed))
}

/// The arguments of a system call, with the kernel's ids.
pub(super) fn translated(call: c_long, mut a: c_long, mut b: c_long) -> (c_long, c_long) {
    let is_first = matches!(
        call,
        libc::SYS_tkill
            | libc::SYS_kill
            | libc::SYS_sched_getaffinity
            | libc::SYS_sched_setaffinity
            | libc::SYS_sched_getscheduler
            | libc::SYS_sched_setscheduler
            | libc::SYS_sched_getparam
            | libc::SYS_sched_setparam
            | libc::SYS_sched_getattr
            | libc::SYS_sched_setattr
            | libc::SYS_sched_rr_get_interval
    );
    let is_second = matches!(call, libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo)
        || matches!(call, libc::SYS_getpriority | libc::SYS_setpriority) && a == c_long::from(libc::PRIO_PROCESS);
    let to_kernel = |number: c_long| pid_t::try_from(number).map_or(number, |number| task(number).into());
    if is_first {
        a = to_kernel(a);
    } else if is_second {
        b = to_kernel(b);
    }
    (a, b)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn gettid() -> pid_t {
    if baton::is_controlled() {
        return number(baton::me());
    }
    // SAFETY: it takes no arguments.
    unsafe { real::gettid() }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn tgkill(process: pid_t, thread: pid_t, signal: c_int) -> c_int {
    // SAFETY: it takes numbers.
    signal::to_thread(thread, signal).unwrap_or_else(|| unsafe { real::tgkill(process, task(thread), signal) })
}

/// Functions whose first argument is a thread id.
macro_rules! about_threads {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern "C-unwind" fn $name(thread: pid_t $(, $argument: $type)*) -> c_int {
                // SAFETY: as the caller promised.
                unsafe { real::$name(task(thread) $(, $argument)*) }
            }
        )*
    };
}

about_threads! {
    sched_getaffinity(size: usize, set: *mut cpu_set_t);
    sched_setaffinity(size: usize, set: *const cpu_set_t);
    sched_getscheduler();
    sched_setscheduler(policy: c_int, parameters: *const sched_param);
    sched_getparam(parameters: *mut sched_param);
    sched_setparam(parameters: *const sched_param);
    sched_rr_get_interval(interval: *mut timespec);
}

/// The kernel's id for a priority call.
fn owner(which: u32, who: id_t) -> id_t {
    if which == libc::PRIO_PROCESS { task(who as pid_t) as id_t } else { who }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn getpriority(which: u32, who: id_t) -> c_int {
    // SAFETY: it takes numbers.
    unsafe { real::getpriority(which, owner(which, who)) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn setpriority(which: u32, who: id_t, priority: c_int) -> c_int {
    // SAFETY: it takes numbers.
    unsafe { real::setpriority(which, owner(which, who), priority) }
}
