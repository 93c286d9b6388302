//! Expressions and their values.

use omnilink_tla::datum;

use crate::common::{machine, program};
use crate::{compare, rows};

const INFINITE_MEMBER: &str = "TLC sorts the members of a set before it looks for an element in their union, and cannot \
                               compare an infinite member with another; membership needs no order";
const MADE_STRINGS: &str = "strings made while running come after all others, alphabetically";

/// Where we differ from TLC, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("CHOOSE x \\in {\"b\",\"a\"} : TRUE", "TLC had met \"a\" in an earlier row of the same process"),
    ("{\"b\"} \\cup {\"a\"}", "TLC had met \"a\" in an earlier row of the same process"),
    ("{x \\in Nat : x < 3}", "a set that cannot be listed prints without the place of its predicate"),
    (
        "LET f[n \\in Nat] == IF n = 0 THEN 1 ELSE n * f[n-1] IN f",
        "a function that cannot be listed prints without the place of its body",
    ),
    (r"5 \in UNION {Nat, {1}}", INFINITE_MEMBER),
    (r"1 \in UNION {Nat, {1}}", INFINITE_MEMBER),
    (r"5 \in UNION {{1}, Nat}", INFINITE_MEMBER),
    (r"1 \in UNION {{1}, Nat}", INFINITE_MEMBER),
    (r"{1} \in UNION {SUBSET Nat, SUBSET {1}}", INFINITE_MEMBER),
    (r"<<1>> \in UNION {Seq(Nat), {<<1>>}}", INFINITE_MEMBER),
    (r#""a" \in UNION {STRING, {"a"}}"#, INFINITE_MEMBER),
    (r#"5 \in UNION {Nat, {"a"}}"#, INFINITE_MEMBER),
    (r"5 \in UNION {{n \in Nat : n > 3}, {1}}", INFINITE_MEMBER),
    (r"5 \in UNION {{x \in Nat : TRUE}, {5}}", INFINITE_MEMBER),
    (r"<<1,2>> \in UNION {[1..2 -> Nat], {<<1,2>>}}", INFINITE_MEMBER),
    (r"[a |-> 1] \in UNION {[a : Nat], {[a |-> 1]}}", INFINITE_MEMBER),
    (r"[a |-> 1] \in UNION {[a : Nat], [a : Int]}", INFINITE_MEMBER),
    (r"<<1,2>> \in UNION {Nat \X Nat, {<<1,2>>}}", INFINITE_MEMBER),
    (r"1 \in UNION {Nat \cup {1}, {1}}", INFINITE_MEMBER),
    (r"1 \in UNION {Nat \ {1}, {1}}", INFINITE_MEMBER),
    (r"1 \in UNION {Nat \cap Int, {1}}", INFINITE_MEMBER),
    (
        r"5 \in UNION {SUBSET {1}, {5}}",
        "members are asked in the order of the text, and `5 \\in SUBSET {1}` is an error",
    ),
    (r"5 \in UNION {x : x \in {Nat}}", "an element that is computed must be a value"),
    ("Cardinality({Nat, Nat})", "infinite sets are not compared, so they are not counted"),
    (r#"Prefixes("ab")"#, MADE_STRINGS),
    (r#"SubSeqs("ab")"#, MADE_STRINGS),
    (r#"CommonPrefixes({"ab", "ac"})"#, MADE_STRINGS),
];

const MODULES: &str =
    "Naturals, Integers, Sequences, FiniteSets, Bags, TLC, FiniteSetsExt, SequencesExt, BagsExt, Functions";

fn value(expression: &str) -> String {
    let text = format!("---- MODULE M ----\nEXTENDS {MODULES}\nTheValue ==\n  {expression}\n====\n");
    let program = match program(&text, "") {
        Ok(program) => program,
        Err(error) => return format!("ERR {error}"),
    };
    let mut machine = machine(&program);
    match machine.evaluate_definition(program.module.names["TheValue"], None) {
        Ok(value) => datum::display(&mut machine, &value),
        Err(error) => format!("ERR {error}"),
    }
}

#[test]
fn values_are_those_of_tlc() {
    compare(&rows("recorded-expressions.tsv"), DIFFERENCES, value);
}
