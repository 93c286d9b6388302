//! Histories that end stuck, against an oracle that tries every order of the operations that returned, and then asks
//! whether the object blocks each of those that did not.

use fastrand::Rng;
use omnilink_history::{Call, End, History, Precedence, ProcessId, Record, Trace, Value};
use omnilink_models::check::{ModelOptions, check};
use omnilink_models::{Answer, Object, Sequential};
use omnilink_search::{Criterion, Unwatched};

/// A queue for at most two elements; `take` blocks while it is empty, and `add` while it is full.
struct Bounded;

impl Object for Bounded {
    type State = Vec<Value>;

    fn initial(&self) -> Vec<Value> {
        Vec::new()
    }

    fn apply(&self, queue: &mut Vec<Value>, call: &Call) -> Answer {
        match (call.action(), call.args()) {
            ("add", _) if queue.len() == 2 => Answer::Blocks("the queue is full".to_owned()),
            ("add", [value]) => {
                queue.push(value.clone());
                Answer::nothing()
            }
            ("take", []) if queue.is_empty() => Answer::Blocks("the queue is empty".to_owned()),
            ("take", []) => Answer::value(queue.remove(0)),
            _ => Answer::Unknown,
        }
    }
}

/// A call: its start, itself, and its results once it has taken effect.
type Open = (u64, Call, Option<Vec<Value>>);

/// Runs threads one step at a time until each has ended or is blocked, and records them. A call takes effect at a random
/// time between its start and its end. Some histories are changed: another result, or a call that is blocked or not.
fn draw(rng: &mut Rng) -> Trace {
    let (mut trace, mut queue, mut time) = (Trace::default(), Vec::new(), 0);
    let mut left: Vec<usize> = (0..rng.usize(2..4)).map(|_| rng.usize(1..4)).collect();
    let mut open: Vec<Option<Open>> = vec![None; left.len()];
    for process in 0..left.len() {
        trace.process(&process.to_string());
    }
    let mut idle = 0;
    while idle < 60 {
        let process = rng.usize(0..left.len());
        time += 1;
        idle += 1;
        match &mut open[process] {
            None if left[process] > 0 => {
                left[process] -= 1;
                let add = Call::positional("add", [Value::Int(rng.i64(0..3))], []);
                let call = if rng.bool() { add } else { Call::positional("take", [], []) };
                open[process] = Some((time, call, None));
                idle = 0;
            }
            None => {}
            Some((_, call, answer @ None)) => {
                if let Answer::Returns(results) = Bounded.apply(&mut queue, call) {
                    *answer = Some(results);
                    idle = 0;
                }
            }
            Some((start, call, Some(results))) => {
                let call = Call::positional(call.action(), call.args().to_vec(), results.clone());
                let record = Record { process: ProcessId(process as u32), start: *start, end: End::At(time), call };
                trace.records.push(record);
                open[process] = None;
                idle = 0;
            }
        }
    }
    for (process, call) in open.into_iter().enumerate() {
        let Some((start, mut call, _)) = call else { continue };
        call.blocked = true;
        trace.records.push(Record { process: ProcessId(process as u32), start, end: None.into(), call });
    }
    if rng.bool() {
        corrupt(&mut trace, rng);
    }
    trace
}

fn corrupt(trace: &mut Trace, rng: &mut Rng) {
    let Some(changed) = (!trace.records.is_empty()).then(|| rng.usize(0..trace.records.len())) else { return };
    let process = trace.records[changed].process;
    let is_last = trace.records.iter().rposition(|record| record.process == process) == Some(changed);
    let Record { end, call, .. } = &mut trace.records[changed];
    if is_last && !call.blocked {
        (*end, *call) = (None.into(), Call::positional(call.action(), call.args().to_vec(), []));
        call.blocked = true;
    } else if call.action() == "take" && !call.blocked {
        *call = Call::positional("take", [], [Value::Int(rng.i64(0..3))]);
    }
}

/// Whether some order of the operations that returned, and of some of the unfinished ones, ends where all others block.
fn is_possible(left: &[&Record], blocked: &[&Record], precedence: Precedence, queue: &[Value]) -> bool {
    let blocks = |record: &&Record| matches!(Bounded.apply(&mut queue.to_vec(), &record.call), Answer::Blocks(_));
    if left.iter().all(|record| record.end.is_unknown()) && blocked.iter().all(blocks) {
        return true;
    }
    let precedes = |a: &Record, b: &Record| match precedence {
        Precedence::RealTime => {
            a.end.at().is_some_and(|end| end < b.start) || a.process == b.process && a.start < b.start
        }
        Precedence::Program => a.process == b.process && a.start < b.start,
        Precedence::None => false,
    };
    (0..left.len()).any(|next| {
        let op = left[next];
        if left.iter().any(|other| precedes(other, op)) {
            return false;
        }
        let mut queue = queue.to_vec();
        let answer = Bounded.apply(&mut queue, &op.call);
        let others: Vec<&Record> = left.iter().copied().filter(|other| !std::ptr::eq(*other, op)).collect();
        let is_legal = match answer {
            Answer::Returns(results) => op.end.is_unknown() || results == op.call.results(),
            _ => false,
        };
        is_legal && is_possible(&others, blocked, precedence, &queue)
    })
}

/// Takes away the end of the last operation of some processes.
fn forget_ends(trace: &mut Trace, rng: &mut Rng) {
    for process in 0..trace.processes.len() as u32 {
        let of_process = trace.records.iter_mut().filter(|record| record.process == ProcessId(process));
        if let Some(Record { end, call, .. }) = of_process.max_by_key(|record| record.start)
            && !call.blocked
            && rng.u8(..4) == 0
        {
            (*end, *call) = (None.into(), Call::positional(call.action(), call.args().to_vec(), []));
        }
    }
}

#[test]
fn verdicts_on_stuck_histories_are_those_of_the_definition() {
    let (mut stuck, mut rejected, mut both, mut unfinished) = (0, 0, 0, 0);
    for seed in 0..4_000 {
        let mut rng = Rng::with_seed(seed);
        let mut trace = draw(&mut rng);
        if rng.bool() {
            forget_ends(&mut trace, &mut rng);
        }
        let (blocked, others): (Vec<&Record>, Vec<&Record>) = trace.records.iter().partition(|op| op.call.blocked);
        if blocked.is_empty() {
            continue;
        }
        for precedence in [Precedence::RealTime, Precedence::Program, Precedence::None] {
            let expected = is_possible(&others, &blocked, precedence, &[]);
            let history = History::new(trace.clone()).unwrap();
            for reduce in [true, false] {
                let mut options = ModelOptions::default();
                (options.search.criterion, options.search.reduce) = (Criterion { precedence }, reduce);
                let checked = check(&Sequential::new(Bounded), &history, &options, &Unwatched).unwrap();
                assert_eq!(checked.verdict.is_accepted(), expected, "seed {seed}, {precedence:?}: {:?}", trace.records);
            }
            stuck += 1;
            rejected += usize::from(!expected);
        }
        both += usize::from(blocked.len() > 1);
        unfinished += usize::from(others.iter().any(|record| record.end.is_unknown()));
    }
    assert!(stuck > 6_000 && both > 300 && unfinished > 200, "{stuck} stuck, {both} several, {unfinished} unfinished");
    assert!(rejected * 5 > stuck && (stuck - rejected) * 5 > stuck, "{rejected} of {stuck} are rejected");
}

/// After the others the lock is free, so no order of them leaves the last one blocked; at any level, it sees them all.
#[test]
fn a_lost_wake_up_is_rejected_under_every_order_and_at_every_level() {
    let history = |text: &str| History::new(omnilink_history::format::text::read(text.as_bytes()).unwrap()).unwrap();
    let lost = history("a [1 2] acquire()\na [3 4] release()\nb [5 ...] acquire() blocked\n");
    let held = history("a [1 2] acquire()\na [3 4] release()\na [5 6] acquire()\nb [5 ...] acquire() blocked\n");
    let mut levels: Vec<omnilink_weak::Level> =
        omnilink_weak::Level::presets().map(|(name, _)| name.parse().unwrap()).collect();
    levels.extend(["order none", "order program, weak"].map(|level| level.parse().unwrap()));
    for level in levels {
        let options = omnilink_models::level::LevelOptions {
            weak: omnilink_weak::WeakOptions { level: level.clone(), ..omnilink_weak::WeakOptions::default() },
            shortcuts: true,
        };
        let check = |history: &History<Call>| {
            omnilink_models::level::check(&omnilink_models::mutex::Mutex::new(), history, &options, &Unwatched)
                .unwrap()
                .verdict
        };
        assert!(check(&lost).is_rejected(), "{level}");
        assert!(check(&held).is_accepted(), "{level}");
    }
}

#[test]
fn the_lock_blocks_while_it_is_held_and_a_queue_never_does() {
    let check = |name: &str, text: &str| {
        struct Visit<'a>(&'a str);
        impl omnilink_models::Visitor for Visit<'_> {
            type Output = String;
            fn visit<M: omnilink_models::Model>(self, model: M) -> String {
                let history = History::new(omnilink_history::format::text::read(self.0.as_bytes()).unwrap()).unwrap();
                let checked = check(&model, &history, &ModelOptions::default(), &Unwatched);
                checked.map_or_else(|error| error.to_string(), |checked| checked.verdict.is_accepted().to_string())
            }
        }
        omnilink_models::with_model(name, Visit(text)).unwrap()
    };
    assert_eq!(check("mutex", "a [1 2] acquire()\nb [3 ...] acquire() blocked\n"), "true");
    assert_eq!(check("mutex", "a [1 2] acquire()\na [3 4] release()\nb [3 ...] acquire() blocked\n"), "false");
    insta::assert_snapshot!(check("queue", "a [1 ...] pop() blocked\n"), @"a:0: `pop() blocked`, but no such operation of the model `queue` blocks");
}
