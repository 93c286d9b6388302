//! Which threads only wait: those that reread the same values and change nothing.
//!
//! A spinning thread waits for another one to write, and would otherwise be chosen for ever: only random policies would
//! terminate, and an exploration would unroll the loop without end. It is recognized by its reads: the same value from
//! the same address at the same code address, several times, with nothing visible to others in between. From then on it
//! is not chosen until another thread writes to one of the addresses it read, or until no other thread is enabled,
//! because it may not have been a loop. An update that leaves the value unchanged, and a failed attempt to lock, count
//! as reads.
//!
//! Cost: a thread that reads the same value [`OFTEN`] times for another reason is delayed. Random policies occasionally
//! run a spinning thread anyway. An exploration does not, and reports that it is not complete.

/// A thread counts as spinning after this many equal reads.
const OFTEN: u8 = 6;

/// At most this many different reads are remembered; a loop with more is not found.
const READS: usize = 16;

/// The reads of a thread since its last action visible to others.
#[derive(Debug)]
pub(crate) struct Spin {
    reads: [Read; READS],
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Read {
    place: u64,
    address: u64,
    value: u64,
    times: u8,
}

impl Spin {
    pub(crate) const fn new() -> Spin {
        Spin { reads: [Read { place: 0, address: 0, value: 0, times: 0 }; READS], count: 0 }
    }

    /// Forgets everything.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Records a read. Returns whether it occurred too often.
    pub(crate) fn record_read(&mut self, place: u64, address: u64, value: u64) -> bool {
        let known = self.reads[..self.count].iter_mut().find(|read| read.place == place && read.address == address);
        match known {
            Some(read) if read.value == value => {
                read.times = read.times.saturating_add(1);
                read.times >= OFTEN
            }
            Some(_) => {
                self.clear();
                self.record_read(place, address, value)
            }
            None if self.count == READS => {
                self.clear();
                false
            }
            None => {
                self.reads[self.count] = Read { place, address, value, times: 1 };
                self.count += 1;
                false
            }
        }
    }

    /// Whether it has read this address at this code address.
    pub(crate) fn knows(&self, place: u64, address: u64) -> bool {
        self.reads[..self.count].iter().any(|read| (read.place, read.address) == (place, address))
    }

    /// Whether it waits for a write to this address.
    pub(crate) fn watches(&self, address: u64) -> bool {
        // Words overlap, so addresses are compared by their eight bytes.
        self.reads[..self.count].iter().any(|read| read.address / 8 == address / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rereading_the_same_value_is_spinning() {
        let mut spin = Spin::new();
        let times = (1..).find(|_| spin.record_read(1, 8, 0)).unwrap();
        assert_eq!(times, OFTEN);
        assert!(spin.watches(8) && !spin.watches(16));
    }

    #[test]
    fn a_new_value_is_not_spinning() {
        let mut spin = Spin::new();
        assert!((0..100).all(|value| !spin.record_read(1, 8, value)));
    }

    #[test]
    fn a_loop_over_two_words_is_found() {
        let mut spin = Spin::new();
        let found = (0..100).find(|round| spin.record_read(1, 8 + round % 2 * 8, 0)).unwrap();
        assert_eq!(found, 2 * u64::from(OFTEN) - 2);
        assert!(spin.watches(8) && spin.watches(16));
    }
}
