//! Splitting a history, or not, gives the same verdict as trying every order, and the merged order stands up.

use fastrand::Rng;
use history::{Call, History, Precedence, Trace, Value, Verdict};
use models::check::{Checked, Failure, Method, Options, check};
use models::kv::Kv;
use models::kv_append::KvAppend;
use models::queue::Queue;
use models::{Model, register::Register};
use testkit::is_allowed;

/// A few operations on two keys: shared instants, boxes of one process that touch, some that never finish.
fn random_history(rng: &mut Rng) -> History<Call> {
    let mut free_at = [0_u64; 3];
    let mut calls = Vec::new();
    for place in 0..rng.u64(1..8) {
        let process = rng.usize(..free_at.len());
        if free_at[process] == u64::MAX {
            continue;
        }
        let start = place.saturating_sub(rng.u64(..3)).max(free_at[process]);
        let end = (rng.u8(..8) > 0).then(|| start + rng.u64(..4));
        free_at[process] = end.unwrap_or(u64::MAX);
        let (key, value) = (Value::Int(rng.i64(..2)), Value::Int(rng.i64(..2)));
        let result = |value: Value| end.map(|_| value);
        let call = match rng.u8(..5) {
            0 | 1 => Call::positional("put", [key, value], []),
            2 => Call::positional("erase", [key], result(rng.bool().into())),
            3 => Call::positional("insert", [key, value], result(rng.bool().into())),
            _ => Call::positional("get", [key], result(if rng.bool() { value } else { Value::Nil })),
        };
        calls.push((process as u32, start, end, call));
    }
    History::from_calls(calls).expect("processes that run one operation at a time")
}

fn verdict(model: &impl Model, history: &History<Call>, options: &Options) -> Checked {
    check(model, history, options, &search::Unwatched).expect("calls that the model knows, and orders that stand up")
}

#[test]
fn parts_and_whole_agree_with_trying_every_order() {
    let (mut accepted, mut split) = (0, 0);
    for seed in 0..10_000 {
        let history = random_history(&mut Rng::with_seed(seed));
        let model = Kv::new(&Value::Nil);
        let bound = history.try_map(|op| model.bind(op)).expect("calls that the model knows");
        let expected = is_allowed(&model, &bound, Precedence::RealTime);
        accepted += u32::from(expected);
        for threads in [1, 2] {
            let checked = verdict(&model, &history, &Options { threads, ..Options::default() });
            assert_eq!(checked.verdict.is_accepted(), expected, "seed {seed}");
            split += u32::from(matches!(checked.method, Method::Parts(_)));
        }
        let whole = verdict(&model, &history, &Options { shortcuts: false, ..Options::default() });
        assert_eq!(whole.verdict.is_accepted(), expected, "seed {seed}");
        assert_eq!(whole.method, Method::Search);
    }
    assert!((2_000..8_000).contains(&accepted) && split > 5_000, "{accepted} accepted, {split} split");
}

fn text(lines: &str) -> History<Call> {
    let trace: Trace = history::format::text::read(lines.as_bytes()).expect("text that parses");
    History::new(trace).expect("a history")
}

#[test]
fn the_first_part_that_is_rejected_is_reported() {
    let history = text(
        "T0 [0 1] write(\"a\", 1)\nT0 [2 3] read(\"a\") = 1\nT1 [0 1] read(\"b\") = 7\nT1 [2 3] read(\"c\") = 8\n",
    );
    for threads in [1, 3] {
        let options = Options { threads, ..Options::default() };
        let checked = verdict(&Register::new(&Value::Nil), &history, &options);
        let Verdict::Rejected(Failure::Stuck { part, explanation }) = checked.verdict else { panic!("rejected") };
        assert_eq!((part, explanation.explained), (Some("b".into()), 0));
        assert_eq!(checked.method, Method::Parts(3));
    }
}

#[test]
fn a_procedure_decides_where_there_is_one() {
    let history = text("T0 [0 9] enqueue(1)\nT1 [2 3] dequeue() = 1\nT1 [4 5] dequeue() = nil\n");
    let checked = verdict(&Queue::new(None), &history, &Options::default());
    let Verdict::Accepted(witness) = checked.verdict else { panic!("accepted") };
    assert_eq!((checked.method, witness.len()), (Method::Procedure, 3));
}

#[test]
fn a_call_that_means_nothing_is_an_error_that_names_it() {
    let error =
        check(&Queue::new(None), &text("w [0 9] pull(1)\n"), &Options::default(), &search::Unwatched).unwrap_err();
    assert!(error.to_string().starts_with("w:0: `pull` is not an operation of the model `queue`"), "{error}");
}

#[test]
fn a_part_that_is_hard_to_decide_does_not_hide_one_that_is_easy_to_reject() {
    let append = |value: u32| {
        let call = Call::positional("append", ["hard".into(), value.to_string().as_str().into()], []);
        (value, u64::from(value), Some(100 + u64::from(value)), call)
    };
    let easy = (9, 50, Some(60), Call::positional("get", ["easy".into()], ["never put".into()]));
    let history = History::from_calls((0..9).map(append).chain([easy])).unwrap();
    for threads in [1, 2] {
        let checked = verdict(&KvAppend::new(), &history, &Options { threads, ..Options::default() });
        let Verdict::Rejected(Failure::Stuck { part, .. }) = checked.verdict else { panic!("{checked:?}") };
        assert_eq!(part, Some("easy".into()));
        assert!(checked.stats.distinct < 10_000, "{:?}", checked.stats);
    }
}
