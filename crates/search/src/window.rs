//! The operations that still matter.
//!
//! An operation is kept until it has returned and its place in the order is settled. Numbers only grow, so operations lie
//! in blocks by number, and a block goes when all of it is done with: one operation that stays open for the whole run
//! keeps its own block and no other.

use std::collections::VecDeque;

use history::{Op, OpId};

pub(crate) struct Window<P> {
    blocks: VecDeque<Option<Block<P>>>,
    first: usize, // The number of blocks that have left the front.
}

struct Block<P> {
    ops: Vec<Option<Held<P>>>,
    held: usize,
}

struct Held<P> {
    op: Op<P>,
    has_returned: bool,
    is_settled: bool,
}

const BLOCK: usize = 256;

impl<P> Window<P> {
    pub(crate) fn new() -> Window<P> {
        Window { blocks: VecDeque::new(), first: 0 }
    }

    /// Adds an operation. Its number must be larger than that of any before it.
    pub(crate) fn add(&mut self, op: Op<P>) {
        let (block, place) = (op.id.index() / BLOCK, op.id.index() % BLOCK);
        if self.blocks.is_empty() {
            self.first = self.first.max(block);
        }
        while self.first + self.blocks.len() <= block {
            let is_done_with = |newest: &&mut Option<Block<P>>| newest.as_ref().is_some_and(|block| block.held == 0);
            if let Some(newest) = self.blocks.back_mut().filter(is_done_with) {
                *newest = None;
            }
            self.blocks.push_back(None);
        }
        let block =
            self.blocks[block - self.first].get_or_insert_with(|| Block { ops: Vec::with_capacity(BLOCK), held: 0 });
        block.ops.resize_with(place, || None);
        block.ops.push(Some(Held { op, has_returned: false, is_settled: false }));
        block.held += 1;
    }

    pub(crate) fn get(&self, id: OpId) -> &Op<P> {
        let block = self.blocks[id.index() / BLOCK - self.first].as_ref().expect("operation in the window");
        &block.ops[id.index() % BLOCK].as_ref().expect("operation in the window").op
    }

    pub(crate) fn set_returned(&mut self, id: OpId) {
        self.release(id, |held| held.has_returned = true);
    }

    pub(crate) fn set_settled(&mut self, id: OpId) {
        self.release(id, |held| held.is_settled = true);
    }

    fn release(&mut self, id: OpId, change: impl FnOnce(&mut Held<P>)) {
        let index = id.index() / BLOCK - self.first;
        let is_newest = index + 1 == self.blocks.len();
        let block = self.blocks[index].as_mut().expect("operation in the window");
        let entry = &mut block.ops[id.index() % BLOCK];
        let held = entry.as_mut().expect("operation in the window");
        change(held);
        if held.has_returned && held.is_settled {
            *entry = None;
            block.held -= 1;
            if block.held == 0 && !is_newest {
                self.blocks[index] = None;
            }
        }
        while self.blocks.len() > 1 && matches!(self.blocks.front(), Some(None)) {
            self.blocks.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use history::History;

    use super::*;

    #[test]
    fn an_open_operation_keeps_only_its_own_block() {
        let calls = (0..2000).map(|time| (u32::from(time > 0), time, Some(if time == 0 { 5000 } else { time }), time));
        let history = History::from_calls(calls).unwrap();
        let mut window = Window::new();
        for op in history.ops().iter().filter(|op| op.id.0 % 7 != 3) {
            window.add(op.clone());
            assert_eq!(window.get(op.id).call, u64::from(op.id.0));
            if op.id.0 > 0 {
                window.set_returned(op.id);
                window.set_settled(op.id);
            }
        }
        assert_eq!(window.blocks.iter().flatten().count(), 2);
        assert_eq!(window.get(OpId(0)).call, 0);
        window.set_settled(OpId(0));
        window.set_returned(OpId(0));
        assert_eq!(window.blocks.len(), 1);
    }
}
