//! Splitting a history, or not, gives the same verdict as trying every order, and the merged order can be replayed.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use omnilink_history::{Call, History, OpId, Trace, Value, Verdict};
use omnilink_models::check::{Checked, Failure, Method, ModelOptions, check, walk};
use omnilink_models::kv::Kv;
use omnilink_models::kv_append::KvAppend;
use omnilink_models::queue::Queue;
use omnilink_models::register::{self, Register};
use omnilink_models::{Atom, BadCall, Interner, Model};
use omnilink_search::{Criterion, Route, Spec, Successors, Witness};
use omnilink_testkit::is_allowed;

/// A few operations on two keys: shared instants, touching intervals of one process, some unfinished.
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
        let (key, value) = (Value::Int(rng.i64(0..2)), Value::Int(rng.i64(0..2)));
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

fn verdict(model: &impl Model, history: &History<Call>, options: &ModelOptions) -> Checked {
    check(model, history, options, &omnilink_search::Unwatched)
        .expect("calls that the model knows, and orders that stand up")
}

#[test]
fn parts_and_whole_agree_with_trying_every_order() {
    let (mut accepted, mut split) = (0, 0);
    for seed in 0..10_000 {
        let history = random_history(&mut Rng::with_seed(seed));
        let model = Kv::new(&Value::Nil);
        let bound = history.try_map(|op| model.bind(op)).expect("calls that the model knows");
        let expected = is_allowed(&model, &bound, Criterion::LINEARIZABLE);
        accepted += u32::from(expected);
        for threads in [1, 2] {
            let checked = verdict(&model, &history, &ModelOptions { threads, ..ModelOptions::default() });
            assert_eq!(checked.verdict.is_accepted(), expected, "seed {seed}");
            split += u32::from(matches!(checked.method, Method::Parts { .. }));
        }
        let whole = verdict(&model, &history, &ModelOptions { shortcuts: false, ..ModelOptions::default() });
        assert_eq!(whole.verdict.is_accepted(), expected, "seed {seed}");
        assert_eq!(whole.method, Method::Search);
    }
    assert!((2_000..8_000).contains(&accepted) && split > 5_000, "{accepted} accepted, {split} split");
}

/// Two operations of each of two processes on two keys, each started at the instant at which all processes ended
/// their last one, as with coarse clocks.
fn touching_history(rng: &mut Rng) -> History<Call> {
    let call = |place: u64| {
        let (process, start) = (place % 2, place / 2);
        let (key, value) = (Value::Int(rng.i64(0..2)), Value::Int(rng.i64(0..2)));
        let call = match rng.bool() {
            true => Call::positional("put", [key, value], []),
            false => Call::positional("get", [key], [if rng.bool() { Value::Nil } else { value }]),
        };
        (process as u32, start, Some(start + 1), call)
    };
    History::from_calls((0..4).map(call).collect::<Vec<_>>()).expect("processes that run one operation at a time")
}

#[test]
fn parts_whose_orders_contradict_each_other_are_searched_as_one() {
    let (mut accepted, mut united) = ([0; 2], 0);
    for seed in 0..40_000 {
        let history = touching_history(&mut Rng::with_seed(seed));
        let model = Kv::new(&Value::Nil);
        let bound = history.try_map(|op| model.bind(op)).expect("calls that the model knows");
        let expected = is_allowed(&model, &bound, Criterion::LINEARIZABLE);
        let checked = verdict(&model, &history, &ModelOptions::default());
        assert_eq!(checked.verdict.is_accepted(), expected, "seed {seed}");
        accepted[usize::from(expected)] += 1;
        united += u32::from(matches!(checked.method, Method::Parts { all: 1, .. }));
    }
    assert!(accepted.iter().all(|&count| count > 1_000) && united > 100, "{accepted:?} {united}");
}

#[test]
fn orders_of_two_parts_that_contradict_each_other_are_no_order() {
    let writes = "T0 [1 5] write(\"a\", 1)\nT0 [5 9] write(\"b\", 1)\n";
    let check = |others: &str| {
        verdict(&Register::new(&Value::Nil), &text(&(writes.to_owned() + others)), &ModelOptions::default())
    };
    let accepted = check("T1 [1 5] write(\"b\", 2)\nT1 [5 9] write(\"a\", 2)\n");
    assert!(accepted.verdict.is_accepted(), "{accepted:?}");
    let rejected = check("T1 [1 5] read(\"b\") = 1\nT1 [5 9] read(\"a\") = nil\n");
    let Verdict::Rejected(Failure::Stuck { parts, .. }) = rejected.verdict else { panic!("{rejected:?}") };
    assert_eq!(
        (rejected.method, parts),
        (Method::Parts { all: 1, searched: 1 }, vec!["\"a\"".to_owned(), "\"b\"".to_owned()])
    );
}

#[test]
fn no_key_and_the_key_nil_are_two_objects() {
    for shortcuts in [true, false] {
        let options = ModelOptions { shortcuts, ..ModelOptions::default() };
        let check = |calls: &str| verdict(&Register::new(&Value::Nil), &text(calls), &options);
        let accepted = check("T0 [1 2] write(nil, 1)\nT0 [3 4] read() = nil\nT0 [5 6] read(nil) = 1\n");
        assert!(accepted.verdict.is_accepted(), "{accepted:?}");
        let rejected = check("T0 [1 2] write(nil, 1)\nT0 [3 4] read() = 1\n");
        match (&rejected.verdict, shortcuts) {
            (Verdict::Rejected(Failure::Contradiction { reason, .. }), true) => {
                assert_eq!(reason, "T0 read 1, which was never written: T0:1 read() = 1 [3 4]");
            }
            (Verdict::Rejected(Failure::Stuck { parts, .. }), false) => assert!(parts.is_empty()),
            _ => panic!("{rejected:?}"),
        }
    }
}

#[test]
fn a_read_that_returned_without_a_result_is_an_error() {
    let calls = "T0 [1 2] write(1)\nT0 [3 4] read()\n";
    let error = check(&Register::new(&Value::Nil), &text(calls), &ModelOptions::default(), &omnilink_search::Unwatched)
        .unwrap_err();
    assert_eq!(error.to_string(), "T0:1: `read` returned, but its result `value` was not recorded");
    let unfinished = verdict(&Register::new(&Value::Nil), &text("T0 [3 ...] read()\n"), &ModelOptions::default());
    assert!(unfinished.verdict.is_accepted());
}

fn text(lines: &str) -> History<Call> {
    let trace: Trace = omnilink_history::format::text::read(lines.as_bytes()).expect("text that parses");
    History::new(trace).expect("a history")
}

#[test]
fn the_first_part_that_is_rejected_is_reported() {
    let history = text(
        "T0 [0 1] put(\"a\", \"1\")\nT0 [2 3] get(\"a\") = \"1\"\nT1 [0 1] get(\"b\") = \"7\"\nT1 [2 3] get(\"c\") = \"8\"\n",
    );
    for threads in [1, 3] {
        let options = ModelOptions { threads, ..ModelOptions::default() };
        let checked = verdict(&KvAppend::new(), &history, &options);
        let Verdict::Rejected(Failure::Stuck { parts, explanation }) = checked.verdict else { panic!("rejected") };
        assert_eq!((parts, explanation.explained), (vec!["\"b\"".to_owned()], 0));
        assert_eq!(checked.method, Method::Parts { all: 3, searched: 3 });
    }
}

#[test]
fn a_part_that_a_procedure_rejects_is_reported_before_any_is_searched() {
    let history = text(
        "T0 [0 1] write(\"a\", 1)\nT0 [2 3] write(\"a\", 1)\nT0 [4 5] read(\"a\") = 2\nT1 [0 1] read(\"b\") = 7\n",
    );
    let checked = verdict(&Register::new(&Value::Nil), &history, &ModelOptions::default());
    let Verdict::Rejected(Failure::Contradiction { ops, reason }) = checked.verdict else { panic!("{checked:?}") };
    assert_eq!(reason, "T0 read 2, which was never written: T0:2 read(\"a\") = 2 [4 5]");
    let method = Method::Parts { all: 2, searched: 0 };
    assert_eq!((ops.len(), checked.method, checked.no_procedure), (1, method, None));
}

#[test]
fn why_a_procedure_does_not_decide_is_kept() {
    let one = "T0 [0 1] write(1)\nT0 [2 3] write(1)\nT0 [4 5] read() = 1\n";
    let checked = verdict(&Register::new(&Value::Nil), &text(one), &ModelOptions::default());
    assert_eq!((checked.method, checked.no_procedure.as_deref()), (Method::Search, Some("1 was written twice")));
    let two =
        "T0 [0 1] write(\"a\", 1)\nT0 [2 3] write(\"a\", 1)\nT0 [4 5] read(\"a\") = 1\nT1 [0 1] write(\"b\", 1)\n";
    let checked = verdict(&Register::new(&Value::Nil), &text(two), &ModelOptions::default());
    assert_eq!(checked.method, Method::Parts { all: 2, searched: 1 });
    assert_eq!(checked.no_procedure.as_deref(), Some("\"a\": 1 was written twice"));
    assert!(checked.verdict.is_accepted());
}

#[test]
fn a_procedure_decides_where_there_is_one() {
    let history = text("T0 [0 9] enqueue(1)\nT1 [2 3] dequeue() = 1\nT1 [4 5] dequeue() = nil\n");
    let checked = verdict(&Queue::new(None), &history, &ModelOptions::default());
    let Verdict::Accepted(witness) = checked.verdict else { panic!("accepted") };
    assert_eq!((checked.method, witness.len()), (Method::Procedure, 3));
}

#[test]
fn a_call_that_means_nothing_is_an_error_that_names_it() {
    let error =
        check(&Queue::new(None), &text("w [0 9] pull(1)\n"), &ModelOptions::default(), &omnilink_search::Unwatched)
            .unwrap_err();
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
        let checked = verdict(&KvAppend::new(), &history, &ModelOptions { threads, ..ModelOptions::default() });
        let Verdict::Rejected(Failure::Stuck { parts, .. }) = checked.verdict else { panic!("{checked:?}") };
        assert_eq!(parts, ["\"easy\""]);
        assert!(checked.stats.distinct < 10_000, "{:?}", checked.stats);
    }
}

/// Equal operations that end at one instant are not the same if the process of one of them continues at that instant.
#[test]
fn equal_operations_with_equal_ends_differ_by_their_successors() {
    let call = |action: &str| Call::positional(action, [Value::Int(2)], [Value::Bool(true)]);
    let rows = [
        (0, 0, Some(4), call("add")),
        (2, 2, Some(3), call("contains")),
        (1, 3, Some(4), call("add")),
        (2, 3, Some(4), call("contains")),
        (1, 4, Some(6), call("remove")),
    ];
    let history = History::from_calls(rows).expect("processes that run one operation at a time");
    for shortcuts in [true, false] {
        let options = ModelOptions { shortcuts, ..ModelOptions::default() };
        assert!(verdict(&omnilink_models::set::Set::new(), &history, &options).verdict.is_accepted());
    }
}

#[test]
fn replaying_parts_agrees_with_replaying_the_whole() {
    let mut confirmed = 0;
    for seed in 0..20_000 {
        let rng = &mut Rng::with_seed(seed);
        let history = random_history(rng);
        let model = Kv::new(&Value::Nil);
        let bound = history.try_map(|op| model.bind(op)).expect("calls that the model knows");
        let mut order: Vec<OpId> = bound.ops().iter().map(|op| op.id).collect();
        for _ in 0..rng.usize(..3).min(order.len()) {
            let place = rng.usize(1..order.len().max(2)).min(order.len() - 1);
            order.swap(place.saturating_sub(1), place);
        }
        order.truncate(order.len() - usize::from(rng.u8(..8) == 0).min(order.len()));
        let witness = Witness::from_order(order);
        let whole = omnilink_search::replay(&model, &bound, Criterion::LINEARIZABLE, &witness);
        let part = |op: &omnilink_models::kv::Op| model.partition(op);
        assert_eq!(
            omnilink_search::replay_parts(&model, &bound, Criterion::LINEARIZABLE, &witness, part),
            whole,
            "seed {seed}"
        );
        confirmed += u32::from(whole.is_ok());
    }
    assert!((2_000..18_000).contains(&confirmed), "{confirmed} confirmed");
}

#[test]
fn every_rejected_part_is_named() {
    let calls = "T0 [1 2] put(1, 5)\nT0 [3 4] get(1) = 6\n\
                 T0 [5 6] put(2, 5)\nT0 [7 8] get(2) = 5\n\
                 T0 [9 10] put(3, 5)\nT0 [11 12] put(3, 5)\nT0 [13 14] contains(3) = FALSE\n\
                 T0 [15 16] put(4, 5)\nT0 [17 18] get(4) = nil\n";
    let checked = verdict(&Kv::new(&Value::Nil), &text(calls), &ModelOptions::default());
    let names: Vec<(&str, usize)> = checked.rejected.iter().map(|part| (&*part.name, part.operations)).collect();
    assert_eq!(names, [("1", 2), ("3", 3), ("4", 2)]);
    assert!(checked.verdict.is_rejected() && checked.undecided.is_empty());
    assert_eq!(checked.method, Method::Parts { all: 4, searched: 0 });
}

/// Registers without a procedure, which count the sizes of the states that are stepped over or shown.
struct Counted {
    registers: Register,
    work: AtomicUsize,
}

impl Counted {
    fn count(&self, state: &register::State) {
        self.work.fetch_add(state.len() + 1, Ordering::Relaxed);
    }
}

impl Spec for Counted {
    type Op = register::Op;
    type State = register::State;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<Self::State>) -> Result<(), Infallible> {
        self.registers.initial(out)
    }

    fn step(&self, state: &Self::State, op: &Self::Op, out: &mut Successors<Self::State>) -> Result<(), Infallible> {
        self.count(state);
        self.registers.step(state, op, out)
    }
}

impl Model for Counted {
    fn bind(&self, op: &omnilink_history::Op<Call>) -> Result<Option<Self::Op>, BadCall> {
        self.registers.bind(op)
    }

    fn next(&self, state: &Self::State, op: &Self::Op) -> Option<Self::State> {
        self.count(state);
        self.registers.next(state, op)
    }

    fn partition(&self, op: &Self::Op) -> Option<Atom> {
        self.registers.partition(op)
    }

    fn atoms(&self) -> &Interner {
        self.registers.atoms()
    }

    fn show(&self, state: &Self::State) -> String {
        self.count(state);
        self.registers.show(state)
    }
}

/// The work for each operation of a write and a read of every key: of a check, and of the states along its order.
fn work_by_key(keys: i64) -> [usize; 2] {
    let call = |place: i64| {
        let (start, key) = (2 * place as u64, Value::Int(place / 2));
        let call = match place % 2 {
            0 => Call::positional("write", [key, Value::Int(1)], []),
            _ => Call::positional("read", [key], [Value::Int(1)]),
        };
        (0, start, Some(start + 1), call)
    };
    let history = History::from_calls((0..2 * keys).map(call)).expect("one operation after another");
    let model = Counted { registers: Register::new(&Value::Nil), work: AtomicUsize::new(0) };
    let checked = verdict(&model, &history, &ModelOptions::default());
    assert_eq!(checked.method, Method::Parts { all: keys as usize, searched: keys as usize });
    let Verdict::Accepted(witness) = checked.verdict else { panic!("{:?}", checked.verdict) };
    let of_check = model.work.swap(0, Ordering::Relaxed);
    let walked = walk(&model, &history, &[], &Route::from(&witness), None, usize::MAX).expect("an order of all");
    assert_eq!(walked.states.len(), history.ops().len() + 1);
    [of_check, model.work.into_inner()].map(|work| work / history.ops().len())
}

#[test]
fn the_work_for_an_operation_does_not_grow_with_the_number_of_keys() {
    let few = work_by_key(200);
    assert!(few.iter().all(|&work| work < 20), "{few:?}");
    assert_eq!(work_by_key(20_000), few);
}
