//! What a monitor found over time: an entry for each interval in the ledger that `omnilink runs summary` and `omnilink report`
//! read.

use std::collections::BTreeMap;
use std::time::Duration;

use ::omnilink_monitor::Monitor;
use omnilink_campaign::{Described, Entry, Ledger, MONITORED, now};
use omnilink_explore::Store;
use serde_json::{Value, json};

use super::wrong;
use crate::args::MonitorArgs;
use crate::exit::Exit;

/// An interval that is not over: its start in seconds since 1970, and the checked operations and the violations
/// by cause until then.
type Interval = (u64, u64, BTreeMap<String, u64>);

/// The intervals of one partition.
pub(super) struct Intervals {
    ledger: Ledger,
    every: Duration,
    object: String,
    spec: String,
    /// When the interval began, since 1970.
    began: Duration,
    /// What had been checked and found when the interval began.
    checked: u64,
    violations: BTreeMap<String, u64>,
}

impl Intervals {
    /// Begins the first one, if there is to be a ledger, or continues the one that was stored at this position.
    pub(super) fn new(args: &MonitorArgs, monitor: &Monitor, position: Option<&Value>) -> Option<Intervals> {
        let mut intervals = Intervals {
            ledger: Ledger::of(&Store::at(args.ledger.as_ref()?)),
            every: args.ledger_every,
            object: super::name(args),
            spec: args.spec.clone(),
            began: now(),
            checked: 0,
            violations: BTreeMap::new(),
        };
        let stored: Option<Interval> =
            position.and_then(|position| serde_json::from_value(position["interval"].clone()).ok());
        match stored {
            Some((began, checked, violations)) => {
                intervals.began = Duration::from_secs(began);
                (intervals.checked, intervals.violations) = (checked, violations);
            }
            None => intervals.begin(monitor),
        }
        Some(intervals)
    }

    /// The interval that is not over, for [`Intervals::new`].
    pub(super) fn save(&self) -> Value {
        json!((self.began.as_secs(), self.checked, &self.violations))
    }

    fn begin(&mut self, monitor: &Monitor) {
        self.began = now();
        self.checked = monitor.counts().checked;
        self.violations = monitor.causes().into_iter().map(|cause| (cause.cause.clone(), cause.violations)).collect();
    }

    /// Notes the interval if it is over, or if it is the last one. One without operations is left out.
    /// Returns whether it was noted.
    pub(super) fn note(&mut self, monitor: &Monitor, is_last: bool) -> Result<bool, Exit> {
        let elapsed = now().saturating_sub(self.began);
        if !is_last && elapsed < self.every {
            return Ok(false);
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
                seconds: elapsed.as_secs_f64(),
                stops_at_first: false,
                is_complete: false,
                novelty: None,
            };
            let entry = Entry::monitored(campaign, checked, found);
            self.ledger.append(&entry).map_err(|error| wrong(self.ledger.path(), error))?;
        }
        self.begin(monitor);
        Ok(checked > 0)
    }
}
