//! Reports read back, whole and damaged.

use omnilink_report::*;
use serde_json::Value;

use crate::samples;

fn error(text: &str) -> String {
    Report::from_json(text).unwrap_err().to_string()
}

/// What is said about the sample with two states after a value in it was changed.
fn changed(pointer: &str, value: impl Into<Value>) -> String {
    let mut json: Value = serde_json::from_str(&samples::queue().to_json()).unwrap();
    *json.pointer_mut(pointer).unwrap() = value.into();
    error(&json.to_string())
}

#[test]
fn what_was_written_is_read() {
    for (name, report) in samples::all() {
        assert_eq!(Report::from_json(&report.to_json()).unwrap(), report, "{name}");
    }
}

#[test]
fn what_is_no_report_is_refused() {
    insta::assert_snapshot!(error("{}"), @"not a report: missing field `schema` at line 1 column 2");
    insta::assert_snapshot!(error(r#"{"schema": "omnilink.report/2"}"#), @"not a report: missing field `history` at line 1 column 31");
    insta::assert_snapshot!(error(r#"{"schema": "omnilink.report/7", "what": 1}"#), @"unsupported report version `omnilink.report/7` (expected `omnilink.report/2`); check the history again");
    insta::assert_snapshot!(error("\u{0}"), @"not a report: expected value at line 1 column 1");
}

#[test]
fn what_points_nowhere_is_refused() {
    insta::assert_snapshot!(changed("/verdict/blocked/0", 8), @"damaged report: operation 8 (counted from 0) is out of range, there are 8");
    insta::assert_snapshot!(changed("/verdict/evidence/reasons/0/states/1", 2), @"damaged report: state 2 (counted from 0) is out of range, there are 2");
    insta::assert_snapshot!(changed("/verdict/evidence/reasons/0/why/span/source", 1), @"damaged report: source 1 (counted from 0) is out of range, there are 1");
    insta::assert_snapshot!(changed("/verdict/evidence/reasons/0/why/conjuncts/1/span/end", 100_000), @"damaged report: bytes 247 to 100000 are not a range of `specs/Queue.tla`");
    insta::assert_snapshot!(changed("/verdict/evidence/reasons/0/why/conjuncts/1/outcomes", Vec::<Value>::new()), @"damaged report: `Head(queue) = elem` has 0, expected one for each of 2 states");
    insta::assert_snapshot!(changed("/verdict/evidence/reasons/0/why/conjuncts/1/values/0/values/0", 1), @"not a report: invalid type: integer `1`, expected a string at line 1 column 2549");
    insta::assert_snapshot!(changed("/verdict/evidence/legal/after", 99), @"damaged report: operation 99 (counted from 0) is out of range, there are 8");
    insta::assert_snapshot!(changed("/verdict/evidence/window/operations/0", 99), @"damaged report: operation 99 (counted from 0) is out of range, there are 8");
}

#[test]
fn accesses_that_are_missing_are_refused() {
    let changed = |pointer: &str, value: usize| {
        let mut json: Value = serde_json::from_str(&samples::skew().to_json()).unwrap();
        *json.pointer_mut(pointer).unwrap() = value.into();
        error(&json.to_string())
    };
    insta::assert_snapshot!(changed("/verdict/evidence/edges/0/to", 2), @"damaged report: transaction 2 (counted from 0) is out of range, there are 2");
    insta::assert_snapshot!(changed("/verdict/evidence/edges/1/accesses/1/access", 3), @"damaged report: access 3 (counted from 0) is out of range, there are 3");
    insta::assert_snapshot!(changed("/verdict/evidence/transactions/1/op", 9), @"damaged report: operation 9 (counted from 0) is out of range, there are 2");
}

#[test]
fn the_schema_names_what_is_written() {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    let report: Value = serde_json::from_str(&samples::queue().to_json()).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    // What was exercised is written only where it was asked for, a level only if it is a weak one, steps only if they
    // were controlled, how a run ended only if it failed, a serial run only of a test of `lineup`, a unit of time only if
    // it is known, keys only if some are not accepted, and isolation only of transactions.
    let mut described = keys(&schema["properties"]);
    let optional = ["coverage", "level", "ended", "interleaving", "closest_run", "clock", "keys", "isolation"];
    described.retain(|key| !optional.contains(&key.as_str()));
    assert_eq!(described, keys(&report));
    assert_eq!(schema["properties"]["schema"]["const"], report["schema"]);
    let mut described = keys(&schema["$defs"]["Operation"]["properties"]);
    described.retain(|key| key != "outcome");
    assert_eq!(described, keys(&report["operations"][0]));
}

/// Any place that can be read can be shown, in any text.
#[test]
fn any_place_can_be_shown() {
    let text = "\tNext ==\r\n  /\\ é = \u{1b}漢\n\n\\* \u{202e}end\r\n  \t\\/ x";
    let places = |end: usize| (0..=end).filter(|&at| text.is_char_boundary(at));
    let mut report = samples::evaluation_error();
    report.sources[0].text = text.into();
    for (start, end) in places(text.len()).flat_map(|end| places(end).map(move |start| (start, end))) {
        let stuck = samples::stuck_of(&mut report).expect("the sample is stuck");
        let span = Some(Span { source: 0, start, end });
        stuck.reasons[0].why = Why::Error { message: "no".into(), span };
        let report = Report::from_json(&report.to_json()).unwrap();
        let lines = omnilink_report::text(&report, Detail::Brief, false);
        assert!(lines.contains("^ no") || lines.contains("no value"), "{start}..{end} is\n{lines}");
    }
}

/// Whatever is read is shown, however wrong its numbers are.
#[test]
fn damage_never_panics() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut read = 0;
    for (_, report) in samples::all() {
        let json: Value = serde_json::from_str(&report.to_json()).unwrap();
        for _ in 0..25 {
            let mut json = json.clone();
            for _ in 0..random.usize(1..4) {
                damage(&mut json, &mut random);
            }
            let Ok(report) = Report::from_json(&json.to_string()) else { continue };
            read += 1;
            let reports = [report];
            let _ =
                (text(&reports[0], Detail::Brief, false), text(&reports[0], Detail::Full, true), stats(&reports[0]));
            let _ = (markdown(&reports, &[]), github(&reports, &[]), junit(&reports, &[]), sarif(&reports, &[]));
        }
    }
    assert!(read > 50, "only {read} damaged reports could be read");
}

/// Changes one value, empties one list, or doubles one.
fn damage(json: &mut Value, random: &mut fastrand::Rng) {
    match json {
        Value::Object(fields) if !fields.is_empty() => {
            let at = random.usize(..fields.len());
            damage(fields.values_mut().nth(at).unwrap(), random);
        }
        Value::Array(items) if !items.is_empty() && random.u8(..) > 40 => {
            let at = random.usize(..items.len());
            damage(&mut items[at], random);
        }
        Value::Array(items) if random.bool() => items.clear(),
        Value::Array(items) => items.extend(items.clone()),
        Value::Number(_) => *json = [0, 1, 2, 5, 200, u64::MAX][random.usize(..6)].into(),
        Value::String(text) => *text = "\u{1b}é\r\n".repeat(random.usize(..3)),
        _ => {}
    }
}
