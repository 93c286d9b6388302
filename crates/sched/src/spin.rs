//! Who only waits: a thread that reads the same again and again, and changes nothing.
//!
//! Such a thread waits for another one to write, and would otherwise be chosen for ever: no policy but a random one ever
//! ends, and an exploration would unroll the loop without end. It is found by what it reads: the same value from the same
//! address at the same place in the code, several times, without anything in between that others can see. From then on it
//! is not chosen before somebody writes to one of the addresses that it read; or before nobody else can go on, because it
//! may have been no loop at all. An update that leaves the value as it was, and an attempt to lock that fails, are reads.
//!
//! What this costs: a thread that reads the same value [`OFTEN`] times for another reason is delayed. Random policies let
//! one that spins go on now and then all the same. An exploration does not, and says that it is not complete.

/// After so many times it is taken as waiting.
const OFTEN: u8 = 6;

/// So many different reads are remembered; a loop with more is not found.
const READS: usize = 16;

/// What a thread has read since it last did something that others can see.
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

    /// The thread has read something. True if it has done so too often.
    pub(crate) fn looked(&mut self, place: u64, address: u64, value: u64) -> bool {
        let known = self.reads[..self.count].iter_mut().find(|read| read.place == place && read.address == address);
        match known {
            Some(read) if read.value == value => {
                read.times = read.times.saturating_add(1);
                read.times >= OFTEN
            }
            Some(_) => {
                self.clear();
                self.looked(place, address, value)
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

    /// Whether it has read this here.
    pub(crate) fn knows(&self, place: u64, address: u64) -> bool {
        self.reads[..self.count].iter().any(|read| (read.place, read.address) == (place, address))
    }

    /// Whether it waits for what stands at this address.
    pub(crate) fn watches(&self, address: u64) -> bool {
        // Words overlap: what counts is the eight bytes.
        self.reads[..self.count].iter().any(|read| read.address / 8 == address / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_the_same_again_and_again_is_waiting() {
        let mut spin = Spin::new();
        let times = (1..).find(|_| spin.looked(1, 8, 0)).unwrap();
        assert_eq!(times, OFTEN);
        assert!(spin.watches(8) && !spin.watches(16));
    }

    #[test]
    fn another_value_is_news() {
        let mut spin = Spin::new();
        assert!((0..100).all(|value| !spin.looked(1, 8, value)));
    }

    #[test]
    fn a_loop_over_two_words_is_found() {
        let mut spin = Spin::new();
        let found = (0..100).find(|round| spin.looked(1, 8 + round % 2 * 8, 0)).unwrap();
        assert_eq!(found, 2 * u64::from(OFTEN) - 2);
        assert!(spin.watches(8) && spin.watches(16));
    }
}
