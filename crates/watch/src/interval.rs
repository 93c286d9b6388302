//! The findings of a monitor in each interval of time. The stored position includes the unfinished interval.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use omnilink_monitor::LineMonitor;
use serde_json::{Value, json};

/// The findings in an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The time since it began.
    pub elapsed: Duration,
    /// The number of checked operations: at least one.
    pub checked: u64,
    /// The number of violations of each cause.
    pub violations: Vec<(String, u64)>,
}

/// An unfinished interval: its start in seconds since 1970, and the checked operations and the violations by cause so far.
type Saved = (u64, u64, BTreeMap<String, u64>);

/// The intervals of one partition.
pub(crate) struct Intervals {
    every: Duration,
    /// When the interval began, since 1970.
    began: Duration,
    /// The counts when the interval began.
    checked: u64,
    violations: BTreeMap<String, u64>,
}

impl Intervals {
    /// Begins the first interval, or continues the stored one.
    pub(crate) fn new(every: Duration, monitor: &dyn LineMonitor, saved: Option<&Value>) -> Intervals {
        let saved: Option<Saved> = saved.and_then(|saved| serde_json::from_value(saved.clone()).ok());
        match saved {
            Some((began, checked, violations)) => {
                Intervals { every, began: Duration::from_secs(began), checked, violations }
            }
            None => Intervals::begin(every, monitor),
        }
    }

    fn begin(every: Duration, monitor: &dyn LineMonitor) -> Intervals {
        let violations = monitor.causes().into_iter().map(|cause| (cause.cause.clone(), cause.violations)).collect();
        Intervals { every, began: now(), checked: monitor.counts().checked, violations }
    }

    /// The unfinished interval, for [`Intervals::new`].
    pub(crate) fn save(&self) -> Value {
        json!((self.began.as_secs(), self.checked, &self.violations))
    }

    /// Ends the interval if it is due, or if it is the last one. Returns `None` for an interval without operations.
    pub(crate) fn end(&mut self, monitor: &dyn LineMonitor, is_last: bool) -> Option<Interval> {
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
    // For a length of time, a clock before 1970 is as good as 1970.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
