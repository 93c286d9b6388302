//! Operations that have returned and whose place in the order is not settled.
//!
//! Operations are settled roughly in the order of their returns, so the numbers of the kept ones are close together:
//! the number modulo the size of the ring is the place. If a place is taken, the ring doubles until none is, so its
//! size is at most about twice the distance between the first and the last kept operation.

use omnilink_history::{Op, OpId};

pub(crate) struct Ring<P> {
    places: Vec<Option<Op<P>>>, // Invariant: the length is a power of two; an operation is at its number modulo that.
}

impl<P> Ring<P> {
    pub(crate) fn new() -> Ring<P> {
        // A monitor makes one for a few operations of each key.
        Ring { places: vec_of_none(16) }
    }

    pub(crate) fn insert(&mut self, op: Op<P>) {
        let mut place = self.place(op.id);
        while self.places[place].is_some() {
            let size = 2 * self.places.len();
            for kept in std::mem::replace(&mut self.places, vec_of_none(size)).into_iter().flatten() {
                let place = self.place(kept.id);
                self.places[place] = Some(kept);
            }
            place = self.place(op.id);
        }
        self.places[place] = Some(op);
    }

    pub(crate) fn get(&self, id: OpId) -> Option<&Op<P>> {
        self.places[self.place(id)].as_ref().filter(|op| op.id == id)
    }

    pub(crate) fn remove(&mut self, id: OpId) -> Option<Op<P>> {
        let place = self.place(id);
        self.places[place].take_if(|op| op.id == id)
    }

    fn place(&self, id: OpId) -> usize {
        id.index() & (self.places.len() - 1)
    }
}

fn vec_of_none<T>(size: usize) -> Vec<Option<T>> {
    std::iter::repeat_with(|| None).take(size).collect()
}

#[cfg(test)]
mod tests {
    use omnilink_history::History;

    use super::*;

    #[test]
    fn inserted_operations_are_found_until_removed() {
        let history = History::from_calls((0..5000).map(|time| (0, time, Some(time), time))).unwrap();
        let mut ring = Ring::new();
        for op in history.ops() {
            ring.insert(op.clone());
            if op.id.0 >= 100 && op.id.0 % 7 != 0 {
                assert_eq!(ring.remove(op.id).map(|op| op.call), Some(op.call));
                assert!(ring.get(op.id).is_none() && ring.remove(op.id).is_none());
            }
        }
        assert_eq!(ring.places.len(), 8192);
        for op in history.ops() {
            let is_kept = op.id.0 < 100 || op.id.0 % 7 == 0;
            assert_eq!(ring.get(op.id).map(|op| op.call), is_kept.then_some(op.call));
        }
    }
}
