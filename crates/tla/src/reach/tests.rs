//! A toy system whose states TLC has counted, for any number of workers.

use super::*;

/// Pairs of small numbers. From `(x, y)`: `x + 1`, then `y + 1` with `x`, `x + 1` or `x + 2`; none of it beyond
/// `limit`. TLC counted the states of the same specification for these tests.
#[derive(Clone, Copy, Default)]
struct Toy {
    /// The number of initial states besides the first.
    more: i32,
    /// States with `x` at least this are not explored.
    x_limit: Option<i32>,
    /// Steps to `y` at least this are not taken.
    y_limit: Option<i32>,
    /// `x` must stay below, then `y`.
    invariants: [Option<i32>; 2],
    by_x: bool,
    by_y: bool,
    /// `x` of an initial state must stay below.
    initial_limit: Option<i32>,
    next: Next,
    exits_at: Option<i32>,
    exited: bool,
}

#[derive(Clone, Copy, Default)]
enum Next {
    #[default]
    Grow,
    /// Up to 2 only, by one or by two.
    Stop,
    /// Up to 3, by one or two or back to the beginning; by two fails at 2.
    Fail,
}

type Pair = (i32, i32);

impl Explorer for Toy {
    type State = Pair;
    type Label = String;
    type Error = &'static str;

    fn initial(&mut self, out: &mut Vec<Pair>) -> Result<(), &'static str> {
        out.extend((0..=self.more).map(|x| (x, 0)));
        Ok(())
    }

    fn successors(&mut self, &(x, y): &Pair, out: &mut Vec<Pair>) -> Result<(), &'static str> {
        self.exited |= self.exits_at == Some(x);
        match self.next {
            Next::Grow => out.extend([(x + 1, y), (x, y + 1), (x + 1, y + 1), (x + 2, y + 1)]),
            Next::Stop if x < 2 => out.extend([(x + 1, y), (x + 2, 7)]),
            Next::Stop => {}
            Next::Fail if x < 3 => {
                out.push((x + 1, y));
                if x == 2 {
                    return Err("no such sum");
                }
                out.extend([(x + 2, y), (0, 0)]);
            }
            Next::Fail => {}
        }
        Ok(())
    }

    fn is_explored(&mut self, from: Option<&Pair>, &(x, y): &Pair) -> Result<bool, &'static str> {
        let is_allowed = from.is_none() || self.y_limit.is_none_or(|limit| y < limit);
        Ok(is_allowed && self.x_limit.is_none_or(|limit| x < limit))
    }

    fn key(&mut self, &(x, y): &Pair) -> Result<Option<Pair>, &'static str> {
        Ok(self.by_x.then_some((x, 0)).or(self.by_y.then_some((0, y))))
    }

    fn violated_property(
        &mut self,
        from: Option<&Pair>,
        &(x, _): &Pair,
    ) -> Result<Option<usize>, (usize, &'static str)> {
        Ok((from.is_none() && self.initial_limit.is_some_and(|limit| x >= limit)).then_some(0))
    }

    fn violated(&mut self, &(x, y): &Pair) -> Result<Option<usize>, (usize, &'static str)> {
        Ok([x, y].iter().zip(self.invariants).position(|(value, limit)| limit.is_some_and(|limit| *value >= limit)))
    }

    fn label(&mut self, from: &Pair, to: &Pair) -> Option<String> {
        let mut out = Vec::new();
        // The error comes after the successors in question.
        let _ = self.successors(from, &mut out);
        out.iter().position(|successor| successor == to).map(|index| format!("step {index}"))
    }

    fn set_level(&mut self, _: usize) {}

    fn has_exited(&self) -> bool {
        self.exited
    }
}

const LIMITED: Toy = Toy {
    more: 0,
    x_limit: Some(3),
    y_limit: Some(3),
    invariants: [None, None],
    by_x: false,
    by_y: false,
    initial_limit: None,
    next: Next::Grow,
    exits_at: None,
    exited: false,
};

fn run(toy: Toy, workers: usize, most: u64) -> String {
    let mut workers = vec![toy; workers];
    let mut watch = |stats: &Stats| (stats.distinct >= most).then_some(Limit::States);
    let outcome = explore(&mut workers, Plan { check_deadlock: true, ..Plan::default() }, &mut watch);
    let Stats { generated, distinct, queued, depth, .. } = outcome.stats;
    let trace = |trace: Trace<Toy>| {
        let step = |step: TraceStep<String, Pair>| format!("{} {:?}", step.label.unwrap_or_default(), step.state);
        trace.into_iter().map(step).collect::<Vec<_>>().join(" ")
    };
    let end = match outcome.end {
        End::Finished => "finished".into(),
        End::Violated { claim: Claim::Invariant(invariant), trace: states } => {
            format!("violates {invariant}:{}", trace(states))
        }
        End::Violated { claim, .. } => format!("violates {claim:?}"),
        End::Deadlock { trace: states } => format!("deadlock:{}", trace(states)),
        End::Error { error, trace: states, .. } => format!("{error}:{}", trace(states)),
        End::Exited => "exited".into(),
        End::Stopped { limit, .. } => format!("stopped by {limit:?}"),
    };
    format!("{end}; {generated} generated, {distinct} distinct, {queued} queued, depth {depth}")
}

/// The report of one worker, after checking that several workers report the same.
fn check_up_to(toy: Toy, most: u64) -> String {
    let alone = run(toy, 1, most);
    for workers in [2, 3, 4, 9, 16, 33, 64] {
        assert_eq!(run(toy, workers, most), alone, "with {workers} workers");
    }
    alone
}

fn check(toy: Toy) -> String {
    check_up_to(toy, u64::MAX)
}

#[test]
fn a_state_outside_the_constraints_must_satisfy_the_invariants() {
    insta::assert_snapshot!(check(Toy { invariants: [Some(4), None], ..LIMITED }), @"violates 0: (0, 0) step 3 (2, 1) step 3 (4, 2); 21 generated, 9 distinct, 4 queued, depth 3");
}

#[test]
fn counts_are_those_at_the_violation() {
    insta::assert_snapshot!(check(Toy { invariants: [None, Some(2)], ..LIMITED }), @"violates 1: (0, 0) step 1 (0, 1) step 1 (0, 2); 11 generated, 7 distinct, 3 queued, depth 3");
}

#[test]
fn equal_views_are_one_state() {
    insta::assert_snapshot!(check(Toy { by_x: true, ..LIMITED }), @"finished; 13 generated, 3 distinct, 0 queued, depth 2");
}

#[test]
fn a_state_without_successors_is_a_deadlock() {
    insta::assert_snapshot!(check(Toy { next: Next::Stop, ..Toy::default() }), @"deadlock: (0, 0) step 1 (2, 7); 5 generated, 5 distinct, 2 queued, depth 3");
}

#[test]
fn successors_before_an_error_count() {
    insta::assert_snapshot!(check(Toy { next: Next::Fail, ..Toy::default() }), @"no such sum: (0, 0) step 1 (2, 0); 8 generated, 4 distinct, 1 queued, depth 3");
}

#[test]
fn a_specification_may_end_the_search() {
    insta::assert_snapshot!(check(Toy { exits_at: Some(2), ..LIMITED }), @"exited; 21 generated, 9 distinct, 4 queued, depth 3");
}

#[test]
fn an_initial_state_may_be_wrong() {
    insta::assert_snapshot!(check(Toy { invariants: [Some(0), None], ..LIMITED }), @"violates 0: (0, 0); 1 generated, 1 distinct, 0 queued, depth 1");
}

#[test]
fn large_levels_are_the_same_for_any_number_of_workers() {
    let large = Toy { more: 2500, x_limit: Some(3000), y_limit: Some(10), ..LIMITED };
    insta::assert_snapshot!(check(large), @"finished; 122501 generated, 30000 distinct, 0 queued, depth 500");
    let invariants = [Some(2600), Some(8)];
    insta::assert_snapshot!(check(Toy { invariants, ..large }), @"violates 1: (0, 0) step 1 (0, 1) step 1 (0, 2) step 1 (0, 3) step 1 (0, 4) step 1 (0, 5) step 1 (0, 6) step 1 (0, 7) step 1 (0, 8); 72783 generated, 20093 distinct, 2521 queued, depth 9");
    insta::assert_snapshot!(check(Toy { invariants: [Some(2503), None], ..large }), @"violates 0: (2499, 0) step 3 (2501, 1) step 3 (2503, 2); 22513 generated, 7509 distinct, 2505 queued, depth 3");
    insta::assert_snapshot!(check_up_to(large, 20_000), @"stopped by States; 72781 generated, 20092 distinct, 2522 queued, depth 8");
}

/// With a view, the first of the initial states with equal views stands for the others.
#[test]
fn a_property_of_initial_states_is_checked_once_for_each_view() {
    let viewed = Toy { more: 1, by_y: true, initial_limit: Some(1), ..LIMITED };
    insta::assert_snapshot!(check(viewed), @"finished; 14 generated, 3 distinct, 0 queued, depth 3");
    let whole = Toy { by_y: false, ..viewed };
    insta::assert_snapshot!(check(whole), @"violates Property(0); 2 generated, 2 distinct, 1 queued, depth 1");
}
