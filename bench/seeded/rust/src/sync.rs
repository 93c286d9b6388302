//! Threads, locks, atomics and unsynchronized memory: of the standard library, of loom or of shuttle.

#[cfg(feature = "loom")]
pub use loom::{
    sync::{Arc, Condvar, Mutex, atomic},
    thread,
};
#[cfg(feature = "shuttle")]
pub use shuttle::{
    sync::{Arc, Condvar, Mutex, atomic},
    thread,
};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::{
    sync::{Arc, Condvar, Mutex, atomic},
    thread,
};

#[cfg(feature = "loom")]
use loom::cell::UnsafeCell;
#[cfg(not(feature = "loom"))]
use std::cell::UnsafeCell;

/// Memory that threads access without synchronization.
pub struct Slot(UnsafeCell<u64>);

// SAFETY: whether accesses are ordered is what is tested.
unsafe impl Sync for Slot {}
unsafe impl Send for Slot {}

impl Slot {
    pub fn new(value: u64) -> Slot {
        Slot(UnsafeCell::new(value))
    }

    #[cfg(feature = "loom")]
    pub fn get(&self) -> u64 {
        self.0.with(|value| unsafe { *value })
    }

    #[cfg(feature = "loom")]
    pub fn set(&self, value: u64) {
        self.0.with_mut(|slot| unsafe { *slot = value });
    }

    #[cfg(not(feature = "loom"))]
    pub fn get(&self) -> u64 {
        unsafe { *self.0.get() }
    }

    #[cfg(not(feature = "loom"))]
    pub fn set(&self, value: u64) {
        unsafe { *self.0.get() = value };
    }
}

/// Runs a test under every schedule, under many, or once.
pub fn explore(test: impl Fn() + Send + Sync + 'static) {
    #[cfg(feature = "loom")]
    loom::model(test);
    #[cfg(feature = "shuttle")]
    {
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
        let mut config = shuttle::Config::new();
        config.failure_persistence = shuttle::FailurePersistence::None;
        config.max_time = Some(std::time::Duration::from_secs(10));
        let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(seed, usize::MAX);
        shuttle::Runner::new(scheduler, config).run(test);
    }
    #[cfg(not(any(feature = "loom", feature = "shuttle")))]
    test();
}

/// Runs these at the same time, and waits for both.
pub fn together(one: impl FnOnce() + Send + 'static, other: impl FnOnce() + Send + 'static) {
    let one = thread::spawn(one);
    other();
    one.join().unwrap();
}
