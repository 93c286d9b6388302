//! How each configuration was reached.
//!
//! Configurations share their past, so it is kept as a tree: a node is one placed operation and the node before it.
//! Most configurations die, and the survivors soon agree on how they began. [`Trails::settle`] drops the nodes of
//! dead configurations and moves the prefix common to all living ones into the settled past, so the tree stays as
//! small as the undecided part, however long the history is. A settling pass is linear in the tree and is made when
//! the tree has doubled, so it costs a constant per node.
//!
//! An *absorbed* operation has a node at the place where it counts as placed. If its effect is used later, it has
//! another node there, and the first one is void. So a node of an absorbed operation is settled once the operation
//! has returned and all living configurations agree on it.

use omnilink_history::OpId;
use rustc_hash::FxHashSet;

/// One step of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placed {
    /// The operation that takes the step.
    pub op: OpId,
    /// The index of the chosen successor among those that the spec returns.
    pub choice: u32,
    /// True if the operation is not over with this step.
    pub partway: bool,
}

/// One entry of a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An operation takes a step.
    Taken(Placed),
    /// An operation takes effect here, without consequence, unless it is taken later.
    Absorbed(OpId),
}

/// The past of one configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trail(u32);

#[derive(Debug)]
pub(crate) struct Trails {
    nodes: Vec<Node>, // Invariant: a node comes after the one before it in the trail.
    settle_at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    before: u32,
    op: OpId,
    branch: u32, // The choice, and in the lowest bit whether the step is partway; or `ABSORBED`.
}

impl Node {
    fn placed(self) -> Placed {
        match self.is_absorbed() {
            true => Placed { op: self.op, choice: 0, partway: false },
            false => Placed { op: self.op, choice: self.branch >> 1, partway: self.branch & 1 == 1 },
        }
    }

    fn is_absorbed(self) -> bool {
        self.branch == ABSORBED
    }
}

const ABSORBED: u32 = u32::MAX;

/// Replaces the operation in the step that chooses an initial state. No history has an operation of this number.
pub(crate) const INITIAL: OpId = OpId(u32::MAX);

const ROOT: u32 = u32::MAX;
const SMALLEST_PASS: usize = 1 << 12;

impl Trails {
    pub(crate) fn new() -> Trails {
        Trails { nodes: Vec::new(), settle_at: SMALLEST_PASS }
    }

    /// A past that holds only the choice of an initial state.
    pub(crate) fn begin(&mut self, initial: u32) -> Trail {
        self.push(ROOT, Placed { op: INITIAL, choice: initial, partway: false })
    }

    pub(crate) fn extend(&mut self, trail: Trail, placed: Placed) -> Trail {
        self.push(trail.0, placed)
    }

    pub(crate) fn extend_all(&mut self, trail: Trail, entries: &[Entry]) -> Trail {
        entries.iter().fold(trail, |trail, &entry| match entry {
            Entry::Taken(placed) => self.extend(trail, placed),
            Entry::Absorbed(op) => self.push_node(Node { before: trail.0, op, branch: ABSORBED }),
        })
    }

    pub(crate) fn wants_settling(&self) -> bool {
        self.nodes.len() >= self.settle_at
    }

    /// Drops all trails but these, which it renames, and returns the steps that they all begin with. The first step
    /// ever returned is the choice of an initial state, with [`INITIAL`] as operation.
    pub(crate) fn settle(&mut self, living: Vec<&mut Trail>, has_returned: &dyn Fn(OpId) -> bool) -> Vec<Placed> {
        let mut settled = Vec::new();
        let mut is_end = vec![false; self.nodes.len()];
        let mut followers = vec![0_u32; self.nodes.len()];
        let mut starts = 0;
        for trail in &living {
            match trail.0 {
                ROOT => starts = 2, // The whole past of this trail is settled, so no further step is common to all.
                index => is_end[index as usize] = true,
            }
        }
        for index in (0..self.nodes.len()).rev() {
            if is_end[index] || followers[index] > 0 {
                match self.nodes[index].before {
                    ROOT => starts += 1,
                    before => followers[before as usize] += 1,
                }
            }
        }
        let is_alive = |index: usize| is_end[index] || followers[index] > 0;
        let mut common = 0; // Living nodes before this one are the common prefix of all trails.
        if starts == 1 {
            let parts = |index: &usize| is_end[*index] || followers[*index] > 1;
            let last = (0..self.nodes.len()).filter(|&index| is_alive(index)).find(parts);
            common = last.map_or(0, |last| last + 1);
        }
        let (common, is_void) = self.decided(common, &is_alive, has_returned);
        let mut renamed = vec![ROOT; self.nodes.len()];
        let mut kept = 0;
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if !is_alive(index) {
                continue;
            } else if index < common {
                if !is_void.contains(&index) {
                    settled.push(node.placed());
                }
            } else {
                let before = if node.before == ROOT { ROOT } else { renamed[node.before as usize] };
                self.nodes[kept] = Node { before, ..node };
                renamed[index] = kept as u32;
                kept += 1;
            }
        }
        for trail in living {
            trail.0 = if trail.0 == ROOT { ROOT } else { renamed[trail.0 as usize] };
        }
        self.nodes.truncate(kept);
        self.settle_at = SMALLEST_PASS.max(2 * kept);
        settled
    }

    /// The number of leading nodes that are decided: up to the first absorbed operation that may still be taken, or
    /// that some living trails take and others do not. Also the void nodes before that, whose operation all trails
    /// take later.
    fn decided(
        &self,
        common: usize,
        is_alive: &impl Fn(usize) -> bool,
        has_returned: &dyn Fn(OpId) -> bool,
    ) -> (usize, Vec<usize>) {
        let is_absorbed = |index: &usize| is_alive(*index) && self.nodes[*index].is_absorbed();
        let absorbed: Vec<usize> = (0..common).filter(is_absorbed).collect();
        if absorbed.is_empty() {
            return (common, Vec::new());
        }
        let mut ops: Vec<(OpId, usize)> = absorbed.iter().map(|&index| (self.nodes[index].op, usize::MAX)).collect();
        ops.sort();
        for index in (0..self.nodes.len()).rev().filter(|&index| is_alive(index) && !self.nodes[index].is_absorbed()) {
            if let Ok(place) = ops.binary_search_by_key(&self.nodes[index].op, |&(op, _)| op) {
                ops[place].1 = index;
            }
        }
        let mut is_void = Vec::new();
        for index in absorbed {
            let op = self.nodes[index].op;
            let place = ops.binary_search_by_key(&op, |&(op, _)| op).expect("an operation from this list");
            match ops[place].1 {
                _ if !has_returned(op) => return (index, is_void),
                usize::MAX => {}
                taken if taken < common => is_void.push(index),
                _ => return (index, is_void),
            }
        }
        (common, is_void)
    }

    /// True if a step of the operation is not settled.
    pub(crate) fn mention(&self, op: OpId) -> bool {
        self.nodes.iter().any(|node| node.op == op)
    }

    /// The steps of a trail since the settled past, first to last.
    pub(crate) fn steps(&self, trail: Trail) -> Vec<Placed> {
        let mut nodes = Vec::new();
        let mut index = trail.0;
        while index != ROOT {
            nodes.push(self.nodes[index as usize]);
            index = self.nodes[index as usize].before;
        }
        if nodes.iter().any(|node| node.is_absorbed()) {
            let taken: FxHashSet<OpId> = nodes.iter().filter(|node| !node.is_absorbed()).map(|node| node.op).collect();
            nodes.retain(|node| !node.is_absorbed() || !taken.contains(&node.op));
        }
        nodes.into_iter().rev().map(Node::placed).collect()
    }

    fn push(&mut self, before: u32, placed: Placed) -> Trail {
        self.push_node(Node { before, op: placed.op, branch: placed.choice << 1 | u32::from(placed.partway) })
    }

    fn push_node(&mut self, node: Node) -> Trail {
        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 open steps, which would take 48 GB");
        self.nodes.push(node);
        Trail(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(trails: &mut Trails, trail: Trail, ops: impl IntoIterator<Item = u32>) -> Trail {
        let placed = |op| Placed { op: OpId(op), choice: 0, partway: false };
        ops.into_iter().fold(trail, |trail, op| trails.extend(trail, placed(op)))
    }

    fn ops(steps: &[Placed]) -> Vec<u32> {
        steps.iter().map(|step| step.op.0).collect()
    }

    fn settle(trails: &mut Trails, living: &mut [Trail]) -> Vec<u32> {
        ops(&trails.settle(living.iter_mut().collect(), &|_| true))
    }

    #[test]
    fn common_steps_are_returned_once() {
        let mut trails = Trails::new();
        let start = trails.begin(7);
        let shared = place(&mut trails, start, [0, 1, 2]);
        let dead = place(&mut trails, shared, [3, 4]);
        let mut living = [place(&mut trails, shared, [4, 3]), place(&mut trails, shared, [5])];
        assert_eq!(ops(&trails.steps(dead)), [INITIAL.0, 0, 1, 2, 3, 4]);
        assert_eq!(settle(&mut trails, &mut living), [INITIAL.0, 0, 1, 2]);
        assert!(settle(&mut trails, &mut living).is_empty());
        assert_eq!(living.map(|trail| ops(&trails.steps(trail))), [vec![4, 3], vec![5]]);
        assert_eq!(trails.nodes.len(), 3);
        let mut last = [living[1], place(&mut trails, living[1], [6])];
        assert_eq!(settle(&mut trails, &mut last), [5]);
        assert_eq!(last.map(|trail| ops(&trails.steps(trail))), [vec![], vec![6]]);
        assert!(settle(&mut trails, &mut last).is_empty());
        assert_eq!(settle(&mut trails, &mut last[1..]), [6]);
    }

    #[test]
    fn different_beginnings_share_nothing() {
        let mut trails = Trails::new();
        let mut living = [trails.begin(0), trails.begin(1)];
        assert!(settle(&mut trails, &mut living).is_empty());
        let step = trails.steps(living[1])[0];
        assert_eq!((step.op, step.choice), (INITIAL, 1));
    }

    #[test]
    fn branches_survive_packing() {
        let mut trails = Trails::new();
        let start = trails.begin(0);
        let placed = Placed { op: OpId(9), choice: 5, partway: true };
        let trail = trails.extend(start, placed);
        assert_eq!(trails.steps(trail)[1], placed);
    }
}
