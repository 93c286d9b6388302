//! The cost of recording: nanoseconds per operation, as one line of JSON.
//!
//! Usage: `cost [OPERATIONS]`. Each case runs a million operations on each of one and two threads, five times, and
//! the best run counts. An operation has three integer arguments and one result, and takes a start and an end, except
//! in the empty loop. `cpu` is the time that a thread spent on a processor, `wall` the time that passed for the
//! slowest thread; if other programs run at the same time, the first is the fair one, but it excludes waiting for a
//! lock.

#![allow(clippy::incompatible_msrv, reason = "only the library keeps an old Rust")]

mod measure;

use std::env;
use std::hint::black_box;
use std::io;
use std::sync::Mutex;

use measure::{best, best_recorded, once, Cases};
use omnilink_record::{Action, Clock, Process};
use serde::Serialize;

static PUT: Action = Action::new("Put", &["key", "value", "version"], &["old"]);

/// One operation as a program would keep it for a serializer.
#[derive(Serialize)]
struct Operation {
    action: &'static str,
    start: u64,
    end: u64,
    key: i64,
    value: i64,
    version: i64,
    old: i64,
}

fn main() -> io::Result<()> {
    let operations: i64 = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let directory = tempfile::tempdir()?;
    let clock = Clock::system()?;
    let read = |clock: &Clock, i: i64| {
        let start = clock.start();
        let old = black_box(i ^ 5);
        let end = clock.end();
        Operation { action: "Put", start, end, key: i & 63, value: i, version: i >> 3, old }
    };
    let mut cases = Cases::default();
    for threads in [1, 2] {
        let mut case = |name: &str, times| cases.add(name, threads, times);
        case("empty loop", best(|_| once(threads, operations, |_| (), |(), i| _ = black_box(i))));

        let record = |process: &mut Process, i: i64| {
            let call = process.call(&PUT, (i & 63, i, i >> 3));
            let old = black_box(i ^ 5);
            call.done((old,));
        };
        case("record", best_recorded(directory.path(), threads, operations, record));

        let clocks = |clock: &mut Clock, _| {
            black_box(clock.start());
            black_box(clock.end());
        };
        case("two clock readings", best(|_| once(threads, operations, |_| clock.clone(), clocks)));

        let serialize = |(buffer, clock): &mut (Vec<u8>, Clock), i| {
            if buffer.len() > 1 << 20 {
                buffer.clear();
            }
            rmp_serde::encode::write_named(buffer, &read(clock, i)).expect("memory can be written to");
        };
        let buffer = |_| (Vec::with_capacity(2 << 20), clock.clone());
        case("rmp-serde", best(|_| once(threads, operations, buffer, serialize)));

        let shared = Mutex::new(Vec::new());
        let push = |clock: &mut Clock, i| {
            let operation = read(clock, i);
            let mut shared = shared.lock().expect("no thread panics with the lock");
            if shared.len() == shared.capacity() && shared.len() >= 1 << 16 {
                shared.clear(); // As if the buffer were drained: growing is not measured.
            }
            shared.push(operation);
        };
        case("mutex and vec", best(|_| once(threads, operations, |_| clock.clone(), push)));
    }
    cases.print(&clock)
}
