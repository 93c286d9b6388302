//! A queue of few different elements.

use std::collections::VecDeque;
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, Schema, Value};

use super::{Object, call, schema};

/// A queue that holds this many elements gets no more.
const CROWDED: usize = 6;

pub(super) struct Queue {
    held: VecDeque<i64>,
    enqueue: Arc<Schema>,
    dequeue: Arc<Schema>,
    dequeue_empty: Arc<Schema>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue {
            held: VecDeque::new(),
            enqueue: schema("Enqueue", &["elem"], &[]),
            dequeue: schema("Dequeue", &[], &["elem"]),
            dequeue_empty: schema("DequeueEmpty", &[], &[]),
        }
    }
}

impl Object for Queue {
    fn step(&mut self, _: usize, rng: &mut Rng) -> Option<Call> {
        if self.held.len() < CROWDED && rng.bool() {
            let elem = rng.i64(1..=11);
            self.held.push_back(elem);
            return Some(call(&self.enqueue, [Value::Int(elem)]));
        }
        Some(match self.held.pop_front() {
            Some(elem) => call(&self.dequeue, [Value::Int(elem)]),
            None => call(&self.dequeue_empty, []),
        })
    }
}
