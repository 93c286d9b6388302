//! The test of the store in shuttle, which chooses the task that runs next. Time does not pass: a sleep lets others in.

mod store;

use std::future::Future;

use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, Runner};
use shuttle_tokio as tokio;

const SIMULATOR: &str = "shuttle";

/// Runs a cluster once, with a random schedule.
fn simulate<F: Future<Output = ()> + Send + 'static>(seed: u64, cluster: impl Fn() -> F + Send + Sync + 'static) {
    let runner = Runner::new(RandomScheduler::new_from_seed(seed, 1), Config::new());
    runner.run(move || shuttle::future::block_on(cluster()));
}
