//! Evaluation under limits: one expression may take longer than everything else.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use history::Stop;
use tla::reach::Limit;

use crate::Limits;
use crate::world::Stopper;

/// Runs while somebody looks at the limits.
pub fn guarded<R>(limits: &dyn Limits, stop: &Stopper, run: impl FnOnce() -> R) -> R {
    const PAUSE: Duration = Duration::from_millis(10);
    let (ended, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while end.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if let Some(reason) = limits.exceeded() {
                    stop.stop(limit(reason));
                    return;
                }
            }
        });
        let result = run();
        drop(ended);
        result
    })
}

/// The same reason in the words of `tla`.
pub fn limit(stop: Stop) -> Limit {
    match stop {
        Stop::Time => Limit::Time,
        Stop::Memory => Limit::Memory,
        _ => Limit::Interrupt,
    }
}
