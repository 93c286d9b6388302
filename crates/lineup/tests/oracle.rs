//! Verdicts and failures, compared with their definitions on random objects.
//!
//! An object is a random table: for each state and method an answer and a next state, or that the call blocks. The
//! oracle computes every serial run by trying every order of operations, and applies the definitions to them one by
//! one. Nothing here uses the search.

use std::collections::BTreeSet;

use fastrand::Rng;
use omnilink_lineup::{
    Answer, Closest, Explanation, Observations, Observed, Operation, Place, SerialRun, Test, Thread, explain, headline,
};

const METHODS: usize = 3;
const OBJECTS: usize = 2_500;
const HISTORIES: usize = 10;

/// For each state and method an answer and the next state, or `None` if the call blocks.
struct Object(Vec<[Option<(String, usize)>; METHODS]>);

impl Object {
    fn random(rng: &mut Rng) -> Object {
        let states = rng.usize(2..=4);
        let blocks = rng.usize(0..4);
        let mut row = || {
            std::array::from_fn(|_| {
                let answer = ["", "1", "2"][rng.usize(..3)].to_owned();
                (rng.usize(..10) >= blocks).then(|| (answer, rng.usize(..states)))
            })
        };
        Object((0..states).map(|_| row()).collect())
    }

    fn call(&self, state: usize, call: &str) -> Option<(String, usize)> {
        self.0[state][call[1..2].parse::<usize>().expect("a method's number")].clone()
    }
}

fn random_test(rng: &mut Rng) -> Test {
    let shape: &[usize] = [&[1, 1][..], &[2, 1], &[2, 2], &[1, 1, 1], &[2, 1, 1], &[3, 2]][rng.usize(..6)];
    let (before, after) = (usize::from(rng.usize(..3) == 0), usize::from(rng.usize(..3) == 0));
    let mut calls =
        |count: usize| -> Vec<String> { (0..count).map(|_| format!("m{}()", rng.usize(..METHODS))).collect() };
    let (before, after) = (calls(before), calls(after));
    let columns = shape.iter().map(|&count| calls(count));
    Test::new(before, columns.collect(), after).expect("a test")
}

/// A run as the oracle sees it.
type Run = Vec<(Place, Answer)>;

/// The operations of a test, and whether one must come before another in a serial run.
fn places(test: &Test) -> Vec<Place> {
    let column = |(column, calls): (u8, &Vec<String>)| {
        (0..calls.len()).map(move |index| Place { thread: Thread::Column(column), index }).collect::<Vec<_>>()
    };
    let main = (0..test.before().len() + test.after().len()).map(|index| Place { thread: Thread::Main, index });
    main.chain((0..).zip(test.columns()).flat_map(column)).collect()
}

fn comes_before(test: &Test, a: Place, b: Place) -> bool {
    let is_before = |place: Place| place.thread == Thread::Main && place.index < test.before().len();
    let is_after = |place: Place| place.thread == Thread::Main && place.index >= test.before().len();
    (a.thread == b.thread && a.index < b.index) || (is_before(a) && !is_before(b)) || (!is_after(a) && is_after(b))
}

/// Every serial run, full or stuck, in every order of the operations.
fn serial_runs(object: &Object, test: &Test) -> BTreeSet<Run> {
    fn extend(object: &Object, test: &Test, left: &[Place], state: usize, run: &mut Run, runs: &mut BTreeSet<Run>) {
        if left.is_empty() {
            runs.insert(run.clone());
        }
        for &next in left {
            if left.iter().any(|&other| other != next && comes_before(test, other, next)) {
                continue;
            }
            let rest: Vec<Place> = left.iter().copied().filter(|other| *other != next).collect();
            match object.call(state, test.call(next)) {
                Some((answer, state)) => {
                    run.push((next, Answer::Returned(answer)));
                    extend(object, test, &rest, state, run, runs);
                    run.pop();
                }
                None => {
                    run.push((next, Answer::Blocked));
                    runs.insert(run.clone());
                    run.pop();
                }
            }
        }
    }
    let mut runs = BTreeSet::new();
    extend(object, test, &places(test), 0, &mut Vec::new(), &mut runs);
    runs
}

/// Runs the missing orders, as a driver does.
fn observe(object: &Object, test: &Test) -> Observations {
    let mut observations = Observations::new(test.clone());
    loop {
        let orders = observations.missing(7);
        if orders.is_empty() {
            return observations;
        }
        for order in orders {
            let main = |count: usize| vec![Thread::Main; count];
            let columns = order.threads().iter().map(|&column| Thread::Column(column)).collect();
            let threads = [main(test.before().len()), columns, main(test.after().len())].concat();
            let (mut state, mut steps) = (0, Vec::<(Thread, Answer)>::new());
            for thread in threads {
                let index = steps.iter().filter(|(other, _)| *other == thread).count();
                let Some((answer, next)) = object.call(state, test.call(Place { thread, index })) else {
                    steps.push((thread, Answer::Blocked));
                    break;
                };
                steps.push((thread, Answer::Returned(answer)));
                state = next;
            }
            observations.insert(&SerialRun { steps }).expect("a deterministic object");
        }
    }
}

/// An operation of a history with its place.
#[derive(Clone, Debug)]
struct Event {
    place: Place,
    start: u64,
    end: Option<u64>,
    answer: Answer,
}

impl Event {
    fn precedes(&self, other: &Event) -> bool {
        let in_thread = self.place.thread == other.place.thread && self.place.index < other.place.index;
        in_thread || self.end.is_some_and(|end| end < other.start)
    }
}

/// A random concurrent execution: each thread calls, takes effect once the object lets it, and returns.
fn execute(object: &Object, test: &Test, rng: &mut Rng) -> Vec<Event> {
    let (mut events, mut state, mut time) = (Vec::<Event>::new(), 0, 0);
    let columns = (0..test.columns().len() as u8).map(Thread::Column).collect();
    let (before, all) = (test.before().len(), test.before().len() + test.after().len());
    for (threads, main_calls) in [(vec![Thread::Main], before), (columns, 0), (vec![Thread::Main], all)] {
        let mut threads: Vec<Thread> = threads;
        while !threads.is_empty() {
            time += 1;
            let chosen = rng.usize(..threads.len());
            let thread = threads[chosen];
            let of_thread = |event: &&mut Event| event.place.thread == thread && event.end.is_none();
            let open = events.iter_mut().find(of_thread);
            match open {
                Some(event) if event.answer == Answer::Blocked => {
                    match object.call(state, test.call(event.place)) {
                        Some((answer, next)) => {
                            (event.answer, state) = (Answer::Returned(answer), next);
                        }
                        None => {
                            // Stuck if no thread can go on from here.
                            let can_go_on = |thread: &Thread| {
                                events
                                    .iter()
                                    .find(|event| event.place.thread == *thread && event.end.is_none())
                                    .is_none_or(|event| {
                                        event.answer != Answer::Blocked
                                            || object.call(state, test.call(event.place)).is_some()
                                    })
                            };
                            if !threads.iter().any(can_go_on) {
                                return events;
                            }
                        }
                    }
                }
                Some(event) => event.end = Some(time),
                None => {
                    let index = events.iter().filter(|event| event.place.thread == thread).count();
                    let count = if thread == Thread::Main { main_calls } else { test.calls(thread).count() };
                    if index == count {
                        threads.remove(chosen);
                    } else {
                        let place = Place { thread, index };
                        events.push(Event { place, start: time, end: None, answer: Answer::Blocked });
                    }
                }
            }
        }
    }
    events
}

/// Changes something that an incorrect object could do.
fn corrupt(events: &mut [Event], rng: &mut Rng) {
    if events.is_empty() {
        return;
    }
    match rng.usize(..10) {
        0..4 => {
            let changed = rng.usize(..events.len());
            if events[changed].end.is_some() {
                events[changed].answer = Answer::Returned(["", "1", "2", "3"][rng.usize(..4)].to_owned());
            }
        }
        4..7 => {
            // The last operation of a thread is never woken.
            let chosen = rng.usize(..events.len());
            let place = events[chosen].place;
            if place.thread != Thread::Main && !events.iter().any(|event| event.place.thread == Thread::Main) {
                let last = events.iter_mut().filter(|event| event.place.thread == place.thread).max_by_key(|e| e.place);
                let last = last.expect("an operation of its thread");
                (last.end, last.answer) = (None, Answer::Blocked);
            }
        }
        _ => {
            // A coarse clock, or an early return.
            let coarse = rng.bool();
            for event in events {
                if coarse {
                    (event.start, event.end) = (event.start / 2, event.end.map(|end| end / 2));
                } else {
                    event.end = event.end.map(|end| event.start.max(end.saturating_sub(1)));
                }
            }
        }
    }
}

fn observed(test: &Test, events: &[Event]) -> Observed {
    let operation = |event: &Event| Operation {
        thread: event.place.thread,
        start: event.start,
        returned: event.end.map(|end| match &event.answer {
            Answer::Returned(results) => (end, results.clone()),
            Answer::Blocked => unreachable!("a returned operation has an answer"),
        }),
    };
    let operations = events.iter().map(operation).collect();
    let is_stuck = events.iter().any(|event| event.end.is_none());
    if is_stuck { Observed::stuck(test, operations) } else { Observed::full(test, operations) }
        .expect("a well formed execution")
}

/// True if a run places no operation before one that precedes it.
fn respects_time(run: &Run, events: &[Event]) -> bool {
    let event = |place: Place| events.iter().find(|event| event.place == place);
    run.iter().enumerate().all(|(position, (place, _))| {
        let Some(placed) = event(*place) else { return false };
        let is_earlier = |other: &Event| run[..position].iter().any(|(earlier, _)| *earlier == other.place);
        events.iter().all(|other| !other.precedes(placed) || is_earlier(other))
    })
}

fn agreeing(run: &Run, events: &[Event]) -> usize {
    run.iter().filter(|(place, answer)| events.iter().any(|e| e.place == *place && e.answer == *answer)).count()
}

/// True if a run has exactly these operations, with these answers, in an order that respects time.
fn is_witness(run: &Run, events: &[Event]) -> bool {
    run.len() == events.len() && agreeing(run, events) == events.len() && respects_time(run, events)
}

/// The events without pending operations other than one.
fn without_others(events: &[Event], pending: Option<Place>) -> Vec<Event> {
    events.iter().filter(|event| event.end.is_some() || Some(event.place) == pending).cloned().collect()
}

/// Every serial run that contains these events only, and all of them unless one blocks; a pending operation is last.
fn candidates(runs: &BTreeSet<Run>, events: &[Event]) -> BTreeSet<Run> {
    let prefixes = runs.iter().flat_map(|run| (0..=run.len()).map(|length| run[..length].to_vec()));
    let is_pending = |place: &Place| events.iter().any(|event| event.place == *place && event.end.is_none());
    let fits = |run: &Run| {
        let is_over = run.len() == events.len() || matches!(run.last(), Some((_, Answer::Blocked)));
        let is_last = |position: usize| position + 1 == events.len();
        let pending_last = run.iter().enumerate().all(|(position, (place, _))| !is_pending(place) || is_last(position));
        is_over && pending_last && respects_time(run, events)
    };
    prefixes.filter(fits).collect()
}

#[derive(Default)]
struct Tally {
    full: [usize; 2],
    stuck: [usize; 2],
    equal: usize,
    unequal: usize,
    sentences: BTreeSet<String>,
}

fn compare(observations: &Observations, runs: &BTreeSet<Run>, events: &[Event], tally: &mut Tally) {
    let test = observations.test();
    let pending: Vec<Place> = events.iter().filter(|event| event.end.is_none()).map(|event| event.place).collect();
    let has_witness = |events: &[Event], is_stuck: bool| {
        runs.iter().any(|run| is_witness(run, events) && matches!(run.last(), Some((_, Answer::Blocked))) == is_stuck)
    };
    let expected = match pending.is_empty() {
        true => has_witness(events, false),
        false => pending.iter().all(|&place| has_witness(&without_others(events, Some(place)), true)),
    };
    let counts = if pending.is_empty() { &mut tally.full } else { &mut tally.stuck };
    counts[usize::from(expected)] += 1;

    let explanation = explain(observations, &observed(test, events));
    let context = || format!("{observations}{events:?}\n{explanation:?}");
    let plain = |run: &SerialRun| run.operations().map(|(place, answer)| (place, answer.clone())).collect::<Run>();
    match &explanation {
        Explanation::Witnessed(witnesses) => {
            assert!(expected, "{}", context());
            let mut parts: Vec<Option<Place>> = observed(test, events).pending().map(Some).collect();
            if parts.is_empty() {
                parts.push(None);
            }
            assert_eq!(witnesses.len(), parts.len());
            for (witness, pending) in witnesses.iter().zip(parts) {
                assert!(runs.contains(&plain(witness)), "{}", context());
                assert!(is_witness(&plain(witness), &without_others(events, pending)), "{}", context());
            }
        }
        Explanation::Unwitnessed(failure) => {
            assert!(!expected, "{}", context());
            assert_eq!(failure.is_stuck, !pending.is_empty());
            let part = without_others(events, failure.pending);
            let all = candidates(runs, &part);
            let most = all.iter().map(|run| agreeing(run, &part)).max().expect("an order that fits");
            assert_eq!(failure.agreeing, most, "{}", context());
            assert!(most < part.len(), "{}", context());
            if !pending.is_empty() {
                // The pending operation is to blame exactly if the answers of the others are possible.
                let returned = without_others(events, None);
                let is_possible = candidates(runs, &returned).iter().any(|run| is_witness(run, &returned));
                assert_eq!(failure.pending.is_some(), is_possible, "{}", context());
            }
            // The closest runs are the best ones, best first, and say where they differ.
            let mut ranks: Vec<usize> = all.iter().map(|run| agreeing(run, &part)).collect();
            ranks.sort_unstable_by(|a, b| b.cmp(a));
            ranks.truncate(3);
            let rank = |closest: &Closest| agreeing(&plain(&closest.run), &part);
            assert_eq!(failure.closest.iter().map(rank).collect::<Vec<_>>(), ranks, "{}", context());
            let different: BTreeSet<&SerialRun> = failure.closest.iter().map(|closest| &closest.run).collect();
            assert_eq!(different.len(), ranks.len());
            for closest in &failure.closest {
                let run = plain(&closest.run);
                assert!(all.contains(&run), "{}", context());
                assert_eq!(run.len() - closest.differing.len(), agreeing(&run, &part), "{}", context());
                for differing in &closest.differing {
                    assert!(run.contains(&(differing.place, differing.serial.clone())), "{}", context());
                    assert!(part.iter().any(|e| e.place == differing.place && e.answer == differing.observed));
                    assert_ne!(differing.serial, differing.observed);
                }
            }
            // The facts that the sentence states.
            let answer_in =
                |run: &Run, place: Place| run.iter().find(|step| step.0 == place).map(|step| step.1.clone());
            assert_eq!(failure.answers.len(), part.len());
            for answers in &failure.answers {
                let always: BTreeSet<Answer> = all.iter().filter_map(|run| answer_in(run, answers.place)).collect();
                assert_eq!(answers.always, always, "{}", context());
                let is_reached = all.iter().all(|run| answer_in(run, answers.place).is_some());
                assert_eq!(answers.is_reached, is_reached, "{}", context());
                let others: Vec<Event> = part.iter().filter(|event| event.place != answers.place).cloned().collect();
                let agree = |run: &&Run| run.len() == part.len() && agreeing(run, &others) == others.len();
                let otherwise = all.iter().filter(agree).filter_map(|run| answer_in(run, answers.place)).collect();
                assert_eq!(answers.otherwise_agreeing, otherwise, "{}", context());
            }
            tally.sentences.insert(headline(test, failure));
        }
    }
}

/// Executions are equal exactly if answers are, and the same operations returned before others were called.
fn compare_equality(test: &Test, a: &[Event], b: &[Event], tally: &mut Tally) {
    let facts = |events: &[Event]| {
        let mut events = events.to_vec();
        events.sort_by_key(|event| event.place);
        let before = |event: &Event| {
            events.iter().map(|other| other.end.is_some_and(|end| end < event.start)).collect::<Vec<_>>()
        };
        events.iter().map(|event| (event.place, event.answer.clone(), before(event))).collect::<Vec<_>>()
    };
    let is_equal = facts(a) == facts(b);
    assert_eq!(observed(test, a) == observed(test, b), is_equal, "{a:?}\n{b:?}");
    *if is_equal { &mut tally.equal } else { &mut tally.unequal } += 1;
}

#[test]
fn verdicts_are_those_of_the_definitions() {
    let mut rng = Rng::with_seed(2010);
    let mut tally = Tally::default();
    for _ in 0..OBJECTS {
        let (object, test) = (Object::random(&mut rng), random_test(&mut rng));
        let runs = serial_runs(&object, &test);
        let observations = observe(&object, &test);
        assert!(observations.is_complete());
        let stuck = runs.iter().filter(|run| matches!(run.last(), Some((_, Answer::Blocked)))).count();
        assert_eq!((observations.full(), observations.stuck()), (runs.len() - stuck, stuck));
        let again: Observations = observations.to_string().parse().unwrap();
        assert_eq!(again.runs(), observations.runs());
        let mut last: Option<Vec<Event>> = None;
        for _ in 0..HISTORIES {
            let mut events = execute(&object, &test, &mut rng);
            if rng.usize(..4) > 0 {
                corrupt(&mut events, &mut rng);
            }
            compare(&observations, &runs, &events, &mut tally);
            if let Some(last) = &last {
                compare_equality(&test, last, &events, &mut tally);
            }
            last = Some(events);
        }
    }
    for [rejected, accepted] in [tally.full, tally.stuck] {
        let all = rejected + accepted;
        assert!(all >= 4_000, "{:?} {:?}", tally.full, tally.stuck);
        assert!(5 * rejected >= all && 5 * accepted >= all, "{:?} {:?}", tally.full, tally.stuck);
    }
    assert!(tally.full.iter().chain(&tally.stuck).sum::<usize>() >= 20_000);
    assert!(tally.equal >= 500 && tally.unequal >= 500, "{} {}", tally.equal, tally.unequal);
    assert!(tally.sentences.len() >= 100);
}
