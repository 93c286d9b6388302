//! Agreement with TLC's answers, as recorded in `tests/oracle/recorded-*.tsv`.
//!
//! Values must be printed the same and errors must be errors; error messages may differ. Rows where we differ on
//! purpose are listed beside each test with the reason, and a listed row that agrees fails the test.

mod actions;
#[path = "../common/mod.rs"]
mod common;
mod expressions;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The rows of a recorded table: the question and TLC's answer.
fn rows(name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = text.lines().map(|line| line.split_once("\t=>\t").expect("a row has two columns"));
    rows.map(|(question, answer)| (question.to_owned(), answer.trim().to_owned())).collect()
}

/// Compares answers with the recorded ones and reports every difference that is not explained.
fn compare(rows: &[(String, String)], differences: &[(&str, &str)], answer: impl Fn(&str) -> String) {
    let mut report = String::new();
    let differences: BTreeMap<_, _> = differences.iter().copied().collect();
    for (question, expected) in rows {
        let actual = answer(question);
        let agrees = actual == *expected || (actual.starts_with("ERR") && expected.starts_with("ERR"));
        match (agrees, differences.get(question.as_str())) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(reason)) => report += &format!("{question}\n  agrees, but is listed as different: {reason}\n"),
            (false, None) => report += &format!("{question}\n  TLC: {expected}\n  we:  {actual}\n"),
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
