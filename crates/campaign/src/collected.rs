//! The reports of a campaign for other programs: one on the accepted runs, and one for each cause of a failure.
//!
//! A campaign has thousands of runs, and their seeds differ every time. So a report on runs is named after its cause, and
//! says how many there were. It is never better than the exit code: a run that crashed, got stuck or had a data race has
//! failed, whatever the verdict about its operations. Failures that the settings accept are left out.

use omnilink_judge::{Stage, given_up};
use omnilink_report::{Limit, Problem, Report, Unchecked, Verdict};
use omnilink_weak::Level;

use crate::causes::Cause;
use crate::seen::{Kind, Seen};

/// The first report of each kind of run.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    accepted: Option<Report>,
    failed: Vec<First>,
}

/// The first run that failed for a reason.
#[derive(Debug)]
struct First {
    kind: Kind,
    cause: String,
    /// The cause with the numbers of this run.
    shown: String,
    meets: Option<String>,
    /// Its name for the user.
    label: String,
    report: Option<Report>,
}

impl Collected {
    /// Adds a run, if it is the first of its kind.
    pub(crate) fn add(&mut self, label: &str, report: Option<&Report>, seen: Option<&Seen>) {
        match (seen, report) {
            (None, Some(report)) => {
                let is_empty = |report: &Report| report.history.operations == Some(0);
                if self.accepted.as_ref().is_none_or(is_empty) {
                    self.accepted = Some(report.clone());
                }
            }
            (Some(seen), report) if seen.is_first && !seen.is_accepted => self.failed.push(First {
                kind: seen.kind,
                cause: seen.cause.clone(),
                shown: seen.shown().to_owned(),
                meets: seen.meets.clone(),
                label: label.to_owned(),
                report: report.cloned(),
            }),
            _ => {}
        }
    }

    /// The reports, and the runs that could not be checked. `causes` are those of all runs.
    pub(crate) fn reports(
        &self,
        causes: &[Cause],
        (runs, accepted, operations): (u64, u64, u64),
        spec: &str,
    ) -> (Vec<Report>, Vec<Unchecked>) {
        let (mut reports, mut unchecked) = (Vec::new(), Vec::new());
        if let Some(first) = &self.accepted {
            let mut report = first.clone();
            report.history.name = "accepted runs".to_owned();
            if report.history.operations != Some(0) {
                report.history.operations = Some(operations);
            }
            report.notes.push(format!("{accepted} of {} are accepted", omnilink_suggest::counted(runs, "run")));
            reports.push(report);
        }
        for first in &self.failed {
            let is_it =
                |cause: &&Cause| (cause.kind, &cause.cause, &cause.meets) == (first.kind, &first.cause, &first.meets);
            let failing = causes.iter().find(is_it).map_or(1, |cause| cause.runs);
            let note =
                format!("{failing} of {} fail so, first {}", omnilink_suggest::counted(runs, "run"), first.label);
            match first.kind {
                Kind::Unchecked => unchecked.push(Unchecked {
                    history: first.name(),
                    spec: spec.to_owned(),
                    problems: vec![Problem { message: format!("{}; {note}", first.shown), help: None }],
                }),
                _ => {
                    let mut report = first.report(spec);
                    report.notes.extend(first.meets.iter().cloned().chain([note]));
                    reports.push(report);
                }
            }
        }
        (reports, unchecked)
    }
}

impl First {
    /// Its name in every campaign.
    fn name(&self) -> String {
        format!("{}: {}", self.kind.word(), self.cause)
    }

    fn report(&self, spec: &str) -> Report {
        let none =
            || given_up("", spec, &Level::linearizable(), omnilink_history::Stop::Incomplete, Stage::Preparing, 0);
        let mut report = self.report.clone().unwrap_or_else(none);
        report.history.name = self.name();
        match self.kind {
            Kind::Crashed | Kind::Stuck | Kind::Raced => report.ended = Some(self.name()),
            Kind::Inconclusive => {
                if report.verdict == Verdict::Accepted || self.report.is_none() {
                    report.verdict = Verdict::Inconclusive { limit: Limit::Incomplete, stop: self.cause.clone() };
                }
            }
            Kind::Rejected | Kind::Unchecked => {}
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: Kind, cause: &str) -> Seen {
        Seen { kind, cause: cause.into(), message: None, meets: None, is_first: true, is_accepted: false }
    }

    /// Checks that the first run of this kind is not accepted anywhere. `counted` is the attribute that counts it in JUnit.
    fn check(kind: Kind, report: Option<&Report>, counted: &str, word: &str) {
        let seen = seen(kind, "the cause");
        let mut collected = Collected::default();
        collected.add("run 1", report, Some(&seen));
        let (reports, unchecked) = collected.reports(&[], (2, 0, 9), "register");
        let junit = omnilink_report::junit(&reports, &unchecked);
        assert!(junit.contains("tests=\"1\"") && junit.contains(&format!("{counted}=\"1\"")), "{kind:?}: {junit}");
        let title = format!("### `{}: the cause`: {word}\n", kind.word());
        let markdown = omnilink_report::markdown(&reports, &unchecked);
        assert!(markdown.starts_with(&title), "{kind:?}: {markdown}");
        assert_eq!(omnilink_report::sarif(&reports, &unchecked).matches("\"ruleId\"").count(), 1, "{kind:?}");
        assert_eq!(omnilink_report::github(&reports, &unchecked).lines().count(), 1, "{kind:?}");
    }

    fn accepted() -> Report {
        let stop = omnilink_history::Stop::Incomplete;
        let report = given_up("run 1", "register", &Level::linearizable(), stop, Stage::Preparing, 0);
        Report { verdict: Verdict::Accepted, ..report }
    }

    #[test]
    fn formats_are_never_better_than_the_exit_code() {
        let accepted = accepted();
        for report in [Some(&accepted), None] {
            check(Kind::Raced, report, "failures", "failed");
            check(Kind::Crashed, report, "failures", "failed");
            check(Kind::Stuck, report, "failures", "failed");
            check(Kind::Inconclusive, report, "errors", "inconclusive");
            check(Kind::Unchecked, report, "errors", "not checked");
        }
    }

    #[test]
    fn runs_of_one_cause_are_one_report() {
        let mut collected = Collected::default();
        let mut seen = seen(Kind::Raced, "x");
        for number in 1..=1000 {
            collected.add(&format!("run {number}"), Some(&accepted()), Some(&seen));
            collected.add(&format!("run {number}"), Some(&accepted()), None);
            seen.is_first = false;
        }
        seen = Seen { is_first: true, is_accepted: true, ..seen };
        collected.add("run 2000", Some(&accepted()), Some(&seen));
        let (reports, _) = collected.reports(&[], (2000, 1000, 9), "register");
        let names: Vec<&str> = reports.iter().map(|report| report.history.name.as_str()).collect();
        assert_eq!(names, ["accepted runs", "data race: x"]);
    }

    #[test]
    fn a_run_that_is_not_checked_keeps_the_numbers_of_its_message() {
        let mut collected = Collected::default();
        let message = Some("T1:3: `push` has no argument `value`".to_owned());
        let cause = "T#:#: `push` has no argument `value`";
        collected.add("run 1", None, Some(&Seen { message, ..seen(Kind::Unchecked, cause) }));
        let (_, unchecked) = collected.reports(&[], (1, 0, 0), "queue");
        // The name is that of every campaign.
        assert_eq!(unchecked[0].history, format!("not checked: {cause}"));
        let expected = "T1:3: `push` has no argument `value`; 1 of 1 run fail so, first run 1";
        assert_eq!(unchecked[0].problems[0].message, expected);
    }
}
