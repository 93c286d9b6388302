//! Runs the command for tests that want to see what people see.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a command printed, what it complained, and how it ended.
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

/// Runs the command in a directory.
pub(crate) fn run(directory: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_omnilink"));
    // What automation sets must not change what is printed.
    let output = command.current_dir(directory).args(args).env_remove("GITHUB_ACTIONS").output();
    let output = output.expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { stdout: text(&output.stdout), stderr: text(&output.stderr), code: output.status.code().unwrap_or(-1) }
}

impl Ran {
    /// Asserts the exit code and the beginning of the first line.
    pub(crate) fn assert_begins(&self, code: i32, expected: &str) {
        let first = self.stdout.lines().chain(self.stderr.lines()).next().unwrap_or_default();
        assert!(self.code == code && first.starts_with(expected), "expected {expected}, {code}: {}", self.shown());
    }

    /// All of it, but for the time it took.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}exit {}", without_times(&self.stdout), self.stderr, self.code)
    }
}

/// A directory of its own for a test.
pub(crate) fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for a test");
    directory
}

/// The same with files.
pub(crate) fn directory_with(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let directory = directory(name);
    for (file, text) in files {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    directory
}

/// A directory for a test with an example in it, and with files that are added or replaced; those of no text are removed.
pub(crate) fn example(name: &str, example: &str, files: &[(&str, &str)]) -> PathBuf {
    let directory = directory(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    for entry in fs::read_dir(source).expect("a directory of an example") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            fs::copy(&path, directory.join(path.file_name().expect("a file has a name"))).expect("a copy");
        }
    }
    for (file, text) in files {
        let path = directory.join(file);
        match text.is_empty() {
            true => fs::remove_file(path).expect("a file to remove"),
            false => fs::write(path, text).expect("a file for a test"),
        }
    }
    directory
}

/// The text with `in 1.2 ms` or `(8 ms)` at the end of a line replaced by `in TIME` or `(TIME)`.
fn without_times(text: &str) -> String {
    let timeless = |line: &str| {
        let is_time = |text: &str| {
            let digits = text.strip_suffix(" ms").or_else(|| text.strip_suffix(" s"));
            digits.is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',')))
        };
        let end =
            line.rsplit_once(" in ").filter(|(_, time)| is_time(time)).map(|(before, _)| format!("{before} in TIME"));
        let brackets = || line.rsplit_once(" (").filter(|(_, time)| time.strip_suffix(')').is_some_and(is_time));
        let found = end.or_else(|| brackets().map(|(before, _)| format!("{before} (TIME)")));
        found.unwrap_or_else(|| line.to_owned()) + "\n"
    };
    text.lines().map(timeless).collect()
}

/// A queue in TLA+, a history in which an element is taken before its turn, and one in which it depends.
pub(crate) const QUEUE: [(&str, &str); 4] = [
    (
        "Queue.tla",
        "---- MODULE Queue ----
EXTENDS Naturals, Sequences
CONSTANT Elems
VARIABLE queue
Init == queue = <<>>
Enqueue(elem) == queue' = Append(queue, elem)
Dequeue(elem) == queue # <<>> /\\ elem = Head(queue) /\\ queue' = Tail(queue)
Next == \\E elem \\in Elems : Enqueue(elem) \\/ Dequeue(elem)
====
",
    ),
    ("Queue.cfg", "CONSTANT Elems = {1, 2}\nINIT Init\nNEXT Next\n"),
    (
        "trace.jsonl",
        r#"{"process": "a", "action": "Enqueue", "args": {"elem": 1}, "start": 100, "end": 300}
{"process": "b", "action": "Enqueue", "args": {"elem": 2}, "start": 400, "end": 500}
{"process": "a", "action": "Dequeue", "results": {"elem": 2}, "start": 600, "end": 700}
{"process": "b", "action": "Dequeue", "results": {"elem": 1}, "start": 800, "end": 900}
"#,
    ),
    (
        "overlapping.jsonl",
        r#"{"process": "a", "action": "Enqueue", "args": {"elem": 1}, "start": 100, "end": 300}
{"process": "b", "action": "Enqueue", "args": {"elem": 2}, "start": 200, "end": 500}
{"process": "a", "action": "Dequeue", "results": {"elem": 2}, "start": 600, "end": 700}
"#,
    ),
];
