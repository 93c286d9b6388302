//! Transactions, sessions and keys decide the same alone as together.

use std::collections::BTreeMap;

use fastrand::Rng;
use omnilink_history::{Halt, Precedence, Value};
use omnilink_isolation::key::{Access, Row, Stamped, follows, judge, split};
use omnilink_isolation::{Isolation, Level, Stamp, StampOutcome, Status, check_stamps};

use crate::generate::{History, Txn};
use crate::{LEVELS, orders};

/// The transaction as it is taken apart.
fn stamped(history: &History, level: Level, number: usize) -> Stamped<Stamp, Value, Value> {
    let txn = &history.txns[number];
    let value = |number: u32| Value::Int(i64::from(number));
    let access = |(is_write, key, values): &(bool, u32, Vec<u32>)| {
        let list: Vec<Value> = values.iter().map(|&number| value(number)).collect();
        let access = match (is_write, history.is_list) {
            (true, true) => Access::Append { value: list[0].clone(), place: None },
            (true, false) => Access::Write(list[0].clone()),
            (false, true) => Access::List(list),
            (false, false) => {
                Access::Read { value: list.first().cloned().unwrap_or(Value::Int(0)), is_initial: list.is_empty() }
            }
        };
        (value(*key), access)
    };
    let commit = txn.commit.map(Stamp::new);
    let start = Stamp::new(txn.start);
    let sees = match (level.isolation, commit) {
        (Isolation::Serializable, Some(commit)) => commit.before(),
        _ => start,
    };
    Stamped { txn: number as u64, start, sees, commit, accesses: txn.ops.iter().map(access).collect() }
}

/// A run without unknown transactions and without equal commits.
fn plain(rng: &mut Rng) -> History {
    loop {
        let history = History::random(rng);
        let is_plain = |txn: &Txn| txn.status != Status::Unknown && txn.commit.is_none_or(|commit| commit > txn.start);
        if history.txns.iter().all(is_plain) && !history.may_be_doubtful() {
            return history;
        }
    }
}

fn committed(history: &History) -> Vec<usize> {
    (0..history.txns.len()).filter(|&txn| history.txns[txn].status == Status::Committed).collect()
}

/// By transaction, by session and by key.
fn holds_in_parts(history: &History, level: Level) -> bool {
    let mut by_key: BTreeMap<Value, Vec<Row<Stamp, Value>>> = BTreeMap::new();
    let mut by_session: BTreeMap<usize, Vec<Stamped<Stamp, Value, Value>>> = BTreeMap::new();
    for txn in committed(history) {
        let stamped = stamped(history, level, txn);
        let Ok(rows) = split(&stamped) else { return false };
        rows.into_iter().for_each(|(key, row)| by_key.entry(key).or_default().push(row));
        by_session.entry(history.txns[txn].session).or_default().push(stamped);
    }
    let is_session = |txns: &Vec<Stamped<Stamp, Value, Value>>| {
        let start = |txn: &Stamped<Stamp, Value, Value>| match level.isolation {
            Isolation::Serializable => txn.commit.unwrap_or(txn.start),
            _ => txn.start,
        };
        let end = |txn: &Stamped<Stamp, Value, Value>| txn.commit.unwrap_or(txn.start);
        txns.windows(2).all(|pair| follows(end(&pair[0]), start(&pair[1])))
    };
    let is_exclusive = level.isolation == Isolation::Snapshot;
    (level.order == Precedence::None || by_session.values().all(is_session))
        && by_key.values_mut().all(|rows| judge(rows, is_exclusive).is_empty())
}

#[test]
fn parts_decide_the_same() {
    let mut rng = Rng::with_seed(5);
    let mut accepted = 0;
    for _ in 0..2_000 {
        let history = plain(&mut rng);
        let txns = history.transactions();
        for isolation in LEVELS {
            for order in orders() {
                let level = Level { isolation, order };
                let outcome = check_stamps(&txns, level, &Halt::default()).expect("it has stamps");
                let holds = match outcome {
                    StampOutcome::Accepted(_) => true,
                    StampOutcome::Rejected(_) => false,
                    StampOutcome::Inconclusive(doubt) => panic!("{level}: {doubt}: {history:#?}"),
                };
                assert_eq!(holds_in_parts(&history, level), holds, "{level}, in parts: {history:#?}");
                accepted += usize::from(holds);
            }
        }
    }
    assert!((3_000..9_000).contains(&accepted), "{accepted} of 12000 are accepted");
}
