//! Directed graphs in two arrays: topological orders and shortest cycles.

use std::collections::VecDeque;

use crate::transactions::NONE;

/// A graph.
#[derive(Debug)]
pub(crate) struct Graph {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

/// How many cycles are tried for the shortest one, and how many nodes a search may visit in all.
const STARTS: usize = 200;
const VISITS: usize = 20_000_000;

impl Graph {
    pub(crate) fn new(count: usize, edges: &[(u32, u32)]) -> Graph {
        let mut starts = vec![0; count + 1];
        edges.iter().for_each(|&(from, _)| starts[from as usize] += 1);
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut targets = vec![0; total as usize];
        for &(from, to) in edges.iter().rev() {
            starts[from as usize] -= 1;
            targets[starts[from as usize] as usize] = to;
        }
        Graph { starts, targets }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn edge_count(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn of(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    fn waits(&self) -> Vec<u32> {
        let mut waits = vec![0; self.len()];
        self.targets.iter().for_each(|&to| waits[to as usize] += 1);
        waits
    }

    /// All nodes in a topological order, or those that a cycle keeps back.
    pub(crate) fn sort(&self) -> Result<Vec<u32>, Vec<bool>> {
        let mut waits = self.waits();
        let mut order = Vec::with_capacity(self.len());
        let mut ready = Vec::new();
        // In the order of numbers as far as possible, which touches memory in order.
        for node in 0..self.len() as u32 {
            if waits[node as usize] == 0 {
                ready.push(node);
            }
            while let Some(next) = ready.pop() {
                waits[next as usize] = NONE;
                order.push(next);
                for &to in self.of(next) {
                    waits[to as usize] -= 1;
                    if waits[to as usize] == 0 && to < node {
                        ready.push(to);
                    }
                }
            }
        }
        if order.len() == self.len() { Ok(order) } else { Err(waits.iter().map(|&left| left != NONE).collect()) }
    }

    /// A topological order in which nodes with lower ranks come first where the graph leaves a choice.
    pub(crate) fn sort_by_rank(&self, rank: impl Fn(u32) -> u64) -> Option<Vec<u32>> {
        let mut waits = self.waits();
        let mut order = Vec::with_capacity(self.len());
        let item = |node: u32| std::cmp::Reverse((rank(node), node));
        let free = (0..self.len() as u32).filter(|&node| waits[node as usize] == 0);
        let mut ready: std::collections::BinaryHeap<_> = free.map(item).collect();
        while let Some(std::cmp::Reverse((_, node))) = ready.pop() {
            order.push(node);
            for &to in self.of(node) {
                waits[to as usize] -= 1;
                if waits[to as usize] == 0 {
                    ready.push(item(to));
                }
            }
        }
        (order.len() == self.len()).then_some(order)
    }

    /// A short cycle through a node for which `is_start` holds, if there is any cycle: `weight` says which nodes count. The
    /// result begins with that node, and has every node once.
    pub(crate) fn short_cycle(&self, left: &[bool], weight: impl Fn(u32) -> u32) -> Option<Vec<u32>> {
        let component = self.components(left);
        let mut best: Option<(u32, Vec<u32>)> = None;
        let mut search = Search { parent: vec![NONE; self.len()], touched: Vec::new(), visits: 0 };
        let is_cyclic = |&node: &u32| component[node as usize] != NONE && weight(node) > 0;
        let starts: Vec<u32> = (0..self.len() as u32).filter(is_cyclic).collect();
        let step = starts.len().div_ceil(STARTS).max(1);
        for &start in starts.iter().step_by(step) {
            let limit = best.as_ref().map_or(u32::MAX, |(cost, _)| *cost);
            if let Some(found) = search.cycle_through(self, &component, start, limit, &weight) {
                best = Some(found);
            }
            if search.visits > VISITS {
                break;
            }
        }
        best.map(|(_, cycle)| cycle)
    }

    /// A path with the fewest nodes that count between two nodes, both among its nodes.
    pub(crate) fn path(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let mut parent = vec![NONE; self.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for &next in self.of(node) {
                if parent[next as usize] == NONE && next != from {
                    parent[next as usize] = node;
                    if next == to {
                        let mut path = vec![to];
                        while path.last() != Some(&from) {
                            path.push(parent[*path.last().expect("the path has a node") as usize]);
                        }
                        path.reverse();
                        return Some(path);
                    }
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// The strongly connected component of each node that is on a cycle, otherwise `NONE`. Tarjan, without recursion.
    fn components(&self, left: &[bool]) -> Vec<u32> {
        let count = self.len();
        let (mut index, mut low) = (vec![NONE; count], vec![0; count]);
        let (mut component, mut is_open) = (vec![NONE; count], vec![false; count]);
        let (mut open, mut next, mut calls) = (Vec::new(), 0, Vec::new());
        for root in (0..count as u32).filter(|&node| left[node as usize]) {
            if index[root as usize] != NONE {
                continue;
            }
            calls.push((root, 0));
            while let Some((node, place)) = calls.pop() {
                if place == 0 {
                    (index[node as usize], low[node as usize]) = (next, next);
                    next += 1;
                    open.push(node);
                    is_open[node as usize] = true;
                }
                let rest = &self.of(node)[place..];
                let fresh = rest.iter().position(|&to| {
                    if is_open[to as usize] {
                        low[node as usize] = low[node as usize].min(index[to as usize]);
                    }
                    left[to as usize] && index[to as usize] == NONE
                });
                if let Some(at) = fresh {
                    calls.push((node, place + at + 1));
                    calls.push((rest[at], 0));
                    continue;
                }
                if low[node as usize] == index[node as usize] {
                    let size = open.iter().rev().position(|&other| other == node).expect("an open node") + 1;
                    for other in open.drain(open.len() - size..) {
                        is_open[other as usize] = false;
                        component[other as usize] = if size > 1 { node } else { NONE };
                    }
                }
                if let Some(&(parent, _)) = calls.last() {
                    low[parent as usize] = low[parent as usize].min(low[node as usize]);
                }
            }
        }
        component
    }
}

/// Breadth-first searches that share their memory.
struct Search {
    parent: Vec<u32>,
    touched: Vec<u32>,
    visits: usize,
}

impl Search {
    /// The cheapest cycle through a node that costs less than the limit. Nodes that do not count cost nothing.
    fn cycle_through(
        &mut self,
        graph: &Graph,
        component: &[u32],
        start: u32,
        limit: u32,
        weight: impl Fn(u32) -> u32,
    ) -> Option<(u32, Vec<u32>)> {
        self.touched.drain(..).for_each(|node| self.parent[node as usize] = NONE);
        let mut queue = VecDeque::from([(start, weight(start))]);
        while let Some((node, cost)) = queue.pop_front() {
            if cost >= limit {
                continue;
            }
            self.visits += 1;
            for &to in graph.of(node) {
                if to == start {
                    let mut cycle = vec![node];
                    while cycle.last() != Some(&start) {
                        cycle.push(self.parent[*cycle.last().expect("the cycle has a node") as usize]);
                    }
                    cycle.reverse();
                    return Some((cost, cycle));
                }
                if component[to as usize] == component[start as usize] && self.parent[to as usize] == NONE {
                    self.parent[to as usize] = node;
                    self.touched.push(to);
                    match weight(to) {
                        0 => queue.push_front((to, cost)),
                        weight => queue.push_back((to, cost + weight)),
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_sort_or_have_a_shortest_cycle() {
        let graph = Graph::new(4, &[(3, 1), (1, 0), (0, 2)]);
        assert_eq!(graph.sort().ok(), Some(vec![3, 1, 0, 2]));
        assert_eq!(graph.path(3, 2), Some(vec![3, 1, 0, 2]));
        let cyclic = Graph::new(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 4), (4, 1), (5, 0)]);
        let left = cyclic.sort().expect_err("a cycle");
        assert_eq!(cyclic.short_cycle(&left, |_| 1), Some(vec![1, 2, 4]));
    }
}
