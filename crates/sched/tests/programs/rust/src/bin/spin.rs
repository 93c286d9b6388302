//! Two threads share a spin lock that does not yield.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);

fn main() {
    let add = || {
        while IS_TAKEN.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {}
        let count = COUNT.load(Ordering::Relaxed);
        COUNT.store(count + 1, Ordering::Relaxed);
        IS_TAKEN.store(false, Ordering::Release);
    };
    thread::scope(|scope| {
        scope.spawn(add);
        scope.spawn(add);
    });
    assert_eq!(COUNT.load(Ordering::Relaxed), 2);
}
