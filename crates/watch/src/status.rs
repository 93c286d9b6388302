//! The last reports of the monitors of all partitions: counts, causes, alerts and progress, for the users of a running
//! watch.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use omnilink_monitor::{Alert, Cause, Counts, LineMonitor};

use crate::interval::now;

/// A watch that has been silent for this long is not healthy.
const SILENT: Duration = Duration::from_secs(60);

/// The maximum number of causes, of a partition and of all together.
const MOST_CAUSES: usize = 100;

/// The maximum number of keys, of a partition and of all together.
const MOST_KEYS: usize = 5;

/// The maximum number of entries of progress.
const MOST_PROGRESS: usize = 120;

/// The maximum number of alerts.
const MOST_ALERTS: usize = 100;

/// The last reports of the monitors of all partitions. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Status(Arc<Mutex<Said>>);

#[derive(Debug, Default)]
struct Said {
    partitions: BTreeMap<u32, Part>,
    /// The latest first.
    alerts: VecDeque<Arc<Raised>>,
    /// An entry for each second.
    recent: VecDeque<Progress>,
    /// The checked operations and the violations at the last entry of `recent`.
    before: (u64, u64),
    since: Option<Instant>,
}

/// The last report of the monitor of a partition.
#[derive(Debug)]
struct Part {
    counts: Counts,
    causes: Vec<Cause>,
    widest: Vec<(String, usize)>,
}

/// An alert of a running watch.
#[derive(Debug)]
pub struct Raised {
    /// The time of the alert since 1970.
    pub at: Duration,
    /// The partition, if the input has partitions.
    pub partition: Option<u32>,
    /// The alert.
    pub alert: Alert,
}

/// The checked operations and the violations of a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The time since 1970, in whole seconds.
    pub at: Duration,
    /// The number of checked operations.
    pub checked: u64,
    /// The number of violations.
    pub violations: u64,
}

impl Status {
    /// The counts of all partitions together.
    pub fn counts(&self) -> Counts {
        self.said().counts()
    }

    /// The causes of all partitions, most frequent first: at most 100.
    pub fn causes(&self) -> Vec<Cause> {
        let said = self.said();
        let mut causes: BTreeMap<&str, Cause> = BTreeMap::new();
        for cause in said.partitions.values().flat_map(|part| &part.causes) {
            let known = causes.entry(&cause.cause).or_insert_with(|| Cause { violations: 0, ..cause.clone() });
            known.violations += cause.violations;
        }
        let mut causes: Vec<Cause> = causes.into_values().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.violations));
        causes.truncate(MOST_CAUSES);
        causes
    }

    /// The keys with the most unsettled operations, and their numbers: at most 5.
    pub fn widest(&self) -> Vec<(String, usize)> {
        let said = self.said();
        let mut widest: Vec<(String, usize)> =
            said.partitions.values().flat_map(|part| &part.widest).cloned().collect();
        widest.sort_by_key(|(_, ops)| std::cmp::Reverse(*ops));
        widest.truncate(MOST_KEYS);
        widest
    }

    /// The latest alerts, newest first: at most 100.
    pub fn alerts(&self) -> Vec<Arc<Raised>> {
        self.said().alerts.iter().cloned().collect()
    }

    /// The progress of the seconds that are over, at most 120, oldest first.
    pub fn recent(&self) -> Vec<Progress> {
        let second = whole(now());
        self.said().recent.iter().filter(|entry| entry.at < second).cloned().collect()
    }

    /// Whether the watch has reported within a minute.
    pub fn is_healthy(&self) -> bool {
        self.said().since.is_some_and(|since| since.elapsed() < SILENT)
    }

    /// Takes the report of the monitor of a partition.
    pub(crate) fn update(&self, partition: u32, monitor: &dyn LineMonitor) {
        let part = Part {
            counts: monitor.counts(),
            causes: monitor.causes().into_iter().take(MOST_CAUSES).cloned().collect(),
            widest: monitor.widest(MOST_KEYS),
        };
        let mut said = self.said();
        said.partitions.insert(partition, part);
        said.note_progress();
    }

    /// Takes alerts about a partition.
    pub(crate) fn raise(&self, partition: Option<u32>, alerts: &[Alert]) {
        let mut said = self.said();
        for alert in alerts {
            said.alerts.push_front(Arc::new(Raised { at: now(), partition, alert: alert.clone() }));
        }
        said.alerts.truncate(MOST_ALERTS);
    }

    /// Forgets a partition that another monitor owns now.
    pub(crate) fn remove(&self, partition: u32) {
        let mut said = self.said();
        said.partitions.remove(&partition);
        let Counts { checked, violations, .. } = said.counts();
        said.before = (checked, violations);
    }

    /// Notes that the watch lives, although it may have no partition.
    pub(crate) fn note_alive(&self) {
        self.said().since = Some(Instant::now());
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Said {
    fn counts(&self) -> Counts {
        let mut all = self.partitions.values().map(|part| &part.counts);
        let first = all.next().cloned().unwrap_or_default();
        all.fold(first, Counts::merge)
    }

    fn note_progress(&mut self) {
        let counts = self.counts();
        let checked = counts.checked.saturating_sub(self.before.0);
        let violations = counts.violations.saturating_sub(self.before.1);
        let at = whole(now());
        match self.recent.back_mut() {
            Some(last) if last.at == at => {
                last.checked += checked;
                last.violations += violations;
            }
            _ => self.recent.push_back(Progress { at, checked, violations }),
        }
        if self.recent.len() > MOST_PROGRESS {
            self.recent.pop_front();
        }
        (self.before, self.since) = ((counts.checked, counts.violations), Some(Instant::now()));
    }
}

/// The seconds that are over.
fn whole(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs())
}

#[cfg(test)]
mod tests {
    use omnilink_monitor::AlertKind;

    use super::*;

    fn alert(number: u64) -> Alert {
        let text = String::new;
        let (kind, at, report) = (AlertKind::Violation, Some(number), None);
        Alert { number, kind, key: "7".into(), at, watermark: 0, sentence: text(), cause: text(), repeated: 0, report }
    }

    #[test]
    fn the_latest_alerts_are_kept() {
        let status = Status::default();
        (1..=130).for_each(|number| status.raise(Some(2), &[alert(number)]));
        let numbers: Vec<u64> = status.alerts().iter().map(|raised| raised.alert.number).collect();
        assert_eq!((numbers.len(), numbers[0], numbers[99]), (100, 130, 31));
    }

    #[test]
    fn a_second_has_one_entry() {
        let status = Status::default();
        for _ in 0..3 {
            status.said().note_progress();
        }
        // The loop may meet the end of a second.
        assert!(status.said().recent.len() <= 2);
        status.said().recent.iter_mut().for_each(|entry| entry.at = Duration::from_secs(1));
        assert_eq!(status.recent()[0], Progress { at: Duration::from_secs(1), checked: 0, violations: 0 });
    }
}
