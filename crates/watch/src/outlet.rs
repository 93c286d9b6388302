//! The side of the program that embeds a watch: it takes alerts, sets limits, and says when to stop.

use std::fmt;

use omnilink_judge::{Limits, Unlimited};
use omnilink_monitor::Alert;

use crate::error::WatchError;
use crate::interval::Interval;

/// Takes what a watch finds. The threads of all partitions call it.
pub trait Outlet: Sync {
    /// Takes alerts, at least one. With a stored state, those after it are told again when the watch continues. An error
    /// ends the watch.
    fn alerts(&self, partition: Option<u32>, alerts: Vec<Alert>) -> Result<(), WatchError>;

    /// Takes something to know about the input or the group.
    fn notice(&self, _notice: Notice) {}

    /// Takes what was found in an interval, if [`WatchOptions::interval`](crate::WatchOptions::interval) has a length. An
    /// error ends the watch.
    fn interval(&self, _interval: Interval) -> Result<(), WatchError> {
        Ok(())
    }

    /// The limits of the check of a key.
    fn limits(&self, _key: &str) -> Box<dyn Limits> {
        Box::new(Unlimited)
    }

    /// Whether to stop before the input ends. The state is stored then, and the rest comes to the next watch.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Something to know about the input or the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A line cannot be read: its place, and why. It may quote the line as it is.
    Unreadable(String),
    /// Most of the first operations came without an outcome. Told once.
    NoOutcomes {
        /// The number of these operations.
        unknown: u64,
        /// The number of all operations.
        operations: u64,
    },
    /// A partition belongs to another monitor now, or may: why.
    Lost(String),
    /// The store of the group does not answer: why. It is asked again, and nothing more is said until it answers.
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
