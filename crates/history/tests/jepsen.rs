//! Small histories in the layouts that Jepsen and its exporters write.

use omnilink_history::format::jepsen;
use omnilink_history::{History, Outcome};

fn check(input: &str) -> String {
    let history = History::new(jepsen::read(input).expect("it is a history of Jepsen")).expect("it is well formed");
    let show = |op: &omnilink_history::Op<omnilink_history::Call>| {
        let unfinished = if op.outcome() == Outcome::Unfinished { " unfinished" } else { "" };
        format!("{} {}{unfinished}", history.name(op.id), op.call)
    };
    history.ops().iter().map(show).collect::<Vec<_>>().join("\n")
}

#[test]
fn one_form_per_line() {
    insta::assert_snapshot!(check(include_str!("../test_data/jepsen/register.edn")), @r#"
    T0:0 write(value: 1)
    T1:0 read() = value: 1
    T0:1 cas(from: 1, to: 2) unfinished
    T1:1 cas(from: 3, to: 4) failed
    T2:0 read() = value: 2
    "#);
}

#[test]
fn one_vector_of_tagged_maps() {
    insta::assert_snapshot!(check(include_str!("../test_data/jepsen/stale-read.edn")), @r#"
    T0:0 write(value: 1)
    T1:0 read() = value: 1
    T1:1 read() = value: nil
    "#);
}

#[test]
fn one_array() {
    insta::assert_snapshot!(check(include_str!("../test_data/jepsen/queue.json")), @r#"
    T0:0 enqueue(value: 1)
    T1:0 dequeue() = value: 1
    T1:1 dequeue() failed
    "#);
}

#[test]
fn one_object_per_line_with_keys() {
    insta::assert_snapshot!(check(include_str!("../test_data/jepsen/keys.jsonl")), @r#"
    T0:0 write(key: "x", value: 1)
    T1:0 read(key: "y") = value: nil
    T0:1 cas(key: "x", from: 1, to: 2)
    "#);
}
