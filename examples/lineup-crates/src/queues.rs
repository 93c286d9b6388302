//! Queues of `crossbeam-queue`, and the queues of `crossbeam-deque` from which threads steal.

use std::iter;
use std::sync::Mutex;

use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_queue::{ArrayQueue, SegQueue};
use omnilink_record::object;

/// `ArrayQueue` of two items.
///
/// `force_push` on a full queue moves the head before the tail. In between, `len` and `is_full` miss an item, although
/// the queue is full before and after.
pub struct Array(ArrayQueue<i64>);

#[object]
impl Array {
    pub fn new() -> Array {
        Array(ArrayQueue::new(2))
    }

    #[calls(1, 2)]
    pub fn push(&self, item: i64) -> Result<(), i64> {
        self.0.push(item)
    }

    #[calls(3)]
    pub fn force_push(&self, item: i64) -> Option<i64> {
        self.0.force_push(item)
    }

    pub fn pop(&self) -> Option<i64> {
        self.0.pop()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.0.is_full()
    }
}

/// `SegQueue`.
#[derive(Default)]
pub struct Segments(SegQueue<i64>);

#[object]
impl Segments {
    #[calls(1, 2)]
    pub fn push(&self, item: i64) {
        self.0.push(item);
    }

    pub fn pop(&self) -> Option<i64> {
        self.0.pop()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `Injector`: a queue from which all threads steal.
///
/// `steal_batch` decides how many items to take before it takes them: this is by design, but not linearizable.
#[derive(Default)]
pub struct Shared(Injector<i64>);

#[object]
impl Shared {
    #[calls(1, 2)]
    pub fn push(&self, item: i64) {
        self.0.push(item);
    }

    pub fn steal(&self) -> Option<i64> {
        insist(|| self.0.steal())
    }

    /// About half of the items, as many as the queue likes.
    pub fn steal_batch(&self) -> Vec<i64> {
        let worker = Worker::new_fifo();
        insist(|| self.0.steal_batch(&worker));
        iter::from_fn(|| worker.pop()).collect()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `Worker`, a stack whose owner pushes and pops, and `Stealer`, with which the others steal from its other end. All
/// threads take turns as the owner.
///
/// `len` of a `Stealer` reads the two ends one after the other, and can count an item that is stolen together with one
/// that is pushed later.
pub struct Stack {
    owner: Mutex<Worker<i64>>,
    stealer: Stealer<i64>,
}

#[object]
impl Stack {
    pub fn new() -> Stack {
        let owner = Worker::new_lifo();
        let stealer = owner.stealer();
        Stack { owner: Mutex::new(owner), stealer }
    }

    #[calls(1, 2)]
    pub fn push(&self, item: i64) {
        self.owner.lock().expect("no thread panics").push(item);
    }

    pub fn pop(&self) -> Option<i64> {
        self.owner.lock().expect("no thread panics").pop()
    }

    pub fn steal(&self) -> Option<i64> {
        insist(|| self.stealer.steal())
    }

    pub fn len(&self) -> usize {
        self.stealer.len()
    }

    pub fn is_empty(&self) -> bool {
        self.stealer.is_empty()
    }
}

/// Steals until no other thread comes in between.
fn insist<T>(mut attempt: impl FnMut() -> Steal<T>) -> Option<T> {
    loop {
        match attempt() {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
    }
}
