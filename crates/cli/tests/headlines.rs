//! The sentence of a rejection: what happened, in the words of the system, in at most a hundred columns.

mod tool;

use std::path::Path;

use serde_json::Value;

/// The sentence about the only history of a check.
fn sentence(directory: &Path, args: &[&str]) -> String {
    let ran = tool::run(directory, &[&["check"], args, &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()));
    let sentence = report["reports"][0]["verdict"]["sentence"].as_str().expect("a rejection").to_owned();
    assert!(sentence.chars().count() <= 100, "{sentence}");
    assert!(!sentence.contains(" more)"), "{sentence}");
    sentence
}

/// The sentence about a history of an example.
fn of_example(args: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    sentence(&examples, &args.split(' ').collect::<Vec<_>>())
}

/// The sentence about a history at a level.
fn at_level(name: &str, level: &str, history: &str) -> String {
    let directory = tool::directory(name);
    std::fs::write(directory.join("run.txt"), history).expect("a file for a test");
    sentence(&directory, &["run.txt", "--spec", "kv", "--level", level])
}

#[test]
fn an_operation_is_told_by_its_process_and_its_act() {
    insta::assert_snapshot!(of_example("map/Map.tla map/traces/stale-read.jsonl"), @"");
    insta::assert_snapshot!(of_example("queue/Queue.tla queue/traces/missing-effect.jsonl"), @"");
    insta::assert_snapshot!(of_example("queue/Queue.tla queue/traces/early-return.jsonl"), @"");
    insta::assert_snapshot!(of_example("two-phase/TwoPhase.tla two-phase/traces/coordinator-crash.jsonl"), @"");
}

/// The two operations overlap, so the sentence does not say which of them came first.
#[test]
fn a_value_that_was_taken_twice() {
    insta::assert_snapshot!(of_example("queue/Queue.tla queue/traces/duplicate.jsonl"), @"");
}

#[test]
fn values_are_cut_and_alternatives_sorted() {
    let two_lanes = "moodycamel/Atomic.tla moodycamel/traces/two-lanes.jsonl --settings moodycamel/atomic.toml";
    insta::assert_snapshot!(of_example(two_lanes), @"");
    insta::assert_snapshot!(of_example("etcd/Registers.tla etcd/traces/stale-replica.jsonl"), @"");
}

#[test]
fn the_nearest_state_counts() {
    let torn = "producer-queue/ProducerQueue.tla producer-queue/traces/torn-batch.jsonl";
    insta::assert_snapshot!(of_example(torn), @"");
}

#[test]
fn a_contradiction_is_told_by_its_last_operation() {
    insta::assert_snapshot!(of_example("register.jsonl --spec register"), @"");
    let missed = "c1 [0 1] put(\"y\", 200)\nc1 [2 3] get(\"y\") = nil\n";
    insta::assert_snapshot!(at_level("headline-session", "causal", missed), @"");
    let later = "a [0 1] put(\"x\", 1)\nb [2 3] get(\"x\") = 1\nb [4 5] get(\"x\") = nil\n";
    insta::assert_snapshot!(at_level("headline-other", "causal", later), @"");
}

#[test]
fn an_event_of_a_log_is_told_by_its_line() {
    let raft =
        |log: &str| of_example(&format!("log-raft/Raft.tla log-raft/logs/{log} --settings log-raft/omnilink.toml"));
    insta::assert_snapshot!(raft("commit-old-term"), @"");
    insta::assert_snapshot!(raft("vote-twice"), @"");
    let store = "log-key-value/KeyValueStore.tla log-key-value/logs/lost-update";
    insta::assert_snapshot!(of_example(&format!("{store} --settings log-key-value/omnilink.toml")), @"");
    let commit = "log-two-phase/TwoPhase.tla log-two-phase/logs/bug --settings log-two-phase/omnilink.toml";
    insta::assert_snapshot!(of_example(commit), @"");
}
