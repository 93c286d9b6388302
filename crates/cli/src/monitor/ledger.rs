//! What a monitor found over time: an entry for each interval in the ledger that `omnilink runs summary` and `omnilink report`
//! read.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ::monitor::Monitor;
use campaign::{Described, Entry, Ledger, MONITORED, now};
use explore::Store;

use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;

/// The intervals of one partition.
pub(super) struct Intervals {
    ledger: Ledger,
    every: Duration,
    object: String,
    spec: String,
    began: Instant,
    /// What had been checked and found when the interval began.
    checked: u64,
    violations: BTreeMap<String, u64>,
}

impl Intervals {
    /// Begins the first one, if there is to be a ledger.
    pub(super) fn new(args: &MonitorArgs, monitor: &Monitor) -> Option<Intervals> {
        let mut intervals = Intervals {
            ledger: Ledger::of(&Store::at(args.ledger.as_ref()?)),
            every: args.ledger_every,
            object: super::name(args),
            spec: args.spec.clone(),
            began: Instant::now(),
            checked: 0,
            violations: BTreeMap::new(),
        };
        intervals.begin(monitor);
        Some(intervals)
    }

    fn begin(&mut self, monitor: &Monitor) {
        self.began = Instant::now();
        self.checked = monitor.counts().checked;
        self.violations = monitor.causes().into_iter().map(|cause| (cause.cause.clone(), cause.violations)).collect();
    }

    /// Notes the interval if it is over, or if it is the last one. One without operations is left out.
    pub(super) fn note(&mut self, monitor: &Monitor, is_last: bool) -> Result<(), Exit> {
        if !is_last && self.began.elapsed() < self.every {
            return Ok(());
        }
        let checked = monitor.counts().checked.saturating_sub(self.checked);
        let found = monitor.causes().into_iter().filter_map(|cause| {
            let before = self.violations.get(&cause.cause).copied().unwrap_or(0);
            let violations = cause.violations.saturating_sub(before);
            (violations > 0).then(|| (cause.cause.clone(), violations))
        });
        let found: Vec<(String, u64)> = found.collect();
        if checked > 0 {
            let campaign = Described {
                at: now().as_secs(),
                commit: None,
                object: self.object.clone(),
                spec: self.spec.clone(),
                how: MONITORED.to_owned(),
                seed: 0,
                seconds: self.began.elapsed().as_secs_f64(),
                stops_at_first: false,
                is_complete: false,
                novelty: None,
            };
            let entry = Entry::monitored(campaign, checked, found);
            self.ledger.append(&entry).map_err(|error| wrong(self.ledger.path(), error))?;
        }
        self.begin(monitor);
        Ok(())
    }
}
