//! Whatever is left out of a search makes no difference to the verdict, and no explanation claims what is not so.

mod common;

use omnilink_history::{Call, History};
use omnilink_report::Consequence;
use omnilink_search::{Assumption, Options, Unwatched};
use omnilink_settings::Settings;
use omnilink_testkit::recording::{Example, corrupt, record};
use omnilink_tla::config;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::link;
use omnilink_tla::resolve::resolve;
use omnilink_tla::strings::Strings;
use omnilink_validate::{Binder, Harvest, ReportBuilder, TraceOp, TraceOutcome, TraceSpec, check, explain, walk};

use common::{Nothing, Silence};

/// Binds a recording of an example to its specification, and looks at it.
fn with_spec<R>(
    example: Example,
    history: &History<Call>,
    look: impl FnOnce(&mut TraceSpec<'_>, &History<TraceOp>) -> R,
) -> R {
    let directory = format!("{}/../../examples/{}", env!("CARGO_MANIFEST_DIR"), example.directory());
    let read = |name: &str| std::fs::read_to_string(format!("{directory}/{name}")).expect("a file of the example");
    let name = match example {
        Example::Queue => "Queue",
        Example::Map => "Map",
        Example::ProducerQueue => "ProducerQueue",
        Example::Snapshot => "Snapshot",
    };
    let mut strings = Strings::default();
    let mut config = config::parse(&read(&format!("{name}.cfg")), &mut strings).expect("a configuration");
    // What bounds exploring must not bound a recording.
    config.constraints.clear();
    let mut module = resolve(name, &read(&format!("{name}.tla")), &mut Nothing, strings).expect("a module");
    let settings = Settings::parse(&read("omnilink.toml")).expect("settings");
    let mut harvest = Harvest::new(&settings, &module);
    for op in history.ops() {
        harvest.add(op, &history.processes()[op.process.index()]);
    }
    harvest.give(&mut module, &mut config).expect("constants");
    let program = link(module, &config, Default::default()).expect("a program");
    let mut machine = Machine::new(&program, Box::new(Silence));
    let binder = Binder::new(&program, &config, &settings, &mut machine).expect("a binder");
    let mut spec = TraceSpec::new(binder, machine);
    let bound = history.try_map(|op| spec.bind(op, history.processes())).expect("operations that can be bound");
    look(&mut spec, &bound)
}

/// A recording of a correct program, or one that was tampered with.
fn recording(example: Example, ops: usize, seed: u64) -> History<Call> {
    let mut trace = record(example, ops, 2 + (seed % 4) as usize, seed);
    if seed % 2 == 1 {
        corrupt(&mut trace, seed);
    }
    History::new(trace).expect("a well-formed recording")
}

fn word(spec: &mut TraceSpec<'_>, history: &History<TraceOp>, by_level: bool, reduce: bool) -> &'static str {
    let options = Options { by_level, reduce, ..Options::default() };
    match check(spec, history, &options, &Unwatched).expect("an answer").outcome {
        TraceOutcome::Accepted(_) => "accepted",
        TraceOutcome::Rejected(_) => "rejected",
        TraceOutcome::Violated(..) => "violated",
        TraceOutcome::Inconclusive(_) => "inconclusive",
    }
}

fn agree(example: Example, ops: usize, seeds: u64) {
    let mut rejected = 0;
    for seed in 0..seeds {
        let history = recording(example, ops, seed);
        with_spec(example, &history, |spec, history| {
            let verdict = word(spec, history, false, true);
            for (by_level, reduce) in [(false, false), (true, true), (true, false)] {
                let other = word(spec, history, by_level, reduce);
                assert_eq!(verdict, other, "{example:?} with seed {seed}: by level: {by_level}, reduce: {reduce}");
            }
            assert!(seed % 2 == 1 || verdict == "accepted", "{example:?} with seed {seed}");
            rejected += u64::from(verdict == "rejected");
        });
    }
    assert!(rejected > seeds / 8, "{example:?}: only {rejected} of {seeds} recordings are rejected");
}

#[test]
fn every_way_to_search_gives_the_same_verdict() {
    agree(Example::Queue, 40, 40);
    agree(Example::Map, 60, 40);
    agree(Example::ProducerQueue, 12, 16);
    agree(Example::Snapshot, 40, 24);
}

#[test]
#[ignore = "takes minutes"]
fn every_way_to_search_gives_the_same_verdict_on_more_and_longer_recordings() {
    agree(Example::Queue, 60, 2_000);
    agree(Example::Map, 200, 2_000);
    agree(Example::ProducerQueue, 14, 400);
    agree(Example::Snapshot, 80, 1_000);
}

/// What an explanation says would be accepted without the blocked operation is accepted without it, and so on.
#[test]
fn what_is_assumed_is_checked() {
    let options = Options::default();
    let mut checked = 0;
    for seed in 0..60 {
        let example = Example::ALL[seed as usize % 2];
        let history = recording(example, 60, 2 * seed + 1);
        with_spec(example, &history, |spec, bound| {
            let found = check(spec, bound, &options, &Unwatched).expect("an answer");
            let TraceOutcome::Rejected(stuck) = &found.outcome else { return };
            let mut report_builder = ReportBuilder::default();
            let rejection = explain(spec, bound, &options, stuck, &found.checkpoint, &Unwatched, &mut report_builder);
            let goal = stuck.blocked[0];
            let dropped = bound.try_map(|op| Ok::<_, ()>((op.id != goal).then(|| op.call.clone()))).expect("a history");
            let omnilink_report::Evidence::Stuck(evidence) = &rejection.evidence else {
                panic!("seed {seed}: not stuck")
            };
            let claimed =
                evidence.what_ifs.iter().find(|answer| answer.assumption == omnilink_report::Assumption::Dropped);
            let really = check(spec, &dropped, &options, &Unwatched).expect("an answer").outcome;
            match (&claimed.expect("an answer").outcome, really) {
                (Consequence::Accepted, TraceOutcome::Accepted(_)) => {}
                (Consequence::Rejected { blocked, explained }, TraceOutcome::Rejected(really)) => {
                    let blocked = blocked.map(|op| report_builder.mentioned()[op.0]);
                    assert_eq!(blocked, really.blocked.first().copied(), "seed {seed}");
                    // Operations that end at the same instant may return in any order.
                    let end = bound.op(blocked.expect("an operation that is blocked")).interval.deadline();
                    let ties = bound.ops().iter().filter(|op| op.interval.deadline() == end).count() as u64 - 1;
                    assert!(explained.abs_diff(really.explained) <= ties, "seed {seed}: {explained} explained");
                }
                (claimed, really) => panic!("seed {seed}: {claimed:?} is claimed, and it is {really:?}"),
            }
            let window = rejection.window().expect("a window");
            assert!(window.operations.contains(&rejection.blocked[0]), "seed {seed}");
            checked += 1;
        });
    }
    assert!(checked > 20, "only {checked} explanations were looked at");
}

/// A route that was found leads to its claimed state, and is found again when part of it is assumed.
#[test]
fn ways_can_be_followed_and_assumed() {
    let options = Options::default();
    let (mut followed, mut assumed) = (0, 0);
    for seed in 0..40 {
        let example = Example::ALL[seed as usize % Example::ALL.len()];
        let history = recording(example, 30, seed);
        with_spec(example, &history, |spec, bound| {
            let found = check(spec, bound, &options, &Unwatched).expect("an answer");
            let route = found.route(usize::MAX);
            let walked = walk(spec, bound, &route, found.ignores_invariants(), None, usize::MAX)
                .expect("a way that can be gone");
            if let TraceOutcome::Rejected(stuck) = &found.outcome {
                for (states, stuck) in walked.endings.iter().zip(&stuck.stuck) {
                    let last = states.last().or(walked.states.back()).expect("a state");
                    assert_eq!(last, &stuck.state, "{example:?} with seed {seed}");
                    followed += 1;
                }
                return;
            }
            let [.., first, second] = route.common[..] else { return };
            // An operation of several steps may have begun before the other, or be both.
            let steps = |op| route.common.iter().filter(|placed| placed.op == op).count();
            if steps(first.op) > 1 || steps(second.op) > 1 {
                return;
            }
            let last = walked.states.back().expect("a state");
            let id = spec.show(&last.values).id;
            spec.assume(vec![Assumption::Before(first.op, second.op), Assumption::LeadsTo(second.op, id.clone())]);
            let found = check(spec, bound, &options, &Unwatched).expect("an answer");
            assert!(matches!(found.outcome, TraceOutcome::Accepted(_)), "{example:?} with seed {seed}");
            let route = found.route(1);
            let again = walk(spec, bound, &route, found.ignores_invariants(), None, usize::MAX);
            let again = again.expect("a way that can be gone");
            let place = route.common.iter().position(|placed| placed.op == second.op).expect("a step");
            assert_eq!(spec.show(&again.states[place + 1].values).id, id, "{example:?} with seed {seed}");
            spec.assume(vec![Assumption::Before(second.op, first.op), Assumption::Before(first.op, second.op)]);
            let found = check(spec, bound, &options, &Unwatched).expect("an answer");
            assert!(matches!(found.outcome, TraceOutcome::Rejected(_)), "{example:?} with seed {seed}");
            assumed += 1;
        });
    }
    assert!(followed > 10 && assumed > 10, "{followed} ways followed and {assumed} assumed are enough");
}
