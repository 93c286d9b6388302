//! Writes traces from inside a running Rust program.
//!
//! A [`Recorder`] is a directory; a [`Process`] is one file in it, to which one thread at a time records its
//! operations. A call is written when it begins and again when it returns, so a call that panics, hangs or is killed
//! is in the trace as an unfinished operation. Nothing has to be flushed: records are stored into a mapped file, and
//! the kernel keeps them however the process ends: by a panic, `exit`, `abort`, a fault or `SIGKILL`.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::sync::Mutex;
//!
//! use omnilink_record::{Action, Recorder};
//!
//! static ENQUEUE: Action = Action::new("Enqueue", &["elem"], &[]);
//! static DEQUEUE: Action = Action::new("Dequeue", &[], &["elem"]);
//! static DEQUEUE_EMPTY: Action = Action::new("DequeueEmpty", &[], &[]);
//!
//! # fn main() -> std::io::Result<()> {
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().join("trace");
//! let recorder = Recorder::create(&directory)?;
//! let queue = Mutex::new(VecDeque::new());
//! std::thread::scope(|scope| {
//!     for thread in 0..2 {
//!         let mut process = recorder.process(&thread.to_string()).expect("a segment can be created");
//!         let queue = &queue;
//!         scope.spawn(move || {
//!             let call = process.call(&ENQUEUE, (thread,));
//!             queue.lock().unwrap().push_back(thread);
//!             call.done(());
//!
//!             let call = process.call(&DEQUEUE, ());
//!             let elem = queue.lock().unwrap().pop_front();
//!             match elem {
//!                 Some(elem) => call.done((elem,)),
//!                 None => call.done_as(&DEQUEUE_EMPTY, (), ()),
//!             }
//!         });
//!     }
//! });
//! # Ok(())
//! # }
//! ```
//!
//! An operation costs some tens of nanoseconds, most of them for reading the clock twice with the fences that order
//! the readings; there is no lock, no allocation and no system call, except when a file grows.
//!
//! [`drive`] runs a system on several threads with inputs from a seed. With the feature `derive`, an enum lists the
//! possible outcomes of a call; see [`Operation`]. [`object`](mod@object) lists the calls of an object and makes them
//! on demand, so that a driver decides what to try; with `derive`, an attribute lists them from signatures.
//!
//! In a program under control, where a runtime chooses the thread of each step, times are the numbers of steps, and
//! nothing the recorder does is a step. [`drive::repeat`] lets such a program run many times in one process.
//!
//! # Limits
//!
//! Unix only: files are mapped. A forked child must not continue to record a process of its parent: both would write
//! to the same file. On Linux the child does not inherit the mapping, and ends with a fault. Create a recorder after
//! the fork, in its own directory.
//!
//! If a file cannot grow, because the disk is full or the file was deleted, the call that needs room panics; records
//! written before stay, and can be read. On file systems without `fallocate` a full disk is noticed too late for
//! that, and ends the program with SIGBUS.
//!
//! If a trace was deleted while it was written, [`Process::close`] returns an error. If processes are only dropped, a
//! line on standard error says so, once for each recorder.

#![cfg(unix)]

mod clock;
mod control;
pub mod drive;
mod encode;
pub mod object;
mod operation;
mod recorder;
mod script;
mod segment;

pub use crate::clock::{Clock, CounterClock, ManualClock};
pub use crate::encode::{Encode, Encoded, Encoder, Values};
pub use crate::operation::{Begun, Call, Operation, Outcome};
pub use crate::recorder::{Action, Pending, Process, Recorder};
#[cfg(feature = "derive")]
pub use omnilink_macros::{object, Operation};
