//! The cost of recording a real queue: crossbeam's, with an element put in and one taken out, recorded and not.
//!
//! Usage: `queue [OPERATIONS]`. Prints one line of JSON, as `cost` does.

#![allow(clippy::incompatible_msrv, reason = "only the library keeps an old Rust")]

mod measure;

use std::env;
use std::hint::black_box;
use std::io;

use crossbeam_queue::SegQueue;
use measure::{best, best_recorded, once, Cases};
use omnilink_record::{Action, Clock, Process};

static ENQUEUE: Action = Action::new("Enqueue", &["elem"], &[]);
static DEQUEUE: Action = Action::new("Dequeue", &[], &["elem"]);

fn main() -> io::Result<()> {
    let operations: i64 = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let directory = tempfile::tempdir()?;
    let mut cases = Cases::default();
    for threads in [1, 2] {
        let queue = SegQueue::new();
        let plain = |(): &mut (), i: i64| {
            queue.push(i);
            black_box(queue.pop());
        };
        cases.add("put and take", threads, best(|_| once(threads, operations / 2, |_| (), plain)));

        let recorded = |process: &mut Process, i: i64| {
            let call = process.call(&ENQUEUE, (i,));
            queue.push(i);
            call.done(());
            let call = process.call(&DEQUEUE, ());
            let elem = queue.pop();
            call.done((elem,));
        };
        let times = best_recorded(directory.path(), threads, operations / 2, recorded);
        cases.add("put and take, recorded", threads, times);
    }
    cases.print(&Clock::system()?)
}
