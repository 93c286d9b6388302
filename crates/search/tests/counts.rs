//! The amount of work of the search. Counts are exact, so a reduction that stops working, or one that starts to lose
//! orders, shows here before the search gets slow.

use std::cell::Cell;
use std::convert::Infallible;

use omnilink_history::{History, OpId, Stop, Verdict};
use omnilink_search::{Checker, Criterion, Options, Spec, Stats, Successors, Unwatched, Why, check, check_watched};

/// One register for each key, all zero at first.
struct Registers;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Op {
    Write(usize, u8),
    Read(usize, u8),
}
use Op::{Read, Write};

impl Spec for Registers {
    type Op = Op;
    type State = [u8; 4];
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<[u8; 4]>) -> Result<(), Infallible> {
        out.push([0; 4]);
        Ok(())
    }

    fn step(&self, state: &[u8; 4], op: &Op, out: &mut Successors<[u8; 4]>) -> Result<(), Infallible> {
        match *op {
            Write(key, value) => {
                let mut next = *state;
                next[key] = value;
                out.done(next);
            }
            Read(key, value) if state[key] == value => out.done(*state),
            Read(..) => {}
        }
        Ok(())
    }

    fn is_observer(&self, op: &Op) -> bool {
        matches!(op, Read(..))
    }

    fn commute(&self, a: &Op, b: &Op) -> bool {
        let key = |op: &Op| match *op {
            Write(key, _) | Read(key, _) => key,
        };
        key(a) != key(b)
    }

    fn why_not(&self, state: &[u8; 4], op: &Op) -> Option<String> {
        let Read(key, value) = *op else { return None };
        Some(format!("read {value}, holds {}", state[key]))
    }
}

/// One process per operation, all called at once; the first to be called is the first to return.
fn overlapping(ops: impl IntoIterator<Item = Op>) -> History<Op> {
    let calls = ops
        .into_iter()
        .zip(0..)
        .map(|(op, process)| (process, u64::from(process), Some(1000 + u64::from(process)), op));
    History::from_calls(calls).expect("one operation for each process")
}

/// The verdict with and without reductions, and the steps, kept configurations and greatest width of each.
fn work(history: &History<Op>) -> String {
    let run = |reduce| {
        let report =
            check(&Registers, history, &Options { reduce, ..Options::default() }).expect("a spec without errors");
        let verdict = if report.verdict.is_accepted() { "accepted" } else { "rejected" };
        let Stats { operations, steps, distinct, widest, .. } = report.stats;
        let widest = widest.expect("something returned");
        format!("{verdict} {operations} returned, {steps} steps, {distinct} kept, {} wide", widest.width)
    };
    format!("{}; {}", run(true), run(false))
}

#[test]
fn writes_to_different_keys_need_one_order_only() {
    let history = overlapping([Write(0, 1), Write(1, 1), Write(2, 1), Write(3, 1)]);
    insta::assert_snapshot!(work(&history), @"accepted 4 returned, 4 steps, 5 kept, 2 wide; accepted 4 returned, 32 steps, 16 kept, 16 wide");
}

#[test]
fn writes_to_one_key_need_all_orders() {
    let history = overlapping([Write(0, 1), Write(0, 2), Write(0, 3), Read(1, 0)]);
    insta::assert_snapshot!(work(&history), @"accepted 4 returned, 16 steps, 13 kept, 9 wide; accepted 4 returned, 43 steps, 26 kept, 18 wide");
}

#[test]
fn equal_writes_are_one_write() {
    let history = overlapping([Write(0, 1), Write(0, 1), Write(0, 1), Write(0, 1)]);
    insta::assert_snapshot!(work(&history), @"accepted 4 returned, 4 steps, 5 kept, 2 wide; accepted 4 returned, 32 steps, 16 kept, 16 wide");
}

#[test]
fn reads_are_placed_as_soon_as_they_can_be() {
    let history = overlapping([Read(0, 0), Read(0, 1), Read(0, 0), Write(0, 1), Read(0, 1), Read(0, 0)]);
    insta::assert_snapshot!(work(&history), @"accepted 6 returned, 8 steps, 2 kept, 2 wide; accepted 6 returned, 116 steps, 40 kept, 24 wide");
}

#[test]
fn more_operations_in_flight_than_fit_a_word() {
    for count in [63, 64, 65, 66, 128, 129, 300] {
        let reads = (0..count).map(|place| Read(place % 4, 0));
        let history = overlapping(reads.clone().chain([Write(0, 1), Read(0, 1), Read(1, 0)]));
        let report = check(&Registers, &history, &Options::default()).expect("a spec without errors");
        assert!(report.verdict.is_accepted(), "{count}");
        assert_eq!(report.stats.operations, count as u64 + 3);
        let history = overlapping(reads.chain([Read(3, 9)]));
        let report = check(&Registers, &history, &Options::default()).expect("a spec without errors");
        let Verdict::Rejected(explanation) = report.verdict else { panic!("{count} is not rejected") };
        assert_eq!((explanation.blocked, explanation.explained), (vec![OpId(count as u32)], count as u64));
    }
}

#[test]
fn never_finished_operations_may_take_effect_late_or_not_at_all() {
    let with_late_read = |value| {
        let mut calls = vec![(0, 0, None, Write(0, 1)), (1, 0, None, Write(0, 2)), (2, 1, None, Read(0, 9))];
        calls.push((3, 50, Some(51), Read(0, value)));
        History::from_calls(calls).expect("a history")
    };
    insta::assert_snapshot!(work(&with_late_read(0)), @"accepted 1 returned, 1 steps, 1 kept, 1 wide; accepted 1 returned, 14 steps, 6 kept, 6 wide");
    insta::assert_snapshot!(work(&with_late_read(2)), @"accepted 1 returned, 7 steps, 2 kept, 2 wide; accepted 1 returned, 14 steps, 7 kept, 7 wide");
    insta::assert_snapshot!(work(&with_late_read(3)), @"rejected 0 returned, 10 steps, 1 kept, 1 wide; rejected 0 returned, 14 steps, 5 kept, 5 wide");
}

#[test]
fn a_stuck_configuration_says_why() {
    let calls = [(0, 0, Some(1), Write(0, 1)), (1, 2, Some(9), Write(1, 5)), (2, 3, Some(4), Read(0, 7))];
    let history = History::from_calls(calls).expect("a history");
    let report = check(&Registers, &history, &Options::default()).expect("a spec without errors");
    let Verdict::Rejected(explanation) = report.verdict else { panic!("rejected") };
    assert_eq!((&explanation.blocked[..], explanation.explained, explanation.stuck.len()), (&[OpId(2)][..], 1, 2));
    let why = |stuck: usize, op| {
        let refusal = explanation.stuck[stuck].refused.iter().find(|refusal| refusal.op == OpId(op));
        refusal.map(|refusal| refusal.why.clone())
    };
    assert_eq!(explanation.stuck[0].state, [1, 0, 0, 0]);
    assert_eq!(why(0, 2), Some(Why::Disabled(Some("read 7, holds 1".into()))));
    assert_eq!(why(0, 1), Some(Why::LeadsNowhere));
    assert_eq!(explanation.stuck[1].state, [1, 5, 0, 0]);
    assert_eq!(why(1, 1), None);
    let recent: Vec<u32> = explanation.stuck[1].recent.iter().map(|step| step.op.0).collect();
    assert_eq!(recent, [0, 1]);
}

#[test]
fn by_level_reads_are_placed_as_soon_as_they_can_be() {
    let history = overlapping([Read(0, 0), Read(0, 1), Read(0, 0), Write(0, 1), Read(0, 1), Write(1, 1), Write(0, 2)]);
    let check = |criterion, reduce| {
        let options = Options { criterion, by_level: true, reduce, ..Options::default() };
        let report = check(&Registers, &history, &options).expect("a spec without errors");
        assert!(report.verdict.is_accepted());
        format!("{} steps, {} kept", report.stats.steps, report.stats.distinct)
    };
    // One operation of each process: no order has anything to say.
    for criterion in [Criterion::LINEARIZABLE, Criterion::SEQUENTIAL, Criterion::SERIALIZABLE] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(format!("{}; {}", check(criterion, true), check(criterion, false)), @"30 steps, 8 kept; 352 steps, 112 kept");
        }
    }
}

#[test]
fn by_level_waiting_operations_name_a_predecessor() {
    let calls = [(0, 0, Some(1), Read(0, 7)), (1, 2, Some(3), Write(0, 7))];
    let history = History::from_calls(calls).expect("a history");
    let options = Options { by_level: true, ..Options::default() };
    let report = check(&Registers, &history, &options).expect("a spec without errors");
    let Verdict::Rejected(explanation) = report.verdict else { panic!("rejected") };
    let why: Vec<Why> = explanation.stuck[0].refused.iter().map(|refusal| refusal.why.clone()).collect();
    assert_eq!(why, [Why::Disabled(Some("read 7, holds 0".into())), Why::MustFollow(OpId(0))]);
    assert_eq!((explanation.blocked, explanation.explained), (vec![OpId(0)], 0));
}

#[test]
fn operations_that_touch_in_one_process_stay_in_order() {
    let calls = [(0, 0, Some(5), Write(0, 1)), (0, 5, Some(9), Write(0, 2)), (1, 5, Some(9), Read(0, 7))];
    let history = History::from_calls(calls).expect("a history");
    let report = check(&Registers, &history, &Options::default()).expect("a spec without errors");
    let Verdict::Rejected(explanation) = report.verdict else { panic!("rejected") };
    let waits = explanation
        .stuck
        .iter()
        .flat_map(|stuck| &stuck.refused)
        .any(|refusal| refusal.why == Why::MustFollow(OpId(0)));
    assert!(!waits, "the write returned before the read had to be placed");
    let calls = [(0, 0, Some(5), Read(0, 7)), (0, 5, Some(9), Write(0, 7))];
    let history = History::from_calls(calls).expect("a history");
    let report = check(&Registers, &history, &Options::default()).expect("a spec without errors");
    let Verdict::Rejected(explanation) = report.verdict else { panic!("rejected") };
    assert_eq!(explanation.stuck[0].refused[1].why, Why::MustFollow(OpId(0)));
}

#[test]
fn a_stream_is_decided_as_soon_as_it_is_rejected() {
    let history = overlapping([Read(0, 9), Write(0, 1)]);
    let mut checker = Checker::new(&Registers, &Options::default()).expect("a spec without errors");
    for op in history.ops() {
        assert!(!checker.push(op.clone(), &Unwatched).expect("a spec without errors").is_decided());
    }
    let late = History::from_calls([(0, 5000, Some(5001), Write(0, 3))]).expect("a history");
    let progress = checker.push(late.ops()[0].clone(), &Unwatched).expect("a spec without errors");
    assert!(progress.is_decided());
    assert_eq!((checker.stats().operations, checker.stats().steps), (0, 3));
    assert!(checker.finish(&Unwatched).expect("a spec without errors").verdict.is_rejected());
}

#[test]
fn a_watch_may_stop_the_search() {
    let writes = (0..8).map(|value| Write(0, value));
    let history = overlapping(writes);
    let polls = Cell::new(0);
    let watch = &|stats: &Stats| {
        polls.set(polls.get() + 1);
        assert!(stats.width > 0);
        (polls.get() == 3).then_some(Stop::Interrupted)
    };
    let report = check_watched(&Registers, &history, &Options::default(), watch).expect("a spec without errors");
    assert_eq!(report.verdict, Verdict::Inconclusive(Stop::Interrupted));
    assert_eq!(polls.get(), 3);
}

#[test]
fn the_limit_on_width_is_the_width_that_is_reported() {
    let history = overlapping((0..5).map(|value| Write(0, value)));
    let run = |max_width| {
        let options = Options { max_width, ..Options::default() };
        check(&Registers, &history, &options).expect("a spec without errors")
    };
    let free = run(None);
    let widest = free.stats.widest.expect("something returned");
    assert!(free.verdict.is_accepted());
    assert!(run(Some(widest.width)).verdict.is_accepted());
    assert_eq!(run(Some(widest.width - 1)).verdict, Verdict::Inconclusive(Stop::Width));
}

#[test]
fn the_level_at_which_a_walk_stops_is_its_widest_point() {
    let history = overlapping((0..5).map(|value| Write(0, value)));
    let options = Options { by_level: true, max_width: Some(1), ..Options::default() };
    let report = check(&Registers, &history, &options).expect("a spec without errors");
    assert_eq!(report.verdict, Verdict::Inconclusive(Stop::Width));
    let widest = report.stats.widest.expect("a level was begun").width;
    assert!(widest > 1 && widest == report.stats.width, "{widest} of {}", report.stats.width);
}

#[test]
fn the_first_of_several_widest_places_is_named() {
    let calls = [(0, 0, Some(1), Write(0, 1)), (0, 2, Some(3), Write(0, 2)), (0, 4, Some(5), Write(0, 3))];
    let history = History::from_calls(calls).expect("a history");
    let report = check(&Registers, &history, &Options::default()).expect("a spec without errors");
    let widest = report.stats.widest.expect("something returned");
    assert_eq!((widest.goal, widest.in_flight), (Some(OpId(0)), vec![OpId(0)]));
}

#[test]
fn the_watch_is_called_every_few_dozen_steps() {
    let history = overlapping((0..7).map(|value| Write(0, value)));
    let polls = Cell::new(0);
    let watch = &|_: &Stats| {
        polls.set(polls.get() + 1);
        None
    };
    let report = check_watched(&Registers, &history, &Options::default(), watch).expect("a spec without errors");
    insta::assert_snapshot!(format!("{} steps, {} polls", report.stats.steps, polls.get()), @"1351 steps, 20 polls");
}

/// A specification without an initial state.
struct Nothing;

impl Spec for Nothing {
    type Op = ();
    type State = ();
    type Error = Infallible;

    fn initial(&self, _: &mut Vec<()>) -> Result<(), Self::Error> {
        Ok(())
    }

    fn step(&self, (): &(), (): &(), out: &mut Successors<()>) -> Result<(), Self::Error> {
        out.done(());
        Ok(())
    }
}

#[test]
fn without_an_initial_state_every_history_is_rejected() {
    for calls in [vec![], vec![(0, 1, None, ())], vec![(0, 1, Some(2), ()), (1, 1, None, ())]] {
        let history = History::from_calls(calls).expect("a history");
        for criterion in [Criterion::LINEARIZABLE, Criterion::SEQUENTIAL, Criterion::SERIALIZABLE] {
            for by_level in [false, true] {
                let options = Options { criterion, by_level, ..Options::default() };
                let report = check(&Nothing, &history, &options).expect("a spec without errors");
                assert!(report.verdict.is_rejected(), "{options:?}: {history:?}");
            }
        }
    }
}
