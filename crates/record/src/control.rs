//! What a program under control says to whoever controls it.
//!
//! A runtime that decides which thread goes on, at every step, exports functions of these names. They are looked for when
//! they are needed, so that nothing has to be linked: where there are none, nobody controls the program. Under control
//! time is the number of a step. Recording is no part of the system, so from the step that is an operation's call or
//! return until [`Hooks::settle`], nothing that the thread does is a step.

use std::ffi::CStr;
use std::mem;
use std::os::raw::{c_int, c_void};

/// The functions of the runtime.
///
/// None of them unwinds, so they need not be `C-unwind`, which our oldest Rust does not know: the runtime calls no signal
/// handlers of the program in these steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hooks {
    call: unsafe extern "C" fn() -> u64,
    settle: unsafe extern "C" fn(),
    back: unsafe extern "C" fn() -> u64,
    gate: unsafe extern "C" fn(u32),
    next: unsafe extern "C" fn() -> c_int,
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
            })
        }
    }

    /// The step that is the call of an operation.
    pub(crate) fn call(&self) -> u64 {
        // SAFETY: as for all of them, the runtime asks for nothing but its types, and stays loaded.
        unsafe { (self.call)() }
    }

    /// What follows is the system again.
    pub(crate) fn settle(&self) {
        // SAFETY: as in `call`.
        unsafe { (self.settle)() }
    }

    /// The step that is the return of an operation.
    pub(crate) fn back(&self) -> u64 {
        // SAFETY: as in `call`.
        unsafe { (self.back)() }
    }

    /// Waits until so many threads wait here.
    pub(crate) fn gate(&self, threads: usize) {
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        // SAFETY: as in `call`.
        unsafe { (self.gate)(threads) }
    }

    /// True if there is one more execution to be run in this process.
    pub(crate) fn next(&self) -> bool {
        // SAFETY: as in `call`.
        unsafe { (self.next)() == 1 }
    }
}

/// What has this name in the program or one of its libraries.
fn symbol(name: &'static [u8]) -> Option<*mut c_void> {
    let name = CStr::from_bytes_with_nul(name).expect("every name ends with a zero");
    // SAFETY: the name is a string of C.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// A runtime that lets everybody go on and writes down what it was told.
#[cfg(test)]
pub(crate) mod fake {
    use std::cell::{Cell, RefCell};

    use super::*;

    thread_local! {
        static STEP: Cell<u64> = const { Cell::new(0) };
        static TOLD: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }

    pub(crate) fn hooks() -> Hooks {
        Hooks { call, settle, back, gate, next }
    }

    /// What this thread has told.
    pub(crate) fn told() -> String {
        TOLD.with(|told| told.take().join(" "))
    }

    fn tell(what: &'static str) -> u64 {
        TOLD.with(|told| told.borrow_mut().push(what));
        STEP.with(|step| step.replace(step.get() + 1) + 1)
    }

    extern "C" fn call() -> u64 {
        tell("call")
    }

    extern "C" fn settle() {
        tell("settle");
    }

    extern "C" fn back() -> u64 {
        tell("return")
    }

    extern "C" fn gate(_: u32) {
        tell("gate");
    }

    extern "C" fn next() -> c_int {
        tell("next");
        0
    }
}
