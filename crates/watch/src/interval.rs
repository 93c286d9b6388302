//! What a monitor found in each interval of time. The interval that is not over is part of the stored position.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use omnilink_monitor::Monitor;
use serde_json::{Value, json};

/// What was found in an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The time since it began.
    pub elapsed: Duration,
    /// The number of operations that were checked: at least one.
    pub checked: u64,
    /// The number of violations of each cause.
    pub violations: Vec<(String, u64)>,
}

/// An interval that is not over: its start in seconds since 1970, and the checked operations and the violations
/// by cause until then.
type Saved = (u64, u64, BTreeMap<String, u64>);

/// The intervals of one partition.
pub(crate) struct Intervals {
    every: Duration,
    /// When the interval began, since 1970.
    began: Duration,
    /// What had been checked and found when the interval began.
    checked: u64,
    violations: BTreeMap<String, u64>,
}

impl Intervals {
    /// Begins the first one, or continues the one that was stored.
    pub(crate) fn new(every: Duration, monitor: &Monitor, saved: Option<&Value>) -> Intervals {
        let saved: Option<Saved> = saved.and_then(|saved| serde_json::from_value(saved.clone()).ok());
        match saved {
            Some((began, checked, violations)) => {
                Intervals { every, began: Duration::from_secs(began), checked, violations }
            }
            None => Intervals::begin(every, monitor),
        }
    }

    fn begin(every: Duration, monitor: &Monitor) -> Intervals {
        let violations = monitor.causes().into_iter().map(|cause| (cause.cause.clone(), cause.violations)).collect();
        Intervals { every, began: now(), checked: monitor.counts().checked, violations }
    }

    /// The interval that is not over, for [`Intervals::new`].
    pub(crate) fn save(&self) -> Value {
        json!((self.began.as_secs(), self.checked, &self.violations))
    }

    /// Ends the interval if it is time, or if it is the last one. `None` also for one without operations.
    pub(crate) fn end(&mut self, monitor: &Monitor, is_last: bool) -> Option<Interval> {
        let elapsed = now().saturating_sub(self.began);
        if !is_last && elapsed < self.every {
            return None;
        }
        let checked = monitor.counts().checked.saturating_sub(self.checked);
        let found = monitor.causes().into_iter().filter_map(|cause| {
            let before = self.violations.get(&cause.cause).copied().unwrap_or(0);
            let violations = cause.violations.saturating_sub(before);
            (violations > 0).then(|| (cause.cause.clone(), violations))
        });
        let violations = found.collect();
        *self = Intervals::begin(self.every, monitor);
        (checked > 0).then_some(Interval { elapsed, checked, violations })
    }
}

/// The time since 1970.
pub(crate) fn now() -> Duration {
    // A clock before 1970 is as good as 1970 for a length.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
