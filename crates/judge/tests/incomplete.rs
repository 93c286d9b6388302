//! A trace from which operations are missing has no verdict.

use omnilink_judge::{Case, CheckOptions, Failed, Judge, Recording, ShowOptions, Unlimited};
use omnilink_report::{Limit, Verdict};

/// Spans of a register: the operations with these numbers of five, and their count.
fn spans(numbers: &[usize]) -> String {
    let operations = ["write 1", "write 2", "read 2", "write 3", "read 3"];
    let mut lines = Vec::new();
    let mut add = |id: usize, attributes: String| {
        let (start, end) = (10 * id, 10 * id + 5);
        lines.push(format!(
            r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"traceId": "{:032x}", "spanId": "{id:016x}",
            "startTimeUnixNano": {start}, "endTimeUnixNano": {end}, "attributes": [{attributes},
            {{"key": "omnilink.process", "value": {{"stringValue": "client-1"}}}}]}}]}}]}}]}}"#,
            1
        ));
    };
    for &number in numbers {
        let (action, value) = operations[number].split_once(' ').expect("an action and a value");
        let field = if action == "read" { "result" } else { "arg" };
        add(
            number + 1,
            format!(
                r#"{{"key": "omnilink.action", "value": {{"stringValue": "{action}"}}}},
                {{"key": "omnilink.{field}.value", "value": {{"intValue": {value}}}}},
                {{"key": "omnilink.seq", "value": {{"intValue": {number}}}}}"#
            ),
        );
    }
    add(99, r#"{"key": "omnilink.count", "value": {"intValue": 5}}"#.into());
    lines.join("\n")
}

fn judged(text: &str) -> omnilink_report::Report {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("spans.json");
    std::fs::write(&path, text).expect("a file");
    let judge = Judge::new("register", CheckOptions::default()).expect("a specification");
    let recording = Recording::at(&path, None);
    let mut case = Case { recording: &recording, label: "spans", witness: None, limits: &Unlimited };
    let report = judge.report(&mut case).expect("a report");
    let shown = judge.show(&mut case, &ShowOptions::default()).expect("a report");
    assert_eq!(shown.report.verdict, report.verdict);
    let has_history = !matches!(report.verdict, Verdict::Inconclusive { .. });
    assert_eq!(recording.history().is_ok(), has_history);
    assert!(has_history || matches!(recording.history(), Err(Failed::Stopped(_))));
    report
}

#[test]
fn missing_operations_are_inconclusive() {
    assert_eq!(judged(&spans(&[0, 1, 2, 3, 4])).verdict, Verdict::Accepted);
    // Without its write, the read of 3 would be rejected; without the reads, all would be accepted.
    for (numbers, stop) in [
        (&[0, 1, 2, 4][..], "1 operation of client-1 is missing between seq 2 and 4"),
        (&[0, 1, 3], "1 operation of client-1 is missing between seq 1 and 3"),
        (&[1, 2, 3, 4], "1 operation of client-1 is missing before seq 1"),
        (&[0, 1, 2, 3], "1 operation of client-1 is missing after seq 3: `omnilink.count` is 5"),
        (&[], "5 operations of client-1 are missing: `omnilink.count` is 5"),
    ] {
        let report = judged(&spans(numbers));
        assert_eq!(report.verdict, Verdict::Inconclusive { limit: Limit::Incomplete, stop: stop.into() });
        assert_eq!(report.history.operations, None);
    }
}

#[test]
fn every_loss_is_named() {
    let report = judged(&spans(&[2, 4]));
    let stop = "2 operations of client-1 are missing before seq 2".into();
    assert_eq!(report.verdict, Verdict::Inconclusive { limit: Limit::Incomplete, stop });
    assert_eq!(
        report.notes,
        [
            "1 operation of client-1 is missing between seq 2 and 4",
            "a lost operation makes a correct system look wrong, so the history was not checked",
        ]
    );
}
