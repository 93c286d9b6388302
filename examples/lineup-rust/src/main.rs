//! Objects for a check without a specification, each with a typical mistake and corrected.
//!
//! The first argument names the object. The calls come from its methods, and the variables `OMNILINK_*` say which of
//! them to make; see `omnilink_record::object`.

mod bag;
mod counter;
mod event;
mod queue;

use std::env;
use std::process::ExitCode;

use omnilink_record::object;

const NAMES: [&str; 8] =
    ["bag", "bag-fixed", "counter", "counter-fixed", "event", "event-fixed", "queue", "queue-fixed"];

fn main() -> ExitCode {
    match env::args().nth(1).as_deref() {
        Some("bag") => object::main(bag::Bag::default),
        Some("bag-fixed") => object::main(bag::SortedBag::default),
        Some("counter") => object::main(counter::Counter::wrong),
        Some("counter-fixed") => object::main(counter::Counter::fixed),
        Some("event") => object::main(event::Event::wrong),
        Some("event-fixed") => object::main(event::Event::fixed),
        Some("queue") => object::main(queue::Queue::wrong),
        Some("queue-fixed") => object::main(queue::Queue::fixed),
        _ => {
            eprintln!("error: expected one of {}", NAMES.join(", "));
            ExitCode::from(2)
        }
    }
}
