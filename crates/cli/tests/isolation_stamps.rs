//! Isolation of transactions by the stamps of a database: verdicts, misfits, and histories that are refused.

mod tool;

use serde_json::Value;

/// Each transaction reads the version that its snapshot has.
const FITTING: &str = r#"{"process": "a", "txn": [["w", "x", 1]], "start": 1, "end": 4, "snapshot_ts": 10, "commit_ts": 20}
{"process": "b", "txn": [["r", "x", 1], ["w", "x", 2]], "start": 5, "end": 8, "snapshot_ts": 20, "commit_ts": [30, 1]}
{"process": "c", "txn": [["r", "x", 2]], "start": 9, "end": 10, "snapshot_ts": 31}
"#;

/// The last transaction reads an older version than its snapshot has. Without stamps it may have taken its snapshot earlier.
const STALE: &str = r#"{"process": "a", "txn": [["w", "x", 1]], "start": 1, "end": 4, "snapshot_ts": 10, "commit_ts": 20}
{"process": "b", "txn": [["r", "x", 1], ["w", "x", 2]], "start": 5, "end": 8, "snapshot_ts": 20, "commit_ts": 30}
{"process": "c", "txn": [["r", "x", 1]], "start": 9, "end": 10, "snapshot_ts": 31}
"#;

/// Two commits of one time: the read fits one order of them.
const TIED: &str = r#"{"process": "a", "txn": [["w", "x", 1]], "start": 1, "end": 4, "snapshot_ts": 10, "commit_ts": 20}
{"process": "b", "txn": [["w", "x", 2]], "start": 2, "end": 5, "snapshot_ts": 10, "commit_ts": 20}
{"process": "c", "txn": [["r", "x", 1]], "start": 6, "end": 7, "snapshot_ts": 30}
"#;

/// The session of the second transaction has committed after its snapshot.
const SESSION: &str = r#"{"process": "a", "txn": [["w", "x", 1]], "start": 1, "end": 4, "snapshot_ts": 10, "commit_ts": 20}
{"process": "a", "txn": [["r", "x", 0]], "start": 5, "end": 6, "snapshot_ts": 15}
"#;

/// PostgreSQL's snapshots of two replicas that apply two transactions in different orders.
const FORK: &str = r#"{"process": 0, "txn": [["w", "x", 1]], "snapshot": "10:10:", "xid": "10", "status": "committed"}
{"process": 1, "txn": [["w", "y", 1]], "snapshot": "10:10:", "xid": "11", "status": "committed"}
{"process": 2, "txn": [["r", "x", 1], ["r", "y", 0]], "snapshot": "11:12:11", "status": "committed"}
{"process": 3, "txn": [["r", "x", 0], ["r", "y", 1]], "snapshot": "10:12:10", "status": "committed"}
"#;

const FILES: [(&str, &str); 7] = [
    ("fitting.jsonl", FITTING),
    ("stale.jsonl", STALE),
    ("tied.jsonl", TIED),
    ("session.jsonl", SESSION),
    ("fork.jsonl", FORK),
    ("none.jsonl", "{\"process\": 0, \"txn\": [[\"w\", 1, 2]], \"start\": 1, \"end\": 2}\n"),
    ("missing.jsonl", "{\"process\": 0, \"txn\": [[\"w\", 1, 2]], \"start\": 1, \"end\": 2, \"snapshot_ts\": 1}\n"),
];

fn check(name: &str, args: &[&str]) -> tool::Ran {
    let directory = tool::directory_with(&format!("isolation-stamps-{name}"), &FILES);
    tool::run(&directory, &[&["check"], args].concat())
}

#[test]
fn verdicts_have_their_exit_codes() {
    let shown = |args: &[&str], code: i32, expected: &str| {
        check("codes", &[&["--stamps"], args].concat()).assert_begins(code, expected);
    };
    let by_stamps = "accepted, snapshot by the stamps of the database: 3 transactions of 3 sessions";
    shown(&["--isolation", "snapshot", "fitting.jsonl"], 0, &format!("fitting.jsonl: {by_stamps}"));
    shown(
        &["--isolation", "strict-serializable", "fitting.jsonl"],
        0,
        "fitting.jsonl: accepted, strict-serializable by",
    );
    let stale = "stale.jsonl: rejected, the stamps of the database do not fit snapshot: missed write";
    shown(&["--isolation", "snapshot", "stale.jsonl"], 1, stale);
    shown(&["--isolation", "prefix", "session.jsonl"], 0, "session.jsonl: accepted, prefix by the stamps");
    let session =
        "session.jsonl: rejected, the stamps of the database do not fit strong-session-snapshot: stale snapshot";
    shown(&["--isolation", "strong-session-snapshot", "session.jsonl"], 1, session);
    shown(
        &["--isolation", "prefix", "tied.jsonl"],
        3,
        "tied.jsonl: inconclusive, prefix by the stamps of the database: ",
    );
    shown(
        &["--isolation", "snapshot", "tied.jsonl"],
        1,
        "tied.jsonl: rejected, the stamps of the database do not fit snapshot",
    );
    let fork = "fork.jsonl: rejected, the stamps of the database do not fit prefix: snapshots that disagree";
    shown(&["--isolation", "prefix", "fork.jsonl"], 1, fork);
    shown(&["--isolation", "serializable", "fork.jsonl"], 2, "error: fork.jsonl: PostgreSQL's snapshots do not decide");
    shown(
        &["--isolation", "causal", "fitting.jsonl"],
        2,
        "error: fitting.jsonl: stamps decide `prefix`, `snapshot` and",
    );
    shown(
        &["--isolation", "snapshot", "none.jsonl"],
        2,
        "error: none.jsonl: the transactions have neither `snapshot_ts`",
    );
    shown(&["--isolation", "snapshot", "missing.jsonl"], 2, "error: missing.jsonl: 0:0 has no `commit_ts`");
    shown(&["fitting.jsonl"], 2, "error: check: `--stamps` needs the isolation level");
}

#[test]
fn a_rejection_shows_the_stamps() {
    let ran = check("shown", &["--isolation", "snapshot", "--stamps", "stale.jsonl", "tied.jsonl"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn a_history_with_stamps_is_said_to_have_them() {
    let ran = check("hint", &["--isolation", "snapshot", "fitting.jsonl"]);
    assert!(ran.code == 0 && ran.stdout.contains("`--stamps` compares their reads"), "{}", ran.shown());
    let ran = check("hint", &["--isolation", "causal", "fitting.jsonl"]);
    assert!(ran.code == 0 && !ran.stdout.contains("--stamps"), "{}", ran.shown());
    let ran = check("hint", &["--isolation", "snapshot", "none.jsonl"]);
    assert!(ran.code == 0 && !ran.stdout.contains("--stamps"), "{}", ran.shown());
}

#[test]
fn json_has_the_misfits() {
    let args = ["--isolation", "snapshot", "--stamps", "--format", "json", "fitting.jsonl", "stale.jsonl"];
    let ran = check("json", &args);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let [fitting, stale] = [0, 1].map(|place| &document["histories"][place]);
    assert_eq!((ran.code, &fitting["verdict"], &fitting["stamps"]), (1, &"accepted".into(), &true.into()));
    assert_eq!((&stale["verdict"], &stale["anomaly"]), (&"rejected".into(), &"missed write".into()), "{stale}");
    assert_eq!((&stale["misfit_count"], &stale["without_stamps"]), (&1.into(), &"accepted".into()), "{stale}");
    let sentence = "c:0 read x = 1, but by the stamps it sees x = 2 of b:0";
    assert_eq!(stale["misfits"][0]["sentence"], sentence, "{stale}");
    assert_eq!(stale["involved"][0]["stamps"], "snapshot at 20, commit at 30", "{stale}");
}

#[test]
fn reports_have_the_misfit() {
    let directory = tool::directory("isolation-stamps-reports");
    FILES.iter().for_each(|(file, text)| std::fs::write(directory.join(file), text).expect("a file for a test"));
    let kinds = ["html=page.html", "json=report.json", "junit=report.xml", "sarif=report.sarif", "md=report.md"];
    let args: Vec<&str> = kinds.iter().flat_map(|kind| ["--report", kind]).collect();
    let stamps = ["check", "--isolation", "snapshot", "--stamps", "stale.jsonl"];
    let ran = tool::run(&directory, &[&stamps[..], &args].concat());
    assert_eq!(ran.code, 1, "{}", ran.shown());
    for file in ["page.html", "report.json", "report.xml", "report.sarif", "report.md"] {
        let text = std::fs::read_to_string(directory.join(file)).expect("a report");
        assert!(text.contains("missed write: T2 read x = 1, but by the stamps it sees x = 2 of T1"), "{file}");
    }
    let full = tool::run(&directory, &["check", "--full", "report.json"]);
    insta::assert_snapshot!(full.shown());
}

/// `stamps` of the settings counts together with their level.
#[test]
fn settings_have_stamps() {
    let directory = tool::directory("isolation-stamps-settings");
    FILES.iter().for_each(|(file, text)| std::fs::write(directory.join(file), text).expect("a file for a test"));
    std::fs::write(directory.join("omnilink.toml"), "isolation = \"snapshot\"\nstamps = true\n").expect("a file");
    let ran = tool::run(&directory, &["check", "stale.jsonl"]);
    assert!(ran.code == 1 && ran.stdout.contains("do not fit snapshot: missed write"), "{}", ran.shown());
    let given = tool::run(&directory, &["check", "--isolation", "snapshot", "stale.jsonl"]);
    assert!(given.code == 0, "{}", given.shown());
    std::fs::write(directory.join("omnilink.toml"), "isolation = \"snapshot\"\n").expect("a file");
    let named = tool::run(&directory, &["check", "--stamps", "stale.jsonl"]);
    assert_eq!(named.code, 1, "{}", named.shown());
}

#[test]
fn the_levels_that_stamps_fit_are_found() {
    let shown = |file: &str, code: i32, expected: &str| {
        let ran = check("levels", &["--stamps", "--find-level", file]);
        let text = ran.shown();
        assert!(ran.code == code && text.contains(expected), "{expected}: {text}");
    };
    shown(
        "fitting.jsonl",
        0,
        "none       snapshot, serializable\n  session    snapshot, serializable\n  real-time  snapshot, serializable\n",
    );
    shown("stale.jsonl", 1, "none       none\n");
    shown("tied.jsonl", 3, "none       none (not decided: prefix, serializable)\n");
    shown("session.jsonl", 0, "none       snapshot, serializable\n  session    none\n");
    shown("fork.jsonl", 1, "PostgreSQL's snapshots do not decide `serializable`");
    shown("none.jsonl", 2, "the transactions have neither `snapshot_ts` and `commit_ts`");
    shown("missing.jsonl", 2, "0:0 has no `commit_ts`");
}
