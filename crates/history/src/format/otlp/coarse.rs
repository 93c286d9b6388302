//! Clocks that round down.
//!
//! Some SDKs read the start of a span from a clock of milliseconds, and add a precise duration to get its end: the one
//! for JavaScript does. Then start and end are both too early, by up to one tick and differently for each span, and
//! operations that overlapped seem to follow each other. So an interval ends one tick later, less a nanosecond: then
//! it contains the true one.
//!
//! A resource can name its resolution. Otherwise it is the largest of a second, a millisecond and a microsecond that
//! divides the start of all of its spans. A few starts of a precise clock are divisible by chance, which
//! makes intervals longer and nothing worse.

use super::clock::duration;
use super::span::Spans;

/// Smaller numbers are not nanoseconds since 1970, but times of a test, where round numbers mean nothing.
const EARLIEST: u64 = 1_000_000_000_000_000;

/// Widens the intervals of all spans to the resolution of their clocks. Spans have no duplicates.
pub(super) fn widen(spans: &mut Spans, notes: &mut Vec<String>) {
    let mut ticks: Vec<Option<u64>> = vec![None; spans.resources.len()];
    for span in &spans.list {
        let divides = |tick: &u64| span.content.start >= EARLIEST && span.content.start % tick == 0;
        let tick = [1_000_000_000, 1_000_000, 1_000].into_iter().find(divides).unwrap_or(1);
        let known = &mut ticks[span.resource];
        *known = Some(known.map_or(tick, |known| known.min(tick)));
    }
    let ticks: Vec<u64> = spans
        .resources
        .iter()
        .zip(ticks)
        .map(|(resource, tick)| resource.clock_resolution.or(tick).unwrap_or(1).max(1))
        .collect();
    let mut coarsest = 1;
    for span in &mut spans.list {
        let more = ticks[span.resource] - 1;
        if span.content.precision < more {
            span.content.precision = more;
            span.content.end = span.content.end.map(|end| end.saturating_add(more));
            if span.content.operation.is_some() {
                coarsest = coarsest.max(more + 1);
            }
        }
    }
    if coarsest > 1 {
        let tick = i64::try_from(coarsest).map_or_else(|_| "years".into(), duration);
        notes.push(format!("times are multiples of {tick}, so operations may have ended that much later"));
    }
}
