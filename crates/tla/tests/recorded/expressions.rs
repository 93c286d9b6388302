//! Expressions and their values.

use tla::datum;

use crate::common::{machine, program};
use crate::{compare, rows};

/// Where we differ from TLC, and why.
const DIFFERENCES: &[(&str, &str)] = &[
    ("CHOOSE x \\in {\"b\",\"a\"} : TRUE", "TLC had met \"a\" in an earlier row of the same process"),
    ("{\"b\"} \\cup {\"a\"}", "TLC had met \"a\" in an earlier row of the same process"),
    ("{x \\in Nat : x < 3}", "a set that cannot be listed prints without the place of its predicate"),
    (
        "LET f[n \\in Nat] == IF n = 0 THEN 1 ELSE n * f[n-1] IN f",
        "a function that cannot be listed prints without the place of its body",
    ),
];

const MODULES: &str = "Naturals, Integers, Sequences, FiniteSets, TLC, FiniteSetsExt";

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
