//! Functions for recorders and debuggers, which a program may look up and call if present.

use std::ffi::c_int;

use omnilink_schedule::{Kind, Step};

use crate::{baton, start};

/// Whether this process is under control.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_is_controlled() -> c_int {
    c_int::from(baton::is_controlled())
}

/// A recorded operation is called. Returns the number of the step, from 1. No memory access of this thread from here
/// until [`omnilink_sched_settle`] is a step, not even an atomic one; locks and similar calls are.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_call() -> u64 {
    border(Kind::Call)
}

/// A recorded operation returned. Otherwise the same.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_return() -> u64 {
    border(Kind::Return)
}

fn border(kind: Kind) -> u64 {
    if !baton::is_controlled() {
        return 0;
    }
    baton::acted();
    baton::visible(Step { kind: kind as u8, ..Step::default() });
    baton::suppress_steps();
    baton::steps()
}

/// The thread does something that is no part of the system: no memory access from here until [`omnilink_sched_settle`] is
/// a step. Nothing is a step by this call.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_suppress() {
    if baton::is_controlled() {
        baton::suppress_steps();
    }
}

/// The call or return has been recorded.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_settle() {
    if baton::is_controlled() {
        baton::resume_steps();
    }
}

/// Waits until this many threads wait here, then releases all of them.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_gate(count: u32) {
    if baton::is_controlled() {
        crate::interpose::gate::wait(count);
    }
}

/// For programs that run many executions: whether to run (again) in this process.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_next() -> c_int {
    c_int::from(start::next())
}

/// Called before the step at which a debugger stops.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[inline(never)]
pub(crate) extern "C-unwind" fn omnilink_sched_breakpoint() {
    std::hint::black_box(());
}
