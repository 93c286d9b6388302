//! The objects with loom's locks, condition variables and atomics, and loom's exploration.
//!
//! A deadlock in loom panics, and the locks that are dropped then panic again, which aborts the process. So the panic
//! hook prints the outcome first.

mod counter;
mod event;
mod queue;
mod tests;

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use loom::model::Builder;

use self::counter::Counter;
use self::event::Event;
use self::queue::Queue;
use crate::measure::{Case, EXECUTIONS, Outcome, TIME, Version};

static HAS_FAILED: AtomicBool = AtomicBool::new(false);

pub fn run(case: Case, version: Version, bound: Option<usize>) -> Outcome {
    let mut builder = Builder::new();
    builder.preemption_bound = bound;
    // The limits are looked at once per interval.
    builder.checkpoint_interval = 1;
    builder.max_permutations = Some(EXECUTIONS + 1);
    builder.max_duration = Some(TIME);
    let count = Arc::new(AtomicUsize::new(0));
    let executions = count.clone();
    let start = Instant::now();
    let counted = count.clone();
    panic::set_hook(Box::new(move |info| {
        // Only the first panic is the failure.
        if !HAS_FAILED.swap(true, Relaxed) {
            println!("\n{}", Outcome::failed(case, counted.load(Relaxed), start.elapsed(), info.payload()));
        }
    }));
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        builder.check(move || {
            executions.fetch_add(1, Relaxed);
            test(case, version);
        })
    }));
    Outcome::new(case, count.load(Relaxed), start.elapsed(), result.map(|()| true))
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
