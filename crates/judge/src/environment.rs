//! The environment of a specification's evaluation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use omnilink_history::{Halt, Stop};
use omnilink_tla::datum::{Datum, World};
use omnilink_tla::reach::Limit;
use omnilink_tla::value::Value;

use crate::{Limits, Unlimited};

/// Files, the environment, output, and the registers of `TLCSet`.
pub struct HostWorld<'a> {
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
    limits: &'a dyn Limits,
    /// The first limit that was reached: memory may be free again later.
    halt: Arc<Halt>,
}

/// Random choices are the same in every run.
const SEED: u64 = 0;

impl HostWorld<'static> {
    /// A world that passes printed lines to `print`.
    pub fn new(print: fn(&str)) -> HostWorld<'static> {
        HostWorld::until(print, &Unlimited)
    }
}

impl<'a> HostWorld<'a> {
    /// A world that stops an evaluation when a limit is reached.
    pub fn until(print: fn(&str), limits: &'a dyn Limits) -> HostWorld<'a> {
        HostWorld {
            registers: BTreeMap::new(),
            random: fastrand::Rng::with_seed(SEED),
            workers: 1,
            start: Instant::now(),
            is_foreign: false,
            print,
            limits,
            halt: Arc::default(),
        }
    }

    /// Returns the limit that was reached, even after the evaluation.
    pub(crate) fn halt(&self) -> Arc<Halt> {
        self.halt.clone()
    }

    /// Hides files and the environment from an imported specification.
    pub fn foreign(self, is_foreign: bool) -> HostWorld<'a> {
        HostWorld { is_foreign, ..self }
    }

    /// Sets the number of workers.
    pub fn among(self, workers: usize) -> HostWorld<'a> {
        HostWorld { workers, ..self }
    }
}

impl World for HostWorld<'_> {
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
        if !self.halt.is_raised() {
            self.limits.exceeded().into_iter().for_each(|stop| self.halt.raise(stop));
        }
        self.halt.reason().map(limit)
    }

    fn has_room(&self, bytes: u64) -> bool {
        let has_room = self.limits.memory_left().is_none_or(|left| bytes <= left);
        if !has_room {
            self.halt.raise(Stop::Memory);
        }
        has_room
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
