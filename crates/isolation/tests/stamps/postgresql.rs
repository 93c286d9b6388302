//! Recordings of PostgreSQL, with its snapshots.

use std::fs;
use std::path::Path;

use omnilink_history::{Halt, Precedence};
use omnilink_isolation::{Isolation, Level, StampOutcome, check_stamps, read};

/// The verdict, and the first misfit in words.
fn check_lines(text: &str, isolation: Isolation, order: Precedence) -> String {
    let txns = read::transactions(text.as_bytes(), &Halt::default()).expect("a history");
    match check_stamps(&txns, Level { isolation, order }, &Halt::default()) {
        Err(error) => error.to_string(),
        Ok(StampOutcome::Accepted(certificate)) => {
            certificate.replay(&txns).expect("a run");
            "accepted".to_owned()
        }
        Ok(StampOutcome::Rejected(rejection)) => {
            rejection.verify(&txns).expect("a proof");
            let explanation = rejection.explain(&txns);
            let stamps: Vec<String> =
                explanation.edges.iter().map(|(txn, stamps)| format!("{txn}: {stamps}")).collect();
            format!(
                "{}, misfits {}: {}; {}",
                explanation.anomaly,
                rejection.count,
                explanation.sentence,
                stamps.join("; ")
            )
        }
        Ok(StampOutcome::Inconclusive(doubt)) => doubt.to_string(),
    }
}

#[test]
fn repeatable_read_of_one_node_fits_its_snapshots() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/isolation/repeatable-read.jsonl");
    let text = fs::read_to_string(path).expect("a recording");
    insta::assert_snapshot!(check_lines(&text, Isolation::Snapshot, Precedence::RealTime), @"accepted");
    insta::assert_snapshot!(check_lines(&text, Isolation::Serializable, Precedence::None), @"PostgreSQL's snapshots do not decide `serializable`, because its transactions take effect in another order than they commit");
    // One read returns another value.
    let changed = text.replacen("[\"r\", 6, 4000183]", "[\"r\", 6, 0]", 1);
    insta::assert_snapshot!(check_lines(&changed, Isolation::Prefix, Precedence::None), @"missed write, misfits 1: T2 read 6 = 0, but by the stamps it sees 6 = 4000183 of T1; T1: snapshot 1423:1426:1423, transaction 1426; T2: snapshot 1427:1432:1427");
}

#[test]
fn snapshots_that_disagree_are_rejected() {
    let fork = r#"
{"process": 0, "txn": [["w", "x", 1]], "snapshot": "10:10:", "xid": "10", "status": "committed"}
{"process": 1, "txn": [["w", "y", 1]], "snapshot": "10:10:", "xid": 11, "status": "committed"}
{"process": 2, "txn": [["r", "x", 1], ["r", "y", 0]], "snapshot": "11:12:11", "status": "committed"}
{"process": 3, "txn": [["r", "x", 0], ["r", "y", 1]], "snapshot": "10:12:10", "status": "committed"}
"#;
    insta::assert_snapshot!(check_lines(fork, Isolation::Prefix, Precedence::None), @"snapshots that disagree, misfits 1: the snapshots of T1 and T2 each have a transaction that the other does not; T1: snapshot 11:11:; T2: snapshot 10:12:10");
}

#[test]
fn stamps_are_numbers_or_pairs() {
    let skew = r#"
{"process": 0, "txn": [["r", "x", 0], ["w", "y", 1]], "snapshot_ts": 1, "commit_ts": [3, 1], "status": "committed"}
{"process": 1, "txn": [["r", "y", 0], ["w", "x", 1]], "snapshot_ts": 2, "commit_ts": [3, 2], "status": "committed"}
{"process": 2, "txn": [["r", "x", 0], ["r", "y", 1]], "snapshot_ts": [3, 1], "status": "committed"}
"#;
    insta::assert_snapshot!(check_lines(skew, Isolation::Snapshot, Precedence::Program), @"accepted");
    insta::assert_snapshot!(check_lines(skew, Isolation::Serializable, Precedence::None), @"missed write, misfits 1: T2 read y = 0, but by the stamps it sees y = 1 of T1; T1: snapshot at 1, commit at 3.1; T2: snapshot at 2, commit at 3.2");
    insta::assert_snapshot!(check_lines(skew, Isolation::Causal, Precedence::None), @"stamps decide `prefix`, `snapshot` and `serializable`, not `causal`");
    let missing = skew.replace("\"snapshot_ts\": 2, ", "");
    insta::assert_snapshot!(check_lines(&missing, Isolation::Snapshot, Precedence::None), @"1:0 has no `snapshot_ts`");
    let both = skew.replace("\"snapshot_ts\": [3, 1]", "\"snapshot_ts\": 3, \"snapshot\": \"1:1:\"");
    let error = read::transactions(both.as_bytes(), &Halt::default()).expect_err("two clocks");
    insta::assert_snapshot!(error, @"some transactions have `snapshot_ts` or `commit_ts`, and others have `snapshot` or `xid`");
}
