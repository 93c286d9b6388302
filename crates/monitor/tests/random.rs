//! Random histories of registers, with lines that are lost, repeated, reordered, late, skewed or unreadable, operations without
//! a key, processes whose operations overlap or that go on after an unknown outcome, and with restarts: a violation is found
//! only where a brute-force search finds one, and a key is accepted only if that search accepts it.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use history::{Call, End, Schema, Value};
use judge::Judge;
use monitor::{AlertKind, Checkpoint, Item, Line, Monitor, Options};

#[derive(Clone, Debug)]
struct Operation {
    process: usize,
    key: i64,
    /// `None` for a read.
    written: Option<i64>,
    /// What was read; `None` for a write, and for an operation of unknown outcome.
    read: Option<i64>,
    start: u64,
    /// `None` for an unknown outcome.
    end: Option<u64>,
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
        // Without numbers, a process is known by its operations alone.
        Habits { number, overlap: number && random.u8(..5) == 0, go_on: number && random.u8(..5) == 0 }
    }
}

/// A history of a correct register, in which some reads may be wrong.
fn history(random: &mut Rng, habits: Habits) -> Vec<Operation> {
    let processes = random.usize(2..4);
    let mut clocks: Vec<u64> = (0..processes).map(|_| random.u64(1..4)).collect();
    let mut names: Vec<usize> = (0..processes).collect();
    let mut operations: Vec<(u64, Operation)> = Vec::new();
    // Short ones have verdicts before anything is lost, long ones recover from it.
    let length = if random.u8(..3) == 0 { 20..36 } else { 3..14 };
    for _ in 0..random.usize(length) {
        let process = random.usize(..processes);
        let start = clocks[process];
        let end = start + random.u64(1..7);
        let effect = random.u64(start..=end);
        clocks[process] = if habits.overlap { start } else { end } + random.u64(1..5);
        let is_unknown = random.u8(..12) == 0;
        let written = random.bool().then(|| random.i64(1..4));
        let operation = Operation {
            process: names[process],
            key: random.i64(0..2),
            written,
            read: None,
            start,
            end: (!is_unknown).then_some(end),
        };
        if is_unknown && !habits.go_on {
            names[process] = processes + operations.len();
        }
        // An operation of unknown outcome may take effect much later, or never.
        let effect = if is_unknown { effect + random.u64(..20) } else { effect };
        operations.push((effect, operation));
    }
    let mut order: Vec<usize> = (0..operations.len()).collect();
    order.sort_by_key(|place| operations[*place].0);
    let (mut values, is_wrong) = (BTreeMap::new(), random.u8(..3) > 0);
    for place in order {
        let operation = &mut operations[place].1;
        let value = values.entry(operation.key).or_insert(0);
        match operation.written {
            Some(_) if operation.end.is_none() && random.bool() => {}
            Some(written) => *value = written,
            None if operation.end.is_none() => {}
            None if is_wrong && random.u8(..3) == 0 => operation.read = Some(random.i64(0..4)),
            None => operation.read = Some(*value),
        }
    }
    operations.into_iter().map(|(_, operation)| operation).collect()
}

/// Whether some order of these operations is allowed, in which those of unknown outcome take effect within a time: tries all
/// of them. `latest` is the latest start so far.
fn is_allowed(left: &[&Operation], value: i64, latest: u64, bound: Option<u64>) -> bool {
    if left.iter().all(|operation| operation.end.is_none()) {
        return true;
    }
    let earliest = left.iter().filter_map(|operation| operation.end).min().unwrap_or(u64::MAX);
    left.iter().enumerate().any(|(place, next)| {
        // It is first unless another one ended before it started.
        if next.start > earliest || next.read.is_some_and(|read| read != value) {
            return false;
        }
        // An operation of unknown outcome that nothing may follow any more has no effect.
        if next.end.is_none() && bound.is_some_and(|bound| next.start + bound < latest) {
            return false;
        }
        let rest: Vec<&Operation> =
            left.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, op)| *op).collect();
        is_allowed(&rest, next.written.unwrap_or(value), latest.max(next.start), bound)
    })
}

fn lines(operations: &[Operation], habits: Habits) -> Vec<Line> {
    let schema = |action: &str, args: &[&str], results: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
        Arc::new(Schema { action: action.into(), args: names(args), results: names(results) })
    };
    let (write, read) = (schema("write", &["key", "value"], &[]), schema("read", &["key"], &["value"]));
    let mut lines = Vec::new();
    let mut counts: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
    let mut sorted: Vec<&Operation> = operations.iter().collect();
    sorted.sort_by_key(|operation| operation.start);
    for operation in sorted {
        let Operation { process, key, written, read: result, start, end } = operation;
        let (count, latest) = counts.entry(*process).or_insert_with(|| {
            lines.push(progress(*process, 0, habits.number.then_some(0), false));
            (0, 0)
        });
        let mut values = vec![Value::Int(*key)];
        values.extend(written.or(*result).map(Value::Int));
        let call = Call::new(if written.is_some() { write.clone() } else { read.clone() }, values).expect("a call");
        let end = end.map_or(End::Unknown { latest: None }, End::At);
        *latest = (*latest).max(if let End::At(end) = end { end } else { *start });
        let seq = habits.number.then_some(*count);
        let item = Item { process: name(*process), seq, start: *start, end, call };
        *count += 1;
        lines.push(Line::Operation(item));
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
    let schema = item.call.schema();
    let schema = Schema { args: schema.args[1..].into(), ..(**schema).clone() };
    let values = item.call.args().iter().skip(1).chain(item.call.results()).cloned();
    let call = Call::new(Arc::new(schema), values).expect("a call");
    Some(Line::Operation(Item { call, ..item.clone() }))
}

fn judge() -> Judge {
    Judge::new("register:initial=0", judge::Options::default()).expect("a built-in specification")
}

/// The same with a search that does not carry states.
fn judge_of_whole_histories() -> Judge {
    let options = judge::Options { exhaustive: true, ..judge::Options::default() };
    let judge = Judge::new("register:initial=0", options).expect("a built-in specification");
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
    let truth_of_times = history(&mut random, habits);
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
    let options = Options {
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
        ..Options::default()
    };
    // Some monitors cannot carry states, and check all operations of a key again.
    let is_whole = random.u8(..4) == 0;
    let judge = || if is_whole { judge_of_whole_histories() } else { judge() };
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
            let text = monitor.save("register:initial=0", &serde_json::json!(seed)).expect("a text");
            let checkpoint =
                Checkpoint::read(&text, "register:initial=0", judge(), options.clone()).expect("a checkpoint");
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
        let truth = is_allowed(&of_key, 0, 0, options.unknown_for);
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
                assert!(!is_allowed(&of_key, 0, 0, bound), "seed {seed}: key {key} is right in true time");
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
    let mut monitor = Monitor::new(judge(), Options::default());
    let mut random = Rng::with_seed(1);
    let habits = Habits { number: true, overlap: false, go_on: false };
    lines(&history(&mut random, habits), habits).into_iter().for_each(|line| monitor.feed(line));
    let text = monitor.save("register:initial=0", &serde_json::Value::Null).expect("a text");
    let read = |text: &str, spec: &str| Checkpoint::read(text, spec, judge(), Options::default()).map(|_| ());
    read(&text, "register:initial=0").expect("the whole text");
    for (place, _) in text.match_indices('\n').filter(|(place, _)| place + 1 < text.len()) {
        assert!(read(&text[..=place], "register:initial=0").is_err());
    }
    assert!(read("", "register:initial=0").is_err() && read(&text, "queue").is_err());
}
