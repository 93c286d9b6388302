//! The output of Antithesis' SDKs: the lines in the file that `ANTITHESIS_SDK_LOCAL_OUTPUT` names.
//!
//! A line is a JSON object with one key: `antithesis_sdk`, `antithesis_setup`, `antithesis_assert`,
//! `antithesis_guidance`, or the name of an event that the program sent with its details.
//!
//! The convention for operations is an event named `omnilink` whose details are a line of [JSON Lines](super::jsonl):
//! `send_event("omnilink", {"process": 1, "action": "put", "args": [7], "start": 10, "end": 20})`. It is sent when the
//! operation has returned, or when its caller gives up and the outcome is unknown. The events of JSON Lines are
//! read, too.
//!
//! An assertion has failed if it was hit, its condition was false, and it is of the type `always` or `reachability`. If
//! its details have a time `start` in the unit of the operations, and possibly an `end`, it is an [`Event`].
//! All other lines are left out, and counted in a note. A trace without operations is not an error.

use super::json::Json;
use super::jsonl::{self, Lines};
use super::{FormatError, Location, detect};
use crate::{Event, Halt, Trace};

/// The name of events that are operations.
const OPERATION: &str = "omnilink";

/// Reads a trace. A last line that breaks off is a cut; any other unreadable line is an error.
pub fn read(bytes: &[u8]) -> Result<Trace, FormatError> {
    read_until(bytes, &Halt::default())
}

/// Reads a trace, stopping when `halt` is raised.
pub fn read_until(bytes: &[u8], halt: &Halt) -> Result<Trace, FormatError> {
    let mut lines = Lines::default();
    let (mut others, mut untimed) = (0, 0);
    let cut = jsonl::visit_lines(bytes, halt, |json, line| {
        let Json::Object(mut fields) = json else {
            let message = format!("a line is {}, not an object", json.kind());
            return Err(FormatError::new(Location::Line(line), message));
        };
        if let Some(place) = fields.iter().position(|(name, _)| name == OPERATION) {
            let details = fields.swap_remove(place).1;
            return match details {
                Json::Object(_) => lines.add(details, line),
                _ => {
                    let message = format!("the details of `{OPERATION}` are {}, not an object", details.kind());
                    Err(FormatError::new(Location::Line(line), message))
                }
            };
        }
        let assertion = fields.iter().find(|(name, _)| name == "antithesis_assert");
        match assertion.filter(|(_, assertion)| has_failed(assertion)).map(|(_, assertion)| read_event(assertion)) {
            Some(Some(event)) => lines.trace.events.push(event),
            Some(None) => untimed += 1,
            None => others += 1,
        }
        Ok(())
    })?;
    lines.cut(bytes, cut, &["{\"antithesis_"]);
    let mut trace = if halt.is_raised() { lines.trace } else { lines.finish()? };
    if others > 0 {
        let were = if others == 1 { "line without an operation was" } else { "lines without an operation were" };
        trace.notes.push(format!("{others} {were} left out"));
    }
    if untimed > 0 {
        let were = if untimed == 1 { "failed assertion was" } else { "failed assertions were" };
        trace.notes.push(format!("{untimed} {were} left out: no time `start` in the details"));
    }
    Ok(trace)
}

/// True if a file that begins like this is the output of an SDK.
pub(super) fn detect(text: &str) -> bool {
    let Some((name, details)) = detect::first_key(text) else { return false };
    match name {
        "antithesis_sdk" | "antithesis_setup" | "antithesis_assert" | "antithesis_guidance" => true,
        _ => name == OPERATION && details.trim_start().starts_with('{'),
    }
}

/// False for assertions that hold, that a program lists at its start, and that may fail.
fn has_failed(assertion: &Json) -> bool {
    let is = |name: &str, value: bool| assertion.field(name) == Some(&Json::Bool(value));
    let can_fail =
        matches!(assertion.field("assert_type"), Some(Json::Text(kind)) if kind == "always" || kind == "reachability");
    is("hit", true) && is("condition", false) && can_fail
}

/// A failed assertion as an event; `None` without a time.
fn read_event(assertion: &Json) -> Option<Event> {
    let details = assertion.field("details")?;
    let time = |name: &str| match details.field(name) {
        Some(Json::Number(number)) => number.to_string().parse::<u64>().ok(),
        _ => None,
    };
    let text = |json: Option<&Json>| match json {
        Some(Json::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let start = time("start")?;
    let location = assertion.field("location");
    let file = text(location.and_then(|location| location.field("file")));
    let line = location.and_then(|location| location.field("begin_line")).map(|line| format!(":{line}"));
    let note = format!("{} {file}{}", text(assertion.field("display_type")), line.unwrap_or_default());
    Some(Event {
        name: text(assertion.field("message")).into(),
        start,
        end: time("end").filter(|end| *end >= start),
        nodes: Vec::new(),
        note: note.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::History;
    use crate::format::damaged;

    /// All of a trace for display, or the error.
    fn check(text: &str) -> String {
        let trace = match read(text.as_bytes()) {
            Ok(trace) => trace,
            Err(error) => return error.to_string(),
        };
        let records = trace.records.iter().map(|record| {
            let process = &trace.processes[record.process.index()];
            format!("{process} [{} {}] {}", record.start, record.end, record.call)
        });
        let events = trace.events.iter().map(|event| {
            let end = event.end.map(|end| format!(" {end}")).unwrap_or_default();
            format!("event {} [{}{end}]: {}", event.name, event.start, event.note)
        });
        let cuts = trace.cuts.iter().map(ToString::to_string);
        let remarks = trace.losses.iter().chain(&trace.notes).cloned();
        records.chain(events).chain(cuts).chain(remarks).collect::<Vec<_>>().join("\n")
    }

    /// An assertion that failed, with these details.
    fn assertion(details: &str) -> String {
        format!(
            r#"{{"antithesis_assert":{{"assert_type":"always","display_type":"Always","condition":false,
            "message":"sum is 0","location":{{"class":"bank","function":"bank::audit","file":"src/bank.rs",
            "begin_line":20,"begin_column":3}},"hit":true,"must_hit":true,"id":"sum is 0","details":{details}}}}}"#
        )
        .replace('\n', "")
    }

    fn sample() -> String {
        [
            r#"{"antithesis_sdk":{"language":{"name":"Rust","version":"1.88.0"},"protocol_version":"1.1.0"}}"#,
            &assertion("null").replace(r#""hit":true"#, r#""hit":false"#),
            r#"{"antithesis_setup":{"status":"complete","details":{}}}"#,
            r#"{"omnilink":{"process":1,"action":"put","args":{"key":"a","value":1},"start":10,"end":20}}"#,
            r#"{"start_day":{"action":"put","process":1,"start":1}}"#,
            &assertion(r#"{"start":25,"sum":3}"#),
            &assertion(r#"{"sum":3}"#),
            &assertion(r#"{"start":26}"#).replace("always", "sometimes"),
            r#"{"omnilink":{"process":2,"action":"get","args":{"key":"a"},"start":15,"outcome":"unknown"}}"#,
            r#"{"omnilink":{"event":"kill","start":12,"end":14,"note":"stopped"}}"#,
        ]
        .join("\n")
    }

    #[test]
    fn events_of_our_name_are_operations() {
        insta::assert_snapshot!(check(&sample()), @r#"
        1 [10 20] put(key: "a", value: 1)
        2 [15 ...] get(key: "a")
        event sum is 0 [25]: Always src/bank.rs:20
        event kill [12 14]: stopped
        5 lines without an operation were left out
        1 failed assertion was left out: no time `start` in the details
        "#);
        assert!(read(sample().as_bytes()).map(History::new).is_ok_and(|history| history.is_ok()));
    }

    #[test]
    fn failed_assertions_are_events_if_they_have_a_time() {
        let outputs = [
            assertion(r#"{"start":5,"end":7}"#),
            assertion(r#"{"start":5,"end":3}"#).replace("always", "reachability"),
            assertion(r#"{"start":"noon"}"#),
            assertion(r#"{"start":5}"#).replace(":false", ":true"),
        ];
        insta::assert_snapshot!(outputs.map(|output| check(&output)).join("\n"), @r"
        event sum is 0 [5 7]: Always src/bank.rs:20
        event sum is 0 [5]: Always src/bank.rs:20
        1 failed assertion was left out: no time `start` in the details
        1 line without an operation was left out
        ");
    }

    #[test]
    fn errors_name_the_line() {
        insta::assert_snapshot!(check("\n{\"omnilink\":{\"process\":1}}"), @"line 2: the key `action` is missing");
        insta::assert_snapshot!(
            check("{\"omnilink\":5}"),
            @"line 1: the details of `omnilink` are an integer, not an object"
        );
        insta::assert_snapshot!(check("[]"), @"line 1: a line is an array, not an object");
        insta::assert_snapshot!(check("{\"antithesis_sdk\":]}\n"), @"line 1: column 19: expected a value, found `]`");
        insta::assert_snapshot!(check("{\"antithesis_sdk\":{}}\n{\"omnilink\":{"), @r"
        line 2, the last one, is incomplete
        1 line without an operation was left out
        ");
    }

    #[test]
    fn numbers_show_losses() {
        let line =
            |seq: u32| format!(r#"{{"omnilink":{{"process":1,"action":"a","start":{seq},"end":{seq},"seq":{seq}}}}}"#);
        insta::assert_snapshot!(check(&[line(0), line(2)].join("\n")), @r"
        1 [0 0] a()
        1 [2 2] a()
        1 operation of 1 is missing between seq 0 and 2
        operations lost at the end of 1 process would go unnoticed: no `count` says how many there were
        ");
    }

    proptest! {
        #[test]
        fn damaged_outputs_never_panic(
            at in any::<prop::sample::Index>(),
            with in "[\\[\\]{}\":0-9a-z,\n-]{0,3}",
            length in 0usize..9,
        ) {
            let _ = read(damaged(&sample(), &at, &with, length).as_bytes()).map(History::new);
        }
    }
}
