//! Isolation of transactions: verdicts, exit codes, and what is refused.

mod tool;

use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

/// Each transaction misses the write of the other.
const SKEW: &str = r#"{"process": 0, "txn": [["r", "x", 0], ["r", "y", 0], ["w", "x", 1]], "start": 1, "end": 5}
{"process": 1, "txn": [["r", "x", 0], ["r", "y", 0], ["w", "y", 1]], "start": 2, "end": 6}
"#;

/// The same of appends, as a history of Jepsen.
const EDN: &str = "{:type :invoke, :process 0, :f :txn, :value [[:r 1 nil] [:append 2 1]]}
{:type :invoke, :process 1, :f :txn, :value [[:r 2 nil] [:append 1 1]]}
{:type :ok, :process 0, :f :txn, :value [[:r 1 []] [:append 2 1]]}
{:type :ok, :process 1, :f :txn, :value [[:r 2 nil] [:append 1 1]]}
{:type :invoke, :process 2, :f :txn, :value [[:r 2 nil]]}
{:type :info, :process 2, :f :txn, :value [[:r 2 nil]]}
";

/// A value that two transactions wrote in a list, so that its writer is not known.
const TWICE: &str = r#"{"process": 0, "txn": [["append", "x", 1]], "start": 1, "end": 2}
{"process": 1, "txn": [["append", "x", 1]], "start": 3, "end": 4}
{"process": 2, "txn": [["r", "x", [1]]], "start": 5, "end": 6}
"#;

/// No transaction of it is known to have taken effect.
const ABORTED: &str = r#"{"process": 0, "txn": [["r", "x", 9]], "start": 1, "end": 5, "status": "aborted"}
{"process": 1, "txn": [["w", "x", 1]], "start": 2}
"#;

const FILES: [(&str, &str); 7] = [
    ("skew.jsonl", SKEW),
    ("skew.edn", EDN),
    ("twice.jsonl", TWICE),
    ("text.txt", "w(1,1,0,0)\nr(1,1,1,1)\n"),
    ("wrong.jsonl", "{\"process\": 0, \"txn\": [[\"read\", 1, 2]], \"start\": 1, \"end\": 2}\n"),
    ("empty.jsonl", "\n"),
    ("aborted.jsonl", ABORTED),
];

fn check(name: &str, args: &[&str]) -> tool::Ran {
    let directory = tool::directory_with(&format!("isolation-{name}"), &FILES);
    tool::run(&directory, &[&["check"], args].concat())
}

#[test]
fn verdicts_have_their_exit_codes() {
    let shown = |args: &[&str], code: i32, expected: &str| {
        check("codes", args).assert_begins(code, expected);
    };
    shown(
        &["--isolation", "snapshot", "skew.jsonl"],
        0,
        "skew.jsonl: accepted, snapshot: 2 transactions of 2 sessions",
    );
    shown(&["--isolation", "serializable", "skew.jsonl"], 1, "skew.jsonl: rejected, not serializable: write skew");
    shown(
        &["--isolation", "strict-serializable", "skew.edn"],
        1,
        "skew.edn: rejected, not strict-serializable: write skew",
    );
    shown(
        &["--isolation", "snapshot", "--order", "session", "skew.edn"],
        0,
        "skew.edn: accepted, strong-session-snapshot",
    );
    shown(&["--isolation", "causal", "twice.jsonl"], 3, "twice.jsonl: inconclusive, causal in session order: ");
    shown(&["--isolation", "serializable", "text.txt"], 0, "text.txt: accepted, serializable");
    shown(&["--isolation", "strong-snapshot", "text.txt"], 2, "error: text.txt: strong-snapshot needs times");
    shown(
        &["--isolation", "snapshot", "wrong.jsonl"],
        2,
        "error: wrong.jsonl:1:26: unsupported micro-operation `read`",
    );
    shown(&["--isolation", "snapshot", "empty.jsonl"], 4, "empty.jsonl: nothing to check");
    let none = "aborted.jsonl: nothing to check: none of 2 transactions committed";
    shown(&["--isolation", "snapshot", "aborted.jsonl"], 4, none);
    shown(&["--find-level", "aborted.jsonl"], 4, none);
    shown(&["--isolation", "snapshot", "missing.jsonl"], 2, "error: missing.jsonl: ");
    shown(&["--isolation", "snapshot", "--spec", "kv", "skew.jsonl"], 2, "error: ");
    shown(&["--isolation", "snapshto", "skew.jsonl"], 2, "error: invalid value 'snapshto' ");
    shown(&["--isolation", "repeatable-read", "skew.jsonl"], 2, "error: invalid value 'repeatable-read' ");
}

#[test]
fn a_rejection_shows_each_edge() {
    let ran = check("shown", &["--isolation", "serializable", "skew.jsonl"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn the_strongest_levels_of_each_order_are_found() {
    let ran = check("find", &["--find-level", "skew.jsonl", "text.txt"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn json_has_the_cycle() {
    let ran = check("json", &["--isolation", "serializable", "--format", "json", "skew.jsonl", "skew.edn"]);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(document["schema"], "omnilink.isolation/1");
    let histories = document["histories"].as_array().expect("histories");
    assert_eq!((histories.len(), ran.code), (2, 1));
    for history in histories {
        assert_eq!((&history["verdict"], &history["anomaly"]), (&"rejected".into(), &"write skew".into()), "{history}");
        assert_eq!(history["edges"].as_array().map(Vec::len), Some(2), "{history}");
    }
}

#[test]
fn files_are_read_as_for_other_checks() {
    let directory = tool::directory("isolation-files");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(SKEW.as_bytes()).expect("memory takes everything");
    std::fs::write(directory.join("skew.jsonl.gz"), packed.finish().expect("memory takes everything")).expect("a file");
    std::fs::write(directory.join("marked.jsonl"), [b"\xEF\xBB\xBF", SKEW.as_bytes()].concat()).expect("a file");
    std::fs::write(directory.join("wide.jsonl"), b"\xFF\xFE{\0").expect("a file");
    let ran = |args: &[&str]| tool::run(&directory, &[&["check", "--isolation", "snapshot"], args].concat());
    let both = ran(&["skew.jsonl.gz", "marked.jsonl"]);
    assert!(
        both.code == 0 && both.stdout.matches("accepted, snapshot: 2 transactions").count() == 2,
        "{}",
        both.shown()
    );
    let wide = ran(&["wide.jsonl"]);
    assert!(wide.code == 2 && wide.stderr.contains("found text in UTF-16, expected UTF-8"), "{}", wide.shown());
    let much = ran(&["--max-memory", "100", "marked.jsonl"]);
    assert!(much.code == 3 && much.shown().contains("inconclusive"), "{}", much.shown());
}

#[test]
fn quiet_prints_nothing_for_accepted_histories() {
    let ran = check("quiet", &["--isolation", "snapshot", "--quiet", "skew.jsonl"]);
    assert!(ran.code == 0 && ran.stdout.is_empty() && ran.stderr.is_empty(), "{}", ran.shown());
}

/// `expected.tsv` has the levels of recorded histories of real systems.
#[test]
fn levels_of_real_systems_are_found() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/isolation-levels");
    let expected = std::fs::read_to_string(example.join("expected.tsv")).expect("the example says what is expected");
    let ran = |args: &[&str]| {
        let ran = tool::run(&example.join("traces"), &[&["check", "--format", "json"], args].concat());
        let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        document["histories"][0].clone()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = |trace: &str| {
        let levels = ran(&["--find-level", trace])["strongest"].clone();
        let of_order = |order: usize| {
            let levels = levels[order]["levels"].as_array().cloned().unwrap_or_default();
            if levels.is_empty() { "none".to_owned() } else { levels.iter().map(text).collect::<Vec<_>>().join(",") }
        };
        let anomaly = text(&ran(&["--isolation", "strict-serializable", trace])["anomaly"]);
        [trace.to_owned(), of_order(0), of_order(1), of_order(2), anomaly].join("\t").trim_end().to_owned()
    };
    let lines: Vec<&str> = expected.lines().filter(|line| !line.starts_with('#')).collect();
    let traces = std::fs::read_dir(example.join("traces")).expect("traces").count();
    assert_eq!(lines.len(), traces);
    for line in lines {
        assert_eq!(found(line.split('\t').next().unwrap_or_default()), line);
    }
}

#[test]
fn reports_have_the_anomaly() {
    let directory = tool::directory("isolation-reports");
    FILES.iter().for_each(|(file, text)| std::fs::write(directory.join(file), text).expect("a file for a test"));
    let kinds = ["html=page.html", "json=report.json", "junit=report.xml", "sarif=report.sarif", "md=report.md"];
    let args: Vec<&str> = kinds.iter().flat_map(|kind| ["--report", kind]).collect();
    let level = ["check", "--isolation", "serializable", "skew.jsonl"];
    let ran = tool::run(&directory, &[&level[..], &args].concat());
    assert_eq!(ran.code, 1, "{}", ran.shown());
    for file in ["page.html", "report.json", "report.xml", "report.sarif", "report.md"] {
        let text = std::fs::read_to_string(directory.join(file)).expect("a report");
        assert!(text.contains("write skew: T1 and T2 each missed a write of the other"), "{file}");
    }
    let full = tool::run(&directory, &["check", "--full", "report.json"]);
    insta::assert_snapshot!(full.shown());
    let accepted = ["check", "--isolation", "snapshot", "skew.jsonl", "--format", "md", "--report", "html=page.html"];
    let ran = tool::run(&directory, &accepted);
    let page = std::fs::read_to_string(directory.join("page.html")).expect("a page");
    assert!(ran.code == 0 && page.contains("strongest levels: snapshot in no order"), "{}", ran.shown());
}

/// The level of the settings counts if no option names one.
#[test]
fn settings_have_a_level() {
    let directory = tool::directory("isolation-settings");
    FILES.iter().for_each(|(file, text)| std::fs::write(directory.join(file), text).expect("a file for a test"));
    let ran = |settings: &str, args: &[&str]| {
        std::fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
        tool::run(&directory, &[&["check"], args].concat())
    };
    let rejected = ran("isolation = \"serializable\"", &["skew.jsonl"]);
    assert!(rejected.code == 1 && rejected.stdout.contains("not serializable: write skew"), "{}", rejected.shown());
    let in_order = ran("isolation = \"snapshot\"\norder = \"session\"", &["skew.jsonl"]);
    assert!(
        in_order.code == 0 && in_order.stdout.contains("accepted, strong-session-snapshot"),
        "{}",
        in_order.shown()
    );
    let given = ran("isolation = \"serializable\"", &["--isolation", "snapshot", "skew.jsonl"]);
    assert!(given.code == 0 && given.stdout.contains("accepted, snapshot"), "{}", given.shown());
    std::fs::rename(directory.join("omnilink.toml"), directory.join("other.toml")).expect("a file for a test");
    let named = tool::run(&directory, &["check", "--settings", "other.toml", "skew.jsonl"]);
    assert_eq!(named.code, 1, "{}", named.shown());
    let wrong = ran("isolation = \"snapshto\"", &["skew.jsonl"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("error: omnilink.toml: `isolation`: "), "{}", wrong.shown());
    let wrong = ran("isolation = \"snapshot\"\norder = \"total\"", &["skew.jsonl"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("expected `none`, `session` or `real-time`"), "{}", wrong.shown());
}

/// A run of an accepted history is executed again, and other texts are refused.
#[test]
fn runs_are_written_and_verified() {
    let directory = tool::directory("isolation-runs");
    FILES.iter().for_each(|(file, text)| std::fs::write(directory.join(file), text).expect("a file for a test"));
    let ran = |args: &[&str]| tool::run(&directory, &[&["check", "--isolation"], args].concat());
    let path = directory.join("run.txt");
    let written = ran(&["snapshot", "--witness", "run.txt", "skew.jsonl"]);
    assert_eq!(written.code, 0, "{}", written.shown());
    let run = std::fs::read_to_string(&path).expect("a run");
    insta::assert_snapshot!(run, @"
    # skew.jsonl: snapshot
    begin 0:0 [1 5] r(x) = 0 r(y) = 0 w(x, 1)
    begin 1:0 [2 6] r(x) = 0 r(y) = 0 w(y, 1)
    commit 0:0
    commit 1:0
    ");
    let verify = |level: &str, run: &str| {
        std::fs::write(&path, run).expect("a file for a test");
        let ran = ran(&[level, "skew.jsonl", "--verify", "run.txt"]);
        format!("{} {}{}", ran.code, ran.stdout, ran.stderr)
    };
    insta::assert_snapshot!(verify("snapshot", &run), @"0 verified, snapshot: 4 steps");
    insta::assert_snapshot!(verify("strong-snapshot", &run), @"0 verified, strong-snapshot: 4 steps");
    // The same steps at a level that the history does not have, or that has other steps.
    insta::assert_snapshot!(verify("serializable", &run), @"1 run.txt, not a run of serializable: begins and commits are one step at this level");
    let lines: Vec<&str> = run.lines().collect();
    let serial = format!("# skew.jsonl\ncommit {}\ncommit {}\n", &lines[1][6..], &lines[2][6..]);
    insta::assert_snapshot!(verify("serializable", &serial), @r#"1 run.txt, not a run of serializable: 1:0 read another value of `"x"`"#);
    insta::assert_snapshot!(verify("causal", &serial), @"0 verified, causal in session order: 2 steps");
    insta::assert_snapshot!(verify("snapshot", &serial), @"1 run.txt, not a run of snapshot: the run has no begins");
    insta::assert_snapshot!(verify("snapshot", &run.replace("w(x, 1)", "w(x, 2)")), @"1 run.txt, line 2: the history has no such transaction, as it was recorded");
    insta::assert_snapshot!(verify("snapshot", &run.replace("commit 0:0\n", "")), @"1 run.txt, not a run of snapshot: 0:0 is missing");
    insta::assert_snapshot!(verify("snapshot", &run.replace("commit 0:0", "end 0:0")), @"1 run.txt, line 4: expected a line that begins with `begin`, `commit` or `read`");
    insta::assert_snapshot!(verify("snapshot", "begin 0:0\n"), @"2 error: run.txt: not an order written by `check --witness`: it does not begin with a history");
}

/// Runs name the writers of values that several transactions wrote.
#[test]
fn runs_name_the_sources_of_ambiguous_reads() {
    let directory = tool::directory("isolation-sources");
    let twice = r#"{"process": 0, "txn": [["w", "x", 1]], "start": 1, "end": 2}
{"process": 1, "txn": [["w", "x", 1], ["w", "y", 2]], "start": 3, "end": 4}
{"process": 2, "txn": [["r", "x", 1], ["r", "y", null]], "start": 5, "end": 6}
"#;
    std::fs::write(directory.join("twice.jsonl"), twice).expect("a file for a test");
    let ran =
        |args: &[&str]| tool::run(&directory, &[&["check", "--isolation", "causal", "twice.jsonl"], args].concat());
    assert_eq!(ran(&["--witness", "run.txt"]).code, 0);
    let run = std::fs::read_to_string(directory.join("run.txt")).expect("a run");
    insta::assert_snapshot!(run, @"
    # twice.jsonl: causal in session order
    read 2:0 0 of 0:0 0
    commit 0:0 [1 2] w(x, 1)
    commit 1:0 [3 4] w(x, 1) w(y, 2)
    commit 2:0 [5 6] r(x) = 1 r(y) = nil
    ");
    insta::assert_snapshot!(ran(&["--verify", "run.txt"]).shown(), @"
    verified, causal in session order: 3 steps
    exit 0
    ");
    std::fs::write(directory.join("run.txt"), run.replace("of 0:0 0", "of 1:0 1")).expect("a file for a test");
    insta::assert_snapshot!(ran(&["--verify", "run.txt"]).shown(), @"
    run.txt, not a run of causal in session order: 2:0 read another value than its source wrote
    exit 1
    ");
}
