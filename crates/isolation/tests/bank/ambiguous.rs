//! Values that several transactions wrote: a level holds if it holds for one way to resolve the reads.

use omnilink_history::{Halt, Precedence};
use omnilink_isolation::{Effort, Inconclusive, Isolation, Level, Outcome, Rejection, Transactions, check, read};

use crate::notation::Source;

/// The strongest of the levels that have a chain, and whether the check was inconclusive.
fn strongest(sessions: &[&[&str]]) -> String {
    let sessions = sessions.iter().map(|txns| txns.iter().map(|txn| (*txn).to_owned()).collect()).collect();
    let txns = Source { sessions, ..Source::default() }.transactions();
    let mut holds = "-".to_owned();
    for isolation in Isolation::ALL.into_iter().filter(|level| *level != Isolation::ParallelSnapshot) {
        let level = Level { isolation, order: Precedence::Program };
        match check(&txns, level, &Effort::default(), &Halt::default()) {
            Outcome::Accepted(certificate) => {
                certificate.replay(&txns).expect("a run");
                holds = isolation.to_string();
            }
            Outcome::Rejected(rejection) => holds += &format!(", {} ways", rejection.choices),
            Outcome::Inconclusive(Inconclusive::Ambiguous { reads, .. }) => return format!("{reads} ambiguous reads"),
            Outcome::Inconclusive(why) => panic!("{why:?}"),
        }
        if holds.contains("ways") {
            break;
        }
    }
    holds
}

#[test]
fn reads_are_resolved_in_every_way() {
    insta::assert_snapshot!(strongest(&[&["wx1 wy1"], &["wx1 wy2"], &["rx1 ry2"]]), @"serializable");
    insta::assert_snapshot!(strongest(&[&["wx1 wy1"], &["wx1 wy2"], &["rx1 ry1"], &["rx1 ry2"]]), @"serializable");
    insta::assert_snapshot!(strongest(&[&["wx1 wy1"], &["wx1 wy2"], &["rx1 ry0"]]), @"read-committed, 2 ways");
    // One of the two writers aborted, or overwrote the value.
    insta::assert_snapshot!(strongest(&[&["wx1 wy1 !"], &["wx1 wy2"], &["rx1 ry1"]]), @"-, 1 ways");
    insta::assert_snapshot!(strongest(&[&["wx1 wx2"], &["wx1 wy2"], &["rx1 ry0"]]), @"read-committed, 1 ways");
}

#[test]
fn too_many_ways_are_inconclusive() {
    let reads = vec!["rx1"; 13];
    insta::assert_snapshot!(strongest(&[&["wx1"], &["wx1"], &reads]), @"13 ambiguous reads");
    insta::assert_snapshot!(strongest(&[&["wx1"], &["wx1"], &reads[..12]]), @"serializable");
}

/// The rejection of a history at a level, verified.
fn rejection(lines: &str, level: Level) -> (Transactions, Rejection) {
    let txns = read::transactions(lines.as_bytes(), &Halt::default()).expect("a history");
    let outcome = check(&txns, level, &Effort::default(), &Halt::default());
    outcome.prove(&txns).expect("a violation");
    match outcome {
        Outcome::Rejected(rejection) => (txns, rejection),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_violation_is_verified_with_the_sources_of_its_reads() {
    // The second transaction writes what it read, so the value has a writer and is the initial one, too.
    let written_nil = r#"{"process": 1, "txn": [["w", "y", 2]], "start": 1, "end": 2}
{"process": 1, "txn": [["r", "y", null], ["w", "y", null]], "start": 3, "end": 4}"#;
    for order in [Precedence::Program, Precedence::RealTime] {
        let (txns, rejection) = rejection(written_nil, Level { isolation: Isolation::ReadAtomic, order });
        insta::allow_duplicates! {
            insta::assert_snapshot!(rejection.explain(&txns).anomaly, @"fractured read in session order");
        }
    }
}

#[test]
fn the_violation_is_of_the_way_that_comes_closest_to_the_level() {
    let two_ways = r#"{"process": "a", "txn": [["r", "x", null], ["w", "y", null]], "start": 3, "end": 4}
{"process": "b", "txn": [["w", "x", 1], ["r", "y", null], ["w", "y", 1]], "start": 1, "end": 1}"#;
    let level = Level { isolation: Isolation::ReadAtomic, order: Precedence::RealTime };
    let (txns, rejection) = rejection(two_ways, level);
    assert_eq!((rejection.choices, rejection.broken(level)), (2, level), "read committed holds in the other way");
    insta::assert_snapshot!(rejection.explain(&txns).anomaly, @"fractured read in real time");
}
