//! Levels whose edges follow from vector clocks.
//!
//! The causal past of an operation, and the part of it that PRAM uses, holds the first operations of each session, up
//! to a number: this is a clock. Operations are processed in an order that contains `po` and `rf`, so a session needs
//! one clock, which only grows. A write keeps a copy of it until its last read, and then gives the memory to another
//! write: recorded reads rarely return old values, so few copies exist at a time.
//!
//! A *lane* holds the writes of one key in one session. A session that reads the key has an index into each lane of
//! the key, to the first write that it does not see. As its clock grows, an index only moves forward. The last visible
//! write of each lane is put before the one whose value was read. If the index has not moved since the last read of
//! this key in the session, this needs no edge: the lane's write was put before the value of the last read, which is
//! visible too and is put before the new one. Nor is an edge needed from a write in the past of the other one.
//!
//! Cost: `O(n k)` steps for `n` operations and `k` sessions. Memory: `k` clocks of `k` numbers, the copies, one number
//! for each lane and each session that reads its key, and the edges.

use crate::registers::accesses::{Accesses, INITIAL};
use crate::registers::graph::Graph;
use crate::registers::{Contradiction, Limit};

/// The maximum number of numbers in one table. A number has four bytes.
const MAX_NUMBERS: usize = 1 << 28;

/// No operation, or no copy of a clock.
const NONE: u32 = u32::MAX;

/// The operations whose writes a read sees, besides its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Past {
    /// The operations before it in its session, and those before the sources of their reads in theirs.
    Pram,
    /// All operations from which a path leads to it.
    Causal,
}

/// Adds the edges to the writes that are read. If `po` and `rf` have a cycle, the graph has it without them.
pub(super) fn add_edges<'a>(
    accesses: &'a Accesses,
    past: Past,
    graph: &mut Graph<'a>,
) -> Result<Result<(), Contradiction>, Limit> {
    let Some(sequence) = sequence(accesses) else { return Ok(Ok(())) };
    let mut readers = vec![0; accesses.len()]; // The number of reads of a write.
    let sources = accesses.source.iter().filter(|&&source| source < INITIAL);
    sources.for_each(|&source| readers[source as usize] += 1);
    let lanes = Lanes::new(accesses)?;
    let mut pass = Pass { accesses, lanes, clocks: Clocks::new(accesses, readers)?, graph };
    for &op in &sequence {
        let source = accesses.source(op);
        match (source, past) {
            (Some(source), Past::Causal) => pass.clocks.join(accesses, op, source),
            (Some(source), Past::Pram) => pass.clocks.see(accesses, op, source),
            (None, _) => {}
        }
        pass.clocks.count(accesses, op);
        if let Some(source) = source {
            pass.put_writes_before(op, source);
        } else if !accesses.is_write(op)
            && let Err(contradiction) = pass.check_initial(op)
        {
            return Ok(Err(contradiction));
        }
        source.into_iter().for_each(|source| pass.clocks.release(source));
        pass.clocks.keep(accesses, op)?;
        if pass.graph.edge_count() > MAX_NUMBERS / 2 {
            return Err(Limit(format!("more than {} pairs of operations to order", MAX_NUMBERS / 2)));
        }
    }
    Ok(Ok(()))
}

/// All operations in an order that contains `po` and `rf`, close to the order of the history. `None` if there is none.
fn sequence(accesses: &Accesses) -> Option<Vec<u32>> {
    let is_forward = |(op, &source): (usize, &u32)| source >= INITIAL || (source as usize) < op;
    if accesses.source.iter().enumerate().all(is_forward) {
        return Some((0..accesses.len() as u32).collect());
    }
    let mut sequence = Vec::with_capacity(accesses.len());
    let mut is_done = vec![false; accesses.len()];
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); accesses.len()]; // Sessions by the write that they wait for.
    let mut counts = vec![0; accesses.sessions()]; // The number of operations of each session in the sequence.
    let mut is_waiting = vec![false; accesses.sessions()];
    let mut active = Vec::new();
    for last in 0..accesses.len() as u32 {
        active.push(accesses.session[last as usize]);
        while let Some(session) = active.pop() {
            while !is_waiting[session as usize]
                && let Some(&op) = accesses.in_session(session).get(counts[session as usize])
                && op <= last
            {
                if let Some(source) = accesses.source(op).filter(|&source| !is_done[source as usize]) {
                    waiting[source as usize].push(session);
                    is_waiting[session as usize] = true;
                    break;
                }
                sequence.push(op);
                is_done[op as usize] = true;
                counts[session as usize] += 1;
                for other in std::mem::take(&mut waiting[op as usize]) {
                    is_waiting[other as usize] = false;
                    active.push(other);
                }
            }
        }
    }
    (sequence.len() == accesses.len()).then_some(sequence)
}

/// The state of one pass over the operations.
struct Pass<'a, 'g> {
    accesses: &'a Accesses,
    lanes: Lanes,
    clocks: Clocks,
    graph: &'g mut Graph<'a>,
}

impl Pass<'_, '_> {
    /// Puts the writes that a read sees before the one whose value it returned.
    fn put_writes_before(&mut self, read: u32, source: u32) {
        let Accesses { session, position, .. } = self.accesses;
        let (clock, known) = (self.clocks.of(session[read as usize]), self.clocks.copy(source));
        let row = self.lanes.row_of[read as usize] as usize;
        let last = std::mem::replace(&mut self.lanes.rows[row], source);
        if last < INITIAL && position[last as usize] > known[session[last as usize] as usize] {
            self.graph.put_before_source(last, read);
        }
        let lanes = self.lanes.of_key(self.accesses.key[read as usize]);
        let indices = &mut self.lanes.rows[row + 1..row + 1 + lanes.len()];
        for (index, &session) in indices.iter_mut().zip(&self.lanes.sessions[lanes]) {
            let (until, rest) = (clock[session as usize], &self.lanes.positions[*index as usize..]);
            let passed = rest.iter().take_while(|&&position| position <= until).count();
            *index += passed as u32;
            if passed > 0 && rest[passed - 1] > known[session as usize] {
                self.graph.put_before_source(self.lanes.ops[*index as usize - 1], read);
            }
        }
    }

    /// Checks that a read of the initial value sees no write of its key.
    fn check_initial(&self, read: u32) -> Result<(), Contradiction> {
        let clock = self.clocks.of(self.accesses.session[read as usize]);
        for lane in self.lanes.of_key(self.accesses.key[read as usize]) {
            let first = self.lanes.starts[lane] as usize;
            if self.lanes.positions[first] <= clock[self.lanes.sessions[lane] as usize] {
                return Err(Contradiction::Sees { read, write: self.lanes.ops[first] });
            }
        }
        Ok(())
    }
}

/// Writes by key, session and position.
struct Lanes {
    keys: Vec<u32>,      // For each key, its first lane; at last, the number of lanes.
    sessions: Vec<u32>,  // Of each lane.
    starts: Vec<u32>,    // For each lane, the index of its first write.
    positions: Vec<u32>, // In the session. A lane ends with `NONE`, which no clock reaches.
    ops: Vec<u32>,
    row_of: Vec<u32>, // For each read, where the row of its session and key starts.
    rows: Vec<u32>,   // A row is the source of the last read, and for each lane of the key the index of the next write.
}

impl Lanes {
    fn new(accesses: &Accesses) -> Result<Lanes, Limit> {
        let mut lanes = Lanes {
            keys: Vec::with_capacity(accesses.keys + 1),
            sessions: Vec::new(),
            starts: Vec::new(),
            positions: Vec::new(),
            ops: Vec::new(),
            row_of: vec![NONE; accesses.len()],
            rows: Vec::new(),
        };
        let (key, session) = (|op: &u32| accesses.key[*op as usize], |op: &u32| accesses.session[*op as usize]);
        for of_key in by_key(accesses).chunk_by(|a, b| key(a) == key(b)) {
            let first = lanes.sessions.len();
            lanes.keys.push(first as u32);
            for ops in of_key.chunk_by(|a, b| session(a) == session(b)) {
                lanes.add(accesses, session(&ops[0]), ops.iter().copied().filter(|&op| accesses.is_write(op)));
            }
            for ops in of_key.chunk_by(|a, b| session(a) == session(b)) {
                let mut reads = ops.iter().filter(|op| !accesses.is_write(**op)).peekable();
                let row = lanes.rows.len() as u32;
                if reads.peek().is_some() {
                    lanes.rows.push(NONE);
                    lanes.rows.extend_from_slice(&lanes.starts[first..]);
                }
                reads.for_each(|&read| lanes.row_of[read as usize] = row);
                if lanes.rows.len() > MAX_NUMBERS {
                    return Err(Limit("too many sessions read and write the same keys".to_owned()));
                }
            }
        }
        lanes.keys.push(lanes.sessions.len() as u32);
        Ok(lanes)
    }

    /// Adds a lane, unless it would be empty.
    fn add(&mut self, accesses: &Accesses, session: u32, writes: impl Iterator<Item = u32>) {
        let start = self.ops.len();
        self.ops.extend(writes);
        if self.ops.len() > start {
            self.sessions.push(session);
            self.starts.push(start as u32);
            self.positions.extend(self.ops[start..].iter().map(|&op| accesses.position[op as usize]));
            self.positions.push(NONE);
            self.ops.push(NONE);
        }
    }

    fn of_key(&self, key: u32) -> std::ops::Range<usize> {
        self.keys[key as usize] as usize..self.keys[key as usize + 1] as usize
    }
}

/// All operations by key, session and position.
fn by_key(accesses: &Accesses) -> Vec<u32> {
    let mut next = vec![0; accesses.keys + 1];
    accesses.key.iter().for_each(|&key| next[key as usize + 1] += 1);
    for key in 0..accesses.keys {
        next[key + 1] += next[key];
    }
    let mut by_key = vec![0; accesses.len()];
    for &op in accesses.by_session() {
        let next = &mut next[accesses.key[op as usize] as usize];
        by_key[*next as usize] = op;
        *next += 1;
    }
    by_key
}

/// The clocks of sessions, and copies for writes that will be read.
struct Clocks {
    width: usize,      // The number of sessions.
    clocks: Vec<u32>,  // For each session and other session, the number of operations.
    copies: Vec<u32>,  // The same for each copy.
    free: Vec<u32>,    // Unused copies.
    copy_of: Vec<u32>, // The copy of each write, or `NONE`.
    readers: Vec<u32>, // The number of reads of each write that have not been processed.
}

impl Clocks {
    fn new(accesses: &Accesses, readers: Vec<u32>) -> Result<Clocks, Limit> {
        let width = accesses.sessions();
        if width * width > MAX_NUMBERS {
            return Err(Limit(format!("more than {} sessions", MAX_NUMBERS.isqrt())));
        }
        let (clocks, copy_of) = (vec![0; width * width], vec![NONE; accesses.len()]);
        Ok(Clocks { width, clocks, copies: Vec::new(), free: Vec::new(), copy_of, readers })
    }

    fn of(&self, session: u32) -> &[u32] {
        &self.clocks[session as usize * self.width..][..self.width]
    }

    /// The past of a write that will be read.
    fn copy(&self, write: u32) -> &[u32] {
        &self.copies[self.copy_of[write as usize] as usize * self.width..][..self.width]
    }

    /// Adds an operation to the past of its session.
    fn count(&mut self, accesses: &Accesses, op: u32) {
        let session = accesses.session[op as usize] as usize;
        self.clocks[session * self.width + session] = accesses.position[op as usize];
    }

    /// Adds the source of a read, and all before it in its session, to the past of the session.
    fn see(&mut self, accesses: &Accesses, read: u32, source: u32) {
        let (session, other) = (accesses.session[read as usize] as usize, accesses.session[source as usize] as usize);
        let seen = &mut self.clocks[session * self.width + other];
        *seen = accesses.position[source as usize].max(*seen);
    }

    /// Adds the causal past of the source of a read to the past of the session.
    fn join(&mut self, accesses: &Accesses, read: u32, source: u32) {
        let session = accesses.session[read as usize];
        if self.of(session)[accesses.session[source as usize] as usize] >= accesses.position[source as usize] {
            return;
        }
        let copy = self.copy_of[source as usize] as usize;
        let past = &self.copies[copy * self.width..][..self.width];
        let clock = &mut self.clocks[session as usize * self.width..][..self.width];
        clock.iter_mut().zip(past).for_each(|(seen, &past)| *seen = past.max(*seen));
    }

    /// Keeps the past of a write if it will be read.
    fn keep(&mut self, accesses: &Accesses, write: u32) -> Result<(), Limit> {
        if self.readers[write as usize] == 0 {
            return Ok(());
        }
        let start = accesses.session[write as usize] as usize * self.width;
        let copy = self.free.pop().unwrap_or_else(|| (self.copies.len() / self.width) as u32);
        if copy as usize * self.width == self.copies.len() {
            if self.copies.len() + self.width > MAX_NUMBERS {
                return Err(Limit("too many writes are read much later, by too many sessions".to_owned()));
            }
            self.copies.extend_from_slice(&self.clocks[start..start + self.width]);
        } else {
            self.copies[copy as usize * self.width..][..self.width]
                .copy_from_slice(&self.clocks[start..start + self.width]);
        }
        self.copy_of[write as usize] = copy;
        Ok(())
    }

    /// Frees the copy of a write after its last read.
    fn release(&mut self, write: u32) {
        self.readers[write as usize] -= 1;
        if self.readers[write as usize] == 0 {
            self.free.push(std::mem::replace(&mut self.copy_of[write as usize], NONE));
        }
    }
}
