//! The verdicts of the tests of `omnilink lineup`, counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use omnilink_campaign::{LineupVerdict, Tested};
use omnilink_report::clean;
use omnilink_suggest::counted;

use crate::exit::Exit;
use crate::limits;

/// The verdicts and the work of all tests.
#[derive(Default)]
pub(super) struct Summary {
    passed: u64,
    failed: u64,
    raced: u64,
    accepted: u64,
    unfinished: u64,
    /// Not begun when the time was over.
    pub(super) not_run: u64,
    /// Not begun when a time was over that was not promised to them.
    pub(super) cut: u64,
    /// Not explored to the end in such a time, and no failure in the random schedules after that.
    sampled: u64,
    broken: u64,
    complete: u64,
    /// The numbers of tests that passed with all schedules of a bound or with drawn ones, by strategy.
    bounded: BTreeMap<String, u64>,
    /// Why schedules were left out, each with the number of tests that passed or did not come to an end.
    shortfalls: BTreeMap<String, u64>,
    /// Why executions had a process each, with the number of tests.
    isolated: BTreeMap<&'static str, u64>,
    /// Why data races are accepted.
    accepted_races: BTreeSet<String>,
    full: usize,
    stuck: usize,
    pub(super) executions: u64,
    serial_time: Duration,
    concurrent_time: Duration,
}

impl Summary {
    /// Counts a verdict. If the test was promised no time, `executions` is the number of its executions.
    pub(super) fn add(&mut self, verdict: &LineupVerdict, is_accepted: bool, executions: Option<u64>) {
        *match (verdict, executions) {
            _ if is_accepted => &mut self.accepted,
            (LineupVerdict::OutOfTime, Some(0)) => &mut self.cut,
            (LineupVerdict::OutOfTime, Some(_)) => &mut self.sampled,
            (verdict, _) => self.counter(verdict),
        } += 1;
    }

    fn counter(&mut self, verdict: &LineupVerdict) -> &mut u64 {
        match verdict {
            LineupVerdict::Passed => &mut self.passed,
            LineupVerdict::Nondeterministic(_) | LineupVerdict::Unexplained(_) => &mut self.failed,
            LineupVerdict::Raced(_) => &mut self.raced,
            LineupVerdict::Broken(_) | LineupVerdict::Crashed(_) => &mut self.broken,
            LineupVerdict::OutOfTime | LineupVerdict::Unfinished | LineupVerdict::Interrupted => &mut self.unfinished,
        }
    }

    /// Counts what was done for a test. `schedules` is how its schedules are chosen.
    pub(super) fn count(&mut self, tested: &Tested, schedules: &str) {
        let is_complete = tested.explored.as_ref().is_some_and(omnilink_campaign::Explored::covers_all);
        self.complete += u64::from(is_complete && matches!(tested.verdict, LineupVerdict::Passed));
        let shortfall = tested.explored.as_ref().and_then(omnilink_campaign::Explored::shortfall);
        match (&tested.verdict, shortfall) {
            (LineupVerdict::Passed | LineupVerdict::OutOfTime | LineupVerdict::Unfinished, Some(why)) => {
                *self.shortfalls.entry(why).or_default() += 1;
            }
            (LineupVerdict::Passed, None) if !is_complete => {
                *self.bounded.entry(schedules.to_owned()).or_default() += 1
            }
            _ => {}
        }
        if let Some(isolated) = tested.isolated {
            *self.isolated.entry(isolated.reason()).or_default() += 1;
        }
        self.accepted_races.extend(tested.accepted_races.iter().cloned());
        self.full += tested.observations.full();
        self.stuck += tested.observations.stuck();
        self.executions += tested.executions;
        self.serial_time += tested.serial_time;
        self.concurrent_time += tested.concurrent_time;
    }

    pub(super) fn text(&self) -> String {
        let Summary { passed, sampled, failed, raced, accepted, unfinished, not_run, cut, broken, complete, .. } = self;
        let counts = [
            (passed, "passed"),
            (sampled, "passed as far as explored"),
            (failed, "failed"),
            (raced, "with a data race"),
            (accepted, "failed as accepted"),
            (broken, "crashed"),
            (unfinished, "unfinished"),
            (not_run, "not run"),
            (cut, "left out when the time was over"),
        ];
        let tests = counts.iter().map(|(count, _)| **count).sum();
        let counts: Vec<String> =
            counts.iter().filter(|(count, _)| **count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let rate = self.executions as f64 / self.concurrent_time.as_secs_f64().max(1e-9);
        let serial = match self.stuck {
            0 => counted(self.full as u64, "serial run"),
            stuck => format!("{} and {stuck} that block", counted(self.full as u64, "serial run")),
        };
        let mut claim = String::new();
        let mut claims = |said: &str, tests: u64, why: &str| {
            if tests > 0 {
                let colon = if why.is_empty() { "" } else { ": " };
                claim += &format!("{said} for {}{colon}{why}\n", counted(tests, "test"));
            }
        };
        claims("all schedules were explored", *complete, "");
        self.shortfalls.iter().for_each(|(why, tests)| claims("not all schedules were explored", *tests, why));
        self.bounded.iter().for_each(|(how, tests)| claims("not all schedules were explored", *tests, how));
        self.isolated.iter().for_each(|(why, tests)| claims("each execution had a process of its own", *tests, why));
        let races = self.accepted_races.iter().map(|reason| format!("accepted data race: {}\n", clean(reason)));
        claim.extend(races);
        format!(
            "\n{}: {}\n{serial} in {:.2} s, {} in {:.2} s ({rate:.0} per second)\n{claim}",
            counted(tests, "test"),
            if counts.is_empty() { "none run".to_owned() } else { counts.join(", ") },
            self.serial_time.as_secs_f64(),
            counted(self.executions, "concurrent execution"),
            self.concurrent_time.as_secs_f64(),
        )
    }

    pub(super) fn exit(&self) -> Exit {
        let passed = self.passed + self.accepted + self.sampled;
        let exits = [
            (passed, Exit::Accepted),
            (
                self.unfinished + self.not_run + if passed == 0 { self.cut } else { 0 },
                if limits::is_interrupted() { Exit::Interrupted } else { Exit::Inconclusive },
            ),
            (self.raced, Exit::Raced),
            (self.broken, Exit::Crashed),
            (self.failed, Exit::Rejected),
        ];
        exits.iter().filter(|(count, _)| *count > 0).map(|(_, exit)| *exit).fold(Exit::Nothing, Exit::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts and the exit code after one test. `executions` is as for [`Summary::add`].
    fn check(verdict: &LineupVerdict, executions: Option<u64>) -> String {
        let mut summary = Summary::default();
        summary.add(verdict, false, executions);
        let text = summary.text();
        format!("{}, {:?}", text.lines().nth(1).expect("the line with the counts"), summary.exit())
    }

    #[test]
    fn only_a_test_that_was_promised_no_time_may_pass_when_it_is_over() {
        insta::assert_snapshot!(check(&LineupVerdict::OutOfTime, None), @"1 test: 1 unfinished, Inconclusive");
        insta::assert_snapshot!(check(&LineupVerdict::OutOfTime, Some(9)), @"1 test: 1 passed as far as explored, Accepted");
        insta::assert_snapshot!(check(&LineupVerdict::OutOfTime, Some(0)), @"1 test: 1 left out when the time was over, Inconclusive");
    }

    #[test]
    fn executions_that_do_not_end_are_no_matter_of_time() {
        insta::assert_snapshot!(check(&LineupVerdict::Unfinished, None), @"1 test: 1 unfinished, Inconclusive");
        insta::assert_snapshot!(check(&LineupVerdict::Unfinished, Some(9)), @"1 test: 1 unfinished, Inconclusive");
        insta::assert_snapshot!(check(&LineupVerdict::Unfinished, Some(0)), @"1 test: 1 unfinished, Inconclusive");
        insta::assert_snapshot!(check(&LineupVerdict::Passed, Some(9)), @"1 test: 1 passed, Accepted");
    }
}
