//! The objects with shuttle's locks, condition variables and atomics, and shuttle's schedulers.

mod counter;
mod event;
mod queue;
mod tests;

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

use self::counter::Counter;
use self::event::Event;
use self::queue::Queue;
use crate::measure::{Case, EXECUTIONS, Outcome, TIME, Version};

#[derive(Clone, Copy)]
pub enum Schedule {
    Random,
    /// With priority changes at this many places, less one.
    Pct(usize),
    Dfs,
}

pub fn run(case: Case, version: Version, schedule: Schedule, seed: u64) -> Outcome {
    match schedule {
        Schedule::Random => with(RandomScheduler::new_from_seed(seed, EXECUTIONS), case, version, false),
        Schedule::Pct(depth) => with(PctScheduler::new_from_seed(seed, depth, EXECUTIONS), case, version, false),
        Schedule::Dfs => with(DfsScheduler::new(Some(EXECUTIONS), false), case, version, true),
    }
}

fn with(scheduler: impl Scheduler + 'static, case: Case, version: Version, can_end: bool) -> Outcome {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_time = Some(TIME);
    config.silence_warnings = true;
    let count = Arc::new(AtomicUsize::new(0));
    let executions = count.clone();
    let start = Instant::now();
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        Runner::new(scheduler, config).run(move || {
            executions.fetch_add(1, Relaxed);
            test(case, version);
        })
    }));
    Outcome::new(case, count.load(Relaxed), start.elapsed(), result.map(|_| can_end))
}

fn test(case: Case, version: Version) {
    match (case, version) {
        (Case::Queue, Version::Wrong) => tests::queue(Queue::wrong()),
        (Case::Queue, Version::Fixed) => tests::queue(Queue::fixed()),
        (Case::Counter, Version::Wrong) => tests::counter(Counter::wrong()),
        (Case::Counter, Version::Fixed) => tests::counter(Counter::fixed()),
        (Case::Event, Version::Wrong) => tests::event(Event::wrong()),
        (Case::Event, Version::Fixed) => tests::event(Event::fixed()),
        (Case::EventSet, Version::Wrong) => tests::event_set(Event::wrong()),
        (Case::EventSet, Version::Fixed) => tests::event_set(Event::fixed()),
    }
}
