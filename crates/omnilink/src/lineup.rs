//! The implementation of `#[omnilink::lineup]`: checks an object against its own serial behavior, and panics with the
//! first execution that no serial run explains.
//!
//! Threads run freely here, under `cargo test`, so the findings depend on luck, and an execution that is stuck cannot be
//! distinguished from a slow one: no call may block. The command `omnilink lineup` controls the threads, explores all
//! schedules of small tests, and judges stuck executions too.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ::omnilink_lineup::{Observations, Observed, Refused, SerialRun, explain, headline};
use omnilink_record::object::{Describe, Description};

/// The longest time of one execution.
const PATIENCE: Duration = Duration::from_secs(10);

/// At most this many serial orders are one execution.
const ORDERS: usize = 256;

/// A test of an object without a specification.
#[derive(Debug, Clone)]
pub struct ObjectTest {
    /// The name of the test, with its modules.
    pub name: &'static str,
    /// The directory of the manifest.
    pub manifest: PathBuf,
    /// The number of threads.
    pub threads: usize,
    /// The number of calls of each thread.
    pub calls: usize,
    /// The number of random choices of calls; the seeds are 1, 2 and so on.
    pub tests: u64,
    /// The number of concurrent executions of each.
    pub runs: u64,
}

impl ObjectTest {
    /// A test with default options.
    pub fn new(name: &'static str, manifest: &str) -> ObjectTest {
        ObjectTest { name, manifest: manifest.into(), threads: 2, calls: 2, tests: 20, runs: 50 }
    }

    /// Runs the test.
    ///
    /// # Panics
    ///
    /// If two serial runs give the same calls different answers, if no serial run explains a concurrent execution, or if
    /// a call panics or blocks.
    pub fn run<D: Describe + 'static>(&self, make: impl Fn() -> D + Send + Sync + 'static)
    where
        D::Shared: Send + Sync,
    {
        let description = Arc::new(Description::of(make));
        let listed = description.calls();
        for seed in 1..=self.tests {
            let test = ::omnilink_lineup::Test::random(&listed, self.threads, self.calls, seed);
            let test = test.unwrap_or_else(|error| panic!("{}: {error}", self.name));
            let matrix = test.matrix(&listed).unwrap_or_else(|error| panic!("{}: {error}", self.name));
            let observations = self.observe(&description, &test, &matrix);
            for _ in 0..self.runs {
                let operations = self.execute(&description, &matrix, "");
                let observed =
                    Observed::full(&test, operations).unwrap_or_else(|misfit| panic!("{}: {misfit}", self.name));
                if let Some(failure) = explain(&observations, &observed).failure() {
                    let columns = ::omnilink_lineup::columns(&test, &observed).join("\n  ");
                    let headline = headline(&test, failure);
                    panic!("{}: no serial run explains `{test}`\n\n{headline}\n\n  {columns}\n", self.name);
                }
            }
        }
    }

    /// All serial runs.
    fn observe<S: Send + Sync + 'static>(
        &self,
        description: &Arc<Description<S>>,
        test: &::omnilink_lineup::Test,
        matrix: &str,
    ) -> Observations {
        let mut observations = Observations::new(test.clone());
        loop {
            let orders: Vec<String> = observations.missing(ORDERS).iter().map(ToString::to_string).collect();
            if orders.is_empty() {
                return observations;
            }
            // The first one again: an object whose answers vary differs from itself.
            let orders = format!("{} {}", orders.join(" "), orders[0]);
            for operations in self.execute(description, matrix, &orders).chunks(test.operations()) {
                match observations.insert(&SerialRun::of(operations)) {
                    Ok(_) => {}
                    Err(Refused::Misfit(misfit)) => panic!("{}: {misfit}", self.name),
                    Err(Refused::Nondeterminism(difference)) => panic!(
                        "{}: `{test}` is nondeterministic\n\n{}\n\n  one serial run  {}\n  another         {}\n",
                        self.name,
                        difference.headline(test),
                        difference.earlier.display(test),
                        difference.later.display(test),
                    ),
                }
            }
        }
    }

    /// One execution: its operations, by start.
    fn execute<S: Send + Sync + 'static>(
        &self,
        description: &Arc<Description<S>>,
        matrix: &str,
        orders: &str,
    ) -> Vec<::omnilink_lineup::Operation> {
        let trace = self.manifest.join("target/omnilink/scratch").join(self.name.replace("::", "-"));
        let made = match fs::remove_dir_all(&trace) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(trace.parent().unwrap_or(&trace)),
        };
        made.unwrap_or_else(|error| panic!("{}: {}: {error}", self.name, trace.display()));
        let (done, awaited) = channel();
        let (work, path) = (description.clone(), trace.clone());
        let (matrix, orders) = (matrix.to_owned(), orders.to_owned());
        let worker = thread::spawn(move || {
            let performed = work.perform(&path, &matrix, &orders).map_err(|error| error.to_string());
            // If the receiver is gone, the test has failed.
            let _ = done.send(performed);
        });
        match awaited.recv_timeout(PATIENCE) {
            Ok(performed) => performed.unwrap_or_else(|error| panic!("{}: {error}", self.name)),
            Err(RecvTimeoutError::Disconnected) => {
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            Err(RecvTimeoutError::Timeout) => panic!(
                "{}: a call has not returned after {PATIENCE:?}; the command `omnilink lineup` tests calls that block",
                self.name
            ),
        }
        let operations = ::omnilink_lineup::read_trace(&trace).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let _ = fs::remove_dir_all(&trace);
        operations
    }
}
