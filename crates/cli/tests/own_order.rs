//! Orders that the system itself gives: followed, or found wrong, and the history told apart from them.

mod tool;

use std::fs;
use std::path::{Path, PathBuf};

const COUNTER: &str = "---- MODULE Counter ----
EXTENDS Naturals
VARIABLE count
Init == count = 0
Add == count' = count + 1
Read(seen) == seen = count /\\ UNCHANGED count
Next == Add \\/ \\E seen \\in 0 .. 9 : Read(seen)
====
";

fn directory(name: &str, history: &str) -> PathBuf {
    let directory = tool::directory(&format!("own-order/{name}"));
    fs::write(directory.join("history"), history).expect("a file for a test");
    directory
}

fn run(directory: &Path, args: &str) -> String {
    tool::run(directory, &args.split_whitespace().collect::<Vec<_>>()).shown()
}

fn check(name: &str, history: &str) -> String {
    run(&directory(name, history), "check --spec register --order-by rev history")
}

#[test]
fn an_order_that_is_legal_decides() {
    // A read has the revision of what it saw, and an unfinished write has none but is needed.
    let history = "T0 [1 9] write(1) | rev: 2
T1 [2 9] write(2) | rev: 1
T2 [3 9] read() = 1 | rev: 2
T3 [10 ...] write(3)
T2 [11 12] read() = 3 | rev: 3
";
    insta::assert_snapshot!(check("legal", history), @"
    history: accepted: 5 operations, 4 processes, replayed in the order of `rev` (TIME)
    exit 0
    ");
    let directory = directory("legal-binary", history);
    run(&directory, "convert history --to binary -o trace");
    insta::assert_snapshot!(run(&directory, "check --spec register --order-by rev trace --witness order"), @"
    trace: accepted: 5 operations, 4 processes, replayed in the order of `rev` (TIME)
    exit 0
    ");
    insta::assert_snapshot!(fs::read_to_string(directory.join("order")).expect("an order"), @"
    # trace
    T1:0 [2 9] write(2)
    T0:0 [1 9] write(1)
    T2:0 [3 9] read() = 1
    T3:0 [10 ...] write(3)
    T2:1 [11 12] read() = 3
    ");
    insta::assert_snapshot!(run(&directory, "check --spec register trace --verify order"), @"
    verified: 5 steps, 1 state possible at the end
    exit 0
    ");
    insta::assert_snapshot!(run(&directory, "check --spec register --order-by rev trace"), @"
    trace: accepted: 5 operations, 4 processes, replayed in the order of `rev` (TIME)
    exit 0
    ");
}

#[test]
fn a_wrong_order_of_a_history_that_is_right() {
    let history = "T0 [1 4] write(1) | rev: 7
T1 [5 9] write(2) | rev: 6
T0 [10 12] read() = 2 | rev: 8
";
    insta::assert_snapshot!(check("against-time", history), @"
    history: accepted: 3 operations, 2 processes, decided without searching (TIME)
      note: the system's own order contradicts real time: T0:0 write(1) [1 4] (`rev` 7) ended before T1:0 write(2) [5 9] (`rev` 6) began
      note: another order is legal: the history is right, and `rev` is not the order of its effects
    exit 0
    ");
    let history = "T0 [1 9] write(1) | rev: 6
T1 [1 9] write(2) | rev: 7
T0 [10 12] read() = 1 | rev: 8
";
    insta::assert_snapshot!(check("not-legal", history), @"
    history: accepted: 3 operations, 2 processes, decided without searching (TIME)
      note: the system's own order is not legal at T0:1 read() = 1 [10 12] (`rev` 8): in state 2, `read` returned 1, but the register holds 2
      note: another order is legal: the history is right, and `rev` is not the order of its effects
    exit 0
    ");
}

#[test]
fn a_history_that_is_wrong_in_every_order() {
    let history = "T0 [1 4] write(1) | rev: 6
T1 [5 9] write(2) | rev: 7
T0 [10 12] read() = 1 | rev: 8
";
    insta::assert_snapshot!(check("wrong", history), @"
    history: rejected
    error: T0 read 1 after T1 had written 2, but 1 was there before 2
     |
     = note: T0:0 write(1) [1 4] ended before T1:0 write(2) [5 9] began, and T1:0 write(2) [5 9] ended before T0:1 read()
             = 1 [10 12] began.
     = note: the system's own order is not legal at T0:1 read() = 1 [10 12] (`rev` 8): in state 2, `read` returned 1, but
             the register holds 2
     = note: no other order is legal either: the history is wrong, whatever `rev` says

      smallest part that fails: 3 operations

        T0        T1
        --------  -------
        write 1
                  write 2
        read → 1

      page  omnilink view history --spec register
    exit 1
    ");
}

#[test]
fn orders_that_are_not_complete_and_fields_that_are_not_there() {
    let history = "T0 [1 4] write(1) | rev: 6\nT1 [5 9] write(2)\nT0 [10 12] read() = 2 | rev: 8\n";
    insta::assert_snapshot!(check("incomplete", history), @"
    history: accepted: 3 operations, 2 processes, decided without searching (TIME)
      note: the system's own order is not complete: T1:0 write(2) [5 9] ended and has no `rev`
      note: a legal order was found without `rev`
    exit 0
    ");
    insta::assert_snapshot!(check("no-field", "T0 [1 4] write(1) | revision: 6\n"), @"
    error: history: no operation has a field `rev` to order by
    help: a field is a note (`meta`), a result or an argument that has this name
    exit 2
    ");
    // What no rank orders, and may have happened, leaves a doubt.
    let history = "T0 [1 4] write(1) | rev: 6\nT1 [2 ...] write(3)\nT0 [10 12] read() = 2 | rev: 8\n";
    insta::assert_snapshot!(check("in-doubt", history), @"
    history: rejected
    error: T0 read 2, which was never written
     |
     = note: T0:1 read() = 2 [10 12].
     = note: the system's own order could not be followed past T0:1 read() = 2 [10 12] (`rev` 8): in state 1, `read`
             returned 2, but the register holds 1; unfinished operations without `rev` may have taken effect before it
     = note: no other order is legal either: the history is wrong, whatever `rev` says

      smallest part that fails: 1 operation

        T0
        --------
        read → 2

      page  omnilink view history --spec register
    exit 1
    ");
}

#[test]
fn settings_of_a_specification_name_the_field() {
    let history = "T0 [1 9] Add() | lsn: \"9\"
T1 [2 9] Read() = seen: 1 | lsn: \"10\"
T1 [10 12] Read() = seen: 1 | lsn: \"10\"
";
    let directory = directory("tla", history);
    fs::write(directory.join("Counter.tla"), COUNTER).expect("a file for a test");
    fs::write(directory.join("omnilink.toml"), "order_by = \"lsn\"\n").expect("a file for a test");
    insta::assert_snapshot!(run(&directory, "check Counter.tla history"), @"
    history: accepted: 3 operations, 2 processes, replayed in the order of `lsn` (TIME)
    exit 0
    ");
    fs::write(directory.join("history"), history.replace("9\"", "11\"")).expect("a file for a test");
    insta::assert_snapshot!(run(&directory, "check Counter.tla history"), @r#"
    history: accepted: 3 operations, 2 processes (TIME)
      note: the system's own order is not legal at T1:0 Read() = seen: 1 [2 9] (`lsn` "10"): in state count = 0, the specification does not allow it
      note: another order is legal: the history is right, and `lsn` is not the order of its effects
    exit 0
    "#);
}
