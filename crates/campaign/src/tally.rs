//! Totals of many runs: counts, causes, coverage.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use omnilink_explore::{Blocked, Coverage, Ended};
use omnilink_report::{Report, Unchecked, Verdict, clean};
use omnilink_settings::Known;
use omnilink_suggest::counted;
use serde_json::json;

use crate::Count;
use crate::causes::{Cause, Causes, KnownCause, interval, known_lines, share};
use crate::collected::Collected;
use crate::ledger::{Described, Entry, Failure};
use crate::seen::{Kind, Seen};

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
    /// The reports for other programs, if requested.
    pub(crate) collected: Collected,
    causes: Causes,
    /// The reasons of the data races that the settings accept.
    accepted_races: BTreeSet<String>,
    /// The number of runs of each strategy of a mix, and of those that failed.
    strategies: BTreeMap<&'static str, (u64, u64)>,
}

/// The reason why a run has no valid verdict.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The check was stopped.
    Stopped(String),
    /// The trace is invalid, or the specification cannot interpret it.
    Recording(String),
}

/// The data about a run besides its ending and its report.
#[derive(Debug, Default)]
pub(crate) struct About<'a> {
    /// The reason why it has no valid verdict.
    pub(crate) problem: Option<Problem>,
    /// Its data race, if no earlier run had it.
    pub(crate) race: Option<&'a str>,
    /// The place of the conflicting accesses, if the schedule was controlled.
    pub(crate) meets: Option<String>,
    /// The failures that the settings accept, and today's date.
    pub(crate) known: (&'a [Known], &'a str),
}

impl Tally {
    /// Counts a run, and returns how it failed if it did.
    pub(crate) fn add(
        &mut self,
        ended: &Ended,
        report: Option<&Report>,
        about: About<'_>,
        timeout: Duration,
        after: Duration,
    ) -> Option<Seen> {
        self.runs += 1;
        let About { problem, race, meets, known: (known, today) } = about;
        let mut message = None;
        let (kind, cause) = match ended {
            Ended::Crashed { .. } => (Kind::Crashed, failure_of(ended).unwrap_or_default()),
            Ended::Stuck { .. } => (Kind::Stuck, failure_of(ended).unwrap_or_default()),
            Ended::TooLong { .. } if race.is_some() => (Kind::Raced, race?.to_owned()),
            Ended::TooLong { steps } => (Kind::Inconclusive, too_long(*steps)),
            Ended::BrokenOff { why } => (Kind::Inconclusive, why.clone()),
            Ended::TimedOut { .. } | Ended::Interrupted => (Kind::Stuck, still_running(timeout)),
            Ended::Finished => match (problem, report) {
                (Some(Problem::Recording(why)), _) => {
                    let cause = omnilink_report::without_numbers(&why);
                    message = Some(why);
                    (Kind::Unchecked, cause)
                }
                (Some(Problem::Stopped(why)), _) => (Kind::Inconclusive, format!("inconclusive: {why}")),
                (None, Some(report)) => self.verdict(report, race)?,
                (None, None) => (Kind::Raced, race?.to_owned()),
            },
        };
        let meets = meets.filter(|_| kind == Kind::Rejected);
        // A check that was given up does not concern the system, so there is no failure to accept.
        let is_failure = !matches!(kind, Kind::Inconclusive | Kind::Unchecked);
        let known = is_failure.then(|| KnownCause::of(known, &cause, meets.as_deref(), today)).flatten();
        let (cause, is_first) =
            self.causes.add(Cause { kind, cause, message: message.clone(), meets, runs: 1, after, id: None, known });
        Some(Seen {
            kind,
            cause: cause.cause.clone(),
            message,
            meets: cause.meets.clone(),
            is_first,
            is_accepted: cause.is_accepted(),
        })
    }

    /// How a checked run failed; `None` if it did not.
    fn verdict(&mut self, report: &Report, race: Option<&str>) -> Option<(Kind, String)> {
        let raced = race.map(|cause| (Kind::Raced, cause.to_owned()));
        match (&report.verdict, omnilink_report::cause(report)) {
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

    /// Sets the identifier of the stored run that failed so.
    pub(crate) fn name(&mut self, seen: &Seen, id: &str) {
        self.causes.name(&seen.cause, seen.meets.as_deref(), id);
    }

    /// Counts a run of a strategy of a mix.
    pub(crate) fn count_strategy(&mut self, name: &'static str, has_failed: bool) {
        let (runs, failed) = self.strategies.entry(name).or_default();
        *runs += 1;
        *failed += u64::from(has_failed);
    }

    /// The failures of each strategy of a mix, and their rates.
    fn strategies(&self) -> String {
        let failed = self.strategies.iter().filter(|(_, (_, failed))| *failed > 0);
        let lines = failed.map(|(name, (runs, failed))| {
            format!("{name}: {failed} of {} failed, {}\n", counted(*runs, "run"), share(*failed, *runs))
        });
        lines.collect()
    }

    /// Counts a race that the settings accept for this reason.
    pub(crate) fn accept_race(&mut self, reason: &str) {
        self.accepted_races.insert(reason.to_owned());
    }

    /// Whether there was no run.
    pub fn is_empty(&self) -> bool {
        self.runs == 0
    }

    /// The identifier of the stored run to inspect first: data races often lead to another failure.
    pub fn first_kept(&self) -> Option<&str> {
        let mut kept: Vec<&Cause> = self.causes.0.iter().filter(|cause| cause.id.is_some()).collect();
        kept.sort_by_key(|cause| cause.kind == Kind::Raced);
        kept.first().and_then(|cause| cause.id.as_deref())
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
        if let Some(first) = self.causes.0.iter().find(|cause| cause.kind == Kind::Rejected) {
            let _ = writeln!(text, "first rejected after {:.2} s", first.after.as_secs_f64());
        }
        text += &self.strategies();
        for reason in &self.accepted_races {
            let _ = writeln!(text, "accepted data race: {}", clean(reason));
        }
        text += &known_lines(&self.causes.0);
        let overlapped = self.coverage.actions.values().any(|happened| happened.overlapped > 0);
        // Failures matter more than this.
        if self.operations > 0 && !overlapped && self.causes.0.is_empty() {
            let _ = writeln!(text, "no two operations overlapped, so this says nothing about concurrency");
        }
        text
    }

    fn counts(&self) -> String {
        let count = |kind| self.causes.0.iter().filter(|cause| cause.kind == kind).map(|cause| cause.runs).sum();
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

    /// The causes of failures, most frequent first; empty if there is only one, with one run that is not inconclusive.
    /// `earlier` are the campaigns before this one.
    pub fn causes(&self, earlier: &[Entry]) -> String {
        let is_new = |cause: &Cause| !earlier.is_empty() && !earlier.iter().any(|entry| entry.has(cause));
        match &*self.causes.0 {
            [] => String::new(),
            [Cause { runs: 1, kind, .. }] if *kind != Kind::Inconclusive => String::new(),
            _ => self.causes.table(self.runs, is_new),
        }
    }

    /// The line of this campaign in the ledger.
    pub fn entry(&self, campaign: Described) -> Entry {
        let failures = self.causes.0.iter().map(|cause| Failure {
            kind: cause.kind.word().to_owned(),
            cause: cause.cause.clone(),
            meets: cause.meets.clone(),
            runs: cause.runs,
            kept_as: cause.id.clone(),
            known: cause.known.clone(),
        });
        let happened = |action: &String| self.coverage.actions.contains_key(action);
        let expected = self.expected.iter().flatten();
        Entry {
            schema: Entry::schema(),
            campaign,
            runs: self.runs,
            operations: self.operations,
            failures: failures.collect(),
            never: expected.filter(|action| !happened(action)).cloned().collect(),
            coverage: self.coverage.clone(),
        }
    }

    /// The totals as JSON.
    pub fn json(&self, spec: &str, seed: u64, took: Duration) -> serde_json::Value {
        let failures = self.causes.0.iter().map(|cause| {
            json!({
                "kind": cause.kind.word(),
                "cause": cause.cause,
                "meets": cause.meets,
                "runs": cause.runs,
                "share": interval(cause.runs, self.runs),
                "first_after_seconds": cause.after.as_secs_f64(),
                "kept_as": cause.id,
                "known": cause.known,
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
            "failures": failures.collect::<Vec<_>>(),
            "accepted_races": self.accepted_races,
            "strategies": self.strategies.iter()
                .map(|(name, (runs, failed))| ((*name).to_owned(), json!({ "runs": runs, "failed": failed })))
                .collect::<serde_json::Map<_, _>>(),
            "coverage": self.coverage,
            "expected": self.expected,
        })
    }

    /// A report on the accepted runs and one for each cause of a failure, and the failures to check, if requested.
    pub fn reports(&self, spec: &str) -> (Vec<Report>, Vec<Unchecked>) {
        self.collected.reports(&self.causes.0, (self.runs, self.accepted, self.operations), spec)
    }

    /// Whether a run was accepted.
    pub fn has_accepted(&self) -> bool {
        self.accepted > 0
    }

    /// The kinds of failures that the settings do not accept, one for each cause.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.causes.0.iter().filter(|cause| !cause.is_accepted()).map(|cause| cause.kind)
    }
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
        let verb = thread.doing.split(" 0x").next().unwrap_or_default().trim_end_matches(" at");
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
            let last = omnilink_explore::panic_message(said).or_else(|| last.map(omnilink_report::without_numbers));
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
    fn messages_that_differ_in_numbers_are_one_cause_and_are_shown_with_them() {
        let mut tally = Tally::default();
        let mut add = |message: &str| {
            let about = About { problem: Some(Problem::Recording(message.to_owned())), ..About::default() };
            tally.add(&Ended::Finished, None, about, Duration::ZERO, Duration::ZERO).expect("a failure")
        };
        let (first, second) = (add("T1:3: no argument `value`"), add("T2:14: no argument `value`"));
        assert_eq!((first.shown(), second.shown()), ("T1:3: no argument `value`", "T2:14: no argument `value`"));
        assert_eq!((&first.cause, first.is_first), (&second.cause, true));
        assert!(!second.is_first);
        add("T1:0: no result `ok`");
        let table = tally.causes(&[]);
        assert!(table.contains("not checked: T1:3: no argument `value`\n") && !table.contains('#'), "{table}");
    }
}
