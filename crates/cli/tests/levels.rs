//! Levels weaker than linearizability: where they are given, what is printed, and what is found.

mod tool;

use std::fs;

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

fn check(name: &str, settings: &str, companion: &str, args: &[&str]) -> String {
    let directory = tool::directory(&format!("levels-{name}"));
    let companion = format!("---- MODULE MapTrace ----\nEXTENDS Map\n{companion}\n====\n");
    let files = [("Map.tla", MAP), ("Map.cfg", "SPECIFICATION Spec\n"), ("MapTrace.tla", &companion), ("run.txt", RUN)];
    for (file, text) in files {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    fs::write(directory.join("omnilink.toml"), format!("{settings}\n{CONSTANTS}")).expect("a file for a test");
    tool::run(&directory, &[&["check", "Map.tla", "run.txt"], args].concat()).shown()
}

#[test]
fn a_level_comes_from_the_command_line_the_settings_or_the_companion() {
    insta::assert_snapshot!(check("none", "", "", &[]));
    insta::assert_snapshot!(check("option", "", "", &["--level", "linearizable, Size=overlap"]));
    insta::assert_snapshot!(check("settings", "level = \"linearizable, Size=weak\"", "", &[]));
    let companion = "companion = \"MapTrace.tla\"";
    insta::assert_snapshot!(check("companion", companion, "Level == \"linearizable, Size=session\"", &[]));
    insta::assert_snapshot!(check("wrong", companion, "Level == \"linearizable, Size=sesion\"", &[]));
    insta::assert_snapshot!(check("no-string", companion, "Level == 3", &[]));
}

#[test]
fn a_rejection_shows_what_operations_may_have_seen() {
    insta::assert_snapshot!(check("remove", "", "", &["--level", "linearizable, Remove=overlap"]));
    insta::assert_snapshot!(check("causal", "", "", &["--level", "order real-time, session, Size=complete"]));
}

#[test]
fn the_strongest_levels_are_found() {
    insta::assert_snapshot!(check("find", "", "", &["--find-level"]));
}

#[test]
fn what_is_not_defined_at_a_level_is_refused() {
    let level = ["--level", "linearizable, Size=overlap"];
    insta::assert_snapshot!(check("assume", "", "", &[&level[..], &["--assume", "a:0 < b:0"]].concat()));
    insta::assert_snapshot!(check("order-by", "", "", &[&level[..], &["--order-by", "rank"]].concat()));
    insta::assert_snapshot!(check("axiom", "", "", &["--level", "order session, weak, vis >= vis - po"]));
}
