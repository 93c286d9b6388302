//! What recording costs: nanoseconds per operation, as one line of JSON.
//!
//! Usage: `cost [OPERATIONS]`. Each case runs a million operations on each of one and two threads, five times, and the
//! best run counts. An operation has three integer arguments and one result, and takes a start and an end, except in the
//! empty loop. `cpu` is the time that a thread spent on a processor, `wall` the time that passed for the slowest thread;
//! where other programs run beside, the first is the fair one, but it leaves out waiting for a lock.

#![allow(clippy::incompatible_msrv, reason = "only the library keeps an old Rust")]

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::{Barrier, Mutex};
use std::time::Instant;
use std::{env, thread};

use omnilink_record::{Action, Clock, Recorder};
use serde::Serialize;

static PUT: Action = Action::new("Put", &["key", "value", "version"], &["old"]);

const REPEATS: usize = 5;

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
    let mut cases = Vec::new();
    for threads in [1, 2] {
        let mut case = |name: &str, (cpu, wall): (f64, f64)| {
            cases.push(format!(
                "{{\"case\": \"{name}\", \"threads\": {threads}, \"cpu\": {cpu:.1}, \"wall\": {wall:.1}}}"
            ));
        };
        let empty = || (|| (), |_: &mut (), i| _ = black_box(i));
        let (make, step) = empty();
        case("empty loop", best(threads, operations, |_| make(), step));

        let mut trace = 0;
        let recorded = (0..REPEATS).map(|_| {
            trace += 1;
            let path = directory.path().join(format!("{threads}-{trace}"));
            let recorder = Recorder::create(&path).expect("a trace can be created");
            let times = once(
                threads,
                operations,
                |thread| recorder.process(&thread.to_string()).expect("a segment can be created"),
                |process, i| {
                    let call = process.call(&PUT, (i & 63, i, i >> 3));
                    let old = black_box(i ^ 5);
                    call.done((old,));
                },
            );
            std::fs::remove_dir_all(&path).expect("the trace can be removed");
            times
        });
        case("record", recorded.fold((f64::MAX, f64::MAX), least));

        let clocks = |clock: &mut Clock, _| {
            black_box(clock.start());
            black_box(clock.end());
        };
        case("two clock readings", best(threads, operations, |_| clock.clone(), clocks));

        let serialize = |(buffer, clock): &mut (Vec<u8>, Clock), i| {
            if buffer.len() > 1 << 20 {
                buffer.clear();
            }
            rmp_serde::encode::write_named(buffer, &read(clock, i)).expect("memory can be written to");
        };
        case("rmp-serde", best(threads, operations, |_| (Vec::with_capacity(2 << 20), clock.clone()), serialize));

        let shared = Mutex::new(Vec::new());
        let push = |clock: &mut Clock, i| {
            let operation = read(clock, i);
            let mut shared = shared.lock().expect("nobody panics with the lock");
            if shared.len() == shared.capacity() && shared.len() >= 1 << 16 {
                shared.clear(); // As with a buffer that somebody empties: growing is not what is measured.
            }
            shared.push(operation);
        };
        case("mutex and vec", best(threads, operations, |_| clock.clone(), push));
    }
    writeln!(io::stdout(), "{{\"unit\": \"ns\", \"clock\": \"{}\", \"cases\": [{}]}}", clock.name(), cases.join(", "))
}

/// The best of several runs.
fn best<L>(
    threads: usize,
    operations: i64,
    make: impl Fn(usize) -> L + Sync,
    step: impl Fn(&mut L, i64) + Sync,
) -> (f64, f64) {
    (0..REPEATS).map(|_| once(threads, operations, &make, &step)).fold((f64::MAX, f64::MAX), least)
}

fn least(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.min(b.1))
}

/// Nanoseconds per operation on the processor and on the wall, for the slowest thread.
fn once<L>(
    threads: usize,
    operations: i64,
    make: impl Fn(usize) -> L + Sync,
    step: impl Fn(&mut L, i64) + Sync,
) -> (f64, f64) {
    let barrier = Barrier::new(threads);
    let run = |thread| {
        let mut local = make(thread);
        barrier.wait();
        let (wall, cpu) = (Instant::now(), cpu_time());
        for i in 0..operations {
            step(&mut local, i);
        }
        let per_operation = |nanoseconds: f64| nanoseconds / operations as f64;
        (per_operation(cpu_time() - cpu), per_operation(wall.elapsed().as_nanos() as f64))
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        let times = threads.into_iter().map(|thread| thread.join().expect("no thread panics"));
        times.fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)))
    })
}

/// How long this thread has been running on a processor.
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a place for one time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
