//! Sequences of integers: queues, deques, priority queues and sets in the order of insertion.

use std::collections::VecDeque;

use omnilink_history::{Call, Value};
use omnilink_models::{Answer, Object};

use crate::answer::{count, element, element_or_exception, elements, text};
use crate::class::is_mutator;

/// A deque. A queue is one whose histories contain calls of queues only.
#[derive(Clone, Copy, Debug)]
pub enum Deque {
    /// Elements stay in the order in which they were inserted.
    Unbounded,
    /// Likewise, and at most this many.
    Bounded(usize),
    /// The smallest element is first. Results of iterations are recorded sorted.
    Priority,
}

impl Object for Deque {
    type State = VecDeque<i64>;

    fn initial(&self) -> Self::State {
        VecDeque::new()
    }

    fn only_reads(&self, call: &Call) -> bool {
        !is_mutator(call)
    }

    fn apply(&self, deque: &mut Self::State, call: &Call) -> Answer {
        use Value::Int;
        let place = |wanted: &i64| deque.iter().position(|element| element == wanted);
        let last_place = |wanted: &i64| deque.iter().rposition(|element| element == wanted);
        match (call.action(), call.args()) {
            ("offer" | "offerLast", [Int(new)]) => Answer::value(self.insert(deque, *new)),
            ("offerFirst", [Int(new)]) => {
                deque.push_front(*new);
                Answer::value(true)
            }
            ("addFirst", [Int(new)]) => {
                deque.push_front(*new);
                Answer::nothing()
            }
            ("addLast", [Int(new)]) => {
                deque.push_back(*new);
                Answer::nothing()
            }
            // Only sets have `add`.
            ("add", [Int(new)]) => {
                let is_new = !deque.contains(new);
                Answer::value(is_new && self.insert(deque, *new))
            }
            ("poll" | "pollFirst", []) => element(deque.pop_front()),
            ("pollLast", []) => element(deque.pop_back()),
            ("remove" | "removeFirst", []) => element_or_exception(deque.pop_front()),
            ("removeLast", []) => element_or_exception(deque.pop_back()),
            ("remove" | "removeFirstOccurrence", [Int(wanted)]) => remove_at(place(wanted), deque),
            ("removeLastOccurrence", [Int(wanted)]) => remove_at(last_place(wanted), deque),
            ("clear", []) => {
                deque.clear();
                Answer::nothing()
            }
            ("peek" | "peekFirst", []) => element(deque.front().copied()),
            ("peekLast", []) => element(deque.back().copied()),
            ("element" | "getFirst", []) => element_or_exception(deque.front().copied()),
            ("getLast", []) => element_or_exception(deque.back().copied()),
            ("contains", [Int(wanted)]) => Answer::value(deque.contains(wanted)),
            ("size", []) => count(deque.len()),
            ("isEmpty", []) => Answer::value(deque.is_empty()),
            ("remainingCapacity", []) => match self {
                Deque::Bounded(capacity) => count(capacity.saturating_sub(deque.len())),
                Deque::Unbounded | Deque::Priority => Answer::Unknown,
            },
            ("toArray" | "iterator" | "forEach", []) => elements(&*deque),
            ("descendingIterator", []) => elements(deque.iter().rev()),
            ("toString", []) => text(&*deque),
            _ => Answer::Unknown,
        }
    }
}

impl Deque {
    /// Inserts an element at its place, which is the end unless elements have priorities. Returns false if there is
    /// no room.
    fn insert(self, deque: &mut VecDeque<i64>, new: i64) -> bool {
        match self {
            Deque::Bounded(capacity) if deque.len() >= capacity => return false,
            Deque::Bounded(_) | Deque::Unbounded => deque.push_back(new),
            Deque::Priority => deque.insert(deque.partition_point(|element| *element <= new), new),
        }
        true
    }
}

fn remove_at(place: Option<usize>, deque: &mut VecDeque<i64>) -> Answer {
    Answer::value(place.and_then(|place| deque.remove(place)).is_some())
}
