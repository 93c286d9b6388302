//! A trace that has been checked and indexed.
//!
//! Well formed means: no operation ends before it starts, each process runs one operation at a time, and an
//! unfinished operation is the last of its process. Operations are numbered by start, so a history can be read as a
//! stream, and [`Sequence`] checks a stream with memory for one operation per process.
//!
//! Besides real time and process order, a history may have *edges*: pairs of operations of which the first takes
//! effect before the second, because of a message, a session or a vector clock. An edge holds under every criterion,
//! and an operation that takes effect needs every operation that an edge puts before it, even an unfinished one.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

use thiserror::Error;

use crate::{Call, End, Interval, Op, OpId, Outcome, ProcessId, Record, Trace, Value};

/// Operations by increasing start, each process sequential.
#[derive(Clone, Debug)]
pub struct History<T> {
    processes: Arc<[Arc<str>]>,
    ops: Vec<Op<T>>,          // Invariant: accepted by `Sequence` in this order.
    edges: Vec<(OpId, OpId)>, // Invariant: between operations of this history, and no cycle with the processes' orders.
}

/// Edges that no order satisfies, because they lead from an operation back to itself.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{} come before each other", .0.join(", "))]
pub struct Cyclic(
    /// The operations of one cycle, by process and place.
    pub Vec<String>,
);

/// Why a trace is not a history.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IllFormed {
    /// An operation ends before it starts.
    #[error("{op} ends at {end}, before it starts at {start}")]
    Backwards {
        /// The operation, by process and place.
        op: String,
        /// When it starts.
        start: u64,
        /// When it ends.
        end: u64,
    },
    /// An operation has a time that stands for no end.
    #[error("{op} has the time {}, the largest of 64 bits, which stands for no end", u64::MAX)]
    NoTime {
        /// The operation, by process and place.
        op: String,
    },
    /// An unfinished operation has a latest time before its start.
    #[error("{op} can take effect until {latest} at the latest, before it starts at {start}")]
    TooEarly {
        /// The operation, by process and place.
        op: String,
        /// When it starts.
        start: u64,
        /// When it may take effect at the latest.
        latest: u64,
    },
    /// Two operations of one process overlap.
    #[error("{op} starts at {start}, before the operation before it in the same process ends at {end}")]
    Overlap {
        /// The later operation.
        op: String,
        /// When it starts.
        start: u64,
        /// When the earlier one ends.
        end: u64,
    },
    /// A process continues after an unfinished operation.
    #[error("{op} follows an unfinished operation of the same process; give it a separate process")]
    AfterUnfinished {
        /// The operation that follows.
        op: String,
    },
    /// A process continues after a blocked operation.
    #[error("an operation of {process} follows one that is blocked at the end")]
    AfterBlocked {
        /// The process.
        process: String,
    },
    /// A stream delivers operations out of order.
    #[error("{op} starts at {start}, but an operation that starts at {after} was read before it")]
    OutOfOrder {
        /// The operation that comes too late.
        op: String,
        /// When it starts.
        start: u64,
        /// The latest start before it.
        after: u64,
    },
    /// Operations of the trace were lost.
    #[error("operations are missing: {}", .0.join("; "))]
    Incomplete(
        /// The losses.
        Vec<String>,
    ),
    /// There are more operations than can be numbered.
    #[error("more than {} operations", u32::MAX)]
    TooLong,
}

impl IllFormed {
    /// The operation at fault, by process and position.
    pub fn op(&self) -> Option<&str> {
        match self {
            IllFormed::Backwards { op, .. }
            | IllFormed::NoTime { op }
            | IllFormed::TooEarly { op, .. }
            | IllFormed::Overlap { op, .. }
            | IllFormed::AfterUnfinished { op }
            | IllFormed::OutOfOrder { op, .. } => Some(op),
            IllFormed::AfterBlocked { .. } | IllFormed::Incomplete(_) | IllFormed::TooLong => None,
        }
    }
}

impl History<Call> {
    /// Checks a trace. Records may be in any order, as long as time distinguishes those of one process.
    ///
    /// An operation that is blocked at the end becomes one that comes after all others ([`Op::is_last`]), and keeps the
    /// time of its call as a note.
    pub fn new(trace: Trace) -> Result<History<Call>, IllFormed> {
        let Trace { processes, mut records, losses, .. } = trace;
        if !losses.is_empty() {
            return Err(IllFormed::Incomplete(losses));
        }
        if records.iter().any(|record| record.call.blocked) {
            records.sort_by_key(|record| (record.start, record.end.at().unwrap_or(u64::MAX)));
            let mut last = BlockedLast::default();
            let mut passed = Vec::with_capacity(records.len());
            for record in records {
                passed.extend(last.pass(&processes, record)?);
            }
            passed.extend(std::iter::from_fn(|| last.next()));
            records = passed;
        }
        let call = |record: Record| (record.process, record.start, record.end, record.call);
        let mut history = History::in_order(processes.into(), records.into_iter().map(call).collect())?;
        history.ops.iter_mut().for_each(|op| op.is_last = op.call.blocked);
        Ok(history)
    }
}

impl<T> History<T> {
    /// Checks operations given as (process, start, end, call); an end of `None` was never recorded.
    pub fn from_calls(calls: impl IntoIterator<Item = (u32, u64, Option<u64>, T)>) -> Result<History<T>, IllFormed> {
        History::numbered(calls.into_iter().map(|(process, start, end, call)| (process, start, end.into(), call)))
    }

    /// Checks operations given as (process, interval, call).
    pub fn from_intervals(calls: impl IntoIterator<Item = (u32, Interval, T)>) -> Result<History<T>, IllFormed> {
        History::numbered(calls.into_iter().map(|(process, ran, call)| (process, ran.start(), ran.into(), call)))
    }

    /// Names processes by their numbers.
    fn numbered(calls: impl Iterator<Item = (u32, u64, End, T)>) -> Result<History<T>, IllFormed> {
        let calls: Vec<_> = calls.map(|(process, start, end, call)| (ProcessId(process), start, end, call)).collect();
        let count = calls.iter().map(|call| call.0.index() + 1).max().unwrap_or(0);
        History::in_order((0..count).map(|process| process.to_string().into()).collect(), calls)
    }

    fn in_order(processes: Arc<[Arc<str>]>, mut calls: Vec<(ProcessId, u64, End, T)>) -> Result<History<T>, IllFormed> {
        // An unfinished operation comes last in its process, regardless of its latest time.
        let key = |&(_, start, end, _): &(ProcessId, u64, End, T)| (start, end.at().unwrap_or(u64::MAX));
        if !calls.is_sorted_by_key(key) {
            // Calls are large, so their indices are sorted, and then each call is moved once, along the cycles of the
            // permutation.
            let mut places: Vec<((u64, u64), usize)> = calls.iter().map(key).zip(0..).collect();
            places.sort_unstable();
            for first in 0..calls.len() {
                let mut place = first;
                while places[place].1 != first {
                    let next = places[place].1;
                    calls.swap(place, next);
                    places[place].1 = place;
                    place = next;
                }
                places[place].1 = place;
            }
        }
        let mut sequence = Sequence::default();
        let number = |(process, start, end, call)| sequence.next(&processes, process, start, end, call);
        let ops = calls.into_iter().map(number).collect::<Result<_, _>>()?;
        Ok(History { processes, ops, edges: Vec::new() })
    }

    /// The same history with more edges between its operations.
    ///
    /// # Panics
    ///
    /// If an edge names an operation that is not in this history.
    pub fn with_edges(self, edges: impl IntoIterator<Item = (OpId, OpId)>) -> Result<History<T>, Cyclic> {
        let all: BTreeSet<(OpId, OpId)> = self.edges.iter().copied().chain(edges).collect();
        let history = History { edges: all.into_iter().collect(), ..self };
        match history.cycle() {
            Some(cycle) => Err(Cyclic(cycle.into_iter().map(|id| history.name(id)).collect())),
            None => Ok(history),
        }
    }

    /// The edges, by first operation.
    pub fn edges(&self) -> &[(OpId, OpId)] {
        &self.edges
    }

    /// Operations that edges and the orders within processes put in a cycle, if there are any.
    fn cycle(&self) -> Option<Vec<OpId>> {
        let has_op = |id: &OpId| self.ops.binary_search_by_key(id, |op| op.id).is_ok();
        assert!(self.edges.iter().all(|(a, b)| has_op(a) && has_op(b)), "edges between operations of this history");
        let mut all = self.edges.clone();
        let mut last_of_process = vec![None; self.processes.len()];
        for op in &self.ops {
            let last: Option<OpId> = last_of_process[op.process.index()].replace(op.id);
            all.extend(last.map(|last| (last, op.id)));
        }
        // Every edge that remains begins where another ends, so walking back comes to an operation twice.
        let cyclic = without_sources(all);
        let before: HashMap<OpId, OpId> = cyclic.iter().map(|&(a, b)| (b, a)).collect();
        let mut path = vec![cyclic.first()?.0];
        loop {
            let earlier = before[path.last()?];
            if let Some(from) = path.iter().position(|id| *id == earlier) {
                path.drain(..from);
                path.reverse();
                return Some(path);
            }
            path.push(earlier);
        }
    }

    /// A history of operations taken in this order from another history, or from a stream of one. It has no edges.
    ///
    /// # Panics
    ///
    /// If they are not numbered by increasing start.
    pub fn from_ops(processes: Arc<[Arc<str>]>, ops: Vec<Op<T>>) -> History<T> {
        let is_next = |pair: &[Op<T>]| pair[0].id < pair[1].id && pair[0].interval.start() <= pair[1].interval.start();
        assert!(ops.windows(2).all(is_next), "operations are numbered by increasing start");
        History { processes, ops, edges: Vec::new() }
    }

    /// The operations, by increasing start.
    pub fn ops(&self) -> &[Op<T>] {
        &self.ops
    }

    /// The operations, by increasing start; consumes the history.
    pub fn into_ops(self) -> Vec<Op<T>> {
        self.ops
    }

    /// The operation with this number.
    pub fn op(&self, id: OpId) -> &Op<T> {
        // Numbers are indices unless operations were left out, and the remaining ones keep their order.
        match self.ops.get(id.index()) {
            Some(op) if op.id == id => op,
            _ => &self.ops[self.ops.binary_search_by_key(&id, |op| op.id).expect("an operation of this history")],
        }
    }

    /// The names of the processes.
    pub fn processes(&self) -> &[Arc<str>] {
        &self.processes
    }

    /// The display name of an operation: its process and its position there.
    pub fn name(&self, id: OpId) -> String {
        let op = self.op(id);
        name(&self.processes, op.process, op.index)
    }

    /// Converts each call. Operations for which `view` returns `None` are left out; the others keep their numbers,
    /// their names, and the order that edges through left-out operations imply.
    pub fn try_map<U, E>(&self, mut view: impl FnMut(&Op<T>) -> Result<Option<U>, E>) -> Result<History<U>, E> {
        let mut ops = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            ops.extend(view(op)?.map(|call| op.with(call)));
        }
        let edges = if ops.len() == self.ops.len() { self.edges.clone() } else { self.edges_between(&ops) };
        Ok(History { processes: self.processes.clone(), ops, edges })
    }

    /// The edges between the kept operations that follow from all edges: every predecessor of a left-out operation
    /// precedes all of its successors.
    fn edges_between<U>(&self, ops: &[Op<U>]) -> Vec<(OpId, OpId)> {
        if self.edges.is_empty() {
            return Vec::new();
        }
        let is_kept = |id: OpId| ops.binary_search_by_key(&id, |op| op.id).is_ok();
        let mut chains: Vec<Vec<OpId>> = vec![Vec::new(); self.processes.len()];
        self.ops.iter().for_each(|op| chains[op.process.index()].push(op.id));
        let mut edges: BTreeSet<(OpId, OpId)> = self.edges.iter().copied().collect();
        for op in self.ops.iter().filter(|op| !is_kept(op.id)) {
            let chain = &mut chains[op.process.index()];
            let place = chain.iter().position(|id| *id == op.id).expect("an operation of its process");
            chain.remove(place);
            let touching: Vec<(OpId, OpId)> =
                edges.iter().filter(|(a, b)| *a == op.id || *b == op.id).copied().collect();
            let before: Vec<OpId> = touching.iter().filter(|edge| edge.1 == op.id).map(|edge| edge.0).collect();
            let after: Vec<OpId> = touching.iter().filter(|edge| edge.0 == op.id).map(|edge| edge.1).collect();
            edges.retain(|edge| !touching.contains(edge));
            let (last, next) = (place.checked_sub(1).map(|place| chain[place]), chain.get(place).copied());
            edges.extend(before.iter().flat_map(|&a| after.iter().chain(&next).map(move |&b| (a, b))));
            edges.extend(last.into_iter().flat_map(|a| after.iter().map(move |&b| (a, b))));
        }
        edges.into_iter().collect()
    }
}

/// A history without processes and operations.
impl<T> Default for History<T> {
    fn default() -> History<T> {
        History { processes: Arc::default(), ops: Vec::new(), edges: Vec::new() }
    }
}

impl<T: Clone> History<T> {
    /// One history for each part that operations belong to, by first operation. `None` if an operation has no part,
    /// or if edges order operations, because then parts are not independent.
    pub fn split<K: Copy + Eq + Hash>(&self, part: impl Fn(&T) -> Option<K>) -> Option<Vec<(K, History<T>)>> {
        if !self.edges.is_empty() {
            return None;
        }
        let mut places: HashMap<K, u32> = HashMap::new();
        let mut sizes: Vec<(K, usize)> = Vec::new();
        let mut place_of = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let key = part(&op.call)?;
            let place = *places.entry(key).or_insert_with(|| {
                sizes.push((key, 0));
                (sizes.len() - 1) as u32
            });
            sizes[place as usize].1 += 1;
            place_of.push(place);
        }
        // Parts that grew step by step would take up to twice their memory.
        let empty = |(key, size)| (key, History::from_ops(self.processes.clone(), Vec::with_capacity(size)));
        let mut parts: Vec<(K, History<T>)> = sizes.into_iter().map(empty).collect();
        for (op, place) in self.ops.iter().zip(place_of) {
            parts[place as usize].1.ops.push(op.clone());
        }
        Some(parts)
    }
}

/// The note that says when a blocked operation was called.
const CALLED: &str = "called";

/// Holds back operations that are blocked when an execution gets stuck, and delivers them after all others, at a time
/// after all of theirs. There they say something about the state at the end: it does not let them go on.
#[derive(Debug, Default)]
pub(crate) struct BlockedLast {
    blocked: VecDeque<Record>,
    processes: HashSet<ProcessId>, // Of those that are blocked.
    end: u64,                      // After all times so far.
}

impl BlockedLast {
    /// Returns the record, unless it is held back. Records come by start.
    pub(crate) fn pass(&mut self, names: &[Arc<str>], record: Record) -> Result<Option<Record>, IllFormed> {
        let time = match record.end {
            End::At(end) => end,
            End::Unknown { latest } => latest.unwrap_or(record.start),
        };
        self.end = self.end.max(record.start.max(time).saturating_add(1)).min(u64::MAX - 1);
        if self.processes.contains(&record.process) {
            return Err(IllFormed::AfterBlocked { process: process_name(names, record.process) });
        }
        if record.call.blocked {
            self.processes.insert(record.process);
            self.blocked.push_back(record);
            return Ok(None);
        }
        Ok(Some(record))
    }

    /// The next one that was held back, after all have passed.
    pub(crate) fn next(&mut self) -> Option<Record> {
        let mut record = self.blocked.pop_front()?;
        if !record.call.meta.iter().any(|(name, _)| **name == *CALLED) {
            let called = Value::integer(&record.start.to_string()).expect("these are digits");
            record.call.meta.push((CALLED.into(), called));
        }
        Some(Record { start: self.end, end: End::At(self.end), ..record })
    }
}

fn process_name(names: &[Arc<str>], process: ProcessId) -> String {
    let name = name(names, process, 0);
    name.rsplit_once(':').map_or_else(|| name.clone(), |(process, _)| process.to_owned())
}

impl Op<Call> {
    /// How the operation ended.
    pub fn outcome(&self) -> Outcome {
        match (self.interval.is_unfinished(), self.call.failed) {
            _ if self.call.blocked => Outcome::Blocked,
            (_, true) => Outcome::Failed,
            (true, false) => Outcome::Unfinished,
            (false, false) => Outcome::Finished,
        }
    }

    /// When the operation was called: its start, unless it is blocked and comes after all others.
    pub fn called(&self) -> u64 {
        let called = || self.call.meta.iter().find(|(name, _)| **name == *CALLED)?.1.as_int()?.try_into().ok();
        let start = self.interval.start();
        if self.call.blocked { called().unwrap_or(start) } else { start }
    }
}

/// The edges of a graph that do not begin in a source, where a node that follows only sources is a source too.
pub fn without_sources(mut edges: Vec<(OpId, OpId)>) -> Vec<(OpId, OpId)> {
    let mut incoming: HashMap<OpId, usize> = HashMap::new();
    let mut followers: HashMap<OpId, Vec<OpId>> = HashMap::new();
    for &(a, b) in &edges {
        incoming.entry(a).or_default();
        *incoming.entry(b).or_default() += 1;
        followers.entry(a).or_default().push(b);
    }
    let mut sources: Vec<OpId> = edges.iter().map(|(a, _)| *a).filter(|a| incoming[a] == 0).collect();
    while let Some(source) = sources.pop() {
        for follower in followers.remove(&source).unwrap_or_default() {
            let waits = incoming.get_mut(&follower).expect("every end of an edge was counted");
            *waits -= 1;
            if *waits == 0 {
                sources.push(follower);
            }
        }
    }
    edges.retain(|(a, _)| incoming[a] > 0);
    edges
}

/// The display name of an operation: `T3:12` is the thirteenth operation of process 3.
pub fn name(processes: &[Arc<str>], process: ProcessId, index: u32) -> String {
    match processes.get(process.index()) {
        Some(name) if !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()) => format!("{name}:{index}"),
        Some(name) if !name.is_empty() => format!("T{name}:{index}"),
        _ => format!("{process}:{index}"),
    }
}

/// Numbers operations that arrive by increasing start, and checks that each process is sequential.
#[derive(Debug, Default)]
pub struct Sequence {
    next: u32,
    start: u64,
    processes: Vec<(u32, u64)>, // For each process, the number of its operations, and the end of the last one.
}

impl Sequence {
    /// Checks and numbers the next operation. `names` is used only in errors.
    pub fn next<T>(
        &mut self,
        names: &[Arc<str>],
        process: ProcessId,
        start: u64,
        end: End,
        call: T,
    ) -> Result<Op<T>, IllFormed> {
        if self.processes.len() <= process.index() {
            self.processes.resize(process.index() + 1, (0, 0));
        }
        let (index, last_end) = self.processes[process.index()];
        let op = || name(names, process, index);
        if start < self.start {
            return Err(IllFormed::OutOfOrder { op: op(), start, after: self.start });
        }
        let interval = match end {
            End::At(u64::MAX) | End::Unknown { latest: Some(u64::MAX) } => {
                return Err(IllFormed::NoTime { op: op() });
            }
            End::At(end) => Interval::new(start, end).ok_or_else(|| IllFormed::Backwards { op: op(), start, end })?,
            End::Unknown { latest: None } => Interval::unfinished(start),
            End::Unknown { latest: Some(latest) } => {
                Interval::unknown(start, latest).ok_or_else(|| IllFormed::TooEarly { op: op(), start, latest })?
            }
        };
        if last_end == u64::MAX {
            return Err(IllFormed::AfterUnfinished { op: op() });
        }
        if start < last_end {
            return Err(IllFormed::Overlap { op: op(), start, end: last_end });
        }
        let id = OpId(self.next);
        self.next = self.next.checked_add(1).ok_or(IllFormed::TooLong)?;
        self.start = start;
        self.processes[process.index()] = (index + 1, interval.end().unwrap_or(u64::MAX));
        Ok(Op { id, process, index, interval, is_last: false, call })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(calls: &[(u32, u64, Option<u64>)]) -> Result<Vec<String>, String> {
        let calls = calls.iter().map(|&(process, start, end)| (process, start, end, ()));
        let history = History::from_calls(calls).map_err(|error| error.to_string())?;
        Ok(history.ops().iter().map(|op| format!("{} {}", history.name(op.id), op.interval)).collect())
    }

    #[test]
    fn operations_are_sorted_and_numbered() {
        let ops = check(&[(1, 5, None), (0, 2, Some(2)), (0, 0, Some(2)), (0, 2, Some(9))]);
        assert_eq!(ops.unwrap(), ["T0:0 [0 2]", "T0:1 [2 2]", "T0:2 [2 9]", "T1:0 [5 ...]"]);
    }

    #[test]
    fn edges_lead_around_left_out_operations_and_never_back() {
        let calls = [(0, 0, Some(1)), (1, 0, Some(1)), (1, 2, Some(3)), (1, 4, Some(5)), (2, 0, Some(9)), (2, 9, None)];
        let history = || History::from_calls(calls.map(|(process, start, end)| (process, start, end, ()))).unwrap();
        let named = |history: &History<()>| -> Vec<String> {
            let edge = |&(a, b): &(OpId, OpId)| format!("{} {}", history.name(a), history.name(b));
            history.edges().iter().map(edge).collect()
        };
        let id = |name: &str| history().ops().iter().map(|op| op.id).find(|id| history().name(*id) == name).unwrap();
        let edges = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| (id(a), id(b))).collect::<Vec<_>>();
        let edged = history().with_edges(edges(&[("T0:0", "T1:1"), ("T1:1", "T2:1")])).unwrap();
        assert_eq!(named(&edged), ["T0:0 T1:1", "T1:1 T2:1"]);
        let left = |gone: &[&str]| {
            let keeps = |op: &Op<()>| Ok::<_, ()>(if gone.contains(&&*edged.name(op.id)) { None } else { Some(()) });
            named(&edged.try_map(keeps).unwrap())
        };
        assert_eq!(left(&["T2:0"]), ["T0:0 T1:1", "T1:1 T2:1"]);
        assert_eq!(left(&["T1:1"]), ["T0:0 T1:2", "T0:0 T2:1", "T1:0 T2:1"]);
        assert_eq!(left(&["T1:1", "T2:1"]), ["T0:0 T1:2"]);
        assert_eq!(left(&["T1:0", "T1:1"]), ["T0:0 T1:2", "T0:0 T2:1"]);
        let cyclic = history().with_edges(edges(&[("T1:2", "T2:0"), ("T2:1", "T1:0")])).unwrap_err();
        assert_eq!(cyclic.0.len(), 5, "{cyclic}");
        assert!(history().with_edges(edges(&[("T1:1", "T1:0")])).is_err());
        assert!(edged.split(|()| Some(0)).is_none());
    }

    #[test]
    fn ill_formed_traces_are_refused() {
        assert_eq!(check(&[(0, 3, Some(2))]).unwrap_err(), "T0:0 ends at 2, before it starts at 3");
        assert_eq!(
            check(&[(0, 1, Some(4)), (0, 3, Some(5))]).unwrap_err(),
            "T0:1 starts at 3, before the operation before it in the same process ends at 4"
        );
        assert_eq!(
            check(&[(0, 1, None), (0, 3, Some(5))]).unwrap_err(),
            "T0:1 follows an unfinished operation of the same process; give it a separate process"
        );
        let mut sequence = Sequence::default();
        sequence.next(&[], ProcessId(0), 4, End::At(5), ()).unwrap();
        let error = sequence.next(&[], ProcessId(1), 3, End::At(5), ()).unwrap_err();
        assert_eq!(error, IllFormed::OutOfOrder { op: "T1:0".into(), start: 3, after: 4 });
        let error = sequence.next(&[], ProcessId(1), u64::MAX, End::At(u64::MAX), ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "T1:0 has the time 18446744073709551615, the largest of 64 bits, which stands for no end"
        );
    }

    #[test]
    fn unfinished_operations_keep_their_latest_time_and_end_their_process() {
        let bounded = Interval::unknown(2, 3).unwrap();
        let calls = |then| [(0, bounded, 'b'), (0, Interval::new(2, 2).unwrap(), 'a'), (1, then, 'c')];
        let history = History::from_intervals(calls(Interval::unfinished(1))).unwrap();
        let shown: Vec<String> = history.ops().iter().map(|op| format!("{}{}", op.call, op.interval)).collect();
        assert_eq!(shown, ["c[1 ...]", "a[2 2]", "b[2 ..3]"]);
        let mut after = calls(Interval::new(4, 5).unwrap());
        after[2].0 = 0;
        let op = "T0:2".to_owned();
        assert_eq!(History::from_intervals(after).unwrap_err(), IllFormed::AfterUnfinished { op });
        let end = End::Unknown { latest: Some(3) };
        let error = Sequence::default().next(&[], ProcessId(0), 4, end, ()).unwrap_err();
        assert_eq!(error.to_string(), "T0:0 can take effect until 3 at the latest, before it starts at 4");
    }

    #[test]
    fn a_history_splits_into_its_parts() {
        let history = History::from_calls([(0, 0, Some(1), 'b'), (1, 2, Some(3), 'a'), (0, 4, Some(5), 'b')]).unwrap();
        let parts = history.split(|&part| Some(part)).unwrap();
        let named = |part: &(char, History<char>)| {
            let names: Vec<String> = part.1.ops().iter().map(|op| part.1.name(op.id)).collect();
            format!("{} {}", part.0, names.join(" "))
        };
        assert_eq!(parts.iter().map(named).collect::<Vec<_>>(), ["b T0:0 T0:1", "a T1:0"]);
        assert!(history.split(|&part| (part == 'a').then_some(part)).is_none());
    }

    #[test]
    fn operations_left_out_leave_the_other_names_alone() {
        let history = History::from_calls([(0, 0, Some(1), 'a'), (0, 2, Some(3), 'b'), (1, 4, Some(5), 'c')]).unwrap();
        let kept = history.try_map(|op| Ok::<_, ()>((op.call != 'a').then_some(op.call))).unwrap();
        let names: Vec<String> = kept.ops().iter().map(|op| kept.name(op.id)).collect();
        assert_eq!(names, ["T0:1", "T1:0"]);
        assert_eq!(kept.op(OpId(2)).call, 'c');
    }
}
