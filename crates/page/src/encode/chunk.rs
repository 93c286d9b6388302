//! The part `chunk-K`: operations, in columns.
//!
//! The number of operations, then nine columns, each preceded by its length in bytes:
//!
//! | column      | for each operation                                                                              |
//! |-------------|-------------------------------------------------------------------------------------------------|
//! | start       | difference to the previous start; for the first, to the chunk's first time                      |
//! | duration    | 0 if unfinished, else one more than the duration                                                |
//! | start rank  | difference to the previous start rank; for the first, to the chunk's first rank                 |
//! | rank span   | from the rank of its start to that of its end; 0 if unfinished                                  |
//! | process     | an index into the processes                                                                     |
//! | index       | zigzag difference to the expected index: one more than that of the previous operation of the same process in this chunk, or 0 |
//! | shape       | an index into the shapes                                                                        |
//! | values      | for each of its values: an even number is twice the zigzag difference to the previous number in the same slot of the same shape in this chunk (0 at first); an odd one is one more than twice an index into the texts |
//! | texts       | the number of texts, then each preceded by its length in bytes                                  |
//!
//! Columns of similar numbers compress well. JavaScript reads integers up to 2^53 exactly, so a value whose magnitude
//! or difference is larger is written as a text. Long texts are cut; the trace has them in full.

use omnilink_report::{Datum, Timeline};
use rustc_hash::FxHashMap;

use super::PIECE;
use super::ranks::Ranks;
use super::varint::{put, put_bytes, zigzag};

/// The largest integer that JavaScript distinguishes from the next.
const LARGEST: u64 = (1 << 53) - 1;

/// Maximum length of a text, in characters.
const LONGEST: usize = 1024;

/// Encodes the operations of one chunk.
pub(super) fn encode(timeline: &Timeline, ranks: &Ranks, place: usize) -> Vec<u8> {
    let first = place * PIECE;
    let operations = &timeline.operations[first..timeline.operations.len().min(first + PIECE)];
    let mut columns = Columns::default();
    let (mut time, mut rank) = (operations[0].start, ranks.start(first));
    for (op, entry) in (first..).zip(operations) {
        put(&mut columns.starts, entry.start - time);
        put(&mut columns.durations, entry.end.map_or(0, |end| (end - entry.start).saturating_add(1)));
        put(&mut columns.ranks, u64::from(ranks.start(op) - rank));
        put(&mut columns.spans, entry.end.map_or(0, |_| u64::from(ranks.end(op) - ranks.start(op))));
        put(&mut columns.processes, u64::from(entry.process));
        let expected = columns.expected.entry(entry.process).or_default();
        put(&mut columns.indices, zigzag(i64::from(entry.index) - *expected));
        *expected = i64::from(entry.index) + 1;
        put(&mut columns.shapes, u64::from(entry.shape));
        for (slot, &datum) in (0..).zip(timeline.values(entry)) {
            columns.value(timeline, (entry.shape, slot), datum);
        }
        (time, rank) = (entry.start, ranks.start(op));
    }
    columns.finish(operations.len())
}

#[derive(Default)]
struct Columns {
    starts: Vec<u8>,
    durations: Vec<u8>,
    ranks: Vec<u8>,
    spans: Vec<u8>,
    processes: Vec<u8>,
    indices: Vec<u8>,
    shapes: Vec<u8>,
    values: Vec<u8>,
    texts: Vec<u8>,
    /// The expected index of the next operation of each process.
    expected: FxHashMap<u32, i64>,
    /// The last number in each slot of each shape.
    numbers: FxHashMap<(u32, u32), i64>,
    /// The index in `texts` of each text, and of each number written as a text.
    places: FxHashMap<Datum, u64>,
}

impl Columns {
    fn value(&mut self, timeline: &Timeline, slot: (u32, u32), datum: Datum) {
        if let Datum::Number(number) = datum
            && number.unsigned_abs() <= LARGEST
        {
            let before = self.numbers.entry(slot).or_default();
            // Both are far from the limits of their type, so this cannot overflow.
            let distance = 2 * zigzag(number - *before);
            if distance <= LARGEST {
                *before = number;
                return put(&mut self.values, distance);
            }
        }
        let next = self.places.len() as u64;
        let texts = &mut self.texts;
        let place = *self.places.entry(datum).or_insert_with(|| {
            put_bytes(texts, shortened(&timeline.value(datum)).as_bytes());
            next
        });
        put(&mut self.values, 2 * place + 1);
    }

    fn finish(self, count: usize) -> Vec<u8> {
        let mut texts = Vec::with_capacity(self.texts.len() + 4);
        put(&mut texts, self.places.len() as u64);
        texts.extend_from_slice(&self.texts);
        let columns = [
            self.starts,
            self.durations,
            self.ranks,
            self.spans,
            self.processes,
            self.indices,
            self.shapes,
            self.values,
            texts,
        ];
        let mut out = Vec::with_capacity(columns.iter().map(|column| column.len() + 4).sum());
        put(&mut out, count as u64);
        columns.iter().for_each(|column| put_bytes(&mut out, column));
        out
    }
}

/// Cuts a text to `LONGEST` characters.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let check = |length: usize| shortened(&"ä".repeat(length));
        assert_eq!(check(1024), "ä".repeat(1024));
        assert_eq!(check(1025), "ä".repeat(1023) + "…");
    }
}
