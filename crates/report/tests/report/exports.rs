//! Histories for other programs: each export keeps the rules of its format.

use std::collections::HashMap;

use omnilink_report::*;
use serde_json::{Value, json};

use crate::samples;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn state(id: &str, queue: &str) -> State {
    State { id: id.into(), variables: vec![Field { name: "queue".into(), value: queue.into() }] }
}

/// The operations of a report as a timeline, with two interpretations of what the queue holds.
fn timeline(report: &Report) -> Timeline {
    let mut timeline = Timeline { mentioned: (0..report.operations.len()).collect(), ..Timeline::default() };
    for op in &report.operations {
        let process = timeline.processes.iter().position(|name| *name == op.process).unwrap_or_else(|| {
            timeline.processes.push(op.process.clone());
            timeline.processes.len() - 1
        });
        let shape = Shape {
            action: op.action.clone(),
            args: words(&["elem"]),
            results: vec![],
            meta: words(&["node"]),
            pieces: vec![format!("{}(", op.action), ")".into()],
        };
        let place = timeline.shapes.iter().position(|known| *known == shape).unwrap_or_else(|| {
            timeline.shapes.push(shape);
            timeline.shapes.len() - 1
        });
        let index = op.name.rsplit(':').next().and_then(|index| index.parse().ok()).unwrap_or_default();
        timeline.operations.push(Entry {
            process: process as u32,
            index,
            shape: place as u32,
            values: timeline.values.len(),
            start: op.start,
            end: op.end,
        });
        timeline.texts.extend(op.args.iter().chain(&op.results).take(1).map(|field| field.value.clone()));
        timeline.values.extend([Datum::Text(timeline.texts.len() as u32 - 1), Datum::Number(7)]);
    }
    timeline
}

fn queue() -> (Report, Timeline) {
    let report = samples::queue();
    let step = |op| Placement { op, partway: false };
    let ending = |steps: [u32; 2], ids: [&str; 2], queues: [&str; 2]| Ending {
        steps: steps.map(step).to_vec(),
        states: vec![state(ids[0], queues[0]), state(ids[1], queues[1])],
    };
    let timeline = Timeline {
        order: vec![Placement { op: 2, partway: true }, step(2)],
        states: vec![state("00", "<<>>"), state("0a", "<<>>"), state("0b", "<<49601>>")],
        until: 2,
        endings: vec![
            ending([0, 1], ["1a", "7f3a12"], ["<<49601, 49598>>", "<<49601, 49598, 49599>>"]),
            ending([1, 0], ["1b", "90bb01"], ["<<49601, 49599>>", "<<49601, 49599, 49598>>"]),
        ],
        ..timeline(&report)
    };
    (report, timeline)
}

/// The rules of the Trace Event Format, as far as they are about the events that we write.
fn check_events(trace: &str) -> Value {
    let trace: Value = serde_json::from_str(trace).expect("a trace is JSON");
    assert!(matches!(trace["displayTimeUnit"].as_str(), Some("ms" | "ns")));
    let mut threads: HashMap<u64, Vec<(f64, f64)>> = HashMap::new();
    let mut flows: HashMap<u64, (f64, u64)> = HashMap::new();
    let (mut ended, events) = (0, trace["traceEvents"].as_array().expect("events"));
    for event in events {
        let number = |key: &str| event[key].as_f64().unwrap_or_else(|| panic!("no {key}: {event}"));
        assert!(event["name"].is_string() && event["pid"].is_u64(), "{event}");
        match event["ph"].as_str().expect("a phase") {
            "M" => match event["name"].as_str() {
                Some("process_name" | "thread_name") => assert!(event["args"]["name"].is_string(), "{event}"),
                Some("thread_sort_index") => assert!(event["args"]["sort_index"].is_u64(), "{event}"),
                _ => panic!("no metadata: {event}"),
            },
            "X" => {
                assert!(number("ts") >= 0.0 && number("dur") >= 0.0 && event["cat"].is_string(), "{event}");
                let interval = (number("ts"), number("ts") + number("dur"));
                threads.entry(event["tid"].as_u64().expect("a thread")).or_default().push(interval);
            }
            "s" => {
                let tid = event["tid"].as_u64().expect("a thread");
                assert!(flows.insert(event["id"].as_u64().expect("an id"), (number("ts"), tid)).is_none(), "{event}");
                assert!(is_inside(&threads[&tid], number("ts")), "{event}");
            }
            "f" => {
                let (begun, _) = flows[&event["id"].as_u64().expect("an id")];
                assert!(begun <= number("ts") && event["bp"] == "e", "{event}");
                assert!(is_inside(&threads[&event["tid"].as_u64().expect("a thread")], number("ts")), "{event}");
                ended += 1;
            }
            phase => panic!("phase {phase}"),
        }
    }
    assert_eq!(ended, flows.len());
    threads.into_values().for_each(check_nesting);
    trace
}

fn is_inside(slices: &[(f64, f64)], time: f64) -> bool {
    slices.iter().any(|(start, end)| *start <= time && time <= *end)
}

/// Of two slices of one thread, one is over when the other begins, or inside the other.
fn check_nesting(mut slices: Vec<(f64, f64)>) {
    slices.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut open: Vec<f64> = Vec::new();
    for (start, end) in slices {
        while open.pop_if(|open| *open <= start).is_some() {}
        assert!(open.last().is_none_or(|open| end <= *open), "[{start} {end}] overlaps what ends at {open:?}");
        open.push(end);
    }
}

#[test]
fn events_keep_the_rules() {
    let (report, timeline) = queue();
    let trace = check_events(&perfetto(&report, &timeline));
    let lines: Vec<String> = trace["traceEvents"].as_array().unwrap().iter().map(Value::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
    for (_, report) in samples::all() {
        check_events(&perfetto(&report, &self::timeline(&report)));
    }
    check_events(&perfetto(&report, &Timeline::default()));
}

#[test]
fn times_are_exact_to_the_nanosecond() {
    let (mut report, mut timeline) = queue();
    for entry in &mut timeline.operations {
        entry.start += 1_700_000_000_000_000_000;
        entry.end = entry.end.map(|end| end + 1_700_000_000_000_000_000);
    }
    let trace = check_events(&perfetto(&report, &timeline));
    assert_eq!(trace["traceEvents"][12]["ts"], json!(0.01));
    assert_eq!(trace["traceEvents"][12]["dur"], json!(0.04));
    assert_eq!(trace["otherData"]["origin"], "1700000000000000100");
    report.order = Order::Program;
    assert!(!perfetto(&report, &timeline).contains("\"ph\":\"s\""));
    timeline.operations.last_mut().unwrap().end = Some(u64::MAX);
    check_events(&perfetto(&report, &timeline));
}

#[test]
fn states_are_written_with_what_led_to_them() {
    let (report, timeline) = queue();
    let read = |text: &str| (text == "<<>>").then(|| json!([]));
    insta::assert_snapshot!(itf(&report, &timeline, read));
    let empty: Value = serde_json::from_str(&itf(&report, &Timeline::default(), read)).unwrap();
    assert_eq!((&empty["vars"], &empty["states"]), (&json!([]), &json!([])));
}

#[test]
fn states_are_read_by_others() {
    let (report, timeline) = queue();
    // One of each kind of value.
    let read = |text: &str| match text.len() {
        4 => Some(json!([{ "#bigint": "-9223372036854775808" }, true, "a\u{202e}"])),
        9 => Some(json!({ "#set": [{ "#map": [[{ "#bigint": "1" }, "Nil"]] }] })),
        16 => Some(json!({ "head": { "#tup": [] }, "tail": [] })),
        _ => None,
    };
    let written = itf(&report, &timeline, read);
    let trace: itf::Trace<itf::Value> = serde_json::from_str(&written).expect("a trace");
    assert_eq!(trace.states[4].meta.other["operation"], "T5:291");
    let (trace, written): (Value, Value) = (json!(trace), serde_json::from_str(&written).unwrap());
    assert_eq!((&trace["vars"], &trace["states"]), (&written["vars"], &written["states"]));
    // As a program reads it that knows what to expect.
    let numbers = |text: &str| Some(json!([{ "#bigint": text.len().to_string() }]));
    let typed = itf::trace_from_str::<Queue>(&itf(&report, &timeline, numbers)).expect("a trace of queues");
    let queues: Vec<i64> = typed.states.into_iter().flat_map(|state| state.value.queue).collect();
    assert_eq!(queues, [4, 4, 9, 16, 23]);
}

#[derive(serde::Deserialize)]
struct Queue {
    queue: Vec<i64>,
}

#[test]
fn interpretations_share_what_they_have_in_common() {
    let (report, mut timeline) = queue();
    insta::assert_snapshot!(dot(&report, &timeline));
    timeline.states.clear();
    timeline.endings.iter_mut().for_each(|ending| ending.states.clear());
    insta::assert_snapshot!("unknown_states", dot(&report, &timeline));
    for (name, report) in samples::all() {
        let graph = dot(&report, &self::timeline(&report));
        let is_closed = graph.lines().all(|line| (line.matches('"').count() - line.matches("\\\"").count()) % 2 == 0);
        assert!(graph.starts_with("digraph") && graph.ends_with("}\n") && is_closed, "{name}: {graph}");
    }
}

#[test]
fn graphs_stay_small() {
    let (mut report, mut timeline) = queue();
    timeline.endings = vec![timeline.endings[0].clone(); 100_000];
    let stuck = samples::stuck_of(&mut report).expect("the sample is stuck");
    stuck.interpretations = vec![stuck.interpretations[0].clone(); 100_000];
    let graph = dot(&report, &timeline);
    assert!(graph.len() < 4000 && graph.contains("99,936 interpretations not drawn"), "{graph}");
}
