//! How to watch.

use std::time::Duration;

use omnilink_monitor::MonitorOptions;

use crate::status::Status;

/// How to watch.
#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// How to monitor.
    pub monitor: MonitorOptions,
    /// What a stored state is about, such as the specification, the key and the unit of time: a state about something else
    /// is refused.
    pub subject: String,
    /// Check this often.
    pub every: Duration,
    /// Store the state this often.
    pub store_every: Duration,
    /// The length of the [intervals](crate::Interval) that an outlet gets.
    pub interval: Option<Duration>,
    /// The input ends when all operations have come: processes that have not said that they are over are over too.
    pub is_complete: bool,
    /// What to keep up to date. It takes a look at every key.
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
