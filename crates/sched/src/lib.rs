//! The runtime inside a program under control: ThreadSanitizer's interface, and the C library's synchronization
//! functions.
//!
//! A program compiled for ThreadSanitizer calls a function before every memory access and for every atomic operation.
//! This library defines those functions, and the C library's functions to create, lock, wake and wait. It precedes the
//! C library in symbol lookup, so the program calls these.
//!
//! Threads are real threads, of which one runs at a time: the one that has the *baton*. Before a visible operation a
//! thread announces it (`baton::visible`) and passes the baton to the thread a policy chooses (`decide`), perhaps
//! itself; it continues when it is chosen. So every operation is one step, the steps are totally ordered, and the same
//! decisions give the same execution. The next step of each thread is always known.
//!
//! Files in reading order: `baton` (which thread runs), `decide` (which thread is next), `spin` (which threads only
//! wait), `channel` (the file that the driver reads), `start` (takes control, and forks for every execution), `tsan`,
//! `memory` (happens-before, and which store a load reads under weak memory), `races` (unordered accesses), `weak`
//! (feeds both of them), `interpose` (the functions of the C library), `hooks` (for recorders), `stack`, `heap`,
//! `real`.
//!
//! # Invariants
//!
//! - No code here uses the standard library's or the interposed synchronization: it would call itself. A thread waits
//!   at its own gate, with a system call. For the same reason memory comes from `heap`.
//! - Shared state is accessed only by the thread that has the baton. Gates are the exception.
//! - If the variable `OMNILINK_SCHED` is not set, every function does what the C library's does, and atomic operations
//!   are plain atomic operations.
//! - An execution depends only on the program, its input, and the decisions.
//!
//! `omnilink-explore` builds it as a shared library, with the feature `runtime`, and embeds that.

#![cfg(any(test, feature = "runtime"))]
// Tests export nothing, and a runtime checked by AddressSanitizer exports less: functions called only by the program
// are unused there.
#![cfg_attr(any(test, omnilink_asan), allow(dead_code, reason = "functions of the C library are not exported there"))]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
compile_error!("unsupported platform: programs can be controlled only on x86-64 Linux with the GNU C library");

mod baton;
mod channel;
mod decide;
mod heap;
mod hooks;
mod interpose;
mod memory;
mod races;
mod real;
mod spin;
mod stack;
mod start;
mod tsan;
mod weak;

/// Tests use the default allocator, because they allocate through other libraries.
#[cfg_attr(not(test), global_allocator)]
static HEAP: heap::Heap = heap::Heap::new();
