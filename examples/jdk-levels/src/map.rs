//! Maps from integers to integers.
//!
//! The recorder's functions are part of the calls: `computeIfPresent(k, v)` replaces the value by `v`, and removes the
//! key if the value is `v` already; `merge(k, v)` keeps the larger value, and removes the key if both are the same.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use omnilink_history::{Call, Value};
use omnilink_models::{Answer, Object};

use crate::answer::{count, element, element_or_exception, elements, entries, entry};
use crate::class::is_mutator;

/// A map.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// Whether iterators return keys in order. If not, results of iterations are recorded sorted, and a text as its
    /// sorted pieces.
    pub is_sorted: bool,
}

impl Object for Map {
    type State = BTreeMap<i64, i64>;

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn only_reads(&self, call: &Call) -> bool {
        !is_mutator(call)
    }

    fn apply(&self, map: &mut Self::State, call: &Call) -> Answer {
        use Value::Int;
        match (call.action(), call.args()) {
            ("put", [Int(key), Int(value)]) => element(map.insert(*key, *value)),
            ("putIfAbsent", [Int(key), Int(value)]) => {
                let old = map.get(key).copied();
                map.entry(*key).or_insert(*value);
                element(old)
            }
            ("computeIfAbsent", [Int(key), Int(value)]) => element(Some(*map.entry(*key).or_insert(*value))),
            ("computeIfPresent", [Int(key), Int(value)]) => match map.get(key) {
                None => element(None),
                Some(old) => element(set(map, *key, (old != value).then_some(*value))),
            },
            ("merge", [Int(key), Int(value)]) => {
                let merged = match map.get(key) {
                    None => Some(*value),
                    Some(old) => (old != value).then_some(*old.max(value)),
                };
                element(set(map, *key, merged))
            }
            ("remove", [Int(key)]) => element(map.remove(key)),
            ("remove", [Int(key), Int(value)]) => {
                let is_same = map.get(key) == Some(value);
                if is_same {
                    map.remove(key);
                }
                Answer::value(is_same)
            }
            ("replace", [Int(key), Int(value)]) => element(map.get_mut(key).map(|old| std::mem::replace(old, *value))),
            ("replace", [Int(key), Int(old), Int(new)]) => {
                let is_same = map.get(key) == Some(old);
                if is_same {
                    map.insert(*key, *new);
                }
                Answer::value(is_same)
            }
            ("clear", []) => {
                map.clear();
                Answer::nothing()
            }
            ("get", [Int(key)]) => element(map.get(key).copied()),
            ("getOrDefault", [Int(key), Int(value)]) => element(Some(*map.get(key).unwrap_or(value))),
            ("containsKey", [Int(key)]) => Answer::value(map.contains_key(key)),
            ("containsValue" | "contains", [Int(value)]) => Answer::value(map.values().any(|other| other == value)),
            ("size" | "mappingCount", []) => count(map.len()),
            ("isEmpty", []) => Answer::value(map.is_empty()),
            ("keySet" | "keys", []) => elements(map.keys()),
            ("values" | "elements", []) => {
                let mut values: Vec<&i64> = map.values().collect();
                if !self.is_sorted {
                    values.sort();
                }
                elements(values)
            }
            ("entrySet" | "forEach", []) => entries(&*map),
            ("toString", []) => {
                let pieces = map.iter().map(|(key, value)| format!("{key}={value}"));
                match self.is_sorted {
                    true => Answer::value(format!("{{{}}}", pieces.collect::<Vec<_>>().join(", ")).as_str()),
                    false => Answer::value(Value::tuple(pieces.map(Value::str))),
                }
            }
            (action, args) if self.is_sorted => navigate(map, action, args),
            _ => Answer::Unknown,
        }
    }
}

/// Sets the value of a key, or removes the key. Returns the new value.
fn set(map: &mut BTreeMap<i64, i64>, key: i64, value: Option<i64>) -> Option<i64> {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    };
    value
}

/// The methods of sorted maps.
fn navigate(map: &mut BTreeMap<i64, i64>, action: &str, args: &[Value]) -> Answer {
    use Value::Int;
    let first = map.first_key_value().map(|(key, value)| (*key, *value));
    let last = map.last_key_value().map(|(key, value)| (*key, *value));
    match (action, args) {
        ("pollFirstEntry", []) => entry(map.pop_first()),
        ("pollLastEntry", []) => entry(map.pop_last()),
        ("firstEntry", []) => entry(first),
        ("lastEntry", []) => entry(last),
        ("firstKey", []) => element_or_exception(first.map(|(key, _)| key)),
        ("lastKey", []) => element_or_exception(last.map(|(key, _)| key)),
        ("ceilingKey", [Int(key)]) => element(map.range(key..).next().map(|(key, _)| *key)),
        ("higherKey", [Int(key)]) => element(map.range((Excluded(key), Unbounded)).next().map(|(key, _)| *key)),
        ("floorKey", [Int(key)]) => element(map.range(..=key).next_back().map(|(key, _)| *key)),
        ("lowerKey", [Int(key)]) => element(map.range(..key).next_back().map(|(key, _)| *key)),
        ("descendingKeySet", []) => elements(map.keys().rev()),
        ("headMap", [Int(key)]) => entries(map.range(..key)),
        ("tailMap", [Int(key)]) => entries(map.range(key..)),
        _ => Answer::Unknown,
    }
}
