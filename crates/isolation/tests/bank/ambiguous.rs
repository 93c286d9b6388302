//! Values that several transactions wrote: a level holds if it holds for one way to resolve the reads.

use omnilink_history::{Halt, Precedence};
use omnilink_isolation::{Effort, Inconclusive, Isolation, Level, Outcome, check};

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
