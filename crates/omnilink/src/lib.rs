//! Checks whether a specification allows what a concurrent system did, and explains why not.
//!
//! Record what a concurrent program did as operations, each with a time before it began and a time after it ended, and
//! check them against a specification: a TLA+ module, a built-in model, or a [`Spec`] of your own. This crate is what a
//! test depends on.
//!
//! # A test in ten lines
//!
//! [`test`](macro@test) makes a test of a function that performs one operation. It performs many on several threads, and
//! panics with the explanation if no order of them is allowed.
//!
//! ```
//! # extern crate omnilink;
//! use crossbeam_queue::SegQueue;
//! use omnilink::{Action, Client};
//!
//! static PUSH: Action = Action::new("push", &["value"], &[]);
//! static POP: Action = Action::new("pop", &[], &["value"]);
//!
//! #[omnilink::test(spec = "queue")] // Or a module: "specs/Queue.tla".
//! fn it_is_a_queue(queue: &SegQueue<i64>, client: &mut Client) {
//!     if client.draw().below(2) == 0 {
//!         let value = client.draw().fresh();
//!         let call = client.call(&PUSH, (value,));
//!         queue.push(value);
//!         call.done(());
//!     } else {
//!         let call = client.call(&POP, ());
//!         let value = queue.pop();
//!         call.done((value,));
//!     }
//! }
//! # // The attribute has no effect in a documentation test, so the test is called by hand.
//! # omnilink::testing::Test::new("doc", &std::env::temp_dir().to_string_lossy(), "queue").run(SegQueue::new, |queue, client| {
//! #     let call = client.call(&POP, ()); let value: Option<i64> = queue.pop(); call.done((value,));
//! # });
//! ```
//!
//! The attribute may also say `system = Queue::new(4)` if there is no default, `threads = 2..=4`, `operations = 100` and
//! `runs = 64`. Seeds of runs that failed are kept in `omnilink-regressions/`, and tried first; `OMNILINK_SEED` and
//! `OMNILINK_RUNS` are read.
//!
//! # Objects without boilerplate
//!
//! [`object`](macro@object) lists calls from the methods of an `impl` block, and records them: a test is three lines. See
//! [`Describe`](object::Describe) for locks, type parameters, traits and the types of values.
//!
//! ```
//! # extern crate omnilink;
//! use std::collections::VecDeque;
//! use std::sync::Mutex;
//!
//! #[derive(Default)]
//! struct Queue(Mutex<VecDeque<i64>>);
//!
//! #[omnilink::object]
//! impl Queue {
//!     #[calls(200, 400)]
//!     pub fn push(&self, value: i64) {
//!         self.0.lock().unwrap().push_back(value);
//!     }
//!
//!     pub fn pop(&self) -> Option<i64> {
//!         self.0.lock().unwrap().pop_front()
//!     }
//! }
//!
//! #[omnilink::test(spec = "queue", object = Queue::default())]
//! fn it_is_a_queue() {}
//! # // The attribute has no effect in a documentation test, so the test is called by hand.
//! # omnilink::testing::Test::new("object", &std::env::temp_dir().to_string_lossy(), "queue").run_object(Queue::default);
//! ```
//!
//! [`object::main`] makes a program of the same description, as `omnilink fuzz` and `omnilink lineup` run it.
//!
//! Without any specification, an object is compared with itself: what its calls answer concurrently must be possible
//! serially. Under `cargo test` threads run freely; the command `omnilink lineup` explores their
//! schedules. See [`mod@lineup`].
//!
//! ```
//! # struct Counter(std::sync::atomic::AtomicU64);
//! #[omnilink::object]
//! impl Counter {
//!     pub fn next(&self) -> u64 {
//!         self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
//!     }
//! }
//!
//! #[omnilink::lineup(object = Counter(0.into()), threads = 2, calls = 3)]
//! fn numbers_are_given_once() {}
//! # let test = omnilink::lineup::ObjectTest::new("lineup", &std::env::temp_dir().to_string_lossy());
//! # omnilink::lineup::ObjectTest { tests: 2, runs: 5, ..test }.run(|| Counter(0.into()));
//! ```
//!
//! # Transactions
//!
//! `#[omnilink::test(isolation = "serializable")]` makes a test of a function that performs one transaction of a store, and
//! needs no specification: see [`transactions`].
//!
//! # A specification of your own
//!
//! A specification can also be written in Rust: an [`Object`] performs one operation after another, and the recorded
//! operations must have an order in which the object gives the same results.
//!
//! ```
//! # extern crate omnilink;
//! use omnilink::{Action, Answer, Call, Client, Object};
//! use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
//!
//! /// Gives out numbers, each once.
//! struct Tickets;
//!
//! impl Object for Tickets {
//!     type State = i64;
//!
//!     fn initial(&self) -> i64 {
//!         0
//!     }
//!
//!     fn apply(&self, last: &mut i64, call: &Call) -> Answer {
//!         match call.action() {
//!             "take" => {
//!                 *last += 1;
//!                 Answer::value(*last)
//!             }
//!             _ => Answer::Unknown,
//!         }
//!     }
//! }
//!
//! static TAKE: Action = Action::new("take", &[], &["number"]);
//!
//! #[omnilink::test(spec = Tickets)]
//! fn every_number_is_given_once(numbers: &AtomicI64, client: &mut Client) {
//!     let call = client.call(&TAKE, ());
//!     let number = numbers.fetch_add(1, SeqCst) + 1;
//!     call.done((number,));
//! }
//! # // The attribute has no effect in a documentation test, so the test is called by hand.
//! # let against = omnilink::testing::Against::object("Tickets", || Tickets);
//! # omnilink::testing::Test::new("own", &std::env::temp_dir().to_string_lossy(), against).run(AtomicI64::default, |numbers, client| {
//! #     let call = client.call(&TAKE, ()); let number = numbers.fetch_add(1, SeqCst) + 1; call.done((number,));
//! # });
//! ```
//!
//! [`runner::main`] turns it into a command that checks traces, explains and writes pages.
//!
//! # By hand
//!
//! ```
//! use omnilink::models::check::{ModelOptions, check};
//! use omnilink::{Call, History, models::counter::Counter, search};
//! use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::SeqCst};
//!
//! let (clock, counter) = (AtomicU64::new(0), AtomicI64::new(0));
//! let call = |process: u32| {
//!     let start = clock.fetch_add(1, SeqCst);
//!     let old = counter.fetch_add(1, SeqCst); // What is being tested.
//!     let end = clock.fetch_add(1, SeqCst);
//!     (process, start, Some(end), Call::positional("fetch_add", [1.into()], [old.into()]))
//! };
//! let calls = std::thread::scope(|scope| {
//!     let threads = [0, 1].map(|process| scope.spawn(move || (0..100).map(|_| call(process)).collect::<Vec<_>>()));
//!     threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
//! });
//! let history = History::from_calls(calls)?;
//! let checked = check(&Counter::new(0), &history, &ModelOptions::default(), &search::Unwatched)?;
//! assert!(checked.verdict.is_accepted());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`search::check`] shows how to write a [`Spec`].
//!
//! # Features
//!
//! `tla`, on by default, checks against TLA+ modules and needs a C compiler. Without it, everything here is Rust.

/// Objects whose calls are listed; see [`Describe`](object::Describe).
pub mod object {
    pub use omnilink_record::object::*;
}
pub mod lineup;
pub mod runner;
pub mod sim;
pub mod testing;
pub mod transactions;

pub use omnilink_history::{
    Call, End, History, IllFormed, Interval, Op, OpId, Outcome, Precedence, ProcessId, Record, Schema, Stop, Trace,
    Value, Verdict, format,
};
pub use omnilink_macros::{lineup, object_in_omnilink as object, sim, test};
pub use omnilink_models as models;
pub use omnilink_models::{Answer, Model, Object, Sequential};
pub use omnilink_record::drive::Client;
pub use omnilink_record::{Action, Pending, Process, Recorder};
pub use omnilink_search as search;
pub use omnilink_search::{Spec, Successors};
pub use omnilink_weak as weak;
pub use omnilink_weak::{Level, Visibility};
