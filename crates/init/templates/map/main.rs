//! Makes the calls of `Map.tla` on a map, from several threads, and records them.
//!
//! The map is a small one that works, so that you see a run before you change anything. To check
//! your own, replace the parts marked 1 to 4. Calls are drawn and recorded in
//! `operations.rs`.

#[rustfmt::skip] // Written by `omnilink init --update`.
mod operations;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use omnilink_record::drive::{self, Plan};
use operations::{Get, System};

/// 1. The map under test.
#[derive(Default)]
struct Subject {
    map: Mutex<HashMap<i64, i64>>,
}

impl Subject {
    fn map(&self) -> MutexGuard<'_, HashMap<i64, i64>> {
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl System for Subject {
    type Session = ();

    fn session(&self, _thread: usize) -> Self::Session {}

    /// 2. Stores a value.
    fn put(&self, _session: &mut Self::Session, key: i64, value: i64) {
        self.map().insert(key, value);
    }

    /// 3. Looks a value up.
    fn get(&self, _session: &mut Self::Session, key: i64) -> Get {
        match self.map().get(&key) {
            Some(&value) => Get::Done { value },
            None => Get::Missing,
        }
    }

    /// 4. Removes a value, and returns whether there was one.
    fn remove(&self, _session: &mut Self::Session, key: i64) -> bool {
        self.map().remove(&key).is_some()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    drive::repeat(|| {
        let plan = Plan::from_env()?;
        operations::run(&plan, &Subject::default())?;
        Ok(())
    })
}
