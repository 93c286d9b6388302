//! Timing and printing shared by `cost` and `queue`.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use omnilink_record::{Clock, Process, Recorder};

const REPEATS: usize = 5;

/// Nanoseconds per operation: CPU time and wall-clock time.
pub(crate) type Times = (f64, f64);

/// The measurements so far.
#[derive(Default)]
pub(crate) struct Cases(Vec<String>);

impl Cases {
    /// Adds a case.
    pub(crate) fn add(&mut self, name: &str, threads: usize, (cpu, wall): Times) {
        self.0
            .push(format!("{{\"case\": \"{name}\", \"threads\": {threads}, \"cpu\": {cpu:.1}, \"wall\": {wall:.1}}}"));
    }

    /// Prints all of them as one line of JSON.
    pub(crate) fn print(&self, clock: &Clock) -> io::Result<()> {
        let (clock, cases) = (clock.name(), self.0.join(", "));
        writeln!(io::stdout(), "{{\"unit\": \"ns\", \"clock\": \"{clock}\", \"cases\": [{cases}]}}")
    }
}

/// The best of several runs.
pub(crate) fn best(run: impl FnMut(usize) -> Times) -> Times {
    (0..REPEATS).map(run).fold((f64::MAX, f64::MAX), |a, b| (a.0.min(b.0), a.1.min(b.1)))
}

/// The best of several runs that record, each into its own trace in this directory.
pub(crate) fn best_recorded(
    directory: &Path,
    threads: usize,
    operations: i64,
    step: impl Fn(&mut Process, i64) + Sync,
) -> Times {
    best(|repeat| {
        let path = directory.join(format!("{threads}-{repeat}"));
        let recorder = Recorder::create(&path).expect("a trace can be created");
        let process = |thread: usize| recorder.process(&thread.to_string()).expect("a segment can be created");
        let times = once(threads, operations, process, &step);
        std::fs::remove_dir_all(&path).expect("the trace can be removed");
        times
    })
}

/// Nanoseconds per operation, CPU time and wall-clock time, for the slowest thread.
pub(crate) fn once<L>(
    threads: usize,
    operations: i64,
    make: impl Fn(usize) -> L + Sync,
    step: impl Fn(&mut L, i64) + Sync,
) -> Times {
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

/// The CPU time of this thread.
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` has room for one time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
