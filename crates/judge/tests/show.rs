//! Inspections agree with the reports of checks.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use omnilink_history::Stop;
use omnilink_judge::{
    Assumption, Case, CheckOptions, Failed, Inspection, Judge, Limits, Recording, ShowOptions, Stage, Unlimited, is_tla,
};
use omnilink_report::State;
use omnilink_search::Stats;

/// Reaches its limit once there is a verdict.
#[derive(Default)]
struct Late {
    has_verdict: AtomicBool,
}

impl Limits for Late {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        None
    }

    fn exceeded(&self) -> Option<Stop> {
        self.has_verdict.load(Ordering::Relaxed).then_some(Stop::Time)
    }

    fn reached(&self, stage: Stage, _: u64) {
        self.has_verdict.fetch_or(stage == Stage::Explaining, Ordering::Relaxed);
    }
}

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

fn judge(spec: &str, assume: &[&str]) -> Judge {
    let assume = assume.iter().map(|text| text.parse().expect("an assumption")).collect();
    let spec = if is_tla(Path::new(spec)) { example(spec).display().to_string() } else { spec.to_owned() };
    Judge::new(&spec, CheckOptions { assume, ..CheckOptions::default() }).expect("a specification")
}

/// Decides by searching alone: a procedure gives no states.
fn searching(spec: &str) -> Judge {
    let spec = if is_tla(Path::new(spec)) { example(spec).display().to_string() } else { spec.to_owned() };
    Judge::new(&spec, CheckOptions { shortcuts: false, ..CheckOptions::default() }).expect("a specification")
}

fn show(judge: &Judge, trace: &str, look: &ShowOptions) -> Result<Inspection, String> {
    let path = example(trace);
    let shown = judge.show(
        &mut Case { recording: &Recording::at(&path, None), label: trace, witness: None, limits: &Unlimited },
        look,
    );
    shown.map_err(|failed| match failed {
        Failed::Input(error) => error.message,
        Failed::Spec(complaints) => complaints[0].message.clone(),
        Failed::Stopped(stop) => stop.to_string(),
    })
}

fn values(state: &State) -> String {
    let field = |field: &omnilink_report::Field| match field.name.as_str() {
        "" => field.value.clone(),
        name => format!("{name} = {}", field.value),
    };
    state.variables.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// The verdict, the steps that all orders have in common with the states after them, and how orders go on.
fn story(shown: &Inspection) -> String {
    let Inspection { report, timeline, .. } = shown;
    let mut text = format!("{}\n", report.verdict.word());
    let name = |op: u32| {
        let entry = &timeline.operations[op as usize];
        format!("{} {}", timeline.name(entry), timeline.text(entry))
    };
    let first = timeline.until + 1 - timeline.states.len();
    for (place, state) in timeline.states.iter().enumerate() {
        let step = (first + place).checked_sub(1).map_or("at first".into(), |step| name(timeline.order[step].op));
        writeln!(text, "{step}: {}", values(state)).expect("text");
    }
    for ending in &timeline.endings {
        let step =
            |(step, state): (&omnilink_report::Placement, &State)| format!("{}: {}", name(step.op), values(state));
        let steps: Vec<String> = ending.steps.iter().zip(&ending.states).map(step).collect();
        writeln!(text, "  or {}", steps.join("; ")).expect("text");
    }
    text
}

#[test]
fn a_rejected_history_is_shown_up_to_its_failure() {
    let queue = judge("queue/Queue.tla", &[]);
    let look =
        ShowOptions { watch: vec!["Len(queue)".into(), "Head(queue)".into()], states: 3, ..ShowOptions::default() };
    let mut shown = show(&queue, "queue/traces/early-return.jsonl", &look).expect("a report");
    insta::assert_snapshot!(story(&shown), @r"
    rejected
    T0:4 Enqueue(elem: 4): queue = <<4>>, Len(queue) = 1, Head(queue) = 4
    T3:0 Dequeue() = elem: 4: queue = <<>>, Len(queue) = 0, Head(queue) = (no value: `Head` was applied to the empty sequence)
    T1:4 Enqueue(elem: 5): queue = <<5>>, Len(queue) = 1, Head(queue) = 5
      or
    ");
    for (operation, &place) in shown.report.operations.iter().zip(&shown.timeline.mentioned) {
        let entry = &shown.timeline.operations[place];
        assert_eq!(operation.name, shown.timeline.name(entry));
        assert_eq!(operation.text, shown.timeline.text(entry));
        assert_eq!((operation.start, operation.end), (entry.start, entry.end));
    }
    let path = example("queue/traces/early-return.jsonl");
    let case = Case { recording: &Recording::at(&path, None), label: "", witness: None, limits: &Unlimited };
    queue.walk(&case, &mut shown, &ShowOptions { until: Some(1), states: 1, watch: Vec::new() }).expect("states");
    insta::assert_snapshot!(story(&shown), @r"
    rejected
    T1:0 DequeueEmpty(): queue = <<>>
      or
    ");
}

#[test]
fn the_states_that_are_shown_last_are_those_that_a_rejection_speaks_of() {
    for (spec, traces) in [("queue/Queue.tla", "queue/traces"), ("map/Map.tla", "map/traces"), ("register", "")] {
        let judge = searching(spec);
        let mut rejected = 0;
        for trace in std::fs::read_dir(example(traces)).expect("traces") {
            let trace = trace.expect("a trace").path();
            let Ok(shown) = show(&judge, &trace.display().to_string(), &ShowOptions::default()) else { continue };
            let Some(stuck) = shown.report.stuck() else { continue };
            for (ending, interpretation) in shown.timeline.endings.iter().zip(&stuck.interpretations) {
                let last = ending.states.last().or(shown.timeline.states.last()).expect("a state");
                assert_eq!(last, &stuck.states[interpretation.state], "{}", trace.display());
                rejected += 1;
            }
        }
        assert!(rejected > 0, "{spec}: nothing was rejected");
    }
}

#[test]
fn an_accepted_history_is_shown_and_widths_are_known() {
    let few = ShowOptions { states: 3, ..ShowOptions::default() };
    let shown = show(&judge("queue/Queue.tla", &[]), "queue/traces/overlapping.jsonl", &few).expect("a report");
    insta::assert_snapshot!(story(&shown), @r"
    accepted
    T0:7 Enqueue(elem: 9): queue = <<8, 9>>
    T3:3 Dequeue() = elem: 8: queue = <<9>>
    T3:4 Dequeue() = elem: 9: queue = <<>>
    ");
    assert_eq!(shown.timeline.widths.len(), shown.timeline.operations.len());
    assert!(shown.timeline.widths.iter().all(|width| *width > 0), "{:?}", shown.timeline.widths);
    assert_eq!(shown.timeline.actions, ["Enqueue", "Dequeue", "DequeueEmpty"]);
    let shown = show(&judge("queue", &[]), "queue.jsonl", &ShowOptions::default()).expect("a report");
    insta::assert_snapshot!(story(&shown), @r"
    accepted
    at first: <<>>
    T1:0 enqueue(2): <<2>>
    T0:0 enqueue(1): <<2, 1>>
    T0:1 dequeue() = 2: <<1>>
    T1:1 dequeue() = 1: <<>>
    ");
}

#[test]
fn assumptions_leave_fewer_orders() {
    let few = ShowOptions { states: 3, ..ShowOptions::default() };
    let story_of = |spec: &str, trace: &str, assume: &[&str]| match show(&judge(spec, assume), trace, &few) {
        Ok(shown) => format!("{}{}", story(&shown), shown.report.notes.join("\n")),
        Err(error) => error,
    };
    insta::assert_snapshot!(story_of("queue", "queue.jsonl", &["T0:0 < T1:0"]), @r"
    accepted
    T1:0 enqueue(2): <<1, 2>>
    T1:1 dequeue() = 1: <<2>>
    T0:1 dequeue() = 2: <<>>
    the verdict covers only orders consistent with: `T0:0 < T1:0`
    ");
    insta::assert_snapshot!(story_of("queue", "queue.jsonl", &["T1:0 < T0:0"]), @r"
    accepted
    T0:0 enqueue(1): <<2, 1>>
    T0:1 dequeue() = 2: <<1>>
    T1:1 dequeue() = 1: <<>>
    the verdict covers only orders consistent with: `T1:0 < T0:0`
    ");
    insta::assert_snapshot!(story_of("queue", "queue.jsonl", &["T9:0 < T0:0"]), @"the history has no operation `T9:0` that could have had an effect");
    insta::assert_snapshot!(story_of("queue/Queue.tla", "queue/traces/overlapping.jsonl", &["T1:0 < T0:0"]), @r"
    accepted
    T0:7 Enqueue(elem: 9): queue = <<8, 9>>
    T3:3 Dequeue() = elem: 8: queue = <<9>>
    T3:4 Dequeue() = elem: 9: queue = <<>>
    the verdict covers only orders consistent with: `T1:0 < T0:0`
    ");
    let wrong = |text: &str| text.parse::<Assumption>().unwrap_err();
    insta::assert_snapshot!(wrong("T1:0 > T0:0"), @"expected `T0:12 < T3:7`, or `T3:7 = 1a2b3c4d5e6f` for the state after it");
    insta::assert_snapshot!(wrong("T1:0 = zz"), @"`zz` is not a state fingerprint (6 to 12 hex digits)");
    insta::assert_snapshot!(wrong("T1:0 < T1:0"), @"an operation cannot precede itself");
    assert_eq!("T1:0<T0:0".parse::<Assumption>().unwrap().to_string(), "T1:0 < T0:0");
    assert_eq!("T1:0 = 0A1b2c".parse::<Assumption>().unwrap().to_string(), "T1:0 = 0a1b2c");
}

#[test]
fn an_expression_that_means_nothing_is_refused() {
    let wrong = |spec: &str, trace: &str, expression: &str| {
        let look = ShowOptions { watch: vec![expression.into()], ..ShowOptions::default() };
        show(&judge(spec, &[]), trace, &look).unwrap_err()
    };
    insta::assert_snapshot!(wrong("queue/Queue.tla", "queue/traces/overlapping.jsonl", "Len(que)"), @"`que` is not defined");
    insta::assert_snapshot!(wrong("queue", "queue.jsonl", "1 + 1"), @"unsupported: expressions can be evaluated in states of TLA+ specifications only");
}

#[test]
fn failures_that_are_known_have_tags() {
    let settings = std::fs::read_to_string(example("queue/omnilink.toml")).expect("settings");
    let tags =
        "[tags]\nfull = 'Len(queue) > 3'\nshort = 'Len(queue) < 3'\nstrange = 'Len(queue)'\nworse = 'Head(<<>>)'\n";
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{settings}\n{tags}")).expect("settings");
    let options = CheckOptions { settings: Some(file.path().to_owned()), ..CheckOptions::default() };
    let queue = Judge::new(&example("queue/Queue.tla").display().to_string(), options).expect("a specification");
    let shown = show(&queue, "queue/traces/early-return.jsonl", &ShowOptions::default()).expect("a report");
    assert_eq!(shown.report.tags, ["short"]);
    insta::assert_snapshot!(shown.report.notes.join("\n"), @r"
    known failure: `short`
    the tag `strange` is 1, neither TRUE nor FALSE
    the tag `worse` has no value: `Head` was applied to the empty sequence
    ");
    let shown = show(&queue, "queue/traces/overlapping.jsonl", &ShowOptions::default()).expect("a report");
    assert!(shown.report.tags.is_empty() && shown.report.notes.is_empty());
}

#[test]
fn a_verdict_stands_whatever_there_is_time_to_show() {
    let path = example("queue/traces/early-return.jsonl");
    let late = Late::default();
    let case = &mut Case { recording: &Recording::at(&path, None), label: "", witness: None, limits: &late };
    let shown = judge("queue/Queue.tla", &[]).show(case, &ShowOptions::default()).expect("a report");
    assert_eq!(shown.report.verdict.word(), "rejected");
    assert!(shown.timeline.states.is_empty() && !shown.timeline.order.is_empty());
    insta::assert_snapshot!(shown.report.notes.join("\n"), @r"
    the explanation is not complete: the time limit was reached
    intermediate states are not shown: the time limit was reached
    ");
}

#[test]
fn what_is_assumed_is_to_blame_for_what_it_forbids() {
    let why = |spec: &str, trace: &str, assume: &[&str]| {
        let shown = show(&judge(spec, assume), trace, &ShowOptions::default()).expect("a report");
        let Some(stuck) = shown.report.stuck() else { panic!("{}", shown.report.verdict.word()) };
        let words = stuck.reasons.iter().filter_map(|reason| match &reason.why {
            omnilink_report::Why::Words { text } => Some(format!("{}: {text}", shown.report.op(reason.op).name)),
            _ => None,
        });
        words.collect::<Vec<_>>().join("; ")
    };
    let both = ["T0:0 < T1:0", "T1:0 < T0:0"];
    insta::assert_snapshot!(why("queue", "queue.jsonl", &both), @"T0:0: another operation is assumed to come first; T1:0: another operation is assumed to come first");
    insta::assert_snapshot!(why("queue/Queue.tla", "queue/traces/overlapping.jsonl", &["T0:0 = 0123456789ab"]), @"T0:0: it is assumed to lead to another state");
}
