//! The check by stamps against its definition, against the check without stamps, against the check by key and against the
//! stream; and recordings of PostgreSQL.

mod generate;
mod parts;
mod postgresql;

use omnilink_history::{Halt, Precedence};
use omnilink_isolation::{Effort, Isolation, Level, ORDERS, Outcome, StampOutcome, check, check_stamps};

use generate::History;

const LEVELS: [Isolation; 3] = [Isolation::Prefix, Isolation::Snapshot, Isolation::Serializable];

#[test]
fn stamps_agree_with_their_definition() {
    compare_with_definition(3_000, 1);
}

#[test]
#[ignore = "takes minutes"]
fn stamps_of_many_histories_agree_with_their_definition() {
    compare_with_definition(100_000, 2);
}

fn compare_with_definition(total: usize, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let (mut accepted, mut doubtful) = ([0; 3], 0);
    for _ in 0..total {
        let history = History::random(&mut rng);
        let txns = history.transactions();
        for (isolation, accepted) in LEVELS.into_iter().zip(&mut accepted) {
            for order in ORDERS {
                let level = Level { isolation, order };
                let holds = history.holds(level);
                match check_stamps(&txns, level, &Halt::default()).expect("it has stamps") {
                    StampOutcome::Accepted(certificate) => {
                        assert!(holds, "{level} is accepted: {history:#?}");
                        certificate.replay(&txns).unwrap_or_else(|error| panic!("{level}: {error}: {history:#?}"));
                        // The check without stamps asks for less.
                        let plain = check(&txns, level, &Effort::default(), &Halt::default());
                        assert!(matches!(plain, Outcome::Accepted(_)), "{level} without stamps: {history:#?}");
                        *accepted += 1;
                    }
                    StampOutcome::Rejected(rejection) => {
                        assert!(!holds, "{level} is rejected: {rejection:?} {history:#?}");
                        rejection.verify(&txns).unwrap_or_else(|error| panic!("{level}: {error}: {history:#?}"));
                        assert!(!rejection.explain(&txns).sentence.is_empty());
                    }
                    StampOutcome::Inconclusive(doubt) => {
                        assert!(history.may_be_doubtful(), "{level} is not decided: {doubt} {history:#?}");
                        doubtful += 1;
                    }
                }
            }
        }
    }
    let checks = total * ORDERS.len();
    for (isolation, count) in LEVELS.iter().zip(accepted) {
        assert!(
            count > checks * 15 / 100 && count < checks * 85 / 100,
            "{isolation}: {count} of {checks} are accepted"
        );
    }
    assert!(doubtful < checks * 3 / 20, "{doubtful} of {} are not decided", 3 * checks);
}

/// The session order or none, for which parts decide.
fn orders() -> impl Iterator<Item = Precedence> {
    ORDERS.into_iter().filter(|order| *order != Precedence::RealTime)
}
