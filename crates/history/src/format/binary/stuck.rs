//! Completes the segments of a program that got stuck.
//!
//! A program whose threads all wait for one another writes no end. The driver that controlled it knows that nothing is
//! missing, and that the open calls are blocked.

use std::io::Read;

use super::layout::kind;
use super::read::{ReadError, SegmentReader};
use super::write::varint;

/// What completes a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The length to which the segment is cut first.
    pub at_byte: u64,
    /// What is appended then.
    pub bytes: Vec<u8>,
    /// True if this marks an open call as blocked.
    pub is_blocked: bool,
}

/// What marks the open call of a segment, if there is one, as blocked, and closes the segment. `None` if it is closed.
pub fn complete_stuck<R: Read>(mut segment: SegmentReader<R>) -> Result<Option<Completion>, ReadError> {
    let (mut count, mut is_blocked) = (0, false);
    while let Some(record) = segment.next_record()? {
        count += 1;
        is_blocked = record.end.is_unknown() && !record.call.failed && !record.call.blocked;
    }
    let Some(cut) = segment.cut() else { return Ok(None) };
    let mut end = vec![kind::END];
    varint(&mut end, count);
    let mut bytes: Vec<u8> = if is_blocked { vec![1, kind::BLOCKED] } else { Vec::new() };
    bytes.push(end.len() as u8);
    bytes.extend(end);
    Ok(Some(Completion { at_byte: cut.at_byte, bytes, is_blocked }))
}
