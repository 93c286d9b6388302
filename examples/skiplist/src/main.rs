//! Records what threads do to one map of crossbeam-skiplist.
//!
//! `skiplist insert-get` replaces values and looks for them. `skiplist remove` never replaces a value, so that nothing
//! but removing is to blame: it puts one in where there is none, and takes it away again. `skiplist locked` does both to a
//! map behind a lock, which must be accepted: otherwise harness or specification were wrong, not the system. There are
//! two keys, so that threads meet, and no value is put in twice, so that what is read tells who wrote it.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_skiplist::SkipMap;
use omnilink_record::Action;
use omnilink_record::drive::{self, Client, Plan};

static INSERT: Action = Action::new("Insert", &["key", "value"], &[]);
static GET: Action = Action::new("Get", &["key"], &["value"]);
static GET_OR_INSERT: Action = Action::new("GetOrInsert", &["key", "value"], &["found"]);
static REMOVE: Action = Action::new("Remove", &["key"], &["value"]);

const KEYS: u64 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let workload = env::args().nth(1).unwrap_or_default();
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        match &*workload {
            "insert-get" => run(&plan, &SkipMap::new(), insert_get)?,
            "remove" => run(&plan, &SkipMap::new(), remove)?,
            "locked" => run(&plan, &Locked::default(), |map, client| match client.draw().below(2) {
                0 => insert_get(map, client),
                _ => remove(map, client),
            })?,
            _ => return Err("it needs a workload: `insert-get`, `remove` or `locked`".into()),
        }
        Ok(())
    })
}

fn run<M: Map>(plan: &Plan, map: &M, step: impl Fn(&M, &mut Client) + Sync) -> io::Result<()> {
    drive::run(plan, map, |_, _| (), |map, (), client| step(map, client))
}

fn insert_get(map: &impl Map, client: &mut Client) {
    let key = client.draw().below(KEYS);
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&INSERT, (key, value));
        map.insert(key, value);
        call.done(());
    } else {
        let call = client.call(&GET, (key,));
        let found = map.get(key);
        call.done((found,));
    }
}

fn remove(map: &impl Map, client: &mut Client) {
    let key = client.draw().below(KEYS);
    if client.draw().below(2) == 0 {
        let value = client.draw().fresh();
        let call = client.call(&GET_OR_INSERT, (key, value));
        let found = map.get_or_insert(key, value);
        call.done((found,));
    } else {
        let call = client.call(&REMOVE, (key,));
        let removed = map.remove(key);
        call.done((removed,));
    }
}

/// What both maps can do.
trait Map: Sync {
    fn insert(&self, key: u64, value: i64);
    fn get(&self, key: u64) -> Option<i64>;
    fn get_or_insert(&self, key: u64, value: i64) -> i64;
    fn remove(&self, key: u64) -> Option<i64>;
}

impl Map for SkipMap<u64, i64> {
    fn insert(&self, key: u64, value: i64) {
        SkipMap::insert(self, key, value);
    }

    fn get(&self, key: u64) -> Option<i64> {
        SkipMap::get(self, &key).map(|entry| *entry.value())
    }

    fn get_or_insert(&self, key: u64, value: i64) -> i64 {
        *SkipMap::get_or_insert(self, key, value).value()
    }

    fn remove(&self, key: u64) -> Option<i64> {
        SkipMap::remove(self, &key).map(|entry| *entry.value())
    }
}

/// A map whose operations cannot overlap.
#[derive(Default)]
struct Locked(Mutex<BTreeMap<u64, i64>>);

impl Locked {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Map for Locked {
    fn insert(&self, key: u64, value: i64) {
        self.lock().insert(key, value);
    }

    fn get(&self, key: u64) -> Option<i64> {
        self.lock().get(&key).copied()
    }

    fn get_or_insert(&self, key: u64, value: i64) -> i64 {
        *self.lock().entry(key).or_insert(value)
    }

    fn remove(&self, key: u64) -> Option<i64> {
        self.lock().remove(&key)
    }
}
