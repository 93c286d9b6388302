//! Explains in English why a history does not have a level, with the operations that show it.
//!
//! The operations violate the level without the others. A step of `po` or of real time needs its two ends, and a
//! visible write needs the path of `po` and `rf` steps that shows it. The source of each read is one of them. So is a
//! read of each unfinished write: it is the last of its session, and all steps other than by session and time, of which
//! no two follow each other, come with a read of their write.

use std::collections::VecDeque;

use omnilink_history::History;

use crate::registers::accesses::Accesses;
use crate::registers::graph::{Cause, Step};
use crate::registers::{Contradiction, Decision, Level, Touch};

/// A history for display.
pub(super) struct Names<'a> {
    pub(super) history: &'a History<Touch>,
    pub(super) accesses: &'a Accesses,
    pub(super) level: Level,
}

/// A read, and the write whose value it returned.
#[derive(Clone, Copy)]
struct Hop {
    write: u32,
    read: u32,
}

impl Names<'_> {
    /// The decision for a history with a contradiction.
    pub(super) fn explain(&self, contradiction: Contradiction) -> Decision {
        let mut ops = Vec::new();
        let reason = match contradiction {
            Contradiction::Sees { read, write } => {
                let (first, second) = (self.name(write), self.name(read));
                let seen = self.seen(write, read, &mut ops);
                let session = |op: u32| self.accesses.session[op as usize];
                let own = if session(write) == session(read) { "its own " } else { "" };
                let breaks = if own.is_empty() { "" } else { "; this breaks read-my-writes" };
                format!("{second} read the initial value and missed {own}{first}: {seen}{breaks}")
            }
            Contradiction::Cycle(steps) => {
                let first = steps.first().map(|step| self.name(step.from)).unwrap_or_default();
                let clauses: Vec<String> = steps.iter().map(|&step| self.clause(step, &mut ops)).collect();
                format!("{first} would have to come before itself: {}", clauses.join("; "))
            }
        };
        ops.sort_unstable();
        ops.dedup();
        let ids = ops.iter().map(|&op| self.history.ops()[self.accesses.place[op as usize] as usize].id).collect();
        Decision::Violation { ops: ids, reason }
    }

    fn name(&self, op: u32) -> String {
        self.history.name(self.history.ops()[self.accesses.place[op as usize] as usize].id)
    }

    /// Explains why an operation comes before another. Adds the operations that show it.
    fn clause(&self, Step { from, to, cause }: Step, ops: &mut Vec<u32>) -> String {
        ops.extend([from, to]);
        let (first, second) = (self.name(from), self.name(to));
        match cause {
            Cause::Session => format!("{first} precedes {second} in its session"),
            Cause::Time => format!("{first} ended before {second} began"),
            Cause::Source => format!("{second} read the value of {first}"),
            Cause::Seen(read) => {
                let (name, seen) = (self.name(read), self.seen(from, read, ops));
                format!("{first} precedes {second} because {name} read the value of {second}, and {seen}")
            }
            Cause::Read(read) => {
                ops.push(read);
                let read = self.name(read);
                format!("{read} read the value of {first}, and precedes {second} in its session")
            }
            Cause::Link => unreachable!("writes that are linked are in no cycle"),
        }
    }

    /// Explains why a read sees a write of its key. Adds the operations that show it.
    fn seen(&self, write: u32, read: u32, ops: &mut Vec<u32>) -> String {
        ops.extend([write, read]);
        let (first, second) = (self.name(write), self.name(read));
        let Accesses { session, position, .. } = self.accesses;
        let earlier = &self.accesses.in_session(session[read as usize])[..position[read as usize] as usize];
        let path = match self.level {
            Level::MonotonicReads => {
                let other = earlier.iter().find(|&&other| self.accesses.source(other) == Some(write));
                let &other = other.expect("the session read the value before");
                ops.push(other);
                let other = self.name(other);
                format!("{other}, before {second} in its session, read the value of {first}")
            }
            Level::Pram if session[write as usize] != session[read as usize] => {
                let is_after = |source: u32| {
                    session[source as usize] == session[write as usize]
                        && position[source as usize] >= position[write as usize]
                };
                let hop = |&read: &u32| Some(Hop { write: self.accesses.source(read).filter(|&w| is_after(w))?, read });
                let hop = earlier.iter().find_map(hop).expect("the session read a value of the other one");
                ops.extend([hop.write, hop.read]);
                self.steps(write, &[hop], read)
            }
            _ => self.path(write, read, ops),
        };
        format!("{second} sees {first}, a write of the same key ({path})")
    }

    /// The path of `po` and `rf` steps between two operations with the fewest reads. Adds its operations.
    fn path(&self, from: u32, to: u32, ops: &mut Vec<u32>) -> String {
        let Accesses { session, position, .. } = self.accesses;
        let is_reached = |op: u32| {
            session[op as usize] == session[from as usize] && position[op as usize] >= position[from as usize]
        };
        // An operation stands for all operations up to it in its session; the search visits those that it has not met yet.
        let mut met = vec![0; self.accesses.sessions()];
        let mut from_read = vec![None; self.accesses.len()]; // By write: a read, and the operation that it leads to.
        let mut queue = VecDeque::from([to]);
        let mut hops = Vec::new();
        while let Some(op) = queue.pop_front() {
            if is_reached(op) {
                let mut op = op;
                while let Some((read, next)) = from_read[op as usize].filter(|_| op != to) {
                    hops.push(Hop { write: op, read });
                    op = next;
                }
                break;
            }
            let ops = self.accesses.in_session(session[op as usize]);
            let met = &mut met[session[op as usize] as usize];
            for &read in ops.iter().take(position[op as usize] as usize).skip(*met) {
                if let Some(write) = self.accesses.source(read)
                    && from_read[write as usize].is_none()
                {
                    from_read[write as usize] = Some((read, op));
                    queue.push_back(write);
                }
            }
            *met = (position[op as usize] as usize).max(*met);
        }
        ops.extend(hops.iter().flat_map(|hop| [hop.write, hop.read]));
        self.steps(from, &hops, to)
    }

    fn steps(&self, from: u32, hops: &[Hop], to: u32) -> String {
        let mut text = self.name(from);
        let mut last = from;
        for hop in hops {
            if hop.write != last {
                text += &format!(", then {} in its session", self.name(hop.write));
            }
            text += &format!(", read by {}", self.name(hop.read));
            last = hop.read;
        }
        if last != to {
            text += &format!(", then {} in its session", self.name(to));
        }
        text
    }
}
