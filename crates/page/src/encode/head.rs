//! The part `head`, which a page loads first: `Head` in `viewer/src/data/types.ts`.

use std::collections::BTreeMap;

use omnilink_report::{Comparison, Report, Timeline};
use serde::Serialize;
use serde_json::Value;

use super::PIECE;
use super::ranks::Ranks;

/// Name and version of the page format.
const SCHEMA: &str = "omnilink.page/1";

/// Page data beside the report.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The writing program, such as `OmniLink 0.1.0`.
    pub tool: &'a str,
    /// The kept run, if the page is about one.
    pub run: Option<&'a Value>,
    /// Another run beside it.
    pub compared: Option<&'a Comparison>,
    /// Features of the server, if the page is served.
    pub served: Option<Served>,
}

/// Features that only a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Served {
    /// Checks assumptions.
    pub assume: bool,
    /// Evaluates expressions.
    pub evaluate: bool,
}

/// The data of a page about many runs.
#[derive(Debug, Clone)]
pub struct Index<'a> {
    /// The writing program.
    pub tool: &'a str,
    /// The name of the directory.
    pub name: &'a str,
    /// Sorted by start time.
    pub runs: Vec<IndexRun>,
    /// Runs that could not be read, and why.
    pub damaged: Vec<String>,
    /// The campaigns, a JSON object; null if there are none.
    pub overview: Value,
    /// The findings of a monitor so far, a JSON object; null on other pages.
    pub monitor: Value,
}

/// A run on a page about many.
#[derive(Debug, Clone, Serialize)]
pub struct IndexRun {
    /// The kept run, a JSON object.
    #[serde(flatten)]
    pub run: Value,
    /// A relative link to its page, if it has one.
    pub page: Option<String>,
    /// The sentence of its report, if it has one.
    pub sentence: Option<String>,
}

#[derive(Serialize)]
pub(super) struct RunHead<'a> {
    schema: &'static str,
    kind: &'static str,
    tool: &'a str,
    report: &'a Report,
    /// The assumptions of the verdict.
    assumed: &'a [String],
    run: Option<&'a Value>,
    /// The seed of the run as text, because JavaScript would round the number.
    seed: Option<String>,
    timeline: Option<TimelineHead<'a>>,
    served: Option<Served>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<&'a Comparison>,
}

#[derive(Serialize)]
pub(super) struct IndexHead<'a> {
    schema: &'static str,
    kind: &'static str,
    tool: &'a str,
    name: &'a str,
    runs: &'a [IndexRun],
    damaged: &'a [String],
    overview: &'a Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    monitor: &'a Value,
}

#[derive(Serialize)]
pub(super) struct TimelineHead<'a> {
    processes: &'a [String],
    shapes: Vec<Shape<'a>>,
    operations: usize,
    origin: String,
    ranks: u32,
    chunks: Vec<Chunk>,
    steps: usize,
    orders: Vec<OrderChunk>,
    mentioned: &'a [usize],
    overview: Overview,
    actions: Vec<Action<'a>>,
    long: &'a [usize],
    #[serde(skip_serializing_if = "is_zero")]
    messages: usize,
    #[serde(skip_serializing_if = "is_zero")]
    unlogged: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missed: Vec<&'a (u32, Vec<u32>)>,
    #[serde(skip_serializing_if = "is_zero")]
    missed_left_out: usize,
}

#[derive(Serialize)]
struct Shape<'a> {
    action: &'a str,
    args: &'a [String],
    results: &'a [String],
    meta: &'a [String],
    pieces: &'a [String],
}

#[derive(Serialize)]
struct Chunk {
    first: usize,
    count: usize,
    ranks: (u32, u32),
    times: (u64, u64),
}

#[derive(Serialize)]
struct OrderChunk {
    first: usize,
    count: usize,
    rank: u32,
}

#[derive(Serialize)]
struct Overview {
    widths: Vec<u32>,
    flights: Vec<u32>,
}

#[derive(Serialize)]
struct Action<'a> {
    name: &'a str,
    count: u64,
}

pub(super) fn run<'a>(about: &About<'a>, report: &'a Report, timeline: Option<TimelineHead<'a>>) -> RunHead<'a> {
    let About { tool, run, compared, served } = *about;
    let seed = run.and_then(|run| run.pointer("/plan/seed")).map(Value::to_string);
    let assumed = &report.assumed;
    RunHead { schema: SCHEMA, kind: "run", tool, report, assumed, run, seed, timeline, served, compared }
}

pub(super) fn index<'a>(index: &'a Index<'_>) -> IndexHead<'a> {
    let Index { tool, name, runs, damaged, overview, monitor } = index;
    IndexHead { schema: SCHEMA, kind: "index", tool, name, runs, damaged, overview, monitor }
}

pub(super) fn timeline<'a>(timeline: &'a Timeline, ranks: &'a Ranks) -> TimelineHead<'a> {
    let origin = timeline.operations.first().map_or(0, |entry| entry.start);
    let shape = |shape: &'a omnilink_report::Shape| {
        let omnilink_report::Shape { action, args, results, meta, pieces } = shape;
        Shape { action, args, results, meta, pieces }
    };
    let missed = missed(timeline);
    TimelineHead {
        processes: &timeline.processes,
        shapes: timeline.shapes.iter().map(shape).collect(),
        operations: timeline.operations.len(),
        origin: origin.to_string(),
        ranks: ranks.count(),
        chunks: chunks(timeline, ranks, origin),
        steps: timeline.order.len(),
        orders: orders(timeline, ranks),
        mentioned: &timeline.mentioned,
        overview: Overview { widths: ranks.widths(&timeline.widths), flights: ranks.flights() },
        actions: actions(timeline),
        long: ranks.long(),
        messages: timeline.messages.len(),
        unlogged: timeline.unlogged.len(),
        missed_left_out: timeline.missed.len() - missed.len(),
        missed,
    }
}

/// The most operations in `missed`.
const MOST_MISSING: usize = 2_000;
/// The most operations that all of them missed.
const MOST_MISSED: usize = 20_000;

/// The first operations that missed others, each with these. Every page loads the head, so the list has at most
/// [`MOST_MISSING`] operations and [`MOST_MISSED`] entries. An operation is listed with everything that it missed or
/// not at all: an operation that is not listed for it counts as seen.
fn missed(timeline: &Timeline) -> Vec<&(u32, Vec<u32>)> {
    let mut room = MOST_MISSED;
    let fits = |(_, missed): &&(u32, Vec<u32>)| {
        let rest = room.checked_sub(missed.len());
        room = rest.unwrap_or(room);
        rest.is_some()
    };
    timeline.missed.iter().filter(fits).take(MOST_MISSING).collect()
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn chunks(timeline: &Timeline, ranks: &Ranks, origin: u64) -> Vec<Chunk> {
    let pieces = timeline.operations.chunks(PIECE).enumerate();
    let chunk = |(place, operations): (usize, &[omnilink_report::Entry])| {
        let first = place * PIECE;
        let (rank, time) = ranks.last(place);
        Chunk {
            first,
            count: operations.len(),
            ranks: (ranks.start(first), rank),
            times: (operations[0].start - origin, time - origin),
        }
    };
    pieces.map(chunk).collect()
}

fn orders(timeline: &Timeline, ranks: &Ranks) -> Vec<OrderChunk> {
    let mut rank = 0;
    let mut orders = Vec::new();
    for (place, steps) in timeline.order.chunks(PIECE).enumerate() {
        orders.push(OrderChunk { first: place * PIECE, count: steps.len(), rank });
        rank = steps.iter().map(|step| ranks.start(step.op as usize)).fold(rank, u32::max);
    }
    orders
}

/// How often each action occurred, most frequent first, then by name.
fn actions(timeline: &Timeline) -> Vec<Action<'_>> {
    let mut of_shapes = vec![0; timeline.shapes.len()];
    timeline.operations.iter().for_each(|entry| of_shapes[entry.shape as usize] += 1);
    let mut counts: BTreeMap<&str, u64> = timeline.actions.iter().map(|name| (name.as_str(), 0)).collect();
    for (shape, count) in timeline.shapes.iter().zip(of_shapes) {
        *counts.entry(&shape.action).or_default() += count;
    }
    let mut actions: Vec<Action<'_>> = counts.into_iter().map(|(name, count)| Action { name, count }).collect();
    actions.sort_by_key(|action| std::cmp::Reverse(action.count));
    actions
}
