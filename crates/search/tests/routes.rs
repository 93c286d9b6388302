//! Found orders: following them, and making assumptions about them.

use std::cell::RefCell;

use fastrand::Rng;
use omnilink_history::{History, OpId, Verdict};
use omnilink_search::{Assuming, Assumption, Criterion, Marked, Options, Route, Since, Watch, check, check_watched};
use omnilink_testkit::{Table, TableOp, is_allowed, random_history};

/// Just in time, and by level.
const WALKS: [bool; 2] = [false, true];

#[test]
fn every_way_leads_to_the_state_that_it_is_said_to_be_stuck_in() {
    let (mut accepted, mut stuck) = (0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 7);
        for by_level in WALKS {
            let options = Options { by_level, ..Options::default() };
            let report = check(&spec, &history, &options).expect("a table has no errors");
            match &report.verdict {
                Verdict::Accepted(witness) => {
                    let walked = Route::from(witness).walk(&spec, &history, None, 3).expect("a witness");
                    assert_eq!(walked.until, witness.len(), "seed {seed}");
                    assert_eq!(walked.states.len(), 3.min(witness.len() + 1), "seed {seed}");
                    accepted += 1;
                }
                Verdict::Rejected(explanation) => {
                    let route = Route::new(&report.settled, explanation, usize::MAX);
                    let walked = route.walk(&spec, &history, None, usize::MAX).expect("ways that are possible");
                    let starts: Vec<u32> = explanation.stuck.iter().map(|stuck| stuck.initial).collect();
                    if starts.iter().any(|start| *start != starts[0]) {
                        assert!(walked.states.is_empty() && walked.endings.is_empty(), "seed {seed}");
                        continue;
                    }
                    assert_eq!(walked.endings.len(), explanation.stuck.len(), "seed {seed}");
                    for (states, expected) in walked.endings.iter().zip(&explanation.stuck) {
                        let last = states.last().or(walked.states.back());
                        assert_eq!(last, Some(&expected.state), "seed {seed}: by level: {by_level}");
                    }
                    stuck += walked.endings.len();
                }
                Verdict::Inconclusive(stop) => panic!("seed {seed}: {stop}"),
            }
        }
    }
    assert!(accepted > 1_000 && stuck > 1_000, "{accepted} accepted and {stuck} stuck ways are enough to compare");
}

/// Records the width at each return.
#[derive(Default)]
struct Widths(RefCell<Vec<(OpId, usize)>>);

impl Watch for Widths {
    fn poll(&self, _: &omnilink_search::Stats) -> Option<omnilink_history::Stop> {
        None
    }

    fn returned(&self, op: OpId, width: usize) {
        self.0.borrow_mut().push((op, width));
    }
}

#[test]
fn every_return_is_reported() {
    for seed in 0..500 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 7);
        let widths = Widths::default();
        let report = check_watched(&spec, &history, &Options::default(), &widths).expect("a table has no errors");
        let widths = widths.0.into_inner();
        assert_eq!(widths.len() as u64, report.stats.operations, "seed {seed}");
        let ends: Vec<u64> = widths.iter().map(|(op, _)| history.op(*op).interval.deadline()).collect();
        assert!(ends.is_sorted(), "seed {seed}");
        let widest = report.stats.widest.map_or(0, |widest| widest.width);
        assert!(widths.iter().all(|(_, width)| (1..=widest).contains(width)), "seed {seed}");
    }
}

type Such = fn(&u8) -> bool;

#[test]
fn assumptions_leave_the_orders_that_keep_them() {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..6_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 6);
        if history.ops().len() < 2 {
            continue;
        }
        let mut any = || history.ops()[rng.usize(..history.ops().len())].id;
        let (first, second, third) = (any(), any(), any());
        let is_even: Such = |state| state.is_multiple_of(2);
        let assumptions: [Assumption<Such>; 2] =
            [Assumption::Before(first, second), Assumption::LeadsTo(third, is_even)];
        let assumptions = &assumptions[..1 + usize::from(seed % 2 == 0)];
        let spec = Assuming::new(&spec, assumptions).expect("few operations");
        let marked = spec.mark_all(&history);
        let expected = is_allowed(&spec, &marked, Criterion::LINEARIZABLE);
        for by_level in WALKS {
            let options = Options { by_level, ..Options::default() };
            let report = check(&spec, &marked, &options).expect("a table has no errors");
            assert_eq!(report.verdict.is_accepted(), expected, "seed {seed}: by level: {by_level}");
            let Verdict::Accepted(witness) = report.verdict else { continue };
            let steps: Vec<_> = witness.steps().collect();
            let over = |id| steps.iter().position(|step| step.op == id && !step.partway);
            let begun = |id| steps.iter().position(|step| step.op == id);
            if let Some(begun) = begun(second) {
                assert!(over(first).is_some_and(|over| over < begun), "seed {seed}: {steps:?}");
            }
            if let (Some(place), [_, _]) = (over(third), assumptions) {
                let states = states(&spec, &marked, &Route::from(&witness));
                assert!(is_even(&states[place + 1].state), "seed {seed}: {steps:?}");
            }
        }
        let is_kept = usize::from(expected);
        (kept, lost) = (kept + is_kept, lost + 1 - is_kept);
    }
    assert!(kept > 300 && lost > 300, "{kept} kept and {lost} lost are enough to compare");
}

fn states(spec: &Assuming<'_, Table, Such>, history: &History<Marked<TableOp>>, route: &Route) -> Vec<Since<u8>> {
    route.walk(spec, history, None, usize::MAX).expect("a witness").states.into()
}

/// A specification that allows everything.
struct Anything;

impl omnilink_search::Spec for Anything {
    type Op = ();
    type State = ();
    type Error = std::convert::Infallible;

    fn initial(&self, out: &mut Vec<()>) -> Result<(), Self::Error> {
        out.push(());
        Ok(())
    }

    fn step(&self, (): &(), (): &(), out: &mut omnilink_search::Successors<()>) -> Result<(), Self::Error> {
        out.done(());
        Ok(())
    }
}

/// Every order of overlapping operations can be assumed, whatever their numbers are.
#[test]
fn any_order_can_be_assumed() {
    let history = History::from_calls((0..3).map(|process| (process, 0, Some(1), ()))).expect("one operation each");
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let [first, second, third] = order.map(OpId);
        let before = |first, second| Assumption::<fn(&()) -> bool>::Before(first, second);
        let assumptions = [before(first, second), before(second, third)];
        let spec = Assuming::new(&Anything, &assumptions).expect("few operations");
        let report = check(&spec, &spec.mark_all(&history), &Options::default()).expect("there are no errors");
        let Verdict::Accepted(witness) = report.verdict else { panic!("{order:?} is possible") };
        assert_eq!(witness.steps().map(|step| step.op).collect::<Vec<_>>(), order.map(OpId));
    }
}

#[test]
fn an_operation_cannot_come_before_itself() {
    let mut rng = Rng::with_seed(1);
    let spec = Table::random(&mut rng);
    let assumptions: [Assumption<Such>; 1] = [Assumption::Before(OpId(0), OpId(0))];
    let spec = Assuming::new(&spec, &assumptions).expect("few operations");
    let history = History::from_calls([(0, 1, Some(2), TableOp(0))]).expect("a history");
    let report = check(&spec, &spec.mark_all(&history), &Options::default()).expect("a table has no errors");
    assert!(report.verdict.is_rejected());
    let many: Vec<Assumption<Such>> = (0..40).map(|id| Assumption::Before(OpId(id), OpId(100 + id))).collect();
    let Err(error) = Assuming::new(&Table::random(&mut rng), &many).map(|_| ()) else { panic!("too many") };
    assert_eq!(error.to_string(), "assumptions may name at most 64 operations, found 80");
}
