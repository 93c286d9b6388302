//! Totals of many runs: counts, causes, coverage.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use explore::{Blocked, Coverage, Ended, counted};
use report::{Report, Verdict, clean};
use serde_json::json;

use crate::Count;

/// Totals of many runs.
#[derive(Debug, Default)]
pub struct Tally {
    runs: u64,
    accepted: u64,
    /// Runs without a recorded operation.
    empty: u64,
    pub(crate) operations: u64,
    /// Their coverage.
    pub coverage: Coverage,
    /// The operations that could have happened; `None` while unknown.
    pub expected: Option<Vec<String>>,
    /// The reports of all runs, if requested.
    pub reports: Vec<Report>,
    clusters: Vec<Cluster>,
    /// The reasons of the data races that the settings accept.
    accepted_races: Vec<String>,
    /// The number of runs of each strategy of a mix, and of those that failed.
    strategies: BTreeMap<&'static str, (u64, u64)>,
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
pub enum Kind {
    /// No order of its operations is legal.
    Rejected,
    /// A limit was reached before there was a verdict.
    Inconclusive,
    /// It is accepted, or its verdict is unknown, and it has a data race.
    Raced,
    /// The harness crashed.
    Crashed,
    /// The harness did not end.
    Stuck,
    /// Its trace cannot be checked.
    Unchecked,
}

/// Why a run has no valid verdict.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The check was stopped.
    Stopped(String),
    /// The trace is invalid, or the specification cannot interpret it.
    Recording(String),
}

impl Kind {
    /// The kind in one or two words.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Rejected => "rejected",
            Kind::Inconclusive => "inconclusive",
            Kind::Raced => "data race",
            Kind::Crashed => "crashed",
            Kind::Stuck => "stuck",
            Kind::Unchecked => "not checked",
        }
    }
}

/// A run that failed.
#[derive(Debug)]
pub struct Seen {
    /// How.
    pub kind: Kind,
    /// The cause, equal for runs that fail for the same reason.
    pub cause: String,
    /// Whether no earlier run failed for this reason.
    pub is_first: bool,
}

impl Tally {
    /// Counts a run, and returns how it failed if it did.
    pub(crate) fn add(
        &mut self,
        ended: &Ended,
        report: Option<&Report>,
        problem: Option<Problem>,
        race: Option<&str>,
        timeout: Duration,
        after: Duration,
    ) -> Option<Seen> {
        self.runs += 1;
        let (kind, cause) = match ended {
            Ended::Crashed { .. } => (Kind::Crashed, failure_of(ended).unwrap_or_default()),
            Ended::Stuck { .. } => (Kind::Stuck, failure_of(ended).unwrap_or_default()),
            Ended::TooLong { steps } => (Kind::Inconclusive, too_long(*steps)),
            Ended::BrokenOff { why } => (Kind::Inconclusive, why.clone()),
            Ended::TimedOut { .. } | Ended::Interrupted => (Kind::Stuck, still_running(timeout)),
            Ended::Finished => match (problem, report) {
                (Some(Problem::Recording(why)), _) => (Kind::Unchecked, why),
                (Some(Problem::Stopped(why)), _) => (Kind::Inconclusive, format!("inconclusive: {why}")),
                (None, Some(report)) => self.verdict(report, race)?,
                (None, None) => (Kind::Raced, race?.to_owned()),
            },
        };
        let known = self.clusters.iter_mut().find(|cluster| cluster.kind == kind && cluster.cause == cause);
        let is_first = known.is_none();
        match known {
            Some(cluster) => cluster.count += 1,
            None => self.clusters.push(Cluster { kind, cause: cause.clone(), count: 1, after, id: None }),
        }
        Some(Seen { kind, cause, is_first })
    }

    /// How a checked run failed; `None` if it did not.
    fn verdict(&mut self, report: &Report, race: Option<&str>) -> Option<(Kind, String)> {
        let raced = race.map(|cause| (Kind::Raced, cause.to_owned()));
        match (&report.verdict, explore::cause(report)) {
            (Verdict::Rejected(_), Some(cause)) => Some((Kind::Rejected, cause)),
            _ if raced.is_some() => raced,
            _ if report.history.operations == Some(0) => {
                self.empty += 1;
                None
            }
            (_, Some(cause)) => Some((Kind::Inconclusive, cause)),
            (_, None) => {
                self.accepted += 1;
                None
            }
        }
    }

    /// Sets the identifier of the first stored run with this cause.
    pub(crate) fn name(&mut self, cause: &str, id: &str) {
        if let Some(cluster) = self.clusters.iter_mut().find(|cluster| cluster.cause == cause && cluster.id.is_none()) {
            cluster.id = Some(id.to_owned());
        }
    }

    /// Counts a run of a strategy of a mix.
    pub(crate) fn count_strategy(&mut self, name: &'static str, has_failed: bool) {
        let (runs, failed) = self.strategies.entry(name).or_default();
        *runs += 1;
        *failed += u64::from(has_failed);
    }

    /// How often each strategy of a mix failed, and how likely that makes a failure.
    fn strategies(&self) -> String {
        let failed = self.strategies.iter().filter(|(_, (_, failed))| *failed > 0);
        let lines = failed.map(|(name, (runs, failed))| {
            let (low, high) = interval(*failed, *runs);
            let percent = |share: f64| format!("{:.1}", share * 100.0);
            let rate = *failed as f64 / *runs as f64;
            let (rate, low, high) = (percent(rate), percent(low), percent(high));
            format!("{name}: {failed} of {} failed, {rate} % (95 %: {low} to {high} %)\n", counted(*runs, "run"))
        });
        lines.collect()
    }

    /// Counts a race that the settings accept for this reason.
    pub(crate) fn accept_race(&mut self, reason: &str) {
        self.accepted_races.push(reason.to_owned());
    }

    /// Whether there was no run.
    pub fn is_empty(&self) -> bool {
        self.runs == 0
    }

    /// The identifier of the stored run to look at first: data races often lead to another failure.
    pub fn first_kept(&self) -> Option<&str> {
        let mut kept: Vec<&Cluster> = self.clusters.iter().filter(|cluster| cluster.id.is_some()).collect();
        kept.sort_by_key(|cluster| cluster.kind == Kind::Raced);
        kept.first().and_then(|cluster| cluster.id.as_deref())
    }

    /// The totals so far, in a line.
    pub fn progress(&self, count: Count) -> String {
        let checked =
            format!("{}, {}, {}", counted(self.runs, "run"), counted(self.operations, "operation"), self.counts());
        match count.redundant {
            0 => checked,
            redundant => {
                let executions = counted(count.executions, "execution");
                format!("{executions}, {redundant} of them aborted as redundant; checked {checked}")
            }
        }
    }

    /// The totals, in a few lines.
    pub fn summary(&self, took: Duration) -> String {
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
        text += &self.strategies();
        for reason in &self.accepted_races {
            let _ = writeln!(text, "accepted data race: {}", clean(reason));
        }
        let overlapped = self.coverage.actions.values().any(|happened| happened.overlapped > 0);
        // Failures matter more than this.
        if self.operations > 0 && !overlapped && self.clusters.is_empty() {
            let _ = writeln!(text, "no two operations overlapped, so this says nothing about concurrency");
        }
        text
    }

    fn counts(&self) -> String {
        let count =
            |kind| self.clusters.iter().filter(|cluster| cluster.kind == kind).map(|cluster| cluster.count).sum();
        let others = [
            (count(Kind::Rejected), "rejected"),
            (count(Kind::Inconclusive), "inconclusive"),
            (count(Kind::Raced), "with a data race"),
            (count(Kind::Crashed), "crashed"),
            (count(Kind::Stuck), "stuck"),
            (count(Kind::Unchecked), "not checked"),
            (self.empty, "without operations"),
        ];
        let mut words = vec![format!("{} accepted", self.accepted)];
        words.extend(
            others.iter().filter(|(count, _): &&(u64, _)| *count > 0).map(|(count, word)| format!("{count} {word}")),
        );
        words.join(", ")
    }

    /// The causes of failures, most frequent first; empty if there is only one.
    pub fn clusters(&self) -> String {
        let mut text = String::new();
        if self.clusters.len() < 2 {
            return text;
        }
        let mut clusters: Vec<&Cluster> = self.clusters.iter().collect();
        clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.count));
        let _ = writeln!(text, "\n  runs  stored   why");
        for cluster in clusters {
            let id = cluster.id.as_deref().unwrap_or_default();
            let (kind, cause) = (cluster.kind.word(), clean(&cluster.cause));
            let _ = writeln!(text, "  {:>4}  {id:7}  {kind}: {cause}", cluster.count);
        }
        text
    }

    /// The totals as JSON.
    pub fn json(&self, spec: &str, seed: u64, took: Duration) -> serde_json::Value {
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
            "accepted_races": self.accepted_races,
            "strategies": self.strategies.iter()
                .map(|(name, (runs, failed))| ((*name).to_owned(), json!({ "runs": runs, "failed": failed })))
                .collect::<serde_json::Map<_, _>>(),
            "coverage": self.coverage,
            "expected": self.expected,
        })
    }

    /// Whether a run was accepted.
    pub fn has_accepted(&self) -> bool {
        self.accepted > 0
    }

    /// The kinds of failures, one for each cause.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.clusters.iter().map(|cluster| cluster.kind)
    }
}

/// The 95 % confidence interval of a probability (Wilson, Probable inference, the law of succession, and statistical
/// inference).
pub fn interval(successes: u64, trials: u64) -> (f64, f64) {
    let (n, z) = (trials as f64, 1.96_f64);
    let p = successes as f64 / n;
    let middle = p + z * z / (2.0 * n);
    let width = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((middle - width) / scale).max(0.0), ((middle + width) / scale).min(1.0))
}

/// The cause of runs that did not end in time.
pub(crate) fn still_running(timeout: Duration) -> String {
    format!("still running after {}", humantime::format_duration(timeout))
}

/// The cause of runs stopped at the step limit.
pub fn too_long(steps: u64) -> String {
    format!("took more than {}", counted(steps, "step"))
}

/// The cause of stuck runs: the next steps of their threads, without objects.
fn stuck(how: &str, threads: &[Blocked]) -> String {
    let doing = |thread: &Blocked| {
        let verb = thread.doing.split(" 0x").next().unwrap_or_default();
        format!("thread {} {verb}", thread.thread)
    };
    let threads: Vec<String> = threads.iter().map(doing).collect();
    format!("{how}: {}", threads.join(", "))
}

/// The cause of crashed or stuck runs: how they ended, and the last output or position.
pub(crate) fn failure_of(ended: &Ended) -> Option<String> {
    match ended {
        Ended::Crashed { how, said, stack } => {
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            let last = explore::panic_message(said).or_else(|| last.map(explore::without_numbers));
            let last = last.or_else(|| stack.first().cloned());
            Some(last.map_or_else(|| how.to_owned(), |last| format!("{how}: {last}")))
        }
        Ended::Stuck { how, threads } => Some(stuck(how, threads)),
        Ended::Finished
        | Ended::TooLong { .. }
        | Ended::BrokenOff { .. }
        | Ended::TimedOut { .. }
        | Ended::Interrupted => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_contains_the_rate() {
        let show = |(low, high): (f64, f64)| format!("{low:.3} {high:.3}");
        insta::assert_snapshot!(show(interval(1, 10)), @"0.018 0.404");
        insta::assert_snapshot!(show(interval(0, 100)), @"0.000 0.037");
        insta::assert_snapshot!(show(interval(5, 5)), @"0.566 1.000");
    }
}
