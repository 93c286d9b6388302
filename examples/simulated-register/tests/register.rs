//! Three replicas and three clients in turmoil, while replicas crash and links break.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omnilink::Action;
use omnilink::sim::{Client, History, Simulation};
use omnilink_example_simulated_register::{Disk, Failed, Log, REPLICAS, Register, Wrong, replica};

static READ: Action = Action::new("read", &[], &["value"]);
static WRITE: Action = Action::new("write", &["value"], &[]);

const CLIENTS: [&str; 3] = ["c1", "c2", "c3"];

#[omnilink::sim(spec = "register:initial=0", log = "Replicas.tla", seeds = 200)]
fn it_is_a_register(seed: u64, history: History) {
    simulate(seed, &history, Wrong::Nothing);
}

/// Runs the cluster until all clients are done.
fn simulate(seed: u64, history: &History, wrong: Wrong) {
    let mut simulation = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(120))
        .max_message_latency(Duration::from_millis(100))
        .build();
    for name in REPLICAS {
        let (disk, log) = (Disk::default(), log(history, name));
        simulation.host(name, move || {
            let (disk, log) = (disk.clone(), log.clone());
            async move { Ok(replica(disk, wrong, log).await?) }
        });
    }
    for (number, name) in CLIENTS.into_iter().enumerate() {
        let (recorded, log) = (history.client(name), log(history, name));
        simulation.client(name, async move {
            let register = Register::connect(number as u64, wrong, log).await?;
            client(recorded, register, number as u64, seed).await;
            Ok(())
        });
    }
    let mut random = seed;
    let mut fault = None;
    while !simulation.step().expect("the simulation goes on") {
        match (&fault, draw(&mut random, 200)) {
            (None, 0) => {
                let name = REPLICAS[draw(&mut random, 3) as usize];
                simulation.crash(name);
                fault = Some((history.fault("crash", &[name]), name));
            }
            (None, 1) => {
                let name = REPLICAS[draw(&mut random, 3) as usize];
                simulation.partition(name, CLIENTS[draw(&mut random, 3) as usize]);
                fault = Some((history.fault("partition", &[name]), name));
            }
            (Some(_), 0..=2) => {
                let (fault, name) = fault.take().expect("there is one");
                if simulation.is_host_running(name) {
                    CLIENTS.iter().for_each(|client| simulation.repair(name, *client));
                } else {
                    simulation.bounce(name);
                }
                fault.end();
            }
            _ => {}
        }
    }
}

/// The log of a replica or a client.
fn log(history: &History, name: &'static str) -> Log {
    let history = history.clone();
    Arc::new(move |event| history.event(name, event))
}

/// Makes some calls, and records them.
async fn client(mut recorded: Client, mut register: Register, number: u64, seed: u64) {
    let mut random = seed ^ (number + 1) << 32;
    for count in 0..12 {
        tokio::time::sleep(Duration::from_millis(draw(&mut random, 300))).await;
        if draw(&mut random, 2) == 0 {
            let call = recorded.call(&READ, ());
            match register.read().await {
                Ok(value) => call.done((value,)),
                // A read that failed returned nothing, and changed nothing.
                Err(_) => call.failed(),
            }
        } else {
            let value = (number * 100 + count + 1) as i64;
            let call = recorded.call(&WRITE, (value,));
            match register.write(value).await {
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

/// A test of a wrong implementation, in a directory of its own, with the specification of the replicas.
fn wrong_in(directory: &Path) -> Simulation {
    let _ = std::fs::remove_dir_all(directory);
    std::fs::create_dir_all(directory).expect("a directory");
    for file in ["Replicas.tla", "Replicas.cfg", "omnilink.toml"] {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        std::fs::copy(here, directory.join(file)).expect("a copy");
    }
    Simulation { seeds: 200, ..Simulation::new("wrong", &directory.to_string_lossy()) }
}

/// The message of a test that fails.
fn failure(test: &Simulation, wrong: Wrong) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| test.run(|seed, history| simulate(seed, &history, wrong))));
    let panic = panic.expect_err("one of 200 seeds fails");
    let message = panic.downcast_ref::<String>().expect("a message").clone();
    println!("{message}");
    assert!(message.starts_with("wrong (seed ") && message.contains("): rejected\nerror: "), "{message}");
    message
}

/// Fails unless the clients notice a mistake with some of 200 seeds, and the run is kept.
fn check_wrong(wrong: Wrong) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{wrong:?}"));
    failure(&Simulation { spec: Some("register:initial=0".into()), ..wrong_in(&directory) }, wrong);
}

#[test]
fn stale_reads_are_found() {
    check_wrong(Wrong::StaleRead);
}

#[test]
fn lost_writes_are_found() {
    check_wrong(Wrong::LostWrite);
}

#[test]
fn reordered_writes_are_found() {
    check_wrong(Wrong::Reordered);
}

#[test]
fn writes_that_are_applied_twice_are_found() {
    check_wrong(Wrong::AppliedTwice);
}

/// A stamp that loses its client still has its round and its value, so clients notice nothing.
#[test]
fn a_short_disk_is_found_by_the_log_alone() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ShortDisk");
    let clients = Simulation { spec: Some("register:initial=0".into()), ..wrong_in(&directory) };
    clients.run(|seed, history| simulate(seed, &history, Wrong::ShortDisk));
    let message = failure(&Simulation { log: Some("Replicas.tla"), ..clients }, Wrong::ShortDisk);
    assert!(message.contains("after `Restart`, but the log says"), "{message}");
}
