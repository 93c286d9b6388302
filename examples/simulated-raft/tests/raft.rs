//! Three nodes of the library and three clients in turmoil, while nodes crash or are cut off.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use omnilink::Action;
use omnilink::sim::{Client, History, Simulation};
use omnilink_example_simulated_raft::{Failed, NODES, Store, Wrong, disk, node};

static GET: Action = Action::new("get", &["key"], &["value"]);
static PUT: Action = Action::new("put", &["key", "value"], &[]);

const CLIENTS: [&str; 3] = ["c1", "c2", "c3"];

#[omnilink::sim(spec = "kv:absent=0", seeds = 1000)]
fn the_store_is_linearizable(seed: u64, history: History) {
    simulate(seed, &history, Wrong::Nothing);
}

/// Runs the cluster until all clients are done.
fn simulate(seed: u64, history: &History, wrong: Wrong) {
    let mut simulation = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(120))
        .max_message_latency(Duration::from_millis(20))
        .build();
    for (name, id) in NODES.into_iter().zip(1..) {
        let disk = disk();
        simulation.host(name, move || {
            let disk = disk.clone();
            async move { Ok(node(id, disk, seed, wrong).await?) }
        });
    }
    for (number, name) in CLIENTS.into_iter().enumerate() {
        let recorded = history.client(name);
        simulation.client(name, async move {
            let store = Store::connect(number as u64).await?;
            client(recorded, store, number as u64, seed).await;
            Ok(())
        });
    }
    let mut random = seed;
    let mut fault = None;
    while !simulation.step().expect("the simulation goes on") {
        // A fault lasts for a second on average, so that another node is elected.
        match (&fault, draw(&mut random, if fault.is_some() { 1000 } else { 200 })) {
            (None, 0) => {
                let name = NODES[draw(&mut random, 3) as usize];
                simulation.crash(name);
                fault = Some((history.fault("crash", &[name]), name));
            }
            (None, 2) => {
                let name = NODES[draw(&mut random, 3) as usize];
                let restart = history.fault("restart", &[name]);
                simulation.bounce(name);
                restart.end();
            }
            (None, 1) => {
                // Clients still reach the node.
                let name = NODES[draw(&mut random, 3) as usize];
                NODES.iter().filter(|other| **other != name).for_each(|other| simulation.partition(name, *other));
                fault = Some((history.fault("partition", &[name]), name));
            }
            (Some(_), 0) => {
                let (fault, name) = fault.take().expect("there is one");
                if simulation.is_host_running(name) {
                    NODES.iter().filter(|other| **other != name).for_each(|other| simulation.repair(name, *other));
                } else {
                    simulation.bounce(name);
                }
                fault.end();
            }
            _ => {}
        }
    }
}

/// Makes some calls, and records them.
async fn client(mut recorded: Client, mut store: Store, number: u64, seed: u64) {
    let mut random = seed ^ (number + 1) << 32;
    for count in 0..30 {
        tokio::time::sleep(Duration::from_millis(draw(&mut random, 100))).await;
        let key = draw(&mut random, 2) as i64;
        if draw(&mut random, 4) > 0 {
            let call = recorded.call(&GET, (key,));
            match store.get(key).await {
                Ok(value) => call.done((value,)),
                // A read that failed returned nothing, and changed nothing.
                Err(_) => call.failed(),
            }
        } else {
            let value = (number * 100 + count + 1) as i64;
            let call = recorded.call(&PUT, (key, value));
            match store.put(key, value).await {
                Ok(()) => call.done(()),
                Err(Failed::NoEffect) => call.failed(),
                Err(Failed::TimedOut) => call.unknown(),
            }
        }
    }
}

/// A random number below `below`, from the seed alone.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[test]
fn reads_of_a_stale_leader_are_found() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("StaleLeader");
    let _ = std::fs::remove_dir_all(&directory);
    let test = Simulation::new("wrong", &directory.to_string_lossy());
    let test = Simulation { spec: Some("kv:absent=0".into()), seeds: 1000, ..test };
    let run = |seed, history: History| simulate(seed, &history, Wrong::StaleLeader);
    let panic = catch_unwind(AssertUnwindSafe(|| test.run(run))).expect_err("one of 1,000 seeds fails");
    let message = panic.downcast_ref::<String>().expect("a message");
    println!("{message}");
    assert!(message.starts_with("wrong (seed ") && message.contains("): rejected\nerror: "), "{message}");
}
