//! What lets people check us: modules for TLC, and orders that are gone through again.

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

const QUEUE: &str = "---- MODULE Queue ----
EXTENDS Naturals, Sequences
CONSTANTS Elems, Nil
VARIABLE queue
Init == queue = <<>>
Enqueue(elem) == queue' = Append(queue, elem)
Dequeue(elem) == queue # <<>> /\\ elem = Head(queue) /\\ queue' = Tail(queue)
Peek(elem) == elem = Head(queue) /\\ UNCHANGED queue
Drop(many) == queue' = SubSeq(queue, many, Len(queue))
Next ==
    \\/ \\E elem \\in Elems : Enqueue(elem) \\/ Dequeue(elem)
    \\/ \\E place \\in DOMAIN queue : Peek(queue[place])
    \\/ \\E many \\in DOMAIN queue : Drop(many)
Short == Len(queue) < 9
====
";

const CONFIG: &str = "CONSTANTS\n    Elems = {1}\n    Nil = Nil\nINIT Init\nNEXT Next\nCONSTRAINT Short\n";

const SETTINGS: &str = "[constants]\nElems = [\"*.elem\"]\n";

const TRACE: &str = r#"{"process": "a", "action": "Enqueue", "args": {"elem": 1}, "start": 100, "end": 300}
{"process": "b", "action": "Enqueue", "args": {"elem": -2}, "start": 200, "end": 400}
{"process": "a", "action": "Dequeue", "results": {"elem": -2}, "start": 5000000000, "end": 6000000000}
{"process": "b", "action": "Dequeue", "start": 5000000001}
"#;

/// A directory with a specification and a history.
fn directory(name: &str, trace: &str) -> PathBuf {
    let directory = tool::directory(&format!("trust/{name}"));
    for (file, text) in
        [("Queue.tla", QUEUE), ("Queue.cfg", CONFIG), ("omnilink.toml", SETTINGS), ("trace.jsonl", trace)]
    {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    directory
}

fn run(directory: &Path, args: &str) -> String {
    tool::run(directory, &args.split_whitespace().collect::<Vec<_>>()).shown()
}

fn export(name: &str, trace: &str) -> String {
    let directory = directory(name, trace);
    let said = run(&directory, "convert --to tlc Queue.tla trace.jsonl -o out");
    if !said.ends_with("exit 0") {
        return said;
    }
    assert_eq!(fs::read_to_string(directory.join("out/Queue.tla")).expect("the specification"), QUEUE);
    ["out/QueueTrace.tla", "out/QueueTrace.cfg"]
        .map(|file| fs::read_to_string(directory.join(file)).expect("an exported file"))
        .join("\n")
}

#[test]
fn a_history_is_exported_as_a_module() {
    insta::assert_snapshot!(export("export", TRACE));
}

#[test]
fn a_state_says_which_arguments_there_are() {
    let trace = r#"{"process": "a", "action": "Enqueue", "args": {"elem": 1}, "start": 1, "end": 3}
{"process": "a", "action": "Peek", "results": {"elem": 1}, "start": 4, "end": 5}
{"process": "a", "action": "Drop", "args": {"many": 1}, "start": 6, "end": 7}
"#;
    let module = export("state", trace);
    let steps: Vec<&str> = module.lines().filter(|line| line.contains("OL_pos' =")).map(str::trim).collect();
    insta::assert_snapshot!(steps.join("\n"), @r"
    \/ Enqueue(OL_a[1]) /\ OL_pos' = [OL_pos EXCEPT ![OL_p] = @ + 1]
    \/ (\E place \in (DOMAIN queue) : OL_a[1] = (queue[place]) /\ Peek(OL_a[1])) /\ OL_pos' = [OL_pos EXCEPT ![OL_p] = @ + 1]
    \/ (LET many == OL_a[1] IN many \in (DOMAIN queue) /\ Drop(OL_a[1])) /\ OL_pos' = [OL_pos EXCEPT ![OL_p] = @ + 1]
    ");
}

#[test]
fn what_tlc_cannot_count_is_refused() {
    let large = r#"{"process": "a", "action": "Enqueue", "args": {"elem": 5000000000}, "start": 1, "end": 3}"#;
    insta::assert_snapshot!(export("large", large), @r"
    trace.jsonl:
    error: a:0 [1 3] Enqueue(elem: 5000000000): 5000000000 does not fit TLC's 32-bit integers
    exit 2
    ");
}

/// Goes through the order that `check` finds, changed.
fn verify(name: &str, change: impl FnOnce(&str) -> String) -> String {
    let directory = directory(name, TRACE);
    let found = run(&directory, "check Queue.tla trace.jsonl --witness order.txt");
    assert!(found.ends_with("exit 0"), "{found}");
    let order = fs::read_to_string(directory.join("order.txt")).expect("an order");
    fs::write(directory.join("order.txt"), change(&order)).expect("a file for a test");
    run(&directory, "check Queue.tla trace.jsonl --verify order.txt")
}

#[test]
fn an_order_is_gone_through_again() {
    insta::assert_snapshot!(verify("good", str::to_owned), @"
    verified: 4 steps, 1 state possible at the end
    exit 0
    ");
    insta::assert_snapshot!(verify("changed", |order| order.replace("-2", "1")), @"
    order.txt, line 3: this is not b:0 as it was recorded: `b:0 [200 400] Enqueue(elem: -2)`
    exit 1
    ");
    let short = |order: &str| order.lines().take(2).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(verify("short", short), @"
    order.txt, at the end: `b:0 [200 400] Enqueue(elem: -2)` is missing
    exit 1
    ");
    let swapped = |order: &str| {
        let mut lines: Vec<&str> = order.lines().collect();
        lines.swap(1, 2);
        lines.join("\n")
    };
    insta::assert_snapshot!(verify("swapped", swapped), @"
    order.txt, line 5: the specification does not allow a:1 in any state that is possible here
    exit 1
    ");
    insta::assert_snapshot!(verify("nothing", |_| "T0:0".to_owned()), @r"
    error: order.txt: not an order written by `check --witness`: it does not begin with a history
    exit 2
    ");
}

#[test]
fn orders_of_built_in_specifications_are_verified_too() {
    let directory = directory("built-in", "");
    fs::write(directory.join("history"), "T0 [0 3] push(1)\nT1 [1 4] pop() = 1\n").expect("a file for a test");
    run(&directory, "check --spec queue history --witness order.txt");
    insta::assert_snapshot!(run(&directory, "check --spec queue history --verify order.txt"), @r"
    verified: 2 steps, 1 state possible at the end
    exit 0
    ");
    fs::write(directory.join("history"), "T0 [0 3] push(2)\nT1 [1 4] pop() = 2\n").expect("a file for a test");
    insta::assert_snapshot!(run(&directory, "check --spec queue history --verify order.txt"), @r"
    order.txt, line 2: this is not T0:0 as it was recorded: `T0:0 [0 3] push(2)`
    exit 1
    ");
}
