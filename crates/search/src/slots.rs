//! Sets of slots: which operations in flight a configuration has placed.
//!
//! Slots are small numbers that are reused as operations return, so one word is enough for nearly every history, and
//! every set operation is a few instructions. [`Wide`] serves histories with more than 64 operations in flight at
//! once.

use std::fmt::Debug;
use std::hash::Hash;

/// A set of small numbers. Equal sets have one representation.
pub(crate) trait Slots: Clone + Eq + Hash + Default + Debug {
    /// Numbers below this can be in the set.
    const CAPACITY: usize;

    fn contains(&self, slot: usize) -> bool;
    fn insert(&mut self, slot: usize);
    fn remove(&mut self, slot: usize);
    fn is_empty(&self) -> bool;
    fn is_subset(&self, of: &Self) -> bool;
    fn and(&self, other: &Self) -> Self;
    fn or(&self, other: &Self) -> Self;
    fn minus(&self, other: &Self) -> Self;
    fn iter(&self) -> impl Iterator<Item = usize>;

    fn with(&self, slot: usize) -> Self {
        let mut set = self.clone();
        set.insert(slot);
        set
    }
}

impl Slots for u64 {
    const CAPACITY: usize = 64;

    fn contains(&self, slot: usize) -> bool {
        self & (1 << slot) != 0
    }

    fn insert(&mut self, slot: usize) {
        *self |= 1 << slot;
    }

    fn remove(&mut self, slot: usize) {
        *self &= !(1 << slot);
    }

    fn is_empty(&self) -> bool {
        *self == 0
    }

    fn is_subset(&self, of: &u64) -> bool {
        self & !of == 0
    }

    fn and(&self, other: &u64) -> u64 {
        self & other
    }

    fn or(&self, other: &u64) -> u64 {
        self | other
    }

    fn minus(&self, other: &u64) -> u64 {
        self & !other
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let mut word = *self;
        std::iter::from_fn(move || {
            let slot = word.trailing_zeros() as usize;
            word &= word.wrapping_sub(1);
            (slot < <u64 as Slots>::CAPACITY).then_some(slot)
        })
    }
}

/// A set of numbers of any size: the first 128 are in one word, the rest in the words after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Wide {
    low: u128,
    high: Box<[u128]>, // Invariant: empty or its last word is not zero.
}

const WORD: usize = 128;

impl From<u64> for Wide {
    fn from(word: u64) -> Wide {
        Wide { low: word.into(), high: Box::default() }
    }
}

impl Slots for Wide {
    const CAPACITY: usize = usize::MAX;

    fn contains(&self, slot: usize) -> bool {
        self.word(slot / WORD) & bit(slot) != 0
    }

    fn insert(&mut self, slot: usize) {
        if slot < WORD {
            self.low |= bit(slot);
        } else {
            self.change_high(slot, |word| *word |= bit(slot));
        }
    }

    fn remove(&mut self, slot: usize) {
        if slot < WORD {
            self.low &= !bit(slot);
        } else {
            self.change_high(slot, |word| *word &= !bit(slot));
        }
    }

    fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    fn is_subset(&self, of: &Wide) -> bool {
        self.words().all(|(index, word)| word & !of.word(index) == 0)
    }

    fn and(&self, other: &Wide) -> Wide {
        self.combine(other, |a, b| a & b)
    }

    fn or(&self, other: &Wide) -> Wide {
        self.combine(other, |a, b| a | b)
    }

    fn minus(&self, other: &Wide) -> Wide {
        self.combine(other, |a, b| a & !b)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.words().flat_map(|(index, word)| ones(word).map(move |slot| index * WORD + slot))
    }
}

impl Wide {
    fn words(&self) -> impl Iterator<Item = (usize, u128)> {
        std::iter::once(self.low).chain(self.high.iter().copied()).enumerate()
    }

    fn word(&self, index: usize) -> u128 {
        if index == 0 { self.low } else { self.high.get(index - 1).copied().unwrap_or(0) }
    }

    fn combine(&self, other: &Wide, with: impl Fn(u128, u128) -> u128) -> Wide {
        let low = with(self.low, other.low);
        if self.high.is_empty() && other.high.is_empty() {
            return Wide { low, high: Box::default() };
        }
        let count = self.high.len().max(other.high.len());
        let high = (1..=count).map(|index| with(self.word(index), other.word(index))).collect();
        Wide { low, high: trimmed(high) }
    }

    fn change_high(&mut self, slot: usize, change: impl FnOnce(&mut u128)) {
        let mut high = std::mem::take(&mut self.high).into_vec();
        let index = slot / WORD - 1;
        high.resize(high.len().max(index + 1), 0);
        change(&mut high[index]);
        self.high = trimmed(high);
    }
}

fn ones(mut word: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (slot < WORD).then_some(slot)
    })
}

fn bit(slot: usize) -> u128 {
    1 << (slot % WORD)
}

fn trimmed(mut words: Vec<u128>) -> Box<[u128]> {
    while words.last() == Some(&0) {
        words.pop();
    }
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<S: Slots>(slots: &[usize]) -> S {
        slots.iter().fold(S::default(), |set, &slot| set.with(slot))
    }

    fn list(set: &impl Slots) -> Vec<usize> {
        set.iter().collect()
    }

    fn check<S: Slots>(last: usize) {
        let (a, b): (S, S) = (set(&[3, 0, last - 1, last]), set(&[last, 30]));
        assert_eq!(list(&a), [0, 3, last - 1, last]);
        assert_eq!(list(&a.and(&b)), [last]);
        assert_eq!(list(&a.or(&b)), [0, 3, 30, last - 1, last]);
        assert_eq!(list(&a.minus(&b)), [0, 3, last - 1]);
        assert_eq!(list(&b.minus(&a)), [30]);
        assert!(a.and(&b).is_subset(&a) && !a.is_subset(&b) && !set::<S>(&[30]).is_subset(&a));
        assert!(a.contains(last) && !a.contains(last - 2));
        let mut c: S = set(&[5, last]);
        c.remove(last);
        assert_eq!(c, set(&[5]));
        c.remove(5);
        c.remove(last - 1);
        assert_eq!(c, S::default());
        assert!(c.is_empty() && !a.is_empty());
        assert_eq!(a.minus(&set(&[last, last - 1])), set(&[0, 3]));
    }

    #[test]
    fn narrow_and_wide_sets_behave_as_sets() {
        check::<u64>(63);
        check::<Wide>(63);
        check::<Wide>(128);
        check::<Wide>(700);
    }

    #[test]
    fn narrow_sets_become_wide_ones() {
        assert_eq!(list(&Wide::from(set::<u64>(&[0, 63]))), [0, 63]);
        assert!(!set::<Wide>(&[1]).contains(5000));
    }
}
