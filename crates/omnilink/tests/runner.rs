//! The command that a specification of one's own becomes.

#![allow(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs;

use omnilink::{Answer, Call, Object, runner};

/// A register that holds an integer.
struct Cell;

impl Object for Cell {
    type State = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn apply(&self, held: &mut i64, call: &Call) -> Answer {
        match (call.action(), call.args()) {
            ("set", [value]) => {
                *held = value.as_int().unwrap_or_default();
                Answer::nothing()
            }
            ("get", []) => Answer::value(*held),
            _ => Answer::Unknown,
        }
    }
}

/// What the command prints for these words, with `DIR` for a directory that holds some recordings.
fn check(words: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::write(at("good.txt"), "T0 [1 4] set(7)\nT1 [2 3] get() = 0\nT1 [5 6] get() = 7\n").unwrap();
    fs::write(at("stale.txt"), "T0 [1 2] set(7)\nT1 [3 4] get() = 0\n").unwrap();
    fs::write(at("other.txt"), "T0 [1 2] push(7)\n").unwrap();
    fs::write(at("empty.txt"), "").unwrap();
    let here = directory.path().display().to_string();
    let words = words.split_whitespace().map(|word| word.replace("DIR", &here));
    let mut printed = Vec::new();
    let ended = runner::run("cell", || Cell, words, &mut printed);
    let printed = String::from_utf8(printed).unwrap();
    let page =
        fs::read_to_string(at("why.html")).map_or(String::new(), |page| format!("\npage: {}", page.len() > 100_000));
    let timeless = |line: &str| match line.starts_with(&here) {
        true => line.split(" (").next().unwrap_or(line).to_owned() + "\n",
        false => format!("{line}\n"),
    };
    let printed = printed.lines().map(timeless);
    format!("{}{ended:?}{page}", printed.collect::<String>()).replace(&here, "DIR")
}

#[test]
fn recordings_are_checked_and_explained() {
    insta::assert_snapshot!(check("DIR/good.txt"));
    insta::assert_snapshot!(check("DIR/good.txt DIR/stale.txt"));
    insta::assert_snapshot!(check("DIR/empty.txt"));
    assert!(check("DIR/stale.txt --page DIR/why.html").ends_with("Ok(1)\npage: true"));
}

#[test]
fn what_is_wrong_is_said() {
    insta::assert_snapshot!(check("DIR/other.txt"), @r#"Err("DIR/other.txt: line 1: T0:0: unrecognized call `push(7)`")"#);
    insta::assert_snapshot!(check("DIR/missing.txt"), @r#"Err("DIR/missing.txt: cannot be read: No such file or directory (os error 2)")"#);
    insta::assert_snapshot!(check("DIR --page x.html"), @r#"Err("expected one trace for a page, found 4")"#);
    insta::assert_snapshot!(check("--pages x"), @r#"Err("unrecognized option `--pages` (expected `--page FILE`)")"#);
    insta::assert_snapshot!(check(""), @r#"Err("no traces given: pass files or directories")"#);
}
