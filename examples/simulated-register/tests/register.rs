//! Three replicas and three clients in turmoil, while replicas crash and links break.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use omnilink::Action;
use omnilink::sim::{Client, History, Simulation};
use omnilink_example_simulated_register::{Disk, Failed, REPLICAS, Register, Wrong, replica};

static READ: Action = Action::new("read", &[], &["value"]);
static WRITE: Action = Action::new("write", &["value"], &[]);

const CLIENTS: [&str; 3] = ["c1", "c2", "c3"];

#[omnilink::sim(spec = "register:initial=0", seeds = 200)]
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
        let disk = Disk::default();
        simulation.host(name, move || {
            let disk = disk.clone();
            async move { Ok(replica(disk, wrong).await?) }
        });
    }
    for (number, name) in CLIENTS.into_iter().enumerate() {
        let recorded = history.client(name);
        simulation.client(name, async move { Ok(client(recorded, number as u64, seed, wrong).await?) });
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

/// Makes some calls, and records them.
async fn client(mut recorded: Client, number: u64, seed: u64, wrong: Wrong) -> std::io::Result<()> {
    let mut register = Register::connect(number, wrong).await?;
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
    Ok(())
}

/// A random number below `below`, from the seed alone.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Fails unless some of 200 seeds is rejected, and its run is kept.
fn check_wrong(wrong: Wrong) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{wrong:?}"));
    let _ = std::fs::remove_dir_all(&directory);
    let manifest = directory.to_string_lossy();
    let test = Simulation { seeds: 200, ..Simulation::new("wrong", &manifest, "register:initial=0") };
    let panic = catch_unwind(AssertUnwindSafe(|| test.run(|seed, history| simulate(seed, &history, wrong))));
    let panic = panic.expect_err("one of 200 seeds fails");
    let message = panic.downcast_ref::<String>().expect("a message");
    println!("{message}");
    assert!(message.starts_with("wrong (seed ") && message.contains("): rejected\nerror: "), "{message}");
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
