//! The test of the store in turmoil, where the random times of clients make the difference between seeds.

mod store;

use std::future::Future;

use ::tokio;

const SIMULATOR: &str = "turmoil";

/// Runs a cluster in one host.
fn simulate<F: Future<Output = ()> + Send + 'static>(seed: u64, cluster: impl Fn() -> F + Send + Sync + 'static) {
    let mut simulation = turmoil::Builder::new().rng_seed(seed).build();
    simulation.client("cluster", async move {
        cluster().await;
        Ok(())
    });
    simulation.run().expect("the cluster ends");
}
