//! Parts round-trip for any input, and pages stay small and inert.

mod decode;

use std::collections::BTreeSet;

use decode::Op;
use omnilink_page::{About, Encoder, Index, IndexRun, Packing};
use omnilink_report::*;
use proptest::prelude::*;
use serde_json::{Value, json};

fn report() -> Report {
    let history = History { name: "run".into(), operations: Some(0), ..History::default() };
    let spec = Spec { name: "Queue.tla".into(), constants: Vec::new() };
    Report { spec, ..Report::new(history, Verdict::Accepted) }
}

fn parts(timeline: &Timeline) -> Vec<omnilink_page::Part> {
    Encoder::new(&report(), Some(timeline), Packing::Fast).parts(&About { tool: "OmniLink", ..About::default() })
}

/// The expected result of decoding.
fn expected(timeline: &Timeline) -> Vec<Op> {
    let times: BTreeSet<u64> =
        timeline.operations.iter().flat_map(|entry| [Some(entry.start), entry.end]).flatten().collect();
    let times: Vec<u64> = times.into_iter().collect();
    let rank = |time: u64| times.binary_search(&time).expect("a time of the history") as u64;
    let op = |entry: &Entry| Op {
        name: timeline.name(entry),
        start: entry.start,
        end: entry.end,
        ranks: (rank(entry.start), entry.end.map_or(times.len() as u64, rank)),
        shape: entry.shape as usize,
        values: timeline.values(entry).iter().map(|datum| timeline.value(*datum)).collect(),
    };
    timeline.operations.iter().map(op).collect()
}

fn check(timeline: &Timeline) {
    let parts = parts(timeline);
    assert_eq!(decode::operations(&parts), expected(timeline));
    let order: Vec<(u32, bool)> = timeline.order.iter().map(|step| (step.op, step.partway)).collect();
    assert_eq!(decode::order(&parts), order);
    let mut messages = timeline.messages.clone();
    messages.sort_by_key(|&(send, receive)| (receive, send));
    assert_eq!(decode::messages(&parts), messages);
    let unlogged: Vec<(u32, String)> =
        timeline.unlogged.iter().map(|step| (step.before, step.action.clone())).collect();
    assert_eq!(decode::unlogged(&parts), unlogged);
    let values = |states: &[State]| -> Vec<Vec<String>> {
        states.iter().map(|state| state.variables.iter().map(|field| field.value.clone()).collect()).collect()
    };
    let (states, endings) = decode::states(&parts);
    assert_eq!(states, values(&timeline.states));
    let is_whole = timeline.until == timeline.order.len();
    let is_known = is_whole && !timeline.states.is_empty();
    let known = |ending: &Ending| if is_known { values(&ending.states) } else { Vec::new() };
    let wanted: Vec<_> = timeline.endings.iter().map(known).collect();
    assert_eq!(endings, wanted);
    check_ranges(&decode::json(&parts, "head")["timeline"], &decode::operations(&parts));
}

/// Every operation in flight at a rank is in a chunk whose range contains the rank, or is listed as long.
fn check_ranges(head: &Value, operations: &[Op]) {
    let long: Vec<u64> = head["long"].as_array().expect("a list").iter().filter_map(|op| op.as_u64()).collect();
    assert!(long.is_sorted());
    for (place, op) in operations.iter().enumerate() {
        let chunk = &head["chunks"][place / omnilink_page::encode::PIECE];
        let [first, last] = [0, 1].map(|side| chunk["ranks"][side].as_u64().expect("a rank"));
        assert!(first <= op.ranks.0 && op.ranks.0 <= last);
        assert!(op.ranks.1 <= last || long.contains(&(place as u64)), "{place}");
        assert!(op.end.is_some() || long.contains(&(place as u64)));
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn shape(action: &str, args: &[&str], results: &[&str], meta: &[&str]) -> Shape {
    let pieces = vec![String::new(); args.len() + results.len() + 1];
    Shape { action: action.into(), args: words(args), results: words(results), meta: words(meta), pieces }
}

fn state(id: usize, values: &[String]) -> State {
    let field = |value: &String| Field { name: "v".into(), value: value.clone() };
    State { id: format!("{id:x}"), variables: values.iter().map(field).collect() }
}

/// Numbers of every size, many of them close together.
fn numbers() -> impl Strategy<Value = i64> {
    prop_oneof![-9..9_i64, any::<i64>(), Just(i64::MIN), Just((1 << 53) - 1), Just(1 << 53), Just(-(1 << 53) + 1)]
}

fn times() -> impl Strategy<Value = u64> {
    prop_oneof![0..20_u64, any::<u64>(), Just(u64::MAX)]
}

prop_compose! {
    fn timelines()(
        intervals in prop::collection::vec((times(), prop::option::of(times()), 0..3_u32, any::<bool>(), numbers(), 0..3_u32), 0..40),
        texts in prop::collection::vec(".{0,4}", 3),
        states in prop::collection::vec(prop::collection::vec("[a-c😀😁<&]{0,6}", 2), 0..6),
        ending in prop::collection::vec(prop::collection::vec("[a-c😀😁<&]{0,6}", 2), 0..3),
        is_early in any::<bool>(),
        messages in prop::collection::vec((any::<u32>(), any::<u32>()), 0..6),
        unlogged in prop::collection::vec((0..40_u32, ".{0,4}"), 0..6),
    ) -> Timeline {
        let mut timeline = Timeline {
            processes: words(&["T0", "T1", "</script>"]),
            shapes: vec![shape("Push", &["x"], &[], &["m"]), shape("Pop", &[], &[], &[])],
            texts,
            actions: words(&["Push", "Peek"]),
            ..Timeline::default()
        };
        for (index, (start, end, process, is_push, number, text)) in (0..).zip(intervals) {
            let (start, end) = (start.min(end.unwrap_or(u64::MAX)), end.map(|end| end.max(start)));
            let entry = Entry { process, index: index / 2, shape: u32::from(!is_push), values: timeline.values.len(), start, end };
            timeline.operations.push(entry);
            timeline.order.push(Placement { op: 39 - index, partway: text == 0 });
            if is_push {
                timeline.values.extend([Datum::Number(number), Datum::Text(text)]);
            }
        }
        timeline.operations.sort_by_key(|entry| entry.start);
        let count = timeline.operations.len() as u32;
        timeline.order.retain(|step| step.op < count);
        timeline.widths = (0..count).collect();
        timeline.states = states.iter().enumerate().map(|(id, values)| state(id, values)).collect();
        timeline.until = if is_early { 0 } else { timeline.order.len() };
        let states = ending.iter().enumerate().map(|(id, values)| state(id, values)).collect();
        timeline.endings = vec![Ending { steps: Vec::new(), states }];
        timeline.messages = messages;
        timeline.unlogged = unlogged.into_iter().map(|(before, action)| Unlogged { before, action }).collect();
        timeline.unlogged.sort_by_key(|step| step.before);
        timeline
    }
}

proptest! {
    #[test]
    fn timelines_round_trip(timeline in timelines()) {
        // The duration plus one must fit into 64 bits.
        let extremes = |entry: &Entry| entry.end.is_none_or(|end| end - entry.start < u64::MAX);
        prop_assume!(timeline.operations.iter().all(extremes));
        check(&timeline);
    }
}

/// A history in which operations of many processes overlap.
fn long(operations: u32, processes: u32) -> Timeline {
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut timeline = Timeline {
        processes: (0..processes).map(|process| format!("T{process}")).collect(),
        shapes: vec![shape("Enqueue", &["elem"], &[], &[]), shape("Dequeue", &[], &["elem"], &[])],
        ..Timeline::default()
    };
    let mut ready = vec![(0_u64, 0_u32); processes as usize];
    let (mut time, mut element) = (1_700_000_000_000_000_000_u64, 0);
    for op in 0..operations {
        time += 20 + random(400);
        let process = random(u64::from(processes)) as u32;
        let (free, index) = &mut ready[process as usize];
        let start = time.max(*free);
        let end = start + 200 + random(3000);
        timeline.operations.push(Entry {
            process,
            index: *index,
            shape: op % 2,
            values: op as usize,
            start,
            end: Some(end),
        });
        (*free, *index) = (end + 1, *index + 1);
        element += op % 2;
        timeline.values.push(Datum::Number(i64::from(element) + random(4) as i64));
        timeline.order.push(Placement { op: op ^ (random(2) as u32), partway: false });
        timeline.widths.push(1 + random(6) as u32);
    }
    timeline.operations.sort_by_key(|entry| entry.start);
    timeline.order.retain(|step| step.op < operations);
    timeline.until = timeline.order.len();
    timeline
}

#[test]
fn extreme_histories_are_encoded() {
    check(&Timeline::default());
    check(&long(40_000, 5));
    check(&long(70_000, 70_000));
    // The duration plus one does not fit into 64 bits.
    let mut widest = long(1, 1);
    widest.operations[0].start = 0;
    widest.operations[0].end = Some(u64::MAX);
    assert_eq!(decode::operations(&parts(&widest))[0].end, Some(u64::MAX - 1));
    let mut many = long(10, 1);
    let step = Placement { op: 3, partway: false };
    many.endings = vec![Ending { steps: vec![step], states: Vec::new() }; 100_000];
    assert_eq!(decode::states(&parts(&many)).1.len(), 100_000);
}

#[test]
fn a_file_is_within_its_budget() {
    for (operations, budget) in [(100_000, 1_500_000), (500_000, 6_000_000)] {
        let timeline = long(operations, 8);
        let report = report();
        let encoder = Encoder::new(&report, Some(&timeline), Packing::Small);
        let page = omnilink_page::file(&encoder.parts(&About::default()), "");
        assert!(page.len() < budget, "{operations} operations take {} bytes", page.len());
    }
}

#[test]
fn a_head_describes_the_timeline() {
    let timeline = long(3, 2);
    let parts = parts(&Timeline { actions: words(&["Peek"]), mentioned: vec![2, 0], ..timeline });
    let head = decode::json(&parts, "head");
    let mut timeline = head["timeline"].clone();
    timeline["chunks"][0]["times"] = json!("…");
    insta::assert_snapshot!(timeline, @r#"{"processes":["T0","T1"],"shapes":[{"action":"Enqueue","args":["elem"],"results":[],"meta":[],"pieces":["",""]},{"action":"Dequeue","args":[],"results":["elem"],"meta":[],"pieces":["",""]}],"operations":3,"origin":"1700000000000000098","ranks":6,"chunks":[{"first":0,"count":3,"ranks":[0,5],"times":"…"}],"steps":2,"orders":[{"first":0,"count":2,"rank":0}],"mentioned":[2,0],"overview":{"widths":[0,0,6,4,0,4],"flights":[1,2,2,1,1,1]},"actions":[{"name":"Enqueue","count":2},{"name":"Dequeue","count":1},{"name":"Peek","count":0}],"long":[]}"#);
    insta::assert_snapshot!(json!([head["schema"], head["kind"], head["tool"], head["run"], head["served"]]), @r#"["omnilink.page/1","run","OmniLink",null,null]"#);
}

#[test]
fn only_a_log_has_messages_and_unlogged_steps() {
    let names = |timeline: &Timeline| parts(timeline).into_iter().map(|part| part.name).collect::<Vec<_>>();
    let mut timeline = long(3, 2);
    assert_eq!(names(&timeline), ["head", "states", "chunk-0", "order-0"]);
    timeline.messages = vec![(0, 2), (0, 1)];
    timeline.unlogged = vec![Unlogged { before: 2, action: "Lose".into() }];
    assert_eq!(names(&timeline), ["head", "states", "chunk-0", "order-0", "messages", "unlogged"]);
    let head = decode::json(&parts(&timeline), "head");
    assert_eq!((&head["timeline"]["messages"], &head["timeline"]["unlogged"]), (&json!(2), &json!(1)));
}

#[test]
fn the_head_lists_missed_operations_up_to_a_limit() {
    let head = |missed: Vec<(u32, Vec<u32>)>| {
        let timeline = Timeline { missed, ..long(3, 2) };
        decode::json(&parts(&timeline), "head")["timeline"].clone()
    };
    let none = head(Vec::new());
    assert_eq!((none.get("missed"), none.get("missed_left_out")), (None, None));
    let two = head(vec![(1, vec![0]), (2, vec![0, 1])]);
    assert_eq!((&two["missed"], two.get("missed_left_out")), (&json!([[1, [0]], [2, [0, 1]]]), None));
    // An operation that missed too many others is left out, not cut.
    let large = head(vec![(0, vec![0; 15_000]), (1, vec![0; 5_001]), (2, vec![0; 5_000]), (3, vec![0])]);
    let listed =
        |head: &Value| head["missed"].as_array().unwrap().iter().map(|each| each[0].clone()).collect::<Value>();
    assert_eq!((listed(&large), &large["missed_left_out"]), (json!([0, 2]), &json!(2)));
    let many = head((0..2_010).map(|op| (op, vec![0])).collect());
    assert_eq!((many["missed"].as_array().unwrap().len(), &many["missed_left_out"]), (2_000, &json!(10)));
}

#[test]
fn a_report_is_enough_for_a_page() {
    let report = report();
    let parts =
        Encoder::new(&report, None, Packing::Small).parts(&About { tool: "OmniLink 0.1.0", ..About::default() });
    let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
    assert_eq!(names, ["head", "states"]);
    assert_eq!(decode::json(&parts, "head")["timeline"], json!(null));
    let read = Report::from_json(&decode::json(&parts, "head")["report"].to_string()).unwrap();
    assert_eq!(read, report);
}

#[test]
fn an_index_lists_runs() {
    let run = IndexRun { run: json!({ "id": "abc" }), page: Some("abc.html".into()), sentence: None };
    let index = Index {
        tool: "OmniLink",
        name: "store",
        runs: vec![run],
        damaged: words(&["x/run.json: it is empty"]),
        overview: Value::Null,
        monitor: Value::Null,
    };
    insta::assert_snapshot!(decode::json(&omnilink_page::index(&index), "head"), @r#"{"schema":"omnilink.page/1","kind":"index","tool":"OmniLink","name":"store","runs":[{"id":"abc","page":"abc.html","sentence":null}],"damaged":["x/run.json: it is empty"],"overview":null}"#);
}

#[test]
fn hostile_texts_are_inert() {
    let hostile = ["</script><script>alert(1)</script>", "<!--", "\u{202e}evil", "<img src=x onerror=alert(1)>"];
    let mut report = report();
    report.history.name = hostile.concat();
    report.notes = vec!["x".repeat(1 << 20), hostile.concat()];
    let mut timeline = long(2, 1);
    timeline.processes = vec![hostile.concat()];
    timeline.texts = vec![hostile.concat().repeat(20)];
    timeline.values = vec![Datum::Text(0), Datum::Text(0)];
    timeline.states = vec![state(1, &[hostile.concat()])];
    let parts = Encoder::new(&report, Some(&timeline), Packing::Small).parts(&About::default());
    let page = omnilink_page::file(&parts, &text(&report, Detail::Full, false));
    let plain = omnilink_page::file(&[], "");
    let scripts = |page: &str| page.to_lowercase().matches("<script").count();
    assert_eq!(scripts(&page), scripts(&plain) + parts.len());
    for text in hostile {
        assert!(!page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<!--").count(), 0);
}
