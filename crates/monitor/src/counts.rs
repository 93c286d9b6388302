//! Counts of a monitor, and their form as metrics for Prometheus.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Counts since the beginning, and the present state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Operations that arrived, each counted once.
    pub operations: u64,
    /// Operations that arrived again.
    pub duplicates: u64,
    /// Operations that arrived after the watermark had passed their start.
    pub late: u64,
    /// Operations that never arrived.
    pub lost: u64,
    /// Operations of keys with an unknown state, which the monitor does not decide.
    pub unknown: u64,
    /// Checked operations.
    pub checked: u64,
    /// Checks of a key.
    pub checks: u64,
    /// Violations.
    pub violations: u64,
    /// Violations that proved wrong when a late operation arrived.
    pub withdrawn: u64,
    /// Checks that reached a limit.
    pub inconclusive: u64,
    /// Operations that do not fit the specification, or contradict others.
    pub wrong: u64,
    /// Keys that were dropped to make room.
    pub dropped: u64,
    /// The number of keys now.
    pub keys: u64,
    /// The number of keys whose state is unknown now.
    pub unknown_keys: u64,
    /// The number of operations that the monitor keeps now.
    pub kept: u64,
    /// The number of processes now.
    pub processes: u64,
    /// The watermark.
    pub watermark: u64,
    /// The difference between the latest time and the watermark.
    pub lag: u64,
}

impl Counts {
    /// Adds the counts of two partitions.
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

    /// Writes the counts in the text format of Prometheus.
    pub fn prometheus(&self) -> String {
        let counters = [
            ("operations", self.operations, "Operations that came, each once."),
            ("duplicates", self.duplicates, "Operations that came again."),
            ("late", self.late, "Operations that came after the watermark had passed their start."),
            ("lost", self.lost, "Operations that never came."),
            ("unknown", self.unknown, "Operations without a decision, because the state of their key was unknown."),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that all differ: this one, and those after it.
    fn counts_from(first: u64) -> Counts {
        Counts {
            operations: first,
            duplicates: first + 1,
            late: first + 2,
            lost: first + 3,
            unknown: first + 4,
            checked: first + 5,
            checks: first + 6,
            violations: first + 7,
            withdrawn: first + 8,
            inconclusive: first + 9,
            wrong: first + 10,
            dropped: first + 11,
            keys: first + 12,
            unknown_keys: first + 13,
            kept: first + 14,
            processes: first + 15,
            watermark: first + 16,
            lag: first + 17,
        }
    }

    #[test]
    fn counts_of_two_partitions_are_added() {
        let mut sum = counts_from(10).merge(&counts_from(100));
        // A process may be in both, and both decide its operations.
        assert_eq!((sum.processes, sum.watermark, sum.lag), (115, 26, 117));
        (sum.processes, sum.watermark, sum.lag) = (0, 0, 0);
        let twice = |first: u64| 2 * first + 90;
        let expected = Counts {
            operations: twice(10),
            duplicates: twice(11),
            late: twice(12),
            lost: twice(13),
            unknown: twice(14),
            checked: twice(15),
            checks: twice(16),
            violations: twice(17),
            withdrawn: twice(18),
            inconclusive: twice(19),
            wrong: twice(20),
            dropped: twice(21),
            keys: twice(22),
            unknown_keys: twice(23),
            kept: twice(24),
            ..Counts::default()
        };
        assert_eq!(sum, expected);
    }

    #[test]
    fn metrics_have_names_kinds_and_values() {
        let text = counts_from(10).prometheus();
        let first = "# HELP omnilink_operations_total Operations that came, each once.\n\
            # TYPE omnilink_operations_total counter\nomnilink_operations_total 10\n";
        assert!(text.starts_with(first), "{text}");
        let values = text.lines().filter(|line| !line.starts_with('#'));
        let values: Vec<&str> = values.map(|line| line.strip_prefix("omnilink_").unwrap_or(line)).collect();
        insta::assert_snapshot!(values.join("\n"), @"
        operations_total 10
        duplicates_total 11
        late_total 12
        lost_total 13
        unknown_total 14
        checked_total 15
        checks_total 16
        violations_total 17
        withdrawn_total 18
        inconclusive_total 19
        wrong_total 20
        dropped_keys_total 21
        keys 22
        unknown_keys 23
        kept_operations 24
        processes 25
        watermark 26
        lag 27
        ");
    }
}
