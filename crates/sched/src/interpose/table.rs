//! What is known about the program's objects, by address.
//!
//! Only objects that are in use are in a table, so there are few, and looking at all of them is fast.

use std::cell::UnsafeCell;

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
        // SAFETY: one thread has the baton, and callers do nothing but look and change.
        what(unsafe { &mut *self.0.get() })
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
