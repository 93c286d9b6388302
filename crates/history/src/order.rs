//! Which operations may take effect next.
//!
//! A process runs one operation at a time, so only the first remaining operation of each process, its *head*, can be
//! next. In real time, a head is ready unless another head ended before it started. Comparing it with the earliest end
//! among heads is enough, because nothing behind a head ends sooner. One pass over the processes finds all ready
//! operations, however long the history is. In program order every head is ready. Where not even the operations of one
//! process are ordered, each operation is the head of a chain of its own.
//!
//! Edges of the history hold in both: a head is ready only if its predecessors by edges have taken effect. An edge
//! becomes a number: how many operations of the process where it begins must have taken effect.
//!
//! A client that goes on after a timeout, or has several operations in flight, is one process of several chains. An
//! operation that has to follow one of another chain does so by an edge.
//!
//! An unfinished operation need not take effect, so no other operation waits for it. If it has a latest time, it is
//! ready as long as no operation that started after that time has taken effect.
//!
//! An operation that was blocked at the end comes after all others, whatever the order between these: it is ready once
//! only unfinished operations are left, and then none of these is ready any more.

use crate::{History, Interval, Op, OpId};

/// The order between operations of different processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precedence {
    /// An operation that ended before another started comes before it: linearizability.
    RealTime,
    /// There is none, only operations of one process are ordered: sequential consistency.
    Program,
    /// Operations of one process are not ordered either: serializability, if operations are transactions.
    None,
}

/// The operations of a history by process, and their order.
#[derive(Clone, Debug)]
pub struct Order {
    chains: Vec<Vec<(usize, Interval)>>, // For each process, the indices of its operations in the history.
    chain_of: Vec<usize>,                // By index in the history.
    needs: Vec<Need>,                    // By later operation.
    last: Vec<usize>,                    // The indices of operations that come after all others.
    precedence: Precedence,
    has_latest: bool, // Some operation has a latest time, and real time matters.
}

/// An edge: the operation at this index waits until a number of operations of a chain have taken effect.
#[derive(Clone, Copy, Debug)]
struct Need {
    place: usize,
    chain: usize,
    count: u32,
}

/// A set of operations that is closed under "comes before": for each process, the number of its operations in the
/// set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    counts: Box<[u32]>,
    latest_start: u64, // Of the operations that have taken a step. Zero if it is irrelevant.
}

impl Order {
    /// The order of a history.
    pub fn new<T>(history: &History<T>, precedence: Precedence) -> Order {
        let is_chained = precedence != Precedence::None;
        let mut lanes = Lanes::new(history, precedence);
        let chain = |(place, op)| if is_chained { lanes.chain(place, op) } else { place };
        let chain_of: Vec<usize> = history.ops().iter().enumerate().map(chain).collect();
        let mut chains = vec![Vec::new(); if is_chained { lanes.count } else { history.ops().len() }];
        let mut counts = Vec::new(); // The number of operations of its chain, up to each operation.
        for (place, op) in history.ops().iter().enumerate() {
            let chain = &mut chains[chain_of[place]];
            chain.push((place, op.interval));
            counts.push(chain.len() as u32);
        }
        let place =
            |id: OpId| history.ops().binary_search_by_key(&id, |op| op.id).expect("an operation of the history");
        let need = |&(first, second): &(OpId, OpId)| Need {
            place: place(second),
            chain: chain_of[place(first)],
            count: counts[place(first)],
        };
        let mut needs: Vec<Need> = history.edges().iter().chain(&lanes.edges).map(need).collect();
        needs.sort_by_key(|need| need.place);
        let has_latest = history.ops().iter().any(|op| op.interval.latest().is_some());
        let has_latest = has_latest && precedence == Precedence::RealTime;
        let last = history.ops().iter().enumerate().filter(|(_, op)| op.is_last).map(|(place, _)| place).collect();
        Order { chains, chain_of, needs, last, precedence, has_latest }
    }

    /// The position before every operation.
    pub fn origin(&self) -> Position {
        Position { counts: vec![0; self.chains.len()].into(), latest_start: 0 }
    }

    /// Operations that may take effect next, by their index in the history.
    pub fn ready(&self, position: &Position) -> impl Iterator<Item = usize> {
        let earliest_end = match self.precedence {
            Precedence::RealTime => self.heads(position).filter_map(|(_, head)| head.end()).min(),
            Precedence::Program | Precedence::None => None,
        };
        let earliest_end = earliest_end.unwrap_or(u64::MAX);
        let (is_open, has_ended) = (self.open(position).is_some(), self.has_ended(position));
        self.heads(position)
            .filter(move |(_, head)| head.start() <= earliest_end && position.latest_start <= head.deadline())
            .filter(move |(place, _)| if self.is_last(*place) { !is_open } else { !has_ended })
            .filter(|(place, _)| self.missing(position, *place).is_none())
            .map(|(place, _)| place)
    }

    fn is_last(&self, place: usize) -> bool {
        self.last.binary_search(&place).is_ok()
    }

    /// An operation that was not blocked, has ended and has not taken effect, if one was blocked.
    fn open(&self, position: &Position) -> Option<usize> {
        if self.last.is_empty() {
            return None;
        }
        // A blocked operation is the last of its process, so it hides none that was not.
        let is_open = |&(place, head): &(usize, Interval)| !head.is_unfinished() && !self.is_last(place);
        self.heads(position).find(is_open).map(|(place, _)| place)
    }

    /// True if an operation that was blocked at the end has its place.
    fn has_ended(&self, position: &Position) -> bool {
        let is_placed = |chain: usize| position.counts[chain] as usize == self.chains[chain].len();
        self.last.iter().any(|&place| is_placed(self.chain_of[place]))
    }

    /// The index of an operation that an edge puts before the one at this index, and that has not taken effect.
    fn missing(&self, position: &Position, place: usize) -> Option<usize> {
        let from = self.needs.partition_point(|need| need.place < place);
        let needs = self.needs[from..].iter().take_while(|need| need.place == place);
        let unmet = needs.into_iter().find(|need| position.counts[need.chain] < need.count);
        unmet.map(|need| self.chains[need.chain][need.count as usize - 1].0)
    }

    /// The operations that cannot be next, each with the index of one that must come before it.
    pub fn waiting(&self, position: &Position) -> Vec<(usize, usize)> {
        let finished = self.heads(position).filter(|(_, head)| !head.is_unfinished());
        let first_to_end = finished.min_by_key(|(_, head)| head.deadline());
        let in_time = first_to_end.filter(|_| self.precedence == Precedence::RealTime);
        let blocker = |place: usize, head: Interval| {
            let in_time = in_time.filter(|(_, first)| first.precedes(head)).map(|(blocker, _)| blocker);
            let at_end = || self.open(position).filter(|_| self.is_last(place));
            in_time.or_else(at_end).or_else(|| self.missing(position, place))
        };
        let heads = self.heads(position);
        heads.filter_map(|(place, head)| blocker(place, head).map(|blocker| (place, blocker))).collect()
    }

    /// The position after the operation at this index, which is ready.
    pub fn after(&self, position: &Position, place: usize) -> Position {
        let mut next = self.during(position, place);
        next.counts[self.chain_of[place]] += 1;
        next
    }

    /// The position after a step of the operation at this index that is not its last.
    pub fn during(&self, position: &Position, place: usize) -> Position {
        let mut next = position.clone();
        if self.has_latest {
            let chain = self.chain_of[place];
            let (_, head) = self.chains[chain][position.counts[chain] as usize];
            next.latest_start = next.latest_start.max(head.start());
        }
        next
    }

    /// True if only unfinished operations remain.
    pub fn is_complete(&self, position: &Position) -> bool {
        self.heads(position).all(|(_, head)| head.is_unfinished())
    }

    fn heads(&self, position: &Position) -> impl Iterator<Item = (usize, Interval)> {
        self.chains.iter().zip(&position.counts).filter_map(|(chain, &next)| chain.get(next as usize).copied())
    }
}

/// The chains of processes.
struct Lanes<'h, T> {
    history: &'h History<T>,
    precedence: Precedence,
    count: usize,
    of: Vec<Vec<(usize, Option<usize>)>>, // For each process, its chains, each with the place of its last operation.
    last: Vec<Option<usize>>,             // For each process, the place of its last finished operation.
    edges: Vec<(OpId, OpId)>,             // From one chain of a process to another.
}

impl<'h, T> Lanes<'h, T> {
    fn new(history: &'h History<T>, precedence: Precedence) -> Lanes<'h, T> {
        let count = history.processes().len();
        let of = (0..count).map(|process| vec![(process, None)]).collect();
        Lanes { history, precedence, count, of, last: vec![None; count], edges: Vec::new() }
    }

    /// The chain of an operation: the first of its process at whose end it has to be, or a new one.
    fn chain(&mut self, place: usize, op: &Op<T>) -> usize {
        let ops = self.history.ops();
        let process = op.process.index();
        let is_next = |last: &Option<usize>| match self.precedence {
            Precedence::RealTime => last.is_none_or(|last| op.follows(&ops[last])),
            Precedence::Program | Precedence::None => true,
        };
        let lanes = &mut self.of[process];
        let lane = lanes.iter().position(|(_, last)| is_next(last)).unwrap_or_else(|| {
            lanes.push((self.count, None));
            self.count += 1;
            lanes.len() - 1
        });
        let before = lanes[lane].1.replace(place);
        let last = self.last[process].filter(|&last| before != Some(last) && op.follows(&ops[last]));
        if self.precedence == Precedence::RealTime {
            self.edges.extend(last.map(|last| (ops[last].id, op.id)));
        }
        if !op.interval.is_unfinished() {
            self.last[process] = Some(place);
        }
        lanes[lane].0
    }
}

impl Position {
    /// The number of operations in the set.
    pub fn count(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(calls: &[(u32, u64, Option<u64>)], precedence: Precedence) -> Vec<usize> {
        let calls = calls.iter().map(|&(process, start, end)| (process, start, end, ()));
        let history = History::from_calls(calls).unwrap();
        let order = Order::new(&history, precedence);
        order.ready(&order.origin()).collect()
    }

    #[test]
    fn only_heads_that_no_other_head_precedes_are_ready() {
        let calls = [(0, 0, Some(4)), (0, 5, Some(6)), (1, 4, Some(9)), (2, 5, None)];
        assert_eq!(ready(&calls, Precedence::RealTime), [0, 1]);
        assert_eq!(ready(&calls, Precedence::Program), [0, 1, 3]);
        assert_eq!(ready(&calls, Precedence::None), [0, 1, 2, 3]);
    }

    #[test]
    fn nothing_waits_for_an_operation_with_a_latest_time_and_it_expires() {
        let intervals = [Interval::unknown(0, 4), Interval::new(5, 9)].map(Option::unwrap);
        let history = History::from_intervals((0..).zip(intervals).map(|(process, ran)| (process, ran, ()))).unwrap();
        let check = |precedence| {
            let order = Order::new(&history, precedence);
            let ready = |position: &Position| order.ready(position).collect::<Vec<_>>();
            let (before, during) = (order.origin(), order.during(&order.origin(), 1));
            (ready(&before), ready(&during), ready(&order.after(&before, 1)))
        };
        assert_eq!(check(Precedence::RealTime), (vec![0, 1], vec![1], vec![]));
        assert_eq!(check(Precedence::Program), (vec![0, 1], vec![0, 1], vec![0]));
    }

    #[test]
    fn edges_hold_in_any_order_and_need_even_unfinished_operations() {
        let calls = [(0, 0, None, ()), (1, 1, Some(9), ()), (2, 2, Some(9), ())];
        let history = History::from_calls(calls).unwrap();
        let history = history.with_edges([(OpId(0), OpId(1)), (OpId(2), OpId(1))]).unwrap();
        for precedence in [Precedence::RealTime, Precedence::Program] {
            let order = Order::new(&history, precedence);
            let ready = |position: &Position| order.ready(position).collect::<Vec<_>>();
            let (origin, first) = (order.origin(), order.after(&order.origin(), 2));
            assert_eq!((ready(&origin), order.waiting(&origin)), (vec![0, 2], vec![(1, 0)]));
            assert_eq!((ready(&first), order.waiting(&first)), (vec![0], vec![(1, 0)]));
            assert_eq!(ready(&order.after(&first, 0)), [1]);
        }
    }

    #[test]
    fn waiting_operations_name_a_predecessor() {
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
