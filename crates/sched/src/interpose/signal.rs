//! Signals: handlers run between steps.

/// Calls the handlers of signals that came.
pub(crate) fn deliver() {}

/// Whether a handler is to be called in a thread.
pub(super) fn is_pending(_thread: usize) -> bool {
    false
}

/// Has it written down where a thread was when it crashed.
pub(crate) fn catch_crashes() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
        // SAFETY: an action that calls our function once, and then does what the kernel does.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

extern "C" fn crashed(signal: libc::c_int) {
    crate::start::crashed(signal);
    // SAFETY: what the signal does by itself happens when this returns.
    unsafe { libc::raise(signal) };
}
