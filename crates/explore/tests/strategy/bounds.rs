//! Depth-first search: every schedule once, those with few preemptions first.

use proptest::prelude::*;

use omnilink_explore::Order;
use omnilink_explore::strategy::{Dfs, Strategy as _};

use crate::generate::program;
use crate::machine::{Op, Program};
use crate::oracle::{Seen, brute_force, explore, lost_update};

/// Explores a program up to a bound, compares with brute force, and returns the number of schedules with 0, 1, 2 and so
/// on preemptions.
fn check(program: &Program, limit: Option<u32>) -> Option<Vec<u64>> {
    let all = brute_force(program, 3_000)?;
    let is_complete = all.iter().all(|seen| limit.is_none_or(|limit| seen.preemptions <= limit));
    let within = |seen: &&Seen| limit.is_none_or(|limit| seen.preemptions <= limit);
    let mut expected: Vec<Seen> = all.iter().filter(within).cloned().collect();
    let mut dfs = Dfs::new(Order::default(), limit);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_schedule_within_the_bound_is_executed_once(program in program(|_| Op::Yield), limit in 0..4u32) {
        // Limit 3 stands for no limit.
        prop_assume!(check(&program, (limit < 3).then_some(limit)).is_some());
    }
}
