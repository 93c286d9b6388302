//! The command as people and scripts meet it: what it prints, and how it exits.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory of its own for a test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for a test");
    directory
}

/// Runs the command in a directory. What it prints, what it complains, and its exit code.
fn run(directory: &Path, args: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_omnilink"))
        .current_dir(directory)
        .args(args.split_whitespace())
        .output()
        .expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}exit {}", text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

/// Checks a history that is written to a file first.
fn check(name: &str, args: &str, history: &str) -> String {
    let directory = directory(name);
    fs::write(directory.join("history"), history).expect("a file for a test");
    run(&directory, &format!("check {args} history"))
}

/// A history that no search can decide: a queue is filled by many processes at once, in any of 24! orders.
fn hostile() -> String {
    let mut history = String::new();
    for process in 0..24 {
        let _ = writeln!(history, "T{process} [0 {}] push({process})", 1000 + process);
    }
    history + "T99 [2000 2001] pop() = 77\n"
}

#[test]
fn a_rejected_history_names_what_fits_nowhere() {
    let history = "T0 [0 1] put(\"a\", 1)\nT1 [2 3] get(\"a\") = 1\nT0 [2 5] erase(\"b\") = 7\n";
    insta::assert_snapshot!(check("rejected", "--spec kv", history), @r#"
    history: rejected
      no order of the operations on "b" allows T0:1 erase("b") = 7 [2 5]
      0 operations returned before it and can be explained, and then:
        in state empty: `erase` returned 7, but the map holds nothing under "b"
      3 operations of 2 processes, searched in 2 independent parts: 3 configurations, at most 2 at once
    exit 1
    "#);
}

#[test]
fn a_contradiction_is_shown_by_the_operations_it_is_made_of() {
    let history = "T0 [0 1] push(1)\nT0 [2 3] push(2)\nT1 [4 5] pop() = 2\nT1 [6 7] pop() = 1\n";
    insta::assert_snapshot!(check("contradiction", "--spec queue", history), @r"
    history: rejected
      1 was enqueued before 2, but 2 was dequeued before 1
        T0:0 push(1) [0 1]
        T1:1 pop() = 1 [6 7]
        T0:1 push(2) [2 3]
        T1:0 pop() = 2 [4 5]
      4 operations of 2 processes, decided without searching
    exit 1
    ");
}

#[test]
fn without_operations_there_is_nothing_to_check() {
    insta::assert_snapshot!(check("nothing", "--spec queue", "\n"), @r"
    history: nothing to check
    exit 4
    ");
}

#[test]
fn a_limit_makes_it_inconclusive_and_names_the_widest_place() {
    let mut history = String::new();
    for process in 0..6 {
        let _ = writeln!(history, "T{process} [0 {}] write({process})", 10 + process);
    }
    history.push_str("T9 [20 21] read() = 0\n");
    insta::assert_snapshot!(check("width", "--spec register --max-width 4", &history), @r"
    history: inconclusive
      the limit on simultaneous configurations was reached
      widest at T0:0 write(0) [0 10]: 7 configurations at once
      6 operations in flight there, which may take effect in any order; the longest:
        T5:0 write(5) [0 15]
        T4:0 write(4) [0 14]
        T3:0 write(3) [0 13]
        T2:0 write(2) [0 12]
        T1:0 write(1) [0 11]
        T0:0 write(0) [0 10]
      7 operations of 7 processes, searched whole: 7 configurations, at most 7 at once
    exit 3
    ");
}

#[test]
fn memory_is_a_limit_like_any_other() {
    let output = check("memory", "--spec queue --no-shortcuts --max-memory 64M", &hostile());
    assert!(output.starts_with("history: inconclusive\n  the memory limit was reached\n"), "{output}");
    assert!(output.ends_with("exit 3"), "{output}");
}

#[test]
fn time_is_a_limit_like_any_other() {
    let output = check("time", "--spec queue --no-shortcuts --timeout 100ms", &hostile());
    assert!(output.starts_with("history: inconclusive\n  the time limit was reached\n"), "{output}");
    assert!(output.ends_with("exit 3"), "{output}");
}

#[test]
fn a_damaged_history_is_not_a_rejected_one() {
    let cases = [
        ("{\"process\": 0, \"action\": \"push\", \"args\": [1], \"start\": 1, \"ende\": 2}", "--spec queue"),
        ("{\"process\": 0, \"action\": \"push\", \"args\": [1], \"start\": 3, \"end\": 2}", "--spec queue"),
        ("T0 [1 5] push(1)\nT0 [4 6] pop() = 1", "--spec queue"),
        ("T0 [1 ...] push(1)\nT0 [4 6] pop() = 1", "--spec queue"),
        ("T0 [1 5] push(1, 2)", "--spec queue"),
        ("T0 [1 5] launch(1)", "--spec queue"),
        ("T0 [1 5] push(1)", "--spec queue:capacity=few"),
        ("T0 [1 5] push(1)", "--spec tree"),
        ("what is this", "--spec queue"),
        ("T0 [1 5] push(1)", "--spec queue --from yaml"),
    ];
    let mut all = String::new();
    for (history, args) in cases {
        let _ = writeln!(all, "{}\n", check("damaged", args, history));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_history_that_breaks_off_is_checked_up_to_there() {
    let history =
        "{\"process\": 0, \"action\": \"push\", \"args\": [1], \"start\": 1, \"end\": 2}\n{\"process\": 0, \"act";
    insta::assert_snapshot!(check("cut", "--spec queue", history), @r"
    history: accepted
      note: breaks off after 68 bytes: the last line is incomplete; what stands before is a history of its own
      1 operation of 1 process, decided without searching
    exit 0
    ");
}

#[test]
fn a_directory_is_every_history_in_it() {
    let directory = directory("many");
    fs::create_dir(directory.join("runs")).expect("a directory");
    for (name, result) in [("a", 1), ("b", 2), ("c", 1)] {
        let history = format!("T0 [0 1] write(1)\nT0 [2 3] read() = {result}\n");
        fs::write(directory.join("runs").join(name), history).expect("a file");
    }
    fs::write(directory.join("runs/d"), "damage").expect("a file");
    insta::assert_snapshot!(run(&directory, "check --quiet --spec register runs"), @r"
    runs/b: rejected
      no order of the operations allows T0:1 read() = 2 [2 3]
      1 operation returned before it and can be explained, and then:
        in state 1: `read` returned 2, but the register holds 1
          after T0:0 write(1) [0 1]
      2 operations of 1 process, searched whole: 2 configurations, at most 2 at once
    3 checked: 2 accepted, 1 rejected
    error: runs/d: the format is not one of those that are known
    help: name it with `--from`, or see FORMAT.md for how to write a history
    exit 2
    ");
}

#[test]
fn a_trace_survives_conversion_and_a_cut() {
    let directory = directory("binary");
    let history = "T0 [0 1] put(\"a\", 1)\nT1 [2 3] len() = 1\nT0 [4 ...] erase(\"a\")\nT1 [5 6] len() = 0\n";
    fs::write(directory.join("history"), history).expect("a file");
    let mut all = run(&directory, "convert history --to binary -o trace");
    let _ = write!(all, "\n{}", run(&directory, "check --spec kv trace --witness order"));
    let _ = write!(all, "\n{}", fs::read_to_string(directory.join("order")).expect("a witness"));
    let _ = write!(all, "\n{}", run(&directory, "convert trace --to text"));
    let segment = directory.join("trace/0001.seg");
    let bytes = fs::read(&segment).expect("a segment");
    fs::write(&segment, &bytes[..bytes.len() - 5]).expect("a segment");
    let _ = write!(all, "\n{}", run(&directory, "check --spec kv trace"));
    let _ = write!(all, "\n{}", run(&directory, "convert history --to binary -o trace"));
    insta::assert_snapshot!(all);
}

#[test]
fn json_has_everything() {
    let history = "T0 [0 1] write(1)\nT1 [2 3] read() = 2\n";
    let output = check("json", "--spec register --format json", history);
    let (json, _) = output.rsplit_once("exit").expect("an exit code");
    let mut json: serde_json::Value = serde_json::from_str(json).expect("a JSON document");
    json["histories"][0]["milliseconds"] = serde_json::Value::Null;
    insta::assert_snapshot!(format!("{json:#}"));
}
