//! Histories, logs and specifications that once had another verdict than their definition gives them, through the command.
//!
//! The files are below `tests/verdicts`, where each command can be run by hand.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A command, its exit code, and what it prints.
const VERDICTS: &[(&str, i32, &[&str])] = &[
    // 1.5 is between 1 and 3.
    ("check --spec kv range.txt", 0, &["range.txt: accepted"]),
    ("check --spec kv range0.txt", 1, &["range0.txt: rejected"]),
    // An operation of unknown outcome is one of its process.
    ("monitor --spec mutex < mon-mutex.jsonl", 0, &["3 of 3 operations checked, 1 key, 0 violations"]),
    // A process does not read what it writes later.
    ("monitor --spec register < mon-unknown-po.jsonl", 1, &["2 of 2 operations checked, 1 key, 1 violation"]),
    // `Len` tells strings apart.
    ("check log-symmetry/S.tla log-symmetry/l.ndjson", 0, &["l.ndjson: accepted"]),
    ("check --exhaustive log-symmetry/S.tla log-symmetry/l.ndjson", 0, &["l.ndjson: accepted"]),
    // The order of the lines is a behavior, with the second receipt after the second sending.
    ("check log-receipts/C.tla log-receipts/l.ndjson", 0, &["l.ndjson: accepted"]),
    (
        "check --spec kv --level 'order real-time, weak, insert=complete' --context recorded weak-recorded.jsonl",
        0,
        &["weak-recorded.jsonl: accepted"],
    ),
    (
        "check --spec queue --level 'order real-time, session, enqueue=complete' --context recorded weak-recorded-queue.jsonl",
        0,
        &["weak-recorded-queue.jsonl: accepted"],
    ),
    ("check --spec set --level hb-weak --context recorded weak-ctx.jsonl", 1, &["weak-ctx.jsonl: rejected"]),
    // Operations of one process that touch are all seen.
    ("check --spec queue --level hb-weak weak-touch.jsonl", 1, &["weak-touch.jsonl: rejected"]),
    (
        "check --spec queue --find-level weak-touch.jsonl",
        0,
        &["by name: writes-follow-reads:", "by name: monotonic-reads:", "by name: serializable:"],
    ),
    // A step that breaks an invariant does not block an operation.
    ("check blocked-inv/T1.tla blocked-inv/f.jsonl", 1, &["f.jsonl: violated"]),
    ("check blocked-inv/T1.tla blocked-inv/without-unknown.jsonl", 1, &["without-unknown.jsonl: rejected"]),
    (
        "witness verify blocked-inv/T1.tla blocked-inv/f.jsonl blocked-inv/order.txt",
        1,
        &["line 3: the specification does not allow T2:0 in any state that is possible here"],
    ),
    (
        "witness verify blocked-inv/T1.tla blocked-inv/f.jsonl blocked-inv/order-unknown.txt",
        1,
        &["line 3: the specification does not allow T1:0 in any state that is possible here"],
    ),
    // After the others the lock is free.
    ("check --spec mutex --order program blocked-program.jsonl", 1, &["blocked-program.jsonl: rejected"]),
    ("check --spec mutex --order none blocked-program.jsonl", 1, &["blocked-program.jsonl: rejected"]),
    ("check --spec mutex --level causal blocked-program.jsonl", 1, &["blocked-program.jsonl: rejected"]),
    // The set of an `\E` is evaluated before the guard inside it.
    ("spec check hoist/H.tla", 2, &["`Head` was applied to the empty sequence"]),
    ("spec check hoist/H2.tla", 2, &["`Head` was applied to the empty sequence"]),
    // A view has one result, whatever the number of workers.
    ("spec check -j 1 view-workers/V.tla", 0, &["V.tla: holds", "5 states generated, 4 distinct"]),
    ("spec check -j 2 view-workers/V.tla", 0, &["V.tla: holds", "5 states generated, 4 distinct"]),
    ("check --spec counter counter-wide.txt", 0, &["counter-wide.txt: accepted"]),
];

/// Runs a command with a file as its input, if it names one. Returns its exit code and its output.
fn run(command: &str) -> (i32, String) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let (command, input) = command.split_once(" < ").map_or((command, None), |(command, input)| (command, Some(input)));
    let words = |(place, piece): (usize, &str)| match place % 2 {
        0 => piece.split_whitespace().map(str::to_owned).collect(),
        _ => vec![piece.to_owned()],
    };
    let arguments: Vec<String> = command.split('\'').enumerate().flat_map(words).collect();
    let input = input.map_or(Stdio::null(), |input| fs::File::open(directory.join(input)).expect("a file").into());
    let mut command = Command::new(env!("CARGO_BIN_EXE_omnilink"));
    let output = command.current_dir(&directory).args(arguments).stdin(input).env_remove("GITHUB_ACTIONS").output();
    let output = output.expect("the command runs");
    let text = [&*output.stdout, &*output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    (output.status.code().unwrap_or(-1), text)
}

#[test]
fn verdicts_are_those_of_the_definitions() {
    for &(command, code, printed) in VERDICTS {
        let (ended, text) = run(command);
        assert_eq!(ended, code, "{command}\n{text}");
        for words in printed {
            assert!(text.contains(words), "{command}\n{text}");
        }
    }
}

/// The file has the violation of a process that reads what it writes later.
#[test]
fn a_monitor_that_was_stopped_decides_what_it_decides_without_a_stop() {
    let directory = tempfile::tempdir().expect("a directory");
    let state = directory.path().join("state").display().to_string();
    let lines = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts/mon-restart.jsonl"));
    let first: String = lines.expect("a file").split_inclusive('\n').take(2).collect();
    let begun = directory.path().join("first.jsonl");
    fs::write(&begun, first).expect("a file for a test");
    let monitor = format!("monitor --spec kv --checkpoint {state}");
    let (code, text) = run(&format!("{monitor} < {}", begun.display()));
    assert_eq!(code, 3, "{text}");
    let restarted = run(&format!("{monitor} < mon-restart.jsonl"));
    assert_eq!(restarted, run("monitor --spec kv < mon-restart.jsonl"));
    assert_eq!(restarted.0, 1, "{}", restarted.1);
}
