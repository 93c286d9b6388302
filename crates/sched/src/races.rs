//! Data races: conflicting accesses that nothing orders.
//!
//! Unsynchronized accesses are not steps by default, so no preemption occurs between two of them, and a program that
//! forgot a lock looks correct. Whether such accesses are ordered is known without preemption: `memory` has a vector
//! clock for each thread. So the last accesses to each eight bytes are stored, each with the time of its thread. An
//! access races with an earlier one of another thread if they share bytes, one of them writes, one of them is not
//! atomic, and the earlier one's time is not in the clock of the later one's thread.
//!
//! For each eight bytes the last [`KEPT`] accesses are stored, as in ThreadSanitizer, so a race may be missed; a
//! reported race is a race of the execution, if all synchronizing code is instrumented. Freed memory is forgotten,
//! because allocators pass it between threads unobserved.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// At most this many accesses are stored for each eight bytes.
const KEPT: usize = 4;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) thread: u8,
    pub(crate) writes: bool,
    pub(crate) is_atomic: bool,
    /// Its return address.
    pub(crate) place: u64,
    /// When it happens, by its thread's clock.
    pub(crate) time: u32,
    /// Its number among all accesses of the execution, from 1.
    pub(crate) number: u64,
}

impl Access {
    fn conflicts(&self, other: &Access) -> bool {
        self.thread != other.thread && (self.writes || other.writes) && !(self.is_atomic && other.is_atomic)
    }
}

/// The last accesses to some eight bytes, in order. The mask selects the bytes.
type Cell = Vec<(Access, u8)>;

/// The last accesses to all memory.
#[derive(Debug)]
pub(crate) struct Races {
    /// By address divided by eight.
    cells: HashMap<u64, Cell, BuildHasherDefault<Mix>>,
    /// The number of accesses so far.
    accesses: u64,
}

impl Races {
    pub(crate) const fn new() -> Races {
        Races { cells: HashMap::with_hasher(BuildHasherDefault::new()), accesses: 0 }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Races::new();
    }

    /// Counts an access, and returns its number.
    pub(crate) fn count(&mut self) -> u64 {
        self.accesses += 1;
        self.accesses
    }

    /// Records an access. Returns an earlier one that it races with: `is_ordered` tells whether an earlier access happened
    /// before this one, or need not.
    pub(crate) fn access(
        &mut self,
        access: Access,
        address: u64,
        size: usize,
        is_ordered: impl Fn(&Access) -> bool,
    ) -> Option<Access> {
        let mut found = None;
        for (granule, mask) in granules(address, size as u64) {
            let cell = self.cells.entry(granule).or_default();
            let races =
                |(other, theirs): &&(Access, u8)| theirs & mask != 0 && other.conflicts(&access) && !is_ordered(other);
            found = found.or_else(|| cell.iter().find(races).map(|(other, _)| *other));
            // An older access of this thread to these bytes that is not stronger is redundant.
            let is_covered = |(other, theirs): &(Access, u8)| {
                other.thread == access.thread
                    && theirs & !mask == 0
                    && (access.writes || !other.writes)
                    && (!access.is_atomic || other.is_atomic)
            };
            cell.retain(|known| !is_covered(known));
            if cell.len() == KEPT {
                cell.remove(0);
            }
            cell.push((access, mask));
        }
        found
    }

    /// This memory was freed.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size).div_ceil(8);
        if (size / 8) as usize > self.cells.len() {
            self.cells.retain(|granule, _| !(address / 8..end).contains(granule));
        } else {
            (address / 8..end).for_each(|granule| drop(self.cells.remove(&granule)));
        }
    }
}

/// The granules of eight bytes that a range touches, with a mask of the bytes.
fn granules(address: u64, size: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = address.saturating_add(size.max(1));
    (address / 8..end.div_ceil(8)).map(move |granule| {
        let byte = |byte: u64| (address..end).contains(&(granule * 8 + byte));
        (granule, (0..8).filter(|&number| byte(number)).fold(0, |mask, number| mask | 1 << number))
    })
}

/// A deterministic hash: the standard one would use the program's random numbers.
#[derive(Debug, Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the last of these accesses races: thread, address, size, whether it writes, whether it is atomic. No
    /// thread's clock includes another's.
    fn check(accesses: &[(u8, u64, usize, bool, bool)]) -> bool {
        let mut races = Races::new();
        let mut found = None;
        for (time, &(thread, address, size, writes, is_atomic)) in (1..).zip(accesses) {
            let access = Access { thread, writes, is_atomic, place: 0, time, number: 0 };
            found = races.access(access, address, size, |_| false);
        }
        found.is_some()
    }

    #[test]
    fn conflicting_accesses_that_nothing_orders_race() {
        assert!(check(&[(0, 8, 4, true, false), (1, 8, 4, false, false)]));
        assert!(check(&[(0, 8, 4, false, false), (1, 8, 4, true, false)]));
        assert!(check(&[(0, 8, 4, true, true), (1, 8, 4, false, false)]));
        assert!(check(&[(0, 6, 4, true, false), (1, 8, 1, false, false)]));
    }

    #[test]
    fn other_accesses_do_not() {
        assert!(!check(&[(0, 8, 4, false, false), (1, 8, 4, false, false)]));
        assert!(!check(&[(0, 8, 4, true, true), (1, 8, 4, true, true)]));
        assert!(!check(&[(0, 8, 4, true, false), (1, 12, 4, true, false)]));
        assert!(!check(&[(0, 8, 4, true, false), (0, 8, 4, true, false)]));
    }

    #[test]
    fn an_access_that_is_known_is_ordered() {
        let mut races = Races::new();
        let access = |thread, time| Access { thread, writes: true, is_atomic: false, place: 0, time, number: 0 };
        assert_eq!(races.access(access(0, 5), 8, 8, |_| false), None);
        assert_eq!(races.access(access(1, 1), 8, 8, |known| known.thread == 0 && known.time <= 5), None);
        assert_eq!(races.access(access(0, 6), 8, 8, |_| false), Some(access(1, 1)));
    }

    #[test]
    fn freed_memory_is_forgotten() {
        for size in [16, 1 << 20] {
            let mut races = Races::new();
            let access = |thread| Access { thread, writes: true, is_atomic: false, place: 0, time: 1, number: 0 };
            races.access(access(0), 4096, 16, |_| false);
            races.forget(4096, size);
            assert_eq!(races.access(access(1), 4096, 16, |_| false), None);
        }
    }
}
