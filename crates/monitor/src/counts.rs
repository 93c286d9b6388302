//! What was counted, also as metrics for Prometheus.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Counts since the beginning, and the present state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Operations that came, each once.
    pub operations: u64,
    /// Operations that came again.
    pub duplicates: u64,
    /// Operations that came after the watermark had passed their start.
    pub late: u64,
    /// Operations that never came.
    pub lost: u64,
    /// Operations of keys whose state was unknown, so that nothing was decided about them.
    pub unknown: u64,
    /// Operations that were checked.
    pub checked: u64,
    /// Checks of a key.
    pub checks: u64,
    /// Violations.
    pub violations: u64,
    /// Violations that proved wrong when a late operation came.
    pub withdrawn: u64,
    /// Checks that were given up.
    pub inconclusive: u64,
    /// Operations that do not fit the specification, or contradict others.
    pub wrong: u64,
    /// Keys that were dropped to make room.
    pub dropped: u64,
    /// The number of keys now.
    pub keys: u64,
    /// The number of keys whose state is unknown now.
    pub unknown_keys: u64,
    /// The number of operations that are kept now.
    pub kept: u64,
    /// The number of processes now.
    pub processes: u64,
    /// The watermark.
    pub watermark: u64,
    /// The difference between the latest time and the watermark.
    pub lag: u64,
}

impl Counts {
    /// The counts of two partitions together.
    pub fn merge(self, other: &Counts) -> Counts {
        Counts {
            operations: self.operations + other.operations,
            duplicates: self.duplicates + other.duplicates,
            late: self.late + other.late,
            lost: self.lost + other.lost,
            unknown: self.unknown + other.unknown,
            checked: self.checked + other.checked,
            checks: self.checks + other.checks,
            violations: self.violations + other.violations,
            withdrawn: self.withdrawn + other.withdrawn,
            inconclusive: self.inconclusive + other.inconclusive,
            wrong: self.wrong + other.wrong,
            dropped: self.dropped + other.dropped,
            keys: self.keys + other.keys,
            unknown_keys: self.unknown_keys + other.unknown_keys,
            kept: self.kept + other.kept,
            processes: self.processes.max(other.processes),
            watermark: self.watermark.min(other.watermark),
            lag: self.lag.max(other.lag),
        }
    }

    /// The text format of Prometheus.
    pub fn prometheus(&self) -> String {
        let counters = [
            ("operations", self.operations, "Operations that came, each once."),
            ("duplicates", self.duplicates, "Operations that came again."),
            ("late", self.late, "Operations that came after the watermark had passed their start."),
            ("lost", self.lost, "Operations that never came."),
            ("unknown", self.unknown, "Operations about which nothing was decided."),
            ("checked", self.checked, "Operations that were checked."),
            ("checks", self.checks, "Checks of a key."),
            ("violations", self.violations, "Violations of the specification."),
            ("withdrawn", self.withdrawn, "Violations that proved wrong when a late operation came."),
            ("inconclusive", self.inconclusive, "Checks that were given up."),
            ("wrong", self.wrong, "Operations that do not fit the specification, or contradict others."),
            ("dropped_keys", self.dropped, "Keys that were dropped to make room."),
        ];
        let gauges = [
            ("keys", self.keys, "Keys in memory."),
            ("unknown_keys", self.unknown_keys, "Keys whose state is unknown."),
            ("kept_operations", self.kept, "Operations in memory."),
            ("processes", self.processes, "Processes that are not over."),
            ("watermark", self.watermark, "The time up to which everything is decided."),
            ("lag", self.lag, "The difference between the latest time and the watermark."),
        ];
        let mut text = String::new();
        for (name, value, help) in counters {
            let name = format!("omnilink_{name}_total");
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}");
        }
        for (name, value, help) in gauges {
            let name = format!("omnilink_{name}");
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        text
    }
}
