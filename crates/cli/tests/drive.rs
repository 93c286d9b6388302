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

const TICK: &str = "---- MODULE Tick ----\nVARIABLE x\nInit == x = 0\nTick == x' = 0\nNext == Tick\n====\n";

const STORE: &str = r"---- MODULE Store ----
EXTENDS Naturals
CONSTANTS Keys, Values, Nil
VARIABLES map, age
Init == map = [key \in Keys |-> Nil] /\ age = 0
Store(k, v) == map' = [map EXCEPT ![k] = v] /\ UNCHANGED age
Get(key, value) == value = map[key] /\ UNCHANGED <<map, age>>
Grow == age' = (age + 1) % 3 /\ UNCHANGED map
Next == \/ \E k \in Keys, v \in Values : Store(k, v)
        \/ \E key \in Keys, value \in Values \cup {Nil} : Get(key, value)
        \/ Grow
====
";

const STORE_SETTINGS: &str = r#"internal = ["Grow"]
[operations.Put]
action = "Store"
fields = { key = "k", value = "v" }
"#;

/// The program that is driven.
const SYSTEM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drive/system.py");

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
    let args = [&["drive", spec], options, &["--", "python3", SYSTEM, kind, mistake]].concat();
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
fn answers_are_those_of_the_reported_states() {
    let coin = "---- MODULE Coin ----\nVARIABLE side\nInit == side \\in {0, 1}\nToss == side' \\in {0, 1}\n\
                Look(value) == value = side /\\ UNCHANGED side\nNext == Toss \\/ \\E value \\in {0, 1} : Look(value)\n====\n";
    let directory = tool::directory_with("drive-coin", &[("Coin.tla", coin), ("Coin.cfg", "INIT Init\nNEXT Next\n")]);
    let printed = run(&directory, &["drive", "Coin.tla", "--", "python3", SYSTEM, "coin", "other-side"]);
    assert!(printed.contains("`Look` answered Look value=1, which the specification allows after the"), "{printed}");
    assert!(printed.contains("rejected") && printed.ends_with("exit 1"), "{printed}");
}

#[test]
fn states_are_compared() {
    let other = drive("told-other", "queue", "told-other", &[]);
    assert!(other.contains("`state` has `queu`, which is not a variable") && other.ends_with("exit 5"), "{other}");
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
fn nothing_that_a_program_does_holds_up_the_command() {
    let closed = drive("closed", "queue", "closed", &["--timeout", "5s"]);
    assert!(closed.contains("stuck") && closed.contains("closed its output") && closed.ends_with("exit 5"), "{closed}");
    let bytes = drive("bytes", "queue", "bytes", &["--timeout", "5s"]);
    assert!(bytes.contains("cannot be read: it is not UTF-8") && bytes.ends_with("exit 5"), "{bytes}");
    let endless = drive("endless", "queue", "endless", &["--timeout", "60s"]);
    assert!(endless.contains("it has more than 16 MiB") && endless.ends_with("exit 5"), "{endless}");
    // It answers without reading, so its input fills up.
    let ticks = tool::directory_with("drive-early", &[("Tick.tla", TICK), ("Tick.cfg", "INIT Init\nNEXT Next\n")]);
    let args =
        ["drive", "Tick.tla", "--calls", "1000000", "--timeout", "60s", "--", "python3", SYSTEM, "tick", "early"];
    let early = run(&ticks, &args);
    assert!(early.contains("the program wrote a line before") && early.ends_with("exit 5"), "{early}");
}

#[test]
fn the_command_that_repeats_a_run_has_all_options() {
    let directory = directory("options");
    fs::rename(directory.join("Queue.cfg"), directory.join("other one.cfg")).expect("a file of a test");
    fs::write(directory.join("other.toml"), "").expect("a file for a test");
    let options = ["--config", "other one.cfg", "--settings", "other.toml", "--timeout", "9s"];
    let args = [&["drive", "Queue.tla"], &options[..], &["--", "python3", SYSTEM, "queue", "lifo"]].concat();
    let printed = run(&directory, &args);
    let again = "omnilink drive Queue.tla --config 'other one.cfg' --settings other.toml --seed 0 --runs 1 --calls 100 \
                 --timeout 9s -- python3 ";
    assert!(printed.contains(again), "{printed}");
}

#[test]
fn behaviors_have_the_names_and_values_of_the_specification() {
    let config = "CONSTANTS Keys = {1, 2} Values = {1, 2} Nil = Nil\nINIT Init\nNEXT Next\n";
    let files = [("Store.tla", STORE), ("Store.cfg", config), ("omnilink.toml", STORE_SETTINGS)];
    let directory = tool::directory_with("drive-names", &files);
    let made = run(&directory, &["spec", "simulate", "Store.tla", "--walks", "20", "--depth", "5", "-o", "behaviors"]);
    assert!(made.ends_with("exit 0"), "{made}");
    let followed =
        run(&directory, &["drive", "Store.tla", "--from", "behaviors", "--", "python3", SYSTEM, "map", "none"]);
    assert!(followed.contains("20 behaviors reproduced, 0 answered otherwise"), "{followed}");
}

#[test]
fn a_recorded_history_is_followed_with_its_processes_and_refusals() {
    let directory = directory("recorded");
    let history = r#"{"process": "a", "action": "Lock", "args": {}, "start": 1, "end": 2}
{"process": "b", "action": "Lock", "args": {}, "start": 3, "end": 4, "failed": true}
{"process": "a", "action": "Unlock", "args": {}, "start": 5, "end": 6}
{"process": "b", "action": "Lock", "args": {}, "start": 7, "end": 8}
"#;
    fs::write(directory.join("recorded.jsonl"), history).expect("a file for a test");
    let from = ["drive", "Lock.tla", "--from", "recorded.jsonl", "--", "python3", SYSTEM, "lock"];
    let right = run(&directory, &[&from[..], &["none"]].concat());
    assert!(right.contains("passed: 1 run with 4 calls") && right.contains("1 behavior reproduced"), "{right}");
    let steal = run(&directory, &[&from[..], &["steal"]].concat());
    assert!(steal.contains("rejected") && steal.ends_with("exit 1"), "{steal}");
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
    let follow = |mistake: &str| {
        run(&directory, &["drive", "Queue.tla", "--from", "behaviors", "--", "python3", SYSTEM, "queue", mistake])
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
    let wrong = |spec: &str, kind: &str, lines: &str| {
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
    let follow = |mistake: &str| {
        let from = ["drive", "Queue.tla", "--from", "out/violation.jsonl"];
        run(&directory, &[&from[..], &["--", "python3", SYSTEM, "queue", mistake]].concat())
    };
    let unbounded = follow("none");
    assert!(unbounded.contains("AtMostThree") && unbounded.ends_with("exit 1"), "{unbounded}");
    let bounded = follow("full");
    assert!(bounded.contains("call 4: the program refused `Enqueue") && bounded.ends_with("exit 1"), "{bounded}");
}
