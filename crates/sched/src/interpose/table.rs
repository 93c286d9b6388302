//! State of the program's objects, by address.
//!
//! Only objects in use are in a table, so there are few, and a linear search is fast.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// Whether the thread that has the baton is accessing a table.
static IS_IN_USE: AtomicBool = AtomicBool::new(false);

/// See [`IS_IN_USE`]. For signal handlers, which may interrupt an access.
pub(crate) fn is_in_use() -> bool {
    IS_IN_USE.load(Ordering::Relaxed)
}

/// A table of values by address.
pub(crate) struct Table<T>(UnsafeCell<Vec<(u64, T)>>);

// SAFETY: only the thread that has the baton accesses it.
unsafe impl<T> Sync for Table<T> {}

impl<T> Table<T> {
    pub(crate) const fn new() -> Table<T> {
        Table(UnsafeCell::new(Vec::new()))
    }

    /// Accesses all entries. Must not be called again before it returns.
    pub(crate) fn with<R>(&self, what: impl FnOnce(&mut Vec<(u64, T)>) -> R) -> R {
        let was = IS_IN_USE.swap(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // SAFETY: one thread has the baton, and callers only read and change entries. A signal handler that interrupts
        // this checks `is_in_use` first.
        let result = what(unsafe { &mut *self.0.get() });
        compiler_fence(Ordering::SeqCst);
        IS_IN_USE.store(was, Ordering::Relaxed);
        result
    }

    /// A copy of an object's state.
    pub(crate) fn get(&self, address: u64) -> Option<T>
    where
        T: Clone,
    {
        self.with(|entries| entries.iter().find(|(known, _)| *known == address).map(|(_, value)| value.clone()))
    }

    /// Sets an object's state; `None` removes it.
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

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        self.with(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_known_until_they_are_forgotten() {
        let table = Table::new();
        table.set(8, Some("lock"));
        table.set(16, Some("semaphore"));
        table.set(8, Some("condition"));
        assert_eq!([8, 16, 24].map(|address| table.get(address)), [Some("condition"), Some("semaphore"), None]);
        table.set(8, None);
        table.set(24, None);
        assert_eq!([8, 16, 24].map(|address| table.get(address)), [None, Some("semaphore"), None]);
        table.clear();
        assert_eq!(table.get(16), None);
        // A handler sees that one is in use. Not a separate test, because it would see the tables of others.
        let (outer, inner) = (Table::<()>::new(), Table::<()>::new());
        let seen = outer.with(|_| [inner.with(|_| is_in_use()), is_in_use()]);
        assert_eq!((seen, is_in_use()), ([true, true], false));
    }
}
