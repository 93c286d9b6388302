//! Why a level does not hold: the shortest cycle for the most severe anomaly.
//!
//! The violation is of the weakest level that is rejected, in the weakest order. An edge has the two micro-operations
//! that prove it; `certify` verifies them with code of its own.

use omnilink_history::{Halt, Precedence};

use crate::decide::{Decision, decide};
use crate::effort::{ALL_WAYS, Effort};
use crate::forced::{self, Causal, Forced};
use crate::graph::Graph;
use crate::level::{Isolation, Level, ORDERS, contains};
use crate::model::{BadRead, Model, Read};
use crate::pairs::Problem;
use crate::points::{Edges, Point, Points};
use crate::shrink::smallest_core;
use crate::transactions::{MicroId, NONE, TxnId};
use crate::versions::{NoChains, Versions};

/// Why a level does not hold.
#[derive(Clone, Debug)]
pub enum Violation {
    /// A read that no level allows.
    Read(BadRead),
    /// Transactions that come before each other.
    Cycle(Cycle),
    /// Two transactions read the same version of a key and wrote the key.
    LostUpdate {
        /// The read and the write of one transaction.
        first: (MicroId, MicroId),
        /// The read and the write of the other one.
        second: (MicroId, MicroId),
    },
    /// Every version order of these transactions has a cycle; without any of them, one has none.
    Core(Vec<TxnId>),
}

/// Edges from each transaction to the next, and from the last to the first.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// The edges.
    pub edges: Vec<Edge>,
}

/// The first transaction comes before the second.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The first transaction.
    pub from: TxnId,
    /// The second transaction.
    pub to: TxnId,
    /// The reason.
    pub why: Why,
}

/// Why a transaction comes before another one.
#[derive(Clone, Debug)]
pub enum Why {
    /// It is earlier in their session.
    Session,
    /// It ended before the other one began.
    Time,
    /// The other one read its write.
    Read {
        /// The write.
        write: MicroId,
        /// The read of its value, or of a list with it.
        read: MicroId,
    },
    /// Its version of a key is older.
    Version {
        /// The older write.
        first: MicroId,
        /// The newer one.
        second: MicroId,
    },
    /// It read a version older than the other one's.
    Missed {
        /// The read.
        read: MicroId,
        /// The newer write.
        write: MicroId,
    },
    /// A third transaction sees its write, and returned the write of the other one.
    Forced {
        /// The write that the third transaction sees.
        write: MicroId,
        /// The read that returned the other transaction's write.
        read: MicroId,
        /// The path on which the third transaction sees it.
        path: Vec<Edge>,
    },
}

/// The weakest violation that a rejected history has.
pub(crate) fn explain(model: &Model<'_>, level: Level, effort: &Effort, halt: &Halt) -> (Level, Violation) {
    /// Levels that need a search are tried only on histories below this size; in weaker orders, the search is harder.
    const SMALL: usize = 20_000;
    const TINY: usize = 300;
    let small = Effort { conflicts: effort.conflicts.min(1_000), ..*effort };
    let is_open = Versions::new(model, true).is_ok_and(|versions| versions.open_keys().next().is_some());
    for order in ORDERS.into_iter().filter(|&order| contains(level.order, order)) {
        let size = if is_open && order != level.order { TINY } else { SMALL };
        for isolation in Isolation::ALL.into_iter().filter(|&weaker| level.isolation.implies(weaker)) {
            let weaker = Level { isolation, order };
            let is_cheap = isolation.is_polynomial() || model.len() <= size;
            if weaker == level || !is_cheap || halt.is_raised() {
                continue;
            }
            if matches!(decide(model, weaker, &small, ALL_WAYS, halt), Decision::Rejected) {
                return (weaker, violation(model, weaker, effort, halt));
            }
        }
    }
    (level, violation(model, level, effort, halt))
}

fn violation(model: &Model<'_>, level: Level, effort: &Effort, halt: &Halt) -> Violation {
    let Level { isolation, order } = level;
    let Ok(versions) = Versions::new(model, false) else {
        return Violation::Cycle(interleaved(model, order));
    };
    if isolation.is_polynomial() {
        return Violation::Cycle(polynomial(model, &versions, isolation, order, halt));
    }
    let chained = match Versions::new(model, isolation.forbids_lost_updates()) {
        Ok(chained) => Some(chained),
        Err(NoChains::Clash(clash)) => {
            let update = |node: u32| {
                let mut reads = model.reads.of(node).iter();
                let read = reads.find(|read| read.key == clash.key && read.source == clash.source)?;
                Some((MicroId(read.micro), MicroId(model.write_of(node, clash.key)?.micro)))
            };
            if let (Some(first), Some(second)) = (update(clash.nodes.0), update(clash.nodes.1)) {
                return Violation::LostUpdate { first, second };
            }
            None
        }
        Err(NoChains::Cycle) => None,
    };
    let versions = chained.as_ref().unwrap_or(&versions);
    let maker = Maker { model, versions, order, forced: Vec::new(), has_versions: true };
    let points = Points::new(model, isolation);
    let mut edges = Edges::new(model, points, order, true);
    edges.add_versions(versions);
    let readers = edges.add_reads(model, versions);
    let mut problem = Problem { model, versions, edges, readers, order, isolation };
    problem.add_ordered();
    let graph = problem.edges.graph();
    match graph.sort() {
        Err(left) => Violation::Cycle(maker.cycle(points, &graph, &left)),
        Ok(sequence) => {
            if isolation == Isolation::ParallelSnapshot
                && versions.open_keys().next().is_none()
                && let Some((read, reader, writer)) = problem.find_missed(&graph, &sequence)
            {
                let path = graph.path(writer, reader).expect("the writer leads to the reader");
                let mut edges = maker.edges(points, &path, false);
                edges.insert(0, maker.missed(reader, read, writer));
                return Violation::Cycle(Cycle { edges });
            }
            Violation::Core(smallest_core(model, level, effort, halt))
        }
    }
}

/// A cycle of a list whose elements interleave, with the orders of transactions.
fn interleaved(model: &Model<'_>, order: Precedence) -> Cycle {
    let points = Points::new(model, Isolation::ReadCommitted);
    let known = |edges: &mut Edges| {
        for list in model.elements.iter().chain(&model.given) {
            edges.list.extend(list.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| (pair[0], pair[1])));
        }
    };
    let versions = Versions::none(model);
    let maker = Maker { model, versions: &versions, order, forced: Vec::new(), has_versions: true };
    // Writes alone, if they have a cycle.
    let mut edges = Edges::new(model, points, Precedence::None, false);
    known(&mut edges);
    let graph = edges.graph();
    if let Err(left) = graph.sort() {
        return maker.cycle(points, &graph, &left);
    }
    let mut edges = Edges::new(model, points, order, true);
    known(&mut edges);
    let graph = edges.graph();
    let left = graph.sort().expect_err("the level is rejected because of this graph");
    maker.cycle(points, &graph, &left)
}

fn polynomial(model: &Model<'_>, versions: &Versions, isolation: Isolation, order: Precedence, halt: &Halt) -> Cycle {
    let points = Points::new(model, isolation);
    let mut maker = Maker { model, versions, order, forced: Vec::new(), has_versions: true };
    let found = forced::find(model, versions, isolation, order, halt);
    if let Err(forced) = found {
        // A cycle without this edge is more severe.
        let mut edges = Edges::new(model, points, order, true);
        edges.add_versions(versions);
        let graph = edges.graph();
        if let Err(left) = graph.sort() {
            return maker.cycle(points, &graph, &left);
        }
        let mut edges = vec![maker.missed(forced.reader, forced.read, forced.seen)];
        edges.extend(maker.seen(isolation, forced));
        return Cycle { edges };
    }
    let mut edges = Edges::new(model, points, order, true);
    edges.add_versions(versions);
    let plain = edges.graph();
    if let Err(left) = plain.sort() {
        return maker.cycle(points, &plain, &left);
    }
    let mut found = found.unwrap_or_default();
    found.sort_by_key(|forced| (forced.seen, forced.read.source));
    edges.list.extend(found.iter().map(|forced| (forced.seen, forced.read.source)));
    maker.forced = found.into_iter().map(|forced| (isolation, forced)).collect();
    let graph = edges.graph();
    let left = graph.sort().expect_err("the level is rejected because of this graph");
    maker.cycle(points, &graph, &left)
}

/// Makes edges with reasons from paths in graphs.
struct Maker<'a> {
    model: &'a Model<'a>,
    versions: &'a Versions,
    order: Precedence,
    forced: Vec<(Isolation, Forced)>, // Sorted by the edge.
    has_versions: bool,               // Version orders are reasons.
}

impl Maker<'_> {
    fn txn(&self, node: u32) -> TxnId {
        TxnId(self.model.ids[node as usize])
    }

    fn cycle(&self, points: Points, graph: &Graph, left: &[bool]) -> Cycle {
        let weight = |node: u32| match points.point(node) {
            Point::Begin(_) => 2,
            Point::Commit(_) => 1,
            Point::Other => 0,
        };
        let cycle = graph.short_cycle(left, weight).expect("nodes are left because of a cycle");
        let mut edges = self.edges(points, &cycle, true);
        join(self.model, &mut edges);
        Cycle { edges }
    }

    /// The edges between the transactions of a path, which begins with a point of one; or of a cycle.
    fn edges(&self, points: Points, path: &[u32], is_cycle: bool) -> Vec<Edge> {
        let mut edges = Vec::new();
        let is_txn = |node: &u32| points.point(*node) != Point::Other;
        let mut stops: Vec<u32> = path.iter().copied().filter(is_txn).collect();
        if is_cycle {
            stops.extend(stops.first().copied());
        }
        let node = |stop: u32| match points.point(stop) {
            Point::Begin(node) | Point::Commit(node) => node,
            Point::Other => NONE,
        };
        for pair in stops.windows(2) {
            let (from, to) = (node(pair[0]), node(pair[1]));
            if from == to {
                continue;
            }
            // At prefix, a version precedes a commit only.
            let may_be_version = points.is_exclusive || !matches!(points.point(pair[1]), Point::Begin(_));
            let is_rw = points.is_split && matches!(points.point(pair[0]), Point::Begin(_));
            let why = if is_rw { self.rw(from, to) } else { self.why(from, to, points, may_be_version) };
            edges.push(Edge { from: self.txn(from), to: self.txn(to), why });
        }
        edges
    }

    fn why(&self, from: u32, to: u32, points: Points, may_be_version: bool) -> Why {
        let model = self.model;
        if let Some(why) = self.wr(from, to).or_else(|| self.ww(from, to).filter(|_| may_be_version)) {
            return why;
        }
        if self.order != Precedence::None && model.is_before_in_session(from, to) {
            return Why::Session;
        }
        let forced = self.forced.partition_point(|(_, forced)| (forced.seen, forced.read.source) < (from, to));
        if let Some(&(isolation, forced)) = self.forced.get(forced)
            && (forced.seen, forced.read.source) == (from, to)
        {
            let write = model.write_of(from, forced.read.key).expect("it writes the key of the read").micro;
            let path = self.seen(isolation, forced);
            return Why::Forced { write: MicroId(write), read: MicroId(forced.read.micro), path };
        }
        if self.order == Precedence::RealTime && model.is_before_in_time(from, to) {
            return Why::Time;
        }
        debug_assert!(points.has_missed, "every edge has a reason");
        self.rw(from, to)
    }

    fn wr(&self, from: u32, to: u32) -> Option<Why> {
        let model = self.model;
        for &read in model.reads.of(to) {
            if read.source == from {
                let list = model.txns.list(model.txns.micros[read.micro as usize]);
                let write = match read.len {
                    0 => model.write_of(from, read.key)?.micro,
                    len => model.txns.versions[list[len as usize - 1] as usize].writer,
                };
                return Some(Why::Read { write: MicroId(write), read: MicroId(read.micro) });
            }
        }
        for &read in model.reads.of(to) {
            if let Some(place) = model.elements[read.key as usize][..read.len as usize].iter().position(|&w| w == from)
            {
                let version = model.spines[read.key as usize][place];
                let write = model.txns.versions[version as usize].writer;
                return Some(Why::Read { write: MicroId(write), read: MicroId(read.micro) });
            }
        }
        None
    }

    fn ww(&self, from: u32, to: u32) -> Option<Why> {
        let model = self.model;
        if !self.has_versions {
            return None;
        }
        // Two elements in a row say more than two lists.
        for (key, nodes) in model.elements.iter().enumerate() {
            if model.write_of(from, key as u32).is_none() || model.write_of(to, key as u32).is_none() {
                continue;
            }
            if let Some(place) = nodes.windows(2).position(|pair| pair == [from, to]) {
                let write = |place: usize| MicroId(model.txns.versions[model.spines[key][place] as usize].writer);
                return Some(Why::Version { first: write(place), second: write(place + 1) });
            }
        }
        for write in model.writes.of(from) {
            if let Some(other) = model.write_of(to, write.key)
                && self.is_older(write.key, from, to)
            {
                // Of a list, an element that was read is known to be older; a later one of the same transaction is not.
                let listed = model.elements[write.key as usize].iter().rposition(|&node| node == from);
                let first = match listed {
                    Some(place) => model.txns.versions[model.spines[write.key as usize][place] as usize].writer,
                    None => write.micro,
                };
                return Some(Why::Version { first: MicroId(first), second: MicroId(other.micro) });
            }
        }
        None
    }

    /// True if the version of a node, or the initial one, is older than that of another: chains of versions follow the
    /// orders of their first transactions.
    fn is_older(&self, key: u32, first: u32, second: u32) -> bool {
        let model = self.model;
        if self.versions.is_before(model, key, first, second) {
            return true;
        }
        let (Some(first), Some(second)) =
            (self.versions.first(model, first, key), self.versions.first(model, second, key))
        else {
            return false;
        };
        let in_session = || self.order != Precedence::None && model.is_before_in_session(first, second);
        let in_time = || self.order == Precedence::RealTime && model.is_before_in_time(first, second);
        first != second && (in_session() || in_time())
    }

    fn rw(&self, from: u32, to: u32) -> Why {
        let model = self.model;
        let missed =
            model.reads.of(from).iter().find(|read| read.source != to && self.is_older(read.key, read.source, to));
        self.missed(from, *missed.expect("an edge without another reason is a missed write"), to).why
    }

    fn missed(&self, reader: u32, read: Read, writer: u32) -> Edge {
        let model = self.model;
        // Of a list, the first element that is missing.
        let elements = &model.elements[read.key as usize];
        let place = elements.iter().enumerate().position(|(at, &node)| at >= read.len as usize && node == writer);
        let write = match place {
            Some(place) => model.txns.versions[model.spines[read.key as usize][place] as usize].writer,
            None => model.write_of(writer, read.key).expect("it writes the key of the read").micro,
        };
        let why = Why::Missed { read: MicroId(read.micro), write: MicroId(write) };
        Edge { from: self.txn(reader), to: self.txn(writer), why }
    }

    /// The path on which a transaction sees another one.
    fn seen(&self, isolation: Isolation, forced: Forced) -> Vec<Edge> {
        let model = self.model;
        let Forced { seen, reader, read } = forced;
        if isolation != Isolation::Causal {
            let is_earlier = |other: &&Read| isolation == Isolation::ReadAtomic || other.micro < read.micro;
            let mut reads = model.reads.of(reader).iter().filter(is_earlier);
            let why = match reads.find(|&&other| model.seen_by(reader, other).any(|writer| writer == seen)) {
                Some(&other) => self.read_edge(seen, other),
                None if model.is_before_in_session(seen, reader) => Why::Session,
                None => Why::Time,
            };
            return vec![Edge { from: self.txn(seen), to: self.txn(reader), why }];
        }
        let causal = Causal::new(model, self.order);
        let path = causal.graph.path(seen, reader).expect("the reader sees the transaction");
        let maker = Maker {
            model: self.model,
            versions: self.versions,
            order: self.order,
            forced: Vec::new(),
            has_versions: false,
        };
        let mut edges = maker.edges(causal.points, &path, false);
        join(model, &mut edges);
        edges
    }

    fn read_edge(&self, writer: u32, read: Read) -> Why {
        let model = self.model;
        let elements = &model.elements[read.key as usize][..read.len as usize];
        let write = match elements.iter().position(|&node| node == writer) {
            Some(place) => model.txns.versions[model.spines[read.key as usize][place] as usize].writer,
            None => model.write_of(writer, read.key).expect("the source of a read wrote the key").micro,
        };
        Why::Read { write: MicroId(write), read: MicroId(read.micro) }
    }
}

/// Joins edges of sessions and time that follow each other.
fn join(model: &Model<'_>, edges: &mut Vec<Edge>) {
    let is_order = |edge: &Edge| matches!(edge.why, Why::Session | Why::Time);
    // A cycle of orders only does not exist, so one edge is of another kind; begin after it.
    if let Some(place) = edges.iter().position(|edge| !is_order(edge))
        && edges.first().map(|edge| edge.from) == edges.last().map(|edge| edge.to)
    {
        edges.rotate_left(place);
    }
    let mut joined: Vec<Edge> = Vec::new();
    for edge in edges.drain(..) {
        if let Some(last) = joined.last_mut().filter(|last| is_order(last) && is_order(&edge)) {
            let (from, to) = (model.node[last.from.0 as usize], model.node[edge.to.0 as usize]);
            let why = match () {
                () if model.is_before_in_session(from, to) => Some(Why::Session),
                () if model.is_before_in_time(from, to) => Some(Why::Time),
                () => None,
            };
            if let Some(why) = why {
                (last.to, last.why) = (edge.to, why);
                continue;
            }
        }
        joined.push(edge);
    }
    *edges = joined;
}

impl Cycle {
    /// The transactions of the cycle, in its order.
    pub fn txns(&self) -> impl Iterator<Item = TxnId> {
        self.edges.iter().map(|edge| edge.from)
    }
}
