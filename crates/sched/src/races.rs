//! Data races: conflicting accesses that nothing orders.
//!
//! Unsynchronized accesses are not steps by default, so no preemption occurs between two of them, and a program that
//! forgot a lock looks correct. Whether such accesses are ordered is known without preemption: `memory` has a vector
//! clock for each thread. So the last accesses to each eight bytes are stored, each with the time of its thread. An
//! access races with an earlier one of another thread if they share bytes, one of them writes, one of them is not
//! atomic, and the earlier one's time is not in the clock of the later one's thread.
//!
//! For each eight bytes the last [`KEPT`] accesses are stored, as in ThreadSanitizer, so a race may be missed; a
//! reported race is a race of the execution, if all synchronizing code is instrumented.
//!
//! Freeing memory is a write to all of it. What follows is a use after free, whatever orders it, until the memory is
//! allocated again: then everything about it is forgotten, because allocators pass it between threads unobserved.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// At most this many accesses are stored for each eight bytes.
const KEPT: usize = 4;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) thread: u8,
    pub(crate) writes: bool,
    pub(crate) is_atomic: bool,
    /// Whether it returns the memory to the allocator, which also writes.
    pub(crate) frees: bool,
    /// Its return address.
    pub(crate) place: u64,
    /// When it happens, by its thread's clock.
    pub(crate) time: u32,
    /// Its number among all accesses of the execution, from 1.
    pub(crate) number: u64,
}

impl Access {
    /// An unsynchronized write at this place. Its thread, time and number are not known yet.
    pub(crate) fn writing(place: u64) -> Access {
        Access { thread: 0, writes: true, is_atomic: false, frees: false, place, time: 0, number: 0 }
    }

    /// Memory is freed at this place.
    pub(crate) fn freeing(place: u64) -> Access {
        Access { frees: true, ..Access::writing(place) }
    }

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
    /// The memory that is freed, by its start: its end, and the access that freed it.
    freed: BTreeMap<u64, (u64, Access)>,
    /// The number of accesses so far.
    accesses: u64,
}

impl Races {
    pub(crate) const fn new() -> Races {
        Races { cells: HashMap::with_hasher(BuildHasherDefault::new()), freed: BTreeMap::new(), accesses: 0 }
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

    /// Records an access. Returns an earlier one that it races with, or that freed the memory: `is_ordered` tells whether an
    /// earlier access happened before this one.
    pub(crate) fn access(
        &mut self,
        access: Access,
        address: u64,
        size: usize,
        is_ordered: impl Fn(&Access) -> bool,
    ) -> Option<Access> {
        let mut found = self.free_of(address, size as u64);
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

    /// Records that memory is freed. Returns the access that freed it before, or one that this races with.
    pub(crate) fn free(
        &mut self,
        access: Access,
        address: u64,
        size: u64,
        is_ordered: impl Fn(&Access) -> bool,
    ) -> Option<Access> {
        let earlier = self.free_of(address, 1).or_else(|| {
            let races = |(other, _): &&(Access, u8)| other.conflicts(&access) && !is_ordered(other);
            let end = address.saturating_add(size).div_ceil(8);
            let mut cells = (address / 8..end).filter_map(|granule| self.cells.get(&granule));
            cells.find_map(|cell| cell.iter().find(races).map(|(other, _)| *other))
        });
        self.forget(address, size);
        self.freed.insert(address, (address.saturating_add(size), access));
        earlier
    }

    /// Whether an object that began here is freed.
    pub(crate) fn is_freed(&self, address: u64) -> bool {
        self.free_of(address, 1).is_some()
    }

    /// The access that freed some of this memory.
    fn free_of(&self, address: u64, size: u64) -> Option<Access> {
        let (_, (end, access)) = self.freed.range(..address.saturating_add(size.max(1))).next_back()?;
        (*end > address).then_some(*access)
    }

    /// This memory is a new object.
    pub(crate) fn forget(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size).div_ceil(8);
        if (size / 8) as usize > self.cells.len() {
            self.cells.retain(|granule, _| !(address / 8..end).contains(granule));
        } else {
            (address / 8..end).for_each(|granule| drop(self.cells.remove(&granule)));
        }
        let end = address.saturating_add(size);
        while let Some((&start, _)) = self.freed.range(..end).next_back().filter(|(_, (until, _))| *until > address) {
            self.freed.remove(&start);
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

    fn access(thread: u8, time: u32, frees: bool) -> Access {
        Access { thread, writes: true, is_atomic: false, frees, place: 0, time, number: 0 }
    }

    /// Whether the last of these accesses races: thread, address, size, whether it writes, whether it is atomic. No
    /// thread's clock includes another's.
    fn check(accesses: &[(u8, u64, usize, bool, bool)]) -> bool {
        let mut races = Races::new();
        let mut found = None;
        for (time, &(thread, address, size, writes, is_atomic)) in (1..).zip(accesses) {
            let access = Access { thread, writes, is_atomic, frees: false, place: 0, time, number: 0 };
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
        let access = |thread, time| access(thread, time, false);
        assert_eq!(races.access(access(0, 5), 8, 8, |_| false), None);
        assert_eq!(races.access(access(1, 1), 8, 8, |known| known.thread == 0 && known.time <= 5), None);
        assert_eq!(races.access(access(0, 6), 8, 8, |_| false), Some(access(1, 1)));
    }

    #[test]
    fn new_memory_has_no_past() {
        for size in [16, 1 << 20] {
            let mut races = Races::new();
            races.access(access(0, 1, false), 4096, 16, |_| false);
            races.forget(4096, size);
            assert_eq!(races.access(access(1, 1, false), 4096, 16, |_| false), None);
            races.free(access(1, 2, true), 4096, 16, |_| true);
            races.forget(4096, size);
            assert_eq!(races.access(access(0, 3, false), 4096, 16, |_| true), None);
        }
    }

    #[test]
    fn freed_memory_is_not_accessed() {
        let free = access(0, 2, true);
        let freed = |is_ordered: bool| {
            let mut races = Races::new();
            let earlier = access(1, 1, false);
            races.access(earlier, 4100, 4, |_| is_ordered);
            assert_eq!(races.free(free, 4096, 16, |_| is_ordered), (!is_ordered).then_some(earlier));
            races
        };
        // Whatever orders it.
        assert_eq!(freed(true).access(access(1, 3, false), 4104, 8, |_| true), Some(free));
        assert_eq!(freed(true).access(access(0, 3, false), 4092, 8, |_| true), Some(free));
        assert_eq!(freed(true).free(access(1, 3, true), 4096, 16, |_| true), Some(free));
        // Beside it.
        assert_eq!(freed(true).access(access(1, 3, false), 4112, 8, |_| false), None);
        assert_eq!(freed(false).access(access(1, 3, false), 4088, 8, |_| false), None);
    }
}
