//! What is known about the program's objects, by address.
//!
//! Only objects that are in use are in a table, so there are few, and looking at all of them is fast.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// Whether the thread that has the baton looks at a table or changes it.
static IS_IN_USE: AtomicBool = AtomicBool::new(false);

/// See [`IS_IN_USE`]. For signal handlers, which may interrupt that.
pub(crate) fn is_in_use() -> bool {
    IS_IN_USE.load(Ordering::Relaxed)
}

/// A table of values by address.
pub(crate) struct Table<T>(UnsafeCell<Vec<(u64, T)>>);

// SAFETY: only the thread that has the baton touches it.
unsafe impl<T> Sync for Table<T> {}

impl<T> Table<T> {
    pub(crate) const fn new() -> Table<T> {
        Table(UnsafeCell::new(Vec::new()))
    }

    /// Looks at all entries, or changes them. Must not be called again before it returns.
    pub(crate) fn with<R>(&self, what: impl FnOnce(&mut Vec<(u64, T)>) -> R) -> R {
        let was = IS_IN_USE.swap(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: one thread has the baton, and callers do nothing but look and change. A signal handler that interrupts
        // this asks `is_in_use` first.
        let result = what(unsafe { &mut *self.0.get() });
        compiler_fence(Ordering::SeqCst);
        IS_IN_USE.store(was, Ordering::Relaxed);
        result
    }

    /// A copy of what is known about an object.
    pub(crate) fn get(&self, address: u64) -> Option<T>
    where
        T: Clone,
    {
        self.with(|entries| entries.iter().find(|(known, _)| *known == address).map(|(_, value)| value.clone()))
    }

    /// Sets what is known about an object; nothing, to forget it.
    pub(crate) fn set(&self, address: u64, value: Option<T>) {
        self.with(|entries| {
            let known = entries.iter().position(|(known, _)| *known == address);
            match (known, value) {
                (Some(place), Some(value)) => entries[place].1 = value,
                (Some(place), None) => drop(entries.swap_remove(place)),
                (None, Some(value)) => entries.push((address, value)),
                (None, None) => {}
            }
        });
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.with(Vec::clear);
    }
}
