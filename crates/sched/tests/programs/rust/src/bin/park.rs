//! A thread parks until it finds a flag set, and another sets it and unparks it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static IS_SET: AtomicBool = AtomicBool::new(false);

fn main() {
    let parked = thread::spawn(|| {
        while !IS_SET.load(Ordering::Acquire) {
            thread::park();
        }
    });
    let handle = parked.thread().clone();
    let setter = thread::spawn(move || {
        IS_SET.store(true, Ordering::Release);
        handle.unpark();
    });
    setter.join().expect("no thread panics");
    parked.join().expect("no thread panics");
}
