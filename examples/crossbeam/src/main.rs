//! Records what threads do to one queue of crossbeam-queue.
//!
//! `crossbeam array` drives an `ArrayQueue` with room for two, so that it is full as often as it is empty; `crossbeam seg`
//! drives a `SegQueue`, which is never full. No value goes in twice, so that the history can be decided without a search.

use std::env;
use std::error::Error;

use crossbeam_queue::{ArrayQueue, SegQueue};
use omnilink_record::Action;
use omnilink_record::drive::{self, Client, Plan};

static ENQUEUE: Action = Action::new("enqueue", &["value"], &["ok"]);
static DEQUEUE: Action = Action::new("dequeue", &[], &["value"]);

/// As `array.toml` says to the model.
const CAPACITY: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let which = env::args().nth(1).unwrap_or_default();
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        match &*which {
            "array" => {
                let queue = ArrayQueue::new(CAPACITY);
                run(&plan, |value| queue.push(value).is_ok(), || queue.pop())?;
            }
            "seg" => {
                let queue = SegQueue::new();
                let push = |value| {
                    queue.push(value);
                    true
                };
                run(&plan, push, || queue.pop())?;
            }
            _ => return Err("it needs a queue: `array` or `seg`".into()),
        }
        Ok(())
    })
}

/// Puts values in and takes them out, each as often as the other.
fn run(plan: &Plan, push: impl Fn(i64) -> bool + Sync, pop: impl Fn() -> Option<i64> + Sync) -> std::io::Result<()> {
    drive::run(
        plan,
        &(),
        |(), _| (),
        |(), (), client: &mut Client| {
            if client.draw().below(2) == 0 {
                let value = client.draw().fresh();
                let call = client.call(&ENQUEUE, (value,));
                let ok = push(value);
                call.done((ok,));
            } else {
                let call = client.call(&DEQUEUE, ());
                let value = pop();
                call.done((value,));
            }
        },
    )
}
