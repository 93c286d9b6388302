//! Monitors of lines: of operations, or of transactions.

use crate::alert::{Alert, Cause};
use crate::counts::Counts;
use crate::item::Line;
use crate::key::NewLimits;
use crate::monitor::Monitor;

/// Checks lines as they arrive.
pub trait LineMonitor: Send {
    /// Takes a line. [`LineMonitor::advance_within`] decides about it.
    fn feed(&mut self, line: Line);
    /// Takes an unreadable line.
    fn feed_unreadable(&mut self);
    /// Moves the watermark, and checks everything up to it.
    fn advance_within(&mut self, limits: &NewLimits<'_>) -> Vec<Alert>;
    /// Checks the rest at the end of the input. `is_complete` says that everything has arrived.
    fn finish_within(&mut self, is_complete: bool, limits: &NewLimits<'_>) -> Vec<Alert>;
    /// The counts since the beginning, and the present state.
    fn counts(&self) -> Counts;
    /// The number of alerts so far.
    fn alerts(&self) -> u64;
    /// The causes of violations, most frequent first.
    fn causes(&self) -> Vec<&Cause>;
    /// The keys that hold most, and how much.
    fn widest(&self, most: usize) -> Vec<(String, usize)>;
    /// Writes the state as text, with the subject that it is about and the position in the input.
    fn save(&self, subject: &str, position: &serde_json::Value) -> Result<String, String>;
}

impl LineMonitor for Monitor {
    fn feed(&mut self, line: Line) {
        Monitor::feed(self, line);
    }

    fn feed_unreadable(&mut self) {
        Monitor::feed_unreadable(self);
    }

    fn advance_within(&mut self, limits: &NewLimits<'_>) -> Vec<Alert> {
        Monitor::advance_within(self, limits)
    }

    fn finish_within(&mut self, is_complete: bool, limits: &NewLimits<'_>) -> Vec<Alert> {
        Monitor::finish_within(self, is_complete, limits)
    }

    fn counts(&self) -> Counts {
        Monitor::counts(self)
    }

    fn alerts(&self) -> u64 {
        Monitor::alerts(self)
    }

    fn causes(&self) -> Vec<&Cause> {
        Monitor::causes(self)
    }

    fn widest(&self, most: usize) -> Vec<(String, usize)> {
        Monitor::widest(self, most)
    }

    fn save(&self, subject: &str, position: &serde_json::Value) -> Result<String, String> {
        Monitor::save(self, subject, position)
    }
}
