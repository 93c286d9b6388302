//! A stack of Treiber whose nodes are recycled without a tag: the ABA problem.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};

/// A list of nodes, named by their indices; 0 is its end.
#[derive(Default)]
struct List(AtomicUsize);

#[derive(Default)]
struct Node {
    elem: AtomicI64,
    next: AtomicUsize,
}

pub struct Stack {
    nodes: Vec<Node>,
    used: AtomicUsize,
    top: List,
    free: List,
}

impl List {
    fn push(&self, nodes: &[Node], node: usize) {
        let mut first = self.0.load(SeqCst);
        loop {
            nodes[node].next.store(first, SeqCst);
            match self.0.compare_exchange(first, node, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    fn pop(&self, nodes: &[Node]) -> Option<usize> {
        let mut first = self.0.load(SeqCst);
        while first != 0 {
            let next = nodes[first].next.load(SeqCst);
            // `first` may have been removed and added again since, and then `next` is not its successor.
            match self.0.compare_exchange(first, next, SeqCst, SeqCst) {
                Ok(_) => return Some(first),
                Err(now) => first = now,
            }
        }
        None
    }
}

impl Stack {
    pub fn new(size: usize) -> Stack {
        let nodes = (0..=size).map(|_| Node::default()).collect();
        Stack { nodes, used: AtomicUsize::new(1), top: List::default(), free: List::default() }
    }

    pub fn push(&self, elem: i64) {
        let node = self.free.pop(&self.nodes).unwrap_or_else(|| self.used.fetch_add(1, SeqCst));
        self.nodes[node].elem.store(elem, SeqCst);
        self.top.push(&self.nodes, node);
    }

    pub fn pop(&self) -> Option<i64> {
        let node = self.top.pop(&self.nodes)?;
        let elem = self.nodes[node].elem.load(SeqCst);
        self.free.push(&self.nodes, node);
        Some(elem)
    }
}
