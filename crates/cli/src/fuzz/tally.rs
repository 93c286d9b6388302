//! What many runs came to: counts, causes, coverage.

use std::fmt::Write as _;
use std::time::Duration;

use explore::{Coverage, Ended};
use report::{Report, Verdict};
use serde_json::json;

use super::counted;
use crate::exit::Exit;

/// What many runs came to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: u64,
    accepted: u64,
    /// Runs in which nothing was recorded.
    empty: u64,
    pub(super) operations: u64,
    pub(super) coverage: Coverage,
    /// The operations that could have happened; none as long as that is not known.
    pub(super) expected: Option<Vec<String>>,
    pub(super) reports: Vec<Report>,
    clusters: Vec<Cluster>,
}

/// Runs that failed for the same reason.
#[derive(Debug)]
struct Cluster {
    kind: Kind,
    cause: String,
    count: u64,
    /// When the first one was found.
    after: Duration,
    id: Option<String>,
}

/// How a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rejected,
    Inconclusive,
    Crashed,
    Stuck,
}

impl Kind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Rejected => "rejected",
            Kind::Inconclusive => "inconclusive",
            Kind::Crashed => "crashed",
            Kind::Stuck => "stuck",
        }
    }

    fn exit(self) -> Exit {
        match self {
            Kind::Rejected => Exit::Rejected,
            Kind::Inconclusive => Exit::Inconclusive,
            Kind::Crashed | Kind::Stuck => Exit::Crashed,
        }
    }
}

/// A run that failed.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    pub(super) cause: String,
    /// No other run has failed for this reason before.
    pub(super) is_first: bool,
}

impl Tally {
    /// Counts a run, and says how it failed if it did.
    pub(super) fn add(
        &mut self,
        ended: &Ended,
        report: Option<&Report>,
        problem: Option<String>,
        timeout: Duration,
        after: Duration,
    ) -> Option<Seen> {
        self.runs += 1;
        let (kind, cause) = match (ended, report) {
            (Ended::Crashed { how, said }, _) => {
                let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
                let cause = if last.is_empty() { how.clone() } else { format!("{how}: {last}") };
                (Kind::Crashed, cause)
            }
            (Ended::TimedOut, _) => {
                (Kind::Stuck, format!("it had not ended after {}", humantime::format_duration(timeout)))
            }
            (Ended::Finished, None) => (Kind::Inconclusive, problem.unwrap_or_default()),
            (Ended::Finished, Some(report)) if report.history.operations == Some(0) => {
                self.empty += 1;
                return None;
            }
            (Ended::Finished, Some(report)) => match explore::cause(report) {
                None => {
                    self.accepted += 1;
                    return None;
                }
                Some(cause) if matches!(report.verdict, Verdict::Inconclusive { .. }) => (Kind::Inconclusive, cause),
                Some(cause) => (Kind::Rejected, cause),
            },
        };
        let known = self.clusters.iter_mut().find(|cluster| cluster.cause == cause);
        let is_first = known.is_none();
        match known {
            Some(cluster) => cluster.count += 1,
            None => self.clusters.push(Cluster { kind, cause: cause.clone(), count: 1, after, id: None }),
        }
        Some(Seen { kind, cause, is_first })
    }

    /// The name that the first run with this cause is kept under.
    pub(super) fn name(&mut self, cause: &str, id: &str) {
        if let Some(cluster) = self.clusters.iter_mut().find(|cluster| cluster.cause == cause && cluster.id.is_none()) {
            cluster.id = Some(id.to_owned());
        }
    }

    pub(super) fn first_kept(&self) -> Option<&str> {
        self.clusters.iter().find_map(|cluster| cluster.id.as_deref())
    }

    pub(super) fn progress(&self) -> String {
        format!("{}, {}, {}", counted(self.runs, "run"), counted(self.operations, "operation"), self.counts())
    }

    pub(super) fn summary(&self, took: Duration) -> String {
        let mut text = format!(
            "{}, {}, {:.1} s: {}\n",
            counted(self.runs, "run"),
            counted(self.operations, "operation"),
            took.as_secs_f64(),
            self.counts()
        );
        if let Some(first) = self.clusters.iter().find(|cluster| cluster.kind == Kind::Rejected) {
            let _ = writeln!(text, "first rejected after {:.2} s", first.after.as_secs_f64());
        }
        text
    }

    fn counts(&self) -> String {
        let count =
            |kind| self.clusters.iter().filter(|cluster| cluster.kind == kind).map(|cluster| cluster.count).sum();
        let others = [
            (count(Kind::Rejected), "rejected"),
            (count(Kind::Inconclusive), "inconclusive"),
            (count(Kind::Crashed), "crashed"),
            (count(Kind::Stuck), "stuck"),
            (self.empty, "without an operation"),
        ];
        let mut words = vec![format!("{} accepted", self.accepted)];
        words.extend(
            others.iter().filter(|(count, _): &&(u64, _)| *count > 0).map(|(count, word)| format!("{count} {word}")),
        );
        words.join(", ")
    }

    /// The reasons why runs failed, the most frequent first; nothing if there is only one.
    pub(super) fn clusters(&self) -> String {
        let mut text = String::new();
        if self.clusters.len() < 2 {
            return text;
        }
        let mut clusters: Vec<&Cluster> = self.clusters.iter().collect();
        clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.count));
        let _ = writeln!(text, "\n  runs  kept as  why");
        for cluster in clusters {
            let id = cluster.id.as_deref().unwrap_or_default();
            let _ = writeln!(text, "  {:>4}  {id:7}  {}: {}", cluster.count, cluster.kind.word(), cluster.cause);
        }
        text
    }

    pub(super) fn json(&self, spec: &str, seed: u64, took: Duration) -> serde_json::Value {
        let clusters = self.clusters.iter().map(|cluster| {
            json!({
                "kind": cluster.kind.word(),
                "cause": cluster.cause,
                "runs": cluster.count,
                "first_after_seconds": cluster.after.as_secs_f64(),
                "kept_as": cluster.id,
            })
        });
        json!({
            "schema": "omnilink.fuzz/1",
            "spec": spec,
            "seed": seed,
            "runs": self.runs,
            "accepted": self.accepted,
            "empty": self.empty,
            "operations": self.operations,
            "seconds": took.as_secs_f64(),
            "failures": clusters.collect::<Vec<_>>(),
            "coverage": self.coverage,
            "expected": self.expected,
        })
    }

    pub(super) fn exit(&self) -> Exit {
        let runs = if self.accepted > 0 { Exit::Accepted } else { Exit::Nothing };
        self.clusters.iter().map(|cluster| cluster.kind.exit()).fold(runs, Exit::max)
    }
}
