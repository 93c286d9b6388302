//! The cost of simulations: time to record an operation and to check a run, and memory that stays after a run. Each figure is
//! printed, and compared with its limit.
//!
//! `cargo test -p omnilink --test simulation_cost -- --ignored --nocapture --test-threads 1`

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use omnilink::Action;
use omnilink::sim::{History, Simulation};

static PUT: Action = Action::new("put", &["key", "value"], &[]);
static GET: Action = Action::new("get", &["key"], &["value"]);

/// The shortest of many times: others use the processor, too.
fn shortest(count: u32, mut measured: impl FnMut() -> Duration) -> Duration {
    (0..count).map(|_| measured()).min().expect("at least one")
}

/// Three clients that write and read four keys, with calls that overlap.
fn record(history: &History, operations: i64) {
    let mut clients = ["c1", "c2", "c3"].map(|name| history.client(name));
    let mut stored = [0; 4];
    for at in 0..operations / 2 {
        let [one, two, three] = &mut clients;
        let (one, two) = if at % 2 == 0 { (one, two) } else { (two, three) };
        let key = at % 4;
        let put = one.call(&PUT, (key, at));
        let get = two.call(&GET, (key,));
        let value = std::mem::replace(&mut stored[key as usize], at);
        get.done((value,));
        put.done(());
    }
}

#[test]
#[ignore = "measures time"]
fn recording_takes_at_most_100_ns() {
    const OPERATIONS: i64 = 10_000;
    let time = shortest(200, || {
        let history = History::new(0);
        let mut client = history.client("c1");
        client.call(&PUT, (0, 0)).done(());
        let began = Instant::now();
        for value in 0..OPERATIONS {
            client.call(&PUT, (black_box(value % 8), value)).done(());
        }
        began.elapsed()
    });
    let each = time.as_nanos() as f64 / OPERATIONS as f64;
    println!("{each:.0} ns to record an operation");
    assert!(each <= 100.0, "{each} ns");
}

#[test]
#[ignore = "measures time"]
fn checking_1000_operations_takes_at_most_2_ms() {
    let time = shortest(200, || {
        let history = History::new(0);
        record(&history, 1000);
        let began = Instant::now();
        history.check("kv:absent=0");
        began.elapsed()
    });
    println!("{:.2} ms to check 1,000 operations of a key-value store", time.as_secs_f64() * 1e3);
    assert!(time <= Duration::from_millis(2), "{time:?}");
}

#[test]
#[ignore = "measures memory"]
fn the_memory_of_a_seed_is_freed() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |seeds| {
        let test = Simulation::new("cost", directory.path().to_str().expect("a path of UTF-8"));
        let test = Simulation { spec: Some("kv:absent=0".into()), seeds, jobs: 1, ..test };
        test.run(|_, history| record(&history, 1000));
        resident()
    };
    let (first, last) = (run(200), run(2000));
    println!("{first} kB after 200 seeds of 1,000 operations, {last} kB after 2,000 more");
    assert!(last < first + 4096, "{first} kB and {last} kB");
}

/// The resident memory in kB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
