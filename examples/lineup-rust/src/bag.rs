//! Bags of numbers: `take` removes one of them, or returns nothing if the bag is empty.

use std::collections::{BTreeMap, HashMap};

use omnilink_record::object;

/// Takes any element: the first one in a hash map, whose order differs for each bag. This is by design, but it is not
/// deterministic: the same calls in the same order give different answers.
#[derive(Default)]
pub struct Bag {
    counts: HashMap<i64, usize>,
}

#[object(lock = std::sync::Mutex)]
impl Bag {
    #[calls(10, 20)]
    pub fn add(&mut self, item: i64) {
        *self.counts.entry(item).or_default() += 1;
    }

    pub fn take(&mut self) -> Option<i64> {
        let item = *self.counts.keys().next()?;
        let count = self.counts.get_mut(&item)?;
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&item);
        }
        Some(item)
    }
}

/// Takes the smallest element.
#[derive(Default)]
pub struct SortedBag {
    counts: BTreeMap<i64, usize>,
}

#[object(lock = std::sync::Mutex)]
impl SortedBag {
    #[calls(10, 20)]
    pub fn add(&mut self, item: i64) {
        *self.counts.entry(item).or_default() += 1;
    }

    pub fn take(&mut self) -> Option<i64> {
        let mut entry = self.counts.first_entry()?;
        let item = *entry.key();
        *entry.get_mut() -= 1;
        if *entry.get() == 0 {
            entry.remove();
        }
        Some(item)
    }
}
