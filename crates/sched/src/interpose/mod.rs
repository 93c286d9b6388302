//! The functions of the C library in which threads meet, or learn something that is not the same every time.
//!
//! Under control none of them calls the kernel to wait. Each keeps what it has to know about locks and the like in a table
//! of its own, by address; what stands in the program's objects is left as it is. An object that is not in a table is as
//! it was made: free, nobody waiting.

mod futex;
pub(crate) mod gate;
mod mutex;
pub(crate) mod outside;
pub(crate) mod signal;
pub(crate) mod table;
pub(crate) mod thread;
mod time;

use schedule::channel::Settings;
use schedule::{Kind, Step};

/// A step about an object.
pub(crate) fn step(kind: Kind, address: u64) -> Step {
    Step { kind: kind as u8, address, size: 8, ..Step::default() }
}

/// Forgets everything, for another execution.
pub(crate) fn begin(_settings: &Settings) {
    mutex::begin();
    gate::begin();
}

/// Where our `syscall` is.
pub(crate) fn futex_address() -> usize {
    futex::address()
}
