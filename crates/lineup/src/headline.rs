//! A failure in one sentence, computed from all serial runs that respect real time.

use std::collections::BTreeSet;

use crate::observations::{owner, past};
use crate::run::{Answer, Place};
use crate::test::Test;
use crate::witness::{Answers, Failure};

/// The maximum number of values to list.
const LISTED: usize = 4;

/// Describes in one sentence why no serial run explains a history. The sentence is about one operation if that is enough:
/// the pending one; or one whose answer no serial order that fits the times has; or one whose answer no such order has that
/// agrees in all other operations.
pub fn headline(test: &Test, failure: &Failure) -> String {
    let Failure { is_stuck, pending, closest, agreeing, answers } = failure;
    if closest.is_empty() {
        return "No observed serial run fits these times.".to_owned();
    }
    let order = if *is_stuck { "serial order of the finished operations" } else { "serial order" };
    let name = |place: Place| format!("`{}` of {}", test.call(place), owner(place.thread));
    // Of several true sentences, the one with the fewest conditions and the fewest answers.
    let contradictions = answers.iter().filter(|answers| pending.is_none_or(|pending| pending == answers.place));
    let strongest = contradictions.filter_map(Contradiction::new).min_by_key(Contradiction::weakness);
    let Some(Contradiction { answers: Answers { place, observed, .. }, serial, is_certain }) = strongest else {
        let all = answers.len();
        return format!("No {order} that fits these times agrees in more than {agreeing} of {all} answers.");
    };
    let (name, returns) = (name(*place), list(serial));
    if pending.is_some() {
        let condition = if is_certain { "these times" } else { "these times and answers" };
        format!("{name} never returned, but after every {order} that fits {condition} it {returns}.")
    } else {
        let condition = if is_certain { "these times" } else { "these times and the other answers" };
        format!("In every {order} that fits {condition}, {name} {returns}; here it {}.", past(observed))
    }
}

/// An operation that has another answer in every serial order.
struct Contradiction<'f> {
    answers: &'f Answers,
    serial: &'f BTreeSet<Answer>,
    is_certain: bool, // Whatever other operations answer.
}

impl<'f> Contradiction<'f> {
    fn new(answers: &'f Answers) -> Option<Contradiction<'f>> {
        let is_certain = answers.is_reached && !answers.always.contains(&answers.observed);
        let serial = if is_certain { &answers.always } else { &answers.otherwise_agreeing };
        (!serial.is_empty()).then_some(Contradiction { answers, serial, is_certain })
    }

    fn weakness(&self) -> (bool, usize) {
        (!self.is_certain, self.serial.len())
    }
}

/// Answers as alternatives: `returns 200, 400 or nil`, `returns 200 or blocks`, `returns`.
fn list(answers: &BTreeSet<Answer>) -> String {
    let texts = answers.iter().filter_map(|answer| match answer {
        Answer::Returned(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
        Answer::Blocked => None,
    });
    let texts: Vec<&str> = texts.collect();
    let mut values: Vec<String> = texts.iter().take(LISTED).map(|&text| text.to_owned()).collect();
    if texts.len() > LISTED {
        values.push(format!("one of {} other values", texts.len() - LISTED));
    }
    let returns = (!values.is_empty()).then(|| format!("returns {}", any(values)));
    let returns_nothing = answers.contains(&Answer::Returned(String::new())).then(|| match returns {
        Some(_) => "returns nothing".to_owned(),
        None => "returns".to_owned(),
    });
    let blocks = answers.contains(&Answer::Blocked).then(|| "blocks".to_owned());
    any([returns, returns_nothing, blocks].into_iter().flatten().collect())
}

/// `a`, `a or b`, `a, b or c`.
fn any(mut alternatives: Vec<String>) -> String {
    let last = alternatives.pop().unwrap_or_default();
    if alternatives.is_empty() { last } else { format!("{} or {last}", alternatives.join(", ")) }
}

#[cfg(test)]
mod tests {
    use crate::{Explanation, Observations, Observed, Operation, Thread, explain};

    use super::*;

    /// Explains operations given as (thread, start, end, results); an end of 0 is pending.
    fn check(observations: &str, operations: &[(u8, u64, u64, &str)]) -> String {
        let observations: Observations = observations.parse().unwrap();
        let test = observations.test();
        let operation = |&(column, start, end, results): &(u8, u64, u64, &str)| match end {
            0 => Operation::pending(Thread::Column(column), start),
            _ => Operation::returned(Thread::Column(column), start, end, results),
        };
        let is_stuck = operations.iter().any(|operation| operation.2 == 0);
        let operations = operations.iter().map(operation).collect();
        let observed =
            if is_stuck { Observed::stuck(test, operations) } else { Observed::full(test, operations) }.unwrap();
        match explain(&observations, &observed) {
            Explanation::Witnessed(witnesses) => {
                witnesses.iter().map(|run| run.display(test)).collect::<Vec<_>>().join("\n")
            }
            Explanation::Unwitnessed(failure) => {
                let mut lines = vec![headline(test, &failure)];
                for closest in &failure.closest {
                    let differing = closest.differing.iter().map(|differing| {
                        let Place { thread, index } = differing.place;
                        format!("{thread}.{index}{}, here{}", differing.serial, differing.observed)
                    });
                    lines.push(format!("{} ({})", closest.run.display(test), differing.collect::<Vec<_>>().join("; ")));
                }
                lines.join("\n")
            }
        }
    }

    const BAG: &str = "observations of add(200) try_take() || add(400) try_take()
0 add(200)
  0 try_take() = 200
    1 add(400)
      1 try_take() = 400
  1 add(400)
    0 try_take() = 200
      1 try_take() = 400
    1 try_take() = 200
      0 try_take() = 400
1 add(400)
  0 add(200)
    0 try_take() = 400
      1 try_take() = 200
    1 try_take() = 400
      0 try_take() = 200
  1 try_take() = 400
    0 add(200)
      0 try_take() = 200
";

    #[test]
    fn a_full_history_has_a_witness_or_a_wrong_answer() {
        insta::assert_snapshot!(check(BAG, &[(0, 1, 2, ""), (0, 3, 6, "400"), (1, 1, 4, ""), (1, 5, 6, "200")]), @"0 add(200), 1 add(400), 1 try_take() = 200, 0 try_take() = 400");
        // A failed try, as after the timeout of a lock.
        insta::assert_snapshot!(check(BAG, &[(0, 1, 2, ""), (0, 3, 6, "200"), (1, 1, 4, ""), (1, 5, 6, "nil")]), @"
        In every serial order that fits these times, `try_take()` of thread 1 returns 200 or 400; here it returned nil.
        0 add(200), 0 try_take() = 200, 1 add(400), 1 try_take() = 400 (1.1 = 400, here = nil)
        0 add(200), 1 add(400), 0 try_take() = 200, 1 try_take() = 400 (1.1 = 400, here = nil)
        1 add(400), 0 add(200), 1 try_take() = 400, 0 try_take() = 200 (1.1 = 400, here = nil)
        ");
        insta::assert_snapshot!(check(BAG, &[(0, 1, 2, ""), (0, 5, 6, "400"), (1, 3, 4, ""), (1, 7, 8, "200")]), @"
        In every serial order that fits these times, `try_take()` of thread 0 returns 200; here it returned 400.
        0 add(200), 1 add(400), 0 try_take() = 200, 1 try_take() = 400 (0.1 = 200, here = 400; 1.1 = 400, here = 200)
        ");
        insta::assert_snapshot!(check(BAG, &[(0, 1, 2, ""), (0, 5, 6, "nil"), (1, 3, 4, ""), (1, 7, 8, "nil")]), @"
        In every serial order that fits these times, `try_take()` of thread 0 returns 200; here it returned nil.
        0 add(200), 1 add(400), 0 try_take() = 200, 1 try_take() = 400 (0.1 = 200, here = nil; 1.1 = 400, here = nil)
        ");
        insta::assert_snapshot!(check(BAG, &[(0, 1, 2, ""), (0, 3, 8, "200"), (1, 1, 4, ""), (1, 5, 6, "200")]), @"
        In every serial order that fits these times and the other answers, `try_take()` of thread 0 returns 400; here it returned 200.
        0 add(200), 0 try_take() = 200, 1 add(400), 1 try_take() = 400 (1.1 = 400, here = 200)
        0 add(200), 1 add(400), 0 try_take() = 200, 1 try_take() = 400 (1.1 = 400, here = 200)
        0 add(200), 1 add(400), 1 try_take() = 200, 0 try_take() = 400 (0.1 = 400, here = 200)
        ");
    }

    /// The first operation decides every answer.
    const ELECTION: &str = "observations of a() a() || b() b()
0 a() = 1
  0 a() = 1
    1 b() = 1
      1 b() = 1
  1 b() = 1
    0 a() = 1
      1 b() = 1
    1 b() = 1
      0 a() = 1
1 b() = 2
  0 a() = 2
    0 a() = 2
      1 b() = 2
    1 b() = 2
      0 a() = 2
  1 b() = 2
    0 a() = 2
      0 a() = 2
";

    #[test]
    fn no_single_answer_may_be_wrong() {
        insta::assert_snapshot!(check(ELECTION, &[(0, 1, 2, "1"), (0, 3, 8, "2"), (1, 1, 6, "2"), (1, 7, 8, "1")]), @"
        No serial order that fits these times agrees in more than 2 of 4 answers.
        0 a() = 1, 0 a() = 1, 1 b() = 1, 1 b() = 1 (0.1 = 1, here = 2; 1.0 = 1, here = 2)
        0 a() = 1, 1 b() = 1, 0 a() = 1, 1 b() = 1 (1.0 = 1, here = 2; 0.1 = 1, here = 2)
        0 a() = 1, 1 b() = 1, 1 b() = 1, 0 a() = 1 (1.0 = 1, here = 2; 0.1 = 1, here = 2)
        ");
    }

    const EVENT: &str = "observations of wait() || set() reset() set()
0 wait() blocks
1 set()
  0 wait()
    1 reset()
      1 set()
  1 reset()
    0 wait() blocks
    1 set()
      0 wait()
";

    #[test]
    fn a_stuck_history_has_a_witness_for_each_pending_operation() {
        let set_reset_set = [(1, 1, 2, ""), (1, 3, 4, ""), (1, 5, 6, "")];
        insta::assert_snapshot!(check(EVENT, &[&[(0, 1, 0, "")][..], &set_reset_set].concat()), @"
        `wait()` of thread 0 never returned, but after every serial order of the finished operations that fits these times it returns.
        1 set(), 1 reset(), 1 set(), 0 wait() (0.0, here blocks)
        ");
        insta::assert_snapshot!(check(EVENT, &[(0, 1, 0, ""), (1, 1, 2, ""), (1, 3, 4, ""), (1, 5, 0, "")]), @"
        `set()` of thread 1 never returned, but after every serial order of the finished operations that fits these times it returns.
        1 set(), 1 reset(), 1 set() (1.2, here blocks)
        ");
        insta::assert_snapshot!(check(EVENT, &[(0, 1, 0, ""), (1, 1, 2, ""), (1, 3, 4, "")]), @"1 set(), 1 reset(), 0 wait() blocks");
        insta::assert_snapshot!(check(EVENT, &[(0, 1, 0, ""), (1, 1, 2, ""), (1, 3, 4, "late")]), @"
        In every serial order of the finished operations that fits these times, `reset()` of thread 1 returns; here it returned late.
        1 set(), 1 reset() (1.1, here = late)
        ");
    }

    #[test]
    fn answers_are_alternatives() {
        let check = |texts: &[&str]| {
            let answer =
                |text: &&str| if *text == "#" { Answer::Blocked } else { Answer::Returned((*text).to_owned()) };
            list(&texts.iter().map(answer).collect())
        };
        insta::assert_snapshot!(check(&["200"]), @"returns 200");
        insta::assert_snapshot!(check(&["200", "400", "nil"]), @"returns 200, 400 or nil");
        insta::assert_snapshot!(check(&["1", "2", "3", "4", "5", "6", "#"]), @"returns 1, 2, 3, 4 or one of 2 other values or blocks");
        insta::assert_snapshot!(check(&[""]), @"returns");
        insta::assert_snapshot!(check(&["", "#"]), @"returns or blocks");
        insta::assert_snapshot!(check(&["", "1"]), @"returns 1 or returns nothing");
    }

    #[test]
    fn missing_observations_are_told() {
        insta::assert_snapshot!(check("observations of a() || b()\n0 a()\n  1 b()\n", &[(0, 3, 4, ""), (1, 1, 2, "")]), @"No observed serial run fits these times.");
    }
}
