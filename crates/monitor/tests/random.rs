//! Random histories of all built-in types, with lines that are lost, repeated, reordered, late, skewed or unreadable, operations without
//! a key, processes whose operations overlap or that go on after an unknown outcome, and with restarts: a violation is found
//! only where a brute-force search finds one, and a key is accepted only if that search accepts it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use fastrand::Rng;
use omnilink_history::{Call, End, Interval, Op, OpId, ProcessId, Schema, Value};
use omnilink_judge::Judge;
use omnilink_models::{Model, Visitor, with_model};
use omnilink_monitor::{AlertKind, Checkpoint, Item, Line, Monitor, MonitorOptions};

/// All built-in types.
const MODELS: [&str; 11] = [
    "register:initial=0",
    "cas-register:initial=0",
    "kv",
    "kv-append",
    "set",
    "queue:capacity=3",
    "stack",
    "priority-queue",
    "counter",
    "mutex",
    "bank:a=2",
];

#[derive(Clone, Debug)]
struct Operation {
    process: usize,
    /// Its number in its process.
    seq: u64,
    key: i64,
    /// The call without its key.
    call: Call,
    start: u64,
    /// `None` for an unknown outcome.
    end: Option<u64>,
}

impl Operation {
    /// Whether its process puts it after another operation: that one had returned when it was called.
    fn follows(&self, other: &Operation) -> bool {
        let has_returned = other.end.is_some_and(|end| end <= self.start);
        other.process == self.process && other.seq < self.seq && has_returned
    }

    fn op(&self) -> Op<Call> {
        let interval = self.end.and_then(|end| Interval::new(self.start, end));
        let interval = interval.unwrap_or(Interval::unfinished(self.start));
        let (process, index) = (ProcessId(self.process as u32), self.seq as u32);
        Op { id: OpId(0), process, index, interval, is_last: false, call: self.call.clone() }
    }

    /// The operation as a model sees it.
    fn bind<M: Model>(&self, model: &M) -> Option<M::Op> {
        let key = Value::Int(self.key);
        let with_key = || call(self.call.action(), &[("key", key.clone())], &self.call);
        // Those that need a key have it.
        let bound = model.bind(&self.op()).or_else(|_| model.bind(&Op { call: with_key(), ..self.op() }));
        bound.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A call with more arguments before those of another one.
fn call(action: &str, args: &[(&str, Value)], rest: &Call) -> Call {
    let schema = rest.schema();
    let names = args.iter().map(|(name, _)| Arc::from(*name)).chain(schema.args.iter().cloned());
    let schema = Schema { action: action.into(), args: names.collect(), results: schema.results.clone() };
    let values = args.iter().map(|(_, value)| value.clone()).chain(rest.args().iter().chain(rest.results()).cloned());
    Call::new(Arc::new(schema), values).expect("a call")
}

/// A call of a model, and the results that it may have.
fn draw(model: &str, random: &mut Rng) -> (Call, Vec<Value>) {
    let value = Value::Int(random.i64(1..4));
    let some = || (0..4).map(Value::Int).chain([Value::Nil]).collect::<Vec<_>>();
    let either = || vec![Value::Bool(true), Value::Bool(false)];
    let texts = || ["", "a", "b", "aa", "ab", "ba", "bb", "aab", "aba", "abb"].map(Value::str).to_vec();
    let letter = Value::str(if random.bool() { "a" } else { "b" });
    let balances = || {
        let of = |a, b| Value::function([(Value::str("a"), Value::Int(a)), (Value::str("b"), Value::Int(b))]);
        (0..3).flat_map(|a| (0..3).map(move |b| of(a, b).expect("two accounts"))).collect::<Vec<_>>()
    };
    let (name, which) = (model.split(':').next().expect("a name"), random.u8(..3));
    let (action, args, results): (_, Vec<(&str, Value)>, _) = match (name, which) {
        ("register" | "cas-register", 0) => ("write", vec![("value", value)], vec![]),
        ("cas-register", 1) => ("cas", vec![("from", Value::Int(random.i64(0..4))), ("to", value)], either()),
        ("register" | "cas-register", _) => ("read", vec![], some()),
        ("kv", 0) => ("put", vec![("value", value)], vec![]),
        ("kv", 1) => match random.bool() {
            true => ("insert", vec![("value", value)], either()),
            false => ("erase", vec![], either()),
        },
        ("kv", _) => ("get", vec![], some()),
        ("kv-append", 0) => ("put", vec![("value", letter)], vec![]),
        ("kv-append", 1) => ("append", vec![("value", letter)], vec![]),
        ("kv-append", _) => ("get", vec![], texts()),
        ("set", 0) => ("add", vec![("value", value)], either()),
        ("set", 1) => ("remove", vec![("value", value)], either()),
        ("set", _) => ("contains", vec![("value", value)], either()),
        ("queue", 0) => ("enqueue", vec![("value", value)], either()),
        ("queue", 1) => ("dequeue", vec![], some()),
        ("stack", 0) => ("push", vec![("value", value)], vec![]),
        ("stack", 1) => ("pop", vec![], some()),
        ("priority-queue", 0) => ("insert", vec![("value", value)], vec![]),
        ("priority-queue", 1) => ("delete_min", vec![], some()),
        ("queue" | "stack" | "priority-queue", _) => ("len", vec![], (0..4).map(Value::Int).collect()),
        ("counter", 0) => ("increment", vec![], (-2..6).map(Value::Int).collect()),
        ("counter", 1) => ("add", vec![("delta", Value::Int(random.i64(-1..3)))], vec![]),
        ("counter", _) => ("read", vec![], (-2..6).map(Value::Int).collect()),
        ("mutex", 0) => ("acquire", vec![], vec![Value::Bool(true)]),
        ("mutex", 1) => ("release", vec![], either()),
        ("mutex", _) => ("try_lock", vec![], either()),
        ("bank", 0) => ("deposit", vec![("account", letter), ("amount", Value::Int(1))], vec![]),
        ("bank", 1) => {
            let (from, to) = if random.bool() { ("a", "b") } else { ("b", "a") };
            ("transfer", vec![("from", Value::str(from)), ("to", Value::str(to)), ("amount", Value::Int(1))], either())
        }
        ("bank", _) => ("read", vec![], balances()),
        _ => unreachable!("a model of the list"),
    };
    (call(action, &args, &Call::positional(action, [], [])), results)
}

/// The call with this result.
fn with_result(call: &Call, result: &Value) -> Call {
    let schema = Schema { results: vec!["result".into()], ..(**call.schema()).clone() };
    Call::new(Arc::new(schema), call.args().iter().chain([result]).cloned()).expect("a call")
}

/// Moves the times of each process by the error of its clock, and widens intervals by the largest error: what a receiver of
/// spans of several hosts does.
fn skew(operations: &[Operation], error: u64, random: &mut Rng) -> Vec<Operation> {
    let mut offsets = BTreeMap::new();
    let skewed = operations.iter().map(|operation| {
        // Between nothing and twice the error, so that no time is negative.
        let offset = *offsets.entry(operation.process).or_insert_with(|| random.u64(..=2 * error));
        let end = operation.end.map(|end| end + offset + 2 * error);
        Operation { start: operation.start + offset, end, ..operation.clone() }
    });
    skewed.collect()
}

/// How processes behave.
#[derive(Clone, Copy, Debug)]
struct Habits {
    /// Their operations have numbers.
    number: bool,
    /// They start an operation before the last one has ended.
    overlap: bool,
    /// They go on after an operation of unknown outcome.
    go_on: bool,
}

impl Habits {
    fn random(random: &mut Rng) -> Habits {
        let number = random.u8(..5) > 0;
        Habits { number, overlap: number && random.u8(..5) == 0, go_on: random.u8(..5) == 0 }
    }
}

/// A history of correct objects, in which some results may be wrong.
struct Draw<'a> {
    random: &'a mut Rng,
    habits: Habits,
    model: &'a str,
}

impl Visitor for Draw<'_> {
    type Output = Vec<Operation>;

    fn visit<M: Model>(self, model: M) -> Vec<Operation> {
        let Draw { random, habits, model: name } = self;
        let processes = random.usize(2..4);
        let mut clocks: Vec<u64> = (0..processes).map(|_| random.u64(1..4)).collect();
        let mut names: Vec<usize> = (0..processes).collect();
        let mut drawn: Vec<(u64, Operation, Vec<Value>)> = Vec::new();
        // Short ones have verdicts before anything is lost, long ones recover from it.
        let length = if random.u8(..3) == 0 { 20..36 } else { 3..14 };
        for _ in 0..random.usize(length) {
            let process = random.usize(..processes);
            let start = clocks[process];
            let end = start + random.u64(..7);
            let effect = random.u64(start..=end);
            // Some start at the very instant at which the last one of their process ended.
            clocks[process] = if habits.overlap { start } else { end } + random.u64(..5);
            let is_unknown = random.u8(..12) == 0;
            let (call, results) = draw(name, random);
            let end = (!is_unknown).then_some(end);
            let operation = Operation { process: names[process], seq: 0, key: random.i64(0..2), call, start, end };
            if is_unknown && !habits.go_on {
                names[process] = processes + drawn.len();
            }
            // An operation of unknown outcome may take effect much later, or never.
            let effect = if is_unknown { effect + random.u64(..20) } else { effect };
            drawn.push((effect, operation, results));
        }
        let mut order: Vec<usize> = (0..drawn.len()).collect();
        order.sort_by_key(|place| drawn[*place].0);
        let mut initial = Vec::new();
        model.initial(&mut initial).unwrap_or_else(|never| match never {});
        let (mut states, is_wrong) = (BTreeMap::<i64, M::State>::new(), random.u8(..3) > 0);
        let mut impossible = Vec::new();
        for place in order {
            let (_, operation, results) = &mut drawn[place];
            let state = states.entry(operation.key).or_insert_with(|| initial[0].clone());
            if operation.end.is_none() {
                let after = operation.bind(&model).and_then(|op| model.next(state, &op));
                *state = after.filter(|_| random.bool()).unwrap_or(state.clone());
                continue;
            }
            random.shuffle(results);
            let of_result = |result: Option<&Value>| {
                let call = result.map_or(operation.call.clone(), |result| with_result(&operation.call, result));
                Operation { call, ..operation.clone() }
            };
            let all: Vec<Operation> = match results.is_empty() {
                true => vec![of_result(None)],
                false => results.iter().map(|result| of_result(Some(result))).collect(),
            };
            let step = |operation: &Operation| operation.bind(&model).and_then(|op| model.next(state, &op));
            let right = all.iter().find_map(|operation| Some((operation.clone(), step(operation)?)));
            match right {
                _ if is_wrong && random.u8(..6) == 0 => *operation = all[0].clone(),
                Some((right, after)) => (*operation, *state) = (right, after),
                None => impossible.push(place),
            }
        }
        let mut operations = Vec::new();
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for (place, (_, mut operation, _)) in drawn.into_iter().enumerate() {
            if !impossible.contains(&place) {
                let count = counts.entry(operation.process).or_default();
                operation.seq = *count;
                *count += 1;
                operations.push(operation);
            }
        }
        operations
    }
}

/// Whether some order of these operations is allowed, in which those of unknown outcome take effect within a time: tries all
/// of them.
struct Allowed<'a> {
    operations: &'a [&'a Operation],
    bound: Option<u64>,
}

impl Visitor for Allowed<'_> {
    type Output = bool;

    fn visit<M: Model>(self, model: M) -> bool {
        let bound = |operation: &&'_ Operation| operation.bind(&model).map(|op| ((*operation).clone(), op));
        let all: Vec<(Operation, M::Op)> = self.operations.iter().filter_map(bound).collect();
        assert!(all.len() < 64);
        let mut initial = Vec::new();
        model.initial(&mut initial).unwrap_or_else(|never| match never {});
        let mut seen: HashSet<(u64, M::State)> = HashSet::new();
        let mut open: Vec<(u64, M::State)> = initial.into_iter().map(|state| (0, state)).collect();
        while let Some((placed, state)) = open.pop() {
            if !seen.insert((placed, state.clone())) {
                continue;
            }
            let is_placed = |place: usize| placed & (1 << place) != 0;
            let left = || all.iter().enumerate().filter(|(place, _)| !is_placed(*place));
            if left().all(|(_, (operation, _))| operation.end.is_none()) {
                return true;
            }
            let done = all.iter().enumerate().filter(|(place, _)| is_placed(*place));
            let latest = done.map(|(_, (operation, _))| operation.start).max().unwrap_or(0);
            for (place, (next, op)) in left() {
                // It is first unless another one ended before it started, or precedes it in its process.
                let waits = |other: &Operation| other.end.is_some_and(|end| end < next.start) || next.follows(other);
                // An operation of unknown outcome that nothing may follow any more has no effect.
                let is_over = next.end.is_none() && self.bound.is_some_and(|bound| next.start + bound < latest);
                if is_over || left().any(|(_, (other, _))| waits(other)) {
                    continue;
                }
                open.extend(model.next(&state, op).map(|after| (placed | 1 << place, after)));
            }
        }
        false
    }
}

fn is_allowed(model: &str, operations: &[&Operation], bound: Option<u64>) -> bool {
    with_model(model, Allowed { operations, bound }).expect("a built-in specification")
}

fn lines(operations: &[Operation], habits: Habits) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut counts: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    let mut sorted: Vec<&Operation> = operations.iter().collect();
    sorted.sort_by_key(|operation| (operation.start, operation.seq));
    for operation in sorted {
        let Operation { process, seq, key, call: without_key, start, end } = operation;
        let (count, latest) = counts.entry(*process).or_insert_with(|| {
            lines.push(progress(*process, 0, habits.number.then_some(0), false));
            (0, 0)
        });
        let call = call(without_key.action(), &[("key", Value::Int(*key))], without_key);
        let end = end.map_or(End::Unknown { latest: None }, End::At);
        *latest = (*latest).max(if let End::At(end) = end { end } else { *start });
        *count += 1;
        let seq = habits.number.then_some(*seq);
        lines.push(Line::Operation(Item { process: name(*process), seq, start: *start, end, call }));
    }
    let last_words = counts
        .iter()
        .map(|(process, (count, latest))| progress(*process, *latest, habits.number.then_some(*count), true));
    lines.extend(last_words);
    // Processes say that they exist before anything happens.
    let (hello, rest): (Vec<Line>, Vec<Line>) =
        lines.into_iter().partition(|line| matches!(line, Line::Progress { time: 0, is_last: false, .. }));
    hello.into_iter().chain(rest).collect()
}

fn name(process: usize) -> Arc<str> {
    format!("p{process}").into()
}

fn progress(process: usize, time: u64, operations: Option<u64>, is_last: bool) -> Line {
    Line::Progress { process: name(process), time, operations, is_last }
}

/// The line without its key, which is the first argument.
fn without_key(line: &Line) -> Option<Line> {
    let Line::Operation(item) = line else { return None };
    let (_, call) = item.call.split_arg(0, "key")?;
    Some(Line::Operation(Item { call, ..item.clone() }))
}

fn judge(model: &str) -> Judge {
    Judge::new(model, omnilink_judge::CheckOptions::default()).expect("a built-in specification")
}

/// The same with a search that does not carry states.
fn judge_of_whole_histories(model: &str) -> Judge {
    let options = omnilink_judge::CheckOptions { exhaustive: true, ..omnilink_judge::CheckOptions::default() };
    let judge = Judge::new(model, options).expect("a built-in specification");
    assert!(!judge.carries());
    judge
}

#[derive(Debug, Default)]
struct Seen {
    accepted: u64,
    rejected: u64,
    unknown: u64,
    truly_rejected: u64,
    found_after_loss: u64,
    withdrawn: u64,
    late: u64,
    lost: u64,
    duplicates: u64,
    restarts: u64,
    unreadable: u64,
    without_key: u64,
    rejected_with_habits: u64,
    dropped: u64,
    skewed: u64,
}

/// Monitors one history whose lines are disturbed, and compares the verdicts.
fn run(seed: u64, seen: &mut Seen) {
    let mut random = Rng::with_seed(seed);
    let habits = Habits::random(&mut random);
    let model = MODELS[random.usize(..MODELS.len())];
    let drawn = with_model(model, Draw { random: &mut random, habits, model });
    let truth_of_times = drawn.expect("a built-in specification");
    // Clocks of several hosts: intervals overlap within a process then. The search takes too long on many that overlap.
    let can_be_skewed = habits.overlap && truth_of_times.len() < 12;
    let error = if can_be_skewed { random.u64(1..4) } else { 0 };
    let operations = skew(&truth_of_times, error, &mut random);
    seen.skewed += u64::from(error > 0);
    let mut lines = lines(&operations, habits);
    let hello = lines.iter().take_while(|line| matches!(line, Line::Progress { is_last: false, .. })).count();
    let (loses, garbles) = (habits.number && random.u8(..3) == 0, random.u8(..4) == 0);
    let (repeats, reorders) = (habits.number && random.bool(), habits.number && random.bool());
    // Late operations come of processes that seemed idle.
    let is_hasty = random.u8(..4) == 0;
    // `None` for a line that cannot be read.
    let mut sent: Vec<Option<Line>> = lines.drain(..hello).map(Some).collect();
    for line in lines {
        // A monitor that does not wait for idle processes notices a loss only by their last word.
        let can_be_lost = !is_hasty || matches!(line, Line::Operation(_));
        if loses && random.u8(..8) == 0 && can_be_lost {
            continue;
        }
        let line = match random.u8(..16) {
            0 if garbles && can_be_lost => None,
            1 if garbles => Some(without_key(&line).unwrap_or(line)),
            _ => Some(line),
        };
        let count = if repeats && random.u8(..6) == 0 { 2 } else { 1 };
        for _ in 0..count {
            let back = if reorders { random.usize(..5) } else { 0 };
            let place = sent.len().saturating_sub(back).max(hello);
            sent.insert(place, line.clone());
        }
    }
    let options = MonitorOptions {
        // A violation that was found too early is withdrawn only within the retention.
        retention: if is_hasty || random.bool() { 1_000 } else { random.u64(..20) },
        most_keys: if random.u8(..6) == 0 { 1 } else { 100 },
        idle: is_hasty.then_some(2),
        patience: if is_hasty { 1_000 } else { random.u64(4..12) },
        // The last one takes effect 25 after its start, and clocks differ by at most 6.
        unknown_for: (random.u8(..3) == 0).then_some(40),
        joins: random.u8(..8) == 0,
        overlap: habits.overlap,
        go_on: habits.go_on,
        ..MonitorOptions::default()
    };
    // Some monitors cannot carry states, and check all operations of a key again.
    let is_whole = random.u8(..4) == 0;
    let judge = || if is_whole { judge_of_whole_histories(model) } else { judge(model) };
    let mut monitor = Monitor::new(judge(), options.clone());
    let mut alerts = Vec::new();
    for line in sent {
        seen.unreadable += u64::from(line.is_none());
        match line {
            Some(line) => monitor.feed(line),
            None => monitor.feed_unreadable(),
        }
        if random.u8(..3) == 0 {
            alerts.extend(monitor.advance());
        }
        if random.u8(..8) == 0 {
            let text = monitor.save(model, &serde_json::json!(seed)).expect("a text");
            let checkpoint = Checkpoint::read(&text, model, judge(), options.clone()).expect("a checkpoint");
            assert_eq!(checkpoint.position, serde_json::json!(seed));
            monitor = checkpoint.monitor;
            seen.restarts += 1;
        }
    }
    alerts.extend(monitor.finish(false));
    let counts = monitor.counts();
    seen.late += counts.late;
    seen.lost += counts.lost;
    seen.dropped += counts.dropped;
    seen.duplicates += counts.duplicates;
    seen.withdrawn += counts.withdrawn;
    let mut after_loss = false;
    for alert in &alerts {
        after_loss |= alert.kind == AlertKind::Lost;
        seen.found_after_loss += u64::from(after_loss && alert.kind == AlertKind::Violation);
        let is_without_key = alert.sentence.contains("has no argument `key`");
        after_loss |= is_without_key;
        seen.without_key += u64::from(is_without_key);
        assert!(alert.kind != AlertKind::Wrong || is_without_key, "seed {seed}: {}", alert.sentence);
    }
    for (key, violations, undecided) in monitor.verdicts() {
        let Value::Int(key) = key else { panic!("a number") };
        let of_key: Vec<&Operation> = operations.iter().filter(|operation| operation.key == *key).collect();
        let truth = is_allowed(model, &of_key, options.unknown_for);
        seen.truly_rejected += u64::from(!truth);
        match (violations, undecided) {
            (0, 0) => {
                assert!(truth, "seed {seed}: key {key} is accepted: {of_key:#?}");
                seen.accepted += 1;
            }
            (0, _) => seen.unknown += 1,
            _ => {
                assert!(!truth, "seed {seed}: key {key} is rejected: {of_key:#?} {alerts:#?}");
                // So it is in true time, which the intervals contain.
                let of_key: Vec<&Operation> = truth_of_times.iter().filter(|operation| operation.key == *key).collect();
                let bound = options.unknown_for.map(|bound| bound + 2 * error);
                assert!(!is_allowed(model, &of_key, bound), "seed {seed}: key {key} is right in true time");
                seen.rejected += 1;
                seen.rejected_with_habits += u64::from(!habits.number || habits.overlap || habits.go_on);
            }
        }
    }
}

#[test]
fn verdicts_are_those_of_a_brute_force_search() {
    let histories = std::env::var("OMNILINK_HISTORIES").map_or(3_000, |count| count.parse().expect("a number"));
    let mut seen = Seen::default();
    (0..histories).for_each(|seed| run(seed, &mut seen));
    println!("{histories} histories: {seen:?}");
    // Everything that the test is about must have happened, and often.
    let share = |count: u64, percent: u64| count * 100 >= histories * percent;
    assert!(share(seen.accepted, 30) && share(seen.rejected, 15), "{seen:?}");
    assert!(share(seen.lost, 10) && share(seen.duplicates, 20) && share(seen.restarts, 50), "{seen:?}");
    assert!(
        share(seen.unreadable, 10) && share(seen.without_key, 10) && share(seen.rejected_with_habits, 5),
        "{seen:?}"
    );
    assert!(
        share(seen.dropped, 5) && share(seen.late, 1) && seen.withdrawn > 0 && seen.found_after_loss > 0,
        "{seen:?}"
    );
}

#[test]
fn a_checkpoint_that_breaks_off_is_refused() {
    let model = "register:initial=0";
    let judge = || judge(model);
    let mut monitor = Monitor::new(judge(), MonitorOptions::default());
    let mut random = Rng::with_seed(1);
    let habits = Habits { number: true, overlap: false, go_on: false };
    let drawn = with_model(model, Draw { random: &mut random, habits, model }).expect("a built-in specification");
    lines(&drawn, habits).into_iter().for_each(|line| monitor.feed(line));
    let text = monitor.save("register:initial=0", &serde_json::Value::Null).expect("a text");
    let read = |text: &str, spec: &str| Checkpoint::read(text, spec, judge(), MonitorOptions::default()).map(|_| ());
    read(&text, "register:initial=0").expect("the whole text");
    for (place, _) in text.match_indices('\n').filter(|(place, _)| place + 1 < text.len()) {
        assert!(read(&text[..=place], "register:initial=0").is_err());
    }
    assert!(read("", "register:initial=0").is_err() && read(&text, "queue").is_err());
}
