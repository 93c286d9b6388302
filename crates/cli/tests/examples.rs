//! The examples: every trace gets the verdict that stands beside it, for the reason that stands there, and every
//! sentence about what would be if is true.
//!
//! `expected.tsv` beside an example has a line for each trace: the verdict, the operation that is to blame, the conjunct
//! that is false, and the configuration and the settings if they are not those of the module. Settings may say which
//! module it is. The whole text about each rejected trace is a snapshot, because it is what a person has to understand.

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

use omnilink_settings::Settings;
use serde_json::Value;

/// The root of the repository, which paths are shown from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A line of `expected.tsv`.
struct Row {
    trace: String,
    verdict: String,
    operation: String,
    conjunct: String,
    config: String,
    settings: String,
}

/// What is expected of the traces of an example.
fn rows(example: &str) -> Vec<Row> {
    let path = root().join("examples").join(example).join("expected.tsv");
    let text = fs::read_to_string(path).expect("an example says what is expected");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Row { trace: next(), verdict: next(), operation: next(), conjunct: next(), config: next(), settings: next() }
    };
    lines.map(row).collect()
}

/// The name of the only module of an example.
fn only_module(example: &str) -> String {
    let entries = fs::read_dir(root().join("examples").join(example)).expect("a directory of an example");
    let mut names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.find(|name| name.ends_with(".tla")).expect("an example has a module")
}

impl Row {
    /// The name of the module that the trace is checked against.
    fn module(&self, example: &str) -> String {
        if self.settings.is_empty() {
            return only_module(example);
        }
        let path = root().join("examples").join(example).join(&self.settings);
        let settings = Settings::read(&path).expect("settings");
        settings.spec.expect("settings of a harness name a module")
    }

    /// Checks a trace: the one of this row, or one made from it. Paths begin with the prefix.
    fn run(&self, directory: &Path, prefix: &str, example: &str, trace: &str, args: &[&str]) -> tool::Ran {
        let [module, trace, config, settings] =
            [&self.module(example), trace, &self.config, &self.settings].map(|path| format!("{prefix}{path}"));
        let mut all = vec!["check", &module, &trace, "--progress", "none"];
        if !self.config.is_empty() {
            all.extend(["--config", &config]);
        }
        if !self.settings.is_empty() {
            all.extend(["--settings", &settings]);
        }
        all.extend(args);
        tool::run(directory, &all)
    }
}

/// Checks all traces of an example, and keeps what is said about those that are rejected.
fn check(example: &str) {
    for row in rows(example) {
        let prefix = format!("examples/{example}/");
        let trace = format!("traces/{}", row.trace);
        let ran = row.run(&root(), &prefix, example, &trace, &[]);
        let shown = ran.shown();
        let heading = format!("{prefix}{trace}: {}", row.verdict);
        assert!(shown.starts_with(&heading), "{heading} was expected of\n{shown}");
        if row.verdict == "accepted" {
            assert_eq!(ran.code, 0, "{shown}");
            continue;
        }
        assert_eq!(ran.code, 1, "{shown}");
        // The title names it, or says what it did and the first note names it.
        let blames = |line: &&str| line.trim_start().starts_with("= note: ") || line.starts_with("error: ");
        let blamed = shown.lines().find(|line| blames(line) && line.contains(&format!(": {} `", row.operation)));
        assert!(blamed.is_some(), "{} is to blame:\n{shown}", row.operation);
        let lines: Vec<&str> = shown.lines().collect();
        let is_marked = |pair: &[&str]| pair[0].contains(&row.conjunct) && pair[1].contains('^');
        assert!(lines.windows(2).any(is_marked), "`{}` is to be marked:\n{shown}", row.conjunct);
        insta::assert_snapshot!(row.trace.trim_end_matches(".jsonl"), shown);
    }
}

/// Makes every assumption of every rejection true, and checks again.
fn check_what_ifs(example: &str) {
    let directory = tool::example(&format!("what-if-{example}"), example, &[]);
    for row in rows(example).iter().filter(|row| row.verdict == "rejected") {
        let check = |text: &str, args: &[&str]| {
            fs::write(directory.join(&row.trace), text).expect("a file for a test");
            json(&row.run(&directory, "", example, &row.trace, args))
        };
        let trace = &row.trace;
        let text = fs::read_to_string(root().join("examples").join(example).join("traces").join(trace));
        let text = text.expect("a trace");
        let report = check(&text, &["--format", "json"]);
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let blocked = operation(&report, &report["verdict"]["blocked"][0]).expect("something is blocked");
        let guilty = place(&lines, &blocked);
        let what_ifs = report["verdict"]["evidence"]["what_ifs"].as_array().expect("a list");
        assert!(!what_ifs.is_empty(), "nothing is said about {trace}");
        for what_if in what_ifs {
            let (mut lines, mut args) = (lines.clone(), vec!["--format", "json"]);
            match what_if["assumption"]["kind"].as_str() {
                Some("dropped") => {
                    lines.remove(guilty);
                }
                Some("program-order") => args.extend(["--order", "program"]),
                Some("other-results") => {
                    for field in what_if["assumption"]["results"].as_array().expect("a list") {
                        let name = field["name"].as_str().expect("a name");
                        let result = lines[guilty]["results"].get_mut(name).expect("a result that was recorded");
                        *result = recorded(field["value"].as_str().expect("a value"));
                    }
                }
                kind => panic!("how to assume {kind:?}?"),
            }
            let changed: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let found = consequence(&check(&changed, &args));
            let claimed = match what_if["outcome"]["kind"].as_str() {
                Some("rejected") => {
                    Some(stuck(&report, &what_if["outcome"]["blocked"], &what_if["outcome"]["explained"]))
                }
                Some("accepted") => None,
                kind => panic!("{trace}: {kind:?} is not an answer"),
            };
            assert_eq!(found, claimed, "{trace}: {what_if:#}");
        }
    }
}

/// Checks the traces of an example as segments, which are read as a stream: what is said must be the same.
fn check_segments(example: &str) {
    let directory = tool::example(&format!("segments-{example}"), example, &[]);
    for row in rows(example) {
        let trace = root().join("examples").join(example).join("traces").join(&row.trace);
        fs::copy(trace, directory.join(&row.trace)).expect("a copy");
        let segments = row.trace.replace(".jsonl", "");
        let converted = tool::run(&directory, &["convert", &row.trace, "--to", "binary", "-o", &segments]);
        assert_eq!(converted.code, 0, "{}", converted.stderr);
        let [lines, segments] = [&row.trace, &segments]
            .map(|trace| row.run(&directory, "", example, trace, &[]).shown().replace(trace, "TRACE"));
        assert_eq!(lines, segments);
    }
}

/// Where a history is stuck: the process and start of the operation, if one is blocked, and how many are explained.
type Stuck = (Option<(String, u64)>, u64);

/// What a report says about its history: where it is stuck, if it is.
fn consequence(report: &Value) -> Option<Stuck> {
    match report["verdict"]["kind"].as_str() {
        Some("accepted") => None,
        // Without real time, an answer to what would be if names no operation.
        Some("rejected") => {
            let blocked = &report["verdict"]["blocked"][0];
            let blocked = if report["order"] == "real-time" { blocked } else { &Value::Null };
            Some(stuck(report, blocked, &report["verdict"]["explained"]))
        }
        kind => panic!("{kind:?} was not expected"),
    }
}

fn stuck(report: &Value, blocked: &Value, explained: &Value) -> Stuck {
    (operation(report, blocked), explained.as_u64().expect("a number"))
}

/// What tells an operation from all others, even if some have been dropped.
fn operation(report: &Value, reference: &Value) -> Option<(String, u64)> {
    let index = usize::try_from(reference.as_u64()?).expect("a small number");
    let operation = &report["operations"][index];
    let process = operation["process"].as_str().expect("a name").trim_start_matches('T').to_owned();
    Some((process, operation["start"].as_u64().expect("a time")))
}

/// The line of an operation.
fn place(lines: &[Value], (process, start): &(String, u64)) -> usize {
    let is_it = |line: &Value| {
        let name = line["process"].to_string();
        name.trim_matches('"') == process && line["start"].as_u64() == Some(*start)
    };
    lines.iter().position(is_it).expect("the operation is in the trace")
}

/// A value of the specification as it is recorded.
fn recorded(value: &str) -> Value {
    let json = value.replace("<<", "[").replace(">>", "]").replace("TRUE", "true").replace("FALSE", "false");
    serde_json::from_str(&json.replace("Nil", "null")).expect("a value that can be recorded")
}

/// The only report in what was printed.
fn json(ran: &tool::Ran) -> Value {
    let mut document: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
    document["reports"][0].take()
}

#[test]
fn queue() {
    check("queue");
}

#[test]
fn map() {
    check("map");
}

#[test]
fn producer_queue() {
    check("producer-queue");
}

#[test]
fn snapshot() {
    check("snapshot");
}

#[test]
fn two_phase() {
    check("two-phase");
}

#[test]
fn skiplist() {
    check("skiplist");
}

#[test]
fn dashmap() {
    check("dashmap");
}

#[test]
fn etcd() {
    check("etcd");
}

#[test]
fn moodycamel() {
    check("moodycamel");
}

#[test]
fn kfifo() {
    check("kfifo");
}

#[test]
fn wiredtiger() {
    check("wiredtiger");
}

#[test]
fn segments_of_queue() {
    check_segments("queue");
}

#[test]
fn segments_of_map() {
    check_segments("map");
}

#[test]
fn what_ifs_of_queue() {
    check_what_ifs("queue");
}

#[test]
fn what_ifs_of_map() {
    check_what_ifs("map");
}

#[test]
fn what_ifs_of_producer_queue() {
    check_what_ifs("producer-queue");
}

#[test]
fn what_ifs_of_snapshot() {
    check_what_ifs("snapshot");
}

#[test]
fn what_ifs_of_two_phase() {
    check_what_ifs("two-phase");
}

#[test]
fn what_ifs_of_skiplist() {
    check_what_ifs("skiplist");
}

#[test]
fn what_ifs_of_dashmap() {
    check_what_ifs("dashmap");
}

#[test]
fn what_ifs_of_etcd() {
    check_what_ifs("etcd");
}

#[test]
fn what_ifs_of_moodycamel() {
    check_what_ifs("moodycamel");
}

#[test]
fn what_ifs_of_kfifo() {
    check_what_ifs("kfifo");
}
