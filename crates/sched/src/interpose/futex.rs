//! System calls that the program makes through `syscall`: futexes above all.

use std::ffi::c_long;

use crate::real;

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    // SAFETY: as the caller promised.
    unsafe { real::syscall(number, a, b, c, d, e, f) }
}

/// Where our function is.
pub(super) fn address() -> usize {
    syscall as *const () as usize
}
