//! Histories that end stuck: an operation that is blocked at the end must be one that the specification does not enable
//! then.

use omnilink_judge::{Case, CheckOptions, Judge, Recording, Unlimited};
use omnilink_report::Why;

/// A semaphore.
const SEMAPHORE: &str = r"---- MODULE Semaphore ----
EXTENDS Integers
VARIABLE free
Init == free = 1
Acquire == free > 0 /\ free' = free - 1
Release == free' = free + 1
TryAcquire(ok) == /\ ok = (free > 0)
                  /\ free' = IF ok THEN free - 1 ELSE free
Take_Step == free > 0 /\ free' = free - 1
Take_Done == UNCHANGED free
Next == Acquire \/ Release \/ (\E ok \in BOOLEAN : TryAcquire(ok)) \/ Take_Step \/ Take_Done
====
";

/// A queue whose results come from an infinite set.
const QUEUE: &str = r"---- MODULE Queue ----
EXTENDS Integers, Sequences
VARIABLE q
Init == q = <<>>
Put(v) == Len(q) < 2 /\ q' = Append(q, v)
Take(v) == q # <<>> /\ v = Head(q) /\ q' = Tail(q)
Twice(v) == q # <<>> /\ v = 2 * Head(q) /\ q' = Tail(q)
Next == \E v \in Nat : Put(v) \/ Take(v) \/ Twice(v)
====
";

/// The verdict on a trace as text, the same with and without shortcuts.
fn check(trace: &str) -> String {
    check_with("Semaphore", SEMAPHORE, trace)
}

fn check_with(name: &str, module: &str, trace: &str) -> String {
    check_beside(&[], name, module, trace)
}

/// The same with a companion of the semaphore that has this line.
fn check_with_companion(line: &str, trace: &str) -> String {
    let companion = format!("---- MODULE SemaphoreTrace ----\nEXTENDS Semaphore\n{line}\n====\n");
    let files = [("SemaphoreTrace.tla", &*companion), ("omnilink.toml", "companion = \"SemaphoreTrace.tla\"\n")];
    check_beside(&files, "Semaphore", SEMAPHORE, trace)
}

fn check_beside(files: &[(&str, &str)], name: &str, module: &str, trace: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    files.iter().for_each(|(name, text)| write(name, text));
    write(&format!("{name}.tla"), module);
    write(&format!("{name}.cfg"), "INIT Init\nNEXT Next\n");
    write("t.txt", trace);
    let verdict = |shortcuts| {
        let spec = directory.path().join(format!("{name}.tla")).display().to_string();
        let judge = Judge::new(&spec, CheckOptions { shortcuts, ..CheckOptions::default() }).expect("a specification");
        let path = directory.path().join("t.txt");
        let recording = Recording::at(&path, None);
        let case = &mut Case { recording: &recording, label: "t", witness: None, limits: &Unlimited };
        let report = match judge.report(case) {
            Ok(report) => report,
            Err(failed) => return format!("{failed:?}"),
        };
        let reasons = report.stuck().map(|stuck| stuck.reasons.clone()).unwrap_or_default();
        let words = reasons.iter().filter_map(|reason| match &reason.why {
            Why::Words { text } => Some(format!(": {text}")),
            _ => None,
        });
        format!("{}{}", report.verdict.word(), words.collect::<String>())
    };
    let (with, without) = (verdict(true), verdict(false));
    assert_eq!(with, without);
    with
}

#[test]
fn a_blocked_operation_is_not_enabled_at_the_end() {
    insta::assert_snapshot!(check("T0 [1 2] Acquire()\nT1 [3 ...] Acquire() blocked\n"), @"accepted");
    // Unfinished, it may still acquire.
    insta::assert_snapshot!(check("T0 [1 2] Acquire()\nT0 [3 4] Release()\nT1 [3 ...] Acquire()\n"), @"accepted");
    insta::assert_snapshot!(check("T0 [1 2] Acquire()\nT0 [3 4] Release()\nT1 [3 ...] Acquire() blocked\n"), @"rejected: it is blocked at the end, but the specification enables it here");
    // It was called before the release, but the end counts.
    insta::assert_snapshot!(check("T1 [1 ...] Acquire() blocked\nT0 [2 3] Acquire()\nT0 [4 5] Release()\n"), @"rejected: it is blocked at the end, but the specification enables it here");
    insta::assert_snapshot!(check("T0 [1 2] Acquire()\nT1 [3 ...] Acquire() blocked\nT2 [3 ...] Acquire() blocked\n"), @"accepted");
    insta::assert_snapshot!(check("T0 [1 2] Acquire()\nT1 [3 ...] Acquire() blocked\nT2 [3 ...] Release() blocked\n"), @"rejected: it is blocked at the end, but the specification enables it here");
    // Its result is unknown, and one of both is possible.
    insta::assert_snapshot!(check("T1 [3 ...] TryAcquire() blocked\n"), @"rejected: it is blocked at the end, but the specification enables it here");
}

#[test]
fn an_unfinished_operation_may_explain_a_blocked_one() {
    insta::assert_snapshot!(check("T0 [1 ...] Acquire()\nT1 [2 ...] Acquire() blocked\n"), @"accepted");
}

#[test]
fn operations_of_several_steps_cannot_be_blocked() {
    let failed = check("T0 [1 ...] Take() blocked\n");
    assert!(failed.contains("T0:0 is blocked, and `Take` takes several steps"), "{failed}");
}

#[test]
fn a_process_ends_with_a_blocked_operation() {
    let failed = check("T0 [1 ...] Acquire() blocked\nT0 [2 3] Release()\n");
    assert!(failed.contains("an operation of T0 follows one that is blocked at the end"), "{failed}");
}

#[test]
fn an_unknown_result_of_an_infinite_set_is_decided_by_the_guard() {
    let check = |trace: &str| check_with("Queue", QUEUE, trace);
    insta::assert_snapshot!(check("T0 [1 ...] Take() blocked\n"), @"accepted");
    insta::assert_snapshot!(check("T0 [1 2] Put(7)\nT1 [3 4] Take() = 7\nT0 [5 ...] Take() blocked\nT1 [6 ...] Take() blocked\n"), @"accepted");
    insta::assert_snapshot!(check("T0 [1 2] Put(7)\nT1 [1 ...] Take() blocked\n"), @"rejected: it is blocked at the end, but the specification enables it here");
    insta::assert_snapshot!(check("T0 [1 ...] Twice() blocked\n"), @"accepted");
    // The result is not in the state.
    let undecided = check("T0 [1 2] Put(7)\nT1 [1 ...] Twice() blocked\n");
    assert!(undecided.contains("`Nat` is infinite and cannot be enumerated"), "{undecided}");
}

#[test]
fn ends_of_processes_may_explain_a_blocked_operation() {
    let trace = "T0 [1 2] Acquire()\nT0 [3 4] Release()\nT1 [5 ...] Acquire() blocked\n";
    let enabled = "rejected: it is blocked at the end, but the specification enables it here";
    assert_eq!(check(trace), enabled);
    let check = |line: &str, trace: &str| check_with_companion(line, trace);
    // A process that ends may take what is free with it.
    insta::assert_snapshot!(check("OnEnd(process) == process = 0 /\\ free' = 0", trace), @"accepted");
    // The process that is blocked has no end, and neither has one without operations.
    assert_eq!(check("OnEnd(process) == process = 1 /\\ free' = 0", trace), enabled);
    assert_eq!(check("OnEnd(process) == process = 2 /\\ free' = 0", trace), enabled);
    // An end need not happen.
    let held = "T0 [1 2] Acquire()\nT1 [3 ...] Acquire() blocked\n";
    insta::assert_snapshot!(check("OnEnd(process) == free' = 1", held), @"accepted");
}
