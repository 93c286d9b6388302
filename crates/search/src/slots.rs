//! Sets of slots: which of the operations in flight a configuration has placed.
//!
//! Slots are small numbers that are used again as operations return, so the first 128 lie in one word and the rest, which
//! few histories need, behind it. Equal sets have one representation: the words behind end with a set bit.

/// A set of small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SlotSet {
    low: u128,
    high: Box<[u128]>, // Invariant: empty or its last word is not zero.
}

const WORD: usize = 128;

impl SlotSet {
    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.word(slot / WORD) & bit(slot) != 0
    }

    pub(crate) fn insert(&mut self, slot: usize) {
        if slot < WORD {
            self.low |= bit(slot);
        } else {
            self.change_high(slot, |word| *word |= bit(slot));
        }
    }

    pub(crate) fn remove(&mut self, slot: usize) {
        if slot < WORD {
            self.low &= !bit(slot);
        } else {
            self.change_high(slot, |word| *word &= !bit(slot));
        }
    }

    pub(crate) fn with(&self, slot: usize) -> SlotSet {
        let mut set = self.clone();
        set.insert(slot);
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    pub(crate) fn is_subset(&self, of: &SlotSet) -> bool {
        self.words().all(|(index, word)| word & !of.word(index) == 0)
    }

    pub(crate) fn and(&self, other: &SlotSet) -> SlotSet {
        self.combine(other, |a, b| a & b)
    }

    pub(crate) fn or(&self, other: &SlotSet) -> SlotSet {
        self.combine(other, |a, b| a | b)
    }

    pub(crate) fn minus(&self, other: &SlotSet) -> SlotSet {
        self.combine(other, |a, b| a & !b)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words().flat_map(|(index, mut word)| {
            std::iter::from_fn(move || {
                let slot = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                (slot < WORD).then_some(index * WORD + slot)
            })
        })
    }

    fn words(&self) -> impl Iterator<Item = (usize, u128)> {
        std::iter::once(self.low).chain(self.high.iter().copied()).enumerate()
    }

    fn word(&self, index: usize) -> u128 {
        if index == 0 { self.low } else { self.high.get(index - 1).copied().unwrap_or(0) }
    }

    fn combine(&self, other: &SlotSet, with: impl Fn(u128, u128) -> u128) -> SlotSet {
        let low = with(self.low, other.low);
        if self.high.is_empty() && other.high.is_empty() {
            return SlotSet { low, high: Box::default() };
        }
        let count = self.high.len().max(other.high.len());
        let high = (1..=count).map(|index| with(self.word(index), other.word(index))).collect();
        SlotSet { low, high: trimmed(high) }
    }

    fn change_high(&mut self, slot: usize, change: impl FnOnce(&mut u128)) {
        let mut high = std::mem::take(&mut self.high).into_vec();
        let index = slot / WORD - 1;
        high.resize(high.len().max(index + 1), 0);
        change(&mut high[index]);
        self.high = trimmed(high);
    }
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

    fn set(slots: &[usize]) -> SlotSet {
        let mut set = SlotSet::default();
        slots.iter().for_each(|&slot| set.insert(slot));
        set
    }

    fn list(set: &SlotSet) -> Vec<usize> {
        set.iter().collect()
    }

    #[test]
    fn sets_of_any_size_behave_as_sets() {
        let (a, b) = (set(&[3, 0, 127, 128, 700]), set(&[127, 700, 300]));
        assert_eq!(list(&a), [0, 3, 127, 128, 700]);
        assert_eq!(list(&a.and(&b)), [127, 700]);
        assert_eq!(list(&a.or(&b)), [0, 3, 127, 128, 300, 700]);
        assert_eq!(list(&a.minus(&b)), [0, 3, 128]);
        assert_eq!(list(&b.minus(&a)), [300]);
        assert!(a.and(&b).is_subset(&a) && !a.is_subset(&b) && !set(&[300]).is_subset(&a));
        assert!(a.contains(700) && !a.contains(701) && !a.contains(5000));
        assert_eq!(list(&a.with(1)), [0, 1, 3, 127, 128, 700]);
    }

    #[test]
    fn equal_sets_have_one_representation() {
        let mut a = set(&[5, 900]);
        a.remove(900);
        assert_eq!(a, set(&[5]));
        a.remove(5);
        a.remove(5000);
        assert_eq!(a, SlotSet::default());
        assert!(a.is_empty() && !set(&[128]).is_empty());
        assert_eq!(set(&[1, 400]).minus(&set(&[400])), set(&[1]));
    }
}
