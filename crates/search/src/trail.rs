//! How each configuration was reached.
//!
//! Configurations share their past, so it is kept as a tree: a node is one placed operation and the node before it.
//! Most configurations die, and those that live soon agree on how they began. [`Trails::settle`] drops the nodes of dead
//! ones and moves what all living ones have in common into the settled past, so the tree stays as small as the part that
//! is still open, however long the history is. A settling pass is linear in the tree and is made when the tree has
//! doubled, so it costs a constant per node.

use history::OpId;

/// One step of a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placed {
    /// The operation that takes the step.
    pub op: OpId,
    /// Which of the successors that the spec gives is taken, counted from zero.
    pub choice: u32,
    /// True if the operation is not over with this step.
    pub partway: bool,
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
    branch: u32, // The choice, and in the lowest bit whether the step is partway.
}

impl Node {
    fn placed(self) -> Placed {
        Placed { op: self.op, choice: self.branch >> 1, partway: self.branch & 1 == 1 }
    }
}

/// Stands for the choice of an initial state where an operation is expected. No history has an operation of this number.
pub(crate) const INITIAL: OpId = OpId(u32::MAX);

const ROOT: u32 = u32::MAX;
const SMALLEST_PASS: usize = 1 << 12;

impl Trails {
    pub(crate) fn new() -> Trails {
        Trails { nodes: Vec::new(), settle_at: SMALLEST_PASS }
    }

    /// A past in which nothing happened but the choice of an initial state.
    pub(crate) fn begin(&mut self, initial: u32) -> Trail {
        self.push(ROOT, Placed { op: INITIAL, choice: initial, partway: false })
    }

    pub(crate) fn extend(&mut self, trail: Trail, placed: Placed) -> Trail {
        self.push(trail.0, placed)
    }

    pub(crate) fn extend_all(&mut self, trail: Trail, placed: &[Placed]) -> Trail {
        placed.iter().fold(trail, |trail, &placed| self.extend(trail, placed))
    }

    pub(crate) fn wants_settling(&self) -> bool {
        self.nodes.len() >= self.settle_at
    }

    /// Forgets all trails but these, which it renames, and hands out the steps that they all begin with. The first step
    /// ever handed out is the choice of an initial state, with [`INITIAL`] for an operation.
    pub(crate) fn settle<'a>(&mut self, living: impl Iterator<Item = &'a mut Trail>, mut settled: impl FnMut(Placed)) {
        let living: Vec<&mut Trail> = living.collect();
        let mut is_end = vec![false; self.nodes.len()];
        let mut followers = vec![0_u32; self.nodes.len()];
        let mut starts = 0;
        for trail in &living {
            match trail.0 {
                ROOT => starts = 2, // Somebody's past is settled whole, so nothing more is common to all.
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
        let mut is_common = starts == 1;
        let mut renamed = vec![ROOT; self.nodes.len()];
        let mut kept = 0;
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if !is_end[index] && followers[index] == 0 {
                continue;
            } else if is_common {
                settled(node.placed());
                is_common = !is_end[index] && followers[index] == 1;
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
    }

    /// The steps of a trail since the settled past, first to last.
    pub(crate) fn steps(&self, trail: Trail) -> Vec<Placed> {
        let mut steps = Vec::new();
        let mut index = trail.0;
        while index != ROOT {
            let node = self.nodes[index as usize];
            steps.push(node.placed());
            index = node.before;
        }
        steps.reverse();
        steps
    }

    fn push(&mut self, before: u32, placed: Placed) -> Trail {
        let index = u32::try_from(self.nodes.len()).expect("fewer than 2^32 open steps, which would take 48 GB");
        self.nodes.push(Node { before, op: placed.op, branch: placed.choice << 1 | u32::from(placed.partway) });
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
        let mut settled = Vec::new();
        trails.settle(living.iter_mut(), |step| settled.push(step));
        ops(&settled)
    }

    #[test]
    fn what_all_trails_share_is_handed_out_once() {
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
