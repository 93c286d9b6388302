//! Agreement with TLC: every answer in `tests/oracle` beside the one that the command gives, without Java.
//!
//! Values must be printed the same, errors must be errors, and a check must end the same way, with the same counts if it
//! visited every state and with a behavior of the same length if it did not. Where we differ on purpose,
//! `tests/oracle/differences.tsv` says what we answer and why; a row there that does not describe a difference fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What the modules of the recorded expressions extend.
const MODULES: &str = "Integers, Sequences, FiniteSets, Bags, TLC";

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")
}

/// The rows of a table, without the names of its columns.
fn rows<const N: usize>(table: &str) -> Vec<[String; N]> {
    let path = data().join(table);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let row = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        std::array::from_fn(|_| cells.next().unwrap_or_default())
    };
    text.lines().skip(1).map(row).collect()
}

fn omnilink(args: &[&Path]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omnilink"));
    let output = command.args(args).args(["--format", "json"]).output().expect("the command runs");
    String::from_utf8(output.stdout).expect("JSON is UTF-8")
}

/// Our answers to expressions that stand together in one module.
fn values(name: &str, expressions: &[&str]) -> Vec<String> {
    let module = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("tla");
    let lines = module.with_extension("txt");
    fs::write(&module, format!("---- MODULE {name} ----\nEXTENDS {MODULES}\n====\n")).expect("a file for a test");
    let asked: String = expressions.iter().map(|expression| format!("ToString({expression})\n")).collect();
    fs::write(&lines, asked).expect("a file for a test");
    let output = omnilink(&["spec".as_ref(), "eval".as_ref(), &module, "--lines".as_ref(), &lines]);
    let answer = |line: &str| {
        let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        match (answer["value"].as_str(), answer["error"].as_str()) {
            // A string of TLA+ is escaped as one of JSON.
            (Some(value), None) => format!("VALUE {}", serde_json::from_str::<String>(value).expect("a string")),
            (None, Some(_)) => "ERR".to_owned(),
            _ => panic!("{name}: neither a value nor an error: {line}"),
        }
    };
    let answers: Vec<_> = output.lines().map(answer).collect();
    assert_eq!(answers.len(), expressions.len(), "{name}: an answer for each expression");
    answers
}

/// How our check of a spec ends, in the words of the table.
fn ending(name: &str) -> String {
    let module = data().join("specs").join(name).with_extension("tla");
    let output = omnilink(&["spec".as_ref(), "check".as_ref(), &module, "--workers".as_ref(), "1".as_ref()]);
    let report: Value = serde_json::from_str(&output).unwrap_or_else(|error| panic!("{name}: {error}: {output}"));
    let stats = |key: &str| report["stats"][key].to_string();
    let states = report["trace"].as_array().map_or(0, Vec::len).to_string();
    let verdict = report["verdict"].as_str().expect("a report has a verdict");
    let outcome = match (verdict, report["invariant"].as_str()) {
        ("holds" | "empty", _) => "ok".to_owned(),
        ("violated", Some(invariant)) => format!("invariant {invariant}"),
        ("violated", None) if report["property"].is_string() => "property".to_owned(),
        ("violated", None) => "assumption".to_owned(),
        (other, _) => other.to_owned(),
    };
    summary(&outcome, [&stats("generated"), &stats("distinct"), &stats("depth")], &states)
}

/// What of an ending must agree. Counts of a check that ended early depend on the order in which states are met.
fn summary(outcome: &str, [generated, distinct, depth]: [&str; 3], states: &str) -> String {
    match outcome.split(' ').next().unwrap_or_default() {
        "ok" => format!("ok, {generated} generated, {distinct} distinct, depth {depth}"),
        "error" | "wrong" => "error".to_owned(),
        "assumption" => outcome.to_owned(),
        _ => format!("{outcome}, {states} states"),
    }
}

/// Compares answers, given as question, recorded and ours, and reports what differs without being explained.
fn compare(table: &str, answers: &[(String, String, String)]) {
    let explained = rows::<4>("differences.tsv").into_iter().filter(|row| row[0] == table);
    let mut explained: BTreeMap<_, _> = explained.map(|[_, question, ours, _]| (question, ours)).collect();
    let mut report = String::new();
    for (question, recorded, ours) in answers {
        let (agrees, listed) = (ours == recorded, explained.remove(question));
        let is_expected = listed.as_ref().map_or(agrees, |listed| !agrees && listed == ours);
        if !is_expected {
            let listed = listed.map_or_else(String::new, |listed| format!("\n  listed    {listed}"));
            report += &format!("{question}\n  recorded  {recorded}{listed}\n  omnilink  {ours}\n");
        }
    }
    for question in explained.keys() {
        report += &format!("{question}\n  listed, but not in {table}\n");
    }
    assert!(report.is_empty(), "\n{report}");
}

/// A recorded outcome as far as it must agree: kinds of errors are read off TLC's messages.
fn recorded([_, outcome, _]: &[String; 3]) -> String {
    if outcome.starts_with("ERR") { "ERR".to_owned() } else { outcome.clone() }
}

fn compare_specs(table: &str, is_wanted: impl Fn(&str) -> bool) {
    let rows = rows::<7>("specs.tsv").into_iter().filter(|row| is_wanted(&row[0]));
    let answers: Vec<_> = rows
        .map(|[name, outcome, generated, distinct, depth, states, _]| {
            let ours = ending(&name);
            (name, summary(&outcome, [&generated, &distinct, &depth], &states), ours)
        })
        .collect();
    compare(table, &answers);
}

#[test]
fn expressions_that_stand_together() {
    let rows = rows::<3>("expressions.tsv");
    let expressions: Vec<_> = rows.iter().map(|row| row[0].as_str()).collect();
    let ours = values("Together", &expressions);
    let answers: Vec<_> = rows.iter().zip(ours).map(|(row, ours)| (row[0].clone(), recorded(row), ours)).collect();
    compare("expressions.tsv", &answers);
}

#[test]
fn expressions_that_stand_alone() {
    let ours = |(index, row): (usize, &[String; 3])| values(&format!("Alone{index}"), &[&row[0]]).swap_remove(0);
    let rows = rows::<3>("alone.tsv");
    let answer = |case: (usize, &[String; 3])| (case.1[0].clone(), recorded(case.1), ours(case));
    compare("alone.tsv", &rows.iter().enumerate().map(answer).collect::<Vec<_>>());
}

#[test]
fn recent_specs() {
    let specs = data().join("recent");
    for [config, module, search, outcome, generated, distinct, depth, states] in rows::<8>("recent.tsv") {
        let module = specs.join(module).with_extension("tla");
        let config = specs.join(config).with_extension("cfg");
        let words = ["spec".as_ref(), "check".as_ref(), &*module, "--config".as_ref(), &config];
        let output = omnilink(&[&words[..], &["--search".as_ref(), search.as_ref()]].concat());
        let report: Value = serde_json::from_str(&output).expect("a report");
        let verdict = match (report["verdict"].as_str(), report["invariant"].as_str()) {
            (Some("holds" | "empty"), _) => "ok".to_owned(),
            (Some("violated"), Some(invariant)) => format!("invariant {invariant}"),
            (Some("violated"), None) if report["property"].is_string() => "property".to_owned(),
            (other, _) => format!("{other:?}"),
        };
        let found = format!(
            "{verdict} {} {} {} {}",
            report["stats"]["generated"],
            report["stats"]["distinct"],
            if outcome == "ok" { report["stats"]["depth"].to_string() } else { String::new() },
            report["trace"].as_array().map_or(String::new(), |states| states.len().to_string()),
        );
        let recorded = format!("{outcome} {generated} {distinct} {depth} {states}");
        assert_eq!(found, recorded, "{} {search}", config.display());
    }
}

#[test]
fn specs() {
    compare_specs("specs.tsv", |name| !name.starts_with("Bench"));
}

#[test]
#[ignore = "a minute or more"]
fn large_specs() {
    compare_specs("large", |name| name.starts_with("Bench"));
}
