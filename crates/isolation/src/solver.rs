//! A search for an orientation of pairs that leaves a graph without a cycle.
//!
//! A variable is a pair of chains of writes; each value of it adds up to two edges to the graph. The graph keeps a dynamic
//! topological order (Pearce and Kelly, 2006), and backtracking only takes edges away, so the order stays valid. An
//! edge that closes a cycle gives a clause of the pairs on it. From a conflict the search learns the first unique
//! implication point, and jumps back (Marques-Silva and Sakallah, 1999). It first tries the orientation that the order
//! suggests.

use omnilink_history::Halt;

use crate::graph::Graph;
use crate::transactions::NONE;

/// A variable with a value: twice the variable, and one if it is false.
pub(crate) type Literal = u32;

/// The edges of the two values of a variable. `NONE` stands for no edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) edges: [[(u32, u32); 2]; 2],
}

/// No edge.
pub(crate) const NO_EDGE: (u32, u32) = (NONE, NONE);

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Solved {
    /// A topological order of the graph.
    Order(Vec<u32>),
    /// No orientation leaves the graph without a cycle.
    Impossible,
    /// The limit was reached.
    GaveUp,
}

/// The search.
pub(crate) struct Solver<'a> {
    variables: &'a [Variable],
    dynamic: Dynamic<'a>,
    clauses: Vec<Vec<Literal>>,
    watches: Vec<Vec<u32>>, // By literal: the clauses that watch it.
    values: Vec<u8>,        // By variable: `UNSET`, or the sign.
    levels: Vec<u32>,
    reasons: Vec<u32>, // The clause that implied it, or `NONE`.
    trail: Vec<Literal>,
    limits: Vec<usize>, // The length of the trail before each decision.
    added: usize,       // The literals of the trail whose edges are in the graph.
    propagated: usize,
    next: usize,
    is_marked: Vec<bool>,
}

const UNSET: u8 = 2;

impl<'a> Solver<'a> {
    /// A search on a graph with this topological order.
    pub(crate) fn new(graph: &'a Graph, order: &[u32], variables: &'a [Variable]) -> Solver<'a> {
        let count = variables.len();
        Solver {
            variables,
            dynamic: Dynamic::new(graph, order),
            clauses: Vec::new(),
            watches: vec![Vec::new(); 2 * count],
            values: vec![UNSET; count],
            levels: vec![0; count],
            reasons: vec![NONE; count],
            trail: Vec::new(),
            limits: Vec::new(),
            added: 0,
            propagated: 0,
            next: 0,
            is_marked: vec![false; count],
        }
    }

    /// Adds a clause before the search.
    #[cfg(test)]
    pub(crate) fn add_clause(&mut self, clause: Vec<Literal>) {
        self.watch(clause);
    }

    /// Searches. When all pairs have an order, `check` may refute it with literals that cannot all be true.
    pub(crate) fn solve(
        mut self,
        conflicts: u64,
        halt: &Halt,
        mut check: impl FnMut(&Dynamic<'_>) -> Option<Vec<Literal>>,
    ) -> Solved {
        let mut left = conflicts;
        loop {
            let conflict = match self.propagate() {
                Some(conflict) => conflict,
                None if self.decide() => continue,
                None => match check(&self.dynamic) {
                    None => return Solved::Order(self.dynamic.sequence()),
                    Some(refuted) => refuted.into_iter().map(|literal| literal ^ 1).collect(),
                },
            };
            if left == 0 || halt.is_raised() {
                return Solved::GaveUp;
            }
            left -= 1;
            if !self.learn(conflict) {
                return Solved::Impossible;
            }
        }
    }

    fn is_true(&self, literal: Literal) -> bool {
        self.values[literal as usize / 2] == (literal & 1) as u8
    }

    fn is_false(&self, literal: Literal) -> bool {
        self.values[literal as usize / 2] == (literal & 1) as u8 ^ 1
    }

    fn assign(&mut self, literal: Literal, reason: u32) {
        let variable = literal as usize / 2;
        self.values[variable] = (literal & 1) as u8;
        self.levels[variable] = self.limits.len() as u32;
        self.reasons[variable] = reason;
        self.trail.push(literal);
    }

    /// Adds the edges of the trail, and follows clauses. Returns literals that are all false, but have to be true in part.
    fn propagate(&mut self) -> Option<Vec<Literal>> {
        loop {
            if self.propagated < self.trail.len() {
                let literal = self.trail[self.propagated];
                self.propagated += 1;
                if let Some(clause) = self.follow(literal ^ 1) {
                    return Some(self.clauses[clause as usize].clone());
                }
                continue;
            }
            let &literal = self.trail.get(self.added)?;
            for (from, to) in self.variables[literal as usize / 2].edges[(literal & 1) as usize] {
                if from == NONE {
                    continue;
                }
                if let Some(mut cycle) = self.dynamic.add(from, to, literal) {
                    // The edges of this literal are taken away with it.
                    self.added += 1;
                    cycle.iter_mut().for_each(|on_cycle| *on_cycle ^= 1);
                    return Some(cycle);
                }
            }
            self.added += 1;
        }
    }

    /// Visits the clauses that watch a literal that became false.
    fn follow(&mut self, falsified: Literal) -> Option<u32> {
        let mut watching = std::mem::take(&mut self.watches[falsified as usize]);
        let mut kept = 0;
        let mut conflict = None;
        let mut at = 0;
        while at < watching.len() {
            let clause = watching[at];
            at += 1;
            let mut literals = std::mem::take(&mut self.clauses[clause as usize]);
            if literals[0] == falsified {
                literals.swap(0, 1);
            }
            let other = literals[0];
            let replacement = match self.is_true(other) {
                true => None,
                false => literals[2..].iter().position(|&literal| !self.is_false(literal)),
            };
            if let Some(place) = replacement {
                literals.swap(1, place + 2);
                self.watches[literals[1] as usize].push(clause);
            } else {
                watching[kept] = clause;
                kept += 1;
                if self.is_false(other) {
                    conflict = Some(clause);
                } else if !self.is_true(other) {
                    self.assign(other, clause);
                }
            }
            self.clauses[clause as usize] = literals;
            if conflict.is_some() {
                break;
            }
        }
        watching.copy_within(at.., kept);
        watching.truncate(kept + watching.len() - at);
        self.watches[falsified as usize] = watching;
        conflict
    }

    /// Gives the next pair an order. False if all have one.
    fn decide(&mut self) -> bool {
        while self.next < self.values.len() && self.values[self.next] != UNSET {
            self.next += 1;
        }
        let Some(variable) = self.variables.get(self.next) else { return false };
        self.limits.push(self.trail.len());
        let fits = |edges: &[(u32, u32); 2]| {
            edges.iter().filter(|(from, to)| *from != NONE && self.dynamic.has_order(*from, *to)).count()
                + edges.iter().filter(|(from, _)| *from == NONE).count()
        };
        let sign = u32::from(fits(&variable.edges[1]) > fits(&variable.edges[0]));
        self.assign(2 * self.next as u32 + sign, NONE);
        true
    }

    /// Learns from literals that are all false. False if that is without any decision.
    fn learn(&mut self, conflict: Vec<Literal>) -> bool {
        let deepest = conflict.iter().map(|&literal| self.levels[literal as usize / 2]).max().unwrap_or(0);
        if deepest == 0 {
            return false;
        }
        self.undo_to(deepest);
        let mut learned: Vec<Literal> = vec![NONE];
        let mut clause = conflict;
        let (mut open, mut at) = (0, self.trail.len());
        let mut marked = Vec::new();
        loop {
            for &literal in &clause {
                let variable = literal as usize / 2;
                if self.is_marked[variable] || self.levels[variable] == 0 || self.is_true(literal) {
                    continue;
                }
                self.is_marked[variable] = true;
                marked.push(variable);
                if self.levels[variable] == deepest {
                    open += 1;
                } else {
                    learned.push(literal);
                }
            }
            let literal = loop {
                at -= 1;
                let literal = self.trail[at];
                if self.is_marked[literal as usize / 2] {
                    break literal;
                }
            };
            open -= 1;
            if open == 0 {
                learned[0] = literal ^ 1;
                break;
            }
            clause = self.clauses[self.reasons[literal as usize / 2] as usize].clone();
        }
        marked.into_iter().for_each(|variable| self.is_marked[variable] = false);
        let back = learned[1..].iter().map(|&literal| self.levels[literal as usize / 2]).max().unwrap_or(0);
        self.undo_to(back);
        if let Some(place) = learned[1..].iter().position(|&literal| self.levels[literal as usize / 2] == back) {
            learned.swap(1, place + 1);
        }
        let implied = learned[0];
        let reason = if learned.len() > 1 { self.watch(learned) } else { NONE };
        self.assign(implied, reason);
        true
    }

    fn watch(&mut self, clause: Vec<Literal>) -> u32 {
        let number = self.clauses.len() as u32;
        clause[..2].iter().for_each(|&literal| self.watches[literal as usize].push(number));
        self.clauses.push(clause);
        number
    }

    /// Takes back everything after this level.
    fn undo_to(&mut self, level: u32) {
        let Some(&keep) = self.limits.get(level as usize) else { return };
        self.limits.truncate(level as usize);
        while self.trail.len() > keep {
            let literal = self.trail.pop().expect("the trail is longer");
            if self.added > self.trail.len() {
                self.added = self.trail.len();
                self.dynamic.remove(literal);
            }
            self.values[literal as usize / 2] = UNSET;
            self.next = self.next.min(literal as usize / 2);
        }
        self.propagated = self.propagated.min(keep);
    }
}

/// A graph with more edges than it began with, and a topological order of it.
pub(crate) struct Dynamic<'a> {
    graph: &'a Graph,
    reversed: Graph,
    place: Vec<u32>,
    after: Vec<u32>, // For each node, its last added edge out, or `NONE`.
    before: Vec<u32>,
    edges: Vec<Added>,
    is_met: Vec<bool>,
    cause: Vec<(u32, Literal)>, // While searching: the node before, and the literal of the edge.
}

/// An edge that a literal added.
struct Added {
    from: u32,
    to: u32,
    literal: Literal,
    next_after: u32,
    next_before: u32,
}

impl<'a> Dynamic<'a> {
    fn new(graph: &'a Graph, order: &[u32]) -> Dynamic<'a> {
        let count = graph.len();
        let mut place = vec![0; count];
        order.iter().zip(0..).for_each(|(&node, at)| place[node as usize] = at);
        let mut reversed = Vec::with_capacity(graph.edge_count());
        for node in 0..count as u32 {
            reversed.extend(graph.of(node).iter().map(|&to| (to, node)));
        }
        Dynamic {
            graph,
            reversed: Graph::new(count, &reversed),
            place,
            after: vec![NONE; count],
            before: vec![NONE; count],
            edges: Vec::new(),
            is_met: vec![false; count],
            cause: vec![(NONE, NONE); count],
        }
    }

    pub(crate) fn has_order(&self, from: u32, to: u32) -> bool {
        self.place[from as usize] < self.place[to as usize]
    }

    /// All nodes in the order.
    pub(crate) fn sequence(&self) -> Vec<u32> {
        let mut sequence = vec![0; self.place.len()];
        self.place.iter().zip(0..).for_each(|(&place, node)| sequence[place as usize] = node);
        sequence
    }

    /// Visits the edges out of a node, with the literals that added them.
    pub(crate) fn visit_after(&self, node: u32, mut visit: impl FnMut(u32, Literal)) {
        self.graph.of(node).iter().for_each(|&to| visit(to, NONE));
        let mut edge = self.after[node as usize];
        while edge != NONE {
            let Added { to, literal, next_after, .. } = self.edges[edge as usize];
            visit(to, literal);
            edge = next_after;
        }
    }

    fn visit_before(&self, node: u32, mut visit: impl FnMut(u32)) {
        self.reversed.of(node).iter().for_each(|&from| visit(from));
        let mut edge = self.before[node as usize];
        while edge != NONE {
            let Added { from, next_before, .. } = self.edges[edge as usize];
            visit(from);
            edge = next_before;
        }
    }

    /// Adds an edge, or returns the literals of a cycle that it would close.
    fn add(&mut self, from: u32, to: u32, literal: Literal) -> Option<Vec<Literal>> {
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        if from == to {
            return Some(vec![literal]);
        }
        if high > low {
            let (forward, cycle) = self.search_forward(to, from, high);
            if let Some(mut cycle) = cycle {
                forward.iter().for_each(|&node| self.is_met[node as usize] = false);
                cycle.push(literal);
                cycle.sort_unstable();
                cycle.dedup();
                return Some(cycle);
            }
            let backward = self.search_backward(from, low);
            self.reorder(forward, backward);
        }
        let number = self.edges.len() as u32;
        let (next_after, next_before) = (self.after[from as usize], self.before[to as usize]);
        self.edges.push(Added { from, to, literal, next_after, next_before });
        (self.after[from as usize], self.before[to as usize]) = (number, number);
        None
    }

    /// The nodes that follow a node and come no later than a place; and the literals of a path to the target, if any.
    fn search_forward(&mut self, start: u32, target: u32, high: u32) -> (Vec<u32>, Option<Vec<Literal>>) {
        let mut found = vec![start];
        self.is_met[start as usize] = true;
        self.cause[start as usize] = (NONE, NONE);
        let mut at = 0;
        while at < found.len() {
            let node = found[at];
            at += 1;
            let mut fresh = Vec::new();
            self.visit_after(node, |to, literal| {
                if self.place[to as usize] <= high && !self.is_met[to as usize] {
                    fresh.push((to, literal));
                }
            });
            for (to, literal) in fresh {
                if std::mem::replace(&mut self.is_met[to as usize], true) {
                    continue;
                }
                self.cause[to as usize] = (node, literal);
                found.push(to);
                if to == target {
                    let mut literals = Vec::new();
                    let mut step = to;
                    while step != start {
                        let (before, literal) = self.cause[step as usize];
                        if literal != NONE {
                            literals.push(literal);
                        }
                        step = before;
                    }
                    return (found, Some(literals));
                }
            }
        }
        (found, None)
    }

    fn search_backward(&mut self, start: u32, low: u32) -> Vec<u32> {
        let mut found = vec![start];
        self.is_met[start as usize] = true;
        let mut at = 0;
        while at < found.len() {
            let node = found[at];
            at += 1;
            let mut fresh = Vec::new();
            self.visit_before(node, |from| {
                if self.place[from as usize] >= low && !self.is_met[from as usize] {
                    fresh.push(from);
                }
            });
            for from in fresh {
                if !std::mem::replace(&mut self.is_met[from as usize], true) {
                    found.push(from);
                }
            }
        }
        found
    }

    /// Moves the nodes before an edge in front of those after it, in the places that they have together.
    fn reorder(&mut self, mut forward: Vec<u32>, mut backward: Vec<u32>) {
        forward.sort_unstable_by_key(|&node| self.place[node as usize]);
        backward.sort_unstable_by_key(|&node| self.place[node as usize]);
        let mut places: Vec<u32> = forward.iter().chain(&backward).map(|&node| self.place[node as usize]).collect();
        places.sort_unstable();
        for (node, place) in backward.into_iter().chain(forward).zip(places) {
            self.place[node as usize] = place;
            self.is_met[node as usize] = false;
        }
    }

    /// Takes away the edges of a literal, which are the last ones.
    fn remove(&mut self, literal: Literal) {
        while self.edges.last().is_some_and(|edge| edge.literal == literal) {
            let Added { from, to, next_after, next_before, .. } = self.edges.pop().expect("the last edge");
            (self.after[from as usize], self.before[to as usize]) = (next_after, next_before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random clauses and graphs against all orientations.
    #[test]
    fn searches_agree_with_trying_everything() {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut counts = [0; 2];
        for _ in 0..4_000 {
            let nodes = rng.u32(3..8);
            let mut edges = Vec::new();
            for from in 0..nodes {
                for to in from + 1..nodes {
                    if rng.u32(0..6) == 0 {
                        edges.push((from, to));
                    }
                }
            }
            let graph = Graph::new(nodes as usize, &edges);
            let edge = |rng: &mut fastrand::Rng| match rng.u32(0..4) {
                0 => NO_EDGE,
                _ => (rng.u32(0..nodes), rng.u32(0..nodes)),
            };
            let count = rng.usize(1..9);
            let variable =
                |rng: &mut fastrand::Rng| Variable { edges: [[edge(rng), edge(rng)], [edge(rng), edge(rng)]] };
            let variables: Vec<Variable> = (0..count).map(|_| variable(&mut rng)).collect();
            let clause = |rng: &mut fastrand::Rng| -> Vec<u32> {
                let first = rng.usize(0..count);
                let second = (first + 1 + rng.usize(0..count.max(2) - 1)) % count.max(2);
                [first, second.min(count - 1)].map(|variable| 2 * variable as u32 + rng.u32(0..2)).into()
            };
            let clauses: Vec<Vec<u32>> = (0..rng.usize(0..8)).map(|_| clause(&mut rng)).collect();
            let clauses: Vec<Vec<u32>> = clauses.into_iter().filter(|clause| clause[0] / 2 != clause[1] / 2).collect();
            let is_possible = (0..1u32 << count).any(|signs| {
                let sign = |variable: usize| signs >> variable & 1;
                let holds = |literal: &u32| sign(*literal as usize / 2) == literal & 1;
                let mut all = edges.clone();
                for (at, variable) in variables.iter().enumerate() {
                    all.extend(variable.edges[sign(at) as usize].iter().filter(|edge| edge.0 != NONE));
                }
                clauses.iter().all(|clause| clause.iter().any(holds)) && Graph::new(nodes as usize, &all).sort().is_ok()
            });
            let order = graph.sort().expect("edges lead to larger numbers");
            let mut solver = Solver::new(&graph, &order, &variables);
            clauses.into_iter().for_each(|clause| solver.add_clause(clause));
            let solved = solver.solve(u64::MAX, &Halt::default(), |_| None);
            assert_eq!(matches!(solved, Solved::Order(_)), is_possible, "{edges:?} {variables:?}");
            counts[usize::from(is_possible)] += 1;
        }
        assert!(counts.into_iter().all(|count| count > 600), "{counts:?}");
    }
}
