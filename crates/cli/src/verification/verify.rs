//! Replays an order of operations step by step, without searching.
//!
//! An order is a text, one operation per line. Each line must be an operation of the history as recorded; the
//! operations of a process must come in order; no operation may come before one that ended before it started; and the
//! specification must allow it in some state that is possible so far. All possible states are kept, so an order need
//! not record the choices of a nondeterministic specification. At the end every finished operation must have come,
//! once. No operation may come after one that started after its latest time. Which of these hold for an order that is not
//! the one of real time is up to its [`Precedence`].
//!
//! This double-checks the search, so it uses the specification and nothing of the search.

use std::collections::{HashMap, HashSet};

use omnilink_history::{History, Op, Precedence};
use omnilink_search::{Spec, Successors};

/// An order that explains a history.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verified {
    /// The number of steps.
    pub(super) steps: usize,
    /// The number of possible states after the last step.
    pub(super) states: usize,
}

/// Why an order could not be replayed to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stopped<E> {
    /// It does not explain the history.
    Wrong {
        /// The first wrong line, counted from one; `None` if an operation is missing at the end.
        line: Option<usize>,
        why: String,
    },
    /// The specification could not be evaluated.
    Spec(E),
}

/// The suffix of a step after which the operation needs further steps.
const PARTWAY: &str = " ...";

/// Replays an order. `lines` has, for each operation of the history in order, its name and its expected line.
pub(super) fn verify<S: Spec>(
    spec: &S,
    history: &History<S::Op>,
    precedence: Precedence,
    lines: &[(String, String)],
    order: &str,
) -> Result<Verified, Stopped<S::Error>> {
    let mut states = Vec::new();
    spec.initial(&mut states).map_err(Stopped::Spec)?;
    let mut walk = Walk::new(history, lines, precedence);
    let mut steps = 0;
    for (index, line) in order.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why| Stopped::Wrong { line: Some(index + 1), why };
        let (place, partway) = walk.take(line).map_err(wrong)?;
        states = follow(spec, &states, &history.ops()[place].call, partway).map_err(Stopped::Spec)?;
        if states.is_empty() {
            let name = &lines[place].0;
            return Err(wrong(format!("the specification does not allow {name} in any state that is possible here")));
        }
        steps += 1;
    }
    match walk.missing() {
        Some(place) => Err(Stopped::Wrong { line: None, why: format!("`{}` is missing", lines[place].1) }),
        None => Ok(Verified { steps, states: states.len() }),
    }
}

/// Every state that an operation may lead to from these states, each once.
fn follow<S: Spec>(spec: &S, states: &[S::State], op: &S::Op, partway: bool) -> Result<Vec<S::State>, S::Error> {
    let (mut known, mut reached) = (HashSet::new(), Vec::new());
    for state in states {
        let mut successors = Successors::default();
        spec.step(state, op, &mut successors)?;
        let (done, unfinished) = successors.into_parts();
        for next in if partway { unfinished } else { done } {
            if known.insert(next.clone()) {
                reached.push(next);
            }
        }
    }
    Ok(reached)
}

/// The operations that have come, and the constraints on the next one. Operations are indices into the history.
struct Walk<'a, T> {
    ops: &'a [Op<T>],
    lines: &'a [(String, String)],
    names: HashMap<&'a str, usize>,
    chains: Vec<Vec<usize>>, // The operations of each process, last to first; some that have come among them.
    by_end: Vec<usize>, // Those that finished and have not come, last end to first; some that have come among them.
    has_come: Vec<bool>,
    last_start: Option<usize>, // The operation that started last, of those that have come.
    precedence: Precedence,
}

impl<'a, T> Walk<'a, T> {
    fn new(history: &'a History<T>, lines: &'a [(String, String)], precedence: Precedence) -> Walk<'a, T> {
        let ops = history.ops();
        let mut chains = vec![Vec::new(); history.processes().len()];
        for (place, op) in ops.iter().enumerate().rev() {
            chains[op.process.index()].push(place);
        }
        let mut by_end: Vec<usize> = (0..ops.len()).filter(|&place| !ops[place].interval.is_unfinished()).collect();
        by_end.sort_by_key(|&place| std::cmp::Reverse(ops[place].interval.deadline()));
        let names = lines.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
        Walk { ops, lines, names, chains, by_end, has_come: vec![false; ops.len()], last_start: None, precedence }
    }

    /// The operation that a line names, if it may come now, and whether it needs further steps.
    fn take(&mut self, line: &str) -> Result<(usize, bool), String> {
        let name = line.split(" [").next().unwrap_or_default();
        let Some(&place) = self.names.get(name) else {
            return Err(format!("the history has no operation `{name}` that could have had an effect"));
        };
        let expected = &self.lines[place].1;
        let partway = match line.strip_prefix(expected.as_str()) {
            Some("") => false,
            Some(PARTWAY) => true,
            _ => return Err(format!("this is not {name} as it was recorded: `{expected}`")),
        };
        let op = &self.ops[place];
        if self.has_come[place] {
            return Err(format!("{name} is repeated"));
        }
        let chain = &mut self.chains[op.process.index()];
        while chain.last().is_some_and(|&first| self.has_come[first]) {
            chain.pop();
        }
        match chain.last() {
            Some(&next) if next != place && self.precedence != Precedence::None => {
                return Err(format!("{name} comes before {}, which its process called first", self.lines[next].0));
            }
            _ => {}
        }
        while self.by_end.last().is_some_and(|&first| self.has_come[first]) {
            self.by_end.pop();
        }
        if let (Precedence::RealTime, Some(&first)) = (self.precedence, self.by_end.last())
            && self.ops[first].interval.precedes(op.interval)
        {
            return Err(format!("{name} comes before {}, which ended before it started", self.lines[first].0));
        }
        if let (Precedence::RealTime, Some(last)) = (self.precedence, self.last_start)
            && op.interval.precedes(self.ops[last].interval)
        {
            let last = &self.lines[last].0;
            return Err(format!("{name} comes after {last}, which started after the latest time of {name}"));
        }
        if self.last_start.is_none_or(|last| self.ops[last].interval.start() < op.interval.start()) {
            self.last_start = Some(place);
        }
        self.has_come[place] = !partway;
        Ok((place, partway))
    }

    /// A finished operation that has not come.
    fn missing(&self) -> Option<usize> {
        (0..self.ops.len()).find(|&place| !self.has_come[place] && !self.ops[place].interval.is_unfinished())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use omnilink_history::{Interval, OpId, ProcessId};

    use super::*;

    /// A counter. `Some(n)` is a read that returned `n`, `None` adds one or two, the second in a step of its own.
    struct Counter;

    impl Spec for Counter {
        type Op = Option<u64>;
        type State = u64;
        type Error = Infallible;

        fn initial(&self, out: &mut Vec<u64>) -> Result<(), Infallible> {
            out.push(0);
            Ok(())
        }

        fn step(&self, count: &u64, op: &Option<u64>, out: &mut Successors<u64>) -> Result<(), Infallible> {
            match op {
                Some(seen) if seen == count => out.done(*count),
                Some(_) => {}
                None => {
                    out.done(count + 1);
                    out.done(count + 2);
                    out.partway(count + 1);
                }
            }
            Ok(())
        }
    }

    fn check(order: &[&str]) -> String {
        let calls = [(0, 0, Some(4), None), (1, 2, Some(6), Some(1)), (0, 7, Some(9), Some(2)), (2, 3, None, None)];
        let history = History::from_calls(calls).unwrap();
        let line = |op: &Op<Option<u64>>| {
            let what = op.call.map_or("add()".to_owned(), |seen| format!("read() = {seen}"));
            (history.name(op.id), format!("{} {} {what}", history.name(op.id), op.interval))
        };
        let lines: Vec<(String, String)> = history.ops().iter().map(line).collect();
        let order = format!("# a history\n{}\n", order.join("\n"));
        match verify(&Counter, &history, Precedence::RealTime, &lines, &order) {
            Ok(Verified { steps, states }) => format!("{steps} steps, {states} states"),
            Err(Stopped::Wrong { line, why }) => format!("{}: {why}", line.unwrap_or_default()),
            Err(Stopped::Spec(never)) => match never {},
        }
    }

    const ADD: &str = "T0:0 [0 4] add()";
    const ONE: &str = "T1:0 [2 6] read() = 1";
    const TWO: &str = "T0:1 [7 9] read() = 2";
    const MAYBE: &str = "T2:0 [3 ...] add()";

    #[test]
    fn an_order_that_explains_the_history_is_verified() {
        insta::assert_snapshot!(check(&[ADD, ONE, MAYBE, TWO]), @"4 steps, 1 states");
        insta::assert_snapshot!(check(&[&format!("{ADD} ..."), ONE, ADD, TWO]), @"4 steps, 1 states");
        insta::assert_snapshot!(check(&[ADD, ONE, &format!("{MAYBE} ..."), TWO, MAYBE]), @"5 steps, 2 states");
    }

    #[test]
    fn latest_times_and_orders_of_processes_hold_where_they_count() {
        let history = History::from_ops(
            ["a", "b"].map(Into::into).into(),
            vec![
                op(0, 0, Interval::unknown(0, 3).expect("an interval")),
                op(1, 1, Interval::new(5, 6).expect("an interval")),
                op(2, 1, Interval::new(7, 8).expect("an interval")),
            ],
        );
        let lines: Vec<(String, String)> = ["a", "b", "c"].map(|name| (name.to_owned(), name.to_owned())).into();
        let check = |precedence, order: &str| match verify(&Counter, &history, precedence, &lines, order) {
            Ok(Verified { steps, .. }) => format!("{steps} steps"),
            Err(Stopped::Wrong { why, .. }) => why,
            Err(Stopped::Spec(never)) => match never {},
        };
        insta::assert_snapshot!(check(Precedence::RealTime, "a\nb\nc"), @"3 steps");
        insta::assert_snapshot!(check(Precedence::RealTime, "b\na\nc"), @"a comes after b, which started after the latest time of a");
        insta::assert_snapshot!(check(Precedence::Program, "b\na\nc"), @"3 steps");
        insta::assert_snapshot!(check(Precedence::Program, "c\nb\na"), @"c comes before b, which its process called first");
        insta::assert_snapshot!(check(Precedence::None, "c\nb\na"), @"3 steps");
    }

    /// An operation that adds.
    fn op(id: u32, process: u32, interval: Interval) -> Op<Option<u64>> {
        Op { id: OpId(id), process: ProcessId(process), index: id, interval, is_last: false, call: None }
    }

    #[test]
    fn the_first_wrong_line_is_named() {
        insta::assert_snapshot!(check(&[ADD, "T7:0 [0 4] add()"]), @"3: the history has no operation `T7:0` that could have had an effect");
        insta::assert_snapshot!(check(&[ADD, "T1:0 [2 6] read() = 2"]), @"3: this is not T1:0 as it was recorded: `T1:0 [2 6] read() = 1`");
        insta::assert_snapshot!(check(&[ADD, ONE, ADD]), @"4: T0:0 is repeated");
        insta::assert_snapshot!(check(&[TWO]), @"2: T0:1 comes before T0:0, which its process called first");
        insta::assert_snapshot!(check(&[ADD, TWO]), @"3: T0:1 comes before T1:0, which ended before it started");
        insta::assert_snapshot!(check(&[ONE]), @"2: the specification does not allow T1:0 in any state that is possible here");
        insta::assert_snapshot!(check(&[ADD, ONE]), @"0: `T0:1 [7 9] read() = 2` is missing");
        insta::assert_snapshot!(check(&[&format!("{ADD} ..."), ONE, TWO]), @"4: T0:1 comes before T0:0, which its process called first");
    }
}
