//! Records as fast as possible until it ends, in one of seven ways. For tests of crash safety.
//!
//! Usage: `victim DIR THREADS HOW MICROSECONDS`. `HOW` is `sigkill` (waits to be killed), `segv`, `abort`, `panic` (of each
//! thread, inside a call), `exit`, `_exit` or `return`. The first argument of each call is a counter of its thread, so a
//! reader sees whether one is missing. Each thread also counts, in the mapped file `DIR/progress`, the calls and the
//! outcomes that it has published: two little-endian integers of 64 bits for each thread.

use std::fs::OpenOptions;
use std::os::unix::io::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{env, io, process, ptr, slice, thread};

use omnilink_record::{Action, Process, Recorder};

static STEP: Action = Action::new("Step", &["counter", "text"], &["square"]);
static OTHER: Action = Action::new("Other", &["counter"], &[]);

/// The maximum number of calls of a thread.
const MOST: u64 = 1_000_000;

static PANIC: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [directory, threads, how, microseconds]: [String; 4] = args.try_into().expect("DIR THREADS HOW MICROSECONDS");
    let threads: usize = threads.parse().expect("THREADS is a number");
    let time = Duration::from_micros(microseconds.parse().expect("MICROSECONDS is a number"));
    let recorder = Recorder::create(&directory)?;
    let progress = map(&Path::new(&directory).join("progress"), 2 * threads)?;
    let workers = (0..threads).map(|thread| {
        let process = recorder.process(&thread.to_string())?;
        Ok(thread::spawn(move || work(process, &progress[2 * thread], &progress[2 * thread + 1])))
    });
    let workers: Vec<_> = workers.collect::<io::Result<_>>()?;
    thread::sleep(time);
    match how.as_str() {
        "sigkill" => loop {
            thread::park();
        },
        "segv" => fault()?,
        "abort" => process::abort(),
        "panic" => PANIC.store(true, Ordering::Relaxed),
        "exit" => process::exit(3),
        // SAFETY: nothing has to be done before the process ends.
        "_exit" => unsafe { libc::_exit(4) },
        "return" => STOP.store(true, Ordering::Relaxed),
        other => panic!("`{other}` is not a way to end"),
    }
    // All workers have ended before this thread does, so that each has closed its segment.
    let ended: Vec<_> = workers.into_iter().map(thread::JoinHandle::join).collect();
    for worker in ended {
        worker.expect("no thread panics unless told to");
    }
    Ok(())
}

/// Writes to a read-only page.
fn fault() -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping replaces none.
    let address = unsafe { libc::mmap(ptr::null_mut(), 4096, libc::PROT_NONE, flags, -1, 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the page is ours, and the processor does not let this happen.
    unsafe { address.cast::<u8>().write_volatile(1) };
    Ok(())
}

fn work(mut process: Process, begun: &AtomicU64, finished: &AtomicU64) {
    // Bounded, so that a victim that is never killed does not fill the disk.
    for counter in 0..MOST {
        if STOP.load(Ordering::Relaxed) {
            return;
        }
        let text = if counter % 17 == 2 { "long ".repeat(60) } else { String::new() };
        let mut call = process.call(&STEP, (counter, text));
        begun.store(counter + 1, Ordering::Release);
        assert!(!PANIC.load(Ordering::Relaxed), "told to panic");
        if counter % 11 == 5 {
            call.meta("note", counter);
        }
        match counter % 13 {
            3 => call.done_as(&OTHER, (counter,), ()),
            7 => call.failed(),
            9 => {
                call.refine_start();
                call.done((counter % 1000,));
            }
            _ => call.done((counter % 1000,)),
        }
        finished.store(counter + 1, Ordering::Release);
    }
}

/// Counters that outlive this process.
fn map(path: &Path, count: usize) -> io::Result<&'static [AtomicU64]> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    let length = count * 8;
    file.set_len(length as u64)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping replaces none, and is never taken down.
    let address = unsafe { libc::mmap(ptr::null_mut(), length, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is aligned to a page, as long as this, and lives as long as the process.
    Ok(unsafe { slice::from_raw_parts(address.cast(), count) })
}
