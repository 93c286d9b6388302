//! Coverage of a set of runs: the operations, their results, and how much they overlapped.
//!
//! A check of operations that never overlap says nothing about concurrency, and one in which an action of the
//! specification never happens says nothing about that action. So both are counted. Two operations overlap if neither
//! ended before the other started, as far as the trace can tell.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use omnilink_history::{Call, Op, Outcome, Value};
use serde::{Deserialize, Serialize};

/// Coverage of a set of runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The number of runs.
    pub runs: u64,
    /// Counts by action, as recorded.
    pub actions: BTreeMap<String, Happened>,
}

/// Counts for the operations of one action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Happened {
    /// The number of operations.
    pub operations: u64,
    /// Operations known to have had no effect.
    pub failed: u64,
    /// Operations that never finished.
    pub unfinished: u64,
    /// Those that were blocked when the execution got stuck.
    pub blocked: u64,
    /// Operations that overlapped another one.
    pub overlapped: u64,
    /// Operations that overlapped an operation of this action.
    pub with: BTreeMap<String, u64>,
    /// Operations by result, while there are few different results.
    pub results: BTreeMap<String, u64>,
    /// Whether there were more different results than are counted separately.
    pub many_results: bool,
}

/// At most this many different results are counted separately.
const MOST_RESULTS: usize = 6;

/// The open operation of a process during the sweep.
struct Open {
    deadline: u64,
    action: String,
    with: Vec<String>,
}

impl Coverage {
    /// Counts one run. Operations come in order of their start.
    pub fn add(&mut self, ops: impl IntoIterator<Item = Op<Call>>) {
        self.runs += 1;
        let mut open: BTreeMap<usize, Open> = BTreeMap::new();
        for op in ops {
            let action = op.call.action().to_owned();
            self.count(&op);
            let mut met = Open { deadline: op.interval.deadline(), action, with: Vec::new() };
            if let Some(before) = open.remove(&op.process.index()) {
                self.close(before);
            }
            for other in open.values_mut().filter(|other| other.deadline >= op.interval.start()) {
                note(&mut met.with, &other.action);
                note(&mut other.with, &met.action);
            }
            open.insert(op.process.index(), met);
        }
        open.into_values().for_each(|last| self.close(last));
    }

    fn count(&mut self, op: &Op<Call>) {
        let happened = self.actions.entry(op.call.action().to_owned()).or_default();
        happened.operations += 1;
        match op.outcome() {
            Outcome::Failed => happened.failed += 1,
            Outcome::Unfinished => happened.unfinished += 1,
            Outcome::Blocked => happened.blocked += 1,
            Outcome::Finished => happened.note_results(op.call.results()),
        }
    }

    fn close(&mut self, open: Open) {
        let happened = self.actions.entry(open.action).or_default();
        happened.overlapped += u64::from(!open.with.is_empty());
        for action in open.with {
            *happened.with.entry(action).or_default() += 1;
        }
    }

    /// Adds the counts of other runs.
    pub fn merge(&mut self, other: Coverage) {
        self.runs += other.runs;
        for (action, more) in other.actions {
            let happened = self.actions.entry(action).or_default();
            happened.operations += more.operations;
            happened.failed += more.failed;
            happened.unfinished += more.unfinished;
            happened.blocked += more.blocked;
            happened.overlapped += more.overlapped;
            more.with.into_iter().for_each(|(action, count)| *happened.with.entry(action).or_default() += count);
            happened.many_results |= more.many_results;
            more.results.into_iter().for_each(|(result, count)| happened.note_result(result, count));
        }
    }

    /// The counts as a table. `expected` are the actions that could have happened, and `unsupported` those that the
    /// harness leaves out on purpose.
    pub fn text(&self, expected: &[String], unsupported: &[String]) -> String {
        let width = self.actions.keys().map(String::len).max().unwrap_or_default().max("operation".len());
        let count_width = "operations".len();
        let mut text = String::new();
        if self.actions.is_empty() {
            return text;
        }
        let _ = writeln!(text, "  {:width$}  operations  overlapped", "operation");
        for (action, happened) in &self.actions {
            let share = percent(happened.overlapped, happened.operations);
            let _ = write!(text, "  {action:width$}  {:>count_width$}  {share:>10}", grouped(happened.operations));
            let mut details = Vec::new();
            if let Some(with) = happened.most_met() {
                details.push(with);
            }
            details.extend(happened.told_results());
            let rest =
                [(happened.failed, "failed"), (happened.unfinished, "unfinished"), (happened.blocked, "blocked")];
            for (count, word) in rest {
                details.extend((count > 0).then(|| format!("{} {word}", grouped(count))));
            }
            if !details.is_empty() {
                let _ = write!(text, "  {}", details.join("; "));
            }
            text.push('\n');
        }
        for action in expected.iter().filter(|action| !self.actions.contains_key(*action)) {
            let is_left_out = unsupported.contains(action);
            let why = if is_left_out { "left out by the harness" } else { "never happened" };
            let _ = writeln!(text, "  {action:width$}  {:>count_width$}  {:>10}  {why}", 0, "");
        }
        text
    }
}

fn note(with: &mut Vec<String>, action: &String) {
    if !with.contains(action) {
        with.push(action.clone());
    }
}

impl Happened {
    fn note_results(&mut self, results: &[Value]) {
        if !results.is_empty() {
            let shown: Vec<String> = results.iter().map(Value::to_string).collect();
            self.note_result(shown.join(", "), 1);
        }
    }

    fn note_result(&mut self, result: String, count: u64) {
        if let Some(known) = self.results.get_mut(&result) {
            *known += count;
        } else if self.results.len() < MOST_RESULTS {
            self.results.insert(result, count);
        } else {
            self.many_results = true;
        }
    }

    fn most_met(&self) -> Option<String> {
        let mut met: Vec<(&String, &u64)> = self.with.iter().collect();
        met.sort_by_key(|(action, count)| (std::cmp::Reverse(**count), (*action).clone()));
        let shown: Vec<String> = met
            .iter()
            .take(3)
            .map(|(action, count)| format!("{action} {}", percent(**count, self.operations)))
            .collect();
        (!shown.is_empty()).then(|| format!("by {}", shown.join(", ")))
    }

    fn told_results(&self) -> Option<String> {
        match (self.many_results, self.results.len()) {
            (_, 0) => None,
            (true, _) => Some("many results".into()),
            (false, _) => {
                let total = self.results.values().sum();
                let shown = self.results.iter().map(|(result, count)| format!("{result} {}", percent(*count, total)));
                Some(format!("= {}", shown.collect::<Vec<_>>().join(", ")))
            }
        }
    }
}

fn percent(part: u64, whole: u64) -> String {
    match (part, whole) {
        (0, _) | (_, 0) => "0 %".into(),
        (part, whole) if part * 200 < whole => "< 1 %".into(),
        (part, whole) => format!("{} %", (part * 100 + whole / 2) / whole),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use omnilink_history::History;

    use super::*;

    fn coverage(calls: &[(u32, u64, Option<u64>, &str, i64)]) -> Coverage {
        let calls = calls.iter().map(|&(process, start, end, action, result)| {
            (process, start, end, Call::positional(action, [], end.map(|_| result.into())))
        });
        let history = History::from_calls(calls).unwrap();
        let mut coverage = Coverage::default();
        coverage.add(history.ops().iter().cloned());
        coverage
    }

    #[test]
    fn operations_that_overlap_are_counted_on_both_sides() {
        let mut seen = coverage(&[
            (0, 0, Some(10), "push", 1),
            (1, 5, Some(6), "pop", 1),
            (1, 7, Some(20), "pop", 2),
            (0, 21, Some(30), "push", 1),
            (2, 8, None, "clear", 0),
        ]);
        let expected = ["clear", "len", "pop", "push", "trim"].map(str::to_owned);
        insta::assert_snapshot!(seen.text(&expected, &["trim".to_owned()]), @"
        operation  operations  overlapped
        clear               1       100 %  by pop 100 %, push 100 %; 1 unfinished
        pop                 2       100 %  by push 100 %, clear 50 %; = 1 50 %, 2 50 %
        push                2       100 %  by clear 100 %, pop 50 %; = 1 100 %
        len                 0              never happened
        trim                0              left out by the harness
        ");
        let all = seen.actions["push"].clone();
        seen.merge(seen.clone());
        assert_eq!(seen.actions["push"].operations, 2 * all.operations);
        assert_eq!(seen.actions["push"].with["pop"], 2 * all.with["pop"]);
    }

    #[test]
    fn many_results_are_not_listed() {
        let calls: Vec<_> = (0..10).map(|n| (0, 2 * n, Some(2 * n + 1), "pop", n as i64)).collect();
        let seen = coverage(&calls);
        insta::assert_snapshot!(seen.text(&[], &[]), @r"
        operation  operations  overlapped
        pop                10         0 %  many results
        ");
        assert_eq!(seen.actions["pop"].overlapped, 0);
    }
}
