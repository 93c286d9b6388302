//! Levels whose edges follow from one session at a time.
//!
//! If `lin` contains `po`, a step of a path in a session is an edge already, and the auxiliary nodes are not needed.

use crate::registers::Contradiction;
use crate::registers::accesses::Accesses;
use crate::registers::graph::Graph;

/// No operation.
const NONE: u32 = u32::MAX;

/// A read sees the writes before it in its session. They are ordered, so the last of its key is enough.
pub(super) fn read_my_writes(accesses: &Accesses, graph: &mut Graph<'_>) -> Result<(), Contradiction> {
    let mut last = vec![NONE; accesses.keys];
    for &op in accesses.by_session() {
        let last = &mut last[accesses.key[op as usize] as usize];
        let write = Some(*last).filter(|&write| is_in_same_session(accesses, write, op));
        match (write, accesses.source(op)) {
            _ if accesses.is_write(op) => *last = op,
            (Some(write), None) => return Err(Contradiction::Sees { read: op, write }),
            (Some(write), Some(source)) if write != source => graph.put_before_source(write, op),
            _ => {}
        }
    }
    Ok(())
}

/// A read sees the writes whose values its session read before. Each of them of its key was put before the next one,
/// so the last is enough.
pub(super) fn monotonic_reads(accesses: &Accesses, graph: &mut Graph<'_>) -> Result<(), Contradiction> {
    keep_sources_before(accesses, graph);
    let mut last = vec![NONE; accesses.keys];
    for &op in accesses.by_session() {
        if accesses.is_write(op) {
            continue;
        }
        let last = &mut last[accesses.key[op as usize] as usize];
        let read = Some(*last).filter(|&read| is_in_same_session(accesses, read, op));
        match (read.and_then(|read| accesses.source(read)), accesses.source(op)) {
            (Some(write), None) => return Err(Contradiction::Sees { read: op, write }),
            (Some(write), Some(source)) if write != source => graph.put_before_source(write, op),
            _ => {}
        }
        *last = op;
    }
    Ok(())
}

/// Puts the writes whose values a session read before the later operations of the session.
pub(super) fn keep_sources_before(accesses: &Accesses, graph: &mut Graph<'_>) {
    if graph.has_po() {
        return;
    }
    for session in 0..accesses.sessions() as u32 {
        let mut sources = None;
        for &op in accesses.in_session(session) {
            sources.into_iter().for_each(|sources| graph.link(sources, op));
            if accesses.source(op).is_some() {
                sources = Some(graph.add_sources(op, sources));
            }
        }
    }
}

/// A read of a write sees the writes before that one in its session. They must come before the read, and those of the
/// same key before the other write. If no order is asked for, no edge leads from a read or to an earlier write of a
/// session. So there is no cycle, even if all writes of a session keep their order, which is enough.
pub(super) fn monotonic_writes(accesses: &Accesses, graph: &mut Graph<'_>) {
    if graph.has_po() {
        return;
    }
    for session in 0..accesses.sessions() as u32 {
        let mut last = None;
        for &write in accesses.in_session(session).iter().filter(|&&op| accesses.is_write(op)) {
            last.replace(write).into_iter().for_each(|last| graph.link(last, write));
        }
    }
}

/// True if there is a first operation, and it is in the session of the second.
fn is_in_same_session(accesses: &Accesses, first: u32, second: u32) -> bool {
    accesses.session.get(first as usize) == Some(&accesses.session[second as usize])
}
