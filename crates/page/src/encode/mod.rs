//! From a report and a timeline to parts.
//!
//! A part is what a page asks for at once: what every page needs first stands in `head`, and the operations and the order of a
//! long history are cut into pieces of [`PIECE`] so that a server can hand them out as somebody looks at them. Each
//! part is compressed by itself.

pub mod chunk;
mod head;
pub mod order;
mod ranks;
mod states;
mod varint;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use report::{Report, Timeline};
use serde::Serialize;

pub use head::{About, Index, IndexRun, Served};
use ranks::Ranks;

/// So many operations are in a chunk, and so many steps in a piece of the order.
pub const PIECE: usize = 16_384;

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// How the page asks for it.
    pub name: String,
    /// What stands in it, compressed as gzip.
    pub bytes: Vec<u8>,
}

/// How much time to spend on compressing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For a part that travels to the same machine.
    Fast,
    /// For a file that is kept and sent.
    Small,
}

/// Makes the parts of a page about one history.
#[derive(Debug)]
pub struct Encoder<'a> {
    report: &'a Report,
    timeline: Option<(&'a Timeline, Ranks)>,
    level: Level,
}

impl<'a> Encoder<'a> {
    /// Looks at the whole history once. Without a timeline the operations that the report speaks of are all there are.
    pub fn new(report: &'a Report, timeline: Option<&'a Timeline>, level: Level) -> Encoder<'a> {
        Encoder { report, timeline: timeline.map(|timeline| (timeline, Ranks::new(timeline))), level }
    }

    /// What every page needs first.
    pub fn head(&self, about: &About<'_>) -> Vec<u8> {
        let timeline = self.timeline.as_ref().map(|(timeline, ranks)| head::timeline(timeline, ranks));
        compress(&json(&head::run(about, self.report, timeline)), self.level)
    }

    /// States on the way; none if there is no timeline.
    pub fn states(&self) -> Vec<u8> {
        match &self.timeline {
            Some((timeline, _)) => states(timeline, self.level),
            None => states(&Timeline::default(), self.level),
        }
    }

    /// The operations of one chunk, if there is such a one.
    pub fn chunk(&self, place: usize) -> Option<Vec<u8>> {
        let (timeline, ranks) = self.timeline.as_ref()?;
        let pieces = timeline.operations.len().div_ceil(PIECE);
        (place < pieces).then(|| compress(&chunk::encode(timeline, ranks, place), self.level))
    }

    /// The steps of one piece of the order, if there is such a one.
    pub fn order(&self, place: usize) -> Option<Vec<u8>> {
        let (timeline, _) = self.timeline.as_ref()?;
        let steps = timeline.order.chunks(PIECE).nth(place)?;
        Some(compress(&order::encode(steps), self.level))
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
        parts
    }
}

/// States on the way, for who asks for others than before.
pub fn states(timeline: &Timeline, level: Level) -> Vec<u8> {
    compress(&json(&states::states(timeline)), level)
}

/// The parts of a page about many runs.
pub fn index(index: &Index<'_>) -> Vec<Part> {
    vec![Part { name: "head".to_owned(), bytes: compress(&json(&head::index(index)), Level::Small) }]
}

fn json(data: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(data).expect("strings, numbers and lists can be written as JSON")
}

fn compress(bytes: &[u8], level: Level) -> Vec<u8> {
    let level = match level {
        Level::Fast => Compression::fast(),
        Level::Small => Compression::best(),
    };
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2), level);
    encoder.write_all(bytes).expect("a vector takes what is written to it");
    encoder.finish().expect("a vector takes what is written to it")
}
