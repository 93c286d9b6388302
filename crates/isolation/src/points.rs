//! The graph of begin and commit points.
//!
//! From prefix upward, a level holds if this graph has no cycle, and its topological orders are runs of a store with
//! snapshots. Where begin and commit are one point, it is the graph of dependencies. Real time costs one node for each
//! end: the nodes are a chain, a transaction leads to its end, and the last end before a begin leads to the begin.

use omnilink_history::Precedence;

use crate::graph::Graph;
use crate::level::Isolation;
use crate::model::{INITIAL, Model};
use crate::transactions::{NEVER, NONE};
use crate::versions::Versions;

/// The nodes of a graph: begins, commits if they are separate, and auxiliary ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points {
    pub(crate) count: u32,
    pub(crate) is_split: bool,
    /// True if a version precedes the begin of the next one's writer, not only its commit.
    pub(crate) is_exclusive: bool,
    /// True if a read precedes the commit of the next version's writer.
    pub(crate) has_missed: bool,
}

/// A node of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Point {
    Begin(u32),
    Commit(u32),
    Other,
}

impl Points {
    pub(crate) fn new(model: &Model<'_>, isolation: Isolation) -> Points {
        Points {
            count: model.len() as u32,
            is_split: matches!(isolation, Isolation::Prefix | Isolation::Snapshot),
            is_exclusive: isolation != Isolation::Prefix,
            has_missed: matches!(isolation, Isolation::Prefix | Isolation::Snapshot | Isolation::Serializable),
        }
    }

    pub(crate) fn begin(self, node: u32) -> u32 {
        node
    }

    pub(crate) fn commit(self, node: u32) -> u32 {
        if self.is_split { self.count + node } else { node }
    }

    /// The point that a version of another transaction precedes.
    pub(crate) fn install(self, node: u32) -> u32 {
        if self.is_exclusive { self.begin(node) } else { self.commit(node) }
    }

    /// The number of points of transactions.
    pub(crate) fn total(self) -> u32 {
        if self.is_split { 2 * self.count } else { self.count }
    }

    pub(crate) fn point(self, node: u32) -> Point {
        match node {
            node if node < self.count => Point::Begin(node),
            node if node < self.total() => Point::Commit(node - self.count),
            _ => Point::Other,
        }
    }
}

/// Edges in the making.
#[derive(Debug)]
pub(crate) struct Edges {
    pub(crate) points: Points,
    pub(crate) list: Vec<(u32, u32)>,
    pub(crate) nodes: u32,
    /// Auxiliary nodes before this one are ends of transactions.
    pub(crate) first_reads: u32,
}

impl Edges {
    /// Orders and, if `has_sources`, writers before readers.
    pub(crate) fn new(model: &Model<'_>, points: Points, order: Precedence, has_sources: bool) -> Edges {
        let mut edges = Edges { points, list: Vec::new(), nodes: points.total(), first_reads: points.total() };
        for node in 0..points.count {
            if points.is_split {
                edges.list.push((points.begin(node), points.commit(node)));
            }
            let previous = model.previous[node as usize];
            if order != Precedence::None && previous != NONE {
                edges.list.push((points.commit(previous), points.begin(node)));
            }
            if has_sources {
                let mut last = INITIAL;
                for read in model.reads.of(node).iter().filter(|read| read.source != INITIAL) {
                    if read.source != last {
                        edges.list.push((points.commit(read.source), points.begin(node)));
                    }
                    last = read.source;
                }
            }
        }
        if order == Precedence::RealTime {
            edges.add_times(model);
        }
        edges.first_reads = edges.nodes;
        edges
    }

    fn add_times(&mut self, model: &Model<'_>) {
        let points = self.points;
        let mut by_end: Vec<(u64, u32)> =
            model.end.iter().zip(0..).filter(|(end, _)| **end != NEVER).map(|(&end, node)| (end, node)).collect();
        by_end.sort_unstable();
        let mut ends: Vec<u64> = Vec::with_capacity(by_end.len());
        for (end, node) in by_end {
            if ends.last() != Some(&end) {
                if !ends.is_empty() {
                    self.list.push((self.nodes - 1, self.nodes));
                }
                ends.push(end);
                self.nodes += 1;
            }
            self.list.push((points.commit(node), self.nodes - 1));
        }
        let first = self.nodes - ends.len() as u32;
        let mut by_start: Vec<(u64, u32)> = model.start.iter().copied().zip(0..).collect();
        by_start.sort_unstable();
        let mut passed = 0;
        for (start, node) in by_start {
            while ends.get(passed).is_some_and(|&end| end < start) {
                passed += 1;
            }
            if passed > 0 {
                self.list.push((first + passed as u32 - 1, points.begin(node)));
            }
        }
    }

    /// Versions before the next ones, as far as they are known.
    pub(crate) fn add_versions(&mut self, versions: &Versions) {
        let points = self.points;
        for (write, &next) in versions.next.iter().enumerate().filter(|(_, next)| **next != NONE) {
            self.list.push((points.commit(versions.node[write]), points.install(versions.node[next as usize])));
        }
        for key in 0..versions.heads.len() {
            if let ([first, rest @ ..], true) = (&*versions.heads[key], versions.has_first[key]) {
                let tail = versions.tail[*first as usize];
                let from = points.commit(versions.node[tail as usize]);
                let edges = rest.iter().map(|&head| (from, points.install(versions.node[head as usize])));
                self.list.extend(edges);
            }
        }
    }

    /// Reads before the next versions, as far as they are known. Returns, for each write that ends a chain, the node that
    /// stands for the readers of its version, or `NONE`.
    pub(crate) fn add_reads(&mut self, model: &Model<'_>, versions: &Versions) -> Vec<u32> {
        let points = self.points;
        let mut readers = vec![NONE; versions.node.len()];
        let mut initial: Vec<u32> = vec![NONE; versions.heads.len()];
        // Readers of the last version of a chain, and of the initial version, share a node if there are several.
        for node in 0..points.count {
            let mut last = (NONE, NONE);
            for read in model.reads.of(node) {
                if last == (read.key, read.source) {
                    continue;
                }
                last = (read.key, read.source);
                let own = versions.write(model, node, read.key);
                if read.source == INITIAL {
                    let heads = &versions.heads[read.key as usize];
                    let is_first = own.is_some() && own == heads.first().copied();
                    if heads.is_empty() || (is_first && !points.is_split && versions.has_first[read.key as usize]) {
                        continue;
                    }
                    self.join(&mut initial[read.key as usize], node);
                    continue;
                }
                let source = versions.write(model, read.source, read.key).expect("the source of a read wrote the key");
                match versions.next[source as usize] {
                    NONE => self.join(&mut readers[source as usize], node),
                    next if Some(next) == own || !points.has_missed => {}
                    next => self.list.push((points.begin(node), points.commit(versions.node[next as usize]))),
                }
            }
        }
        if !points.has_missed {
            initial.fill(NONE);
        }
        for (key, &from) in initial.iter().enumerate().filter(|(_, from)| **from != NONE) {
            let count = if versions.has_first[key] { 1 } else { versions.heads[key].len() };
            for &head in &versions.heads[key][..count] {
                self.list.push((from & !SHARED, points.commit(versions.node[head as usize])));
            }
        }
        for key in 0..versions.heads.len() {
            if let ([first, rest @ ..], true) = (&*versions.heads[key], versions.has_first[key]) {
                let from = readers[versions.tail[*first as usize] as usize];
                if from != NONE && points.has_missed {
                    let edges = rest.iter().map(|&head| (from & !SHARED, points.commit(versions.node[head as usize])));
                    self.list.extend(edges);
                }
            }
        }
        readers.iter_mut().filter(|from| **from != NONE).for_each(|from| *from &= !SHARED);
        readers
    }

    /// Adds a reader to the node of readers of a version: the reader itself as long as it is alone.
    fn join(&mut self, shared: &mut u32, reader: u32) {
        let begin = self.points.begin(reader);
        if *shared == NONE {
            *shared = begin;
            return;
        }
        if *shared & SHARED == 0 {
            if *shared == begin {
                return;
            }
            self.list.push((*shared, self.nodes));
            *shared = self.nodes | SHARED;
            self.nodes += 1;
        }
        self.list.push((begin, *shared & !SHARED));
    }

    /// The graph.
    pub(crate) fn graph(&self) -> Graph {
        Graph::new(self.nodes as usize, &self.list)
    }
}

/// The mark of a node that several readers share.
const SHARED: u32 = 1 << 31;
