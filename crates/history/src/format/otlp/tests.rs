//! Spans in every shape, their meaning, losses and clocks.

use proptest::prelude::*;

use super::*;
use crate::History;
use crate::format::damage::damaged;

/// The operations, losses and notes, or the error.
fn shown(trace: Result<Trace, FormatError>) -> String {
    let trace = match trace {
        Ok(trace) => trace,
        Err(error) => return error.to_string(),
    };
    let operation = |record: &Record| {
        let process = &trace.processes[record.process.index()];
        format!("{process} [{} {}] {}", record.start, record.end, record.call)
    };
    let operations = trace.records.iter().map(operation);
    let losses = trace.losses.iter().map(|loss| format!("loss: {loss}"));
    let shown: Vec<String> =
        operations.chain(losses).chain(trace.notes.iter().map(|note| format!("note: {note}"))).collect();
    assert_eq!(History::new(trace.clone()).is_ok(), trace.losses.is_empty());
    shown.join("\n")
}

fn check(input: &str) -> String {
    shown(read(input))
}

/// A document with one resource.
fn document(resource: &[(&str, &str)], spans: &[String]) -> String {
    format!(
        r#"{{"resourceSpans": [{{"resource": {{"attributes": [{}]}}, "scopeSpans": [{{"spans": [{}]}}]}}]}}"#,
        attributes(resource),
        spans.join(", ")
    )
}

/// Values are JSON: strings become strings, and everything else integers.
fn attributes(all: &[(&str, &str)]) -> String {
    let one = |(key, value): &(&str, &str)| {
        let kind = if value.starts_with('"') { "stringValue" } else { "intValue" };
        format!(r#"{{"key": "{key}", "value": {{"{kind}": {value}}}}}"#)
    };
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A span with this identifier, which is its own name.
fn span(id: u64, start: u64, end: u64, more: &str, all: &[(&str, &str)]) -> String {
    format!(
        r#"{{"traceId": "{:032x}", "spanId": "{id:016x}", "name": "op{id}", "startTimeUnixNano": "{start}",
        "endTimeUnixNano": {end}, {more} "attributes": [{}]}}"#,
        7,
        attributes(all)
    )
    .replace('\n', " ")
}

/// Operations of one process with these numbers.
fn numbered(seqs: &[u64], count: Option<u64>) -> String {
    let (process, mut spans) = (("omnilink.process", "\"c\""), Vec::new());
    for (place, seq) in (1..).zip(seqs) {
        spans.push(span(place, 10 * place, 10 * place + 5, "", &[process, ("omnilink.seq", &seq.to_string())]));
    }
    if let Some(count) = count {
        spans.push(span(99, 1000, 1000, "", &[process, ("omnilink.count", &count.to_string())]));
    }
    let shown = check(&document(&[], &spans));
    shown.lines().filter(|line| !line.starts_with("c ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn attributes_describe_operations() {
    let input = document(
        &[("service.instance.id", "\"i1\""), ("telemetry.sdk.name", "5")],
        &[
            span(1, 10, 20, "", &[("omnilink.args", r#""{\"value\": [1, 2]}""#), ("omnilink.key", "\"k\"")]),
            span(
                2,
                30,
                40,
                "",
                &[("omnilink.action", "\"get\""), ("omnilink.result.value", "4"), ("omnilink.arg.key", "7")],
            ),
            span(3, 50, 60, "\"status\": {\"code\": 2},", &[("omnilink.key", "1"), ("omnilink.results", "\"[1]\"")]),
            span(4, 55, 70, "", &[("omnilink.outcome", "\"failed\""), ("omnilink.process", "8")]),
            span(5, 71, 72, "\"status\": {\"code\": \"STATUS_CODE_ERROR\"},", &[("omnilink.outcome", "\"ok\"")]),
            span(6, 1, 2, "", &[("http.method", "\"GET\"")]),
        ],
    );
    insta::assert_snapshot!(check(&input), @r#"
    i1 [10 20] op1(key: "k", value: <<1, 2>>)
    i1 [30 40] get(key: 7) = value: 4
    i1 [50 ...] op3(key: 1)
    8 [55 70] op4() failed
    i1#2 [71 72] op5()
    note: lost operations of 2 processes would go unnoticed: they have no `omnilink.seq`
    note: 1 span without an attribute `omnilink.*` was left out
    "#);
    let meta = read(&input).unwrap().records[0].call.meta.clone();
    insta::assert_snapshot!(format!("{meta:?}"), @r#"[("trace", Str("00000000000000000000000000000007")), ("span", Str("0000000000000001"))]"#);
}

#[test]
fn values_have_all_shapes() {
    let values = r#"{"key": "omnilink.arg.a",
         "value": {"arrayValue": {"values": [{"intValue": "5"}, {"intValue": 6}, {}]}}},
        {"key": "omnilink.arg.d", "value": {"doubleValue": 1.5}},
        {"key": "omnilink.arg.b", "value": {"boolValue": true}},
        {"key": "omnilink.results", "value": {"kvlistValue": {"values":
            [{"key": "x", "value": {"kvlistValue": {"values": [{"key": "y", "value": {"stringValue": "z"}}]}}}]}}}"#;
    let span = |values: &str| {
        format!(
            r#"{{"batches": [{{"instrumentationLibrarySpans": [{{"spans": [{{"traceId": "AAAAAAAAAAAAAAAAAAAABw==",
            "spanId": "AAAAAAAAAAE=", "name": "f", "kind": "SPAN_KIND_CLIENT", "startTimeUnixNano": 5,
            "endTimeUnixNano": "6", "attributes": [{values}]}}]}}]}}]}}"#
        )
    };
    insta::assert_snapshot!(check(&span(values)), @r#"
    00000000000000000000000000000007 [5 6] f(a: <<5, 6, nil>>, b: TRUE, d: 1.5) = x: [y |-> "z"]
    note: lost operations of 1 process would go unnoticed: they have no `omnilink.seq`
    "#);
    let bytes = r#"{"key": "omnilink.key", "value": {"bytesValue": "AA=="}}"#;
    insta::assert_snapshot!(check(&span(bytes)), @"line 1: batches[0].instrumentationLibrarySpans[0].spans[0].attributes[0].value: unsupported value `bytesValue`");
}

#[test]
fn all_envelopes_hold_the_same_spans() {
    let plain = document(&[], &[span(1, 10, 20, "", &[("omnilink.seq", "0")])]);
    let expected = read(&plain).unwrap();
    assert_eq!(expected.records.len(), 1);
    let batches = plain.replace("resourceSpans", "batches");
    let lines = format!("{{\"resourceSpans\": []}}\n\n{}\n{{}}\n", plain.replace('\n', " "));
    for other in [
        batches.clone(),
        format!(r#"{{"trace": {batches}}}"#),
        format!(r#"{{"trace": {plain}, "metrics": {{"inspectedBytes": "5"}}, "status": "COMPLETE"}}"#),
        format!(r#"{{"result": {plain}}}"#),
        lines,
    ] {
        assert_eq!(read(&other).as_ref(), Ok(&expected), "{other}");
    }
    let partial = format!(r#"{{"trace": {plain}, "status": "PARTIAL", "message": "too large"}}"#);
    assert_eq!(read(&partial).unwrap().losses, ["line 1: the server returned part of a trace: too large"]);
}

#[test]
fn unknown_shapes_are_errors_with_a_place() {
    insta::assert_snapshot!(check("{\"resourceLogs\": []}"), @"line 1: unknown key `resourceLogs`");
    insta::assert_snapshot!(check("{}\n[]"), @"line 2: expected an object, found an array");
    insta::assert_snapshot!(check("{\"resourceSpans\": [{\"spans\": []}]}"), @"line 1: resourceSpans[0]: unknown key `spans`");
    insta::assert_snapshot!(check("\n{\"resourceSpans\": [\n{]}]}"), @"line 3: expected a key in quotes, found `]`");
    let one = |more: &str, all: &[(&str, &str)]| check(&document(&[], &[span(1, 10, 20, more, all)]));
    insta::assert_snapshot!(one("\"parentSpanId\": \"zz\",", &[]), @"line 1: resourceSpans[0].scopeSpans[0].spans[0].parentSpanId: expected 8 bytes in hexadecimal or base64, found `zz`");
    insta::assert_snapshot!(one("", &[("omnilink.arguments", "5")]), @"line 1: resourceSpans[0].scopeSpans[0].spans[0]: span 0000000000000001 of trace 00000000000000000000000000000007: unknown attribute `omnilink.arguments`");
    let wrong = |all: &[(&str, &str)]| one("", all).rsplit_once("0007: ").unwrap().1.to_owned();
    insta::assert_snapshot!(wrong(&[("omnilink.args", "\"{\"")]), @"`omnilink.args`: expected a key in quotes, found the end of the text");
    insta::assert_snapshot!(wrong(&[("omnilink.outcome", "\"error\"")]), @"`omnilink.outcome` is `error`, not `ok`, `failed` or `unknown`");
    insta::assert_snapshot!(wrong(&[("omnilink.seq", "-1")]), @"`omnilink.seq` is `-1`, not an integer from 0 on");
    insta::assert_snapshot!(wrong(&[("omnilink.key", "1"), ("omnilink.arg.key", "2")]), @"`omnilink.key` is 1, but the argument `key` is 2");
    insta::assert_snapshot!(wrong(&[("omnilink.arg.a", "1"), ("omnilink.args", "\"{\\\"a\\\": 1}\"")]), @"the argument `a` occurs twice");
    insta::assert_snapshot!(wrong(&[("omnilink.outcome", "\"unknown\""), ("omnilink.result.a", "2")]), @"its outcome is unknown, but it has results");
    let backwards = check(&document(&[], &[span(5, 20, 10, "", &[("omnilink.seq", "0")])]));
    insta::assert_snapshot!(backwards, @"line 1: resourceSpans[0].scopeSpans[0].spans[0]: span 0000000000000005 of trace 00000000000000000000000000000007: it ends at 10, before it starts at 20");
    let open = check(&document(&[], &[span(5, 20, 0, "", &[("omnilink.seq", "0"), ("omnilink.outcome", "\"ok\"")])]));
    insta::assert_snapshot!(open, @"line 1: resourceSpans[0].scopeSpans[0].spans[0]: span 0000000000000005 of trace 00000000000000000000000000000007: it has an outcome, but `endTimeUnixNano` is missing or 0");
    let resource = check(&document(&[("omnilink.clock_err", "5")], &[]));
    insta::assert_snapshot!(resource, @"line 1: resourceSpans[0]: unknown attribute `omnilink.clock_err`");
    let drift = check(&document(&[("omnilink.clock_drift", "1000001")], &[]));
    insta::assert_snapshot!(drift, @"line 1: resourceSpans[0]: `omnilink.clock_drift` is 1000001, more than a million parts per million");
}

#[test]
fn times_that_jaeger_has_moved_are_errors() {
    let warned = |warning| {
        let span = span(1, 10, 20, "", &[("@jaeger@warnings", warning), ("omnilink.key", "1")]);
        read(&format!("{{\"result\": {}}}", document(&[], &[span]))).map(|trace| trace.records.len())
    };
    assert_eq!(warned("\"clock skew adjustment disabled\""), Ok(1));
    let error = warned("\"This span's timestamps were adjusted by 3ms\"").unwrap_err();
    assert!(error.message.ends_with("Jaeger has changed the times of this span"), "{error}");
}

#[test]
fn operations_that_overlap_get_lanes() {
    let process = ("omnilink.process", "\"p\"");
    let spans = [
        span(1, 10, 30, "", &[process]),
        span(2, 20, 40, "", &[process]),
        span(3, 30, 35, "", &[process]),
        span(4, 41, 0, "", &[process]),
        span(5, 42, 43, "", &[process]),
        span(6, 44, 45, "", &[process]),
    ];
    insta::assert_snapshot!(check(&document(&[], &spans)), @"
    p [10 30] op1()
    p#2 [20 40] op2()
    p [30 35] op3()
    p [41 ...] op4()
    p#2 [42 43] op5()
    p#2 [44 45] op6()
    note: lost operations of 1 process would go unnoticed: they have no `omnilink.seq`
    ");
    let reversed: Vec<String> = spans.iter().rev().cloned().collect();
    assert_eq!(read(&document(&[], &reversed)), read(&document(&[], &spans)));
}

#[test]
fn gaps_in_numbers_are_losses() {
    insta::assert_snapshot!(numbered(&[0, 1, 2], Some(3)), @"");
    insta::assert_snapshot!(numbered(&[2, 0, 1], Some(3)), @"");
    insta::assert_snapshot!(numbered(&[0, 1], None), @"note: operations lost at the end of 1 process would go unnoticed: no `omnilink.count` says how many there were");
    insta::assert_snapshot!(numbered(&[0, 1, 2, 3, 7], Some(8)), @"loss: 3 operations of c are missing between seq 3 and 7");
    insta::assert_snapshot!(numbered(&[1], Some(2)), @"loss: 1 operation of c is missing before seq 1");
    insta::assert_snapshot!(numbered(&[0, 1], Some(3)), @"loss: 1 operation of c is missing after seq 1: `omnilink.count` is 3");
    insta::assert_snapshot!(numbered(&[0, 1, 1, 1, 2], Some(3)), @"loss: several operations of c have seq 1");
    insta::assert_snapshot!(numbered(&[0, 1], Some(1)), @"loss: operations of c may be missing after seq 1: no `omnilink.count` of 2 is there");
    insta::assert_snapshot!(numbered(&[], Some(2)), @"loss: 2 operations of c are missing: `omnilink.count` is 2");
    let mixed = [span(1, 1, 2, "", &[("omnilink.seq", "0")]), span(2, 3, 4, "", &[("omnilink.key", "1")])];
    insta::assert_snapshot!(check(&document(&[], &mixed)), @"line 1: span 0000000000000002 has no `omnilink.seq`, but other operations of `00000000000000000000000000000007` have one");
    let two = |seq: &str| {
        let (a, b) = (("omnilink.process", "\"a\""), ("omnilink.process", "\"b\""));
        let spans = [span(1, 1, 2, "", &[a, ("omnilink.seq", "0")]), span(2, 3, 4, "", &[b, ("omnilink.seq", seq)])];
        read(&document(&[], &spans)).unwrap().losses
    };
    assert_eq!(two("0"), [""; 0]);
    assert_eq!(two("1"), ["1 operation of b is missing before seq 1"]);
}

#[test]
fn other_losses() {
    let whole = document(&[], &[span(1, 10, 20, "", &[("omnilink.seq", "0")])]).replace('\n', " ");
    let torn = format!("{whole}\n{}", &whole[..whole.len() - 9]);
    assert_eq!(read(&torn).unwrap().losses, ["the text ends inside the spans that begin in line 2"]);
    let dropped = |all: &[(&str, &str)]| {
        read(&document(&[], &[span(1, 10, 20, "\"droppedAttributesCount\": 2,", all)])).unwrap().losses.join("")
    };
    let start = "span 0000000000000001 of trace 00000000000000000000000000000007";
    assert_eq!(dropped(&[]), format!("{start} may be an operation: it lost 2 attributes"));
    assert_eq!(dropped(&[("omnilink.key", "1")]), format!("{start} is an operation that lost 2 attributes"));
}

#[test]
fn duplicates_are_dropped_if_they_are_equal() {
    let one = |end| span(1, 10, end, "", &[("omnilink.key", "1")]);
    let notes = read(&document(&[], &[one(20), one(20), one(20)])).unwrap().notes;
    assert!(notes.contains(&"2 duplicates of spans were dropped".to_owned()), "{notes:?}");
    insta::assert_snapshot!(check(&document(&[], &[one(20), one(21)])), @"line 1: span 0000000000000001 of trace 00000000000000000000000000000007 occurs twice with different contents");
}

const JAEGER: &str = r#"{"data": [{"traceID": "7", "spans": [
    {"traceID": "7", "spanID": "a1", "operationName": "put", "references": [{"refType": "CHILD_OF", "spanID": "ff"}],
     "startTime": 1000, "duration": 5, "processID": "p1", "logs": [], "warnings": ["clock skew adjustment disabled"],
     "tags": [{"key": "omnilink.key", "type": "string", "value": "k"},
              {"key": "omnilink.seq", "type": "int64", "value": 0},
              {"key": "span.kind", "type": "string", "value": "client"}]},
    {"traceID": "7", "spanID": "a2", "operationName": "put", "startTime": 1006, "duration": 1, "processID": "p1",
     "tags": [{"key": "omnilink.seq", "type": "int64", "value": 1}, {"key": "error", "type": "bool", "value": true}]},
    {"traceID": "7", "spanID": "a3", "operationName": "end", "startTime": 1020, "duration": 0, "processID": "p1",
     "tags": [{"key": "omnilink.count", "type": "int64", "value": 2}], "warnings": null}],
    "processes": {"p1": {"serviceName": "kv", "tags": [
        {"key": "host.name", "type": "string", "value": "h"},
        {"key": "service.instance.id", "type": "string", "value": "c1"}]}},
    "warnings": null}], "total": 0, "errors": null}"#;

#[test]
fn spans_of_jaeger() {
    // The second operation begins before the first one must have ended.
    insta::assert_snapshot!(shown(read_jaeger(JAEGER)), @r#"
    c1 [1000000 1006999] put(key: "k")
    c1#2 [1006000 ...] put()
    "#);
    let adjusted = JAEGER.replace("clock skew adjustment disabled", "This span's timestamps were adjusted by 3ms");
    insta::assert_snapshot!(shown(read_jaeger(&adjusted)), @"line 1: data[0].spans[0].warnings[0]: Jaeger has changed the times of this span");
    insta::assert_snapshot!(shown(read_jaeger(&JAEGER.replace("\"processID\": \"p1\"", "\"processID\": \"p2\""))), @"line 1: data[0].spans[0].processID: unknown process `p2`");
    insta::assert_snapshot!(shown(read_jaeger(&JAEGER.replace("\"errors\": null", "\"errors\": [{\"code\": 404}]"))), @"line 1: errors: the server reported errors, so spans may be missing");
}

const A: [(&str, &str); 2] = [("host.name", "\"a\""), ("omnilink.clock_drift", "0")];
const B: [(&str, &str); 2] = [("host.name", "\"b\""), ("omnilink.clock_drift", "0")];

/// An operation on each of two hosts, and calls between them: a client span on the first one, a server span on the
/// second.
fn hosts(a: &[(&str, &str)], b: &[(&str, &str)], calls: &[([u64; 2], [u64; 2])]) -> String {
    let (mut on_a, mut on_b) = (Vec::new(), Vec::new());
    for (place, (client, server)) in (1..).zip(calls) {
        on_a.push(span(place, client[0], client[1], "\"kind\": 3,", &[]));
        let parent = format!("\"kind\": 2, \"parentSpanId\": \"{place:016x}\",");
        on_b.push(span(100 + place, server[0], server[1], &parent, &[]));
    }
    on_a.push(span(201, 50_000, 51_000, "", &[("omnilink.process", "\"pa\"")]));
    on_b.push(span(202, 50_000, 51_000, "", &[("omnilink.process", "\"pb\"")]));
    format!("{}\n{}", document(a, &on_a), document(b, &on_b))
}

/// The operations, and the remark about clocks.
fn clocks(a: &[(&str, &str)], b: &[(&str, &str)], calls: &[([u64; 2], [u64; 2])]) -> String {
    let shown = check(&hosts(a, b, calls));
    let shown = shown.lines().filter(|line| !line.contains("left out") && !line.contains("unnoticed"));
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
fn calls_between_hosts_bound_their_clocks() {
    // Host `b` is ahead by 7,940 to 8,040.
    insta::assert_snapshot!(clocks(&A, &B, &[([1000, 1100], [9040, 9090])]), @"
    pb [41960 43060] op202()
    pa [50000 51000] op201()
    note: times of host `b` are uncertain by 100 ns against host `a`
    ");
    // By 7,940 to 8,040 and by 8,000 to 8,020. That a server span ends after its client says nothing.
    insta::assert_snapshot!(clocks(&A, &B, &[([1000, 1100], [9040, 9990]), ([2000, 2020], [10_020, 10_021])]), @"
    pb [41980 43000] op202()
    pa [50000 51000] op201()
    note: times of host `b` are uncertain by 20 ns against host `a`
    ");
    // The same host, however it is called.
    insta::assert_snapshot!(clocks(&A, &A, &[]), @"
    pa [50000 51000] op201()
    pb [50000 51000] op202()
    ");
}

#[test]
fn clocks_that_are_unknown_or_set_are_errors() {
    insta::assert_snapshot!(clocks(&A, &B, &[]), @"line 2: the clocks of host `a` and host `b` cannot be compared");
    insta::assert_snapshot!(
        clocks(&A, &B, &[([1000, 1100], [9040, 9090]), ([2000, 2020], [11_000, 11_001])]),
        @"line 1: no offset between the clocks of host `b` and host `a` fits all spans: a clock was set during the trace (compare spans 0000000000000001 and 0000000000000065 with 0000000000000002 and 0000000000000066)"
    );
    // A client that gave up, and one that called twice, have perhaps seen no answer of this server.
    let input = hosts(&A, &B, &[([1000, 1100], [9040, 9090])]);
    assert!(read(&input).is_ok());
    assert!(read(&input.replacen("\"kind\": 3,", "\"kind\": 3, \"status\": {\"code\": 2},", 1)).is_err());
    let twice = hosts(&A, &B, &[([1000, 1100], [9040, 9090]), ([900, 0], [9000, 9090])]);
    let twice = twice.replace("\"parentSpanId\": \"0000000000000002\"", "\"parentSpanId\": \"0000000000000001\"");
    insta::assert_snapshot!(check(&twice), @"line 2: the clocks of host `a` and host `b` cannot be compared");
}

#[test]
fn declared_errors_and_drift_widen_intervals() {
    let with = |host: &[(&'static str, &'static str)], error| [host, &[("omnilink.clock_error", error)]].concat();
    insta::assert_snapshot!(clocks(&with(&A, "10"), &with(&B, "500"), &[]), @"
    pb [49490 51510] op202()
    pa [50000 51000] op201()
    note: times of host `b` are uncertain by 1.0 µs against host `a`
    ");
    insta::assert_snapshot!(
        clocks(&with(&A, "10"), &with(&B, "500"), &[([1000, 1100], [9040, 9090])]),
        @"line 1: no offsets between clocks fit all spans and errors; one of the clocks is host `a`"
    );
    // By default clocks drift by 50 ppm each. The trace takes less than 60,000 ns, which makes 6 ns in each direction.
    insta::assert_snapshot!(clocks(&A[..1], &B[..1], &[([1000, 1100], [9040, 9090])]), @"
    pb [41954 43066] op202()
    pa [50000 51000] op201()
    note: times of host `b` are uncertain by 112 ns against host `a`
    ");
}

#[test]
fn times_of_coarse_clocks_are_widened() {
    let time = |micros: u64| 1_700_000_000_000_000_000 + 1000 * micros;
    let key = [("omnilink.key", "1")];
    let shown = |resource: &[(&str, &str)], starts: [u64; 2]| {
        let [first, second] = starts.map(time);
        let spans = [span(1, first, first + 300, "", &key), span(2, second, second + 300, "", &key)];
        let trace = read(&document(resource, &spans)).unwrap();
        let ends: Vec<u64> = trace.records.iter().map(|record| record.end.at().unwrap() - record.start).collect();
        (ends, trace.notes.into_iter().find(|note| note.contains("multiples")))
    };
    let note = |tick| Some(format!("times are multiples of {tick}, so operations may have ended that much later"));
    assert_eq!(shown(&[], [2_000, 5_000]), (vec![1_000_299; 2], note("1.0 ms")));
    assert_eq!(shown(&[], [2_000, 5_001]), (vec![1_299; 2], note("1.0 µs")));
    assert_eq!(shown(&[("omnilink.clock_resolution", "100")], [2_000, 5_000]), (vec![399; 2], note("100 ns")));
    assert_eq!(shown(&[("omnilink.clock_resolution", "1")], [2_000, 5_000]), (vec![300; 2], None));
}

proptest! {
    #[test]
    fn damaged_spans_never_panic(
        at in any::<prop::sample::Index>(),
        with in "[\\[\\]{}\":0-9a-z\n ]{0,3}",
        length in 0usize..9,
    ) {
        let otlp = hosts(&A, &B, &[([1000, 1100], [9040, 9090])]);
        for (input, read) in [(otlp.as_str(), read as fn(&str) -> _), (JAEGER, read_jaeger)] {
            let _: Result<Trace, FormatError> = read(&damaged(input, &at, &with, length));
        }
    }

    #[test]
    fn identifiers_in_base64_are_those_in_hexadecimal(bytes in any::<[u8; 16]>()) {
        use crate::format::json::Json;
        const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let three = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
            let all = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
            for place in 0..4 {
                let digit = char::from(DIGITS[(all >> (18 - 6 * place)) as usize & 63]);
                text.push(if place <= chunk.len() { digit } else { '=' });
            }
        }
        let id = |text: String| span::read_id(&Node::document(&Json::Text(text), 1), 16);
        prop_assert_eq!(id(text), Ok(u128::from_be_bytes(bytes)));
        prop_assert_eq!(id(format!("{:032x}", u128::from_be_bytes(bytes))), Ok(u128::from_be_bytes(bytes)));
    }
}
