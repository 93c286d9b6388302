//! The graph whose topological orders are the possible `lin`.
//!
//! Nodes are operations, and after them auxiliary nodes. An auxiliary node stands for writes that come before all of its
//! successors: the sources of a read and of the reads before it in its session. Edges of sessions and from writes to their reads are implied,
//! the others are listed. Real time is not a set of edges, of which there would be a quadratic number: the operation
//! that started first among those without predecessors is next, unless another remaining operation ended before it
//! started. Then no operation is next, and there is a cycle.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use omnilink_history::Interval;

use crate::registers::accesses::Accesses;

/// The reason why a node comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The order of their session.
    Session,
    /// Real time.
    Time,
    /// The second operation read the value of the first.
    Source,
    /// This operation read the value of the first, and precedes the second in its session.
    Read(u32),
    /// An explicit edge, with an auxiliary node at one end, or between two writes of a session.
    Link,
    /// This read of the second operation sees the first, which writes the same key.
    Seen(u32),
}

/// An edge of a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) cause: Cause,
}

/// The graph.
pub(super) struct Graph<'a> {
    accesses: &'a Accesses,
    has_po: bool,
    reads: Vec<u32>, // Of the auxiliary nodes.
    links: Vec<(u32, u32)>,
    seen: Vec<(u32, u32)>, // A write, and a read that sees it and returned the value of another.
}

impl<'a> Graph<'a> {
    pub(super) fn new(accesses: &'a Accesses, has_po: bool) -> Graph<'a> {
        Graph { accesses, has_po, reads: Vec::new(), links: Vec::new(), seen: Vec::new() }
    }

    /// Adds an auxiliary node: the sources of a read and of all reads before it in its session, whose node is given.
    pub(super) fn add_sources(&mut self, read: u32, earlier: Option<u32>) -> u32 {
        let node = self.nodes() as u32;
        self.reads.push(read);
        self.links.extend(earlier.map(|earlier| (earlier, node)));
        self.links.extend(self.accesses.source(read).map(|source| (source, node)));
        node
    }

    /// Adds an edge from an auxiliary node, or between writes of a session.
    pub(super) fn link(&mut self, from: u32, to: u32) {
        self.links.push((from, to));
    }

    /// Adds an edge from a write that a read sees to the write whose value the read returned.
    pub(super) fn put_before_source(&mut self, write: u32, read: u32) {
        self.seen.push((write, read));
    }

    /// True if sessions keep their order.
    pub(super) fn has_po(&self) -> bool {
        self.has_po
    }

    /// The number of explicit edges.
    pub(super) fn edge_count(&self) -> usize {
        self.links.len() + self.seen.len()
    }

    fn nodes(&self) -> usize {
        self.accesses.len() + self.reads.len()
    }

    fn edges(&self) -> impl Iterator<Item = (u32, u32, Cause)> {
        let links = self.links.iter().map(|&(from, to)| (from, to, Cause::Link));
        links.chain(self.seen.iter().map(|&(write, read)| {
            let source = self.accesses.source(read).expect("a read that sees a write returned the value of one");
            (write, source, Cause::Seen(read))
        }))
    }

    /// An order of the operations without regard to time, or a cycle.
    pub(super) fn sort(&self) -> Result<Vec<u32>, Vec<Step>> {
        let mut rest = Rest::new(self);
        let mut ready = Vec::new();
        // In the order of the history as far as possible, which touches memory in order.
        for node in 0..self.nodes() as u32 {
            if rest.is_source(node) {
                ready.push(node);
            }
            while let Some(next) = ready.pop() {
                rest.remove(next, |freed| {
                    if freed < node {
                        ready.push(freed)
                    }
                });
            }
        }
        rest.finish(None)
    }

    /// An order of the operations that real time allows, or a cycle.
    pub(super) fn sort_in_time(&self, intervals: &[Interval]) -> Result<Vec<u32>, Vec<Step>> {
        let mut by_end: Vec<u32> = (0..intervals.len() as u32).collect();
        by_end.sort_by_key(|&op| intervals[op as usize].deadline());
        let mut rest = Rest::new(self);
        let mut ready: BinaryHeap<Reverse<u32>> = BinaryHeap::new(); // Operations are numbered by start.
        let mut free: Vec<u32> = (0..self.nodes() as u32).filter(|&node| rest.is_source(node)).collect();
        let mut first_end = 0;
        loop {
            while let Some(node) = free.pop() {
                match intervals.get(node as usize) {
                    Some(_) => ready.push(Reverse(node)),
                    None => rest.remove(node, |freed| free.push(freed)),
                }
            }
            while by_end.get(first_end).is_some_and(|&op| rest.is_removed(op)) {
                first_end += 1;
            }
            let Some(&Reverse(op)) = ready.peek() else { break };
            let ended = by_end.get(first_end).map(|&other| intervals[other as usize]);
            if ended.is_some_and(|other| other.precedes(intervals[op as usize])) {
                break;
            }
            ready.pop();
            rest.remove(op, |freed| free.push(freed));
        }
        rest.finish(Some((intervals, &by_end)))
    }
}

/// Edges by the node at one of their ends.
struct Adjacency {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl Adjacency {
    fn new(count: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Adjacency {
        let mut starts = vec![0; count + 1];
        edges.clone().for_each(|(from, _)| starts[from as usize] += 1);
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut nodes = vec![0; total as usize];
        edges.for_each(|(from, to)| {
            starts[from as usize] -= 1;
            nodes[starts[from as usize] as usize] = to;
        });
        Adjacency { starts, nodes }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.nodes[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}

/// The nodes that have not been removed.
struct Rest<'g, 'a> {
    graph: &'g Graph<'a>,
    listed: Adjacency,
    readers: Adjacency,
    waits: Vec<u32>, // The number of predecessors that remain; `REMOVED` for a removed node.
    lin: Vec<u32>,
}

/// Instead of a number of predecessors.
const REMOVED: u32 = u32::MAX;

impl<'g, 'a> Rest<'g, 'a> {
    fn new(graph: &'g Graph<'a>) -> Rest<'g, 'a> {
        let Accesses { source, .. } = graph.accesses;
        let mut waits = vec![0; graph.nodes()];
        let listed = match graph.links.is_empty() && graph.seen.is_empty() {
            true => Adjacency { starts: vec![0; graph.nodes() + 1], nodes: Vec::new() },
            false => {
                let links = graph.links.iter().copied();
                let seen = graph.seen.iter().map(|&(write, read)| (write, source[read as usize]));
                Adjacency::new(graph.nodes(), links.chain(seen))
            }
        };
        listed.nodes.iter().for_each(|&to| waits[to as usize] += 1);
        let ops = 0..graph.accesses.len() as u32;
        let reads = ops.clone().filter_map(|op| Some((graph.accesses.source(op)?, op)));
        reads.clone().for_each(|(_, read)| waits[read as usize] += 1);
        if graph.has_po {
            ops.for_each(|op| waits[op as usize] += u32::from(graph.accesses.position[op as usize] > 1));
        }
        let readers = Adjacency::new(graph.accesses.len(), reads);
        Rest { graph, listed, readers, waits, lin: Vec::with_capacity(graph.accesses.len()) }
    }

    fn is_source(&self, node: u32) -> bool {
        self.waits[node as usize] == 0
    }

    fn is_removed(&self, node: u32) -> bool {
        self.waits[node as usize] == REMOVED
    }

    /// Removes a node without predecessors, and reports the nodes that have none anymore.
    fn remove(&mut self, node: u32, mut freed: impl FnMut(u32)) {
        self.waits[node as usize] = REMOVED;
        let waits = &mut self.waits;
        let mut release = |next: u32| {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                freed(next);
            }
        };
        self.listed.of(node).iter().for_each(|&next| release(next));
        if (node as usize) < self.graph.accesses.len() {
            self.lin.push(node);
            self.readers.of(node).iter().for_each(|&read| release(read));
            if self.graph.has_po {
                self.graph.accesses.next(node).into_iter().for_each(release);
            }
        }
    }

    /// The order if no operation remains, otherwise a cycle.
    fn finish(self, time: Option<(&[Interval], &[u32])>) -> Result<Vec<u32>, Vec<Step>> {
        if self.lin.len() == self.graph.accesses.len() {
            return Ok(self.lin);
        }
        Err(self.cycle(time))
    }

    /// A cycle. Every remaining node has a remaining predecessor, so walking back comes to a node twice; then the
    /// shortest cycle through that node is searched.
    fn cycle(&self, time: Option<(&[Interval], &[u32])>) -> Vec<Step> {
        let remain = |node: u32| !self.is_removed(node);
        let mut edges: Vec<(u32, u32, Cause)> =
            self.graph.edges().filter(|&(from, to, _)| remain(from) && remain(to)).collect();
        edges.sort_unstable_by_key(|&(from, to, _)| (to, from));
        let predecessors = |node: u32| {
            let first = edges.partition_point(|&(_, to, _)| to < node);
            let listed = edges[first..].iter().take_while(move |&&(_, to, _)| to == node);
            let op = Some(node).filter(|&node| (node as usize) < self.graph.accesses.len());
            let source = op.and_then(|op| self.graph.accesses.source(op)).map(|from| (from, Cause::Source));
            let previous = op.filter(|_| self.graph.has_po).and_then(|op| self.graph.accesses.previous(op));
            let implied = source.into_iter().chain(previous.map(|from| (from, Cause::Session)));
            implied.chain(listed.map(|&(from, _, cause)| (from, cause))).filter(move |&(from, _)| remain(from))
        };
        let by_end: Vec<u32> = time.iter().flat_map(|time| time.1).copied().filter(|&op| remain(op)).collect();
        let ended_before = |node: u32, index: usize| {
            let (intervals, _) = time?;
            let (start, &op) = (intervals.get(node as usize)?, by_end.get(index)?);
            intervals[op as usize].precedes(*start).then_some((op, Cause::Time))
        };

        let mut is_visited = vec![false; self.graph.nodes()];
        let mut node = (0..self.graph.nodes() as u32).find(|&node| remain(node)).expect("a node remains");
        while !std::mem::replace(&mut is_visited[node as usize], true) {
            let before = predecessors(node).next().or_else(|| ended_before(node, 0));
            node = before.expect("a remaining node has a remaining predecessor").0;
        }
        let target = node;

        // Breadth first, against the direction of edges. The operations that ended before some visited operation started
        // are a prefix of those by end, and the search meets each once.
        let mut after: Vec<Option<Step>> = vec![None; self.graph.nodes()];
        let (mut queue, mut met) = (VecDeque::from([target]), 0);
        'search: while let Some(node) = queue.pop_front() {
            let in_time = std::iter::from_fn(|| {
                let ended = ended_before(node, met);
                met += usize::from(ended.is_some());
                ended
            });
            for (from, cause) in predecessors(node).chain(in_time) {
                if after[from as usize].is_none() {
                    after[from as usize] = Some(Step { from, to: node, cause });
                    queue.push_back(from);
                }
                if from == target {
                    break 'search;
                }
            }
        }
        let mut steps = Vec::new();
        let mut node = target;
        while steps.is_empty() || node != target {
            let step = after[node as usize].expect("the search came back to the first node");
            node = step.to;
            steps.push(step);
        }
        self.graph.between_ops(steps)
    }
}

impl Graph<'_> {
    /// The same cycle without auxiliary nodes, and with one step for steps in a session and in time that follow each
    /// other. So an operation that such a step leads to is a write, or the cycle also has its source.
    fn between_ops(&self, mut steps: Vec<Step>) -> Vec<Step> {
        let ops = self.accesses.len() as u32;
        let is_ordered = |step: &Step| matches!(step.cause, Cause::Session | Cause::Time);
        let is_start = |last: &Step, step: &Step| step.from < ops && !(is_ordered(last) && is_ordered(step));
        let count = steps.len();
        let first = (0..count).find(|&index| is_start(&steps[(index + count - 1) % count], &steps[index]));
        steps.rotate_left(first.expect("neither auxiliary nodes nor recorded orders have a cycle"));
        let mut joined: Vec<Step> = Vec::new();
        for step in steps {
            match joined.last_mut() {
                Some(last) if !is_start(last, &step) => {
                    last.to = step.to;
                    if step.cause == Cause::Time {
                        last.cause = Cause::Time;
                    }
                }
                _ => {
                    let read = step.to.checked_sub(ops).map(|index| self.reads[index as usize]);
                    joined.push(Step { cause: read.map_or(step.cause, Cause::Read), ..step });
                }
            }
        }
        joined
    }
}
