//! Chains of writes whose order is not known: guess, prune, search.
//!
//! "A before B" puts the commit of A's tail and the readers of its version before the head of B: two edges, whatever the
//! number of readers. In a session, the chains that must come before A are a prefix and those that must come after it
//! a suffix, and the edges of the nearest ones imply the rest. So only the pairs in the middle become variables.

use std::ops::Range;

use omnilink_history::{Halt, Precedence};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::effort::{Effort, Ways};
use crate::graph::Graph;
use crate::level::Isolation;
use crate::model::{INITIAL, Model, Read};
use crate::past::{Past, ranges};
use crate::points::{Edges, Point};
use crate::solver::{Dynamic, Literal, NO_EDGE, Solved, Solver, Variable};
use crate::transactions::{NEVER, NONE};
use crate::versions::Versions;

/// A graph, and chains to put in order.
pub(crate) struct Problem<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) versions: &'a Versions,
    pub(crate) edges: Edges,
    pub(crate) readers: Vec<u32>,
    pub(crate) order: Precedence,
    pub(crate) isolation: Isolation,
}

/// The result.
pub(crate) enum Answer {
    /// A topological order of the graph with all version orders.
    Found(Vec<u32>),
    /// There is none.
    Impossible,
    /// A limit was reached, with this number of open pairs.
    Undecided { pairs: usize },
}

/// The consequences of a graph.
#[derive(Default)]
struct Forced {
    fresh: Vec<(u32, u32)>,
    open: Vec<(u32, u32)>,
    count: usize,
}

/// The chains of a key in one session.
struct Lane {
    /// The session, if sessions count.
    number: u32,
    /// The places of the chains in those of the key.
    range: Range<u32>,
}

/// The open chains of a key, by session and place in it.
struct Group {
    heads: Vec<u32>,
    lanes: Vec<Lane>,
    /// By chain and session: how many chains of the session must come before it.
    before: Vec<u32>,
    /// By chain and session: the place of the first chain that must follow it.
    after: Vec<u32>,
    /// Chains without an order with all others, with the places of their sessions.
    open: Vec<(u32, u32)>,
}

impl Group {
    fn new(heads: Vec<u32>, lanes: Vec<Lane>) -> Group {
        Group { heads, lanes, before: Vec::new(), after: Vec::new(), open: Vec::new() }
    }
}

/// The result of pruning.
enum Pruned {
    Open(Vec<(u32, u32)>),
    Impossible,
    Stopped { pairs: usize },
}

impl Problem<'_> {
    pub(crate) fn solve(mut self, effort: &Effort, ways: Ways, halt: &Halt) -> Answer {
        let graph = self.edges.graph();
        let Ok(sequence) = graph.sort() else { return Answer::Impossible };
        if ways.guesses {
            // Writes that none read fit any order.
            let (fits, fresh) = self.order_by(&sequence);
            if fits && (!self.is_parallel() || self.find_missed(&self.with(fresh), &sequence).is_none()) {
                return Answer::Found(sequence);
            }
            if let Some(sequence) = self.guess(&graph) {
                return Answer::Found(sequence);
            }
        }
        drop(graph);
        let open = match if ways.prunes { self.prune(effort, halt) } else { self.all_pairs(effort) } {
            Pruned::Open(open) => open,
            Pruned::Impossible => return Answer::Impossible,
            Pruned::Stopped { pairs } => return Answer::Undecided { pairs },
        };
        self.search(&open, effort, halt)
    }

    /// A topological order, if no chains are open.
    pub(crate) fn sort(&self) -> Option<Vec<u32>> {
        let graph = self.edges.graph();
        let sequence = graph.sort().ok()?;
        let is_run = !self.is_parallel() || self.find_missed(&graph, &sequence).is_none();
        is_run.then_some(sequence)
    }

    fn is_parallel(&self) -> bool {
        self.isolation == Isolation::ParallelSnapshot
    }

    /// The edges that put a chain before another one.
    fn edges_of(&self, first: u32, second: u32) -> [(u32, u32); 2] {
        let (points, versions) = (self.edges.points, self.versions);
        let tail = versions.tail[first as usize];
        let (from, to) = (versions.node[tail as usize], versions.node[second as usize]);
        let readers = self.readers.get(tail as usize).copied().unwrap_or(NONE);
        let missed = match readers {
            NONE => NO_EDGE,
            _ if !points.has_missed => NO_EDGE,
            readers => (readers, points.commit(to)),
        };
        [(points.commit(from), points.install(to)), missed]
    }

    fn add(&mut self, first: u32, second: u32) {
        let edges = self.edges_of(first, second);
        self.edges.list.extend(edges.into_iter().filter(|edge| *edge != NO_EDGE));
    }

    /// Takes the version orders from the ends of transactions, as far as the graph allows.
    fn guess(&self, graph: &Graph) -> Option<Vec<u32>> {
        let (model, points) = (self.model, self.edges.points);
        let rank = |node: u32| match points.point(node) {
            Point::Begin(txn) if !model.txns.has_times => u64::from(model.place[txn as usize]),
            Point::Begin(txn) if points.is_split => model.start[txn as usize],
            Point::Begin(txn) | Point::Commit(txn) => {
                let (start, end) = (model.start[txn as usize], model.end[txn as usize]);
                if end == NEVER { start } else { end }
            }
            Point::Other => 0,
        };
        let order = graph.sort_by_rank(rank)?;
        let (_, fresh) = self.order_by(&order);
        let full = self.with(fresh);
        let sequence = full.sort().ok()?;
        let is_run = !self.is_parallel() || self.find_missed(&full, &sequence).is_none();
        is_run.then_some(sequence)
    }

    /// The graph with more edges.
    fn with(&self, fresh: Vec<(u32, u32)>) -> Graph {
        let list: Vec<(u32, u32)> = self.edges.list.iter().copied().chain(fresh).collect();
        Graph::new(self.edges.nodes as usize, &list)
    }

    /// The edges of the version orders that an order of all points suggests, and whether they agree with it.
    fn order_by(&self, order: &[u32]) -> (bool, Vec<(u32, u32)>) {
        let points = self.edges.points;
        let mut place = vec![0; order.len()];
        order.iter().zip(0u32..).for_each(|(&node, at)| place[node as usize] = at);
        let mut fresh = Vec::new();
        for key in self.versions.open_keys() {
            let mut heads = self.versions.open(key).to_vec();
            heads.sort_by_key(|&head| place[points.commit(self.versions.node[head as usize]) as usize]);
            for pair in heads.windows(2) {
                fresh.extend(self.edges_of(pair[0], pair[1]).into_iter().filter(|edge| *edge != NO_EDGE));
            }
        }
        let fits = fresh.iter().all(|&(from, to)| place[from as usize] < place[to as usize]);
        (fits, fresh)
    }

    fn all_pairs(&self, effort: &Effort) -> Pruned {
        let mut open = Vec::new();
        for key in self.versions.open_keys() {
            let heads = self.versions.open(key);
            if open.len() + heads.len() * (heads.len() - 1) / 2 > effort.pairs {
                return Pruned::Stopped { pairs: self.count_pairs() };
            }
            for (at, &first) in heads.iter().enumerate() {
                open.extend(heads[at + 1..].iter().map(|&second| (first, second)));
            }
        }
        Pruned::Open(open)
    }

    fn count_pairs(&self) -> usize {
        let count = |key| self.versions.open(key).len();
        self.versions.open_keys().map(|key| count(key) * (count(key) - 1) / 2).sum()
    }

    /// Adds the version orders that follow from sessions and time, between neighbors.
    pub(crate) fn add_ordered(&mut self) {
        let has_sessions = self.order != Precedence::None;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for Group { mut heads, lanes, .. } in self.groups(has_sessions) {
            for Lane { range, .. } in lanes {
                pairs.extend(heads[range.start as usize..range.end as usize].windows(2).map(|pair| (pair[0], pair[1])));
            }
            if self.order == Precedence::RealTime {
                let node = |write: u32| self.versions.node[write as usize];
                heads.sort_by_key(|&head| self.model.end[node(head) as usize]);
                let is_before = |pair: &&[u32]| self.model.is_before_in_time(node(pair[0]), node(pair[1]));
                pairs.extend(heads.windows(2).filter(is_before).map(|pair| (pair[0], pair[1])));
            }
        }
        pairs.into_iter().for_each(|(first, second)| self.add(first, second));
    }

    /// Adds edges that every version order has, until there are no more.
    fn prune(&mut self, effort: &Effort, halt: &Halt) -> Pruned {
        let has_sessions = self.order != Precedence::None;
        let mut groups = self.groups(has_sessions);
        let mut known: FxHashSet<(u32, u32)> = FxHashSet::default();
        for Group { heads, lanes, .. } in &groups {
            for Lane { range, .. } in lanes {
                for pair in heads[range.start as usize..range.end as usize].windows(2) {
                    known.insert((pair[0], pair[1]));
                    self.add(pair[0], pair[1]);
                }
            }
        }
        loop {
            if halt.is_raised() {
                return Pruned::Stopped { pairs: self.count_pairs() };
            }
            let graph = self.edges.graph();
            let Ok(sequence) = graph.sort() else { return Pruned::Impossible };
            let [range] = &*ranges(self.model, graph.len(), has_sessions) else { return self.all_pairs(effort) };
            let past = Past::new(self.model, self.edges.points, &graph, &sequence, has_sessions, range.clone());
            let mut found = Forced::default();
            for group in &mut groups {
                let is_possible = match has_sessions {
                    true => self.in_lanes(&past, group, effort, &mut found),
                    false => self.one_by_one(&past, &group.heads, effort, &mut found),
                };
                if !is_possible {
                    return Pruned::Impossible;
                }
            }
            let Forced { mut fresh, open, count } = found;
            fresh.retain(|&pair| known.insert(pair));
            if fresh.is_empty() {
                return if count > effort.pairs { Pruned::Stopped { pairs: count } } else { Pruned::Open(open) };
            }
            fresh.into_iter().for_each(|(first, second)| self.add(first, second));
        }
    }

    /// For each chain and session, the first chain that must follow it, unless a third chain is between, and the chains
    /// whose order is open. False if there is a contradiction.
    ///
    /// A chain that has an order with all others keeps it: a contradiction to that is a cycle of the graph. So later rounds
    /// look at open chains only, except at parallel snapshot, where a missed write has no edge.
    fn in_lanes(&self, past: &Past<'_>, group: &mut Group, effort: &Effort, found: &mut Forced) -> bool {
        let count = group.lanes.len();
        if group.after.is_empty() {
            group.before = vec![0; group.heads.len() * count];
            group.after = vec![NONE; group.heads.len() * count];
            group.open = (0..group.lanes.len() as u32)
                .flat_map(|lane| group.lanes[lane as usize].range.clone().map(move |at| (lane, at)))
                .collect();
        }
        self.count_before(past, group);
        let Group { heads, lanes, before, after, open } = group;
        let mut changed: Vec<usize> = Vec::new();
        let is_settled = |&(own, at): &(u32, u32)| {
            let (own, lane) = (own as usize, &lanes[own as usize]);
            let mut is_open = false;
            for (place, other) in lanes.iter().enumerate() {
                let entry = at as usize * count + place;
                if place == own {
                    after[entry] = at + 1;
                    continue;
                }
                // Later chains of a session have more before them, except at parallel snapshot.
                let is_after = |chain: u32| before[chain as usize * count + own] > at - lane.range.start;
                let first = other.range.clone().find(|&chain| is_after(chain)).unwrap_or(other.range.end);
                let earlier = other.range.start + before[entry];
                if earlier > first {
                    return None;
                }
                if after[entry] != first {
                    changed.push(entry);
                    after[entry] = first;
                }
                is_open |= earlier < first;
                let chain = heads[at as usize];
                let middle = heads[earlier as usize..first as usize].iter().filter(|&&other| chain < other);
                found.count += middle.clone().count();
                if found.open.len() <= effort.pairs {
                    found.open.extend(middle.map(|&other| (chain, other)));
                }
            }
            Some(!is_open)
        };
        let settled: Option<Vec<bool>> = open.iter().map(is_settled).collect();
        let Some(settled) = settled else { return false };
        for entry in changed {
            let (at, place) = (entry / count, entry % count);
            let (row, next) = (&after[at * count..][..count], after[entry]);
            if next >= lanes[place].range.end {
                continue;
            }
            let is_between = |(number, through): (usize, &u32)| {
                number != place
                    && *through < lanes[number].range.end
                    && after[*through as usize * count + place] <= next
            };
            if !row.iter().enumerate().any(is_between) {
                found.fresh.push((heads[at], heads[next as usize]));
            }
        }
        if !self.is_parallel() {
            let mut settled = settled.into_iter();
            open.retain(|_| settled.next() == Some(false));
        }
        true
    }

    /// By chain and session: how many chains of the session must come before it. One row of clocks says that for all sessions.
    fn count_before(&self, past: &Past<'_>, group: &mut Group) {
        let (points, versions) = (self.edges.points, self.versions);
        let Group { heads, lanes, before, open, .. } = group;
        let place = |head: u32| self.model.place[versions.node[head as usize] as usize];
        let places: Vec<u32> = heads.iter().map(|&head| place(head)).collect();
        // With a snapshot, even the begin of the other writer before this version is enough.
        let least = if points.is_split && points.is_exclusive { 1 } else { 2 };
        for &(_, at) in &*open {
            let tail = versions.tail[heads[at as usize] as usize];
            let seen = past.row(points.commit(versions.node[tail as usize]));
            let readers = self.readers.get(tail as usize).copied().filter(|&readers| readers != NONE);
            let missed = readers.map(|readers| past.row(readers));
            for (lane, count) in lanes.iter().zip(&mut before[at as usize * lanes.len()..]) {
                let seen = seen[lane.number as usize];
                let missed = missed.map_or(0, |row| row[lane.number as usize]);
                let is_before = |&&place: &&u32| 2 * place + least <= seen || 2 * place + 2 <= missed;
                let of_lane = &places[lane.range.start as usize..lane.range.end as usize];
                *count = of_lane.iter().take_while(is_before).count() as u32;
            }
        }
    }

    /// The same without sessions, for pairs that no third chain is between.
    fn one_by_one(&self, past: &Past<'_>, heads: &[u32], effort: &Effort, found: &mut Forced) -> bool {
        let width = heads.len().div_ceil(64);
        let mut later = vec![0u64; heads.len() * width];
        let bit = |row: &[u64], at: usize| row[at / 64] >> (at % 64) & 1 == 1;
        for (at, &chain) in heads.iter().enumerate() {
            for (place, &other) in heads.iter().enumerate().filter(|(place, _)| *place != at) {
                if self.is_forced(past, chain, other) {
                    later[at * width + place / 64] |= 1 << (place % 64);
                }
            }
        }
        for (at, &chain) in heads.iter().enumerate() {
            let row = &later[at * width..][..width];
            let mut implied = vec![0u64; width];
            for place in (0..heads.len()).filter(|&place| bit(row, place)) {
                let through = &later[place * width..][..width];
                implied.iter_mut().zip(through).for_each(|(all, &more)| *all |= more);
            }
            for (place, &other) in heads.iter().enumerate().filter(|(place, _)| *place != at) {
                let is_earlier = bit(&later[place * width..][..width], at);
                match (bit(row, place), is_earlier) {
                    (true, true) => return false,
                    (true, false) if !bit(&implied, place) => found.fresh.push((chain, other)),
                    (false, false) if chain < other => {
                        found.count += 1;
                        if found.open.len() <= effort.pairs {
                            found.open.push((chain, other));
                        }
                    }
                    _ => {}
                }
            }
        }
        true
    }

    /// The open chains of each key by session of their heads, and the ranges of sessions.
    fn groups(&self, has_sessions: bool) -> Vec<Group> {
        let node = |head: u32| self.versions.node[head as usize] as usize;
        let group = |key| {
            let mut heads = self.versions.open(key).to_vec();
            if !has_sessions {
                let lanes = (0..heads.len() as u32).map(|at| Lane { number: NONE, range: at..at + 1 }).collect();
                return Group::new(heads, lanes);
            }
            heads.sort_by_key(|&head| (self.model.lane[node(head)], self.model.place[node(head)]));
            let mut lanes: Vec<Lane> = Vec::new();
            for of_lane in heads.chunk_by(|a, b| self.model.lane[node(*a)] == self.model.lane[node(*b)]) {
                let start = lanes.last().map_or(0, |last| last.range.end);
                let number = self.model.lane[node(of_lane[0])];
                lanes.push(Lane { number, range: start..start + of_lane.len() as u32 });
            }
            Group::new(heads, lanes)
        };
        self.versions.open_keys().map(group).collect()
    }

    /// True if the second chain cannot come before the first one, without sessions. Then only commits are known, which are
    /// enough: pruning may find less.
    fn is_forced(&self, past: &Past<'_>, first: u32, second: u32) -> bool {
        let (points, versions) = (self.edges.points, self.versions);
        let tail = versions.tail[second as usize];
        let (head, last) = (versions.node[first as usize], versions.node[tail as usize]);
        let readers = self.readers.get(tail as usize).copied().unwrap_or(NONE);
        past.reaches(points.commit(head), points.commit(last))
            || (readers != NONE && past.reaches(points.commit(head), readers))
    }

    fn search(&self, open: &[(u32, u32)], effort: &Effort, halt: &Halt) -> Answer {
        let variable = |&(first, second): &(u32, u32)| Variable {
            edges: [self.edges_of(first, second), self.edges_of(second, first)],
        };
        let variables: Vec<Variable> = open.iter().map(variable).collect();
        let graph = self.edges.graph();
        let Ok(order) = graph.sort() else { return Answer::Impossible };
        let number_of: FxHashMap<(u32, u32), u32> = match self.is_parallel() {
            true => open.iter().copied().zip(0..).collect(),
            false => FxHashMap::default(),
        };
        let check = |dynamic: &Dynamic<'_>| {
            if self.is_parallel() { self.refute(dynamic, &number_of) } else { None }
        };
        match Solver::new(&graph, &order, &variables).solve(effort.conflicts, halt, check) {
            Solved::Order(sequence) => Answer::Found(sequence),
            Solved::Impossible => Answer::Impossible,
            Solved::GaveUp => Answer::Undecided { pairs: open.len() },
        }
    }

    /// Parallel snapshot: literals that make a transaction see a write that one of its reads missed.
    fn refute(&self, dynamic: &Dynamic<'_>, number_of: &FxHashMap<(u32, u32), u32>) -> Option<Vec<Literal>> {
        let sequence = dynamic.sequence();
        let mut list = Vec::new();
        let mut literal_of: FxHashMap<(u32, u32), Literal> = FxHashMap::default();
        for node in 0..sequence.len() as u32 {
            dynamic.visit_after(node, |to, literal| {
                list.push((node, to));
                if literal == NONE {
                    literal_of.insert((node, to), NONE);
                } else {
                    literal_of.entry((node, to)).or_insert(literal);
                }
            });
        }
        let graph = Graph::new(sequence.len(), &list);
        let (read, reader, writer) = self.find_missed(&graph, &sequence)?;
        let path = graph.path(writer, reader).expect("the writer leads to the reader");
        let mut literals: Vec<Literal> = path.windows(2).map(|pair| literal_of[&(pair[0], pair[1])]).collect();
        // The order of the two versions, if it is a choice.
        if read.source != INITIAL {
            let write = |node| self.versions.write(self.model, node, read.key).expect("a writer of the key");
            let (source, next) = (write(read.source), write(writer));
            let heads = self.versions.open(read.key);
            let first = heads.iter().copied().find(|&head| self.versions.tail[head as usize] == source);
            literals.extend(first.map(|first| match number_of.get(&(first, next)) {
                Some(number) => 2 * number,
                None => number_of.get(&(next, first)).map_or(NONE, |number| 2 * number + 1),
            }));
        }
        literals.retain(|&literal| literal != NONE);
        literals.sort_unstable();
        literals.dedup();
        Some(literals)
    }

    /// With an order of all chains: a read, its transaction, and the next writer, which leads to the transaction.
    pub(crate) fn find_missed(&self, graph: &Graph, sequence: &[u32]) -> Option<(Read, u32, u32)> {
        let mut place = vec![0; graph.len()];
        sequence.iter().zip(0u32..).for_each(|(&node, at)| place[node as usize] = at);
        // For each write, the one after it; for each key, the first.
        let mut next = self.versions.next.clone();
        let mut first = vec![NONE; self.versions.heads.len()];
        for (key, heads) in self.versions.heads.iter().enumerate() {
            let mut heads = heads.clone();
            heads.sort_by_key(|&head| place[self.versions.node[head as usize] as usize]);
            first[key] = heads.first().copied().unwrap_or(NONE);
            for pair in heads.windows(2) {
                next[self.versions.tail[pair[0] as usize] as usize] = pair[1];
            }
        }
        let has_sessions = self.order != Precedence::None;
        for range in ranges(self.model, graph.len(), has_sessions) {
            let past = Past::new(self.model, self.edges.points, graph, sequence, has_sessions, range.clone());
            for node in 0..self.model.len() as u32 {
                for &read in self.model.reads.of(node) {
                    let after = match read.source {
                        INITIAL => first[read.key as usize],
                        source => {
                            let write = self.versions.write(self.model, source, read.key);
                            next[write.expect("the source of a read wrote the key") as usize]
                        }
                    };
                    if after == NONE {
                        continue;
                    }
                    let writer = self.versions.node[after as usize];
                    let number = if has_sessions { self.model.lane[writer as usize] } else { writer };
                    if writer != node && range.contains(&number) && past.has_commit(writer, node) {
                        return Some((read, node, writer));
                    }
                }
            }
        }
        None
    }
}
