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
    insta::assert_snapshot!(of_example("map/Map.tla map/traces/stale-read.jsonl"), @"T2 found 3 in `dict` after T1's `Erase 3`");
    insta::assert_snapshot!(of_example("queue/Queue.tla queue/traces/missing-effect.jsonl"), @"T2 took 5 out of `queue` while 4 was still in front of it");
    insta::assert_snapshot!(of_example("queue/Queue.tla queue/traces/early-return.jsonl"), @"T3 found `queue` empty while it was <<5>> after T1's `Enqueue 5`");
    insta::assert_snapshot!(of_example("two-phase/TwoPhase.tla two-phase/traces/coordinator-crash.jsonl"), @r#"no order allows rm2's `Learn "t3" → "abort"`: the nearest in `msgs` has says = "commit""#);
}

/// The two operations overlap, so the sentence does not say which of them came first.
#[test]
fn a_value_that_was_taken_twice() {
    insta::assert_snapshot!(of_example("queue/Queue.tla queue/traces/duplicate.jsonl"), @"T0 and T2 both took 4");
}

#[test]
fn values_are_cut_and_alternatives_sorted() {
    let two_lanes = "moodycamel/Atomic.tla moodycamel/traces/two-lanes.jsonl --settings moodycamel/atomic.toml";
    insta::assert_snapshot!(of_example(two_lanes), @"T1 took <<20, 21>> too early: it is legal after T2's `Dequeue 5 → <<17, 18, 19, 38, 39>>`");
    insta::assert_snapshot!(of_example("etcd/Registers.tla etcd/traces/stale-replica.jsonl --settings etcd/serializable.toml"), @r#"T1 saw 25 in `store["b"]`, which held 26, 33 or 36"#);
}

#[test]
fn the_nearest_state_counts() {
    let torn = "producer-queue/ProducerQueue.tla producer-queue/traces/torn-batch.jsonl";
    insta::assert_snapshot!(of_example(torn), @r#"no order allows T2's `DequeueBatch`: `Head(lane["a"])` is 6 or 17, not 7; others fail elsewhere"#);
}

#[test]
fn a_contradiction_is_told_by_its_last_operation() {
    insta::assert_snapshot!(of_example("register.jsonl --spec register"), @"other read 1 after reader had read 2, but 1 was there before 2");
    let missed = "c1 [0 1] put(\"y\", 200)\nc1 [2 3] get(\"y\") = nil\n";
    insta::assert_snapshot!(at_level("headline-session", "causal", missed), @r#"c1's `get "y" → nil` read the initial value and missed its own `put "y", 200`"#);
    let later = "a [0 1] put(\"x\", 1)\nb [2 3] get(\"x\") = 1\nb [4 5] get(\"x\") = nil\n";
    insta::assert_snapshot!(at_level("headline-other", "causal", later), @r#"b's `get "x" → nil` read the initial value and missed a's `put "x", 1`"#);
}

#[test]
fn an_event_of_a_log_is_told_by_its_line() {
    let raft =
        |log: &str| of_example(&format!("log-raft/Raft.tla log-raft/logs/{log} --settings log-raft/omnilink.toml"));
    insta::assert_snapshot!(raft("commit-old-term"), @r#"n2 line 54: `AdvanceCommit "n2", 8` although `log["n2"][8].term` is 3 and `currentTerm["n2"]` is 4"#);
    insta::assert_snapshot!(raft("vote-twice"), @r#"n3 line 3: `votedFor["n3"]` is "n1" after `Restart`, but the log says Nil; others fail elsewhere"#);
    let store = "log-key-value/KeyValueStore.tla log-key-value/logs/lost-update";
    insta::assert_snapshot!(of_example(&format!("{store} --settings log-key-value/omnilink.toml")), @r#"server line 17: `CloseTx "t3"` although "k0" and "k1" are in both `missed["t3"]` and `written["t3"]`"#);
    let commit = "log-two-phase/TwoPhase.tla log-two-phase/logs/bug --settings log-two-phase/omnilink.toml";
    insta::assert_snapshot!(of_example(commit), @r#"tm line 6: `TMCommit` although `tmPrepared` lacks "rm-3""#);
}
