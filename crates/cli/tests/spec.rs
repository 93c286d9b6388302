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
Never == FALSE /\ queue = <<>> /\ taken = 0
Known == taken \in 0..2
Growing == [][taken' >= taken]_taken
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
fn a_specification_without_a_state_is_empty() {
    insta::assert_snapshot!(check("constraint", "CONSTRAINT Never\nINVARIANT Positive\n", ""), @r"
    Queue.tla: empty
      the constraint `Never` excludes every initial state: no step was checked
      1 state generated, 0 distinct, 0 left, depth 1
    exit 4
    ");
    let directory = directory("init", "");
    fs::write(directory.join("Queue.cfg"), "INIT Never\nNEXT Next\n").expect("a file for a test");
    insta::assert_snapshot!(run(&directory, &["spec", "check", "Queue.tla"]), @r"
    Queue.tla: empty
      no state satisfies the initial predicate: nothing was checked
      0 states generated, 0 distinct, 0 left, depth 1
    exit 4
    ");
}

#[test]
fn what_was_checked_is_named() {
    insta::assert_snapshot!(check("nothing", "", "--deadlock false"), @r"
    Queue.tla: holds: no evaluation error; no invariant or property is given
      28 states generated, 21 distinct, 0 left, depth 5
    exit 0
    ");
    insta::assert_snapshot!(check("two", "INVARIANT Positive Known\nPROPERTY Growing\n", "--deadlock false"), @r"
    Queue.tla: holds: Positive, Known, Growing
      28 states generated, 21 distinct, 0 left, depth 5
    exit 0
    ");
}

#[test]
fn a_variable_that_grows_for_ever_is_named() {
    let directory = directory("grows", "");
    let module = "---- MODULE Queue ----\nEXTENDS Naturals\nVARIABLES n, b\nInit == n = 0 /\\ b = TRUE\n\
                  Next == n' = n + 1 /\\ b' = ~b\n====\n";
    fs::write(directory.join("Queue.tla"), module).expect("a file for a test");
    insta::assert_snapshot!(run(&directory, &["spec", "check", "Queue.tla", "--max-states", "20"]), @r"
    Queue.tla: inconclusive
      stopped: the limit on states was reached; `n` has a new value at each of 20 depths: a CONSTRAINT can bound it
      20 states generated, 20 distinct, 1 left, depth 20
    exit 3
    ");
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

/// Simulates the queue.
fn simulate(name: &str, config: &str, args: &str) -> String {
    let args = ["spec", "simulate", "Queue.tla"].into_iter().chain(args.split_whitespace());
    run(&directory(name, config), &args.collect::<Vec<_>>())
}

#[test]
fn walks_say_what_they_visited() {
    let printed = simulate("walks", "INVARIANT Positive\n", "--deadlock false --walks 50 --depth 8");
    insta::assert_snapshot!(printed);
}

#[test]
fn a_violation_beside_a_walk_is_found_and_repeated() {
    let all = simulate("beside", "INVARIANT Short\n", "--deadlock false --seed 3");
    assert!(all.contains("the invariant `Short` is false in state 3"), "{all}");
    assert!(all.ends_with("exit 1"), "{all}");
    let (_, again) = all.split_once("repeat this walk: omnilink spec simulate Queue.tla ").expect("a command");
    let again = again.lines().next().expect("a line");
    let one = simulate("beside", "INVARIANT Short\n", again);
    let trace = |text: &str| text[..text.find("walk").expect("a line of counts")].to_owned();
    assert_eq!(trace(&all), trace(&one));
}

#[test]
fn the_command_that_repeats_a_walk_has_all_options() {
    let directory = directory("repeat", "INVARIANT Short\n");
    fs::rename(directory.join("Queue.cfg"), directory.join("other one.cfg")).expect("a file of a test");
    let args =
        ["spec", "simulate", "Queue.tla", "--config", "other one.cfg", "--deadlock", "false", "--until", "taken = 9"];
    let printed = run(&directory, &args);
    let again = "omnilink spec simulate Queue.tla --config 'other one.cfg' --deadlock false --seed 0 --until 'taken = 9' --depth";
    assert!(printed.contains(again), "{printed}");
}

#[test]
fn behaviors_without_steps_and_of_large_states_are_histories() {
    let wide = "---- MODULE Wide ----\nEXTENDS Naturals\nVARIABLE f\nInit == f = [i \\in 1..3000 |-> 0]\n\
                Set(i) == f[1] = 0 /\\ f' = [f EXCEPT ![i] = 1]\nNext == Set(1)\n====\n";
    let directory = directory("wide", "");
    fs::write(directory.join("Wide.tla"), wide).expect("a file for a test");
    fs::write(directory.join("Wide.cfg"), "INIT Init\nNEXT Next\n").expect("a file for a test");
    let in_it = |args: &str| run(&directory, &args.split_whitespace().collect::<Vec<_>>());
    in_it("spec simulate Wide.tla --walks 1 --deadlock false -o one");
    let checked = in_it("check Wide.tla one");
    assert!(checked.contains("accepted: 1 operation") && checked.ends_with("exit 0"), "{checked}");
    in_it("spec simulate Wide.tla --walks 1 --depth 0 --deadlock false -o none");
    let checked = in_it("check Wide.tla none");
    assert!(checked.contains("nothing to check") && checked.ends_with("exit 4"), "{checked}");
}

#[test]
fn walks_end_where_they_should() {
    let goal = simulate("goal", "", "--deadlock false --walks 20 --until taken=2 --depth 1000");
    assert!(goal.contains("`taken=2` became true in 13 walks"), "{goal}");
    let wrong = simulate("goal", "", "--deadlock false --until taken");
    assert!(wrong.contains("the predicate of `--until` in state 1 could not be computed"), "{wrong}");
    assert!(wrong.ends_with("exit 2"), "{wrong}");
    let unknown = simulate("goal", "", "--until missing");
    assert!(unknown.contains("missing") && unknown.ends_with("exit 2"), "{unknown}");
    let deadlock = simulate("goal", "", "--walks 200");
    assert!(deadlock.contains("has no successor") && deadlock.ends_with("exit 1"), "{deadlock}");
    let none = simulate("goal", "", "--walks 0");
    assert!(none.contains("'0' for '--walks <COUNT>'") && none.ends_with("exit 2"), "{none}");
    let stopped = simulate("goal", "", "--deadlock false --max-states 2");
    assert!(stopped.contains("inconclusive") && stopped.ends_with("exit 3"), "{stopped}");
}

#[test]
fn covers_are_histories_that_the_specification_accepts() {
    let directory = directory("cover", "INVARIANT Positive\n");
    let in_it = |args: &str| run(&directory, &args.split_whitespace().collect::<Vec<_>>());
    let printed = in_it("spec simulate Queue.tla --deadlock false --cover transitions --depth 9 -o covers");
    insta::assert_snapshot!(printed);
    let checked = in_it("check Queue.tla covers");
    assert!(checked.contains("accepted") && checked.ends_with("exit 0"), "{checked}");
    let again = in_it("spec simulate Queue.tla --deadlock false --cover transitions -o covers");
    assert!(again.contains("`covers` is not empty") && again.ends_with("exit 2"), "{again}");
    let itf = in_it("spec simulate Queue.tla --deadlock false --cover actions -o itf --to itf");
    assert!(itf.contains("cover all 2 actions"), "{itf}");
    let text = fs::read_to_string(directory.join("itf/behavior-000000.itf.json")).expect("a behavior");
    let document: serde_json::Value = serde_json::from_str(&text).expect("a document");
    let actions: Vec<_> =
        document["states"].as_array().expect("states").iter().map(|state| &state["mbt::actionTaken"]).collect();
    assert_eq!(actions[0], "init");
    assert!(actions.iter().any(|action| *action == "Put") && actions.iter().any(|action| *action == "Take"));
    let wrong = in_it("spec simulate Queue.tla --cover states");
    assert!(wrong.contains("deadlock") && wrong.ends_with("exit 1"), "{wrong}");
}
