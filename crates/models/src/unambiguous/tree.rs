//! Arrays with range queries.

/// Numbers, some of which are removed.
pub(crate) struct Next(Vec<usize>);

impl Next {
    /// All numbers below `len`. Larger numbers are never removed.
    pub(crate) fn new(len: usize) -> Next {
        Next((0..=len).collect())
    }

    /// The first number from `from` on that was not removed.
    pub(crate) fn from(&mut self, mut from: usize) -> usize {
        while self.0[from] != from {
            self.0[from] = self.0[self.0[from]]; // Halving paths keeps them short.
            from = self.0[from];
        }
        from
    }

    /// Removes the numbers from `from` to before `to`. Each is removed once, so all removals together are linear.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let mut number = self.from(from);
        while number < to {
            self.0[number] = number + 1;
            number = self.from(number);
        }
    }
}

/// Keys with a range-minimum query, which can be removed.
pub(crate) struct Smallest {
    len: usize,
    nodes: Vec<(usize, usize)>, // A tree whose leaves are (key, place); removed keys are `usize::MAX`.
}

impl Smallest {
    pub(crate) fn new(keys: impl ExactSizeIterator<Item = usize>) -> Smallest {
        let len = keys.len();
        let mut nodes = vec![(usize::MAX, 0); 2 * len];
        for (place, key) in keys.enumerate() {
            nodes[len + place] = (key, place);
        }
        for node in (1..len).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Smallest { len, nodes }
    }

    /// The smallest key from `from` to before `to`, and its place.
    pub(crate) fn get(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let (mut from, mut to, mut smallest) = (from + self.len, to + self.len, (usize::MAX, 0));
        while from < to {
            if from % 2 == 1 {
                smallest = smallest.min(self.nodes[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                smallest = smallest.min(self.nodes[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        (smallest.0 != usize::MAX).then_some(smallest)
    }

    /// Replaces a key; `usize::MAX` removes it.
    pub(crate) fn set(&mut self, place: usize, key: usize) {
        let mut node = place + self.len;
        self.nodes[node] = (key, place);
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}

/// The number of ranges that cover each place.
pub(crate) struct Coverage {
    size: usize,
    least: Vec<u32>, // For each node, the least count below it, without the ranges added above it.
    added: Vec<u32>,
}

impl Coverage {
    /// No ranges, over places below `len`.
    pub(crate) fn new(len: usize) -> Coverage {
        let size = len.next_power_of_two();
        Coverage { size, least: vec![0; 2 * size], added: vec![0; 2 * size] }
    }

    /// Adds the range from `from` to before `to`.
    pub(crate) fn add(&mut self, from: usize, to: usize) {
        self.change(from, to, |count| *count += 1);
    }

    /// Removes a range that was added.
    pub(crate) fn subtract(&mut self, from: usize, to: usize) {
        self.change(from, to, |count| *count -= 1);
    }

    /// The first uncovered place from `from` on.
    pub(crate) fn first_free(&self, from: usize) -> Option<usize> {
        // A subtree holds a free place exactly if its least count is 0 and no range is added above it. Walk to the
        // right from the leaf until there is such a subtree, then down to its first free leaf.
        let is_free = |node: usize| {
            let mut above = node / 2;
            let mut free = self.least[node] == 0;
            while free && above > 0 {
                free = self.added[above] == 0;
                above /= 2;
            }
            free
        };
        let mut node = from + self.size;
        while !is_free(node) {
            while node % 2 == 1 {
                node /= 2;
                if node <= 1 {
                    return None;
                }
            }
            node += 1;
        }
        while node < self.size {
            node = if self.least[2 * node] == 0 { 2 * node } else { 2 * node + 1 };
        }
        Some(node - self.size)
    }

    fn change(&mut self, from: usize, to: usize, change: impl Fn(&mut u32)) {
        let (mut left, mut right) = (from + self.size, to + self.size);
        let (first, last) = (left, right - 1);
        while left < right {
            if left % 2 == 1 {
                change(&mut self.least[left]);
                change(&mut self.added[left]);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                change(&mut self.least[right]);
                change(&mut self.added[right]);
            }
            (left, right) = (left / 2, right / 2);
        }
        for mut node in [first / 2, last / 2] {
            while node > 0 {
                self.least[node] = self.added[node] + self.least[2 * node].min(self.least[2 * node + 1]);
                node /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_numbers_are_skipped() {
        let mut next = Next::new(6);
        next.remove(1, 3);
        next.remove(2, 5);
        next.remove(4, 4);
        assert_eq!([0, 1, 2, 4, 5].map(|from| next.from(from)), [0, 5, 5, 5, 5]);
    }

    #[test]
    fn the_smallest_key_of_a_range_is_found() {
        let mut tree = Smallest::new([5, 3, 4, 9, 1].into_iter());
        assert_eq!(tree.get(0, 4), Some((3, 1)));
        tree.set(1, usize::MAX);
        assert_eq!(tree.get(0, 4), Some((4, 2)));
        assert_eq!(tree.get(1, 2), None);
        assert_eq!(tree.get(3, 5), Some((1, 4)));
    }

    #[test]
    fn free_places_are_found_among_ranges_that_come_and_go() {
        let (mut coverage, mut counts, mut random) = (Coverage::new(21), [0_i32; 21], 7_u64);
        let mut ranges = Vec::new();
        for _ in 0..2000 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (a, b) = ((random >> 33) as usize % 21, (random >> 43) as usize % 21);
            if random >> 63 == 0 || ranges.is_empty() {
                let (from, to) = (a.min(b), a.max(b));
                if from < to {
                    coverage.add(from, to);
                    counts[from..to].iter_mut().for_each(|count| *count += 1);
                    ranges.push((from, to));
                }
            } else {
                let (from, to) = ranges.swap_remove(a % ranges.len());
                coverage.subtract(from, to);
                counts[from..to].iter_mut().for_each(|count| *count -= 1);
            }
            let expected = (b..21).find(|&place| counts[place] == 0);
            assert_eq!(coverage.first_free(b).filter(|&place| place < 21), expected);
        }
    }
}
