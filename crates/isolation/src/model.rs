//! The transactions that count, with the writer of each version that they read.
//!
//! An unknown transaction counts if one that counts read one of its writes. Dropping the others loses nothing: a transaction
//! that none reads from never turns accepted into rejected. Reads that no level allows are found here, before any graph.
//!
//! Transactions that count are *nodes*. `INITIAL` is the transaction that wrote the initial values.

use rustc_hash::FxHashMap;

use crate::transactions::{Access, MicroId, NEVER, NONE, Status, Transactions};

/// The transaction that wrote the initial values, as the source of a read.
pub(crate) const INITIAL: u32 = NONE;

/// A read that no level allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRead {
    /// The reason.
    pub anomaly: ReadAnomaly,
    /// The read.
    pub read: MicroId,
    /// The write that it contradicts, or another read, or the same read if there is none.
    pub other: MicroId,
}

/// Why no level allows a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAnomaly {
    /// A read after an own write returned something else.
    Internal,
    /// It returned a value that the transaction wrote later.
    Future,
    /// No transaction wrote the value.
    ThinAir,
    /// A transaction that aborted wrote the value.
    Aborted,
    /// Its writer overwrote the value in the same transaction.
    Intermediate,
    /// A list has an element twice.
    Duplicate,
    /// Of two reads of a list, neither is a prefix of the other.
    Incompatible,
}

/// An external read: not of an own write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) micro: u32,
    pub(crate) key: u32,
    pub(crate) source: u32, // A node, or `INITIAL`.
    pub(crate) len: u32,    // Of a list: the number of elements without own appends.
}

/// The last write of a key in a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) key: u32,
    pub(crate) micro: u32,
}

/// The writers that ambiguous reads are taken to have read from: a micro-operation, or `NONE` for the initial value.
pub(crate) type Choice = FxHashMap<u32, u32>;

/// Rows of different lengths.
#[derive(Debug)]
pub(crate) struct Rows<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { starts: vec![0], items: Vec::new() }
    }
}

impl<T> Rows<T> {
    pub(crate) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    pub(crate) fn of(&self, row: u32) -> &[T] {
        &self.items[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// The transactions that count.
#[derive(Debug)]
pub(crate) struct Model<'t> {
    pub(crate) txns: &'t Transactions,
    /// The transaction of each node.
    pub(crate) ids: Vec<u32>,
    pub(crate) node: Vec<u32>,
    pub(crate) reads: Rows<Read>,
    pub(crate) writes: Rows<Write>, // By node, sorted by key.
    pub(crate) writers: Rows<u32>,  // By key, nodes in order.
    pub(crate) lane: Vec<u32>,
    /// The place among the nodes of its session.
    pub(crate) place: Vec<u32>,
    pub(crate) previous: Vec<u32>,
    pub(crate) start: Vec<u64>,
    pub(crate) end: Vec<u64>,
    /// For each list, the nodes that wrote the elements of the longest read, in order.
    pub(crate) elements: Vec<Vec<u32>>,
    pub(crate) spines: Vec<Vec<u32>>,
    /// For each key with a known version order that is not a list, its writers in order.
    pub(crate) given: Vec<Vec<u32>>,
}

impl<'t> Model<'t> {
    pub(crate) fn new(txns: &'t Transactions, choice: &Choice) -> Result<Model<'t>, BadRead> {
        let txn_of = owners(txns);
        let spines = grow_spines(txns, choice, &txn_of);
        let counts = counted(txns, choice, &txn_of, &spines);
        let mut model = Model {
            txns,
            ids: Vec::new(),
            node: vec![NONE; txns.len()],
            reads: Rows::default(),
            writes: Rows::default(),
            writers: Rows::default(),
            lane: Vec::new(),
            place: Vec::new(),
            previous: Vec::new(),
            start: Vec::new(),
            end: Vec::new(),
            elements: Vec::new(),
            given: vec![Vec::new(); txns.keys.len()],
            spines,
        };
        for (txn, _) in counts.iter().enumerate().filter(|(_, counts)| **counts) {
            model.node[txn] = model.ids.len() as u32;
            model.ids.push(txn as u32);
        }
        model.add_sessions();
        model.add_writes();
        model.add_elements(&txn_of)?;
        model.add_reads(choice, &txn_of)?;
        for (key, order) in &txns.given {
            let writers = order.iter().map(|&version| txns.versions[version as usize].writer);
            let nodes = writers.map(|micro| model.node[txn_of[micro as usize] as usize]);
            model.given[*key as usize] = nodes.filter(|&node| node != NONE).collect();
            model.given[*key as usize].dedup();
        }
        Ok(model)
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    fn add_sessions(&mut self) {
        let count = self.len();
        (self.lane, self.place, self.previous) = (vec![0; count], vec![0; count], vec![NONE; count]);
        let mut last = NONE;
        for &txn in &self.txns.by_lane {
            let node = self.node[txn as usize];
            if node == NONE {
                continue;
            }
            let lane = self.txns.txns[txn as usize].lane;
            self.lane[node as usize] = lane;
            if last != NONE && self.lane[last as usize] == lane {
                self.previous[node as usize] = last;
                self.place[node as usize] = self.place[last as usize] + 1;
            }
            last = node;
        }
        let times = |node: &u32| self.txns.txns[*node as usize];
        self.start = self.ids.iter().map(|id| times(id).start).collect();
        self.end = self.ids.iter().map(|id| times(id).end).collect();
    }

    fn add_writes(&mut self) {
        let mut writers: Vec<(u32, u32)> = Vec::new();
        let mut own: Vec<Write> = Vec::new();
        for (node, &txn) in self.ids.iter().enumerate() {
            own.clear();
            for place in self.txns.range(txn) {
                let micro = self.txns.micros[place];
                if micro.is_write() {
                    own.push(Write { key: micro.key, micro: place as u32 });
                }
            }
            own.sort_by_key(|write| write.key);
            for (place, write) in own.iter().enumerate() {
                if own.get(place + 1).is_none_or(|next| next.key != write.key) {
                    self.writes.push(*write);
                    writers.push((write.key, node as u32));
                }
            }
            self.writes.end_row();
        }
        writers.sort_unstable();
        let mut writers = writers.into_iter().peekable();
        for key in 0..self.txns.keys.len() as u32 {
            while let Some((_, node)) = writers.next_if(|(of, _)| *of == key) {
                self.writers.push(node);
            }
            self.writers.end_row();
        }
    }

    /// Finds the writers of the elements of lists.
    fn add_elements(&mut self, txn_of: &[u32]) -> Result<(), BadRead> {
        let txns = self.txns;
        let mut is_met = vec![false; if self.spines.iter().all(Vec::is_empty) { 0 } else { txns.versions.len() }];
        for key in 0..txns.keys.len() {
            let mut nodes = Vec::with_capacity(self.spines[key].len());
            for (place, &version) in self.spines[key].iter().enumerate() {
                let writer = txns.versions[version as usize].writer;
                let bad = |anomaly, other: u32| {
                    let read = self.read_beyond(key as u32, place as u32);
                    BadRead { anomaly, read, other: if other == NONE { read } else { MicroId(other) } }
                };
                if std::mem::replace(&mut is_met[version as usize], true) {
                    return Err(bad(ReadAnomaly::Duplicate, writer));
                }
                if writer == NONE {
                    return Err(bad(ReadAnomaly::ThinAir, NONE));
                }
                let node = self.node[txn_of[writer as usize] as usize];
                if node == NONE {
                    return Err(bad(ReadAnomaly::Aborted, writer));
                }
                nodes.push(node);
            }
            self.elements.push(nodes);
        }
        Ok(())
    }

    /// A read of a list that has the element at this place.
    fn read_beyond(&self, key: u32, place: u32) -> MicroId {
        let is_read = |micro: &usize| {
            let other = self.txns.micros[*micro];
            other.key == key
                && self.txns.list(other).get(place as usize) == self.spines[key as usize].get(place as usize)
        };
        let mut all = self.ids.iter().flat_map(|&txn| self.txns.range(txn));
        MicroId(all.find(is_read).expect("the longest read of the list has the element") as u32)
    }

    /// Finds external reads and their sources.
    fn add_reads(&mut self, choice: &Choice, txn_of: &[u32]) -> Result<(), BadRead> {
        let txns = self.txns;
        let mut own: Vec<(u32, u32)> = Vec::new(); // Keys and micro-operations of own writes so far.
        for node in 0..self.len() as u32 {
            own.clear();
            let txn = self.ids[node as usize];
            for place in txns.range(txn) {
                let micro = txns.micros[place];
                match micro.access {
                    Access::Write | Access::Append => own.push((micro.key, place as u32)),
                    // The result of an unknown transaction is not known.
                    Access::Read if txns.txns[txn as usize].status == Status::Unknown && self.is_nil(micro.at) => {}
                    Access::Read => {
                        let mine = own.iter().rev().find(|(key, _)| *key == micro.key);
                        if let Some(&(_, write)) = mine {
                            if txns.micros[write as usize].at != micro.at {
                                return Err(bad(ReadAnomaly::Internal, place, write));
                            }
                            continue;
                        }
                        let writer = writer_of(txns, choice, place as u32, micro.at);
                        let source = self.source(node, place, micro.at, writer, txn_of)?;
                        self.reads.push(Read { micro: place as u32, key: micro.key, source, len: 0 });
                    }
                    Access::Prefix | Access::List => {
                        let read = self.list_read(node, place, &own, txn_of)?;
                        self.reads.push(read);
                    }
                }
            }
            self.reads.end_row();
        }
        Ok(())
    }

    fn is_nil(&self, version: u32) -> bool {
        *self.txns.value(version) == omnilink_history::Value::Nil
    }

    fn list_read(&self, node: u32, place: usize, own: &[(u32, u32)], txn_of: &[u32]) -> Result<Read, BadRead> {
        let txns = self.txns;
        let micro = txns.micros[place];
        let list = txns.list(micro);
        let spine = &self.spines[micro.key as usize];
        if micro.access == Access::List && list != &spine[..list.len().min(spine.len())] {
            let differs = (0..list.len()).find(|&at| spine.get(at) != list.get(at)).unwrap_or(0);
            let other =
                if spine.len() > differs { self.read_beyond(micro.key, differs as u32).0 } else { place as u32 };
            return Err(bad(ReadAnomaly::Incompatible, place, other));
        }
        let mine = own.iter().filter(|(key, _)| *key == micro.key);
        let count = mine.clone().count();
        let before = list.len().checked_sub(count);
        let is_kept = before.is_some_and(|before| {
            list[before..]
                .iter()
                .zip(mine.clone())
                .all(|(&version, &(_, write))| txns.micros[write as usize].at == version)
        });
        let Some(before) = before.filter(|_| is_kept) else {
            let write = mine.clone().next_back().map_or(place as u32, |&(_, write)| write);
            return Err(bad(ReadAnomaly::Internal, place, write));
        };
        let source = match before.checked_sub(1) {
            None => INITIAL,
            Some(last) => {
                let writer = txns.versions[list[last] as usize].writer;
                self.source(node, place, list[last], writer, txn_of)?
            }
        };
        Ok(Read { micro: place as u32, key: micro.key, source, len: before as u32 })
    }

    /// The node from which a read of a version by a node read, if a level allows that.
    fn source(&self, node: u32, read: usize, version: u32, writer: u32, txn_of: &[u32]) -> Result<u32, BadRead> {
        if writer == NONE {
            let is_initial = self.txns.versions[version as usize].is_initial;
            return if is_initial { Ok(INITIAL) } else { Err(bad(ReadAnomaly::ThinAir, read, read as u32)) };
        }
        let source = self.node[txn_of[writer as usize] as usize];
        if source == node {
            return Err(bad(ReadAnomaly::Future, read, writer));
        }
        if source == NONE {
            return Err(bad(ReadAnomaly::Aborted, read, writer));
        }
        let last = self.write_of(source, self.txns.micros[writer as usize].key).expect("it wrote the key");
        if last.micro != writer {
            return Err(bad(ReadAnomaly::Intermediate, read, writer));
        }
        Ok(source)
    }

    /// The last write of a key in a transaction.
    pub(crate) fn write_of(&self, node: u32, key: u32) -> Option<Write> {
        let writes = self.writes.of(node);
        writes.binary_search_by_key(&key, |write| write.key).ok().map(|place| writes[place])
    }

    /// The nodes whose writes a read returned: for a list, the writers of all its elements.
    pub(crate) fn seen_by(&self, node: u32, read: Read) -> impl Iterator<Item = u32> {
        let elements = &self.elements[read.key as usize][..read.len as usize];
        let source = Some(read.source).filter(|&source| source != INITIAL && read.len == 0);
        elements.iter().copied().filter(move |&writer| writer != node).chain(source)
    }
}

fn bad(anomaly: ReadAnomaly, read: usize, other: u32) -> BadRead {
    BadRead { anomaly, read: MicroId(read as u32), other: MicroId(other) }
}

/// The transaction of each micro-operation.
pub(crate) fn owners(txns: &Transactions) -> Vec<u32> {
    let mut owners = vec![0; txns.micros.len()];
    for txn in 0..txns.len() as u32 {
        owners[txns.range(txn)].fill(txn);
    }
    owners
}

/// The micro-operation that a read read from, or `NONE`.
pub(crate) fn writer_of(txns: &Transactions, choice: &Choice, read: u32, version: u32) -> u32 {
    match choice.get(&read) {
        Some(&writer) if !choice.is_empty() => writer,
        _ => txns.versions[version as usize].writer,
    }
}

/// The transactions that count: committed ones, and unknown ones from which one that counts read.
fn counted(txns: &Transactions, choice: &Choice, txn_of: &[u32], spines: &[Vec<u32>]) -> Vec<bool> {
    let mut counts: Vec<bool> = txns.txns.iter().map(|txn| txn.status == Status::Committed).collect();
    if txns.txns.iter().all(|txn| txn.status != Status::Unknown) {
        return counts;
    }
    let mut list: Vec<u32> = (0..txns.len() as u32).filter(|&txn| counts[txn as usize]).collect();
    let mut done: Vec<u32> = vec![0; spines.len()]; // The elements of each list whose writers count.
    while let Some(txn) = list.pop() {
        let mut see = |writer: u32| {
            let source = if writer == NONE { return } else { txn_of[writer as usize] };
            if txns.txns[source as usize].status == Status::Unknown && !counts[source as usize] {
                counts[source as usize] = true;
                list.push(source);
            }
        };
        for place in txns.range(txn) {
            let micro = txns.micros[place];
            match micro.access {
                Access::Read => see(writer_of(txns, choice, place as u32, micro.at)),
                Access::Prefix => {
                    let from = done[micro.key as usize].min(micro.len);
                    done[micro.key as usize] = done[micro.key as usize].max(micro.len);
                    let fresh = &txns.list(micro)[from as usize..];
                    fresh.iter().for_each(|&version| see(txns.versions[version as usize].writer));
                }
                Access::List => {
                    txns.list(micro).iter().for_each(|&version| see(txns.versions[version as usize].writer));
                }
                Access::Write | Access::Append => {}
            }
        }
    }
    counts
}

/// The longest reads of lists, among them those of unknown transactions that count.
fn grow_spines(txns: &Transactions, choice: &Choice, txn_of: &[u32]) -> Vec<Vec<u32>> {
    let mut spines = txns.spines.clone();
    if txns.txns.iter().all(|txn| txn.status != Status::Unknown) {
        return spines;
    }
    let counts = counted(txns, choice, txn_of, &spines);
    for txn in (0..txns.len()).filter(|&txn| counts[txn] && txns.txns[txn].status == Status::Unknown) {
        for place in txns.range(txn as u32) {
            let micro = txns.micros[place];
            let list = txns.list(micro);
            let spine = &mut spines[micro.key as usize];
            if micro.access == Access::List && list.len() > spine.len() && list.starts_with(spine) {
                *spine = list.to_vec();
            }
        }
    }
    spines
}

impl Model<'_> {
    /// True if the first transaction ended before the second began.
    pub(crate) fn is_before_in_time(&self, first: u32, second: u32) -> bool {
        self.end[first as usize] != NEVER && self.end[first as usize] < self.start[second as usize]
    }

    /// True if the first transaction comes before the second in their session.
    pub(crate) fn is_before_in_session(&self, first: u32, second: u32) -> bool {
        self.lane[first as usize] == self.lane[second as usize]
            && self.place[first as usize] < self.place[second as usize]
    }
}
