//! What of a specification histories exercised, and checks that fail because that is too little.

mod tool;

use std::fs;

/// Checks a history of the queue, strictly, and shows what it exercised.
fn check(name: &str, files: &[(&str, &str)], trace: &str, (verdict, code): (&str, i32)) -> String {
    let directory = tool::example(&format!("coverage-{name}"), "queue", files);
    fs::write(directory.join("run.txt"), trace).expect("a file for a test");
    let ran = tool::run(&directory, &["check", "--strict", "--coverage", "Queue.tla", "run.txt"]);
    let verdict = format!("run.txt: {verdict}");
    assert_eq!((ran.stdout.contains(&verdict), ran.code), (true, code), "{name}: {}", ran.shown());
    ran.shown()
}

const CONFIG: &str = "CONSTANT Elems = {1, 2}\nSPECIFICATION Spec\n";

#[test]
fn every_action_and_only_actions_have_to_be_seen() {
    let files = [("Queue.cfg", CONFIG)];
    let all = "T0 [1 2] Enqueue(elem: 1)\nT1 [3 4] Dequeue() = elem: 1\nT1 [5 6] DequeueEmpty()\n";
    insta::assert_snapshot!(check("all", &files, all, ("accepted", 0)));
    let some = "T0 [1 2] Enqueue(elem: 1)\nT1 [3 4] Dequeue() = elem: 1\n";
    insta::assert_snapshot!(check("some", &files, some, ("accepted", 6)));
    insta::assert_snapshot!(check("irrelevant", &files, "T0 [1 2] Enqueue(elem: 1) failed\n", ("nothing to check", 6)));
}

#[test]
fn what_is_recorded_as_a_whole_is_not_missing_in_its_parts() {
    let module = r"---- MODULE Queue ----
EXTENDS Sequences
CONSTANT Elems
VARIABLE queue
Init == queue = <<>>
First(elem) == queue = <<>> /\ queue' = <<elem>>
Later(elem) == queue # <<>> /\ queue' = Append(queue, elem)
Enqueue(elem) == First(elem) \/ Later(elem)
Next == \E elem \in Elems : Enqueue(elem)
Spec == Init /\ [][Next]_queue
====
";
    let files = [("Queue.cfg", CONFIG), ("Queue.tla", module)];
    let trace = "T0 [1 2] Enqueue(elem: 1)\nT1 [3 4] Enqueue(elem: 2)\n";
    insta::assert_snapshot!(check("whole", &files, trace, ("accepted", 0)));
}
