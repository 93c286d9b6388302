//! Edges that every commit order has: if a transaction sees a write of a key and returned another one, the first comes
//! before the second. For monotonic atomic view, read atomic and causal, no more than these and no cycle is needed.

use std::ops::Range;

use omnilink_history::{Halt, Precedence};
use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::level::Isolation;
use crate::model::{INITIAL, Model, Read, Rows};
use crate::past::{Past, ranges};
use crate::points::{Edges, Points};
use crate::transactions::{NEVER, NONE};
use crate::versions::Versions;

/// A read returned the write of one transaction, and its transaction sees another writer of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forced {
    /// The writer that is seen.
    pub(crate) seen: u32,
    /// The transaction that reads.
    pub(crate) reader: u32,
    /// The read.
    pub(crate) read: Read,
}

impl PartialEq for Read {
    fn eq(&self, other: &Read) -> bool {
        self.micro == other.micro
    }
}

impl Eq for Read {}

/// The forced edges, or one that contradicts the known version order.
pub(crate) fn find(
    model: &Model<'_>,
    versions: &Versions,
    isolation: Isolation,
    order: Precedence,
    halt: &Halt,
) -> Result<Vec<Forced>, Forced> {
    let mut finder = Finder { model, versions, found: Vec::new() };
    match isolation {
        Isolation::MonotonicAtomicView => finder.earlier_reads()?,
        Isolation::ReadAtomic => finder.direct(order)?,
        Isolation::Causal => finder.causal(order, halt)?,
        _ => {}
    }
    Ok(finder.found)
}

struct Finder<'a> {
    model: &'a Model<'a>,
    versions: &'a Versions,
    found: Vec<Forced>,
}

impl Finder<'_> {
    /// Adds an edge, unless it is known, or contradicts the known ones.
    fn add(&mut self, seen: u32, reader: u32, read: Read) -> Result<(), Forced> {
        if seen == read.source || seen == reader {
            return Ok(());
        }
        let forced = Forced { seen, reader, read };
        if read.source == INITIAL || self.versions.is_before(self.model, read.key, read.source, seen) {
            return Err(forced);
        }
        if !self.versions.is_before(self.model, read.key, seen, read.source) {
            self.found.push(forced);
        }
        Ok(())
    }

    /// A read sees the writers from which earlier reads of its transaction read.
    fn earlier_reads(&mut self) -> Result<(), Forced> {
        let mut seen: Vec<u32> = Vec::new();
        for node in 0..self.model.len() as u32 {
            seen.clear();
            for &read in self.model.reads.of(node) {
                self.add_seen(&seen, node, read)?;
                add_writers(self.model, node, read, &mut seen);
            }
        }
        Ok(())
    }

    /// Adds edges from those of the seen transactions that wrote the key of a read.
    fn add_seen(&mut self, seen: &[u32], node: u32, read: Read) -> Result<(), Forced> {
        let writers = self.model.writers.of(read.key);
        if writers.len() < seen.len() {
            for &writer in writers {
                if seen.contains(&writer) {
                    self.add(writer, node, read)?;
                }
            }
            return Ok(());
        }
        for &writer in seen {
            if self.model.write_of(writer, read.key).is_some() {
                self.add(writer, node, read)?;
            }
        }
        Ok(())
    }

    /// A transaction sees those that it read from, and those before it.
    fn direct(&mut self, order: Precedence) -> Result<(), Forced> {
        let mut seen: Vec<u32> = Vec::new();
        for node in 0..self.model.len() as u32 {
            seen.clear();
            let reads = self.model.reads.of(node);
            reads.iter().for_each(|&read| add_writers(self.model, node, read, &mut seen));
            for &read in reads {
                self.add_seen(&seen, node, read)?;
            }
        }
        if order != Precedence::None {
            self.in_sessions()?;
        }
        if order == Precedence::RealTime {
            self.in_time()?;
        }
        Ok(())
    }

    /// The last writer of the key in the session precedes the writer that was read; the others precede the last.
    fn in_sessions(&mut self) -> Result<(), Forced> {
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        for &txn in &self.model.txns.by_lane {
            let node = self.model.node[txn as usize];
            if node == NONE {
                continue;
            }
            if self.model.previous[node as usize] == NONE {
                last.clear();
            }
            for &read in self.model.reads.of(node) {
                if let Some(&writer) = last.get(&read.key) {
                    self.add(writer, node, read)?;
                }
            }
            last.extend(self.model.writes.of(node).iter().map(|write| (write.key, node)));
        }
        Ok(())
    }

    /// Writers of the key that ended before the read began precede the writer that was read. Those that ended before that
    /// writer began do so in time, too. If one began after that writer ended, there is a cycle.
    fn in_time(&mut self) -> Result<(), Forced> {
        let Model { start, end, .. } = self.model;
        let by_end = by_end(self.model);
        for node in 0..self.model.len() as u32 {
            for &read in self.model.reads.of(node) {
                let ended = by_end.of(read.key);
                let passed = ended.partition_point(|&writer| end[writer as usize] < start[node as usize]);
                let from = match read.source {
                    INITIAL => 0,
                    source => ended.partition_point(|&writer| end[writer as usize] < start[source as usize]),
                };
                for &writer in ended[..passed].get(from..).unwrap_or_default().iter().rev() {
                    self.add(writer, node, read)?;
                    if read.source != INITIAL && self.model.is_before_in_time(read.source, writer) {
                        break; // This one is in a cycle.
                    }
                }
            }
        }
        Ok(())
    }

    fn causal(&mut self, order: Precedence, halt: &Halt) -> Result<(), Forced> {
        let causal = Causal::new(self.model, order);
        let graph = &causal.graph;
        let Ok(sequence) = graph.sort() else { return Ok(()) }; // The graph of the level has the same cycle.
        let has_sessions = order != Precedence::None;
        let lanes = has_sessions.then(|| by_lane(self.model));
        for range in ranges(self.model, graph.len(), has_sessions) {
            if halt.is_raised() {
                return Ok(());
            }
            let past = Past::new(self.model, causal.points, graph, &sequence, has_sessions, range.clone());
            match &lanes {
                Some(lanes) => self.last_in_lanes(lanes, &past, range)?,
                None => self.all_seen(&past, range)?,
            }
        }
        Ok(())
    }

    /// Of the visible writers in a session, the last one is enough.
    fn last_in_lanes(&mut self, lanes: &Lanes, past: &Past<'_>, range: Range<u32>) -> Result<(), Forced> {
        for node in 0..self.model.len() as u32 {
            for &read in self.model.reads.of(node) {
                for &(lane, first, last) in lanes.of_key.of(read.key).iter().filter(|(lane, ..)| range.contains(lane)) {
                    let seen = past.seen(lane, node);
                    let writers = &lanes.writers[first as usize..last as usize];
                    let count = writers.partition_point(|&writer| 2 * self.model.place[writer as usize] + 2 <= seen);
                    let Some(&writer) = writers[..count].last() else { continue };
                    if read.source == INITIAL || !past.has_commit(writer, read.source) {
                        self.add(writer, node, read)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn all_seen(&mut self, past: &Past<'_>, range: Range<u32>) -> Result<(), Forced> {
        for node in 0..self.model.len() as u32 {
            for &read in self.model.reads.of(node) {
                let writers = self.model.writers.of(read.key);
                let from = writers.partition_point(|&writer| writer < range.start);
                let until = writers.partition_point(|&writer| writer < range.end);
                for &writer in &writers[from..until] {
                    let is_new = || read.source == INITIAL || !past.has_commit(writer, read.source);
                    if past.has_commit(writer, node) && is_new() {
                        self.add(writer, node, read)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn add_writers(model: &Model<'_>, node: u32, read: Read, seen: &mut Vec<u32>) {
    let from = seen.len();
    for writer in model.seen_by(node, read) {
        if seen[from..].last() != Some(&writer) {
            seen.push(writer);
        }
    }
}

/// The writers of each key that ended, by end.
fn by_end(model: &Model<'_>) -> Rows<u32> {
    let mut rows = Rows::default();
    let mut ended: Vec<u32> = Vec::new();
    for key in 0..model.writers.len() as u32 {
        ended.clear();
        ended.extend(model.writers.of(key).iter().filter(|writer| model.end[**writer as usize] != NEVER));
        ended.sort_by_key(|&writer| model.end[writer as usize]);
        ended.iter().for_each(|&writer| rows.push(writer));
        rows.end_row();
    }
    rows
}

/// Writers by key, session and place.
struct Lanes {
    /// For each key: sessions, each with a range of its writers.
    of_key: Rows<(u32, u32, u32)>,
    writers: Vec<u32>,
}

fn by_lane(model: &Model<'_>) -> Lanes {
    let mut lanes = Lanes { of_key: Rows::default(), writers: Vec::new() };
    for key in 0..model.writers.len() as u32 {
        let mut writers = model.writers.of(key).to_vec();
        writers.sort_by_key(|&writer| (model.lane[writer as usize], model.place[writer as usize]));
        for of_lane in writers.chunk_by(|a, b| model.lane[*a as usize] == model.lane[*b as usize]) {
            let first = lanes.writers.len() as u32;
            lanes.writers.extend_from_slice(of_lane);
            lanes.of_key.push((model.lane[of_lane[0] as usize], first, lanes.writers.len() as u32));
        }
        lanes.of_key.end_row();
    }
    lanes
}

/// The graph of what a transaction sees causally. A read of a list sees the writers of all its elements, so each prefix of
/// a list that was read has a node.
#[derive(Debug)]
pub(crate) struct Causal {
    pub(crate) points: Points,
    pub(crate) graph: Graph,
}

impl Causal {
    pub(crate) fn new(model: &Model<'_>, order: Precedence) -> Causal {
        let points = Points::new(model, Isolation::Causal);
        let mut edges = Edges::new(model, points, order, true);
        let mut first = Vec::with_capacity(model.elements.len());
        for nodes in &model.elements {
            first.push(edges.nodes);
            for (place, &writer) in nodes.iter().enumerate() {
                edges.list.push((writer, edges.nodes));
                if place > 0 {
                    edges.list.push((edges.nodes - 1, edges.nodes));
                }
                edges.nodes += 1;
            }
        }
        for node in 0..points.count {
            for read in model.reads.of(node).iter().filter(|read| read.len > 1) {
                edges.list.push((first[read.key as usize] + read.len - 1, node));
            }
        }
        Causal { points, graph: edges.graph() }
    }
}
