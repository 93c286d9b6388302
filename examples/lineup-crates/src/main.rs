//! Objects of the standard library and of well-known crates, for a check without a specification.
//!
//! The first argument names the object. The calls come from its methods, and the variables `OMNILINK_*` say which of
//! them to make; see `omnilink_record::object`.

mod asynchronous;
mod channels;
mod held;
mod maps;
mod parking;
mod queues;
mod standard;

use std::env;
use std::process::ExitCode;

use omnilink_record::object;

type Run = fn() -> ExitCode;

const OBJECTS: [(&str, Run); 28] = [
    ("crossbeam-array", || object::main(queues::Array::new)),
    ("crossbeam-bounded", || object::main(channels::Crossbeam::bounded)),
    ("crossbeam-injector", || object::main(queues::Shared::default)),
    ("crossbeam-seg", || object::main(queues::Segments::default)),
    ("crossbeam-skipmap", || object::main(maps::Skip::default)),
    ("crossbeam-unbounded", || object::main(channels::Crossbeam::unbounded)),
    ("crossbeam-worker", || object::main(queues::Stack::new)),
    ("dashmap", || object::main(maps::Dash::new)),
    ("event-listener", || object::main(asynchronous::ManualReset::default)),
    ("flume-bounded", || object::main(channels::Flume::bounded)),
    ("flume-unbounded", || object::main(channels::Flume::unbounded)),
    ("papaya", || object::main(maps::Papaya::default)),
    ("parking-lot-event", || object::main(parking::Event::default)),
    ("parking-lot-mutex", || object::main(parking::Lock::default)),
    ("parking-lot-rwlock", || object::main(parking::SharedLock::default)),
    ("std-barrier", || object::main(standard::Pairing::new)),
    ("std-channel", || object::main(standard::Channel::new)),
    ("std-once", || object::main(standard::Once::default)),
    ("std-queue", || object::main(standard::Queue::default)),
    ("std-rwlock", || object::main(standard::Pair::default)),
    ("std-sync-channel", || object::main(standard::SyncChannel::new)),
    ("tokio-bounded", || object::main(asynchronous::Bounded::new)),
    ("tokio-mutex", || object::main(asynchronous::Lock::default)),
    ("tokio-once", || object::main(asynchronous::Once::default)),
    ("tokio-rwlock", || object::main(asynchronous::SharedLock::default)),
    ("tokio-semaphore", || object::main(asynchronous::Permits::new)),
    ("tokio-unbounded", || object::main(asynchronous::Unbounded::new)),
    ("tokio-watch", || object::main(asynchronous::Watched::new)),
];

fn main() -> ExitCode {
    let name = env::args().nth(1).unwrap_or_default();
    match OBJECTS.iter().find(|(object, _)| *object == name) {
        Some((_, run)) => run(),
        None => {
            let names: Vec<&str> = OBJECTS.iter().map(|(name, _)| *name).collect();
            eprintln!("error: expected one of {}", names.join(", "));
            ExitCode::from(2)
        }
    }
}
