//! Cases that once had a wrong answer, as lines.

use judge::Judge;
use monitor::{Alert, AlertKind, Counts, Lines, Monitor, Options};

/// Feeds lines, with a check after each, and returns what was told and counted before the end and after it.
fn watch(options: Options, lines: &str) -> (Vec<Alert>, Counts, Counts) {
    let judge = Judge::new("register:initial=0", judge::Options::default()).expect("a built-in specification");
    let (mut monitor, mut reader, mut alerts) = (Monitor::new(judge, options), Lines::default(), Vec::new());
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match reader.read(line) {
            Ok(line) => monitor.feed(line),
            Err(_) => monitor.feed_unreadable(),
        }
        alerts.extend(monitor.advance());
    }
    let before = monitor.counts();
    alerts.extend(monitor.finish(false));
    (alerts, before, monitor.counts())
}

fn kinds(alerts: &[Alert]) -> Vec<AlertKind> {
    alerts.iter().map(|alert| alert.kind).collect()
}

#[test]
fn a_write_of_unknown_outcome_settles_nothing() {
    let options = Options { unknown_for: Some(10), joins: true, ..Options::default() };
    let (alerts, _, counts) = watch(
        options,
        r#"{"process": "b", "progress": 0}
        {"process": "a", "progress": 0}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 5}, "start": 30, "outcome": "unknown", "seq": 0}
        {"process": "b", "action": "read", "args": {"key": 1}, "start": 100, "end": 110, "results": {"value": 0}, "seq": 0}
        {"process": "a", "progress": 200, "operations": 1, "is_last": true}
        {"process": "b", "progress": 200, "operations": 1, "is_last": true}"#,
    );
    assert_eq!((kinds(&alerts), counts.unknown), (vec![], 2));
}

#[test]
fn an_operation_that_ends_at_the_watermark_is_not_decided() {
    let lines = r#"{"process": "a", "progress": 0}
        {"process": "b", "progress": 0}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 1}, "start": 1, "end": 2, "seq": 0}
        {"process": "b", "action": "read", "args": {"key": 1}, "start": 3, "end": 4, "results": {"value": 77}, "seq": 0}
        {"process": "a", "progress": 4, "operations": 1}"#;
    let (alerts, before, after) = watch(Options::default(), lines);
    assert_eq!((before.checked, before.operations), (1, 2));
    assert_eq!((kinds(&alerts), after.unknown), (vec![], 1));
    // Once nothing has come for long, it is.
    let silence = "\n#".repeat(4);
    let (alerts, before, _) = watch(Options { idle: Some(2), ..Options::default() }, &(lines.to_owned() + &silence));
    assert_eq!((kinds(&alerts), before.checked), (vec![AlertKind::Violation], 2));
}

#[test]
fn a_last_word_that_comes_late_or_twice_is_no_loss() {
    let (alerts, _, counts) = watch(
        Options::default(),
        r#"{"process": "a", "progress": 0}
        {"process": "b", "progress": 0}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 5}, "start": 10, "outcome": "unknown", "seq": 0}
        {"process": "b", "action": "read", "args": {"key": 2}, "start": 20, "end": 30, "results": {"value": 0}, "seq": 0}
        {"process": "b", "progress": 60000, "operations": 1}
        {"process": "a", "progress": 60000, "operations": 1, "is_last": true}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 5}, "start": 10, "outcome": "unknown", "seq": 0}
        {"process": "b", "progress": 61000, "operations": 1, "is_last": true}
        {"process": "a", "progress": 60000, "operations": 1, "is_last": true}"#,
    );
    assert_eq!((kinds(&alerts), counts.lost, counts.duplicates), (vec![], 0, 1));
}

#[test]
fn the_largest_number_is_unreadable() {
    let line =
        r#"{"process": "a", "action": "read", "args": {"key": 1}, "start": 3, "end": 4, "seq": 18446744073709551615}"#;
    let (_, _, counts) = watch(Options::default(), line);
    assert_eq!((counts.operations, counts.checked), (0, 0));
}

#[test]
fn a_late_operation_is_counted_once_with_those_that_are_decided_again() {
    let options = Options { retention: 100, idle: Some(1), ..Options::default() };
    let (alerts, _, counts) = watch(
        options,
        r#"{"process": "a", "action": "write", "args": {"key": 1, "value": 1}, "start": 1, "end": 2, "seq": 0}
        {"process": "a", "action": "read", "args": {"key": 1}, "start": 9, "end": 12, "results": {"value": 2}, "seq": 1}
        {"process": "a", "progress": 20, "operations": 2, "is_last": true}
        #
        {"process": "b", "action": "write", "args": {"key": 1, "value": 2}, "start": 5, "end": 6, "seq": 0}
        {"process": "b", "progress": 20, "operations": 1, "is_last": true}"#,
    );
    assert_eq!(kinds(&alerts), [AlertKind::Violation, AlertKind::Withdrawn]);
    assert_eq!((counts.operations, counts.checked, counts.late), (3, 3, 1));
}

#[test]
fn a_failed_operation_in_flight_is_counted() {
    let (alerts, _, counts) = watch(
        Options::default(),
        r#"{"process": "a", "progress": 0}
        {"process": "b", "progress": 0}
        {"process": "b", "action": "write", "args": {"key": 1, "value": 5}, "start": 10, "end": 90, "failed": true, "seq": 0}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 1}, "start": 15, "end": 20, "seq": 0}
        {"process": "a", "progress": 60, "operations": 1}
        {"process": "b", "progress": 100, "operations": 1, "is_last": true}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 1}, "start": 120, "end": 130, "seq": 1}
        {"process": "a", "progress": 200, "operations": 2, "is_last": true}"#,
    );
    assert_eq!((kinds(&alerts), counts.checked, counts.operations), (vec![], 3, 3));
}
