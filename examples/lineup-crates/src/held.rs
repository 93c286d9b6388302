//! Guards that outlive a call: what a thread locks in one call, it unlocks in a later one.

use std::sync::{Mutex, MutexGuard};
use std::thread::{self, ThreadId};

/// The guards that threads hold. A thread sees its own ones only, so this adds nothing that calls could race for.
pub struct Held<G>(Mutex<Vec<(ThreadId, G)>>);

impl<G> Default for Held<G> {
    fn default() -> Held<G> {
        Held(Mutex::default())
    }
}

impl<G> Held<G> {
    pub fn put(&self, guard: G) {
        self.guards().push((thread::current().id(), guard));
    }

    /// Stores the guard of an attempt, and returns whether there is one.
    pub fn put_some(&self, guard: Option<G>) -> bool {
        guard.map(|guard| self.put(guard)).is_some()
    }

    /// The guard that this thread took last. It is the caller who drops it, not under the lock of this list.
    pub fn take(&self) -> Option<G> {
        let mut guards = self.guards();
        let last = guards.iter().rposition(|(thread, _)| *thread == thread::current().id())?;
        Some(guards.remove(last).1)
    }

    fn guards(&self) -> MutexGuard<'_, Vec<(ThreadId, G)>> {
        self.0.lock().expect("no thread panics")
    }
}
