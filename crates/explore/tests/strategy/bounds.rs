//! Depth-first search: every schedule once, those with few preemptions first; and what its reductions leave out.

use proptest::prelude::*;

use omnilink_explore::ExecutionOrder;
use omnilink_explore::strategy::{Dfs, Strategy as _};

use crate::generate::program;
use crate::machine::{Op, Program};
use crate::oracle::{Seen, brute_force, explore, lost_update, set};

/// Explores a program up to a bound, compares with brute force, and returns the number of schedules with 0, 1, 2 and so
/// on preemptions.
fn check(program: &Program, limit: Option<u32>) -> Option<Vec<u64>> {
    let all = brute_force(program, 3_000)?;
    let is_complete = all.iter().all(|seen| limit.is_none_or(|limit| seen.preemptions <= limit));
    let within = |seen: &&Seen| limit.is_none_or(|limit| seen.preemptions <= limit);
    let mut expected: Vec<Seen> = all.iter().filter(within).cloned().collect();
    let mut dfs = Dfs::new(ExecutionOrder::default(), limit);
    let mut seen = explore(program, &mut dfs);
    assert!(seen.is_sorted_by_key(|seen| seen.preemptions), "few preemptions come first");
    let count = |bound: usize| seen.iter().filter(|seen| seen.preemptions as usize == bound).count() as u64;
    let per_bound: Vec<u64> = (0..dfs.per_bound().len()).map(count).collect();
    assert_eq!(dfs.per_bound(), per_bound);
    expected.sort();
    seen.sort();
    assert_eq!(seen, expected);
    assert_eq!(dfs.is_complete(), is_complete && !dfs.held_back());
    assert_eq!(dfs.tally().executions, seen.len() as u64);
    Some(per_bound)
}

#[test]
fn schedules_are_counted_by_their_preemptions() {
    let check = |program, limit| check(&program, limit).unwrap();
    assert_eq!(check(lost_update(2, 1), None), [2, 2, 2]);
    assert_eq!(check(lost_update(2, 1), Some(1)), [2, 2]);
    assert_eq!(check(lost_update(3, 1), None), [6, 18, 36, 30]);
    // The choice of the woken thread is tried in full, at no cost.
    let wakes = Program::new(&[&[Op::Wait(0)], &[Op::Wait(0)], &[Op::Wake(0)]]);
    assert_eq!(check(wakes, Some(0)), [10]);
    // A thread that yields runs only if no other is enabled.
    let yields = Program::new(&[&[Op::Yield, Op::Load(0)], &[Op::Load(0)]]);
    assert_eq!(check(yields, None), [2]);
}

/// Explores a program up to a bound, each class once at most, and compares with brute force. Returns the number of
/// schedules and of executions.
fn check_merging(program: &Program, limit: Option<u32>) -> Option<(usize, usize)> {
    let mut all = brute_force(program, 3_000)?;
    all.retain(|seen| limit.is_none_or(|limit| seen.preemptions <= limit));
    let mut dfs = Dfs::new(ExecutionOrder::default(), limit).merging();
    let seen = explore(program, &mut dfs);
    assert!(seen.iter().all(|seen| limit.is_none_or(|limit| seen.preemptions <= limit)));
    let parts = |all: &[Seen]| set(all, |seen| (seen.class.clone(), seen.state.clone(), seen.history.clone()));
    assert_eq!(parts(&seen), parts(&all));
    assert!(seen.len() <= all.len());
    Some((all.len(), seen.len()))
}

#[test]
fn equivalent_schedules_are_merged() {
    let check = |program, limit| check_merging(&program, limit).unwrap();
    assert_eq!(check(lost_update(2, 1), None), (6, 4));
    assert_eq!(check(lost_update(3, 1), None), (90, 36));
    let independent = |thread: u8| vec![Op::Store(thread), Op::Store(thread), Op::Store(thread)];
    let program = Program { threads: vec![independent(0), independent(1)], ends_with_first: false };
    assert_eq!(check(program, None), (20, 6));
}

/// Whether an order that explains the one history explains the other: the threads saw the same, and what came before
/// something in the other comes before it here.
fn is_at_least_as_strict(seen: &Seen, other: &Seen) -> bool {
    let saw = |seen: &Seen| seen.history.iter().filter(|line| line.contains("saw")).cloned().collect::<Vec<_>>();
    let is_known = |line: &String| seen.history.contains(line);
    seen.state == other.state && saw(seen) == saw(other) && other.history.iter().all(is_known)
}

/// Explores a program up to a bound without preemptions next to calls and returns, and compares with brute force.
/// Returns the number of schedules and of executions.
fn check_late_calls(program: &Program, limit: Option<u32>, is_merging: bool) -> Option<(usize, usize)> {
    let mut all = brute_force(program, 3_000)?;
    all.retain(|seen| limit.is_none_or(|limit| seen.preemptions <= limit));
    let mut dfs = Dfs::new(ExecutionOrder::default(), limit).with_late_calls();
    if is_merging {
        dfs = dfs.merging();
    }
    let seen = explore(program, &mut dfs);
    for one in &all {
        assert!(seen.iter().any(|seen| is_at_least_as_strict(seen, one)), "{one:?}");
    }
    for one in &seen {
        assert!(all.iter().any(|seen| seen.schedule == one.schedule), "{one:?}");
    }
    Some((all.len(), seen.len()))
}

#[test]
fn calls_are_late_and_returns_early() {
    use Op::{Call, Load, Return, Store};
    let program = Program::new(&[&[Call, Load(0), Return], &[Call, Store(0), Return]]);
    assert_eq!(check_late_calls(&program, None, false), Some((20, 2)));
    // A thread that blocks after its call is not preempted.
    let program = Program::new(&[&[Call, Op::Take(0), Return], &[Call, Op::Post(0), Return]]);
    assert_eq!(check_late_calls(&program, None, false), Some((10, 2)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_schedule_within_the_bound_is_executed_once(program in program(|_| Op::Yield), limit in 0..4u32) {
        // Limit 3 stands for no limit.
        prop_assume!(check(&program, (limit < 3).then_some(limit)).is_some());
    }

    #[test]
    fn every_class_within_the_bound_is_executed(
        program in prop_oneof![program(Op::Wake), program(|_| Op::Gate), program(|_| Op::Yield)],
        limit in 0..4u32,
    ) {
        prop_assume!(check_merging(&program, (limit < 3).then_some(limit)).is_some());
    }

    #[test]
    fn late_calls_keep_the_strictest_histories(
        program in prop_oneof![program(|_| Op::Call), program(|_| Op::Return)],
        limit in 0..4u32,
        is_merging: bool,
    ) {
        prop_assume!(check_late_calls(&program, (limit < 3).then_some(limit), is_merging).is_some());
    }
}
