//! Levels weaker than linearizability: where they are given, what is printed, and what is found.

mod tool;

use std::fs;
use std::path::PathBuf;

const MAP: &str = r"---- MODULE Map ----
EXTENDS Naturals, FiniteSets
CONSTANT Keys
VARIABLE keys
Init == keys = {}
Put(k) == keys' = keys \cup {k}
Remove(k, ok) == ok = (k \in keys) /\ keys' = keys \ {k}
Size(n) == n = Cardinality(keys) /\ UNCHANGED keys
Next == \/ \E k \in Keys : Put(k)
        \/ \E k \in Keys, ok \in BOOLEAN : Remove(k, ok)
        \/ \E n \in 0..Cardinality(Keys) : Size(n)
Spec == Init /\ [][Next]_keys
====
";

/// The second `Size` began after both keys were put; the first one overlaps the second `Put`, which `c` has seen.
const RUN: &str = "a [1 2] Put(k: 1)\nb [3 9] Put(k: 2)\nc [4 5] Remove(k: 2) = ok: TRUE\nc [6 7] Put(k: 2)\n\
                   a [8 10] Size() = n: 1\nc [11 12] Size() = n: 2\n";

const CONSTANTS: &str = "[constants]\nKeys = [\"Put.k\", \"Remove.k\"]\n";

/// The verdicts, and how the command ends.
const ACCEPTED: (&str, i32) = ("run.txt: accepted", 0);
const REJECTED: (&str, i32) = ("run.txt: rejected", 1);
const REFUSED: (&str, i32) = ("error: ", 2);
const FOUND: (&str, i32) = ("  by action: linearizable except `Size`", 0);

fn check(name: &str, settings: &str, companion: &str, args: &[&str], expected: (&str, i32)) -> String {
    let directory = tool::directory(&format!("levels-{name}"));
    let companion = format!("---- MODULE MapTrace ----\nEXTENDS Map\n{companion}\n====\n");
    let files = [("Map.tla", MAP), ("Map.cfg", "SPECIFICATION Spec\n"), ("MapTrace.tla", &companion), ("run.txt", RUN)];
    for (file, text) in files {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    fs::write(directory.join("omnilink.toml"), format!("{settings}\n{CONSTANTS}")).expect("a file for a test");
    let ran = tool::run(&directory, &[&["check", "Map.tla", "run.txt"], args].concat());
    assert_eq!((ran.shown().contains(expected.0), ran.code), (true, expected.1), "{name}: {}", ran.shown());
    ran.shown()
}

#[test]
fn a_level_comes_from_the_command_line_the_settings_or_the_companion() {
    insta::assert_snapshot!(check("none", "", "", &[], REJECTED));
    insta::assert_snapshot!(check("option", "", "", &["--level", "linearizable, Size=overlap"], REJECTED));
    insta::assert_snapshot!(check("settings", "level = \"linearizable, Size=weak\"", "", &[], ACCEPTED));
    let companion = "companion = \"MapTrace.tla\"";
    insta::assert_snapshot!(check("companion", companion, "Level == \"linearizable, Size=session\"", &[], ACCEPTED));
    insta::assert_snapshot!(check("wrong", companion, "Level == \"linearizable, Size=sesion\"", &[], REFUSED));
    insta::assert_snapshot!(check("no-string", companion, "Level == 3", &[], REFUSED));
}

#[test]
fn a_rejection_shows_what_operations_may_have_seen() {
    insta::assert_snapshot!(check("remove", "", "", &["--level", "linearizable, Remove=overlap"], REJECTED));
    insta::assert_snapshot!(check("causal", "", "", &["--level", "order real-time, session, Size=complete"], REJECTED));
}

#[test]
fn the_strongest_levels_are_found() {
    insta::assert_snapshot!(check("find", "", "", &["--find-level"], FOUND));
}

#[test]
fn what_is_not_defined_at_a_level_is_refused() {
    let level = ["--level", "linearizable, Size=overlap"];
    insta::assert_snapshot!(check("assume", "", "", &[&level[..], &["--assume", "a:0 < b:0"]].concat(), REFUSED));
    insta::assert_snapshot!(check("order-by", "", "", &[&level[..], &["--order-by", "rank"]].concat(), REFUSED));
    insta::assert_snapshot!(check("axiom", "", "", &["--level", "order session, weak, vis >= vis - po"], REFUSED));
}

fn directory(name: &str, history: &str) -> PathBuf {
    let directory = tool::directory(&format!("levels-{name}"));
    fs::write(directory.join("run.txt"), history).expect("a file for a test");
    directory
}

#[test]
fn every_visibility_is_tried_for_an_action() {
    let history = "b [3 4] get(1) = nil\nb [4 9] put(0, 2)\na [1 7] put(1, 3)\nb [9 15] erase(1) = FALSE\n";
    let directory = directory("every", history);
    let found = tool::run(&directory, &["check", "--spec", "kv", "run.txt", "--find-level"]);
    assert!(found.stdout.contains("--level 'linearizable, erase=causal'"), "{}", found.shown());
    let level = ["check", "--spec", "kv", "run.txt", "--level", "linearizable, erase=causal"];
    assert_eq!(tool::run(&directory, &level).code, 0);
}

#[test]
fn a_level_is_refuted_by_a_weaker_one() {
    // The process does not see its own write; there are too many orders of the others to try them all.
    let mut history = String::from("p0 [1 2] put(0, 1)\np0 [3 4] get(0) = nil\n");
    for op in 0..400 {
        history += &format!("p{} [{} {}] put({}, {})\n", op % 8, 10 * op + 10, 10 * op + 85, op % 3, op + 2);
    }
    let directory = directory("refuted", &history);
    let rejected = tool::run(&directory, &["check", "--spec", "kv", "run.txt", "--level", "sequential"]);
    assert_eq!(rejected.code, 1, "{}", rejected.shown());
    let words: Vec<&str> = rejected.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("(not even at the level `read-my-writes`)"), "{}", rejected.shown());
    let found = tool::run(&directory, &["check", "--spec", "kv", "run.txt", "--find-level"]);
    assert!(!found.stdout.contains("not decided within the limits: sequential"), "{}", found.shown());
}

#[test]
fn a_limit_that_no_option_raises_is_not_advised() {
    let op = |op: usize| format!("p0 [{} {}] increment() = {}\n", 2 * op + 1, 2 * op + 2, op + 2);
    let history: String = (0..200).map(op).collect();
    let directory = directory("limit", &history);
    let ran = tool::run(&directory, &["check", "--spec", "counter", "run.txt", "--level", "consistent-prefix"]);
    assert_eq!(ran.code, 3, "{}", ran.shown());
    assert!(ran.stdout.contains("at most 128 operations") && !ran.stdout.contains("--max-width"), "{}", ran.shown());
}

#[test]
fn pram_says_how_it_differs_from_what_is_published() {
    let history = "w1 [1 2] write(1)\nw2 [1 2] write(2)\nr1 [3 4] read() = 1\nr1 [5 6] read() = 2\n\
                   r2 [3 4] read() = 2\nr2 [5 6] read() = 1\n";
    let directory = directory("pram", history);
    let ran = tool::run(&directory, &["check", "--spec", "register", "run.txt", "--level", "pram"]);
    assert_eq!(ran.code, 1, "{}", ran.shown());
    assert!(ran.stdout.contains("PRAM as published has an order for each process"), "{}", ran.shown());
}

#[test]
fn levels_that_are_undecided_are_not_none() {
    // Too many operations for levels that depend on what others see, and too many orders for the rest.
    let round = |round: u64| {
        let (start, held) = (10 * round, 2 * round);
        let [a, b] = [(start, start + 5), (start + 1, start + 4)];
        format!("a [{} {}] fetch_add(1) = {}\nb [{} {}] fetch_add(1) = {held}\n", a.0, a.1, held + 1, b.0, b.1)
    };
    let history: String = (0..100).map(round).collect();
    let found = tool::run(
        &directory("undecided", &history),
        &["check", "--spec", "counter", "run.txt", "--find-level", "--max-width", "1"],
    );
    assert_eq!(found.code, 3, "{}", found.shown());
    let by_name: Vec<&str> = found.stdout.lines().filter(|line| line.starts_with("  by name: ")).collect();
    assert_eq!(by_name, ["  by name: none decided"], "{}", found.shown());
    assert!(found.stdout.contains("  by name, not decided within the limits: eventual\n"), "{}", found.shown());
}
