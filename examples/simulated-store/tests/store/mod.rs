//! A store with a primary and a backup, and its test. Nothing here depends on the simulator: the file that includes this one
//! imports its `tokio`, and a function that runs a cluster with a seed.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use omnilink::Action;
use omnilink::sim::{Client, History, Simulation};

use super::tokio::spawn;
use super::tokio::sync::{mpsc, oneshot};
use super::tokio::time::sleep;
use super::{SIMULATOR, simulate};

static PUT: Action = Action::new("put", &["key", "value"], &[]);
static GET: Action = Action::new("get", &["key"], &["value"]);

/// A request, with the way of its reply.
enum Request {
    Put(i64, i64, oneshot::Sender<()>),
    Get(i64, oneshot::Sender<i64>),
    /// From the primary to the backup.
    Copy(i64, i64),
}

type Inbox = mpsc::UnboundedSender<Request>;

/// Answers requests until no client is left. The primary sends what it stores to the backup, some time after its reply.
async fn serve(mut requests: mpsc::UnboundedReceiver<Request>, backup: Option<Inbox>) {
    let mut stored = BTreeMap::new();
    while let Some(request) = requests.recv().await {
        match request {
            Request::Put(key, value, reply) => {
                stored.insert(key, value);
                // A client that is gone needs no reply.
                let _ = reply.send(());
                if let Some(backup) = backup.clone() {
                    spawn(async move {
                        sleep(Duration::from_millis(5)).await;
                        let _ = backup.send(Request::Copy(key, value));
                    });
                }
            }
            Request::Get(key, reply) => {
                let _ = reply.send(stored.get(&key).copied().unwrap_or(0));
            }
            Request::Copy(key, value) => {
                stored.insert(key, value);
            }
        }
    }
}

/// Makes some calls, and records them. Reads go to `reader`.
async fn client(mut recorded: Client, number: u64, seed: u64, primary: Inbox, reader: Inbox) {
    let mut random = seed ^ (number + 1) << 32;
    for count in 0..8 {
        sleep(Duration::from_millis(draw(&mut random, 10))).await;
        let key = draw(&mut random, 2) as i64;
        if draw(&mut random, 2) == 0 {
            let value = (number * 100 + count + 1) as i64;
            let call = recorded.call(&PUT, (key, value));
            let (reply, answer) = oneshot::channel();
            let _ = primary.send(Request::Put(key, value, reply));
            match answer.await {
                Ok(()) => call.done(()),
                Err(_) => call.unknown(),
            }
        } else {
            let call = recorded.call(&GET, (key,));
            let (reply, answer) = oneshot::channel();
            let _ = reader.send(Request::Get(key, reply));
            match answer.await {
                Ok(value) => call.done((value,)),
                Err(_) => call.failed(),
            }
        }
    }
}

/// Runs the store until three clients are done. A wrong one answers reads from the backup, which lags.
async fn cluster(seed: u64, history: History, is_wrong: bool) {
    let (primary, requests) = mpsc::unbounded_channel();
    let (backup, copies) = mpsc::unbounded_channel();
    spawn(serve(requests, Some(backup.clone())));
    spawn(serve(copies, None));
    let reader = if is_wrong { backup } else { primary.clone() };
    let client = |number: u64| {
        let recorded = history.client(&format!("c{number}"));
        spawn(client(recorded, number, seed, primary.clone(), reader.clone()))
    };
    let clients = [0, 1, 2].map(client);
    for client in clients {
        client.await.expect("no client panics");
    }
}

/// A random number below `below`, from the seed alone.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[omnilink::sim(spec = "kv:absent=0", seeds = 200)]
fn it_is_a_store(seed: u64, history: History) {
    simulate(seed, move || cluster(seed, history.clone(), false));
}

#[test]
fn stale_reads_are_found() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(SIMULATOR);
    let _ = std::fs::remove_dir_all(&directory);
    let test = Simulation::new("wrong", &directory.to_string_lossy());
    let test = Simulation { spec: Some("kv:absent=0".into()), seeds: 200, ..test };
    let run = |seed, history: History| simulate(seed, move || cluster(seed, history.clone(), true));
    let panic = catch_unwind(AssertUnwindSafe(|| test.run(run))).expect_err("one of 200 seeds fails");
    let message = panic.downcast_ref::<String>().expect("a message");
    println!("{message}");
    assert!(message.starts_with("wrong (seed ") && message.contains("): rejected\nerror: "), "{message}");
}
