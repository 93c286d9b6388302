//! The interface between a program under control and the runtime.
//!
//! A runtime that decides at every step which thread runs exports functions of these names. They are looked up at run
//! time, so that nothing has to be linked: where there are none, the program is not under control. Under control time
//! is the number of a step. Recording is not part of the system, so from the step that is an operation's call or
//! return until [`Hooks::settle`], nothing the thread does is a step.

use std::ffi::CStr;
use std::mem;
use std::os::raw::{c_int, c_void};

/// The functions of the runtime.
///
/// None of them unwinds, so they need not be `C-unwind`, which our oldest Rust does not support: the runtime calls no
/// signal handlers of the program in these steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    call: unsafe extern "C" fn() -> u64,
    settle: unsafe extern "C" fn(),
    back: unsafe extern "C" fn() -> u64,
    gate: unsafe extern "C" fn(u32),
    next: unsafe extern "C" fn() -> c_int,
    /// An older runtime has none.
    suppress: Option<unsafe extern "C" fn()>,
}

impl Hooks {
    /// The functions, if this program is under control.
    pub(crate) fn find() -> Option<Hooks> {
        let is_controlled = symbol(b"omnilink_sched_is_controlled\0")?;
        // SAFETY: the runtime exports functions of these names with these types; the names are its own.
        unsafe {
            let is_controlled = mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(is_controlled);
            if is_controlled() != 1 {
                return None;
            }
            Some(Hooks {
                call: mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u64>(symbol(b"omnilink_sched_call\0")?),
                settle: mem::transmute::<*mut c_void, unsafe extern "C" fn()>(symbol(b"omnilink_sched_settle\0")?),
                back: mem::transmute::<*mut c_void, unsafe extern "C" fn() -> u64>(symbol(b"omnilink_sched_return\0")?),
                gate: mem::transmute::<*mut c_void, unsafe extern "C" fn(u32)>(symbol(b"omnilink_sched_gate\0")?),
                next: mem::transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(symbol(b"omnilink_sched_next\0")?),
                suppress: symbol(b"omnilink_sched_suppress\0")
                    .map(|found| mem::transmute::<*mut c_void, unsafe extern "C" fn()>(found)),
            })
        }
    }

    /// The step that is the call of an operation.
    pub(crate) fn call(&self) -> u64 {
        // SAFETY: as for all hooks, the runtime requires only the right types, and stays loaded.
        unsafe { (self.call)() }
    }

    /// Ends recording: later steps belong to the system again.
    pub(crate) fn settle(&self) {
        // SAFETY: as in `call`.
        unsafe { (self.settle)() }
    }

    /// Does something that is no part of the system: no memory access of it is a step.
    pub(crate) fn apart<R>(&self, work: impl FnOnce() -> R) -> R {
        if let Some(suppress) = self.suppress {
            // SAFETY: as in `call`.
            unsafe { suppress() };
            let result = work();
            self.settle();
            return result;
        }
        work()
    }

    /// The step that is the return of an operation.
    pub(crate) fn back(&self) -> u64 {
        // SAFETY: as in `call`.
        unsafe { (self.back)() }
    }

    /// Waits until this many threads wait here.
    pub(crate) fn gate(&self, threads: usize) {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        // SAFETY: as in `call`.
        unsafe { (self.gate)(threads) }
    }

    /// True if another execution should run in this process.
    pub(crate) fn next(&self) -> bool {
        // SAFETY: as in `call`.
        unsafe { (self.next)() == 1 }
    }
}

/// The symbol of this name in the program or one of its libraries.
fn symbol(name: &'static [u8]) -> Option<*mut c_void> {
    let name = CStr::from_bytes_with_nul(name).expect("every name ends with a zero");
    // SAFETY: the name is a C string.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// A runtime that lets every thread run and logs its calls.
#[cfg(test)]
pub(crate) mod fake {
    use std::cell::{Cell, RefCell};

    use super::*;

    thread_local! {
        static STEP: Cell<u64> = const { Cell::new(0) };
        static LOG: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn hooks() -> Hooks {
        Hooks { call, settle, back, gate, next, suppress: None }
    }

    /// The calls that this thread has made.
    pub(crate) fn logged() -> String {
        LOG.with(|log| log.take().join(" "))
    }

    fn log(what: &'static str) -> u64 {
        LOG.with(|log| log.borrow_mut().push(what));
        STEP.with(|step| step.replace(step.get() + 1) + 1)
    }

    extern "C" fn call() -> u64 {
        log("call")
    }

    extern "C" fn settle() {
        log("settle");
    }

    extern "C" fn back() -> u64 {
        log("return")
    }

    extern "C" fn gate(_: u32) {
        log("gate");
    }

    extern "C" fn next() -> c_int {
        log("next");
        0
    }
}
