//! Levels of the built-in specifications against the oracle that tries all orders and all visibilities, with shortcuts and
//! without: keys by themselves, registers without searching, and what a weaker level refutes.
//!
//! Operations of the generated histories miss some of those before them; clocks are coarse, so that operations of one
//! process often touch.

use std::collections::BTreeMap;

use fastrand::Rng;
use omnilink_history::{Call, History, Interval, Precedence, Value, Verdict};
use omnilink_models::level::{Checked, LevelOptions, bind, check};
use omnilink_models::{Model, Visitor, with_model};
use omnilink_search::Unwatched;
use omnilink_testkit::levels::is_explained;
use omnilink_weak::{Class, Context, Level, Unexplained, Visibility};

/// Each with its actions, and the numbers of their arguments.
const SPECS: [(&str, &[(&str, usize)]); 7] = [
    ("kv", &[("put", 2), ("insert", 2), ("erase", 1), ("get", 1), ("contains", 1)]),
    ("kv", &[("put", 2), ("erase", 1), ("get", 1), ("len", 0)]),
    ("kv", &[("put", 2), ("get", 1)]),
    ("set", &[("add", 1), ("remove", 1), ("contains", 1)]),
    ("queue", &[("enqueue", 1), ("dequeue", 0)]),
    ("mutex", &[("acquire", 1), ("release", 1), ("try_lock", 1)]),
    ("counter", &[("add", 1), ("fetch_add", 1), ("read", 0)]),
];

/// A call with its arguments, and its process.
type Act = (&'static str, Vec<i64>, u32);

/// Runs a call on a real object.
fn run(state: &mut Vec<(i64, i64)>, (action, args, process): &Act) -> Option<Value> {
    let first = args.first().copied().unwrap_or_default();
    let place = state.iter().position(|pair| pair.0 == first);
    let held = place.map(|place| state[place].1);
    let mut put = |value| match place {
        Some(place) => state[place].1 = value,
        None => state.push((first, value)),
    };
    match *action {
        "put" => put(args[1]),
        "insert" if held.is_none() => put(args[1]),
        "add" if args.len() == 1 && held.is_none() => put(0),
        "acquire" | "try_lock" if held.is_none() => put(i64::from(*process)),
        "enqueue" => state.push((first, 0)),
        "dequeue" if state.is_empty() => return Some(Value::Nil),
        "dequeue" => return Some(state.remove(0).0.into()),
        "erase" | "remove" => drop(place.map(|place| state.remove(place))),
        "release" if held == Some((*process).into()) => drop(place.map(|place| state.remove(place))),
        _ => {}
    }
    match *action {
        "get" => Some(held.map_or(Value::Nil, Value::from)),
        "insert" | "add" | "try_lock" => Some(held.is_none().into()),
        "erase" | "remove" | "contains" => Some(held.is_some().into()),
        "len" => Some((state.len() as i64).into()),
        "enqueue" => Some(true.into()),
        _ => None,
    }
}

/// The same for a counter.
fn count(state: &mut i64, (action, args, _): &Act) -> Option<Value> {
    let was = *state;
    *state += args.first().copied().unwrap_or_default();
    match *action {
        "add" => Some((*state).into()),
        _ => Some(was.into()),
    }
}

fn random_history(rng: &mut Rng, spec: &str, actions: &[(&'static str, usize)]) -> History<Call> {
    let processes = rng.u32(2..4);
    let mut clocks = vec![0; processes as usize];
    let mut planned: Vec<(u64, Interval, Act)> = Vec::new();
    for fresh in 1..=rng.i64(3..6) {
        let process = rng.u32(..processes);
        let clock = &mut clocks[process as usize];
        if *clock == u64::MAX {
            continue;
        }
        let start = *clock + rng.u64(..3);
        let end = start + rng.u64(..4);
        let (action, args) = *rng.choice(actions).unwrap();
        let value = if rng.u8(..4) == 0 { 1 } else { fresh };
        let args = if spec == "queue" { vec![value; args] } else { [rng.i64(0..2), value][..args].to_vec() };
        *clock = end + u64::from(rng.u8(..3) == 0);
        let interval = match rng.u8(..10) {
            0 => {
                *clock = u64::MAX;
                Interval::unfinished(start)
            }
            _ => Interval::new(start, end).unwrap(),
        };
        planned.push((rng.u64(start..=end), interval, (action, args, process)));
    }
    planned.sort_by_key(|op| op.0);
    let misses = rng.u8(..6);
    let mut ops = Vec::new();
    for place in 0..planned.len() {
        let (_, interval, act) = &planned[place];
        let (mut state, mut sum) = (Vec::new(), 0);
        for (.., seen) in &planned[..place] {
            if rng.u8(..10) >= misses {
                run(&mut state, seen);
                count(&mut sum, seen);
            }
        }
        let result = if spec == "counter" { count(&mut sum, act) } else { run(&mut state, act) };
        let result = match result.as_ref().map(Value::as_bool) {
            Some(Some(ok)) if rng.u8(..6) == 0 && act.0 != "enqueue" => Some((!ok).into()),
            Some(None) if rng.u8(..8) == 0 => Some(1.into()),
            _ => result,
        };
        let result = result.filter(|_| !interval.is_unfinished());
        let call = Call::positional(act.0, act.1.iter().copied().map(Value::from), result);
        ops.push((act.2, *interval, call));
    }
    History::from_intervals(ops).unwrap()
}

fn random_level(rng: &mut Rng, actions: &[(&'static str, usize)]) -> Level {
    if rng.u8(..3) == 0 {
        let (name, _) = Level::presets().nth(rng.usize(..Level::presets().count())).unwrap();
        return Level::named(name).unwrap();
    }
    // Levels at which keys are checked by themselves are most of them.
    let order = if rng.u8(..4) == 0 { Precedence::Program } else { Precedence::RealTime };
    let independent = [Visibility::Complete, Visibility::Overlap, Visibility::Session, Visibility::Weak];
    let among = if rng.u8(..4) == 0 { &Visibility::ALL[..] } else { &independent[..] };
    let mut level = Level::new(order, among[rng.usize(..among.len())]);
    for (action, _) in actions {
        if rng.u8(..3) > 0 {
            level = level.with_action(action, among[rng.usize(..among.len())]);
        }
    }
    level
}

struct Compare<'a> {
    history: &'a History<Call>,
    level: &'a Level,
    context: Context,
    about: &'a str,
}

impl Visitor for Compare<'_> {
    type Output = (bool, Checked);

    /// Whether the oracle accepts, and the check with shortcuts.
    fn visit<M: Model>(self, model: M) -> Self::Output {
        let bound = bind(&model, self.history).unwrap();
        let expected = is_explained(&model, &bound, self.level, self.context);
        let check = |shortcuts: bool| {
            let weak = omnilink_weak::WeakOptions {
                level: self.level.clone(),
                context: self.context,
                ..omnilink_weak::WeakOptions::default()
            };
            let checked = check(&model, self.history, &LevelOptions { weak, shortcuts }, &Unwatched);
            let checked = checked.unwrap_or_else(|error| panic!("{}: {error}", self.about));
            assert_eq!(checked.verdict.is_accepted(), expected, "{}, shortcuts {shortcuts}", self.about);
            assert_eq!(checked.verdict.is_rejected(), !expected, "{}, shortcuts {shortcuts}", self.about);
            checked
        };
        if self.level.class() == Class::Strong {
            let search = omnilink_search::Options {
                criterion: self.level.criterion().unwrap(),
                ..omnilink_search::Options::default()
            };
            let options =
                omnilink_models::check::ModelOptions { search, ..omnilink_models::check::ModelOptions::default() };
            let checked = omnilink_models::check::check(&model, self.history, &options, &Unwatched).unwrap();
            assert_eq!(checked.verdict.is_accepted(), expected, "{}", self.about);
            assert_eq!(checked.verdict.is_rejected(), !expected, "{}", self.about);
        }
        check(false);
        (expected, check(true))
    }
}

fn compare(seeds: std::ops::Range<u64>) {
    let mut verdicts: BTreeMap<(&str, bool), u64> = BTreeMap::new();
    let mut by_parts = [0_u64; 2];
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let (spec, actions) = SPECS[rng.usize(..SPECS.len())];
        let history = random_history(&mut rng, spec, actions);
        let level = random_level(&mut rng, actions);
        let context = if rng.bool() { Context::Recorded } else { Context::Free };
        let shown: String =
            history.ops().iter().map(|op| format!("\n{} {:?} {}", op.process, op.interval, op.call)).collect();
        let about = format!("seed {seed}: {spec}, {level}, {context:?}{shown}\n");
        let compare = Compare { history: &history, level: &level, context, about: &about };
        let (expected, checked) = with_model(spec, compare).unwrap();
        *verdicts.entry((spec, expected)).or_default() += 1;
        if matches!(checked.method, omnilink_models::check::Method::Parts { .. }) {
            by_parts[usize::from(expected)] += 1;
        }
    }
    for (spec, _) in SPECS {
        let [no, yes] = [false, true].map(|verdict| verdicts.get(&(spec, verdict)).copied().unwrap_or(0) as f64);
        assert!((0.1..0.9).contains(&(yes / (yes + no))), "{spec}: {yes} accepted, {no} rejected");
    }
    assert!(by_parts.iter().all(|&count| count > 50), "{by_parts:?}");
}

#[test]
fn shortcuts_agree_with_all_orders_and_all_visibilities() {
    compare(0..10_000);
}

#[test]
#[ignore = "takes minutes"]
fn shortcuts_agree_with_all_orders_and_all_visibilities_at_length() {
    compare(1_000_000..1_100_000);
}

/// Checks rows of a process, a start, an end and a call.
fn check_rows(spec: &str, level: &str, context: Context, rows: Vec<(u32, u64, u64, Call)>) -> Checked {
    let history =
        History::from_calls(rows.into_iter().map(|(process, start, end, call)| (process, start, Some(end), call)));
    let weak =
        omnilink_weak::WeakOptions { level: level.parse().unwrap(), context, ..omnilink_weak::WeakOptions::default() };
    let options = LevelOptions { weak, shortcuts: true };
    omnilink_models::level::check_chosen(&spec.parse().unwrap(), &history.unwrap(), &options, &Unwatched).unwrap()
}

fn call<const N: usize>(action: &str, args: [i64; N], result: impl Into<Option<Value>>) -> Call {
    Call::positional(action, args.map(Value::from), result.into())
}

#[test]
fn an_operation_of_complete_visibility_may_have_to_come_before_one_that_it_cannot_see() {
    // After the `put`, a failed `erase` is impossible where it is seen, so the `insert` comes first.
    let rows = vec![
        (1, 1, 1, call("put", [0, 1], None)),
        (0, 7, 13, call("insert", [0, 1], Value::from(false))),
        (1, 3, 9, call("erase", [0], Value::from(false))),
    ];
    let checked = check_rows("kv", "order real-time, weak, insert=complete", Context::Recorded, rows);
    assert!(checked.verdict.is_accepted());
}

#[test]
fn keys_that_are_accepted_do_not_decide_if_one_has_no_view() {
    // `add(1)` has to see both of the others, and there is no order of these.
    let rows = vec![
        (2, 1, 4, call("add", [0], Value::from(true))),
        (1, 1, 5, call("add", [0], Value::from(true))),
        (1, 6, 7, call("add", [1], Value::from(true))),
    ];
    assert!(check_rows("set", "hb-weak", Context::Recorded, rows.clone()).verdict.is_rejected());
    assert!(check_rows("set", "hb-weak", Context::Free, rows).verdict.is_accepted());
}

#[test]
fn operations_of_one_process_that_fall_on_one_instant_are_all_seen() {
    let rows = vec![
        (0, 0, 5, call("enqueue", [1], Value::from(true))),
        (0, 5, 5, call("enqueue", [2], Value::from(true))),
        (0, 5, 10, call("dequeue", [], Value::from(2))),
    ];
    assert!(check_rows("queue", "hb-weak", Context::Free, rows).verdict.is_rejected());
}

#[test]
fn a_level_without_a_procedure_is_refuted_by_a_weaker_one() {
    let rows = vec![(0, 1, 2, call("put", [0, 1], None)), (0, 3, 4, call("get", [0], Value::Nil))];
    let checked = check_rows("kv", "order session, causal, put=complete", Context::Free, rows);
    let Verdict::Rejected(Unexplained::Contradiction { reason, .. }) = checked.verdict else { panic!("{checked:?}") };
    assert!(reason.ends_with("(not even at the level `read-my-writes`)"), "{reason}");
}
