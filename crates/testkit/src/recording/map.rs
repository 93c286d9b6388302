//! A map of few keys that counts those in a range.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, Schema, Value};

use super::{Object, call, schema};

const KEYS: i64 = 8;
const VALUES: i64 = 3;

pub(super) struct Map {
    dict: BTreeMap<i64, i64>,
    put: Arc<Schema>,
    insert: Arc<Schema>,
    erase: Arc<Schema>,
    contains: Arc<Schema>,
    count: Arc<Schema>,
}

impl Default for Map {
    fn default() -> Map {
        Map {
            dict: BTreeMap::new(),
            put: schema("Put", &["key", "value"], &[]),
            insert: schema("Insert", &["key", "value"], &["ok"]),
            erase: schema("Erase", &["key"], &["ok"]),
            contains: schema("Contains", &["key"], &["ok"]),
            count: schema("Count", &["low", "high"], &["n"]),
        }
    }
}

impl Object for Map {
    fn step(&mut self, _: usize, rng: &mut Rng) -> Option<Call> {
        let (key, value) = (rng.i64(1..=KEYS), rng.i64(1..=VALUES));
        Some(match rng.u8(..5) {
            0 => {
                self.dict.insert(key, value);
                call(&self.put, [Value::Int(key), Value::Int(value)])
            }
            1 => {
                let ok = !self.dict.contains_key(&key);
                self.dict.entry(key).or_insert(value);
                call(&self.insert, [Value::Int(key), Value::Int(value), Value::Bool(ok)])
            }
            2 => call(&self.erase, [Value::Int(key), Value::Bool(self.dict.remove(&key).is_some())]),
            3 => call(&self.contains, [Value::Int(key), Value::Bool(self.dict.contains_key(&key))]),
            _ => {
                let high = rng.i64(key..=KEYS);
                let n = self.dict.range(key..=high).count() as i64;
                call(&self.count, [Value::Int(key), Value::Int(high), Value::Int(n)])
            }
        })
    }
}
