//! Version orders: chains of writes of a key that directly follow each other.
//!
//! The order of lists follows from reads, the order of others may be given. Where lost updates are forbidden, a
//! transaction that reads a version and writes its key directly follows the writer, so a workload without blind writes has
//! one chain for each key. A key with one chain has a known order. The chain that follows the initial version comes first.

use crate::model::{INITIAL, Model};
use crate::transactions::NONE;

/// The chains of all keys. Writes are numbers: by node, and by key in a node.
#[derive(Debug)]
pub(crate) struct Versions {
    starts: Vec<u32>,
    /// The node of each write.
    pub(crate) node: Vec<u32>,
    pub(crate) key: Vec<u32>,
    pub(crate) next: Vec<u32>,
    /// The heads of the chains of each key. The first one comes first if `first` says so.
    pub(crate) heads: Vec<Vec<u32>>,
    pub(crate) has_first: Vec<bool>,
    /// The last write of the chain of each head.
    pub(crate) tail: Vec<u32>,
    /// For each write, the head of its chain, and its place there.
    chain: Vec<(u32, u32)>,
}

/// Two transactions that cannot both follow a version directly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clash {
    pub(crate) key: u32,
    pub(crate) source: u32, // The node that both read from, or `INITIAL`.
    pub(crate) nodes: (u32, u32),
}

/// The reason why there are no chains.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NoChains {
    /// The writes of two transactions interleave.
    Cycle,
    /// An update was lost, or a transaction read two versions of a key that it wrote.
    Clash(Clash),
}

impl Versions {
    /// The chains; with updates that are not lost, if `has_updates`.
    pub(crate) fn new(model: &Model<'_>, has_updates: bool) -> Result<Versions, NoChains> {
        let mut made = Versions::blank(model);
        let mut previous = vec![NONE; made.node.len()];
        let mut first = vec![NONE; model.txns.keys.len()];
        for key in 0..model.txns.keys.len() as u32 {
            made.follow_known(model, key, &mut previous, &mut first)?;
        }
        if has_updates {
            made.follow_updates(model, &mut previous, &mut first)?;
        }
        for write in (0..made.node.len() as u32).filter(|&write| previous[write as usize] == NONE) {
            let mut last = write;
            let mut place = 0;
            loop {
                made.chain[last as usize] = (write, place);
                match made.next[last as usize] {
                    NONE => break,
                    next => (last, place) = (next, place + 1),
                }
            }
            made.tail[write as usize] = last;
            made.heads[made.key[write as usize] as usize].push(write);
        }
        // Updates of each other form a circle without a head.
        if made.chain.iter().any(|&(head, _)| head == NONE) {
            return Err(NoChains::Cycle);
        }
        for (key, &head) in first.iter().enumerate().filter(|(_, head)| **head != NONE) {
            let place = made.heads[key].iter().position(|&other| other == head);
            let Some(place) = place else { return Err(NoChains::Cycle) };
            made.heads[key].swap(0, place);
            made.has_first[key] = true;
        }
        Ok(made)
    }

    /// Every write by itself.
    pub(crate) fn none(model: &Model<'_>) -> Versions {
        let mut made = Versions::blank(model);
        made.chain = (0..made.node.len() as u32).map(|write| (write, 0)).collect();
        made
    }

    fn blank(model: &Model<'_>) -> Versions {
        let mut made = Versions {
            starts: Vec::with_capacity(model.len() + 1),
            node: Vec::new(),
            key: Vec::new(),
            next: Vec::new(),
            heads: vec![Vec::new(); model.txns.keys.len()],
            has_first: vec![false; model.txns.keys.len()],
            tail: Vec::new(),
            chain: Vec::new(),
        };
        for node in 0..model.len() as u32 {
            made.starts.push(made.node.len() as u32);
            for write in model.writes.of(node) {
                made.node.push(node);
                made.key.push(write.key);
            }
        }
        made.starts.push(made.node.len() as u32);
        let count = made.node.len();
        (made.next, made.tail, made.chain) = (vec![NONE; count], vec![NONE; count], vec![(NONE, 0); count]);
        made
    }

    /// Links the writes of a list, or of a key whose order is given.
    fn follow_known(
        &mut self,
        model: &Model<'_>,
        key: u32,
        previous: &mut [u32],
        first: &mut [u32],
    ) -> Result<(), NoChains> {
        let is_list = model.txns.is_list[key as usize];
        let order = if is_list { &model.elements[key as usize] } else { &model.given[key as usize] };
        let mut last = NONE;
        for &node in order {
            let write = self.write(model, node, key).expect("a node in the version order of a key wrote it");
            if write == last {
                continue;
            }
            let is_met = previous[write as usize] != NONE || first[key as usize] == write;
            if is_met {
                return Err(NoChains::Cycle);
            }
            if last == NONE {
                first[key as usize] = write;
            } else {
                self.next[last as usize] = write;
                previous[write as usize] = last;
            }
            last = write;
        }
        // Writes that a given order leaves out may come before it.
        if !is_list {
            first[key as usize] = NONE;
        }
        Ok(())
    }

    fn follow_updates(&mut self, model: &Model<'_>, previous: &mut [u32], first: &mut [u32]) -> Result<(), NoChains> {
        for node in 0..model.len() as u32 {
            for read in model.reads.of(node) {
                let Some(write) = self.write(model, node, read.key) else { continue };
                let clash = |other| NoChains::Clash(Clash { key: read.key, source: read.source, nodes: (node, other) });
                let before = previous[write as usize];
                if read.source == INITIAL {
                    let head = first[read.key as usize];
                    match () {
                        () if before != NONE => return Err(clash(self.node[before as usize])),
                        () if head != NONE && head != write => return Err(clash(self.node[head as usize])),
                        () => first[read.key as usize] = write,
                    }
                    continue;
                }
                let source = self.write(model, read.source, read.key).expect("the source of a read wrote the key");
                let after = self.next[source as usize];
                match () {
                    () if after == write => {}
                    () if after != NONE => return Err(clash(self.node[after as usize])),
                    () if before != NONE => return Err(clash(self.node[before as usize])),
                    () if first[read.key as usize] == write => return Err(clash(read.source)),
                    () => {
                        self.next[source as usize] = write;
                        previous[write as usize] = source;
                    }
                }
            }
        }
        Ok(())
    }

    /// The number of a node's write of a key.
    pub(crate) fn write(&self, model: &Model<'_>, node: u32, key: u32) -> Option<u32> {
        let writes = model.writes.of(node);
        // Most transactions write few keys.
        let place = match writes.len() {
            0..=8 => writes.iter().position(|write| write.key == key),
            _ => writes.binary_search_by_key(&key, |write| write.key).ok(),
        };
        place.map(|place| self.starts[node as usize] + place as u32)
    }

    /// True if the version that a node or `INITIAL` wrote is known to come before that of another node.
    pub(crate) fn is_before(&self, model: &Model<'_>, key: u32, first: u32, second: u32) -> bool {
        let Some(second) = self.write(model, second, key) else { return false };
        if first == INITIAL {
            return true;
        }
        let Some(first) = self.write(model, first, key) else { return false };
        let ((chain, place), (other, at)) = (self.chain[first as usize], self.chain[second as usize]);
        match chain == other {
            true => place < at,
            false => self.has_first[key as usize] && self.heads[key as usize][0] == chain,
        }
    }

    /// The node that begins the chain of a node's write of a key.
    pub(crate) fn first(&self, model: &Model<'_>, node: u32, key: u32) -> Option<u32> {
        if node == INITIAL {
            return None;
        }
        let write = self.write(model, node, key)?;
        Some(self.node[self.chain[write as usize].0 as usize])
    }

    /// The keys with chains whose order is not known.
    pub(crate) fn open_keys(&self) -> impl Iterator<Item = u32> {
        let is_open = |key: &u32| self.open(*key).len() > 1;
        (0..self.heads.len() as u32).filter(is_open)
    }

    /// The chains of a key whose order is not known.
    pub(crate) fn open(&self, key: u32) -> &[u32] {
        &self.heads[key as usize][usize::from(self.has_first[key as usize])..]
    }
}
