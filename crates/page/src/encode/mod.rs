//! Encodes a report and a timeline as parts.
//!
//! A part is the unit of loading. Every page needs `head` first; the operations and the order of a long history are cut
//! into pieces of [`PIECE`], so that a server can send them on demand. Each part is compressed separately.

pub mod chunk;
mod head;
pub mod log;
pub mod order;
mod ranks;
mod states;
mod varint;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use omnilink_report::{Report, Timeline};
use serde::Serialize;

pub use head::{About, Index, IndexRun, Served};
use ranks::Ranks;

/// The number of operations in a chunk, and of steps in a piece of the order.
pub const PIECE: usize = 16_384;

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name under which the page loads it.
    pub name: String,
    /// The content, compressed with gzip.
    pub bytes: Vec<u8>,
}

/// How hard parts are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// For a part that is sent to the same machine.
    Fast,
    /// For a file that is stored and shared.
    Small,
}

/// Encodes the parts of a page about one history.
#[derive(Debug)]
pub struct Encoder<'a> {
    report: &'a Report,
    timeline: Option<(&'a Timeline, Ranks)>,
    packing: Packing,
}

impl<'a> Encoder<'a> {
    /// Indexes the whole history once. Without a timeline, the page shows only the operations of the report.
    pub fn new(report: &'a Report, timeline: Option<&'a Timeline>, packing: Packing) -> Encoder<'a> {
        Encoder { report, timeline: timeline.map(|timeline| (timeline, Ranks::new(timeline))), packing }
    }

    /// The part `head`.
    pub fn head(&self, about: &About<'_>) -> Vec<u8> {
        let timeline = self.timeline.as_ref().map(|(timeline, ranks)| head::timeline(timeline, ranks));
        compress(&json(&head::run(about, self.report, timeline)), self.packing)
    }

    /// The part `states`; empty without a timeline.
    pub fn states(&self) -> Vec<u8> {
        match &self.timeline {
            Some((timeline, _)) => states(timeline, self.packing),
            None => states(&Timeline::default(), self.packing),
        }
    }

    /// The operations of one chunk; `None` if there is no such chunk.
    pub fn chunk(&self, place: usize) -> Option<Vec<u8>> {
        let (timeline, ranks) = self.timeline.as_ref()?;
        let pieces = timeline.operations.len().div_ceil(PIECE);
        (place < pieces).then(|| compress(&chunk::encode(timeline, ranks, place), self.packing))
    }

    /// The steps of one piece of the order; `None` if there is no such piece.
    pub fn order(&self, place: usize) -> Option<Vec<u8>> {
        let (timeline, _) = self.timeline.as_ref()?;
        let steps = timeline.order.chunks(PIECE).nth(place)?;
        Some(compress(&order::encode(steps), self.packing))
    }

    /// The part `messages`; `None` if there are no messages.
    pub fn messages(&self) -> Option<Vec<u8>> {
        let (timeline, _) = self.timeline.as_ref()?;
        let has_some = !timeline.messages.is_empty();
        has_some.then(|| compress(&log::messages(&timeline.messages), self.packing))
    }

    /// The part `unlogged`; `None` if every step is that of an operation.
    pub fn unlogged(&self) -> Option<Vec<u8>> {
        let (timeline, _) = self.timeline.as_ref()?;
        let has_some = !timeline.unlogged.is_empty();
        has_some.then(|| compress(&log::unlogged(&timeline.unlogged), self.packing))
    }

    /// All parts.
    pub fn parts(&self, about: &About<'_>) -> Vec<Part> {
        let part = |name: &str, bytes| Part { name: name.to_owned(), bytes };
        let numbered = |name: &'static str, encode: fn(&Encoder<'a>, usize) -> Option<Vec<u8>>| {
            (0..).map_while(move |place| Some(Part { name: format!("{name}-{place}"), bytes: encode(self, place)? }))
        };
        let mut parts = vec![part("head", self.head(about)), part("states", self.states())];
        parts.extend(numbered("chunk", Encoder::chunk));
        parts.extend(numbered("order", Encoder::order));
        parts.extend(self.messages().map(|bytes| part("messages", bytes)));
        parts.extend(self.unlogged().map(|bytes| part("unlogged", bytes)));
        parts
    }
}

/// The part `states` for another timeline, such as one with an earlier range of states.
pub fn states(timeline: &Timeline, packing: Packing) -> Vec<u8> {
    compress(&json(&states::states(timeline)), packing)
}

/// The parts of a page about many runs.
pub fn index(index: &Index<'_>) -> Vec<Part> {
    vec![Part { name: "head".to_owned(), bytes: compress(&json(&head::index(index)), Packing::Small) }]
}

fn json(data: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(data).expect("strings, numbers and lists serialize to JSON")
}

fn compress(bytes: &[u8], packing: Packing) -> Vec<u8> {
    let level = match packing {
        Packing::Fast => Compression::fast(),
        Packing::Small => Compression::best(),
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), level);
    encoder.write_all(bytes).expect("writing to a vector cannot fail");
    encoder.finish().expect("writing to a vector cannot fail")
}
