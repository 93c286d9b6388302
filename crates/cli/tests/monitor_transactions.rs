//! `omnilink monitor --isolation`: exit codes, stops and files that grow.

mod tool;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Each transaction reads the version that its snapshot has.
const FITTING: &str = r#"{"process": "a", "progress": 0}
{"process": "b", "progress": 0}
{"process": "a", "txn": [["w", "x", 1]], "start": 1, "end": 4, "snapshot_ts": 10, "commit_ts": 20, "seq": 0}
{"process": "b", "txn": [["r", "x", 1], ["w", "x", 2]], "start": 5, "end": 8, "snapshot_ts": 20, "commit_ts": [30, 1], "seq": 0}
{"process": "a", "txn": [["r", "x", 2]], "start": 9, "end": 10, "snapshot_ts": 31, "seq": 1}
{"process": "a", "progress": 40, "operations": 2, "is_last": true}
{"process": "b", "progress": 40, "operations": 1, "is_last": true}
"#;

/// Monitors lines on standard input.
fn monitor(directory: &Path, args: &[&str], lines: &str) -> tool::Ran {
    fs::write(directory.join("input"), lines).expect("a file");
    let input = File::open(directory.join("input")).expect("the file");
    let output = Command::new(env!("CARGO_BIN_EXE_omnilink"))
        .current_dir(directory)
        .args([&["monitor", "--lateness", "0s"], args].concat())
        .stdin(input)
        .output()
        .expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    tool::Ran { stdout: text(&output.stdout), stderr: text(&output.stderr), code: output.status.code().unwrap_or(-1) }
}

#[test]
fn outcomes_have_their_exit_codes() {
    let directory = tool::directory("monitor-transactions");
    let shown = |level: &[&str], lines: &str, code: i32, expected: &str| {
        let ran = monitor(&directory, level, lines);
        assert!(
            ran.code == code && (ran.stdout.clone() + &ran.stderr).contains(expected),
            "{expected}: {}",
            ran.shown()
        );
        // The same verdict on the whole history.
        if matches!(code, 0 | 1) {
            fs::write(directory.join("input.jsonl"), lines).expect("a file");
            let args = [&["check", "--stamps"], level, &["input.jsonl"]].concat();
            assert_eq!(tool::run(&directory, &args).code, code, "{expected}");
        }
    };
    let snapshot = ["--isolation", "snapshot"];
    shown(&snapshot, FITTING, 0, "3 of 3 transactions checked, 1 key, 0 violations");
    let stale = FITTING.replace(r#"["r", "x", 2]"#, r#"["r", "x", 1]"#);
    shown(&snapshot, &stale, 1, "missed write: a:1 read x = 1, but by the stamps it sees x = 2 of b:0");
    let behind = FITTING.replace("31, \"seq\": 1", "15, \"seq\": 1").replace(r#"["r", "x", 2]"#, r#"["r", "y", 0]"#);
    shown(&snapshot, &behind, 0, "0 violations");
    shown(
        &["--isolation", "snapshot", "--order", "session"],
        &behind,
        1,
        "the snapshot of a:1 does not have a:0, which is earlier in its session",
    );
    let lost: String = FITTING
        .lines()
        .filter(|line| !line.contains("\"commit_ts\": 20"))
        .fold(String::new(), |text, line| text + line + "\n");
    shown(&snapshot, &lost, 3, "an operation of a is missing");
    shown(&snapshot, &FITTING.replace(", \"commit_ts\": 20", ""), 2, "a:0 has no `commit_ts`");
    shown(
        &snapshot,
        &FITTING.replace("[30, 1]", "true"),
        2,
        "`commit_ts` is not an integer of 64 bits from 0 on, or a pair of them",
    );
    shown(
        &snapshot,
        &FITTING.replace("\"snapshot_ts\": 31", "\"snapshot\": \"1:1:\""),
        2,
        "unsupported in a stream: `snapshot`",
    );
    shown(&snapshot, "", 4, "0 of 0 transactions checked");
    shown(
        &["--isolation", "strict-serializable"],
        FITTING,
        2,
        "in session order or without an order, not in real time",
    );
    shown(
        &["--isolation", "causal"],
        FITTING,
        2,
        "stamps decide `prefix`, `snapshot` and `serializable`, not `causal`",
    );
    shown(&["--isolation", "snapshot", "nats://127.0.0.1:1/OPS"], FITTING, 2, "unsupported for transactions");
    shown(&["--spec", "register"], FITTING, 2, "`--isolation` checks these");
}

#[test]
fn a_stopped_monitor_continues() {
    let directory = tool::directory("monitor-transactions-stopped");
    let stale = FITTING.replace(r#"["r", "x", 2]"#, r#"["r", "x", 1]"#);
    let lines: Vec<&str> = stale.lines().collect();
    let args = ["--isolation", "snapshot", "--checkpoint", "state", "--alerts", "alerts"];
    for count in 1..=lines.len() {
        let ran = monitor(&directory, &args, &(lines[..count].join("\n") + "\n"));
        let expected = if count == lines.len() {
            1
        } else if count < 3 {
            4
        } else {
            3
        };
        assert_eq!(ran.code, expected, "{count}: {}", ran.shown());
    }
    let alerts = fs::read_to_string(directory.join("alerts")).expect("alerts");
    assert!(alerts.lines().count() == 1 && alerts.contains("missed write: a:1"), "{alerts}");
    let other = monitor(&directory, &["--isolation", "prefix", "--checkpoint", "state"], &stale);
    other.assert_begins(2, "error: state: it is a checkpoint of `snapshot by the stamps of the database`");
}

#[test]
fn a_file_is_followed_while_outcomes_are_written() {
    let directory = tool::directory("monitor-transactions-file");
    let file = File::create(directory.join("txns.jsonl")).expect("a file");
    let put =
        |number: u64, text: &str| file.write_all_at(format!("{text:<199}\n").as_bytes(), 200 * number).expect("a line");
    let line = |process: &str, txn: &str, rest: &str| {
        format!(r#"{{"process": "{process}", "txn": [{txn}], "start": 1, {rest}}}"#)
    };
    // It is about to commit, while another one is over.
    put(0, &line("a", r#"["w", "x", 1]"#, r#""status": "unknown", "snapshot_ts": 1"#));
    put(1, &line("b", r#"["r", "x", 0]"#, r#""end": 2, "status": "committed", "snapshot_ts": 2"#));
    let mut monitor = Command::new(env!("CARGO_BIN_EXE_omnilink"))
        .current_dir(&directory)
        .args([
            "monitor",
            "--isolation",
            "snapshot",
            "txns.jsonl",
            "--lateness",
            "0s",
            "--every",
            "10ms",
            "--alerts",
            "alerts",
        ])
        // The machine may be busy.
        .args(["--idle", "10m"])
        .args(["--checkpoint", "state", "--checkpoint-every", "10ms"])
        .stderr(Stdio::null())
        .spawn()
        .expect("the command");
    let wait = |is_there: &dyn Fn(&serde_json::Value) -> bool| {
        let began = Instant::now();
        loop {
            let state = fs::read_to_string(directory.join("state")).unwrap_or_default();
            let head = serde_json::from_str(state.lines().next().unwrap_or_default()).unwrap_or_default();
            if is_there(&head) {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{state}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait(&|head| head["counts"]["operations"] == 1);
    put(0, &line("a", r#"["w", "x", 1]"#, r#""end": 3, "status": "committed", "snapshot_ts": 1, "commit_ts": 4"#));
    put(2, &line("b", r#"["r", "x", 0]"#, r#""end": 9, "status": "committed", "snapshot_ts": 5"#));
    put(3, &line("a", r#"["r", "x", 1]"#, r#""end": 9, "status": "committed", "snapshot_ts": 6"#));
    put(4, &line("b", r#"["r", "x", 1]"#, r#""end": 9, "status": "committed", "snapshot_ts": 7"#));
    wait(&|head| head["counts"]["operations"] == 5);
    let began = Instant::now();
    let alerts = || fs::read_to_string(directory.join("alerts")).unwrap_or_default();
    while alerts().is_empty() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    monitor.kill().expect("a process");
    monitor.wait().expect("an end");
    assert!(alerts().contains("b:1 read x = 0, but by the stamps it sees x = 1 of a:0"), "{}", alerts());
    let mut state = fs::OpenOptions::new().append(true).open(directory.join("state")).expect("the state");
    state.write_all(b"{}\n").expect("a line");
    let ran = tool::run(
        &directory,
        &["monitor", "--isolation", "snapshot", "txns.jsonl", "--complete", "--checkpoint", "state"],
    );
    ran.assert_begins(2, "error: state:1: it does not have as many lines as it says");
}
