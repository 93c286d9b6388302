//! The reads and writes of a history, with the source of each read.
//!
//! Operations that do not count are left out. The others are numbered in the order of the history, and sessions and keys
//! are numbered without gaps, so that all data about them are arrays.

use omnilink_history::{History, Interval};
use rustc_hash::FxHashMap;

use crate::registers::{Access, Decision, Touch};

/// The source of a write: it has none.
pub(super) const WRITE: u32 = u32::MAX;

/// The source of a read of the initial value.
pub(super) const INITIAL: u32 = u32::MAX - 1;

/// The maximum number of operations: more could not be numbered together with the nodes that stand for sets of them.
const MAX_OPS: usize = 1 << 29;

/// Operations by increasing start.
pub(super) struct Accesses {
    pub(super) place: Vec<u32>, // The index in the history.
    pub(super) session: Vec<u32>,
    pub(super) position: Vec<u32>, // In its session. The first operation has position 1.
    pub(super) key: Vec<u32>,
    pub(super) source: Vec<u32>, // The write whose value a read returned, `INITIAL` or `WRITE`.
    pub(super) keys: usize,      // The number of keys.
    starts: Vec<u32>,            // For each session, where it starts in `by_session`; at last, its length.
    by_session: Vec<u32>,        // Operations by session and position.
}

impl Accesses {
    /// An error is a decision: the history is already decided, or the procedure does not apply.
    pub(super) fn new(history: &History<Touch>, initial: u64) -> Result<Accesses, Decision> {
        let ops = history.ops();
        if ops.len() > MAX_OPS {
            return Err(Decision::NotApplicable(format!("more than {MAX_OPS} operations")));
        }
        let writes = Writes::new(history);
        let mut sources = vec![WRITE; ops.len()];
        let mut is_read = vec![false; ops.len()]; // For writes: some read returned the value.
        let mut ambiguous = None;
        for (place, op) in ops.iter().enumerate() {
            let Touch { key, value, access } = op.call;
            if access == Access::Write || op.interval.is_unfinished() {
                continue;
            }
            sources[place] = match (writes.find(key, value), value == initial) {
                (None, true) => INITIAL,
                (Some(Found { place: write, is_only: true }), false) => {
                    is_read[write as usize] = true;
                    write
                }
                (None, false) => {
                    let reason = format!("{} read a value that no operation wrote", history.name(op.id));
                    return Err(Decision::Violation { ops: vec![op.id], reason });
                }
                (Some(_), is_initial) => {
                    let name = history.name(op.id);
                    ambiguous.get_or_insert(match is_initial {
                        true => format!("{name} read the initial value, which was written again"),
                        false => format!("{name} read a value that was written twice to its key"),
                    });
                    INITIAL
                }
            };
        }
        if let Some(reason) = ambiguous {
            return Err(Decision::NotApplicable(reason));
        }
        drop(writes);
        Ok(Accesses::numbered(history, &sources, &is_read))
    }

    /// Numbers the operations that count.
    fn numbered(history: &History<Touch>, sources: &[u32], is_read: &[bool]) -> Accesses {
        let ops = history.ops();
        let mut accesses = Accesses {
            place: Vec::with_capacity(ops.len()),
            session: Vec::with_capacity(ops.len()),
            position: Vec::with_capacity(ops.len()),
            key: Vec::with_capacity(ops.len()),
            source: Vec::with_capacity(ops.len()),
            keys: 0,
            starts: Vec::new(),
            by_session: Vec::new(),
        };
        let mut sessions = vec![u32::MAX; history.processes().len()];
        let mut lengths: Vec<u32> = Vec::new();
        let mut keys = Numbers::new(ops.iter().map(|op| op.call.key).max().unwrap_or(0), ops.len());
        let mut numbers = vec![0; ops.len()]; // By place.
        for (place, op) in ops.iter().enumerate() {
            if op.interval.is_unfinished() && !is_read[place] {
                continue;
            }
            let session = &mut sessions[op.process.index()];
            if *session == u32::MAX {
                *session = lengths.len() as u32;
                lengths.push(0);
            }
            lengths[*session as usize] += 1;
            numbers[place] = accesses.place.len() as u32;
            accesses.place.push(place as u32);
            accesses.session.push(*session);
            accesses.position.push(lengths[*session as usize]);
            accesses.key.push(keys.number(op.call.key));
            accesses.source.push(sources[place]);
        }
        // A read may have started before the write whose value it returned.
        for source in accesses.source.iter_mut().filter(|source| **source < INITIAL) {
            *source = numbers[*source as usize];
        }
        accesses.keys = keys.count as usize;
        accesses.starts.push(0);
        for &length in &lengths {
            accesses.starts.push(accesses.starts[accesses.starts.len() - 1] + length);
        }
        accesses.by_session = vec![0; accesses.len()];
        for op in 0..accesses.len() {
            let start = accesses.starts[accesses.session[op] as usize];
            accesses.by_session[(start + accesses.position[op] - 1) as usize] = op as u32;
        }
        accesses
    }

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.place.len()
    }

    /// The number of sessions.
    pub(super) fn sessions(&self) -> usize {
        self.starts.len() - 1
    }

    /// The operations of a session.
    pub(super) fn in_session(&self, session: u32) -> &[u32] {
        let session = session as usize;
        &self.by_session[self.starts[session] as usize..self.starts[session + 1] as usize]
    }

    /// All operations, one session after another.
    pub(super) fn by_session(&self) -> &[u32] {
        &self.by_session
    }

    /// The write whose value a read returned. `None` for writes and reads of the initial value.
    pub(super) fn source(&self, op: u32) -> Option<u32> {
        Some(self.source[op as usize]).filter(|&source| source < INITIAL)
    }

    pub(super) fn is_write(&self, op: u32) -> bool {
        self.source[op as usize] == WRITE
    }

    /// The operation before this one in its session.
    pub(super) fn previous(&self, op: u32) -> Option<u32> {
        let index = self.position[op as usize].checked_sub(2)?;
        Some(self.in_session(self.session[op as usize])[index as usize])
    }

    /// The operation after this one in its session.
    pub(super) fn next(&self, op: u32) -> Option<u32> {
        self.in_session(self.session[op as usize]).get(self.position[op as usize] as usize).copied()
    }

    /// When each operation ran.
    pub(super) fn intervals(&self, history: &History<Touch>) -> Vec<Interval> {
        self.place.iter().map(|&place| history.ops()[place as usize].interval).collect()
    }
}

/// Numbers without gaps for keys.
enum Table {
    Dense(Vec<u32>),
    Sparse(FxHashMap<u32, u32>),
}

struct Numbers {
    table: Table,
    count: u32,
}

impl Numbers {
    fn new(largest: u32, ops: usize) -> Numbers {
        let is_dense = largest as usize / 4 <= ops;
        let table = match is_dense {
            true => Table::Dense(vec![u32::MAX; largest as usize + 1]),
            false => Table::Sparse(FxHashMap::default()),
        };
        Numbers { table, count: 0 }
    }

    fn number(&mut self, key: u32) -> u32 {
        let number = match &mut self.table {
            Table::Dense(numbers) => &mut numbers[key as usize],
            Table::Sparse(numbers) => numbers.entry(key).or_insert(u32::MAX),
        };
        if *number == u32::MAX {
            *number = self.count;
            self.count += 1;
        }
        *number
    }
}

/// A write found by key and value.
#[derive(Clone, Copy)]
struct Found {
    place: u32,
    is_only: bool, // No other write has the same key and value.
}

/// Writes by key and value.
struct Writes(FxHashMap<(u32, u64), Found>);

impl Writes {
    fn new(history: &History<Touch>) -> Writes {
        let count = history.ops().iter().filter(|op| op.call.access == Access::Write).count();
        let mut writes = FxHashMap::with_capacity_and_hasher(count, rustc_hash::FxBuildHasher);
        for (place, op) in history.ops().iter().enumerate() {
            let Touch { key, value, access } = op.call;
            if access == Access::Write {
                let found = Found { place: place as u32, is_only: true };
                writes.entry((key, value)).and_modify(|found: &mut Found| found.is_only = false).or_insert(found);
            }
        }
        Writes(writes)
    }

    fn find(&self, key: u32, value: u64) -> Option<Found> {
        self.0.get(&(key, value)).copied()
    }
}
