//! Alerts of a monitor, and causes of violations.

use omnilink_report::Report;
use serde::{Deserialize, Serialize};

/// A finding for the operators of the system.
#[derive(Clone, Debug)]
pub struct Alert {
    /// The number of the alert, from 1.
    pub number: u64,
    /// The kind of finding.
    pub kind: AlertKind,
    /// The key.
    pub key: String,
    /// For a violation, the start of the operation to inspect first. With the key, it identifies the violation in repeated
    /// alerts.
    pub at: Option<u64>,
    /// The watermark at the time of the finding.
    pub watermark: u64,
    /// A sentence that describes the finding.
    pub sentence: String,
    /// The cause, equal for violations of the same kind.
    pub cause: String,
    /// The number of earlier violations with this cause.
    pub repeated: u64,
    /// The report, for the first violations of a cause.
    pub report: Option<Box<Report>>,
}

/// The kind of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertKind {
    /// No order of the operations is legal.
    Violation,
    /// An earlier violation proved wrong when a late operation came.
    Withdrawn,
    /// Operations were lost: nothing is decided until a state is known again.
    Lost,
    /// Operations do not fit the specification, or contradict each other.
    Wrong,
    /// A check reached a limit.
    Inconclusive,
}

/// A cause of violations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The cause.
    pub cause: String,
    /// The number of violations.
    pub violations: u64,
    /// The number of the first alert.
    pub first: u64,
    /// The watermark at the first and at the last violation.
    pub between: (u64, u64),
    /// The last sentence.
    pub sentence: String,
}

impl Alert {
    /// The alert as JSON, without its report.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "omnilink.alert/1",
            "number": self.number,
            "kind": self.kind,
            "key": self.key,
            "at": self.at,
            "watermark": self.watermark,
            "sentence": self.sentence,
            "cause": self.cause,
            "repeated": self.repeated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_is_one_object() {
        let alert = Alert {
            number: 3,
            kind: AlertKind::Violation,
            key: "7".into(),
            at: Some(5),
            watermark: 9,
            sentence: "it read 1".into(),
            cause: "it read a number".into(),
            repeated: 2,
            report: None,
        };
        let expected = serde_json::json!({
            "schema": "omnilink.alert/1",
            "number": 3,
            "kind": "violation",
            "key": "7",
            "at": 5,
            "watermark": 9,
            "sentence": "it read 1",
            "cause": "it read a number",
            "repeated": 2,
        });
        assert_eq!(alert.to_json(), expected);
    }
}
