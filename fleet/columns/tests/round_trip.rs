//! Columns keep everything that a trace contains: after a round trip, it is the same JSON Lines.

use std::sync::Arc;

use omnilink_history::format::jsonl;
use omnilink_history::{Call, End, Event, ProcessId, Record, Schema, Trace, Value};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        (-3..3_i64).prop_map(Value::Int),
        any::<i64>().prop_map(Value::Int),
        Just(Value::integer("18446744073709551616").expect("digits")),
        Just(Value::number(2.5).expect("a finite number")),
        "[a-z\"\\\\é]{0,3}".prop_map(Value::str),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::tuple),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::set),
            prop::collection::btree_map("[a-c]{1,2}", inner, 0..3)
                .prop_map(|map| Value::function(map.into_iter().map(|(name, value)| (Value::str(name), value))))
                .prop_map(|value| value.expect("names that differ")),
        ]
    })
}

impl From<Kind> for BoxedStrategy<Value> {
    fn from(kind: Kind) -> BoxedStrategy<Value> {
        match kind {
            Kind::Int => (0..9_i64).prop_map(Value::Int).boxed(),
            Kind::Text => "[a-z]{0,3}".prop_map(Value::str).boxed(),
            Kind::Maybe => prop_oneof![Just(Value::Nil), (0..9_i64).prop_map(Value::Int)].boxed(),
            Kind::Any => value().boxed(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Int,
    Text,
    Maybe,
    Any,
}

/// Names that look like places, names that differ in order, and no names.
const NAMES: [&[&str]; 7] = [&[], &[""], &["", ""], &["key"], &["key", "value"], &["value", "key"], &["1", "0"]];

fn record(kind: Kind, names: &'static [&'static [&'static str]]) -> impl Strategy<Value = Record> {
    let shape = (0..names.len(), 0..names.len(), 0..3_u32, prop::sample::select(vec!["read", "write", "a b"]));
    let values = prop::collection::vec(BoxedStrategy::from(kind), 4);
    let meta = prop::collection::btree_map("[a-z]{1,2}", value(), 0..2);
    let times = (0..9_u64, 0..9_u64, 0..6_u32, prop::bool::weighted(0.02));
    (shape, values, meta, times).prop_map(move |((args, results, process, action), values, meta, times)| {
        let (start, long, ending, is_huge) = times;
        let start = if is_huge { u64::MAX - 20 } else { start };
        let (args, results) = (names[args], names[results]);
        let end = match ending {
            0 => End::Unknown { latest: None },
            1 => End::Unknown { latest: Some(start + long) },
            2 => End::Unknown { latest: None },
            _ => End::At(start + long),
        };
        let has_results = !end.is_unknown() && ending != 3;
        let results = if has_results { results } else { &[] };
        let own = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
        let schema = Schema { action: action.into(), args: own(args), results: own(results) };
        let count = args.len() + results.len();
        let mut call = Call::new(Arc::new(schema), values.into_iter().take(count)).expect("a value for each name");
        call.blocked = ending == 2;
        call.failed = ending == 3;
        call.meta = meta.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Record { process: ProcessId(process), start, end, call }
    })
}

fn event() -> impl Strategy<Value = Event> {
    (0..9_u64, prop::option::of(0..9_u64), prop::collection::vec(Just("n\"1".into()), 0..2)).prop_map(
        |(start, lasts, nodes)| Event {
            name: "partition".into(),
            start,
            end: lasts.map(|lasts| start + lasts),
            nodes,
            note: "é\n".repeat(start as usize % 2),
        },
    )
}

fn traces() -> impl Strategy<Value = Trace> {
    let kind = prop::sample::select(vec![Kind::Int, Kind::Text, Kind::Maybe, Kind::Any]);
    let names = prop::sample::select(vec![&NAMES[..], &NAMES[..2], &NAMES[3..5]]);
    (kind, names).prop_flat_map(|(kind, names)| {
        (prop::collection::vec(record(kind, names), 0..12), prop::collection::vec(event(), 0..3)).prop_map(
            |(records, events)| Trace {
                processes: vec!["0".into(), "client é".into(), "7x".into()],
                records,
                events,
                ..Trace::default()
            },
        )
    })
}

fn lines(trace: &Trace) -> String {
    let mut out = Vec::new();
    jsonl::write(trace, &mut out).expect("a trace that can be written");
    String::from_utf8(out).expect("JSON is UTF-8")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nothing_is_lost(trace in traces(), by in prop::option::of(Just("key"))) {
        let batch = columns(&trace, by);
        let mut again = Trace { processes: trace.processes.clone(), ..Trace::default() };
        omnilink_columns::read(&batch, &mut again).expect("columns that were just written");
        omnilink_columns::read_events(&batch.schema(), &mut again).expect("events that were just written");
        prop_assert_eq!(lines(&again), lines(&trace));
    }
}

fn columns(trace: &Trace, by: Option<&str>) -> arrow_array::RecordBatch {
    omnilink_columns::write(trace, by).expect("a trace that can be written")
}

#[test]
fn files_and_directories_are_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = jsonl::read(
        br#"{"process": 0, "action": "write", "args": {"value": 1}, "start": 1, "end": 2}
{"process": 1, "action": "read", "results": {"value": null}, "start": 3, "end": 4}
"#,
    )
    .expect("a trace");
    let path = directory.path().join("ops.parquet");
    let file = std::fs::File::create(&path).expect("a file");
    omnilink_columns::file::write(&trace, None, file).expect("a file that can be written");
    assert_eq!(omnilink_columns::file::read(&path).expect("a file"), trace);
    assert_eq!(omnilink_columns::file::read(directory.path()).expect("a directory"), trace);
    let schema = columns(&trace, None).schema();
    assert_eq!(
        schema.field_with_name("arguments").expect("a column").data_type().to_string(),
        "Struct(\"value\": Int64)"
    );
}

#[test]
fn a_later_version_is_refused() {
    let trace = jsonl::read(b"{\"process\": 0, \"action\": \"a\", \"start\": 1, \"end\": 2}\n").expect("a trace");
    let batch = columns(&trace, None);
    let later = [(omnilink_columns::VERSION_KEY.to_owned(), "2".to_owned())].into_iter().collect();
    let schema = Arc::new((*batch.schema()).clone().with_metadata(later));
    let batch = arrow_array::RecordBatch::try_new(schema, batch.columns().to_vec()).expect("the same columns");
    let error = omnilink_columns::read(&batch, &mut Trace::default()).expect_err("another version");
    assert!(error.to_string().contains("version 2"), "{error}");
}
