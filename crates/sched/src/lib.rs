//! The runtime inside a program under control: ThreadSanitizer's interface, and the functions that threads meet in.
//!
//! A program that was compiled for ThreadSanitizer calls a function before every access to memory and for every atomic
//! operation. This library has those functions, and the ones of the C library with which threads create, lock, wake and
//! wait; it comes before the C library, so the program calls these.
//!
//! Threads are real threads, of which one runs at a time: the one that has the *baton*. Before a visible operation a
//! thread announces it (`baton::visible`) and hands the baton to whom a policy chooses (`decide`), perhaps to itself;
//! it goes on when it is chosen. So every operation is one step, the steps are in one order, and the same decisions give
//! the same execution. What each thread is about to do is known at every moment.
//!
//! Files in reading order: `baton` (who runs), `decide` (who is next), `spin` (who only waits), `channel` (the file that
//! the driver reads), `start` (how control is taken, forking for every execution), `tsan`, `memory` (what happened before
//! what, and which store a load reads if memory is weak), `races` (accesses that nothing orders), `weak` (hands both of them
//! what happens), `interpose` (the functions of the C library), `hooks` (for recorders), `stack`, `heap`, `real`.
//!
//! # What stays true
//!
//! - Nothing in here synchronizes with the standard library or with what is interposed: it would call itself. A thread
//!   waits at a gate of its own, with a system call. For the same reason memory comes from `heap`.
//! - What is shared is touched by the thread that has the baton, and by nobody else. Gates are the exception.
//! - If the variable `OMNILINK_SCHED` is not set, every function does what the C library's does, and an atomic operation
//!   is one.
//! - Nothing of an execution depends on anything but the program, its input, and the decisions.

// A test exports nothing, and a runtime that AddressSanitizer checks less: what only the program calls is called by nobody
// there.
#![cfg_attr(any(test, omnilink_asan), allow(dead_code, reason = "functions of the C library are not exported there"))]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")))]
compile_error!("programs are controlled on x86-64 Linux with the GNU C library only");

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

/// A test uses the one of everybody, because what it calls from other libraries is not ours.
#[cfg_attr(not(test), global_allocator)]
static HEAP: heap::Heap = heap::Heap::new();
