//! Work on a whole trace under limits.

use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use omnilink_history::Halt;

use crate::{Failed, Limits};

/// Reads while a thread polls the limits every few milliseconds, and raises a flag once one is reached.
pub(crate) fn halting<R>(limits: &dyn Limits, read: impl FnOnce(&Halt) -> R) -> R {
    const PAUSE: Duration = Duration::from_millis(5);
    let halt = Halt::default();
    let look = || limits.exceeded().map(|reason| halt.raise(reason)).is_some();
    let (ended, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || while end.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) && !look() {});
        let result = read(&halt);
        drop(ended);
        result
    })
}

/// Polls the limits once every few hundred operations, for a loop over all of them that has processed this many.
pub(crate) fn pause(limits: &dyn Limits, stage: Stage, operations: u64) -> Result<(), Failed> {
    const BETWEEN: u64 = 256;
    if !operations.is_multiple_of(BETWEEN) {
        return Ok(());
    }
    limits.reached(stage, operations);
    limits.exceeded().map_or(Ok(()), |stop| Err(Failed::Stopped(stop)))
}

/// The current activity of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// Reading the specification.
    #[default]
    Preparing,
    /// Reading the history.
    Reading,
    /// Binding operations to the specification.
    Binding,
    /// Deciding with a procedure for one data type, or before a search has begun.
    Deciding,
    /// Searching for an order.
    Searching,
    /// Searching for a behavior that explains the events of a log.
    Following,
    /// Finding reasons for a rejection.
    Explaining,
    /// Replaying the states of an order, or writing them.
    Showing,
}

impl Stage {
    /// All stages, each at its own number.
    pub const ALL: [Stage; 8] = [
        Stage::Preparing,
        Stage::Reading,
        Stage::Binding,
        Stage::Deciding,
        Stage::Searching,
        Stage::Following,
        Stage::Explaining,
        Stage::Showing,
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Preparing => "preparing",
            Stage::Reading => "reading the history",
            Stage::Binding => "binding the operations to the specification",
            Stage::Deciding => "deciding",
            Stage::Searching => "searching",
            Stage::Following => "searching for a behavior",
            Stage::Explaining => "explaining a rejection",
            Stage::Showing => "following the states",
        })
    }
}
