//! The container that states are made of: a short row of plain data.
//!
//! Up to `N` elements are stored inline, so that copying a state is copying memory. Longer rows live on the heap. A
//! map is a row of pairs whose keys strictly increase, so equal maps are equal rows.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

use crate::Atom;

/// A row of plain data; up to `N` elements are stored inline.
#[derive(Clone, Debug)]
pub struct Row<T: Copy + Default, const N: usize>(Cells<T, N>);

#[derive(Clone, Debug)]
enum Cells<T: Copy + Default, const N: usize> {
    Short { len: usize, cells: [T; N] }, // Invariant: len <= N.
    Long(Vec<T>),
}

impl<T: Copy + Default, const N: usize> Default for Row<T, N> {
    fn default() -> Row<T, N> {
        Row(Cells::Short { len: 0, cells: [T::default(); N] })
    }
}

impl<T: Copy + Default, const N: usize> Deref for Row<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Cells::Short { len, cells } => &cells[..*len],
            Cells::Long(cells) => cells,
        }
    }
}

impl<T: Copy + Default + PartialEq, const N: usize> PartialEq for Row<T, N> {
    fn eq(&self, other: &Row<T, N>) -> bool {
        **self == **other
    }
}

impl<T: Copy + Default + Eq, const N: usize> Eq for Row<T, N> {}

impl<T: Copy + Default + Hash, const N: usize> Hash for Row<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Copy + Default, const N: usize> Row<T, N> {
    /// Adds an element at the end.
    pub fn push(&mut self, element: T) {
        self.insert(self.len(), element);
    }

    /// Inserts an element at this position, and shifts those that follow.
    pub fn insert(&mut self, place: usize, element: T) {
        match &mut self.0 {
            Cells::Short { len, cells } if *len < N => {
                cells.copy_within(place..*len, place + 1);
                cells[place] = element;
                *len += 1;
            }
            Cells::Short { len, cells } => {
                let mut long = Vec::with_capacity(2 * N);
                long.extend_from_slice(&cells[..*len]);
                long.insert(place, element);
                self.0 = Cells::Long(long);
            }
            Cells::Long(cells) => cells.insert(place, element),
        }
    }

    /// Removes the element at this position, and shifts those that follow.
    pub fn remove(&mut self, place: usize) {
        match &mut self.0 {
            Cells::Short { len, cells } => {
                cells.copy_within(place + 1..*len, place);
                *len -= 1;
            }
            Cells::Long(cells) => drop(cells.remove(place)),
        }
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        *self = Row::default();
    }

    fn cells_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Cells::Short { len, cells } => &mut cells[..*len],
            Cells::Long(cells) => cells,
        }
    }
}

/// The row as a map.
impl<V: Copy + Default, const N: usize> Row<(Atom, V), N> {
    /// The value of this key.
    pub fn look_up(&self, key: Atom) -> Option<V> {
        self.iter().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// Sets the value of this key.
    pub fn put(&mut self, key: Atom, value: V) {
        let place = self.place(key);
        match self.cells_mut().get_mut(place) {
            Some(pair) if pair.0 == key => pair.1 = value,
            _ => self.insert(place, (key, value)),
        }
    }

    /// Removes this key.
    pub fn erase(&mut self, key: Atom) {
        let place = self.place(key);
        if self.get(place).is_some_and(|pair| pair.0 == key) {
            self.remove(place);
        }
    }

    /// The first position whose key is not smaller.
    fn place(&self, key: Atom) -> usize {
        if self.len() > 2 * N {
            return self.partition_point(|pair| pair.0 < key);
        }
        self.iter().take_while(|pair| pair.0 < key).count() // For a short row, this is faster than binary search.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_behave_like_short_ones() {
        let (mut short, mut long) = (Row::<(Atom, u64), 50>::default(), Row::<(Atom, u64), 2>::default());
        let mut random = 7_u64;
        for _ in 0..500 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let key = Atom::int((random >> 60) as i64).unwrap();
            if random >> 40 & 1 == 0 {
                short.put(key, random);
                long.put(key, random);
            } else {
                short.erase(key);
                long.erase(key);
            }
            assert_eq!(*short, *long);
            assert!(short.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert_eq!(short.look_up(key), long.look_up(key));
        }
    }
}
