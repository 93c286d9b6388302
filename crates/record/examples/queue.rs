//! What recording does to a real queue: crossbeam's, with an element put in and one taken out, recorded and not.
//!
//! Usage: `queue [OPERATIONS]`. Prints one line of JSON, as `cost` does.

#![allow(clippy::incompatible_msrv, reason = "only the library keeps an old Rust")]

use std::env;
use std::hint::black_box;
use std::io::{self, Write};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use crossbeam_queue::SegQueue;
use omnilink_record::{Action, Clock, Process, Recorder};

static ENQUEUE: Action = Action::new("Enqueue", &["elem"], &[]);
static DEQUEUE: Action = Action::new("Dequeue", &[], &["elem"]);

const REPEATS: usize = 5;

fn main() -> io::Result<()> {
    let operations: i64 = env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let directory = tempfile::tempdir()?;
    let mut cases = Vec::new();
    for threads in [1, 2] {
        let mut case = |name: &str, times: &mut dyn FnMut(usize) -> io::Result<(f64, f64)>| {
            let mut best = (f64::MAX, f64::MAX);
            for repeat in 0..REPEATS {
                let (cpu, wall) = times(repeat)?;
                best = (best.0.min(cpu), best.1.min(wall));
            }
            let (cpu, wall) = best;
            cases.push(format!(
                "{{\"case\": \"{name}\", \"threads\": {threads}, \"cpu\": {cpu:.1}, \"wall\": {wall:.1}}}"
            ));
            io::Result::Ok(())
        };
        case("put and take", &mut |_| {
            let queue = SegQueue::new();
            Ok(once(vec![(); threads], operations / 2, |(), i| {
                queue.push(i);
                black_box(queue.pop());
            }))
        })?;
        case("put and take, recorded", &mut |repeat| {
            let queue = SegQueue::new();
            let path = directory.path().join(format!("{threads}-{repeat}"));
            let recorder = Recorder::create(&path)?;
            let processes = (0..threads).map(|thread| recorder.process(&thread.to_string()));
            let processes = processes.collect::<io::Result<Vec<Process>>>()?;
            let times = once(processes, operations / 2, |process, i| {
                let call = process.call(&ENQUEUE, (i,));
                queue.push(i);
                call.done(());
                let call = process.call(&DEQUEUE, ());
                let elem = queue.pop();
                call.done((elem,));
            });
            std::fs::remove_dir_all(&path)?;
            Ok(times)
        })?;
    }
    let clock = Clock::system()?;
    writeln!(io::stdout(), "{{\"unit\": \"ns\", \"clock\": \"{}\", \"cases\": [{}]}}", clock.name(), cases.join(", "))
}

/// Nanoseconds per operation on the processor and on the wall, for the slowest of the threads that own one each of `own`.
fn once<L: Send>(own: Vec<L>, operations: i64, step: impl Fn(&mut L, i64) + Sync) -> (f64, f64) {
    let barrier = Barrier::new(own.len());
    let run = |mut own: L| {
        barrier.wait();
        let (wall, cpu) = (Instant::now(), cpu_time());
        for i in 0..operations {
            step(&mut own, i);
        }
        let per_operation = |nanoseconds: f64| nanoseconds / operations as f64;
        (per_operation(cpu_time() - cpu), per_operation(wall.elapsed().as_nanos() as f64))
    };
    let run = &run;
    thread::scope(|scope| {
        let threads: Vec<_> = own.into_iter().map(|own| scope.spawn(move || run(own))).collect();
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
