//! The side of the program that embeds a watch: it takes alerts, sets limits, and decides when to stop.

use std::fmt;

use omnilink_judge::{Limits, Unlimited};
use omnilink_monitor::Alert;

use crate::error::WatchError;
use crate::interval::Interval;

/// Takes the findings of a watch. The threads of all partitions call it.
pub trait Outlet: Sync {
    /// Takes alerts, at least one. A watch that continues from a stored state repeats the alerts after it. An error ends
    /// the watch.
    fn alerts(&self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError>;

    /// Takes a notice about the input or the group.
    fn notice(&self, _notice: Notice) {}

    /// Takes the findings of an interval, if [`WatchOptions::interval`](crate::WatchOptions::interval) has a length. An
    /// error ends the watch.
    fn interval(&self, _interval: Interval) -> Result<(), WatchError> {
        Ok(())
    }

    /// Called after the monitor of a partition has decided what it can, and the status has its counts.
    fn advanced(&self) {}

    /// Returns the limits of the check of a key.
    fn limits(&self, _key: &str) -> Box<dyn Limits> {
        Box::new(Unlimited)
    }

    /// Whether to stop before the input ends. The watch then stores its state, and the next watch gets the rest.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A notice about the input or the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A line is unreadable: its place, and the reason. It may quote the line unescaped.
    Unreadable(String),
    /// Most of the first operations arrived without an outcome. Sent once.
    NoOutcomes {
        /// The number of these operations.
        unknown: u64,
        /// The number of all operations.
        operations: u64,
    },
    /// Another monitor owns a partition now, or may: the reason.
    Lost(String),
    /// The store of the group does not answer: the reason. The watch asks again, and sends no further notice until it
    /// answers.
    Silent(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Unreadable(why) | Notice::Lost(why) => f.write_str(why),
            Notice::NoOutcomes { unknown, operations } => write!(
                f,
                "{unknown} of the first {operations} operations came without an outcome, and little can be decided about them"
            ),
            Notice::Silent(why) => write!(f, "{why}; trying again"),
        }
    }
}
