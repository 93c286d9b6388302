//! Small cases as lines: answers that were once wrong, limits, and counts.

use omnilink_history::Stop;
use omnilink_judge::{Judge, Limits};
use omnilink_monitor::{Alert, AlertKind, Checkpoint, Counts, Lines, Monitor, MonitorOptions};

/// Feeds lines, with a check after each, and returns the alerts and the counts before the end and after it.
fn watch(options: MonitorOptions, lines: &str) -> (Vec<Alert>, Counts, Counts) {
    watch_spec("register:initial=0", options, lines)
}

/// The same for another type.
fn watch_spec(spec: &str, options: MonitorOptions, lines: &str) -> (Vec<Alert>, Counts, Counts) {
    let (mut monitor, mut alerts) = begin(spec, options, lines);
    let before = monitor.counts();
    alerts.extend(monitor.finish(false));
    (alerts, before, monitor.counts())
}

/// A monitor that has seen these lines, and its alerts.
fn begin(spec: &str, options: MonitorOptions, lines: &str) -> (Monitor, Vec<Alert>) {
    let judge = Judge::new(spec, omnilink_judge::CheckOptions::default()).expect("a built-in specification");
    let (mut monitor, mut reader, mut alerts) = (Monitor::new(judge, options), Lines::default(), Vec::new());
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match reader.read(line) {
            Ok(line) => monitor.feed(line),
            Err(_) => monitor.feed_unreadable(),
        }
        alerts.extend(monitor.advance());
    }
    (monitor, alerts)
}

fn kinds(alerts: &[Alert]) -> Vec<AlertKind> {
    alerts.iter().map(|alert| alert.kind).collect()
}

#[test]
fn a_write_of_unknown_outcome_settles_nothing() {
    let options = MonitorOptions { unknown_for: Some(10), joins: true, ..MonitorOptions::default() };
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
    let (alerts, before, after) = watch(MonitorOptions::default(), lines);
    assert_eq!((before.checked, before.operations), (1, 2));
    assert_eq!((kinds(&alerts), after.unknown), (vec![], 1));
    // Once nothing has come for long, it is.
    let silence = "\n#".repeat(4);
    let (alerts, before, _) =
        watch(MonitorOptions { idle: Some(2), ..MonitorOptions::default() }, &(lines.to_owned() + &silence));
    assert_eq!((kinds(&alerts), before.checked), (vec![AlertKind::Violation], 2));
}

#[test]
fn a_last_word_that_comes_late_or_twice_is_no_loss() {
    let (alerts, _, counts) = watch(
        MonitorOptions::default(),
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
    let (_, _, counts) = watch(MonitorOptions::default(), line);
    assert_eq!((counts.operations, counts.checked), (0, 0));
}

#[test]
fn a_late_operation_is_counted_once_with_those_that_are_decided_again() {
    let options = MonitorOptions { retention: 100, idle: Some(1), ..MonitorOptions::default() };
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
        MonitorOptions::default(),
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

#[test]
fn an_operation_of_unknown_outcome_is_one_of_its_process() {
    let lines = |after: &str| {
        format!(
            r#"{{"process": "a", "progress": 0}}
            {{"process": "b", "progress": 0}}
            {{"process": "a", "action": "acquire", "args": {{"key": 2}}, "start": 0, "end": 2, "seq": 0}}
            {{"process": "a", "action": "release", "args": {{"key": 2}}, "start": 4, "outcome": "unknown", "seq": 1}}
            {after}
            {{"process": "a", "progress": 30, "is_last": true}}
            {{"process": "b", "progress": 30, "is_last": true}}"#
        )
    };
    let acquired = r#"{"process": "b", "action": "acquire", "args": {"key": 2}, "start": 6, "end": 7, "seq": 0}"#;
    let (alerts, _, counts) = watch_spec("mutex", MonitorOptions::default(), &lines(acquired));
    assert_eq!((kinds(&alerts), counts.checked), (vec![], 3));
    // It goes on as itself: the release may have come before or after the attempt, and the lock was its own.
    let goes_on = |ok: bool| {
        format!(
            r#"{{"process": "a", "action": "release", "args": {{"key": 2}}, "start": 6, "end": 7, "results": [{ok}], "seq": 2}}"#
        )
    };
    for ok in [true, false] {
        let (alerts, _, counts) = watch_spec("mutex", MonitorOptions::default(), &lines(&goes_on(ok)));
        assert_eq!((kinds(&alerts), counts.checked), (vec![], 3));
    }
    let both =
        goes_on(true) + "\n" + &goes_on(true).replace("\"seq\": 2", "\"seq\": 3").replace("6", "8").replace("7", "9");
    assert_eq!(kinds(&watch_spec("mutex", MonitorOptions::default(), &lines(&both)).0), [AlertKind::Violation]);
}

#[test]
fn a_process_does_not_read_what_it_writes_later() {
    let lines = |first: u64| {
        format!(
            r#"{{"process": "a", "progress": 0}}
            {{"process": "a", "action": "read", "args": {{"key": 0}}, "start": 7, "end": 12, "results": [4], "seq": 0}}
            {{"process": "a", "action": "write", "args": {{"key": 0, "value": 4}}, "start": {first}, "outcome": "unknown", "seq": 1}}
            {{"process": "a", "progress": 15, "is_last": true, "operations": 2}}"#
        )
    };
    assert_eq!(kinds(&watch(MonitorOptions::default(), &lines(12)).0), [AlertKind::Violation]);
    // An operation that starts while the other runs may come first.
    assert_eq!(kinds(&watch(MonitorOptions::default(), &lines(11)).0), []);
}

#[test]
fn every_built_in_type_is_watched_key_by_key() {
    let cases = [
        ("queue", "enqueue", "dequeue"),
        ("stack", "push", "pop"),
        ("priority-queue", "insert", "delete_min"),
        ("set", "add", "contains"),
        ("counter", "add", "read"),
        ("register", "write", "read"),
    ];
    for (spec, write, read) in cases {
        let (name, wrong, argument) = match spec {
            "counter" => ("delta", "7", ""),
            "set" => ("value", "false", r#", "value": 1"#),
            _ => ("value", "7", ""),
        };
        for key in ["key", "account"] {
            let lines = format!(
                r#"{{"process": "a", "progress": 0}}
                {{"process": "a", "action": "{write}", "args": {{"{key}": 7, "{name}": 1}}, "start": 1, "end": 2, "seq": 0}}
                {{"process": "a", "action": "{write}", "args": {{"{key}": 8, "{name}": 1}}, "start": 3, "end": 4, "seq": 1}}
                {{"process": "a", "action": "{read}", "args": {{"{key}": 8{argument}}}, "results": [{wrong}], "start": 5, "end": 6, "seq": 2}}
                {{"process": "a", "progress": 9, "operations": 3, "is_last": true}}"#
            );
            let options = MonitorOptions { key: Some(key.to_owned()), ..MonitorOptions::default() };
            let (alerts, _, counts) = watch_spec(spec, options, &lines);
            assert_eq!((kinds(&alerts), counts.checked), (vec![AlertKind::Violation], 3), "{spec} {key}: {alerts:?}");
            assert_eq!((&*alerts[0].key, alerts[0].at), ("8", Some(5)));
        }
    }
}

#[test]
fn operations_are_named_by_their_number_in_the_input() {
    let mut lines = r#"{"process": "a", "progress": 0}"#.to_owned();
    for number in 0..30 {
        let (start, end, value) = (10 * number + 1, 10 * number + 2, if number == 27 { 7 } else { 0 });
        lines += &format!(
            "\n{{\"process\": \"a\", \"action\": \"read\", \"args\": {{\"key\": 1}}, \"results\": [{value}], \"start\": {start}, \"end\": {end}}}"
        );
    }
    let (alerts, ..) = watch(MonitorOptions::default(), &lines);
    assert_eq!(alerts.len(), 1);
    let report = alerts[0].report.as_deref().expect("the report of a first violation");
    let blamed = report.operations.iter().find(|op| Some(op.start) == alerts[0].at).expect("an operation");
    assert_eq!(blamed.name, "a:27");
}

#[test]
fn keys_and_values_as_numbers_and_as_text_are_said() {
    let lines = r#"{"process": "a", "progress": 0}
        {"process": "a", "action": "put", "args": {"key": 7, "value": 1}, "start": 1, "end": 2}
        {"process": "a", "action": "get", "args": {"key": "7"}, "results": [null], "start": 3, "end": 4}
        {"process": "a", "action": "put", "args": {"key": 8, "value": 1}, "start": 5, "end": 6}
        {"process": "a", "action": "get", "args": {"key": "8"}, "results": [1], "start": 7, "end": 8}
        {"process": "a", "progress": 9, "is_last": true}"#;
    let (alerts, _, counts) = watch_spec("kv", MonitorOptions::default(), lines);
    // Two keys each, of which `"8"` has a value that was not written there.
    assert_eq!((kinds(&alerts), counts.wrong), (vec![AlertKind::Wrong, AlertKind::Violation], 1));
    let sentence = &alerts[0].sentence;
    assert!(sentence.starts_with("the key 7 is a number in a:0 and text in a:1: "), "{sentence}");
    // One key each, of which 7 has lost its value.
    let (alerts, ..) = watch_spec("kv:digits=number", MonitorOptions::default(), lines);
    assert_eq!((kinds(&alerts), &*alerts[0].key), (vec![AlertKind::Violation], "7"));
    // Texts that no number prints as, and other types of keys, are left alone.
    let others = lines.replace(r#""7""#, r#""07""#).replace(r#""8""#, "8");
    assert!(watch_spec("kv", MonitorOptions::default(), &others).0.is_empty());

    // Within a key, also after the check that saw the first one.
    let values = |last: &str| {
        format!(
            r#"{{"process": "a", "progress": 0}}
            {{"process": "a", "action": "write", "args": {{"key": 1, "value": 5}}, "start": 1, "end": 2}}
            {{"process": "a", "progress": {last}}}
            {{"process": "a", "action": "read", "args": {{"key": 1}}, "results": ["5"], "start": 20, "end": 21}}
            {{"process": "a", "progress": 30, "is_last": true}}"#
        )
    };
    for (last, place) in [("2", "a:0"), ("10", "an earlier operation")] {
        let (alerts, ..) = watch(MonitorOptions::default(), &values(last));
        assert_eq!(kinds(&alerts), [AlertKind::Wrong]);
        assert_eq!(alerts[0].sentence, format!("the value 5 is a number in {place} and text in a:1"));
    }
}

#[test]
fn a_check_that_reaches_a_limit_does_not_stop_others() {
    #[derive(Debug)]
    struct Reached(Stop);
    impl Limits for Reached {
        fn poll(&self, _: &omnilink_search::Stats) -> Option<Stop> {
            Some(self.0)
        }
        fn exceeded(&self) -> Option<Stop> {
            Some(self.0)
        }
    }
    // Equal elements that are added beside each other take a search: one of them is left when the queue is found empty.
    let line = |process: &str, action: &str, args: String, results: &str, start: u64, end: u64| {
        format!(
            r#"{{"process": "{process}", "action": "{action}", "args": {{{args}}}, "results": [{results}], "start": {start}, "end": {end}}}"#
        )
    };
    let mut lines = Vec::new();
    for key in [1, 2] {
        for process in 0..9 {
            let args = format!(r#""key": {key}, "value": {}"#, process / 2);
            lines.push(line(&format!("{key}-{process}"), "enqueue", args, "", 0, 100));
        }
        for (place, element) in ["0", "1", "2", "3", "0", "1", "2", "3", "null"].into_iter().enumerate() {
            let start = 200 + 2 * place as u64;
            lines.push(line(
                &format!("reader {key}"),
                "dequeue",
                format!(r#""key": {key}"#),
                element,
                start,
                start + 1,
            ));
        }
    }
    for (stop, expected) in [
        (Stop::Time, vec![AlertKind::Inconclusive, AlertKind::Violation]),
        // An interrupt ends the monitor, but does not affect the key.
        (Stop::Interrupted, vec![AlertKind::Violation]),
    ] {
        let judge = Judge::new("queue", omnilink_judge::CheckOptions::default()).expect("a built-in specification");
        let (mut monitor, mut reader) = (Monitor::new(judge, MonitorOptions::default()), Lines::default());
        for line in &lines {
            monitor.feed(reader.read(line).expect("a line"));
        }
        let limits = |key: &str| -> Box<dyn Limits> {
            if key == "1" { Box::new(Reached(stop)) } else { Box::new(omnilink_judge::Unlimited) }
        };
        let alerts = monitor.finish_within(true, &limits);
        assert_eq!(kinds(&alerts), expected);
    }
}

#[test]
fn violations_of_one_cause_have_few_reports() {
    let mut lines = r#"{"process": "a", "progress": 0}"#.to_owned();
    for key in 1..4 {
        lines += &format!(
            "\n{{\"process\": \"a\", \"action\": \"read\", \"args\": {{\"key\": {key}}}, \"results\": [7], \"start\": {0}1, \"end\": {0}2}}",
            key
        );
    }
    lines += "\n{\"process\": \"a\", \"progress\": 100}";
    let options = MonitorOptions { most_reports: 2, ..MonitorOptions::default() };
    let (monitor, alerts) = begin("register:initial=0", options, &lines);
    let told: Vec<_> = alerts.iter().map(|alert| (alert.number, alert.repeated, alert.report.is_some())).collect();
    assert_eq!(told, [(1, 0, true), (2, 1, true), (3, 2, false)]);
    assert_eq!(monitor.alerts(), 3);
    let causes = monitor.causes();
    let [cause] = &*causes else { panic!("one cause: {alerts:?}") };
    // Each is found once its process has gone on.
    assert_eq!((cause.violations, cause.first, cause.between), (3, 1, (22, 100)));
    assert_eq!((&cause.cause, &cause.sentence), (&alerts[0].cause, &alerts[2].sentence));
}

#[test]
fn the_operations_of_a_key_without_a_quiet_instant_are_limited() {
    let lines = r#"{"process": "a", "progress": 0}
        {"process": "b", "progress": 0}
        {"process": "b", "action": "write", "args": {"key": 1, "value": 1}, "start": 1, "end": 100, "seq": 0}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 2}, "start": 2, "end": 3, "seq": 0}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 3}, "start": 4, "end": 5, "seq": 1}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 4}, "start": 6, "end": 7, "seq": 2}
        {"process": "a", "progress": 200, "operations": 3, "is_last": true}
        {"process": "b", "progress": 200, "operations": 1, "is_last": true}"#;
    let (alerts, _, counts) = watch(MonitorOptions { most_ops: 4, ..MonitorOptions::default() }, lines);
    assert_eq!((kinds(&alerts), counts.checked, counts.inconclusive), (vec![], 4, 0));
    let (alerts, _, counts) = watch(MonitorOptions { most_ops: 3, ..MonitorOptions::default() }, lines);
    assert_eq!((kinds(&alerts), counts.inconclusive), (vec![AlertKind::Inconclusive], 1));
    assert_eq!(alerts[0].sentence, "more than 3 operations without a quiet instant");
}

#[test]
fn what_is_kept_is_counted() {
    let lines = r#"{"process": "a", "progress": 0}
        {"process": "b", "progress": 1}
        {"process": "a", "action": "write", "args": {"key": 2, "value": 1}, "start": 1, "end": 2}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 1}, "start": 3, "end": 4}
        {"process": "a", "action": "write", "args": {"key": 1, "value": 1}, "start": 5, "end": 6}"#;
    let (monitor, _) = begin("register:initial=0", MonitorOptions::default(), lines);
    let Counts { operations, keys, unknown_keys, kept, processes, watermark, lag, .. } = monitor.counts();
    assert_eq!((operations, keys, unknown_keys, kept, processes, watermark, lag), (3, 2, 0, 3, 2, 1, 5));
    assert_eq!(monitor.widest(1), [("1".to_owned(), 2)]);
    assert_eq!(monitor.widest(9), [("1".to_owned(), 2), ("2".to_owned(), 1)]);
}

#[test]
fn keys_to_which_nothing_happened_for_longest_are_dropped() {
    let line = |key: u64| {
        let (start, end) = (10 * key + 1, 10 * key + 2);
        format!(
            r#"{{"process": "a", "action": "write", "args": {{"key": {key}, "value": 1}}, "start": {start}, "end": {end}}}"#
        )
    };
    let check = |lines: &str, most_keys| {
        let options = MonitorOptions { most_keys, ..MonitorOptions::default() };
        let (monitor, _) = begin("register:initial=0", options, lines);
        let mut keys: Vec<String> = monitor.verdicts().map(|(key, ..)| key.to_string()).collect();
        keys.sort();
        let Counts { dropped, unknown_keys, .. } = monitor.counts();
        format!("{}: {dropped} dropped, {unknown_keys} unknown", keys.join(" "))
    };
    let lines = [1, 2, 3].map(line).join("\n");
    insta::assert_snapshot!(check(&lines, 3), @"1 2 3: 0 dropped, 0 unknown");
    insta::assert_snapshot!(check(&lines, 2), @"2 3: 1 dropped, 0 unknown");
    // It may be in any state when it is back.
    let again = format!("{lines}\n{}", line(1).replace("\"start\": 11, \"end\": 12", "\"start\": 41, \"end\": 42"));
    insta::assert_snapshot!(check(&again, 3), @"1 2 3: 0 dropped, 0 unknown");
    insta::assert_snapshot!(check(&again, 2), @"1 3: 2 dropped, 1 unknown");
}

#[test]
fn a_checkpoint_can_be_of_another_position() {
    let spec = "register:initial=0";
    let line = r#"{"process": "a", "action": "write", "args": {"key": 2, "value": 1}, "start": 1, "end": 2}"#;
    let (monitor, _) = begin(spec, MonitorOptions::default(), line);
    let text = monitor.save(spec, &serde_json::json!(1)).expect("a text");
    let moved = Checkpoint::at(&text, serde_json::json!({ "line": 2 })).expect("a checkpoint");
    let judge = Judge::new(spec, omnilink_judge::CheckOptions::default()).expect("a built-in specification");
    let read = Checkpoint::read(&moved, spec, judge, MonitorOptions::default()).expect("a checkpoint");
    assert_eq!((read.position, read.monitor.counts()), (serde_json::json!({ "line": 2 }), monitor.counts()));
    assert!(Checkpoint::at("", serde_json::json!(1)).is_err());
}

#[test]
fn a_checkpoint_may_count_any_number_of_lost_operations() {
    let spec = "register:initial=0";
    let lines = r#"{"process": "a", "action": "write", "args": {"key": 2, "value": 1}, "start": 1, "end": 2, "seq": 0}
        {"process": "a", "action": "write", "args": {"key": 2, "value": 1}, "start": 3, "end": 4, "seq": 18446744073709551614}"#;
    let (mut monitor, _) = begin(spec, MonitorOptions::default(), lines);
    monitor.finish(false);
    assert_eq!(monitor.counts().lost, u64::MAX - 2);
    let text = monitor.save(spec, &serde_json::json!(1)).expect("a text");
    let judge = Judge::new(spec, omnilink_judge::CheckOptions::default()).expect("a built-in specification");
    let read = Checkpoint::read(&text, spec, judge, MonitorOptions::default()).expect("a checkpoint");
    assert_eq!(read.monitor.counts(), monitor.counts());
}
