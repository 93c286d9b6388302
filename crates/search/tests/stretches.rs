//! A history that is checked in stretches has the verdict of the whole.

use std::convert::Infallible;

use fastrand::Rng;
use omnilink_history::{History, Op, Verdict};
use omnilink_search::{CheckError, Criterion, Cut, Options, Spec, Stretch, Successors, Unwatched, check_stretch};
use omnilink_testkit::{Table, is_allowed, random_history};

/// A register that is zero at first.
struct Register;

#[derive(Clone, PartialEq, Eq)]
enum Call {
    Write(u8),
    Read(u8),
}
use Call::{Read, Write};

impl Spec for Register {
    type Op = Call;
    type State = u8;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        out.push(0);
        Ok(())
    }

    fn step(&self, state: &u8, op: &Call, out: &mut Successors<u8>) -> Result<(), Infallible> {
        match op {
            Write(value) => out.done(*value),
            Read(value) if value == state => out.done(*state),
            Read(_) => {}
        }
        Ok(())
    }
}

/// Checks operations in a stretch.
fn check<S: Spec<Error = Infallible>>(
    spec: &S,
    begin: Option<Vec<S::State>>,
    cut: Option<u64>,
    ops: impl IntoIterator<Item = Op<Option<S::Op>>>,
) -> Stretch<S::State> {
    let mut ops = ops.into_iter();
    let next = || Ok::<_, CheckError<Infallible>>(ops.next());
    check_stretch(spec, begin, cut, next, &Options::default(), &Unwatched, |error| error).expect("no errors")
}

/// Checks operations of a register, given as (process, start, end, call), up to a time. Those without a call constrain
/// nothing. Returns the verdict, the number of operations, and the beginning of the next stretch.
fn stretch(begin: Option<Vec<u8>>, cut: Option<u64>, calls: &[(u32, u64, Option<u64>, Option<Call>)]) -> String {
    let history = History::from_calls(calls.iter().cloned()).expect("a history");
    let Stretch { report, operations, cut } = check(&Register, begin, cut, history.ops().iter().cloned());
    let verdict = match report.verdict {
        Verdict::Accepted(witness) => format!("accepted in {} steps", witness.len()),
        Verdict::Rejected(explanation) => format!("rejected after {}", explanation.explained),
        Verdict::Inconclusive(stop) => stop.to_string(),
    };
    let cut = cut.map(|Cut { states, since }| format!(", then {states:?} and the last {since}"));
    format!("{verdict}, {operations} operations{}", cut.unwrap_or_default())
}

#[test]
fn the_next_stretch_begins_when_no_operation_is_in_flight() {
    let calls =
        |end| [(0, 1, Some(2), Some(Write(1))), (1, 3, Some(4), Some(Read(1))), (2, 6, Some(end), Some(Write(2)))];
    let check = |cut, calls: &[_]| stretch(None, Some(cut), calls);
    insta::assert_snapshot!(check(10, &calls(9)), @"accepted in 0 steps, 3 operations, then [2] and the last 0");
    // It ends at the cut, or after it.
    insta::assert_snapshot!(check(9, &calls(9)), @"accepted in 0 steps, 3 operations, then [1] and the last 1");
    insta::assert_snapshot!(check(8, &calls(9)), @"accepted in 0 steps, 3 operations, then [1] and the last 1");
    // There is no such instant but the first one.
    insta::assert_snapshot!(check(10, &[(0, 1, Some(9), Some(Write(1))), (1, 9, Some(12), Some(Read(0)))]), @"accepted in 0 steps, 2 operations, then [0] and the last 2");
    insta::assert_snapshot!(check(10, &[(0, 1, None, Some(Write(1))), (1, 3, Some(4), Some(Read(0)))]), @"accepted in 0 steps, 2 operations, then [0] and the last 2");
    insta::assert_snapshot!(check(10, &[]), @"accepted in 0 steps, 0 operations, then [0] and the last 0");
}

#[test]
fn what_is_in_flight_at_the_cut_is_not_decided_before_it() {
    let calls = [(0, 1, Some(2), Some(Write(1))), (1, 3, Some(9), Some(Read(7)))];
    insta::assert_snapshot!(stretch(None, Some(9), &calls), @"accepted in 0 steps, 2 operations, then [1] and the last 1");
    insta::assert_snapshot!(stretch(None, Some(10), &calls), @"rejected after 1, 2 operations");
    insta::assert_snapshot!(stretch(None, None, &calls), @"rejected after 1, 2 operations");
}

#[test]
fn the_last_stretch_has_a_witness() {
    let calls = [(0, 1, Some(2), Some(Write(1))), (1, 3, Some(9), Some(Read(1)))];
    insta::assert_snapshot!(stretch(None, None, &calls), @"accepted in 2 steps, 2 operations");
    insta::assert_snapshot!(stretch(Some(vec![1, 2]), None, &calls[1..]), @"accepted in 1 steps, 1 operations");
    insta::assert_snapshot!(stretch(Some(vec![3, 2]), None, &calls[1..]), @"rejected after 0, 1 operations");
}

#[test]
fn operations_without_a_call_constrain_nothing() {
    let calls = [(0, 1, Some(2), Some(Write(1))), (1, 3, None, None), (2, 5, Some(6), Some(Read(1)))];
    insta::assert_snapshot!(stretch(None, Some(10), &calls), @"accepted in 0 steps, 3 operations, then [1] and the last 0");
    insta::assert_snapshot!(stretch(None, Some(6), &calls), @"accepted in 0 steps, 3 operations, then [1] and the last 1");
    insta::assert_snapshot!(stretch(None, None, &calls), @"accepted in 2 steps, 3 operations");
}

#[test]
fn stretches_have_the_verdict_of_the_whole() {
    let (mut cuts, mut verdicts, mut in_flight) = (0, [0, 0], 0);
    for seed in 0..20_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 7);
        let expected = is_allowed(&spec, &history, Criterion::LINEARIZABLE);
        let ops: Vec<_> = history.ops().iter().map(|op| op.with(Some(op.call))).collect();
        let latest = ops.iter().map(|op| op.interval.start()).max().unwrap_or(0);
        let cut = rng.u64(..=latest + 2);
        let due = ops.partition_point(|op| op.interval.start() < cut);
        let first = check(&spec, None, Some(cut), ops[..due].iter().cloned());
        assert_eq!(first.operations, due as u64);
        let found = match (first.report.verdict, first.cut) {
            (Verdict::Accepted(_), Some(Cut { states, since })) => {
                cuts += 1;
                in_flight += u64::from(since > 0);
                let rest = ops[due - since as usize..].iter().cloned();
                check(&spec, Some(states), None, rest).report.verdict.is_accepted()
            }
            // The states are not known where an operation may have been overwritten or may not.
            (Verdict::Accepted(_), None) => continue,
            (Verdict::Rejected(_), None) => false,
            other => panic!("seed {seed}: {other:?}"),
        };
        assert_eq!(found, expected, "seed {seed}: cut at {cut}: {history:?} of {spec:?}");
        verdicts[usize::from(found)] += 1;
    }
    assert!(cuts > 10_000 && in_flight > 3_000, "{cuts} cuts, {in_flight} with operations in flight");
    assert!(verdicts.iter().all(|count| *count > 3_000), "{verdicts:?}");
}
