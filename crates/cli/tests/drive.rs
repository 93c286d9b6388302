//! `omnilink drive` with a program in Python: correct systems pass, and each mistake is found and explained.

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

const QUEUE: &str = r"---- MODULE Queue ----
EXTENDS Naturals, Sequences
CONSTANT Elems
VARIABLE queue
Init == queue = <<>>
Enqueue(elem) == queue' = Append(queue, elem)
Dequeue(elem) == queue # <<>> /\ elem = Head(queue) /\ queue' = Tail(queue)
DequeueEmpty == queue = <<>> /\ UNCHANGED queue
Next == (\E elem \in Elems : Enqueue(elem) \/ Dequeue(elem)) \/ DequeueEmpty
Small == Len(queue) <= 4
====
";

const MAP: &str = r"---- MODULE Map ----
EXTENDS Naturals
CONSTANTS Keys, Values, Nil
VARIABLE map
Init == map = [key \in Keys |-> Nil]
Put(key, value) == map' = [map EXCEPT ![key] = value]
Get(key, value) == value = map[key] /\ UNCHANGED map
Remove(key) == map' = [map EXCEPT ![key] = Nil]
Next == \/ \E key \in Keys, value \in Values : Put(key, value)
        \/ \E key \in Keys, value \in Values \cup {Nil} : Get(key, value)
        \/ \E key \in Keys : Remove(key)
====
";

const LOCK: &str = r#"---- MODULE Lock ----
CONSTANTS Processes, Free
VARIABLE holder
Init == holder = Free
Lock(process) == holder = Free /\ holder' = process
Unlock(process) == holder = process /\ holder' = Free
Next == \E process \in Processes : Lock(process) \/ Unlock(process)
====
"#;

const FILES: [(&str, &str); 6] = [
    ("Queue.tla", QUEUE),
    ("Queue.cfg", "CONSTANT Elems = {1, 2}\nINIT Init\nNEXT Next\nCONSTRAINT Small\n"),
    ("Map.tla", MAP),
    ("Map.cfg", "CONSTANTS Keys = {1, 2, 3} Values = {1, 2} Nil = Nil\nINIT Init\nNEXT Next\n"),
    ("Lock.tla", LOCK),
    ("Lock.cfg", "CONSTANTS Processes = {\"a\", \"b\", \"c\"} Free = Free\nINIT Init\nNEXT Next\n"),
];

/// A directory of its own for a test, with the three specifications.
fn directory(name: &str) -> PathBuf {
    tool::directory_with(&format!("drive-{name}"), &FILES)
}

fn run(directory: &Path, args: &[&str]) -> String {
    tool::run(directory, args).shown()
}

/// Drives a system with a mistake.
fn drive(name: &str, kind: &str, mistake: &str, options: &[&str]) -> String {
    let directory = directory(name);
    let spec = match kind {
        "queue" => "Queue.tla",
        "map" => "Map.tla",
        _ => "Lock.tla",
    };
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/system.py");
    let system = system.to_str().expect("a path that is text");
    let args = [&["drive", spec], options, &["--", "python3", system, kind, mistake]].concat();
    run(&directory, &args)
}

#[test]
fn correct_systems_pass() {
    let queue = drive("right-queue", "queue", "none", &[]);
    assert!(queue.contains("Queue.tla: passed: 20 runs with 2000 calls") && queue.ends_with("exit 0"), "{queue}");
    assert!(queue.contains("DequeueEmpty") && !queue.contains("never answered"), "{queue}");
    let map = drive("right-map", "map", "none", &[]);
    assert!(map.ends_with("exit 0") && !map.contains("never answered"), "{map}");
    let lock = drive("right-lock", "lock", "none", &["--disabled"]);
    assert!(lock.ends_with("exit 0") && lock.contains("  refused "), "{lock}");
    let told = drive("right-state", "queue", "told", &[]);
    assert!(told.ends_with("exit 0"), "{told}");
}

#[test]
fn wrong_answers_are_rejected_with_the_explanation_of_a_check() {
    for mistake in ["lifo", "lose", "twice", "empty"] {
        let printed = drive(mistake, "queue", mistake, &[]);
        assert!(printed.contains("rejected") && printed.ends_with("exit 1"), "{mistake}: {printed}");
        assert!(printed.contains("Queue.tla:"), "a line of the specification: {printed}");
    }
    for mistake in ["value", "missing", "keep"] {
        let printed = drive(mistake, "map", mistake, &[]);
        assert!(printed.contains("rejected") && printed.ends_with("exit 1"), "{mistake}: {printed}");
    }
    let printed = drive("steal", "lock", "steal", &["--disabled"]);
    assert!(printed.contains("rejected") && printed.ends_with("exit 1"), "{printed}");
    let printed = drive("any", "lock", "any", &["--disabled"]);
    assert!(printed.contains("rejected") && printed.ends_with("exit 1"), "{printed}");
}

#[test]
fn what_is_allowed_everywhere_is_not_refused() {
    let printed = drive("full", "queue", "full", &[]);
    assert!(printed.contains("the program refused `Enqueue elem=") && printed.ends_with("exit 1"), "{printed}");
    let printed = drive("stuck", "lock", "stuck", &[]);
    assert!(printed.contains("the program refused `") && printed.ends_with("exit 1"), "{printed}");
}

#[test]
fn states_are_compared() {
    let printed = drive("told-short", "queue", "told-short", &[]);
    assert!(printed.contains("the program has queue = ") && printed.ends_with("exit 1"), "{printed}");
}

#[test]
fn programs_that_do_not_answer_are_broken() {
    let crash = drive("crash", "queue", "crash", &[]);
    assert!(crash.contains("crashed") && crash.contains("exit status: 7") && crash.ends_with("exit 5"), "{crash}");
    let silent = drive("silent", "queue", "silent", &["--timeout", "1s"]);
    assert!(silent.contains("no answer to") && silent.ends_with("exit 5"), "{silent}");
    let text = drive("text", "queue", "text", &[]);
    assert!(text.contains("`Nonsense` is no outcome of") && text.ends_with("exit 5"), "{text}");
    let nothing = drive("nothing", "queue", "none", &["--runs", "0"]);
    assert!(nothing.contains("no call was made") && nothing.ends_with("exit 4"), "{nothing}");
    let missing = run(&directory("missing"), &["drive", "Queue.tla", "--", "/no/such/program"]);
    assert!(missing.contains("cannot be started") && missing.ends_with("exit 5"), "{missing}");
}

#[test]
fn a_run_repeats() {
    let first = drive("again", "queue", "lifo", &[]);
    let second = drive("again", "queue", "lifo", &[]);
    assert_eq!(first, second);
}

#[test]
fn behaviors_of_the_specification_are_followed() {
    let name = "behaviors";
    let directory = directory(name);
    let made = run(&directory, &["spec", "simulate", "Queue.tla", "--cover", "transitions", "-o", "behaviors"]);
    assert!(made.ends_with("exit 0"), "{made}");
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/system.py");
    let system = system.to_str().expect("a path that is text");
    let follow = |mistake: &str| {
        run(&directory, &["drive", "Queue.tla", "--from", "behaviors", "--", "python3", system, "queue", mistake])
    };
    let right = follow("none");
    assert!(right.contains(" reproduced, 0 answered otherwise") && right.ends_with("exit 0"), "{right}");
    let wrong = follow("lifo");
    assert!(wrong.contains("rejected") && wrong.ends_with("exit 1"), "{wrong}");
    let full = follow("full");
    assert!(full.contains("the program refused `Enqueue") && full.ends_with("exit 1"), "{full}");
}

#[test]
fn scripts_of_the_specification_are_followed() {
    let directory = directory("scripts");
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/system.py");
    let system = system.to_str().expect("a path that is text");
    for (spec, kind) in [("Queue.tla", "queue"), ("Map.tla", "map"), ("Lock.tla", "lock")] {
        let made = run(&directory, &["spec", "simulate", spec, "--cover", "actions", "-o", kind, "--to", "script"]);
        assert!(made.ends_with("exit 0"), "{made}");
        let follow =
            |mistake: &str| run(&directory, &["drive", spec, "--from", kind, "--", "python3", system, kind, mistake]);
        let right = follow("none");
        assert!(right.contains(" reproduced, 0 answered otherwise") && right.ends_with("exit 0"), "{right}");
    }
    let text = fs::read_to_string(directory.join("lock/behavior-000000.script")).expect("a script");
    assert!(text.starts_with("omnilink-script 1\nT0 Lock\nT0 Unlock\n"), "{text}");
    // A person writes one.
    let follow = |spec: &str, kind: &str, mistake: &str, lines: &str| {
        fs::write(directory.join("edited.script"), format!("omnilink-script 1\n{lines}")).expect("a file for a test");
        run(&directory, &["drive", spec, "--from", "edited.script", "--", "python3", system, kind, mistake])
    };
    let lifo = follow("Queue.tla", "queue", "lifo", "T0 Enqueue elem=1\nT0 Enqueue elem=2\n\n# wrong\nT0 Dequeue\n");
    assert!(lifo.starts_with("edited.script: rejected") && lifo.ends_with("exit 1"), "{lifo}");
    let right = follow("Queue.tla", "queue", "none", "T0 Enqueue elem=1\nT0 Dequeue\nT0 Dequeue\n");
    assert!(right.ends_with("exit 0"), "{right}");
    let mut wrong = |spec: &str, kind: &str, lines: &str| {
        let shown = follow(spec, kind, "none", lines);
        assert!(shown.ends_with("exit 2"), "{shown}");
        shown.lines().next().unwrap_or_default().to_owned()
    };
    insta::assert_snapshot!(wrong("Queue.tla", "queue", "T0 Dequeue\nDequeue\n"), @"error: edited.script:3: expected a thread such as `T0`, found `Dequeue`");
    insta::assert_snapshot!(wrong("Queue.tla", "queue", "T0 Dequeue\nT0 Take\n"), @"error: edited.script:3: unrecognized call `Take` (expected `Enqueue`, `Dequeue`)");
    insta::assert_snapshot!(wrong("Queue.tla", "queue", "T0 Enqueue\n"), @"error: edited.script:2: `Enqueue` needs the argument `elem`");
    insta::assert_snapshot!(wrong("Queue.tla", "queue", "T0 Enqueue elem=1x\n"), @"error: edited.script:2: expected a value in JSON as `elem`, found `1x`");
    insta::assert_snapshot!(wrong("Lock.tla", "lock", "T3 Lock\n"), @"error: edited.script:2: `T3` is no process of the specification: in its initial states, 3 processes can make a call");
    insta::assert_snapshot!(wrong("Queue.tla", "queue", ""), @"error: edited.script: it has no call");
}

#[test]
fn a_violation_of_the_specification_is_reproduced_or_not() {
    let directory = directory("violation");
    let config = "CONSTANT Elems = {1, 2}\nINIT Init\nNEXT Next\nCONSTRAINT Small\nINVARIANT AtMostThree\n";
    fs::write(directory.join("Queue.cfg"), config).expect("a file for a test");
    let with_invariant = QUEUE.replace("====", "AtMostThree == Len(queue) <= 3\n====");
    fs::write(directory.join("Queue.tla"), with_invariant).expect("a file for a test");
    let made = run(&directory, &["spec", "simulate", "Queue.tla", "-o", "out"]);
    assert!(made.contains("the invariant `AtMostThree` is false") && made.ends_with("exit 1"), "{made}");
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drive/system.py");
    let system = system.to_str().expect("a path that is text");
    let follow = |mistake: &str| {
        let from = ["drive", "Queue.tla", "--from", "out/violation.jsonl"];
        run(&directory, &[&from[..], &["--", "python3", system, "queue", mistake]].concat())
    };
    let unbounded = follow("none");
    assert!(unbounded.contains("AtMostThree") && unbounded.ends_with("exit 1"), "{unbounded}");
    let bounded = follow("full");
    assert!(bounded.contains("call 4: the program refused `Enqueue") && bounded.ends_with("exit 1"), "{bounded}");
}
