//! The test of the store in madsim, which chooses the task that runs next, and has its own time. It needs
//! `RUSTFLAGS="--cfg madsim"`.
#![cfg(madsim)]

mod store;

use std::future::Future;

use madsim::Config;
use madsim::runtime::Runtime;
use madsim_tokio as tokio;

const SIMULATOR: &str = "madsim";

/// Runs a cluster in one node.
fn simulate<F: Future<Output = ()> + Send + 'static>(seed: u64, cluster: impl Fn() -> F + Send + Sync + 'static) {
    Runtime::with_seed_and_config(seed, Config::default()).block_on(cluster());
}
