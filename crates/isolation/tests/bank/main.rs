//! Named histories with their exact levels, and the labelled histories of AWDIT.

mod ambiguous;
mod notation;

use std::fs;
use std::path::Path;

use omnilink_history::format::json::Json;
use omnilink_history::{Halt, Precedence};
use omnilink_isolation::{
    Effort, Isolation, Level, MicroId, ORDERS, Outcome, Rejection, Transactions, TxnId, Violation, check,
    check_plainly, find, read,
};

use notation::{SHORT, Source, bank};

/// The levels in all orders, each with its evidence verified, and compared with those that `find` finds.
fn levels(txns: &Transactions, name: &str) -> Vec<Vec<Isolation>> {
    let mut found = Vec::new();
    for order in ORDERS {
        let mut holds = Vec::new();
        for (_, isolation) in SHORT {
            let level = Level { isolation, order };
            let outcome = check(txns, level, &Effort::default(), &Halt::default());
            match &outcome {
                Outcome::Accepted(certificate) => {
                    certificate.replay(txns).unwrap_or_else(|error| panic!("{name}, {level}: {error}"));
                    holds.push(isolation);
                }
                Outcome::Rejected(rejection) => {
                    let shown = rejection.explain(txns);
                    rejection.verify(txns).unwrap_or_else(|error| panic!("{name}, {level}: {error}: {shown:?}"));
                    check_smallest(txns, rejection, name);
                }
                Outcome::Inconclusive(why) => panic!("{name}, {level}: {why:?}"),
            }
            for (guesses, prunes) in [(false, true), (true, false), (false, false)] {
                let plain = check_plainly(txns, level, &Effort::default(), guesses, prunes);
                let is_accepted = |outcome: &Outcome| matches!(outcome, Outcome::Accepted(_));
                assert_eq!(is_accepted(&plain), is_accepted(&outcome), "{name}, {level}, {guesses}, {prunes}");
            }
        }
        let is_strongest = |level: &&Isolation| !holds.iter().any(|other| other != *level && other.implies(**level));
        found.push(holds.iter().filter(is_strongest).copied().collect());
    }
    let strongest = find(txns, &Effort::default(), &Halt::default()).expect("a verdict");
    assert_eq!(strongest.into_iter().map(|found| found.levels).collect::<Vec<_>>(), found, "{name}");
    found
}

/// The smallest history is rejected, and without any of its micro-operations it is not.
fn check_smallest(txns: &Transactions, rejection: &Rejection, name: &str) {
    let level = rejection.level;
    let smallest = rejection.smallest(txns, &Halt::default()).unwrap_or_else(|| panic!("{name}, {level}: no part"));
    let is_rejected = |gone: Option<MicroId>| {
        let has_txn = |txn: TxnId| smallest.txns.contains(&txn);
        let part = txns.keep(has_txn, |micro| Some(micro) != gone && smallest.micros.contains(&micro));
        let outcome = check_plainly(&part, level, &Effort::default(), false, false);
        match outcome {
            Outcome::Rejected(other) => {
                matches!(other.violation, Violation::Read(_)) == matches!(rejection.violation, Violation::Read(_))
            }
            _ => false,
        }
    };
    assert!(is_rejected(None), "{name}, {level}: {smallest:?}");
    let is_read = matches!(rejection.violation, Violation::Read(_));
    let spare = smallest.micros.iter().find(|&&micro| !is_read && is_rejected(Some(micro)));
    assert_eq!(spare, None, "{name}, {level}: {smallest:?}");
}

fn check_source(source: &Source) {
    let txns = source.transactions();
    assert_eq!(levels(&txns, &format!("{}: {source:?}", source.name)), source.holds, "{source:?}");
}

#[test]
fn the_bank_has_its_exact_levels() {
    let bank = bank();
    assert_eq!(bank.len(), 52);
    bank.iter().for_each(check_source);
}

/// The answers of an oracle that shares nothing with this project, one history for each line. `ISOLATION_ORACLE` names a file
/// with more of them.
#[test]
fn another_oracle_agrees() {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle.jsonl");
    let path = std::env::var_os("ISOLATION_ORACLE").map_or(default, Into::into);
    for line in fs::read_to_string(path).expect("a file").lines() {
        check_source(&Source::parse(&Json::parse(line).expect("JSON")));
    }
}

fn visit(folder: &Path, visit_file: &mut impl FnMut(&Path)) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => visit(&path, visit_file),
            false if path.extension().is_some_and(|end| end == "txt") => visit_file(&path),
            false => {}
        }
    }
}

#[test]
fn the_labels_of_awdit_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/awdit");
    let mut count = 0;
    visit(&root, &mut |path| {
        let txns = read::transactions(&fs::read(path).expect("a file"), &Halt::default()).expect("a history");
        // Its read committed is monotonic atomic view.
        let ladder = [
            ("read-committed", Isolation::MonotonicAtomicView),
            ("read-atomic", Isolation::ReadAtomic),
            ("causal", Isolation::Causal),
        ];
        let holds = |&&(_, isolation): &&(&str, Isolation)| {
            let level = Level { isolation, order: Precedence::Program };
            match check(&txns, level, &Effort::default(), &Halt::default()) {
                Outcome::Accepted(certificate) => certificate.replay(&txns).is_ok(),
                Outcome::Rejected(rejection) => {
                    rejection.verify(&txns).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    false
                }
                Outcome::Inconclusive(why) => panic!("{}: {why:?}", path.display()),
            }
        };
        let found = ladder.iter().take_while(holds).last().map_or("none", |(name, _)| name);
        let label = path.strip_prefix(&root).expect("below the root").components().next().expect("a folder");
        assert_eq!(found, label.as_os_str(), "{}", path.display());
        count += 1;
    });
    assert_eq!(count, 22);
}

fn check_sentence(history: &str, expected: &str) {
    let txns = read::transactions(history.as_bytes(), &Halt::default()).expect("a history");
    let level = Level { isolation: Isolation::Snapshot, order: Precedence::None };
    match check(&txns, level, &Effort::default(), &Halt::default()) {
        Outcome::Rejected(rejection) => assert_eq!(rejection.explain(&txns).sentence, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_write_replaces_what_its_transaction_missed_only_if_it_is_of_that_key() {
    let last = r#"{"status": "committed", "process": "c", "txn": [["r", "y", [1, 2]], ["r", "x", [1, 3]]]}"#;
    let history = |second: &str| {
        format!(
            "{{\"status\": \"committed\", \"process\": \"a\", \"txn\": [[\"append\", \"x\", 1], [\"append\", \"y\", 1]]}}\n{second}\n{last}\n"
        )
    };
    check_sentence(
        &history(
            r#"{"status": "committed", "process": "b", "txn": [["r", "x", []], ["append", "y", 2]]}
{"status": "committed", "process": "d", "txn": [["append", "x", 3]]}"#,
        ),
        "T2 missed x ∋ 1 of T1, but wrote y ∋ 2 after y ∋ 1 of T1",
    );
    check_sentence(
        &history(
            r#"{"status": "committed", "process": "b", "txn": [["append", "y", 2]]}
{"status": "committed", "process": "d", "txn": [["r", "x", []], ["append", "x", 3]]}"#,
        ),
        "T2 missed x ∋ 1 of T1, and replaced it",
    );
}
