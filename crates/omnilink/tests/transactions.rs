//! The test attribute on stores with transactions: one that is right, and two that are wrong.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use omnilink::testing::Test;
use omnilink::transactions::Session;

const KEYS: u64 = 3;

/// Registers with versions. A transaction reads without a lock, and commits if what it read has not changed.
#[derive(Default)]
struct Store(Mutex<BTreeMap<i64, (i64, u64)>>);

impl Store {
    fn get(&self, key: i64) -> (i64, u64) {
        self.0.lock().expect("no step panics").get(&key).copied().unwrap_or_default()
    }

    /// Installs a value if no register in `read` has another version.
    fn put_if(&self, read: &[(i64, u64)], key: i64, value: i64) -> bool {
        let mut all = self.0.lock().expect("no step panics");
        let version = |key: &i64| all.get(key).map_or(0, |(_, version)| *version);
        let is_same = read.iter().all(|(key, seen)| version(key) == *seen);
        if is_same {
            let next = version(&key) + 1;
            all.insert(key, (value, next));
        }
        is_same
    }
}

/// Reads two registers and writes one of them. `compared` says which of those that were read have to be as before.
fn update(store: &Store, session: &mut Session<'_>, compared: impl Fn(&[(i64, u64)]) -> Vec<(i64, u64)>) {
    let first = session.draw().below(KEYS) as i64;
    let second = (first + 1) % KEYS as i64;
    let new = session.fresh();
    session.begin();
    let mut read = Vec::new();
    for key in [first, second] {
        let (value, version) = store.get(key);
        session.read(key, value);
        read.push((key, version));
    }
    session.write(first, new);
    match store.put_if(&compared(&read), first, new) {
        true => session.commit(),
        false => session.abort(),
    }
}

#[omnilink::test(isolation = "strict-serializable", threads = 3, operations = 20..=40, runs = 20_u64)]
fn a_store_that_compares_all_reads(store: &Store, session: &mut Session<'_>) {
    update(store, session, <[(i64, u64)]>::to_vec);
}

#[omnilink::test(isolation = "serializable", system = Mutex::new(Vec::new()), runs = 10_u64)]
fn a_list_behind_a_lock(list: &Mutex<Vec<i64>>, session: &mut Session<'_>) {
    let element = session.fresh();
    session.begin();
    let mut list = list.lock().expect("no step panics");
    session.read_list("list", list.iter().copied());
    list.push(element);
    session.append("list", element);
    drop(list);
    session.commit();
}

/// Reads a register and writes it, whatever happened in between.
fn replace(store: &Store, session: &mut Session<'_>) {
    let new = session.fresh();
    session.begin();
    session.read("x", store.get(0).0);
    session.write("x", new);
    store.put_if(&[], 0, new);
    session.commit();
}

/// The message of a test that fails.
fn failure(level: &'static str, step: impl Fn(&Store, &mut Session<'_>) + Sync) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let manifest = directory.path().to_str().expect("a path of UTF-8").to_owned();
    let test = Test { threads: 4.into(), operations: 100.into(), ..Test::new("tests::store", &manifest, level) };
    let run = || test.run_transactions(Store::default, &step);
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the store is wrong");
    (directory, panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn a_lost_update_is_found_and_kept() {
    let (directory, message) = failure("snapshot", replace);
    assert!(message.starts_with("tests::store (seed "), "{message}");
    assert!(message.contains("): rejected at the level `snapshot`\nerror: lost update: "), "{message}");
    let kept = directory.path().join("target/omnilink/transactions/tests-store.jsonl");
    let lines = fs::read_to_string(&kept).expect("the history is kept").lines().count();
    assert!(lines > 10 && kept.with_extension("html").exists(), "{lines} transactions");
    let seeds = fs::read_to_string(directory.path().join("omnilink-regressions/tests-store.txt")).expect("a seed");
    assert!(seeds.ends_with(" # lost update\n"), "{seeds}");
}

#[test]
fn a_write_skew_is_found_if_only_the_written_register_is_compared() {
    let (_, message) = failure("serializable", |store, session| update(store, session, |read| vec![read[0]]));
    assert!(message.contains("rejected at the level `serializable`"), "{message}");
}

#[test]
fn a_transaction_that_did_not_end_is_a_mistake() {
    let test = Test::new("tests::open", &std::env::temp_dir().to_string_lossy(), "causal");
    let run = || test.run_transactions(|| (), |(), session| session.begin());
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
}
