//! Litmus tests: small programs, each with an outcome that no interleaving has and that C++20 allows or forbids. A test fails
//! if it sees the outcome.
//!
//! A program is one line: threads are separated by `|`, and each operation is a location, an action, and an order: `x.acq`
//! loads, `x=1.rel` stores, `x+1.rlx` adds, `fence.sc` is a fence, `0?` ends the thread unless it has just read 0. All
//! locations are 0 at first. An outcome is the values read, from left to right.

use seeded::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seeded::sync::atomic::{AtomicUsize, Ordering, fence};
use seeded::sync::{Arc, explore, thread};

macro_rules! litmuses {
    ($($verdict:ident { $($name:ident: $program:literal => $outcome:literal,)* })*) => {
        $(mod $verdict {
            $(#[test]
            fn $name() {
                super::explore(|| assert_ne!(super::execute($program), $outcome));
            })*
        })*
    };
}

litmuses! {
    allowed {
        store_buffering_relaxed: "x=1.rlx y.rlx | y=1.rlx x.rlx" => "00",
        store_buffering_release_acquire: "x=1.rel y.acq | y=1.rel x.acq" => "00",
        store_buffering_weak_fences: "x=1.rlx fence.ar y.rlx | y=1.rlx fence.ar x.rlx" => "00",
        message_passing_relaxed: "x=1.rlx y=1.rlx | y.rlx x.rlx" => "10",
        message_passing_relaxed_load: "x=1.rlx y=1.rel | y.rlx x.rlx" => "10",
        message_passing_relaxed_store: "x=1.rlx y=1.rlx | y.acq x.rlx" => "10",
        hazard_pointer_without_fences: "x=1.rlx y.rlx 0? z.rlx | y=1.rlx x.rlx 0? z=1.rlx" => "010",
        release_sequence_of_another_store: "x=1.rlx y=1.rel | y=2.rlx | y.acq x.rlx" => "20",
        write_to_read_relaxed: "x=1.rlx | x.rlx y=1.rlx | y.rlx x.rlx" => "110",
        read_to_write_relaxed: "x=1.rlx | x.rlx y.rlx | y=1.rlx x.rlx" => "100",
        independent_reads_acquire: "x=1.rel | y=1.rel | x.acq y.acq | y.acq x.acq" => "1010",
        load_buffering_relaxed: "x.rlx y=1.rlx | y.rlx x=1.rlx" => "11",
    }
    forbidden {
        store_buffering_seq_cst: "x=1.sc y.sc | y=1.sc x.sc" => "00",
        store_buffering_fences: "x=1.rlx fence.sc y.rlx | y=1.rlx fence.sc x.rlx" => "00",
        message_passing: "x=1.rlx y=1.rel | y.acq x.rlx" => "10",
        message_passing_fences: "x=1.rlx fence.rel y=1.rlx | y.rlx fence.acq x.rlx" => "10",
        message_passing_acquire_fence: "x=1.rlx y=1.rel | y.rlx fence.acq x.rlx" => "10",
        message_passing_release_fence: "x=1.rlx fence.rel y=1.rlx | y.acq x.rlx" => "10",
        hazard_pointer_fences: "x=1.rlx fence.sc y.rlx 0? z.rlx | y=1.rlx fence.sc x.rlx 0? z=1.rlx" => "010",
        release_sequence_of_an_update: "x=1.rlx y=1.rel | y+1.rlx | y.acq x.rlx" => "120",
        write_to_read_acquire: "x=1.rlx | x.rlx y=1.rel | y.acq x.rlx" => "110",
        read_to_write_fences: "x=1.rlx | x.rlx fence.sc y.rlx | y=1.rlx fence.sc x.rlx" => "100",
        write_and_read_to_write_fences: "x=1.rlx z=1.rel | z.acq fence.sc y.rlx | y=1.rlx fence.sc x.rlx" => "100",
        independent_reads_seq_cst: "x=1.sc | y=1.sc | x.sc y.sc | y.sc x.sc" => "1010",
        load_buffering_acquire: "x.acq y=1.rel | y.acq x=1.rel" => "11",
        coherence: "x=1.rlx x=2.rlx | x.rlx x.rlx" => "21",
        updates: "x+1.rlx | x+1.rlx" => "00",
    }
}

/// The outcome of one execution.
fn execute(program: &'static str) -> String {
    let memory: Arc<[AtomicUsize; 3]> = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
    let (last, others) = program.rsplit_once('|').map(|(others, last)| (last, others)).expect("two threads");
    let spawn = |ops: &'static str| {
        let memory = memory.clone();
        thread::spawn(move || perform(ops, &memory))
    };
    let others: Vec<_> = others.split('|').map(spawn).collect();
    let last = perform(last, &memory);
    others.into_iter().map(|thread| thread.join().expect("a thread that ends")).chain([last]).collect()
}

/// Performs the operations of a thread, and returns the values that it reads.
fn perform(ops: &str, memory: &[AtomicUsize; 3]) -> String {
    let mut read = String::new();
    for op in ops.split_whitespace() {
        let Some((action, order)) = op.split_once('.') else {
            if read.ends_with(op.trim_end_matches('?')) {
                continue;
            }
            break;
        };
        let order = ordering(order);
        let place = &memory["xyz".find(&action[..1]).unwrap_or_default()];
        let value = || action[2..].parse().expect("a number");
        match action.get(1..2) {
            _ if action == "fence" => fence(order),
            Some("=") => place.store(value(), order),
            Some(_) => read += &place.fetch_add(value(), order).to_string(),
            None => read += &place.load(order).to_string(),
        }
    }
    read
}

fn ordering(name: &str) -> Ordering {
    match name {
        "rlx" => Relaxed,
        "acq" => Acquire,
        "rel" => Release,
        "ar" => AcqRel,
        _ => SeqCst,
    }
}
