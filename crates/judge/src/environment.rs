//! The environment of a specification's evaluation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use omnilink_history::Stop;
use omnilink_tla::datum::{Datum, World};
use omnilink_tla::reach::Limit;
use omnilink_tla::value::Value;

use crate::Limits;
use crate::halting::watched;

/// Files, the environment, output, and the registers of `TLCSet`.
pub struct HostWorld {
    registers: BTreeMap<i64, Datum>,
    random: fastrand::Rng,
    /// The number of workers.
    workers: usize,
    /// When it was created.
    start: Instant,
    /// True if the specification is imported: it reads neither files nor the environment.
    is_foreign: bool,
    /// Receives printed lines.
    print: fn(&str),
    stop: Arc<Stopper>,
}

/// Tells every evaluation that a limit was reached, and how much memory is left.
#[derive(Debug)]
pub struct Stopper {
    limit: AtomicU8,
    /// In bytes, at the last poll.
    room: AtomicU64,
}

impl Default for Stopper {
    fn default() -> Stopper {
        Stopper { limit: AtomicU8::new(0), room: AtomicU64::new(u64::MAX) }
    }
}

/// The limits. A limit is stored as its index, counted from one.
const LIMITS: [Limit; 4] = [Limit::States, Limit::Time, Limit::Memory, Limit::Interrupt];

impl Stopper {
    /// Requests a stop.
    pub fn stop(&self, limit: Limit) {
        let place = LIMITS.iter().position(|known| *known == limit).map_or(0, |place| place + 1);
        self.limit.store(place as u8, Ordering::Relaxed);
    }

    /// Sets the number of bytes of memory left.
    pub(crate) fn set_room(&self, bytes: u64) {
        self.room.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn limit(&self) -> Option<Limit> {
        LIMITS.get(usize::from(self.limit.load(Ordering::Relaxed)).checked_sub(1)?).copied()
    }
}

/// Random choices are the same in every run.
const SEED: u64 = 0;

impl HostWorld {
    /// A world that passes printed lines to `print`.
    pub fn new(print: fn(&str)) -> HostWorld {
        HostWorld::until(print, Arc::default())
    }

    /// A world that can be stopped.
    pub fn until(print: fn(&str), stop: Arc<Stopper>) -> HostWorld {
        HostWorld {
            registers: BTreeMap::new(),
            random: fastrand::Rng::with_seed(SEED),
            workers: 1,
            start: Instant::now(),
            is_foreign: false,
            print,
            stop,
        }
    }

    /// Hides files and the environment from an imported specification.
    pub fn foreign(self, is_foreign: bool) -> HostWorld {
        HostWorld { is_foreign, ..self }
    }

    /// Sets the number of workers.
    pub fn among(self, workers: usize) -> HostWorld {
        HostWorld { workers, ..self }
    }
}

impl World for HostWorld {
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
        let int = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        match name {
            "workers" => Some(int(self.workers as u64)),
            "duration" => Some(int(self.start.elapsed().as_secs())),
            _ => None,
        }
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

/// Calls `work` while a thread polls the limits, and stops the evaluation once one is reached.
pub fn guarded<R>(limits: &dyn Limits, stop: &Stopper, run: impl FnOnce() -> R) -> R {
    let look = || {
        limits.memory_left().into_iter().for_each(|bytes| stop.set_room(bytes));
        limits.exceeded().map(|reason| stop.stop(limit(reason))).is_some()
    };
    watched(&look, run)
}

/// The same reason as a verdict's.
pub(crate) fn stop(limit: Limit) -> Stop {
    match limit {
        Limit::Time => Stop::Time,
        Limit::Memory => Stop::Memory,
        Limit::States | Limit::Interrupt => Stop::Interrupted,
    }
}

/// The same reason as `tla`'s.
pub fn limit(stop: Stop) -> Limit {
    match stop {
        Stop::Time => Limit::Time,
        Stop::Memory => Limit::Memory,
        _ => Limit::Interrupt,
    }
}
