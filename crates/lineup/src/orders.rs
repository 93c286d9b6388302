//! The serial orders of a test's columns.

use std::fmt;

use crate::run::{Answer, SerialRun, Thread};

/// A serial order: for each operation of the columns, the number of its thread. Prints as a word with one character
/// per operation, `0` to `9` and `a` to `z`, as the variable `OMNILINK_ORDERS` has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SerialOrder(Vec<u8>);

impl SerialOrder {
    /// The order of the columns in a serial run.
    pub fn of(run: &SerialRun) -> SerialOrder {
        let column = |(thread, _): &(Thread, Answer)| match thread {
            Thread::Main => None,
            Thread::Column(column) => Some(*column),
        };
        SerialOrder(run.steps.iter().filter_map(column).collect())
    }

    /// The number of the thread of each operation.
    pub fn threads(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for SerialOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word: String = self.0.iter().filter_map(|&thread| char::from_digit(thread.into(), 36)).collect();
        f.pad(&word)
    }
}

/// All serial orders, lexicographically. Three threads of three operations have 1,680.
#[derive(Clone, Debug)]
pub struct Orders {
    counts: Vec<usize>,
    next: Option<Vec<u8>>,
}

impl Orders {
    pub(crate) fn new(counts: Vec<usize>) -> Orders {
        let next = Some(sorted(&counts));
        Orders { counts, next }
    }

    /// The number of orders from the beginning, skipped ones included; `u64::MAX` if there are more.
    pub fn total(&self) -> u64 {
        let (mut total, mut placed) = (1_u128, 0_u128);
        for &count in &self.counts {
            for of_thread in 1..=count as u128 {
                placed += 1;
                // A product of binomial coefficients, each of them an integer at every step.
                total = total.saturating_mul(placed) / of_thread;
                if total > u64::MAX.into() {
                    return u64::MAX;
                }
            }
        }
        total as u64
    }

    /// Skips the orders still to come that begin with a prefix of the last one, because an operation in it blocks.
    /// Has no effect if the next order does not begin with the prefix.
    pub fn skip_prefix(&mut self, prefix: &[u8]) {
        let Some(next) = &mut self.next else { return };
        if next.starts_with(prefix) {
            // The last order with this prefix has the rest in decreasing order.
            next[prefix.len()..].sort_unstable_by(|a, b| b.cmp(a));
            self.advance();
        }
    }

    /// Moves to the next permutation of a multiset: the longest non-increasing end is preceded by a smaller number;
    /// the smallest larger one takes its place, and the rest follows in increasing order.
    fn advance(&mut self) {
        let Some(order) = &mut self.next else { return };
        let Some(smaller) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else {
            self.next = None;
            return;
        };
        let larger = order.iter().rposition(|thread| *thread > order[smaller]).expect("the one after it is larger");
        order.swap(smaller, larger);
        order[smaller + 1..].reverse();
    }
}

impl Iterator for Orders {
    type Item = SerialOrder;

    fn next(&mut self) -> Option<SerialOrder> {
        let order = self.next.clone()?;
        self.advance();
        Some(SerialOrder(order))
    }
}

fn sorted(counts: &[usize]) -> Vec<u8> {
    (0..).zip(counts).flat_map(|(thread, &count)| std::iter::repeat_n(thread, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(orders: Orders) -> String {
        orders.map(|order| order.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn orders_are_lexicographic() {
        insta::assert_snapshot!(words(Orders::new(vec![2, 2])), @"0011 0101 0110 1001 1010 1100");
        insta::assert_snapshot!(words(Orders::new(vec![1; 3])), @"012 021 102 120 201 210");
        insta::assert_snapshot!(words(Orders::new(vec![3])), @"000");
        insta::assert_snapshot!(Orders::new(vec![1; 36]).next().unwrap(), @"0123456789abcdefghijklmnopqrstuvwxyz");
    }

    #[test]
    fn totals_are_multinomial() {
        for counts in [vec![3, 3, 3], vec![2, 2], vec![1, 4, 2]] {
            assert_eq!(Orders::new(counts.clone()).total(), Orders::new(counts).count() as u64);
        }
        assert_eq!(Orders::new(vec![3, 3, 3]).total(), 1680);
        assert_eq!(Orders::new(vec![3; 36]).total(), u64::MAX);
    }

    #[test]
    fn skipping_leaves_out_orders_with_a_prefix() {
        for prefix in [&[0][..], &[0, 1], &[1, 1], &[2], &[0, 0, 1, 1, 2], &[]] {
            let mut skipping = Orders::new(vec![2, 2, 1]);
            let mut found = Vec::new();
            loop {
                skipping.skip_prefix(prefix);
                let Some(order) = skipping.next() else { break };
                found.push(order);
            }
            let all = Orders::new(vec![2, 2, 1]);
            let expected: Vec<SerialOrder> = all.filter(|order| !order.threads().starts_with(prefix)).collect();
            assert_eq!(found, expected);
        }
    }
}
