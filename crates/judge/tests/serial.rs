//! Serial runs as a specification: `omnilink check X.lineup TRACE` and `omnilink lineup` give the verdict of the
//! definition.
//!
//! Random objects are tables. The oracle executes them in every order of the operations of a history, and looks for one
//! that respects real time and gives the same answers, once for each operation that is blocked.

use std::fmt::Write as _;
use std::path::Path;

use fastrand::Rng;
use omnilink_judge::{Case, CheckOptions, Failed, Judge, Recording, Unlimited};
use omnilink_lineup::{Answer, Observations, Observed, Operation, SerialRun, Test, Thread, explain};
use omnilink_report::Verdict;

const METHODS: usize = 3;

/// For each state and method an answer and the next state, or `None` if the call blocks.
struct Object(Vec<[Option<(u8, usize)>; METHODS]>);

impl Object {
    fn random(rng: &mut Rng) -> Object {
        let (states, blocks) = (rng.usize(2..=3), rng.usize(0..5));
        let mut row = || {
            std::array::from_fn(|_| {
                let next = (rng.u8(1..=2), rng.usize(..states));
                (rng.usize(..10) >= blocks).then_some(next)
            })
        };
        Object((0..states).map(|_| row()).collect())
    }

    fn call(&self, state: usize, call: &str) -> Option<(u8, usize)> {
        self.0[state][call[1..2].parse::<usize>().expect("the number of a method")]
    }

    fn observe(&self, test: &Test) -> Observations {
        let mut observations = Observations::new(test.clone());
        while let Some(order) = observations.missing(1).pop() {
            let main = |calls: &[String]| vec![Thread::Main; calls.len()];
            let columns = order.threads().iter().map(|&column| Thread::Column(column)).collect();
            let (mut state, mut steps) = (0, Vec::<(Thread, Answer)>::new());
            for thread in [main(test.before()), columns, main(test.after())].concat() {
                let index = steps.iter().filter(|(other, _)| *other == thread).count();
                let Some((answer, next)) = self.call(state, test.calls(thread).nth(index).expect("a call")) else {
                    steps.push((thread, Answer::Blocked));
                    break;
                };
                steps.push((thread, Answer::Returned(answer.to_string())));
                state = next;
            }
            observations.insert(&SerialRun { steps }).expect("a deterministic object");
        }
        observations
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    Returned(u64, u8),
    Blocked,
    Unfinished,
}

#[derive(Clone, Debug)]
struct Event {
    thread: Thread,
    call: String,
    start: u64,
    ended: Ended,
}

/// A random execution: threads call, take effect once the object lets them, and return. A few answers are wrong.
fn execute(object: &Object, test: &Test, rng: &mut Rng) -> Vec<Event> {
    let (mut events, mut state, mut time) = (Vec::<Event>::new(), 0, 0);
    let wrong = rng.usize(..12);
    let columns = (0..).zip(test.columns()).map(|(column, calls)| (Thread::Column(column), calls.clone())).collect();
    for phase in [vec![(Thread::Main, test.before().to_vec())], columns, vec![(Thread::Main, test.after().to_vec())]] {
        // The calls of each thread that are left, and the answer of the one that took effect.
        let begin = |(thread, calls): (Thread, Vec<String>)| (thread, calls, None::<usize>, None::<u8>);
        let mut threads: Vec<_> = phase.into_iter().map(begin).collect();
        let mut idle = 0;
        while idle < 100 && threads.iter().any(|(_, calls, open, _)| !calls.is_empty() || open.is_some()) {
            time += 1;
            idle += 1;
            let chosen = rng.usize(..threads.len());
            let (thread, calls, open, answer) = &mut threads[chosen];
            match (*open, *answer) {
                (None, _) if calls.is_empty() => {}
                (None, _) => {
                    let call = calls.remove(0);
                    events.push(Event { thread: *thread, call, start: time, ended: Ended::Blocked });
                    (*open, idle) = (Some(events.len() - 1), 0);
                }
                (Some(event), None) => {
                    if let Some((returned, next)) = object.call(state, &events[event].call) {
                        (*answer, state, idle) = (Some(returned), next, 0);
                    }
                }
                (Some(event), Some(returned)) => {
                    let returned = if rng.usize(..12) < wrong { rng.u8(1..=2) } else { returned };
                    events[event].ended = Ended::Returned(time, returned);
                    (*open, *answer, idle) = (None, None, 0);
                }
            }
        }
        if events.iter().any(|event| event.ended == Ended::Blocked) {
            break;
        }
    }
    events
}

/// Whether an order of these operations respects real time and has their answers. An operation that is blocked is last,
/// and blocks there; one that is unfinished may be left out.
fn has_order(object: &Object, left: &[Event], state: usize) -> bool {
    if left.iter().all(|event| event.ended == Ended::Unfinished) {
        return true;
    }
    let precedes = |a: &Event, b: &Event| match a.ended {
        Ended::Returned(end, _) => end < b.start,
        Ended::Blocked | Ended::Unfinished => false,
    };
    left.iter().enumerate().any(|(place, next)| {
        if left.iter().any(|other| precedes(other, next)) {
            return false;
        }
        let rest = [&left[..place], &left[place + 1..]].concat();
        match (object.call(state, &next.call), next.ended) {
            (None, Ended::Blocked) => rest.iter().all(|event| event.ended == Ended::Unfinished),
            (None, _) | (Some(_), Ended::Blocked) => false,
            (Some((answer, _)), Ended::Returned(_, returned)) if answer != returned => false,
            (Some((_, state)), _) => has_order(object, &rest, state),
        }
    })
}

fn is_explained(object: &Object, events: &[Event]) -> bool {
    let blocked: Vec<usize> = (0..events.len()).filter(|&place| events[place].ended == Ended::Blocked).collect();
    let without = |pending: Option<usize>| -> Vec<Event> {
        let is_part = |(place, event): &(usize, &Event)| event.ended != Ended::Blocked || Some(*place) == pending;
        events.iter().enumerate().filter(is_part).map(|(_, event)| event.clone()).collect()
    };
    match blocked.is_empty() {
        true => has_order(object, &without(None), 0),
        false => blocked.iter().all(|&pending| has_order(object, &without(Some(pending)), 0)),
    }
}

/// The verdict of `omnilink lineup`.
fn by_lineup(observations: &Observations, events: &[Event]) -> bool {
    let operation = |event: &Event| match event.ended {
        Ended::Returned(end, answer) => Operation::returned(event.thread, event.start, end, answer.to_string()),
        _ => Operation::pending(event.thread, event.start),
    };
    let operations = events.iter().map(operation).collect();
    let is_stuck = events.iter().any(|event| event.ended == Ended::Blocked);
    let observed = match is_stuck {
        true => Observed::stuck(observations.test(), operations),
        false => Observed::full(observations.test(), operations),
    };
    explain(observations, &observed.expect("an execution")).failure().is_none()
}

/// The verdict of `omnilink check`, or its error.
fn by_check(directory: &Path, events: &[Event]) -> Result<bool, String> {
    let mut trace = String::new();
    for Event { thread, call, start, ended } in events {
        let process = if *thread == Thread::Main { "main".to_owned() } else { format!("T{thread}") };
        let _ = match ended {
            Ended::Returned(end, answer) => writeln!(trace, "{process} [{start} {end}] {call} = {answer}"),
            Ended::Blocked => writeln!(trace, "{process} [{start} ...] {call} blocked"),
            Ended::Unfinished => writeln!(trace, "{process} [{start} ...] {call}"),
        };
    }
    check(directory, &trace).map(|verdict| verdict == "accepted")
}

/// Checks a trace against the file in this directory.
fn check(directory: &Path, trace: &str) -> Result<String, String> {
    let path = directory.join("t.txt");
    std::fs::write(&path, trace).expect("a file");
    let spec = directory.join("object.lineup").display().to_string();
    let verdict = |shortcuts, exhaustive| {
        let options = CheckOptions { shortcuts, exhaustive, ..CheckOptions::default() };
        let judge = Judge::new(&spec, options).expect("serial runs");
        let recording = Recording::at(&path, None);
        let mut order = Vec::new();
        let case = &mut Case { recording: &recording, label: "t", witness: Some(&mut order), limits: &Unlimited };
        match judge.report(case) {
            Ok(report) => {
                assert_eq!(report.verdict == Verdict::Accepted, !order.is_empty());
                Ok(report.verdict.word().to_owned())
            }
            Err(Failed::Input(error)) => Err(error.message),
            Err(failed) => panic!("{failed:?}"),
        }
    };
    let found = verdict(true, false);
    assert_eq!(found, verdict(false, false));
    assert_eq!(found, verdict(true, true));
    found
}

#[test]
fn verdicts_are_those_of_the_definition() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut counts = [0; 4];
    for seed in 0..400 {
        let rng = &mut Rng::with_seed(seed);
        let object = Object::random(rng);
        let shape: &[usize] = [&[1, 1][..], &[2, 1], &[2, 2], &[1, 1, 1], &[2, 1, 1], &[1]][rng.usize(..6)];
        let around = (usize::from(rng.usize(..4) == 0), usize::from(rng.usize(..4) == 0));
        let mut calls = |count: usize| (0..count).map(|_| format!("m{}()", rng.usize(..METHODS))).collect::<Vec<_>>();
        let (before, after) = (calls(around.0), calls(around.1));
        let columns = shape.iter().map(|&count| calls(count)).collect();
        let test = Test::new(before, columns, after).expect("a test");
        let observations = object.observe(&test);
        std::fs::write(directory.path().join("object.lineup"), observations.to_string()).expect("a file");
        for _ in 0..5 {
            let mut events = execute(&object, &test, rng);
            let expected = is_explained(&object, &events);
            let about = format!("seed {seed}, {test}: {events:?}");
            assert_eq!(by_lineup(&observations, &events), expected, "{about}");
            assert_eq!(by_check(directory.path(), &events), Ok(expected), "{about}");
            let has_two = events.iter().filter(|event| event.ended == Ended::Blocked).count() > 1;
            counts[usize::from(expected)] += 1;
            counts[2 + usize::from(expected)] += usize::from(has_two);
            // The program is killed, and the last call of a thread is unfinished. While the main thread makes calls, there
            // are no others.
            let last = events.last().expect("a test has calls").thread;
            let thread = match last {
                Thread::Main => Thread::Main,
                Thread::Column(_) => events[rng.usize(..events.len())].thread,
            };
            let thread = if thread == Thread::Main { last } else { thread };
            let cut = events.iter().rposition(|event| event.thread == thread).expect("an event of this thread");
            events[cut].ended = Ended::Unfinished;
            let expected = is_explained(&object, &events);
            assert_eq!(by_check(directory.path(), &events), Ok(expected), "killed: {about}");
            // Another call.
            let place = rng.usize(..events.len());
            events[place].call = "other()".to_owned();
            assert!(by_check(directory.path(), &events).is_err(), "another call at {place}: {about}");
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "every kind of history occurs: {counts:?}");
}

/// Two blocked calls, each with a serial run of its own.
#[test]
fn each_blocked_call_has_its_own_serial_run() {
    let directory = tempfile::tempdir().expect("a directory");
    // `c` blocks after `a b`, and `d` after `b a`.
    let runs = "observations of a() || b() || c() || d()\n\
        0 a() = 1\n  1 b() = 1\n    2 c() blocks\n    3 d() = 1\n      2 c() blocks\n  2 c() blocks\n  3 d() blocks\n\
        1 b() = 1\n  0 a() = 1\n    3 d() blocks\n    2 c() = 1\n      3 d() blocks\n  2 c() blocks\n  3 d() blocks\n\
        2 c() blocks\n3 d() blocks\n";
    std::fs::write(directory.path().join("object.lineup"), runs).expect("a file");
    let blocked = "T2 [10 ...] c() blocked\nT3 [10 ...] d() blocked\n";
    let check = |others: &str| check(directory.path(), &format!("{others}{blocked}"));
    assert_eq!(check("T0 [1 9] a() = 1\nT1 [1 9] b() = 1\n").as_deref(), Ok("accepted"));
    // The order of the others is known, so only one of the two has a reason to block.
    assert_eq!(check("T0 [1 2] a() = 1\nT1 [3 4] b() = 1\n").as_deref(), Ok("rejected"));
}

#[test]
fn a_trace_of_another_test_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let runs = "observations of c() || d() || a() || b()\n0 c() blocks\n1 d() = 1\n  0 c() blocks\n  2 a() blocks\n  3 b() blocks\n\
        2 a() blocks\n3 b() blocks\n";
    std::fs::write(directory.path().join("object.lineup"), runs).expect("a file");
    let check = |trace: &str| check(directory.path(), trace).unwrap_err();
    insta::assert_snapshot!(check("T0 [1 10] nonsense()\nT1 [1 10] whatever(7)\nT2 [11 ...] zzz() blocked\n"), @"not an execution of the test of object.lineup: call 0 of thread 0 is `nonsense()`, expected `c()`");
    insta::assert_snapshot!(check("T1 [1 2] d() = 1\nT0 [3 ...] c() blocked\nT2 [1 ...] a() blocked\n"), @"not an execution of the test of object.lineup: thread 3 makes 0 of 1 calls, and none of them blocks");
    insta::assert_snapshot!(check("client [1 2] d() = 1\n"), @"not an execution of the test of object.lineup: process `client` is not a thread of the test: expected a number below 4");
}

/// Without all serial runs, a rejection proves nothing.
#[test]
fn serial_runs_that_are_missing_are_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let runs = "observations of add(1) || take()\n0 add(1)\n  1 take() = 1\n1 take() = nil\n  0 add(1)\n";
    let read = |lines: usize| {
        let runs: String = runs.split_inclusive('\n').take(lines).collect();
        let file = directory.path().join("object.lineup");
        std::fs::write(&file, runs).expect("a file");
        Judge::new(&file.display().to_string(), CheckOptions::default()).map(|_| ())
    };
    assert!(read(5).is_ok());
    let mut messages = String::new();
    for lines in 1..5 {
        let Err(Failed::Input(error)) = read(lines) else { panic!("{lines} lines are not all runs") };
        let message = error.message.replace(&directory.path().display().to_string(), "");
        messages += &format!("{lines}: {message}\n");
    }
    insta::assert_snapshot!(messages, @"
    1: /object.lineup: the serial run in which the threads take turns as `01` is missing
    2: /object.lineup: line 2: 1 of 2 operations, and none blocks
    3: /object.lineup: the serial run in which the threads take turns as `10` is missing
    4: /object.lineup: line 4: 1 of 2 operations, and none blocks
    ");
}
