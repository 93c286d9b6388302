//! Records what threads do to data structures of published crates that are known to be wrong.
//!
//! The first argument says which: `heapless`, `thingbuf` and `mpmc` are queues with room for two, which are full as often
//! as they are empty; `lockfree` is a queue without a bound; `leapfrog` is a map with few keys. `locked` is a queue with
//! room for two behind a lock, and must be accepted: otherwise the harness were wrong, not the crates. No value goes in
//! twice, so that what comes out tells who put it in.

use std::collections::VecDeque;
use std::env;
use std::error::Error;
use std::io;
use std::sync::{Mutex, PoisonError};

use leapfrog::LeapMap;
use omnilink_record::Action;
use omnilink_record::drive::{self, Client, Plan};
use thingbuf::ThingBuf;

static ENQUEUE: Action = Action::new("enqueue", &["value"], &["ok"]);
static DEQUEUE: Action = Action::new("dequeue", &[], &["value"]);

static PUT: Action = Action::new("put", &["key", "value"], &["old"]);
static GET: Action = Action::new("get", &["key"], &["value"]);
static ERASE: Action = Action::new("erase", &["key"], &["old"]);

/// As the settings say to the model.
const CAPACITY: usize = 2;

const KEYS: u64 = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let structure = env::args().nth(1).unwrap_or_default();
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        match &*structure {
            "heapless" => run(&plan, &heapless::mpmc::Q2::new(), queue)?,
            "thingbuf" => run(&plan, &ThingBuf::new(CAPACITY), queue)?,
            "mpmc" => run(&plan, &mpmc::Queue::with_capacity(CAPACITY), queue)?,
            "lockfree" => run(&plan, &lockfree::queue::Queue::new(), queue)?,
            "leapfrog" => run(&plan, &LeapMap::new(), map)?,
            "locked" => run(&plan, &Mutex::new(VecDeque::new()), queue)?,
            other => {
                let known = "`heapless`, `thingbuf`, `mpmc`, `lockfree`, `leapfrog` or `locked`";
                return Err(format!("`{other}` is no structure; it needs {known}").into());
            }
        }
        Ok(())
    })
}

fn run<S: Sync>(plan: &Plan, system: &S, step: impl Fn(&S, &mut Client) + Sync) -> io::Result<()> {
    drive::run(plan, system, |_, _| (), |system, (), client| step(system, client))
}

/// What all queues can do. `push` says whether there was room.
trait Queue: Sync {
    fn push(&self, value: i64) -> bool;
    fn pop(&self) -> Option<i64>;
}

/// Puts values in and takes them out, each as often as the other.
fn queue(queue: &impl Queue, client: &mut Client) {
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&ENQUEUE, (value,));
        let ok = queue.push(value);
        call.done((ok,));
    } else {
        let call = client.call(&DEQUEUE, ());
        let value = queue.pop();
        call.done((value,));
    }
}

impl Queue for heapless::mpmc::Q2<i64> {
    fn push(&self, value: i64) -> bool {
        self.enqueue(value).is_ok()
    }

    fn pop(&self) -> Option<i64> {
        self.dequeue()
    }
}

impl Queue for ThingBuf<i64> {
    fn push(&self, value: i64) -> bool {
        ThingBuf::push(self, value).is_ok()
    }

    fn pop(&self) -> Option<i64> {
        ThingBuf::pop(self)
    }
}

impl Queue for mpmc::Queue<i64> {
    fn push(&self, value: i64) -> bool {
        mpmc::Queue::push(self, value).is_ok()
    }

    fn pop(&self) -> Option<i64> {
        mpmc::Queue::pop(self)
    }
}

impl Queue for lockfree::queue::Queue<i64> {
    fn push(&self, value: i64) -> bool {
        lockfree::queue::Queue::push(self, value);
        true
    }

    fn pop(&self) -> Option<i64> {
        lockfree::queue::Queue::pop(self)
    }
}

/// A queue whose operations cannot overlap.
impl Queue for Mutex<VecDeque<i64>> {
    fn push(&self, value: i64) -> bool {
        let mut values = self.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = values.len() < CAPACITY;
        if has_room {
            values.push_back(value);
        }
        has_room
    }

    fn pop(&self) -> Option<i64> {
        self.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Replaces values, looks for them and takes them away.
fn map(map: &LeapMap<u64, i64>, client: &mut Client) {
    let key = client.draw().below(KEYS);
    match client.draw().below(3) {
        0 => {
            let value = client.draw().fresh();
            let call = client.call(&PUT, (key, value));
            let old = map.insert(key, value);
            call.done((old,));
        }
        1 => {
            let call = client.call(&GET, (key,));
            let value = map.get(&key).and_then(|mut found| found.value());
            call.done((value,));
        }
        _ => {
            let call = client.call(&ERASE, (key,));
            let old = map.remove(&key);
            call.done((old,));
        }
    }
}
