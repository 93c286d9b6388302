//! Sorted sets of integers.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

use omnilink_history::{Call, Value};
use omnilink_models::{Answer, Object};

use crate::answer::{count, element, element_or_exception, elements, exception, text};
use crate::class::is_mutator;

/// A sorted set.
#[derive(Clone, Copy, Debug)]
pub struct Set;

impl Object for Set {
    type State = BTreeSet<i64>;

    fn initial(&self) -> Self::State {
        BTreeSet::new()
    }

    fn only_reads(&self, call: &Call) -> bool {
        !is_mutator(call)
    }

    fn apply(&self, set: &mut Self::State, call: &Call) -> Answer {
        use Value::Int;
        match (call.action(), call.args()) {
            ("add", [Int(key)]) => Answer::value(set.insert(*key)),
            ("remove", [Int(key)]) => Answer::value(set.remove(key)),
            ("pollFirst", []) => element(set.pop_first()),
            ("pollLast", []) => element(set.pop_last()),
            ("clear", []) => {
                set.clear();
                Answer::nothing()
            }
            ("contains", [Int(key)]) => Answer::value(set.contains(key)),
            ("size", []) => count(set.len()),
            ("isEmpty", []) => Answer::value(set.is_empty()),
            ("first", []) => element_or_exception(set.first().copied()),
            ("last", []) => element_or_exception(set.last().copied()),
            ("ceiling", [Int(key)]) => element(set.range(key..).next().copied()),
            ("higher", [Int(key)]) => element(set.range((Excluded(key), Unbounded)).next().copied()),
            ("floor", [Int(key)]) => element(set.range(..=key).next_back().copied()),
            ("lower", [Int(key)]) => element(set.range(..key).next_back().copied()),
            ("headSet", [Int(key)]) => elements(set.range(..key)),
            ("tailSet", [Int(key)]) => elements(set.range(key..)),
            ("subSet", [Int(low), Int(high)]) if low > high => exception("IllegalArgumentException"),
            ("subSet", [Int(low), Int(high)]) => elements(set.range(low..high)),
            ("toArray" | "iterator" | "forEach", []) => elements(&*set),
            ("descendingIterator", []) => elements(set.iter().rev()),
            ("toString", []) => text(&*set),
            _ => Answer::Unknown,
        }
    }
}
