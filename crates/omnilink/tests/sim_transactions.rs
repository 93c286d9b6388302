//! Simulations of stores with transactions, in an executor of a few lines that drops clients with the hosts that crash.

use std::cell::RefCell;
use std::fs;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use omnilink::sim::{History, Session, Simulation, Transaction};

/// A random number below `below`.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Lets other clients in.
async fn step() {
    let mut is_over = false;
    poll_fn(|_| if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// A register with a version.
type Store = RefCell<(i64, u64)>;

/// Reads the register and replaces its value. A correct store aborts if another client was faster.
async fn client(mut session: Session, store: &Store, is_wrong: bool) {
    for _ in 0..10 {
        let new = session.fresh();
        let mut transaction = session.begin();
        step().await;
        let (value, version) = *store.borrow();
        transaction.read("x", value);
        step().await;
        transaction.write("x", new);
        let is_same = store.borrow().1 == version;
        if is_same || is_wrong {
            *store.borrow_mut() = (new, version + 1);
        }
        step().await;
        if is_same || is_wrong { transaction.commit() } else { transaction.abort() }
    }
}

/// Three clients, of which some crash and come back.
fn simulate(seed: u64, history: &History, is_wrong: bool) {
    let (mut random, store) = (seed, Store::default());
    let start = || Box::pin(client(history.session("c"), &store, is_wrong)) as Pin<Box<dyn Future<Output = ()>>>;
    let mut clients = vec![start(), start(), start()];
    while !clients.is_empty() {
        let at = draw(&mut random, clients.len() as u64) as usize;
        if draw(&mut random, 50) == 0 {
            clients[at] = start();
        }
        if clients[at].as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            drop(clients.swap_remove(at));
        }
    }
}

#[omnilink::sim(isolation = "strict-serializable", seeds = 200)]
fn updates_are_not_lost(seed: u64, history: History) {
    simulate(seed, &history, false);
}

#[test]
fn a_lost_update_is_found_and_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let test = Simulation::new("sim::store", directory.path().to_str().expect("a path of UTF-8"));
    let test = Simulation { isolation: Some("snapshot"), ..test };
    let run = || test.run(|seed, history| simulate(seed, &history, true));
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("updates are lost");
    let message = panic.downcast_ref::<String>().expect("a message");
    assert!(
        message.starts_with("sim::store (seed 0): rejected at the level `snapshot`\nerror: lost update"),
        "{message}"
    );
    assert!(message.ends_with("OMNILINK_SEED=0 repeats it\n"), "{message}");
    let kept = directory.path().join("target/omnilink/transactions/sim-store.jsonl");
    assert!(kept.with_extension("html").is_file(), "{message}");
    let lines = fs::read_to_string(kept).expect("the history is kept");
    // Clients were dropped, and came back with another name.
    assert!(lines.contains("\"unknown\"") && lines.contains("\"c+3\""), "{lines}");
}

/// One transaction writes 7 and is ended by `end`; a later one reads `value`.
fn check(value: i64, end: fn(Transaction<'_>)) -> bool {
    let history = History::new(1);
    let mut writer = history.session("writer");
    let mut transaction = writer.begin();
    transaction.write("x", 7);
    end(transaction);
    let mut reader = history.session("reader");
    let mut transaction = reader.begin();
    transaction.read("x", value);
    transaction.commit();
    catch_unwind(AssertUnwindSafe(|| history.check_isolation("strict-serializable"))).is_ok()
}

#[test]
fn a_transaction_that_is_dropped_may_have_taken_effect() {
    assert_eq!([0, 7].map(|value| check(value, |transaction| drop(transaction))), [true, true]);
    assert_eq!([0, 7].map(|value| check(value, |transaction| transaction.unknown())), [true, true]);
    assert_eq!([0, 7].map(|value| check(value, |transaction| transaction.commit())), [false, true]);
    assert_eq!([0, 7].map(|value| check(value, |transaction| transaction.abort())), [true, false]);
    // Nothing of the rejected ones stays in the repository. Another test may have its own there.
    let name = Path::new(env!("CARGO_MANIFEST_DIR")).join("a_transaction_that_is_dropped_may_have_taken_effect");
    for (directory, extension) in [
        ("omnilink-regressions", "txt"),
        ("target/omnilink/transactions", "jsonl"),
        ("target/omnilink/transactions", "html"),
    ] {
        let directory = name.with_file_name(directory);
        fs::remove_file(directory.join(name.file_name().unwrap()).with_extension(extension)).unwrap();
        let _ = fs::remove_dir(directory);
    }
}
