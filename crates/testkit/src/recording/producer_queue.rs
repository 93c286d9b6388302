//! A queue with a lane for each producer, whose batches go in and come out one element at a time.
//!
//! Every process is a producer, named `p0`, `p1` and so on, and every process also takes batches out. An element
//! names its producer, so that dequeued batches have few explanations.

use std::collections::VecDeque;
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, Schema, Value};

use super::{Object, call, schema};

/// The maximum number of elements in a batch.
const LONGEST: usize = 2;

/// A lane that holds this many elements gets no more.
const CROWDED: usize = 2;

/// The number of different elements of a producer.
const ELEMENTS: i64 = 3;

pub(super) struct ProducerQueue {
    lanes: Vec<VecDeque<i64>>,
    partway: Vec<Option<Partway>>, // The unfinished operation of each process.
    enqueue: Arc<Schema>,
    dequeue: Arc<Schema>,
}

enum Partway {
    /// The batch, and the number of its elements that are in.
    Putting(Vec<i64>, usize),
    /// The dequeued elements, and the requested number.
    Taking(Vec<i64>, usize),
}

impl ProducerQueue {
    pub(super) fn new(processes: usize) -> ProducerQueue {
        ProducerQueue {
            lanes: vec![VecDeque::new(); processes],
            partway: (0..processes).map(|_| None).collect(),
            enqueue: schema("EnqueueBatch", &["producer", "batch"], &[]),
            dequeue: schema("DequeueBatch", &[], &["batch"]),
        }
    }

    fn begin(&self, process: usize, rng: &mut Rng) -> Partway {
        let length = rng.usize(1..=LONGEST);
        if self.lanes[process].len() < CROWDED && rng.bool() {
            let elem = |_| process as i64 * ELEMENTS + rng.i64(1..=ELEMENTS);
            return Partway::Putting((0..length).map(elem).collect(), 0);
        }
        Partway::Taking(Vec::new(), length)
    }

    /// Takes the oldest element of any producer that has one.
    fn take(&mut self, rng: &mut Rng) -> Option<i64> {
        let filled: Vec<usize> = (0..self.lanes.len()).filter(|&lane| !self.lanes[lane].is_empty()).collect();
        self.lanes[rng.choice(filled)?].pop_front()
    }
}

impl Object for ProducerQueue {
    fn step(&mut self, process: usize, rng: &mut Rng) -> Option<Call> {
        let batch = |elements: &[i64]| Value::tuple(elements.iter().map(|&elem| Value::Int(elem)));
        match self.partway[process].take().unwrap_or_else(|| self.begin(process, rng)) {
            Partway::Putting(elements, put) if put == elements.len() => {
                Some(call(&self.enqueue, [Value::str(format!("p{process}")), batch(&elements)]))
            }
            Partway::Putting(elements, put) => {
                self.lanes[process].push_back(elements[put]);
                self.partway[process] = Some(Partway::Putting(elements, put + 1));
                None
            }
            Partway::Taking(mut taken, asked) => {
                let next = if taken.len() < asked { self.take(rng) } else { None };
                let Some(elem) = next else { return Some(call(&self.dequeue, [batch(&taken)])) };
                taken.push(elem);
                self.partway[process] = Some(Partway::Taking(taken, asked));
                None
            }
        }
    }
}
