//! Idioms for a function with one more key, with one less, and for counting: the fast path gives the same result as
//! an equivalent expression that has no fast path.

mod common;

use common::{machine, program};

/// The results of two expressions about `f`, `k` and `v`, as printed, errors included.
fn both(f: &str, k: &str, v: &str, short: &str, long: &str) -> [String; 2] {
    let text = format!(
        "---- MODULE M ----\nEXTENDS Integers, FiniteSets, Sequences, TLC\nVARIABLE f\nInit == f = {f}\n\
         Short(k, v) == {short}\nLong(k, v) == {long}\nNext == UNCHANGED f\n\
         One == Short({k}, {v})\nTwo == Long({k}, {v})\n====\n"
    );
    let program = program(&text, "INIT Init\nNEXT Next").expect("the module can be linked");
    let mut machine = machine(&program);
    let mut states = Vec::new();
    machine.initial_states(&mut states).expect("Init can be evaluated");
    ["One", "Two"].map(|name| {
        let def = program.module.names[name];
        match machine.evaluate_definition(def, Some(&states[0])) {
            Ok(datum) => omnilink_tla::datum::display(&mut machine, &datum),
            Err(error) => format!("{:?} {}", error.kind, error.message),
        }
    })
}

const FUNCTIONS: &[&str] = &[
    "<<>>",
    "<<5>>",
    "<<5, 6, 7>>",
    "(3 :> 1)",
    "(2 :> 1 @@ 7 :> 2)",
    "[a |-> 1]",
    "[a |-> 1, b |-> 2]",
    "({1} :> 3)",
    "3",
];
const KEYS: &[&str] = &["0", "1", "2", "3", "4", "7", "\"a\"", "\"b\"", "{1}", "{}", "<<1>>", "1 + TRUE"];
const VALUES: &[&str] = &["9", "5", "{1, 2}", "1..3", "Nat", "k", "1 + TRUE"];

fn compare(short: &str, long: &str) {
    for f in FUNCTIONS {
        for k in KEYS {
            for v in VALUES.iter().filter(|_| short.contains('v')).chain(VALUES.iter().take(1)) {
                let v = if *v == "k" { k } else { v };
                let [one, two] = both(f, k, v, short, long);
                // The two forms may fail for different reasons.
                let kind = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
                let is_error = |text: &str| text.starts_with(|c: char| c.is_ascii_uppercase());
                let agree = one == two || (is_error(&one) && is_error(&two) && kind(&one) == kind(&two));
                assert!(agree, "{short} with f = {f}, k = {k}, v = {v}\n   {one}\n   {two}");
            }
        }
    }
}

#[test]
fn one_key_more() {
    compare(
        r"[x \in DOMAIN f \cup {k} |-> IF x = k THEN v ELSE f[x]]",
        r"[x \in DOMAIN f \cup {k} |-> IF TRUE /\ x = k THEN v ELSE f[x]]",
    );
    compare(
        r"[x \in {k} \cup DOMAIN f |-> IF k # x THEN f[x] ELSE v]",
        r"[x \in {k} \cup DOMAIN f |-> IF k # x /\ TRUE THEN f[x] ELSE v]",
    );
    compare(r"(k :> v) @@ f", r"LET one == k :> v IN one @@ f");
}

#[test]
fn one_key_less() {
    compare(r"[x \in DOMAIN f \ {k} |-> f[x]]", r"[x \in DOMAIN f \ {k, k} |-> f[x]]");
}

#[test]
fn counting() {
    compare(r"Cardinality({x \in DOMAIN f : x # k})", r"LET kept == {x \in DOMAIN f : x # k} IN Cardinality(kept)");
    compare(r"Cardinality({x \in {1, 2, 3} : x # k})", r"LET kept == {x \in {1, 2, 3} : x # k} IN Cardinality(kept)");
    compare(r"Cardinality({x \in Nat : x # k})", r"LET kept == {x \in Nat : x # k} IN Cardinality(kept)");
}
