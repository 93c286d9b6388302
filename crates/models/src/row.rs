//! The one container that states are made of: a short row of plain data.
//!
//! Up to `N` elements stand in the state itself, so that copying a state is copying memory. Longer rows live on the heap.
//! A map is a row of pairs whose keys strictly increase, so equal maps are equal rows.

use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use crate::Atom;

/// A row of plain data, of which up to `N` stand in place.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Row<T: Copy, const N: usize>(SmallVec<[T; N]>);

impl<T: Copy, const N: usize> Default for Row<T, N> {
    fn default() -> Row<T, N> {
        Row(SmallVec::new())
    }
}

impl<T: Copy, const N: usize> Clone for Row<T, N> {
    fn clone(&self) -> Row<T, N> {
        Row(SmallVec::from_slice(&self.0)) // Copies memory, which `SmallVec::clone` does not.
    }
}

impl<T: Copy, const N: usize> Deref for Row<T, N> {
    type Target = SmallVec<[T; N]>;

    fn deref(&self) -> &SmallVec<[T; N]> {
        &self.0
    }
}

impl<T: Copy, const N: usize> DerefMut for Row<T, N> {
    fn deref_mut(&mut self) -> &mut SmallVec<[T; N]> {
        &mut self.0
    }
}

impl<T: Copy, const N: usize> FromIterator<T> for Row<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Row<T, N> {
        Row(elements.into_iter().collect())
    }
}

/// The row as a map.
impl<V: Copy, const N: usize> Row<(Atom, V), N> {
    /// What stands under this key.
    pub fn look_up(&self, key: Atom) -> Option<V> {
        self.0.iter().find(|pair| pair.0 == key).map(|pair| pair.1)
    }

    /// Puts a value under this key.
    pub fn put(&mut self, key: Atom, value: V) {
        let place = self.place(key);
        match self.0.get_mut(place) {
            Some(pair) if pair.0 == key => pair.1 = value,
            _ => self.0.insert(place, (key, value)),
        }
    }

    /// Takes away what stands under this key.
    pub fn erase(&mut self, key: Atom) {
        let place = self.place(key);
        if self.0.get(place).is_some_and(|pair| pair.0 == key) {
            self.0.remove(place);
        }
    }

    fn place(&self, key: Atom) -> usize {
        self.0.partition_point(|pair| pair.0 < key)
    }
}
