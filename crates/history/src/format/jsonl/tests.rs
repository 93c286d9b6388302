//! Lines that are read, refused and written.

use super::*;

/// The trace for display, or the error.
fn check(text: &str) -> String {
    let trace = match read(text.as_bytes()) {
        Ok(trace) => trace,
        Err(FormatError { help: Some(help), at, message }) => return format!("{at}: {message}; {help}"),
        Err(error) => return error.to_string(),
    };
    let lines = trace.records.iter().map(|Record { process, start, end, call }| {
        let process = &trace.processes[process.index()];
        let meta: Vec<String> = call.meta.iter().map(|(name, value)| format!(" | {name}: {value}")).collect();
        format!("{process} [{start} {end}] {call}{}", meta.concat())
    });
    lines.chain(trace.cuts.iter().map(ToString::to_string)).collect::<Vec<_>>().join("\n")
}

/// One line with these fields added to the required ones.
fn check_line(fields: &str) -> String {
    check(&format!(r#"{{"process": 0, "action": "a", "start": 1, {fields}}}"#))
}

#[test]
fn the_last_progress_of_a_process_counts_its_operations() {
    let text = |operations: u64| {
        let last = format!("{{\"process\": \"a\", \"progress\": 9, \"operations\": {operations}, \"is_last\": true}}");
        let of = |process: &str| {
            format!("{{\"process\": \"{process}\", \"action\": \"read\", \"start\": 1, \"end\": 2, \"seq\": 0}}")
        };
        read([of("a"), of("b"), last].join("\n").as_bytes()).expect("a trace")
    };
    assert_eq!(text(1).losses, [""; 0]);
    let note = "operations lost at the end of 1 process would go unnoticed: no `count` says how many there were";
    assert_eq!(text(1).notes, [note]);
    assert_eq!(text(3).losses, ["2 operations of a are missing after seq 0: `count` is 3"]);
}

#[test]
fn progress_is_for_monitors() {
    let text =
        "{\"process\": \"a\", \"progress\": 0}\n{\"process\": \"a\", \"action\": \"read\", \"start\": 1, \"end\": 2}\n";
    assert_eq!(read(text.as_bytes()).unwrap().records.len(), 1);
}

#[test]
fn numbers_show_what_is_missing() {
    let losses = |numbers: &[&str]| {
        let line = |(place, number): (usize, &&str)| {
            let (process, start) = (place % 2, 10 * place);
            format!(r#"{{"process": "p{process}", "action": "a", "start": {start}, "end": {start}{number}}}"#)
        };
        let lines: Vec<String> = numbers.iter().enumerate().map(line).collect();
        match read(lines.join("\n").as_bytes()) {
            Ok(trace) => [trace.losses, trace.notes].concat().join("; "),
            Err(error) => error.to_string(),
        }
    };
    insta::assert_snapshot!(losses(&["", "", ""]), @"");
    let (one, two) = (", \"seq\": 0", ", \"seq\": 1, \"count\": 2");
    insta::assert_snapshot!(losses(&[one, one, two, two]), @"");
    insta::assert_snapshot!(losses(&[one, one, ", \"seq\": 3", two]), @"2 operations of p0 are missing between seq 0 and 3; operations of p0 may be missing after seq 3: no `count` of 4 is there");
    insta::assert_snapshot!(losses(&[one, "", ", \"seq\": 1"]), @"lost operations of 1 process would go unnoticed: they have no `seq`; operations lost at the end of 1 process would go unnoticed: no `count` says how many there were");
    insta::assert_snapshot!(losses(&[one, one, ""]), @"line 1: some operations of `p0` have a `seq`, and some do not");
    insta::assert_snapshot!(losses(&[", \"seq\": -1"]), @"line 1: `seq` is not an integer of 64 bits from 0 on");
}

#[test]
fn numbers_order_operations_with_equal_times() {
    let line = |seq: u64, action: &str| {
        format!("{{\"process\": \"a\", \"action\": \"{action}\", \"start\": 2, \"end\": 2, \"seq\": {seq}}}\n")
    };
    let trace = read((line(1, "read") + &line(2, "stop") + &line(0, "write")).as_bytes()).expect("a trace");
    let actions: Vec<&str> = trace.records.iter().map(|record| record.call.action()).collect();
    assert_eq!(actions, ["write", "read", "stop"]);
}

#[test]
fn operations_are_read() {
    let text = r##"
        // Comments and empty lines are skipped.
        # These too.
        {"process": 0, "action": "put", "args": {"key": 1, "value": 2}, "results": {"ok": true}, "start": 10, "end": 20}
        {"process": "w", "action": "read", "results": null, "start": 18446744073709551614, "end": 18446744073709551615}
        {"process": "0", "action": "cas", "args": [1, 2], "start": 30, "end": 35, "failed": true, "meta": {"node": "n1"}}
        {"process": 0, "action": "push", "args": "x", "results": null, "start": 40, "end": null}
        {"process": 1, "action": "push", "args": "x", "results": null, "start": 40, "outcome": "unknown"}
        {"process": 2, "action": "push", "args": "x", "start": 40, "outcome": "unknown", "latest": 50}
        {"process": 3, "action": "push", "args": "x", "start": 40, "latest": 40}
    "##;
    insta::assert_snapshot!(check(text), @r#"
    0 [10 20] put(key: 1, value: 2) = ok: TRUE
    w [18446744073709551614 18446744073709551615] read() = nil
    0 [30 35] cas(1, 2) failed | node: "n1"
    0 [40 ...] push("x")
    1 [40 ...] push("x")
    2 [40 ..50] push("x")
    3 [40 ..40] push("x")
    "#);
}

#[test]
fn values_are_read_in_the_natural_way() {
    let values = r##"null, true, -3, 1.5, 4.0, 1e20, "s", [], [1, [2]], {"b": 1, "a": {}}, {"#set": [2, 1, 2]},
        {"#fun": [[0, "z"], [[1], "t"]]}, {"#set": 1, "x": 2}, 18446744073709551615"##;
    insta::assert_snapshot!(check_line(&format!(r#""args": [{}]"#, values.replace('\n', ""))), @r##"0 [1 ...] a(nil, TRUE, -3, 1.5, 4, 100000000000000000000, "s", <<>>, <<1, <<2>>>>, [a |-> <<>>, b |-> 1], {1, 2}, (0 :> "z" @@ <<1>> :> "t"), ("#set" :> 1 @@ "x" :> 2), 18446744073709551615)"##);
}

#[test]
fn invalid_operations_are_rejected() {
    let deep = format!(r#""args": [{}{}]"#, "[".repeat(33), "]".repeat(33));
    let fields = [
        r#""ends": 3"#,
        r#""type": "invoke""#,
        r#""end": 2.5"#,
        r#""end": -2"#,
        r#""end": "2""#,
        r#""results": [1]"#,
        r#""failed": 1"#,
        r#""outcome": 1"#,
        r#""outcome": "ok""#,
        r#""outcome": "unknown", "end": 2"#,
        r#""latest": 2, "end": 2"#,
        r#""latest": 2, "failed": true"#,
        r#""latest": "2""#,
        r#""latest": 2, "results": [1]"#,
        r#""meta": 1"#,
        r##""args": {"#set": [1]}"##,
        r##""args": [{"#set": 1}]"##,
        r##""args": [{"#fun": [[1]]}]"##,
        r##""args": [{"#fun": [[1, 2], [1, 3]]}]"##,
        r#""args": {"a": 1, "a": 2}"#,
        &deep,
    ];
    insta::assert_snapshot!(fields.map(check_line).join("\n"), @"
    line 1: unknown key `ends`; did you mean `end`?
    line 1: unknown key `type`; the keys are `process`, `action`, `args`, `results`, `start`, `end`, `failed`, `outcome`, `latest`, `meta`, `seq`, `count`
    line 1: `end` is 2.5, which is not an integer of 64 bits; times are integers; count in a smaller unit, such as nanoseconds, instead of fractions
    line 1: `end` is -2, but times cannot be negative
    line 1: `end` is a string, not an integer
    line 1: there are `results` but no `end`; an unfinished operation has no results; leave them out, or add its `end`
    line 1: `failed` is an integer, not `true` or `false`
    line 1: `outcome` is an integer, not the string `unknown` or `blocked`
    line 1: `outcome` is `ok`, not `unknown` or `blocked`; an operation that returned has an `end`, and one that had no effect is `failed`
    line 1: `outcome` is unknown, but there is an `end`; leave out `end`: the time at which a client stops waiting does not bound its operation; give its bound, if known, as `latest`
    line 1: there is a `latest` time, but there is an `end`; leave out `end`: the time at which a client stops waiting does not bound its operation; give its bound, if known, as `latest`
    line 1: a failed operation cannot have an unknown outcome
    line 1: `latest` is a string, not an integer
    line 1: there are `results` but no `end`; an unfinished operation has no results; leave them out, or add its `end`
    line 1: `meta` is an integer, not an object
    line 1: `args` is a value with `#set`; an object gives names to arguments or results; put a single set or function into an array
    line 1: `#set` is an integer, not an array
    line 1: `#fun` is not an array of pairs
    line 1: `#fun` has two results for one argument
    line 1: column 51: the key `a` occurs twice
    line 1: a value is nested deeper than 32
    ");
    let texts = ["7", r#"{"process": 0, "start": 1}"#, r#"{"process": 1.5}"#, "{\"process\"\n{}", "\n{\"process\" 0}"];
    insta::assert_snapshot!(texts.map(check).join("\n"), @"
    line 1: a line is an integer, not an object
    line 1: the key `action` is missing
    line 1: `process` is a number, not an integer or a string
    line 1: column 11: expected `:`, found the end of the text
    line 2: column 12: expected `:`, found `0`
    ");
}

#[test]
fn a_last_line_that_breaks_off_is_a_loss_unless_it_has_no_operation() {
    let line = r#"{"process": "p", "action": "é\ud83d\ude00", "failed": false, "args": [null, -0.5e-1], "start": 1}"#;
    let text = format!("{line}\n");
    let two = text.repeat(2);
    for length in text.len() + 1..two.len() - 1 {
        let trace = read(&two.as_bytes()[..length]).unwrap();
        assert_eq!(trace.records.len(), 1);
        assert_eq!(trace.losses, ["line 2, the last one, is incomplete"]);
    }
    let whole = read(&two.as_bytes()[..two.len() - 1]).unwrap();
    assert_eq!((whole.records.len(), whole.losses.len()), (2, 0));
    for rest in ["/", r#"{"event": "parti"#, r#"{"progress": 1"#] {
        let trace = read(format!("{text}{rest}").as_bytes()).unwrap();
        assert_eq!((trace.records.len(), trace.losses.len()), (1, 0));
        assert_eq!(trace.cuts[0].to_string(), "breaks off after 99 bytes: the last line is incomplete");
    }
}

#[test]
fn calls_that_json_cannot_express_are_not_written() {
    let check = |args: Fields, results: Fields| {
        let mut trace = Trace::default();
        let (process, call) = (trace.process("0"), Schemas::default().call("a", args, results));
        trace.records.push(Record { process, start: 1, end: None.into(), call });
        write(&trace, Vec::new()).unwrap_err().to_string()
    };
    let field = |name: &str| (Arc::from(name), Value::Nil);
    insta::assert_snapshot!(check(vec![field("x"), field("x")], vec![]), @"`a(x: nil, x: nil)` cannot be written in this format: the name `x` occurs twice");
    insta::assert_snapshot!(check(vec![field("#set")], vec![]), @r##"`a("#set": nil)` cannot be written in this format: a single field has the reserved name `#set`"##);
    insta::assert_snapshot!(check(vec![], vec![field("")]), @"`a() = nil` cannot be written in this format: it has results but no end");
    let deep = (0..33).fold(Value::Nil, |inner, _| Value::tuple([inner]));
    assert!(check(vec![("".into(), deep)], vec![]).ends_with("a value is nested deeper than 32"));
}

#[test]
fn clock_errors_make_operations_longer() {
    let shown = |text: &str| {
        let trace = read(text.as_bytes()).unwrap();
        let show =
            |record: &Record| format!("{} [{} {}]", trace.processes[record.process.index()], record.start, record.end);
        trace.records.iter().map(show).collect::<Vec<_>>().join(", ")
    };
    let lines = r#"{"process": "a", "action": "x", "start": 10, "end": 20}
{"process": "a", "action": "x", "start": 30, "end": null, "latest": 40}
{"process": "b", "action": "x", "start": 25, "end": 26}
"#;
    assert_eq!(shown(lines), "a [10 20], a [30 ..40], b [25 26]");
    let little = r#"{"process": "a", "clock_error": 5}"#;
    assert_eq!(shown(&format!("{lines}{little}")), "a [5 25], a [25 ..45], b [25 26]");
    let much = r#"{"clock_error": 15, "process": "a"}"#;
    assert_eq!(shown(&format!("{much}\n{lines}")), "a [0 35], a#2 [15 ..55], b [25 26]");
    let wrong = |line: &str| read(line.as_bytes()).unwrap_err().to_string();
    assert_eq!(wrong(r#"{"clock_error": 15}"#), "line 1: the key `process` is missing");
    let negative = wrong(r#"{"process": "a", "clock_error": -1}"#);
    assert_eq!(negative, "line 1: `clock_error` is -1, but times cannot be negative");
}

#[test]
fn lines_beside_operations_may_come_first() {
    for line in [
        r#"{"process": "a", "action": "read"}"#,
        r#"{"event": "partition", "start": 1}"#,
        r#"{"process": "a", "progress": 0, "operations": 0}"#,
        r#"{"process": "a", "clock_error": 5}"#,
    ] {
        assert_eq!(crate::format::Format::detect(line.as_bytes()), Some(crate::format::Format::JsonLines), "{line}");
    }
    assert_eq!(crate::format::Format::detect(br#"{"process": "a", "message": "ready"}"#), None);
}
