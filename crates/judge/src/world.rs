//! What a specification sees of the world around it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use history::Stop;
use tla::datum::{Datum, World};
use tla::reach::Limit;
use tla::value::Value;

use crate::Limits;
use crate::guard::watched;

/// Files, the environment, what is printed, and what `TLCSet` keeps.
pub struct Outside {
    registers: BTreeMap<i64, Datum>,
    random: fastrand::Rng,
    /// How many of these there are.
    workers: usize,
    /// Whether the specification was received from elsewhere: it reads neither files nor the environment.
    is_foreign: bool,
    /// Where what is printed goes.
    print: fn(&str),
    stop: Arc<Stopper>,
}

/// Tells every evaluation that a limit was reached, and how much memory is left before one is.
#[derive(Debug)]
pub struct Stopper {
    limit: AtomicU8,
    /// In bytes, when it was last looked at.
    room: AtomicU64,
}

impl Default for Stopper {
    fn default() -> Stopper {
        Stopper { limit: AtomicU8::new(0), room: AtomicU64::new(u64::MAX) }
    }
}

/// What can be told; a place in it, counted from one, is what is stored.
const LIMITS: [Limit; 4] = [Limit::States, Limit::Time, Limit::Memory, Limit::Interrupt];

impl Stopper {
    /// Tells it.
    pub fn stop(&self, limit: Limit) {
        let place = LIMITS.iter().position(|known| *known == limit).map_or(0, |place| place + 1);
        self.limit.store(place as u8, Ordering::Relaxed);
    }

    /// Tells how many more bytes of memory may be used.
    pub(crate) fn set_room(&self, bytes: u64) {
        self.room.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn limit(&self) -> Option<Limit> {
        LIMITS.get(usize::from(self.limit.load(Ordering::Relaxed)).checked_sub(1)?).copied()
    }
}

/// Random choices are the same in every run.
const SEED: u64 = 0;

impl Outside {
    /// A world in which what is printed goes there.
    pub fn new(print: fn(&str)) -> Outside {
        Outside::until(print, Arc::default())
    }

    /// A world that can be told to end.
    pub fn until(print: fn(&str), stop: Arc<Stopper>) -> Outside {
        Outside {
            registers: BTreeMap::new(),
            random: fastrand::Rng::with_seed(SEED),
            workers: 1,
            is_foreign: false,
            print,
            stop,
        }
    }

    /// Hides files and the environment from an imported specification.
    pub fn foreign(self, is_foreign: bool) -> Outside {
        Outside { is_foreign, ..self }
    }

    /// One of several.
    pub fn among(self, workers: usize) -> Outside {
        Outside { workers, ..self }
    }
}

impl World for Outside {
    fn print(&mut self, line: &str) {
        (self.print)(line);
    }

    fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        if self.is_foreign {
            return Err("file access is disabled for imported specifications".into());
        }
        std::fs::read(path).map_err(|error| error.to_string())
    }

    fn environment(&mut self) -> Vec<(String, String)> {
        if self.is_foreign {
            return Vec::new();
        }
        // A variable that is not text cannot be a value.
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    fn register(&self, index: i64) -> Option<Datum> {
        self.registers.get(&index).cloned()
    }

    fn set_register(&mut self, index: i64, value: Datum) {
        self.registers.insert(index, value);
    }

    fn statistic(&self, name: &str) -> Option<Value> {
        (name == "workers").then(|| Value::Int(i64::try_from(self.workers).unwrap_or(i64::MAX)))
    }

    fn exit(&mut self) {}

    fn random(&mut self, bound: u64) -> u64 {
        self.random.u64(..bound.max(1))
    }

    fn limit(&self) -> Option<Limit> {
        self.stop.limit()
    }

    fn has_room(&self, bytes: u64) -> bool {
        let has_room = bytes <= self.stop.room.load(Ordering::Relaxed);
        if !has_room {
            self.stop.stop(Limit::Memory);
        }
        has_room
    }
}

/// Runs while a thread looks at the limits, and stops the evaluation once one is reached.
pub fn guarded<R>(limits: &dyn Limits, stop: &Stopper, run: impl FnOnce() -> R) -> R {
    let look = || {
        limits.memory_left().into_iter().for_each(|bytes| stop.set_room(bytes));
        limits.exceeded().map(|reason| stop.stop(limit(reason))).is_some()
    };
    watched(&look, run)
}

/// The same reason in the words of a verdict.
pub(crate) fn stop(limit: Limit) -> Stop {
    match limit {
        Limit::Time => Stop::Time,
        Limit::Memory => Stop::Memory,
        Limit::States | Limit::Interrupt => Stop::Interrupted,
    }
}

/// The same reason in the words of `tla`.
pub fn limit(stop: Stop) -> Limit {
    match stop {
        Stop::Time => Limit::Time,
        Stop::Memory => Limit::Memory,
        _ => Limit::Interrupt,
    }
}
