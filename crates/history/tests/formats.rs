//! Every trace that is written reads as the same trace, in every format, and no bytes make a reader panic.

use std::sync::Arc;

use omnilink_history::format::binary::{self, Merge, SegmentReader, SegmentWriter};
use omnilink_history::format::json::Json;
use omnilink_history::format::{FormatError, jsonl, otlp, text};
use omnilink_history::{Call, End, Event, History, IllFormed, ProcessId, Record, Schema, Trace, Value};
use proptest::collection::vec;
use proptest::prelude::*;

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-20..200_i64).prop_map(Value::from),
        any::<i128>().prop_map(|number| Value::integer(&number.to_string()).unwrap_or_default()),
        any::<f64>().prop_map(|number| Value::number(number).unwrap_or_default()),
        any::<i64>().prop_map(|number| Value::number(number as f64).unwrap_or_default()),
        names().prop_map(Value::str),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::tuple),
            vec(inner.clone(), 0..4).prop_map(Value::set),
            vec((names(), inner.clone()), 0..3).prop_map(|fields| {
                Value::record(fields.iter().map(|(name, value)| (name.as_str(), value.clone()))).unwrap_or_default()
            }),
            vec((inner.clone(), inner), 0..3).prop_map(|pairs| Value::function(pairs).unwrap_or_default()),
        ]
    })
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,3}", "T?[0-9]{1,2}", any::<String>(), "[a-z]{30,34}", "#set|#fun|nil|TRUE|//|failed|-1"]
}

/// Names for fields: all empty, or all different.
fn field_names(count: usize) -> impl Strategy<Value = Vec<Arc<str>>> {
    let named = names().prop_map(move |name| (0..count).map(|place| format!("{name}{place}").into()).collect());
    prop_oneof![Just(vec![Arc::from(""); count]), named]
}

fn calls() -> impl Strategy<Value = Call> {
    let fields = || vec(values(), 0..4).prop_flat_map(|values| (field_names(values.len()), Just(values)));
    let meta = prop_oneof![3 => Just(Vec::new()), 1 => vec(values(), 1..3)];
    (names(), fields(), fields(), meta, any::<(bool, bool)>()).prop_map(|(action, args, results, meta, outcome)| {
        let schema = Schema { action: action.replace(Schema::OR, "/").into(), args: args.0, results: results.0 };
        let values = args.1.into_iter().chain(results.1);
        let mut call = Call::new(Arc::new(schema), values).expect("a value for each name");
        call.meta = meta.into_iter().enumerate().map(|(place, value)| (format!("m {place}").into(), value)).collect();
        (call.failed, call.blocked) = outcome;
        call.blocked &= !call.failed;
        call
    })
}

/// Traces whose processes are numbered as they first appear. Times are arbitrary.
fn traces() -> impl Strategy<Value = Trace> {
    let times = prop_oneof![any::<u64>(), 0..1000_u64];
    let end = prop_oneof![
        2 => times.clone().prop_map(End::At),
        1 => proptest::option::of(times.clone()).prop_map(|latest| End::Unknown { latest }),
    ];
    let record = (names(), times, end, calls());
    vec(record, 0..8).prop_map(|records| {
        let mut trace = Trace::default();
        for (process, start, end, call) in records {
            let process = trace.process(&process);
            let mut call = if end.is_unknown() { without_results(call) } else { call };
            call.failed &= !matches!(end, End::Unknown { latest: Some(_) });
            call.blocked &= !call.failed && end == (End::Unknown { latest: None });
            trace.records.push(Record { process, start, end, call });
        }
        trace
    })
}

/// Traces in which things happen beside the operations.
fn eventful() -> impl Strategy<Value = Trace> {
    let event = (names(), any::<u64>(), proptest::option::of(any::<u64>()), vec(names(), 0..3), names());
    (traces(), vec(event, 0..4)).prop_map(|(mut trace, events)| {
        let event = |(name, start, end, nodes, note): (String, u64, Option<u64>, Vec<String>, String)| Event {
            name: name.into(),
            start,
            end: end.filter(|end| *end >= start),
            nodes: nodes.into_iter().map(Arc::from).collect(),
            note,
        };
        // Segments have a place for them only if there is a process.
        if !trace.processes.is_empty() {
            trace.events = events.into_iter().map(event).collect();
        }
        trace
    })
}

fn without_results(call: Call) -> Call {
    let schema = Schema { results: Vec::new(), ..(**call.schema()).clone() };
    let mut bare = Call::new(Arc::new(schema), call.args().to_vec()).expect("a value for each argument");
    (bare.failed, bare.blocked, bare.meta) = (call.failed, call.blocked, call.meta);
    bare
}

fn write_segments(trace: &Trace) -> Vec<Vec<u8>> {
    binary::write(trace, |_, _| Ok(Vec::new())).expect("nothing in these traces is out of bounds")
}

fn readers(segments: &[Vec<u8>]) -> impl Iterator<Item = SegmentReader<&[u8]>> {
    let open = |bytes| SegmentReader::new("segment", bytes).expect("these segments have a header");
    segments.iter().map(move |bytes| open(bytes.as_slice()))
}

/// Processes that run one operation after another, and end with one of unknown outcome at most.
fn sequential() -> impl Strategy<Value = Trace> {
    vec((0..4_u32, 0..9_u64, 0..9_u64, calls(), 0..9_u8), 1..16).prop_map(|calls| {
        let mut clocks = [1; 4];
        let mut trace = Trace { processes: (0..4).map(|name| format!("p{name}").into()).collect(), ..Trace::default() };
        let mut is_over = [false; 4];
        for (process, gap, length, mut call, outcome) in calls {
            let place = process as usize;
            if is_over[place] {
                continue;
            }
            is_over[place] = outcome == 0;
            if call.action().is_empty() {
                call = Call::positional("f", call.args().to_vec(), call.results().to_vec());
            }
            (call.blocked, call.meta) = (false, Default::default());
            let start = clocks[place] + gap;
            clocks[place] = start + length;
            let end = if outcome == 0 { End::from(None) } else { End::At(start + length) };
            if outcome == 0 {
                call = without_results(call);
                call.failed = false;
            }
            trace.records.push(Record { process: ProcessId(process), start, end, call });
        }
        trace
    })
}

/// A span for each operation, and one for each process that counts them.
fn spans(trace: &Trace) -> (Vec<String>, Vec<String>) {
    let object = |fields: Vec<(&str, Json)>| {
        Json::Object(fields.into_iter().map(|(name, json)| (name.to_owned(), json)).collect())
    };
    let text = |text: &str| Json::Text(text.to_owned());
    let attribute = |(key, value): (&str, String)| {
        let kind = if matches!(key, "omnilink.seq" | "omnilink.count") { "intValue" } else { "stringValue" };
        object(vec![("key", text(key)), ("value", object(vec![(kind, Json::Text(value))]))])
    };
    let mut ids = 0;
    let mut span = |start: u64, end: u64, attributes: Vec<(&str, String)>| {
        ids += 1;
        let fields = vec![
            ("traceId", Json::Text(format!("{:032x}", ids % 3 + 1))),
            ("spanId", Json::Text(format!("{ids:016x}"))),
            ("startTimeUnixNano", Json::Text(start.to_string())),
            ("endTimeUnixNano", Json::Text(end.to_string())),
            ("attributes", Json::Array(attributes.into_iter().map(attribute).collect())),
        ];
        object(fields).to_string()
    };
    let mut counts = vec![0; trace.processes.len()];
    let mut operations = Vec::new();
    for record in &trace.records {
        let (call, schema) = (&record.call, record.call.schema());
        let count: &mut u64 = &mut counts[record.process.index()];
        let mut attributes = vec![
            ("omnilink.process", trace.processes[record.process.index()].to_string()),
            ("omnilink.action", call.action().to_owned()),
            ("omnilink.seq", count.to_string()),
        ];
        *count += 1;
        for (key, names, values) in
            [("omnilink.args", &schema.args, call.args()), ("omnilink.results", &schema.results, call.results())]
        {
            if !values.is_empty() {
                attributes.push((key, jsonl::write_fields_of(names, values).expect("these can be written")));
            }
        }
        match (record.end.at(), call.failed) {
            (Some(_), true) => attributes.push(("omnilink.outcome", "failed".into())),
            (Some(_), false) => {}
            (None, _) => attributes.push(("omnilink.outcome", "unknown".into())),
        }
        operations.push(span(record.start, record.end.at().unwrap_or(record.start), attributes));
    }
    let mut counted = |(name, count): (&Arc<str>, u64)| {
        span(1, 1, vec![("omnilink.process", name.to_string()), ("omnilink.count", count.to_string())])
    };
    let counts = trace.processes.iter().zip(counts).map(&mut counted).collect();
    (operations, counts)
}

/// Spans in documents of two each.
fn document(spans: &[String]) -> String {
    let document =
        |spans: &[String]| format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","));
    spans.chunks(2).map(document).collect::<Vec<_>>().join("\n")
}

/// The operations of each process, without metadata.
fn operations(trace: &Trace) -> Vec<(Arc<str>, u64, End, Call)> {
    let operation = |record: &Record| {
        let mut call = record.call.clone();
        call.meta.clear();
        (trace.processes[record.process.index()].clone(), record.start, record.end, call)
    };
    let mut all: Vec<_> = trace.records.iter().map(operation).collect();
    all.sort_by_key(|(process, start, end, _)| (process.clone(), *start, end.at().unwrap_or(u64::MAX)));
    all
}

/// Reads bytes as every format; the result does not matter, only that there is one.
fn check(bytes: &[u8]) {
    let _: Result<Trace, FormatError> = jsonl::read(bytes);
    let _: Result<Trace, FormatError> = text::read(bytes);
    let _ = otlp::read(&String::from_utf8_lossy(bytes));
    let _ = otlp::read_jaeger(&String::from_utf8_lossy(bytes));
    if let Ok(reader) = SegmentReader::new("segment", bytes) {
        reader.for_each(drop);
    }
}

proptest! {
    #[test]
    fn json_lines_read_as_they_were_written(trace in eventful()) {
        let mut bytes = Vec::new();
        jsonl::write(&trace, &mut bytes).unwrap();
        prop_assert_eq!(jsonl::read(&bytes), Ok(trace), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn text_reads_as_it_was_written(trace in traces()) {
        let mut bytes = Vec::new();
        text::write(&trace, &mut bytes).unwrap();
        prop_assert_eq!(text::read(&bytes), Ok(trace), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn segments_read_as_they_were_written(trace in eventful()) {
        let segments = write_segments(&trace);
        let mut expected = trace;
        expected.records.sort_by_key(|record| record.process); // Stable, so each process keeps its order.
        prop_assert_eq!(binary::read_all(readers(&segments)).unwrap(), expected);
    }

    /// Whatever the order of spans, and however often they are exported.
    #[test]
    fn spans_read_as_they_were_written(
        trace in sequential(),
        again in vec(any::<prop::sample::Index>(), 0..4),
        order in any::<u64>(),
    ) {
        let (mut written, counts) = spans(&trace);
        written.extend(counts);
        let plain = otlp::read(&document(&written)).unwrap();
        prop_assert_eq!(operations(&plain), operations(&trace));
        prop_assert_eq!(&plain.losses, &[] as &[String]);
        let again: Vec<String> = again.into_iter().map(|place| written[place.index(written.len())].clone()).collect();
        written.extend(again);
        written.sort_by_key(|span| {
            let digest = span.bytes().fold(order, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            digest.rotate_left(17)
        });
        let mut shuffled = otlp::read(&document(&written)).unwrap();
        shuffled.notes.retain(|note| !note.contains("duplicate"));
        prop_assert_eq!(shuffled, plain);
    }

    /// No history is left to check, whichever operations are lost.
    #[test]
    fn lost_spans_are_noticed(
        trace in sequential(),
        lost in vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let (mut written, counts) = spans(&trace);
        for place in lost {
            if !written.is_empty() {
                written.remove(place.index(written.len()));
            }
        }
        written.extend(counts);
        let read = otlp::read(&document(&written)).unwrap();
        prop_assert!(matches!(History::new(read), Err(IllFormed::Incomplete(_))));
    }

    /// An operation written as one record or as two is the same operation.
    #[test]
    fn outcomes_say_all_about_an_operation(records in vec((calls(), calls(), any::<[u64; 3]>()), 1..6)) {
        let mut writer = SegmentWriter::new(Vec::new(), "0").unwrap();
        let mut expected = Vec::new();
        for (first, mut call, [before, start, end]) in records {
            (call.failed, call.blocked, call.meta) = (false, false, Default::default());
            writer.call(before, &first).unwrap();
            writer.outcome(start, end, &call).unwrap();
            expected.push(Record { process: ProcessId(0), start, end: End::At(end), call });
        }
        let bytes = writer.close().unwrap();
        prop_assert_eq!(binary::read_all(readers(&[bytes])).unwrap().records, expected);
    }

    /// The merge delivers the operations of a history of the whole trace.
    #[test]
    fn merged_segments_are_a_history(calls in vec((0..4_u32, 0..9_u64, 0..9_u64, calls()), 0..20)) {
        let mut clocks = [0; 4];
        let mut trace = Trace { processes: (0..4).map(|name| name.to_string().into()).collect(), ..Trace::default() };
        let mut last = [None; 4];
        for (process, gap, length, mut call) in calls {
            let start = clocks[process as usize] + gap;
            clocks[process as usize] = start + length;
            last[process as usize] = std::mem::take(&mut call.blocked).then_some(trace.records.len());
            trace.records.push(Record { process: ProcessId(process), start, end: End::At(start + length), call });
        }
        // Only the last operation of a process can be blocked.
        for place in last.into_iter().flatten() {
            let record = &mut trace.records[place];
            (record.end, record.call) = (None.into(), without_results(record.call.clone()));
            (record.call.failed, record.call.blocked) = (false, true);
        }
        let segments = write_segments(&trace);
        trace.records.sort_by_key(|record| record.process); // As the merge, prefer lower processes among equals.
        let merged: Vec<_> = Merge::new(readers(&segments)).unwrap().map(Result::unwrap).collect();
        let history = History::new(trace).unwrap();
        prop_assert_eq!(merged.as_slice(), history.ops());
    }

    #[test]
    fn a_trace_cut_in_its_last_segment_reads_as_a_prefix(trace in traces(), cut in any::<prop::sample::Index>()) {
        let mut segments = write_segments(&trace);
        let whole = binary::read_all(readers(&segments)).unwrap();
        if let Some(last) = segments.last_mut() {
            last.truncate(cut.index(last.len()));
            let read = binary::read_all(readers(&segments)).unwrap();
            prop_assert_eq!(read.cuts.len(), 1);
            let known = read.records.len().saturating_sub(1);
            prop_assert_eq!(&read.records[..known], &whole.records[..known]);
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..200)) {
        check(&bytes);
        check(&[binary::MAGIC.as_slice(), &[1, 0], &bytes].concat());
    }

    #[test]
    fn no_damage_makes_a_reader_panic(
        trace in traces(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (mut json, mut plain) = (Vec::new(), Vec::new());
        jsonl::write(&trace, &mut json).unwrap();
        text::write(&trace, &mut plain).unwrap();
        for mut bytes in write_segments(&trace).into_iter().chain([json, plain]).filter(|bytes| !bytes.is_empty()) {
            for (place, byte) in &damage {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            check(&bytes);
        }
    }
}
