//! For recorders and debuggers: functions that a program may look for, and call if they are there.

use std::ffi::c_int;

use schedule::{Kind, Step};

use crate::{baton, start};

/// Whether this process is under control.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_is_controlled() -> c_int {
    c_int::from(baton::is_controlled())
}

/// A recorded operation is called. The number of the step, from 1. No access of this thread to memory from here
/// until [`omnilink_sched_settle`] is a step, atomic ones included; locks and the like are.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_call() -> u64 {
    border(Kind::Call)
}

/// A recorded operation returned. The same otherwise.
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
    baton::quiet();
    baton::steps()
}

/// What was called, or returned, is written down.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_settle() {
    if baton::is_controlled() {
        baton::loud();
    }
}

/// Waits until so many threads wait here, and then all go on.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_gate(count: u32) {
    if baton::is_controlled() {
        crate::interpose::gate::wait(count);
    }
}

/// For programs that run something many times: whether it is to be run (again) in this process.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C-unwind" fn omnilink_sched_next() -> c_int {
    c_int::from(start::next())
}

/// Called before the step at which somebody wants to look.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[inline(never)]
pub(crate) extern "C-unwind" fn omnilink_sched_breakpoint() {
    std::hint::black_box(());
}
