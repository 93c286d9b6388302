//! Which operations may take effect next.
//!
//! A process runs one operation at a time, so only the first remaining operation of each process, its *head*, can be
//! next. In real time, a head is ready unless another head ended before it started. Comparing it with the earliest end
//! among heads is enough, because nothing behind a head ends sooner. One pass over the processes finds all ready
//! operations, however long the history is. In program order every head is ready.

use crate::{History, Interval};

/// What orders operations of different processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precedence {
    /// An operation that ended before another started comes before it: linearizability.
    RealTime,
    /// Nothing does, only operations of one process are ordered: sequential consistency.
    Program,
}

/// The operations of a history by process, and what orders them.
#[derive(Clone, Debug)]
pub struct Order {
    chains: Vec<Vec<(usize, Interval)>>, // For each process, the places of its operations in the history.
    precedence: Precedence,
}

/// A set of operations that is closed under "comes before": for each process, how many of its operations are in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position(Box<[u32]>);

impl Order {
    /// The order of a history.
    pub fn new<T>(history: &History<T>, precedence: Precedence) -> Order {
        let mut chains = vec![Vec::new(); history.processes().len()];
        for (place, op) in history.ops().iter().enumerate() {
            chains[op.process.index()].push((place, op.interval));
        }
        Order { chains, precedence }
    }

    /// The position before every operation.
    pub fn origin(&self) -> Position {
        Position(vec![0; self.chains.len()].into())
    }

    /// Operations that may take effect next: the process of each, and its place in the history.
    pub fn ready(&self, position: &Position) -> impl Iterator<Item = (usize, usize)> {
        let earliest_end = match self.precedence {
            Precedence::RealTime => self.heads(position).map(|(_, _, head)| head.deadline()).min(),
            Precedence::Program => None,
        };
        let earliest_end = earliest_end.unwrap_or(u64::MAX);
        self.heads(position)
            .filter(move |(_, _, head)| head.start() <= earliest_end)
            .map(|(process, place, _)| (process, place))
    }

    /// The operations that cannot be next, with the place of one that must come before each.
    pub fn waiting(&self, position: &Position) -> Vec<(usize, usize)> {
        let first_to_end = self.heads(position).min_by_key(|(_, _, head)| head.deadline());
        match (self.precedence, first_to_end) {
            (Precedence::RealTime, Some((_, blocker, first))) => self
                .heads(position)
                .filter(|(_, _, head)| first.precedes(*head))
                .map(|(_, place, _)| (place, blocker))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The position after the next operation of a process.
    pub fn after(&self, position: &Position, process: usize) -> Position {
        let mut next = position.clone();
        next.0[process] += 1;
        next
    }

    /// True if only operations that never finished remain.
    pub fn is_complete(&self, position: &Position) -> bool {
        self.heads(position).all(|(_, _, head)| head.is_unfinished())
    }

    fn heads(&self, position: &Position) -> impl Iterator<Item = (usize, usize, Interval)> {
        self.chains.iter().zip(&position.0).enumerate().filter_map(|(process, (chain, &next))| {
            chain.get(next as usize).map(|&(place, interval)| (process, place, interval))
        })
    }
}

impl Position {
    /// How many operations are in the set.
    pub fn count(&self) -> usize {
        self.0.iter().map(|&count| count as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(calls: &[(u32, u64, Option<u64>)], precedence: Precedence) -> Vec<usize> {
        let calls = calls.iter().map(|&(process, start, end)| (process, start, end, ()));
        let history = History::from_calls(calls).unwrap();
        let order = Order::new(&history, precedence);
        order.ready(&order.origin()).map(|(_, place)| place).collect()
    }

    #[test]
    fn only_heads_that_no_other_head_precedes_are_ready() {
        let calls = [(0, 0, Some(4)), (0, 5, Some(6)), (1, 4, Some(9)), (2, 5, None)];
        assert_eq!(ready(&calls, Precedence::RealTime), [0, 1]);
        assert_eq!(ready(&calls, Precedence::Program), [0, 1, 3]);
    }

    #[test]
    fn what_waits_names_what_it_waits_for() {
        let calls = [(0, 0, Some(4), ()), (1, 5, Some(9), ())];
        let history = History::from_calls(calls).unwrap();
        let order = Order::new(&history, Precedence::RealTime);
        assert_eq!(order.waiting(&order.origin()), [(1, 0)]);
        let after = order.after(&order.origin(), 0);
        assert_eq!(order.waiting(&after), []);
        assert!(!order.is_complete(&after));
        assert_eq!(order.after(&after, 1).count(), 2);
        assert!(order.is_complete(&order.after(&after, 1)));
    }
}
