//! The options of a watch.

use std::time::Duration;

use omnilink_monitor::MonitorOptions;

use crate::status::Status;

/// The options of a watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// The options of the monitor.
    pub monitor: MonitorOptions,
    /// The subject of a stored state, such as the specification, the key and the unit of time. A watch refuses a state with
    /// another subject.
    pub subject: String,
    /// The time between two checks.
    pub every: Duration,
    /// The time between two stored states.
    pub store_every: Duration,
    /// The length of the [intervals](crate::Interval) that an outlet gets.
    pub interval: Option<Duration>,
    /// Whether the input ends only after all operations have arrived, so that all processes are over then.
    pub is_complete: bool,
    /// The status to keep up to date. Each update visits every key.
    pub status: Option<Status>,
}

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        WatchOptions {
            monitor: MonitorOptions::default(),
            subject: String::new(),
            every: Duration::from_millis(100),
            store_every: Duration::from_secs(10),
            interval: None,
            is_complete: false,
            status: None,
        }
    }
}
