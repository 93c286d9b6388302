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
        // What automation sets must not change what is printed.
        .env_remove("GITHUB_ACTIONS")
        .output()
        .expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed: String = text(&output.stdout).lines().map(|line| format!("{}\n", timeless(line))).collect();
    format!("{printed}{}exit {}", text(&output.stderr), output.status.code().unwrap_or(-1))
}

/// A line without the time that something took.
fn timeless(line: &str) -> &str {
    let time = line.rsplit_once(" in ").filter(|(_, time)| time.ends_with(" ms") || time.ends_with(" s"));
    time.map_or(line, |(before, _)| before)
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
    error: no order of the operations on "b" allows T0:1 erase("b") = 7 [2 5]
     |
     = note: in state empty: `erase` returned 7, but the map holds nothing under "b"
     = note: 0 of 3 operations explained
     = note: explained are operations on "b": those on others were checked apart, and are not counted
    exit 1
    "#);
}

#[test]
fn a_contradiction_is_shown_by_the_operations_it_is_made_of() {
    let history = "T0 [0 1] push(1)\nT0 [2 3] push(2)\nT1 [4 5] pop() = 2\nT1 [6 7] pop() = 1\n";
    insta::assert_snapshot!(check("contradiction", "--spec queue", history), @r"
    history: rejected
    error: 1 was enqueued before 2, but 2 was dequeued before 1

      this part fails by itself: 4 operations

        T0       T1
        -------  ---------
        push(1)
        push(2)
                 pop() = 2
                 pop() = 1
        (operations in one row overlap)
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
    warning: the limit on simultaneous configurations was reached
     |
     = note: widest when T0:0 write(0) returned: 7 configurations at once
     = note: in flight there: T0:0 write(0), T1:0 write(1), T2:0 write(2), T3:0 write(3), T4:0 write(4) and T5:0 write(5)
     = help: fewer operations at once, or a larger limit, make it decidable
    exit 3
    ");
}

#[test]
fn memory_is_a_limit_like_any_other() {
    let output = check("memory", "--spec queue --no-shortcuts --max-memory 64M", &hostile());
    assert!(output.starts_with("history: inconclusive\nwarning: the memory limit was reached\n"), "{output}");
    assert!(output.ends_with("exit 3"), "{output}");
}

#[test]
fn time_is_a_limit_like_any_other() {
    let output = check("time", "--spec queue --no-shortcuts --timeout 100ms", &hostile());
    assert!(output.starts_with("history: inconclusive\nwarning: the time limit was reached\n"), "{output}");
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
    history: accepted, 1 operation of 1 process, decided without searching
      note: the recording breaks off: after 68 bytes the last line is incomplete
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
    insta::assert_snapshot!(run(&directory, "check --quiet --spec register runs"), @"
    runs/b: rejected
    error: no order of the operations allows T0:1 read() = 2 [2 3]
     |
     = note: in state 1: `read` returned 2, but the register holds 1
     = note: 1 of 2 operations explained
    3 histories: 2 accepted, 1 rejected
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
    json["reports"][0]["stats"]["seconds"] = serde_json::Value::Null;
    insta::assert_snapshot!(format!("{json:#}"));
}

#[test]
fn reports_are_written_beside_what_is_printed() {
    let directory = directory("reports");
    for (name, result) in [("good", 1), ("bad", 2)] {
        let history = format!("T0 [0 1] write(1)\nT1 [2 3] read() = {result}\n");
        fs::write(directory.join(name), history).expect("a file");
    }
    let reports = "--report junit=r.xml --report sarif=r.sarif --report json=r.json --report md=r.md";
    let printed = run(&directory, &format!("check --spec register {reports} good bad"));
    assert!(printed.ends_with("2 histories: 1 accepted, 1 rejected\nexit 1"), "{printed}");
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("a report");
    let json = |name: &str| serde_json::from_str::<serde_json::Value>(&read(name)).expect("a JSON document");
    assert_eq!(read("r.xml").matches("<testcase ").count(), 2);
    assert_eq!(read("r.xml").matches("<failure").count(), 1);
    assert_eq!(json("r.sarif")["runs"][0]["results"].as_array().map(Vec::len), Some(1));
    assert_eq!(json("r.json")["reports"].as_array().map(Vec::len), Some(2));
    assert!(read("r.md").contains("no order of the operations allows T1:0 read() = 2"));
}

#[test]
fn a_report_of_an_unknown_kind_is_refused() {
    let output = check("report-kind", "--spec register --report yaml=r.yaml", "T0 [0 1] write(1)\n");
    assert!(output.contains("there is no report `yaml`; there are html, json, junit, md and sarif"), "{output}");
    assert!(output.ends_with("exit 2"), "{output}");
}
