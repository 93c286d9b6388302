//! A history whose only explanations break an invariant is violated, wherever an order that keeps the invariants ends.

use omnilink_judge::{Case, CheckOptions, Failed, Judge, Recording, Unlimited};
use omnilink_report::Evidence;

/// `Add` may add one more than it says, and the level must stay low; `Spill` is not recorded.
const VAULT: &str = r"---- MODULE Vault ----
EXTENDS Integers
VARIABLE level
Init == level = 0
Add(n) == level' \in {level + n, level + n + 1}
Read(v) == v = level /\ UNCHANGED level
Spill == level > 0 /\ level' = -1
Next == \/ \E n \in 0..5 : Add(n)
        \/ \E v \in -1..5 : Read(v)
        \/ Spill
Low == level <= 1
Positive == level >= 0
====
";

/// The verdict on operations that follow each other, in one line.
fn check(invariants: &str, operations: &[(&str, i64)], shortcuts: bool) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("Vault.tla", VAULT);
    write("Vault.cfg", &format!("INIT Init\nNEXT Next\nINVARIANTS {invariants}\n"));
    write("omnilink.toml", "internal = [\"Spill\"]\n");
    let line = |(place, (action, arg)): (usize, &(&str, i64))| {
        format!(
            "{{\"process\": 0, \"action\": \"{action}\", \"args\": [{arg}], \"start\": {0}, \"end\": {0}}}\n",
            place
        )
    };
    write("t.jsonl", &operations.iter().enumerate().map(line).collect::<String>());
    let spec = directory.path().join("Vault.tla").display().to_string();
    let judge = Judge::new(&spec, CheckOptions { shortcuts, ..CheckOptions::default() }).expect("a specification");
    let path = directory.path().join("t.jsonl");
    let report = judge.report(&mut Case {
        recording: &Recording::at(&path, None),
        label: "t",
        witness: None,
        limits: &Unlimited,
    });
    let report = report.unwrap_or_else(|failed| match failed {
        Failed::Spec(complaints) => panic!("{}", complaints[0].message),
        other => panic!("{other:?}"),
    });
    match report.rejection().map(|rejection| (&rejection.sentence, &rejection.evidence)) {
        Some((sentence, Evidence::Invariant(broken))) => {
            let states = broken.states.iter().map(|state| state.variables[0].value.clone());
            format!("{sentence}: {}", states.collect::<Vec<_>>().join(", "))
        }
        _ => report.verdict.word().to_owned(),
    }
}

/// The verdict, if it does not depend on shortcuts.
fn agreed(invariants: &str, operations: &[(&str, i64)]) -> String {
    let verdict = check(invariants, operations, true);
    assert_eq!(check(invariants, operations, false), verdict);
    verdict
}

#[test]
fn an_order_that_keeps_the_invariant_may_end_at_a_guard() {
    // After `Add(1)` the level is 1 or 2. Where it is 1, `Read(2)` is refused by its guard and not by the invariant.
    let operations = [("Add", 1), ("Read", 2)];
    insta::assert_snapshot!(agreed("Low", &operations), @"every order that the actions allow breaks `Low`: 2");
    insta::assert_snapshot!(agreed("Low Positive", &operations), @"every order that the actions allow breaks an invariant; the first found breaks `Low`: 2");
}

#[test]
fn a_step_that_is_not_recorded_may_break_the_invariant() {
    insta::assert_snapshot!(agreed("Positive", &[("Add", 1), ("Read", -1)]), @"every order that the actions allow breaks `Positive`: -1");
}

#[test]
fn the_operation_itself_may_break_the_invariant() {
    insta::assert_snapshot!(agreed("Low", &[("Add", 4)]), @"T0's `Add 4` breaks `Low`: `level` is 4 or 5: 4, 5");
}

#[test]
fn what_the_actions_refuse_is_rejected() {
    insta::assert_snapshot!(agreed("Low", &[("Add", 1), ("Read", 4)]), @"rejected");
}

#[test]
fn an_order_that_keeps_the_invariant_is_enough() {
    insta::assert_snapshot!(agreed("Low", &[("Add", 0), ("Read", 1)]), @"accepted");
}

#[test]
fn without_an_initial_state_nothing_is_accepted() {
    let directory = tempfile::tempdir().expect("a directory");
    let module = VAULT.replace("Init == level = 0", "Init == level = 0 /\\ level # 0");
    std::fs::write(directory.path().join("Vault.tla"), module).expect("a file");
    let spec = directory.path().join("Vault.tla").display().to_string();
    let trace = directory.path().join("t.txt");
    // Unfinished operations may all have had no effect.
    std::fs::write(&trace, "a [1 ...] Add(n: 1)\nb [3 ...] Add(n: 2)\n").expect("a file");
    let names = ["eventual", "pram", "causal", "monotonic-writes", "sequential", "linearizable"];
    let orders = names.map(|level| (Some(level.parse().expect("a level")), None));
    for (level, order_by) in orders.into_iter().chain([(None, Some("n".to_owned()))]) {
        let options = CheckOptions { level, order_by, ..CheckOptions::default() };
        let about = format!("{:?} {:?}", options.level, options.order_by);
        let judge = Judge::new(&spec, options).expect("a specification");
        let recording = Recording::at(&trace, None);
        let report = judge.report(&mut Case { recording: &recording, label: "t", witness: None, limits: &Unlimited });
        assert_eq!(report.expect("a verdict").verdict.word(), "rejected", "{about}");
    }
}
