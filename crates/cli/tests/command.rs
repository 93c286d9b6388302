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
    let is_time = |time: &str| time.ends_with(" ms") || time.ends_with(" s");
    let last = line.rsplit_once(" in ").filter(|(_, time)| is_time(time));
    let brackets = || line.rsplit_once(" (").filter(|(_, time)| time.strip_suffix(')').is_some_and(is_time));
    last.or_else(brackets).map_or(line, |(before, _)| before)
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
    error: no order allows T0's `erase "b" → 7`: `erase` returned 7, but the map holds nothing under "b"
     |
     = note: T0:1 `erase("b") = 7` [2 5] is not legal in the state before it.
     = note: in state empty: `erase` returned 7, but the map holds nothing under "b"
     = note: counts refer to "b" only; other keys were checked separately
     = note: 1 of 2 keys is rejected: "b"

      smallest part that fails: 1 operation, starting from
        empty

        T0
        ---------------
        erase "b" → 7 ✗

      full explanation  omnilink check --full history --spec kv
      page              omnilink view history --spec kv
    exit 1
    "#);
}

#[test]
fn a_contradiction_is_shown_by_the_operations_it_is_made_of() {
    let history = "T0 [0 1] push(1)\nT0 [2 3] push(2)\nT1 [4 5] pop() = 2\nT1 [6 7] pop() = 1\n";
    insta::assert_snapshot!(check("contradiction", "--spec queue", history), @"
    history: rejected
    error: 1 was enqueued before 2, but 2 was dequeued before 1

      smallest part that fails: 4 operations

        T0      T1
        ------  -------
        push 1
        push 2
                pop → 2
                pop → 1

      page  omnilink view history --spec queue
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
fn a_history_without_operations_is_not_accepted_among_others() {
    let directory = directory("nothing-among-others");
    fs::write(directory.join("empty"), "").expect("a file");
    fs::write(directory.join("good"), "T0 [0 1] write(1)\n").expect("a file");
    for files in ["empty good", "good empty"] {
        let printed = run(&directory, &format!("check --spec register --report junit=r.xml {files}"));
        assert!(printed.contains("empty: nothing to check\n"), "{printed}");
        assert!(printed.ends_with("2 histories: 1 accepted, 1 empty\nexit 4"), "{printed}");
        let junit = fs::read_to_string(directory.join("r.xml")).expect("a report");
        assert!(junit.contains("tests=\"2\"") && junit.contains("errors=\"1\""), "{junit}");
    }
}

#[test]
fn a_limit_makes_it_inconclusive_and_names_the_widest_place() {
    let mut history = String::new();
    for process in 0..6 {
        let _ = writeln!(history, "T{process} [0 {}] enqueue({process})", 10 + process);
    }
    history.push_str("T9 [20 21] dequeue() = 0\n");
    insta::assert_snapshot!(check("width", "--spec queue --no-shortcuts --max-width 4", &history), @"
    history: inconclusive
    warning: the limit on simultaneous configurations was reached
     |
     = note: widest when T0:0 enqueue(0) returned: 7 configurations at once
     = note: in flight there: T0:0 enqueue(0), T1:0 enqueue(1), T2:0 enqueue(2), T3:0 enqueue(3), T4:0 enqueue(4) and T5:0
             enqueue(5)
     = help: fewer operations at once, or a larger limit, make it decidable

      a larger width  omnilink check --spec queue --no-shortcuts history --max-width 64
      an order hint   omnilink check --spec queue --no-shortcuts --max-width 4 history --order-by FIELD
    exit 3
    ");
}

#[test]
fn memory_is_a_limit_like_any_other() {
    let output = check("memory", "--spec queue --no-shortcuts --max-memory 64M --max-width 4000000000", &hostile());
    assert!(output.starts_with("history: inconclusive\nwarning: the memory limit was reached\n"), "{output}");
    assert!(output.ends_with("exit 3"), "{output}");
}

#[test]
fn time_is_a_limit_like_any_other() {
    let output = check("time", "--spec queue --no-shortcuts --timeout 100ms --max-width 4000000000", &hostile());
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
    error: T0 read 2, which was never written
     |
     = note: T0:1 read() = 2 [2 3].

      smallest part that fails: 1 operation

        T0
        --------
        read → 2

      page  omnilink view runs/b --spec register
    4 histories: 2 accepted, 1 rejected, 1 not checked
    error: runs/d: unrecognized format: the file begins with `damage`
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
    assert!(read("r.md").contains("T1 read 2, which was never written"));
}

#[test]
fn a_report_of_an_unknown_kind_is_refused() {
    let output = check("report-kind", "--spec register --report yaml=r.yaml", "T0 [0 1] write(1)\n");
    assert!(output.contains("unrecognized report `yaml` (expected html, json, junit, md or sarif)"), "{output}");
    assert!(output.ends_with("exit 2"), "{output}");
}

#[test]
fn a_history_that_cannot_be_read_is_an_error_in_every_report() {
    let directory = directory("unreadable");
    fs::write(directory.join("good"), "T0 [0 1] write(1)\n").expect("a file");
    fs::write(directory.join("bad"), "{\"process\": 0, \"action\": 1}\n").expect("a file");
    let reports = "--report junit=r.xml --report sarif=r.sarif --report json=r.json --report md=r.md";
    let printed = run(&directory, &format!("check --spec register {reports} good bad"));
    assert!(printed.contains("2 histories: 1 accepted, 1 not checked\n") && printed.ends_with("exit 2"), "{printed}");
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("a report");
    let json = |name: &str| serde_json::from_str::<serde_json::Value>(&read(name)).expect("a JSON document");
    assert!(
        read("r.xml").contains("<testsuites name=\"omnilink\" tests=\"2\" skipped=\"0\" failures=\"0\" errors=\"1\">")
    );
    assert!(read("r.xml").contains("type=\"not checked\""), "{}", read("r.xml"));
    assert_eq!(json("r.sarif")["runs"][0]["results"][0]["ruleId"], "not-checked");
    assert!(read("r.md").contains("| `bad` | not checked |"), "{}", read("r.md"));
    let document = json("r.json");
    assert_eq!(document["reports"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["unchecked"][0]["history"], "bad");
    assert_eq!(document["unchecked"][0]["spec"], "register");
    assert!(document["unchecked"][0]["problems"][0]["message"].is_string(), "{document:#}");
}

/// What a trace may hold to steer a terminal, to break a line, or to be taken for a command of an automation.
const STEERING: &str = r"\u001b]0;pwn\u0007\u001b[2J\u202e\u009b31m\r\n::error::x";

#[test]
fn what_a_trace_says_reaches_no_terminal_raw() {
    let directory = directory("steering");
    let s = STEERING;
    let read = r#""action": "read", "results": [1], "start": 1, "end": 2"#;
    let histories = [
        ("action", format!(r#"{{"process": 0, "action": "{s}", "args": [1], "start": 1, "end": 2}}"#)),
        ("process", format!(r#"{{"process": "{s}", {read}}}{}{{"process": "{s}", {read}}}"#, '\n')),
        ("key", format!(r#"{{"process": 0, {read}, "{s}": 1}}"#)),
        ("arguments", format!(r#"{{"process": 0, "action": "write", "args": ["{s}", 1], "start": 1, "end": 2}}"#)),
        ("result", format!(r#"{{"process": "p{s}", "action": "read", "results": ["{s}"], "start": 1, "end": 2}}"#)),
        ("syntax", s.replace(r"\u001b", "\u{1b}").replace(r"\u202e", "\u{202e}").replace(r"\r\n", "\r\n")),
        ("na\u{1b}me", "T0 [2 1] write(1)\n".into()),
    ];
    for (name, history) in &histories {
        fs::write(directory.join(name), history).expect("a file");
    }
    fs::write(directory.join("Reg.tla"), REGISTER).expect("a file");
    let mut rejected = 0;
    for args in ["--spec register", "Reg.tla", "--spec register --format json", "--spec register --format md"] {
        for (name, _) in &histories {
            let mut args: Vec<&str> = args.split(' ').collect();
            args.push(name);
            let output = Command::new(env!("CARGO_BIN_EXE_omnilink"))
                .current_dir(&directory)
                .arg("check")
                .args(args)
                .env("GITHUB_ACTIONS", "true")
                .output()
                .expect("the command runs");
            assert!(matches!(output.status.code(), Some(0..=2)), "{name}: {output:?}");
            rejected += usize::from(output.status.code() == Some(1));
            for text in [output.stdout, output.stderr] {
                let text = String::from_utf8(text).expect("text");
                let hidden = text.chars().find(|&c| (c.is_control() && c != '\n') || c == '\u{202e}');
                assert_eq!(hidden, None, "{name}: {text:?}");
                assert!(!text.lines().any(|line| line.trim_start().starts_with("::error::x")), "{name}: {text}");
            }
        }
    }
    assert!(rejected >= 3, "{rejected}");
}

/// A register as a TLA+ module.
const REGISTER: &str = r#"---- MODULE Reg ----
VARIABLE value
Init == value = 0
write(v) == value' = v
read == value' = value
Next == \E v \in {0, 1} : write(v) \/ read
====
"#;

/// Runs the command with another standard output. What it complains, and its exit code.
fn run_into(directory: &Path, stdout: impl Into<std::process::Stdio>, args: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_omnilink"))
        .current_dir(directory)
        .args(args.split_whitespace())
        .env_remove("GITHUB_ACTIONS")
        .stdout(stdout)
        .output()
        .expect("the command runs");
    format!("{}exit {}", String::from_utf8_lossy(&output.stderr), output.status.code().unwrap_or(-1))
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let directory = directory("full");
    fs::write(directory.join("history"), "T0 [0 1] write(1)\n").expect("a file");
    let full = || fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    for args in [
        "check --spec register history",
        "check --spec register history --format json",
        "check --full --spec register history",
        "convert history",
        "spec list",
        "doctor",
    ] {
        let output = run_into(&directory, full(), args);
        assert!(output.starts_with("error: standard output: cannot "), "{args}: {output}");
        assert!(output.ends_with(": No space left on device (os error 28)\nexit 2"), "{args}: {output}");
    }
    // A failure to write to standard error cannot be reported, and must not cause a panic.
    let output = Command::new(env!("CARGO_BIN_EXE_omnilink"))
        .current_dir(&directory)
        .args(["check", "--spec", "queue", "nowhere"])
        .stderr(full())
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_reader_that_has_ended_has_seen_enough() {
    let directory = directory("pipe");
    fs::write(directory.join("history"), "T0 [0 1] write(1)\n").expect("a file");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    assert_eq!(run_into(&directory, writer, "check --spec register history"), "exit 0");
}

#[test]
fn a_report_that_cannot_be_written_leaves_what_was_there() {
    let directory = directory("whole");
    fs::write(directory.join("history"), "T0 [0 1] write(1)\n").expect("a file");
    let kinds = ["html", "json", "junit", "md", "sarif"];
    for kind in kinds {
        fs::create_dir(directory.join(kind)).expect("a directory");
        let args = format!("check --spec register history --report {kind}={kind}/r --witness {kind}/w");
        // Files may have no bytes at all.
        let output = Command::new("sh")
            .current_dir(&directory)
            .args(["-c", &format!("trap '' XFSZ; ulimit -f 0; exec {} {args}", env!("CARGO_BIN_EXE_omnilink"))])
            .stdout(std::process::Stdio::piped())
            .output()
            .expect("the command runs");
        assert_eq!(output.status.code(), Some(2), "{kind}: {output:?}");
        assert_eq!(fs::read_dir(directory.join(kind)).expect("a directory").count(), 0, "{kind}");
    }
}

/// Runs the command, and says how long it took.
fn timed(directory: &Path, args: &str) -> (String, std::time::Duration) {
    let begun = std::time::Instant::now();
    let output = run(directory, args);
    (output, begun.elapsed())
}

#[test]
fn a_file_beyond_the_memory_limit_is_inconclusive() {
    let history = "{\"process\": 0, \"action\": \"write\", \"args\": [1], \"start\": 1, \"end\": 2}\n";
    insta::assert_snapshot!(check("large", "--spec register --max-memory 50", history), @"
    history: inconclusive
    warning: the memory limit was reached while reading the history

      more memory    omnilink check --spec register history --max-memory 200B
      an order hint  omnilink check --spec register --max-memory 50 history --order-by FIELD
    exit 3
    ");
}

#[test]
fn limits_hold_while_a_history_is_read() {
    let directory = directory("reading");
    fs::write(directory.join("good"), "T0 [0 1] write(1)\n").expect("a file");
    // A device that never ends, in every place that reads a history.
    let commands = [
        "check --spec register --from text --timeout 300ms good /dev/zero good",
        "check --spec register --from text --max-memory 150M good /dev/zero good",
        "check --spec register --from text --report json=r.json --timeout 300ms /dev/zero good",
        "report --spec register --from text --timeout 300ms /dev/zero",
        "view --no-open --spec register --from text --timeout 300ms /dev/zero",
        "convert --to dot --spec register --from text --timeout 300ms /dev/zero",
        "convert --from text --timeout 300ms /dev/zero",
    ];
    for args in commands {
        let (output, took) = timed(&directory, args);
        assert!(output.contains("limit was reached") && output.ends_with("exit 3"), "{args}: {output}");
        // The machine may be busy; without a limit it would take until its memory is full.
        assert!(took.as_secs_f64() < 5.0, "{args}: {took:?}");
    }
    let reports = fs::read_to_string(directory.join("r.json")).expect("a report");
    let reports: serde_json::Value = serde_json::from_str(&reports).expect("a JSON document");
    let [endless, good] = reports["reports"].as_array().expect("reports").as_slice() else { panic!("{reports:#}") };
    assert_eq!(endless["verdict"]["kind"], "inconclusive", "{reports:#}");
    // On a busy machine the first check may not stop in time. Then the second says that it was not started.
    let is_left_out = good["notes"][0].as_str().is_some_and(|note| note.starts_with("not started"));
    assert!(good["verdict"]["kind"] == "accepted" || is_left_out, "{reports:#}");
}

#[test]
fn a_check_that_does_not_stop_is_abandoned() {
    let directory = directory("abandoned");
    // One value that takes seconds to read, in a place that looks at nothing but the value.
    let wide = format!("{{\"process\": 0, \"action\": \"write\", \"args\": [[{}1]]}}\n", "[],".repeat(10_000_000));
    fs::write(directory.join("wide"), wide).expect("a file");
    fs::write(directory.join("good"), "T0 [0 1] write(1)\n").expect("a file");
    let (output, took) =
        timed(&directory, "check --spec register --max-memory 200M --report junit=r.xml good wide good");
    assert!(output.contains("wide: inconclusive\nwarning: the memory limit was reached"), "{output}");
    assert!(output.ends_with("exit 3"), "{output}");
    assert!(took.as_secs_f64() < 20.0, "{took:?}");
    let report = fs::read_to_string(directory.join("r.xml")).expect("a report");
    assert_eq!(report.matches("<testcase ").count(), 3, "{report}");
    assert!(report.contains("errors=\"2\"") || report.contains("errors=\"1\""), "{report}");
}

/// A client whose calls time out has a segment for each of them.
#[test]
fn a_trace_may_have_more_segments_than_files_may_be_open() {
    let directory = directory("many-segments");
    let mut history = String::new();
    for number in 0..300 {
        let _ = writeln!(history, "c+{number} [{number} ...] write({number})");
    }
    let _ = writeln!(history, "r [1000 1001] read() = 17");
    fs::write(directory.join("history.txt"), history).expect("a file for a test");
    let converted = run(&directory, "convert --to binary --output trace history.txt");
    assert!(converted.ends_with("exit 0"), "{converted}");
    let command = format!("ulimit -n 64 && {} check --spec register trace", env!("CARGO_BIN_EXE_omnilink"));
    let output = Command::new("sh").current_dir(&directory).args(["-c", &command]).output().expect("a shell runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Writes files, and runs the command.
fn with_files(name: &str, files: &[(&str, &str)], args: &str) -> String {
    let directory = directory(name);
    for (file, text) in files {
        let path = directory.join(file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    run(&directory, args)
}

#[test]
fn a_last_line_that_breaks_off_leaves_no_verdict() {
    let cut = "{\"process\":1,\"action\":\"read\",\"args\":[],\"results\":[1],\"start\":3,\"end\":4}\n\
               {\"process\":0,\"action\":\"write\",\"args\":[1],\"start\":1,\"en";
    let files = [("one/cut.jsonl", cut), ("one/whole.txt", "a [1 2] write(1)\n")];
    for (name, args) in [("cut", "one/cut.jsonl"), ("cut-directory", "one")] {
        let printed = with_files(name, &files, &format!("check --spec register {args}"));
        assert!(printed.contains("one/cut.jsonl: inconclusive"), "{printed}");
        assert!(printed.contains("line 2, the last one, is incomplete") && printed.ends_with("exit 3"), "{printed}");
    }
    let directory = directory("cut-input");
    let script = format!("printf '%s' \"$1\" | {} check --spec register -", env!("CARGO_BIN_EXE_omnilink"));
    let ran = Command::new("sh").args(["-c", &script, "sh", cut]).current_dir(directory).output().expect("a shell");
    assert_eq!(ran.status.code(), Some(3), "{}", String::from_utf8_lossy(&ran.stdout));
}

#[test]
fn json_names_every_rejected_key() {
    let history = "T0 [1 2] put(1, 5)\nT0 [3 4] get(1) = 6\nT0 [5 6] put(2, 5)\nT0 [7 8] get(2) = 5\n\
                   T0 [9 10] put(\"c\", 5)\nT0 [11 12] put(\"c\", 5)\nT0 [13 14] contains(\"c\") = FALSE\n";
    let output = check("json-keys", "--spec kv --format json", history);
    let (json, _) = output.rsplit_once("exit").expect("an exit code");
    let json: serde_json::Value = serde_json::from_str(json).expect("a JSON document");
    insta::assert_snapshot!(format!("{:#}", json["reports"][0]["keys"]), @r#"
    {
      "all": 3,
      "rejected": [
        {
          "key": "1",
          "operations": 2,
          "sentence": "T0 read 6, which was never written: T0:1 get(1) = 6 [3 4]"
        },
        {
          "key": "\"c\"",
          "operations": 3,
          "sentence": "T0 read nil after it had written 5, but the initial value nil comes first: T0:4 put(\"c\", 5) [9 10] ended before T0:6 contains(\"c\") = FALSE [13 14] began"
        }
      ]
    }
    "#);
}

#[test]
fn histories_in_subdirectories_are_checked() {
    let (good, bad) = ("T0 [1 2] write(1)\n", "T0 [1 2] write(1)\nT0 [3 4] read() = 2\n");
    let files = [("all/a.txt", good), ("all/nested/deep/b.txt", bad), ("all/.hidden/c.txt", "nonsense")];
    let printed = with_files("nested", &files, "check --spec register --report junit=r.xml all");
    assert!(printed.contains("all/a.txt: accepted"), "{printed}");
    assert!(printed.contains("all/nested/deep/b.txt: rejected") && printed.ends_with("exit 1"), "{printed}");
    let junit = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nested/r.xml");
    let junit = fs::read_to_string(junit).expect("a report");
    assert!(junit.contains("tests=\"2\"") && junit.contains("all/nested/deep/b.txt"), "{junit}");
}

#[test]
fn numbers_and_texts_with_the_same_digits_are_named_with_their_lines() {
    let keys = "# keys\n{\"process\":\"a\",\"action\":\"put\",\"args\":{\"key\":7,\"value\":1},\"start\":10,\"end\":20}\n\
                {\"process\":\"b\",\"action\":\"get\",\"args\":{\"key\":\"7\"},\"results\":{\"value\":null},\"start\":22,\"end\":25}\n";
    insta::assert_snapshot!(with_files("digits", &[("keys.jsonl", keys)], "check --spec kv keys.jsonl"), @r##"
    error: keys.jsonl: the key 7 is a number in a:0 and text in b:0 (lines 2 and 3)
    help: record both in one way: JSON objects have text as keys, `{"#fun": [[7, 1]]}` has numbers; or make them one with `--spec kv:digits=number`
    exit 2
    "##);
    let level = with_files("digits-level", &[("keys.jsonl", keys)], "check --spec kv --level causal keys.jsonl");
    assert!(level.contains("(lines 2 and 3)") && level.ends_with("exit 2"), "{level}");
    let one = with_files("digits-one", &[("keys.jsonl", keys)], "check --spec kv:digits=number keys.jsonl");
    assert!(one.contains("keys.jsonl: rejected") && one.ends_with("exit 1"), "{one}");
    let convert = with_files("digits-binary", &[("keys.jsonl", keys)], "convert keys.jsonl --to binary -o keys");
    assert!(convert.ends_with("exit 0"), "{convert}");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("digits-binary");
    let binary = run(&directory, "check --spec kv --no-shortcuts keys");
    assert!(
        binary.contains("the key 7 is a number in a:0 and text in b:0\n") && binary.ends_with("exit 2"),
        "{binary}"
    );
}

#[test]
fn traces_of_several_clients_are_one_history_if_asked() {
    let line = |action: &str, rest: &str| format!("{{\"process\":0,\"action\":\"{action}\",{rest}}}\n");
    let write = line("write", r#""args":[1],"start":10,"end":20"#);
    let stale = line("read", r#""results":[null],"start":12,"end":13"#)
        + &line("read", r#""results":[null],"start":30,"end":40"#);
    let files = [("all/w.jsonl", &*write), ("all/r.jsonl", &*stale)];
    insta::assert_snapshot!(with_files("clients", &files, "check --spec register all"), @r"
    all/r.jsonl: accepted: 2 operations, 1 process, decided without searching
    all/w.jsonl: accepted: 1 operation, 1 process, decided without searching
    2 histories: 2 accepted
    note: all: each trace was checked by itself; they have one process each, and their times overlap
    help: `--merge` checks the traces of several clients as one history
    exit 0
    ");
    let merged = with_files("clients-merged", &files, "check --spec register --merge all");
    assert!(merged.starts_with("2 traces, merged: rejected\n") && merged.ends_with("exit 1"), "{merged}");
    assert!(merged.contains("r/0:1") && merged.contains("w/0"), "{merged}");
    let joined = with_files("clients-joined", &files, "convert all/w.jsonl all/r.jsonl --to text");
    insta::assert_snapshot!(joined, @r"
    w/0 [10 20] write(1)
    r/0 [12 13] read() = nil
    r/0 [30 40] read() = nil
    exit 0
    ");
}

#[test]
#[cfg(not(feature = "fleet"))]
fn an_option_of_another_build_is_named() {
    let printed = with_files("by", &[("a.txt", "T0 [1 2] put(1, 1)\n")], "check --spec kv --by key a.txt");
    assert!(printed.contains("built without the feature `fleet`") && printed.contains("key by key"), "{printed}");
    assert!(printed.ends_with("exit 2"), "{printed}");
}

#[test]
fn a_page_is_about_one_history() {
    let files = [("all/a.txt", "T0 [1 2] put(1, 1)\n"), ("all/b.txt", "T0 [1 2] put(1, 1)\n")];
    let printed = with_files("page-of-several", &files, "report all --spec kv");
    assert!(printed.contains("a directory of 2 histories, expected one history"), "{printed}");
    assert!(printed.ends_with("exit 2"), "{printed}");
}

#[test]
fn a_misspelled_operation_gets_a_hint_and_other_names_are_listed() {
    let printed = check("alias", "--spec kv", "T0 [1 2] Get(1) = nil\n");
    assert!(printed.contains("did you mean `get`?") && printed.ends_with("exit 2"), "{printed}");
    assert!(printed.contains("history:1:10: T0:0: `Get` is not an operation"), "{printed}");
    let printed = check("no-argument", "--spec queue", "T0 [1 2] push(1)\n# a comment\nT0 [3 4] push()\n");
    assert!(printed.contains("history:3:10: T0:1: `push` has 0 arguments"), "{printed}");
    let printed = check("no-level", "--spec queue --level linearisable", "T0 [1 2] push(1)\n");
    assert!(printed.contains("did you mean `linearizable`?") && printed.ends_with("exit 2"), "{printed}");
    let printed = run(&directory("no-spec"), "check run.jsonl");
    assert!(printed.starts_with("error: check: no specification given: "), "{printed}");
    let listed = run(&directory("aliases"), "spec list kv");
    assert!(listed.contains("also `remove`, `delete`") && listed.contains("digits=number"), "{listed}");
    let covered = check("alias-coverage", "--spec kv --coverage", "T0 [1 2] write(1, 1)\n");
    assert!(covered.contains("put") && !covered.contains("put  0"), "{covered}");
}
