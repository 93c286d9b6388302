//! Random histories against an oracle of the shortest possible definition, and laws on larger ones.
//!
//! The ignored tests do the same with 100,000 histories and 10,000 larger ones; `cargo xtask ci --full` runs them.

mod generate;
mod oracle;

use omnilink_history::{Halt, Precedence, Value};
use omnilink_isolation::{
    Builder, Effort, Isolation, Level, ORDERS, Outcome, Status, Transactions, TxnId, check, check_plainly,
};

use generate::{Access, History, machine, mutated};

/// The transactions of a history.
fn transactions(history: &History) -> Transactions {
    let mut builder = Builder::default();
    let value = |number: u32| Value::Int(i64::from(number));
    for (number, session) in history.sessions.iter().enumerate() {
        let process = builder.process(&number.to_string());
        for txn in session {
            let status = match txn.status {
                '!' => Status::Aborted,
                '?' => Status::Unknown,
                _ => Status::Committed,
            };
            builder.begin(process, txn.times.filter(|_| history.is_timed), status);
            for (access, key, values) in &txn.ops {
                let key = value(*key);
                let list: Vec<Value> = values.iter().map(|&number| value(number)).collect();
                match access {
                    Access::Write if history.is_list => builder.append(&key, &list[0]),
                    Access::Write => builder.write(&key, &list[0]),
                    Access::Read if history.is_list => builder.read_list(&key, &list),
                    Access::Read => builder.read(&key, list.first().unwrap_or(&Value::Int(0))),
                }
            }
        }
    }
    builder.finish().expect("a history")
}

/// True if the level holds. The evidence is verified.
fn holds(txns: &Transactions, level: Level, about: &dyn std::fmt::Debug) -> bool {
    match check(txns, level, &Effort::default(), &Halt::default()) {
        Outcome::Accepted(certificate) => {
            certificate.replay(txns).unwrap_or_else(|error| panic!("{level}: {error}: {about:?}"));
            true
        }
        Outcome::Rejected(rejection) => {
            rejection.verify(txns).unwrap_or_else(|error| panic!("{level}: {error}: {rejection:?} {about:?}"));
            let weaker = rejection.level;
            assert!(level.isolation.implies(weaker.isolation), "{level} is rejected because of {weaker}: {about:?}");
            false
        }
        Outcome::Inconclusive(why) => panic!("{level}: {why:?}: {about:?}"),
    }
}

fn levels(txns: &Transactions, about: &dyn std::fmt::Debug) -> Vec<Vec<bool>> {
    let of_order = |order: Precedence| {
        let level = |isolation| holds(txns, Level { isolation, order }, about);
        Isolation::ALL.into_iter().map(level).collect()
    };
    ORDERS.into_iter().map(of_order).collect()
}

#[test]
fn levels_agree_with_an_oracle_that_tries_all_orders() {
    compare_with_oracle(2_000, 1);
}

#[test]
#[ignore = "takes minutes"]
fn levels_of_many_histories_agree_with_an_oracle() {
    compare_with_oracle(100_000, 3);
}

fn compare_with_oracle(total: usize, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut accepted = vec![vec![0; 8]; 3];
    let mut lists = 0;
    for _ in 0..total {
        let history = if rng.bool() { mutated(&mut rng) } else { machine(&mut rng, 4..=6, 3) };
        let expected = oracle::decide(&history);
        let found = levels(&transactions(&history), &history);
        assert_eq!(found, expected, "{history:?}");
        lists += usize::from(history.is_list);
        for (counts, holds) in accepted.iter_mut().flatten().zip(found.iter().flatten()) {
            *counts += usize::from(*holds);
        }
    }
    let least = total * 15 / 100;
    for (order, counts) in ORDERS.iter().zip(&accepted) {
        for (isolation, &count) in Isolation::ALL.iter().zip(counts) {
            assert!(count >= least && total - count >= least, "{isolation} in {order:?}: {count} of {total}");
        }
    }
    assert!(lists > total / 10, "{lists} of {total} are lists");
}

#[test]
fn laws_hold_on_larger_histories() {
    check_laws(200, 2);
}

#[test]
#[ignore = "takes minutes"]
fn laws_hold_on_many_larger_histories() {
    check_laws(10_000, 4);
}

fn check_laws(total: usize, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    for _ in 0..total {
        let history = machine(&mut rng, 8..=40, 6);
        let txns = transactions(&history);
        let found = levels(&txns, &history);
        for (place, of_order) in found.iter().enumerate() {
            for (isolation, _) in Isolation::ALL.iter().zip(of_order).filter(|(_, holds)| **holds) {
                let is_below = |(weaker, holds): (&Isolation, &bool)| !isolation.implies(*weaker) || *holds;
                assert!(Isolation::ALL.iter().zip(of_order).all(is_below), "below {isolation}: {history:?}");
                let weaker = found[..place].iter().all(|orders| orders[*isolation as usize]);
                assert!(weaker, "{isolation} in weaker orders: {history:?}");
            }
        }
        // Without guesses and pruning, the search alone finds the same.
        for (order, of_order) in ORDERS.into_iter().zip(&found) {
            for (isolation, holds) in Isolation::ALL.into_iter().zip(of_order).skip(4) {
                let plain = check_plainly(&txns, Level { isolation, order }, &Effort::default(), false, false);
                let is_right = matches!((&plain, holds), (Outcome::Accepted(_), true) | (Outcome::Rejected(_), false));
                assert!(is_right, "{isolation} in {order:?}, searched: {history:?}");
            }
        }
        // Names of processes, keys and values, the order of sessions and the origin of time do not matter.
        let other = levels(&transactions(&renamed(&history, &mut rng)), &history);
        assert_eq!(other, found, "with other names: {history:?}");
        // Without a key, or a transaction, what is accepted stays accepted.
        let key = rng.u32(0..6);
        let without_key = transactions(&without_key(&history, key));
        let gone = TxnId(rng.u32(0..txns.len() as u32));
        let without_txn = txns.keep(|txn| txn != gone, |_| true);
        for smaller in [without_key, without_txn] {
            let now = levels(&smaller, &history);
            let stays = found.iter().flatten().zip(now.iter().flatten()).all(|(before, now)| !before || *now);
            assert!(stays, "without {key} or {gone:?}: {found:?} {now:?} {history:?}");
        }
    }
}

/// The same history with other names, and its sessions in another order.
fn renamed(history: &History, rng: &mut fastrand::Rng) -> History {
    let mut other = history.clone();
    let delay = rng.u64(1..1_000);
    rng.shuffle(&mut other.sessions);
    for txn in other.sessions.iter_mut().flatten() {
        txn.times = txn.times.map(|(start, end)| (start + delay, end.map(|end| end + delay)));
        for (_, key, values) in &mut txn.ops {
            *key = 100 - *key;
            values.iter_mut().filter(|value| **value != 0).for_each(|value| *value = 5_000 - *value);
        }
    }
    other
}

fn without_key(history: &History, key: u32) -> History {
    let mut other = history.clone();
    other.sessions.iter_mut().flatten().for_each(|txn| txn.ops.retain(|op| op.1 != key));
    other
}
