//! `omnilink spec` as people and scripts meet it: what it prints, and how it exits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A queue that holds two numbers and hands out only larger ones.
const QUEUE: &str = r"---- MODULE Queue ----
EXTENDS Naturals, Sequences
VARIABLES queue, taken
Init == queue = <<>> /\ taken = 0
Put(n) == /\ Len(queue) < 2
          /\ queue' = Append(queue, n)
          /\ UNCHANGED taken
Take == /\ queue # <<>>
        /\ Head(queue) > taken
        /\ taken' = Head(queue)
        /\ queue' = Tail(queue)
Next == (\E n \in 1..2 : Put(n)) \/ Take
Positive == \A i \in DOMAIN queue : queue[i] > 0
Short == Positive /\ Len(queue) < 2
Last == queue[Len(queue)] > 0
Slow == \A s \in SUBSET (1..40) : s # {41}
====
";

/// A directory of its own for a test, with the module and a configuration.
fn directory(name: &str, config: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spec").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("a directory for a test");
    fs::write(directory.join("Queue.tla"), QUEUE).expect("a file for a test");
    fs::write(directory.join("Queue.cfg"), format!("INIT Init\nNEXT Next\n{config}")).expect("a file for a test");
    directory
}

/// Runs the command. What it prints without the time it took, what it complains, and its exit code.
fn run(directory: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_omnilink")).current_dir(directory).args(args).output();
    let output = output.expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let timeless = |line: &str| match line.split_once("; ") {
        Some((counts, _)) if counts.contains(" generated, ") => format!("{counts}\n"),
        _ if line.contains("\"milliseconds\"") => "  \"milliseconds\": 0,\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let printed: String = text(&output.stdout).lines().map(timeless).collect();
    format!("{printed}{}exit {}", text(&output.stderr), output.status.code().unwrap_or(-1))
}

/// Checks the queue, with one worker and with two: both must say the same.
fn check(name: &str, config: &str, args: &str) -> String {
    let directory = directory(name, config);
    let [one, two] = ["1", "2"].map(|workers| {
        let args = ["spec", "check", "Queue.tla", "--workers", workers].into_iter().chain(args.split_whitespace());
        run(&directory, &args.collect::<Vec<_>>())
    });
    assert_eq!(one, two);
    one
}

#[test]
fn what_holds_is_counted() {
    insta::assert_snapshot!(check("holds", "INVARIANT Positive\n", "--deadlock false"));
}

#[test]
fn a_deadlock_says_what_disables_each_action() {
    insta::assert_snapshot!(check("deadlock", "", ""));
}

#[test]
fn a_violated_invariant_is_taken_apart() {
    insta::assert_snapshot!(check("violated", "INVARIANT Short\n", ""));
}

#[test]
fn what_cannot_be_evaluated_is_wrong() {
    insta::assert_snapshot!(check("error", "INVARIANT Last\n", ""));
}

#[test]
fn a_limit_makes_it_inconclusive() {
    insta::assert_snapshot!(check("states", "", "--max-states 5"));
}

#[test]
fn time_ends_an_expression_too() {
    insta::assert_snapshot!(check("time", "INVARIANT Slow\n", "--timeout 100ms"));
}

#[test]
fn json_has_everything() {
    insta::assert_snapshot!(check("json", "INVARIANT Short\n", "--format json"));
}

#[test]
fn json_says_what_is_wrong() {
    insta::assert_snapshot!(check("json-wrong", "INVARIANT Shrt\n", "--format json"));
}

#[test]
fn actions_are_listed() {
    let directory = directory("actions", "");
    let human = run(&directory, &["spec", "actions", "Queue.tla"]);
    let json = run(&directory, &["spec", "actions", "Queue.tla", "--format", "json"]);
    insta::assert_snapshot!(format!("{human}\n{json}"));
}

#[test]
fn expressions_are_evaluated() {
    let directory = directory("eval", "");
    let mut all = String::new();
    for args in [
        &["spec", "eval", "-e", r"{x * x : x \in 1..3}"][..],
        &["spec", "eval", "-e", "[a |-> 1, b |-> <<TRUE>>]", "--format", "json"],
        &["spec", "eval", "Queue.tla", "Positive"],
        &["spec", "eval", "Queue.tla", "Append(<<1>>, 2)"],
        &["spec", "eval", "-e", "Head(<<>>)"],
    ] {
        all += &format!("$ omnilink {}\n{}\n\n", args.join(" "), run(&directory, args));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn help_is_there() {
    let directory = directory("help", "");
    let mut all = String::new();
    for args in [&["spec", "--help"][..], &["spec", "check", "-h"], &["spec", "eval", "-h"]] {
        all += &format!("$ omnilink {}\n{}\n\n", args.join(" "), run(&directory, args));
    }
    insta::assert_snapshot!(all);
}
