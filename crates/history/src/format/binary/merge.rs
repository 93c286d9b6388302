//! Reads several segments as one stream of operations by increasing start.
//!
//! The operations of one segment are in program order, so the earliest operation not yet delivered is the first
//! remaining one of some segment. The merge keeps that one of each segment in a heap; with `n` segments, an operation
//! costs time O(log n), and memory does not depend on the length of the segments.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashSet};
use std::io::Read;
use std::sync::Arc;

use super::read::{ReadError, SegmentReader};
use crate::format::error::{FormatError, Location};
use crate::history::BlockedLast;
use crate::{Call, Cut, Halt, Op, ProcessId, Record, Sequence, Trace};

/// The operations of several segments by increasing start, checked and numbered. Nothing follows an error.
#[derive(Debug)]
pub struct Merge<R> {
    processes: Vec<Arc<str>>,
    cuts: Vec<Cut>,
    readers: Vec<SegmentReader<R>>,                // By process.
    heads: Vec<Option<Record>>,                    // By process, the first operation not yet delivered.
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>, // For each head its start, end and process.
    sequence: Sequence,
    blocked: BlockedLast,
}

impl<R: Read> Merge<R> {
    /// Starts to read. Processes are numbered in the order of their segments.
    pub fn new(readers: impl IntoIterator<Item = SegmentReader<R>>) -> Result<Merge<R>, ReadError> {
        let (processes, readers, cuts) = number(readers)?;
        let count = readers.len();
        let (heads, queue) = (vec![None; count], BinaryHeap::with_capacity(count));
        let mut merge = Merge {
            processes,
            cuts,
            readers,
            heads,
            queue,
            sequence: Sequence::default(),
            blocked: BlockedLast::default(),
        };
        for process in 0..count {
            let key = merge.advance(process)?;
            merge.queue.extend(key.map(Reverse));
        }
        Ok(merge)
    }

    /// The names of the processes.
    pub fn processes(&self) -> &[Arc<str>] {
        &self.processes
    }

    /// Where segments break off. Complete when no operation is left.
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// Reads the next head of a segment, and returns its position in the queue.
    fn advance(&mut self, process: usize) -> Result<Option<(u64, u64, usize)>, ReadError> {
        let (reader, head) = (&mut self.readers[process], &mut self.heads[process]);
        reader.read_into(head)?;
        if head.is_none() {
            self.cuts.extend(reader.cut().cloned());
        }
        Ok(head.as_ref().map(|record| (record.start, record.end.at().unwrap_or(u64::MAX), process)))
    }

    /// Delivers the first head. Its slot stays empty until the next step, so that an operation is delivered before an
    /// error behind it is reported.
    #[inline]
    fn step(&mut self) -> Result<Option<Op<Call>>, ReadError> {
        let record = loop {
            self.refill()?;
            let Some(&Reverse((_, _, process))) = self.queue.peek() else { break self.blocked.next() };
            let record = self.heads[process].take().expect("the place was refilled");
            if let Some(record) = self.blocked.pass(&self.processes, record)? {
                break Some(record);
            }
        };
        let Some(Record { process: id, start, end, call }) = record else { return Ok(None) };
        let op = self.sequence.next(&self.processes, id, start, end, ())?;
        Ok(Some(Op { is_last: call.blocked, ..op.with(call) }))
    }

    /// Replaces the head that was delivered last.
    fn refill(&mut self) -> Result<(), ReadError> {
        let Some(&Reverse((_, _, process))) = self.queue.peek() else { return Ok(()) };
        if self.heads[process].is_some() {
            return Ok(());
        }
        let key = self.advance(process)?;
        let mut first = self.queue.peek_mut().expect("the queue is as it was");
        match key {
            Some(key) => *first = Reverse(key),
            None => _ = PeekMut::pop(first),
        }
        Ok(())
    }
}

impl<R: Read> Iterator for Merge<R> {
    type Item = Result<Op<Call>, ReadError>;

    fn next(&mut self) -> Option<Result<Op<Call>, ReadError>> {
        let result = self.step();
        if result.is_err() {
            self.queue.clear();
        }
        result.transpose()
    }
}

/// Reads segments as a trace: the operations of the first segment, then those of the second, and so on.
pub fn read_all<R: Read>(readers: impl IntoIterator<Item = SegmentReader<R>>) -> Result<Trace, ReadError> {
    read_all_until(readers, &Halt::default())
}

/// Reads segments as a trace, stopping when `halt` is raised.
pub fn read_all_until<R: Read>(
    readers: impl IntoIterator<Item = SegmentReader<R>>,
    halt: &Halt,
) -> Result<Trace, ReadError> {
    let (processes, readers, cuts) = number(readers)?;
    let mut trace = Trace { processes, cuts, ..Trace::default() };
    let last = readers.len().saturating_sub(1);
    for (index, mut reader) in readers.into_iter().enumerate() {
        let before = trace.records.len();
        while !halt.is_raised()
            && let Some(record) = reader.next_record()?
        {
            trace.records.push(record);
        }
        trace.cuts.extend(reader.cut().cloned());
        let events = reader.take_events();
        // A last segment with nothing but events is no process; an earlier one keeps its number.
        if index == last && !events.is_empty() && trace.records.len() == before {
            trace.processes.pop();
        }
        trace.events.extend(events);
    }
    Ok(trace)
}

/// Numbers the processes. A segment that breaks off before the name of its process only leaves a cut.
#[expect(clippy::type_complexity, reason = "the parts of both callers, taken apart at once")]
fn number<R: Read>(
    readers: impl IntoIterator<Item = SegmentReader<R>>,
) -> Result<(Vec<Arc<str>>, Vec<SegmentReader<R>>, Vec<Cut>), ReadError> {
    let (mut processes, mut numbered, mut cuts) = (Vec::new(), Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for reader in readers {
        let Some(process) = reader.process().cloned() else {
            cuts.extend(reader.cut().cloned());
            continue;
        };
        if !known.insert(process.clone()) {
            let at = Location::Part(reader.part().to_owned(), 0);
            let error = FormatError::new(at, format!("a second segment of process `{process}`"));
            return Err(error.help("give each segment a process of its own").into());
        }
        numbered.push(reader.with_id(ProcessId(processes.len() as u32)));
        processes.push(process);
    }
    Ok((processes, numbered, cuts))
}
