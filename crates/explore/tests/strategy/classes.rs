//! Partial order reduction: every class, none twice.

use proptest::prelude::*;

use omnilink_explore::ExecutionOrder;
use omnilink_explore::strategy::{Dpor, Strategy as _};

use crate::generate::program;
use crate::machine::{Op, Program};
use crate::oracle::{Seen, brute_force, explore, lost_update, set};

/// Explores a program, compares with brute force, and returns the number of classes and of aborted executions.
fn check(program: &Program) -> Option<(usize, u64)> {
    let all = brute_force(program, 10_000)?;
    let mut dpor = Dpor::new(ExecutionOrder::default());
    let seen = explore(program, &mut dpor);
    let classes = set(&seen, |seen| seen.class.clone());
    assert_eq!(classes, set(&all, |seen| seen.class.clone()));
    assert_eq!(classes.len(), seen.len(), "a class was executed twice");
    // Follows from equal classes, unless a dependency is missing.
    assert_eq!(set(&seen, |seen| seen.state.clone()), set(&all, |seen| seen.state.clone()));
    assert_eq!(set(&seen, |seen| seen.history.clone()), set(&all, |seen| seen.history.clone()));
    assert!(dpor.is_complete());
    let tally = dpor.tally();
    assert_eq!(tally.executions, tally.finished + tally.stuck + tally.asleep);
    assert_eq!(tally.executions, seen.len() as u64 + tally.asleep);
    assert_eq!(tally.stuck, seen.iter().filter(|seen| seen.state.1).count() as u64);
    Some((seen.len(), tally.asleep))
}

#[test]
fn lost_updates_have_known_numbers_of_classes() {
    let check = |count, times| check(&lost_update(count, times)).unwrap();
    assert_eq!(check(2, 1), (4, 0));
    assert_eq!(check(2, 2), (34, 0));
    assert_eq!(check(3, 1), (36, 0));
}

#[test]
fn threads_that_are_created_and_joined_add_no_classes() {
    let update: &[Op] = &[Op::Start, Op::Load(0), Op::Store(0), Op::Exit];
    let main: &[Op] = &[Op::Create(1), Op::Create(2), Op::Join(1), Op::Join(2), Op::Load(0)];
    assert_eq!(check(&Program::new(&[main, update, update])), Some((4, 0)));
}

#[test]
fn a_deadlock_is_a_class() {
    use Op::{Lock, Unlock};
    let take = |first, second| vec![Lock(first), Lock(second), Unlock(second), Unlock(first)];
    let program = Program { threads: vec![take(0, 1), take(1, 0)], ends_with_first: false };
    assert_eq!(check(&program), Some((3, 0)));
}

/// A thread that shares a lock waits for the thread that releases it, but races with the one that took it.
#[test]
fn a_lock_is_shared_before_it_is_taken() {
    use Op::{Lock, Share, Unlock};
    assert_eq!(check(&Program::new(&[&[Lock(0), Unlock(0)], &[Share(0), Unlock(0)]])), Some((2, 0)));
}

/// Two independent operations overlap, or one of them comes first. This is lost if a return and a call are independent.
#[test]
fn histories_differ_if_only_real_time_does() {
    let program = Program::new(&[&[Op::Call, Op::Return], &[Op::Call, Op::Return]]);
    assert_eq!(check(&program), Some((3, 0)));
}

#[test]
fn every_woken_thread_is_tried() {
    let program = Program::new(&[&[Op::Wait(0)], &[Op::Wait(0)], &[Op::Wake(0)]]);
    let seen = explore(&program, &mut Dpor::new(ExecutionOrder::default()));
    let woken = set(&seen, |seen| seen.schedule.iter().filter(|(thread, _)| *thread == 2).copied().next());
    assert_eq!(woken.len(), 2);
    check(&program).unwrap();
}

/// The values loaded, which is all that threads observe. Also whether a thread was held back.
fn loads(program: &Program) -> (Vec<String>, bool) {
    let sight = |seen: &[Seen]| set(seen, |seen| seen.history.join(", ")).into_iter().collect::<Vec<_>>();
    let mut dpor = Dpor::new(ExecutionOrder::default());
    let seen = sight(&explore(program, &mut dpor));
    assert_eq!(dpor.is_complete(), !dpor.held_back());
    assert_eq!(seen, sight(&brute_force(program, 10_000).expect("few schedules")));
    (seen, dpor.held_back())
}

#[test]
fn the_first_thread_to_time_out_runs_first() {
    use Op::{Load, Store, WaitAWhile};
    let program = Program::new(&[&[WaitAWhile(0), Load(0)], &[WaitAWhile(1), Store(0)]]);
    assert_eq!(loads(&program).0, ["0 saw 0", "0 saw 2"]);
}

/// The first thread yields to any other, not just to the one that it races with.
#[test]
fn a_thread_that_is_held_back_comes_before_others() {
    use Op::{Load, Store, Yield};
    let program = Program::new(&[&[Yield, Load(1), Load(0)], &[Store(0)], &[Store(3)]]);
    let (seen, held_back) = loads(&program);
    assert_eq!(seen, ["0 saw 0, 0 saw 0", "0 saw 0, 0 saw 2"]);
    assert!(held_back);
}

#[test]
fn threads_go_on_before_the_process_ends() {
    use Op::{Abort, Load, SkipIfOdd, Store};
    let mut program = Program::new(&[&[Load(0)], &[Load(1), Store(0)]]);
    program.ends_with_first = true;
    assert_eq!(loads(&program).0, ["0 saw 0", "0 saw 0, 1 saw 0", "0 saw 2, 1 saw 0"]);
    let program = Program::new(&[&[Load(0), SkipIfOdd, Abort, Load(0)], &[], &[Load(1), Store(0)]]);
    assert_eq!(loads(&program).0, ["0 saw 0", "0 saw 0, 2 saw 0", "0 saw 3, 0 saw 3, 2 saw 0"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_class_is_executed_once(program in prop_oneof![program(Op::Wake), program(|_| Op::Gate)]) {
        prop_assume!(check(&program).is_some());
    }

    /// Other threads may be anywhere when the first thread ends the process.
    #[test]
    fn whatever_begins_is_seen_if_the_process_ends(mut program in program(Op::Wake)) {
        program.ends_with_first = true;
        let all = brute_force(&program, 300);
        prop_assume!(all.is_some());
        let mut dpor = Dpor::new(ExecutionOrder::default());
        let seen = explore(&program, &mut dpor);
        for one in all.unwrap() {
            prop_assert!(seen.iter().any(|other| one.begins(other)), "{:?}", one);
        }
        prop_assert!(dpor.is_complete());
    }

    /// When time advances depends on all threads, so executions that differ elsewhere may seem to be of one class.
    #[test]
    fn what_can_be_seen_is_seen_if_time_passes(program in program(Op::WaitAWhile)) {
        let all = brute_force(&program, 10_000);
        prop_assume!(all.is_some());
        let parts = |all: &[Seen]| set(all, |seen| (seen.state.clone(), seen.history.clone()));
        let mut dpor = Dpor::new(ExecutionOrder::default());
        prop_assert_eq!(parts(&explore(&program, &mut dpor)), parts(&all.unwrap()));
        prop_assert!(dpor.is_complete());
    }
}
