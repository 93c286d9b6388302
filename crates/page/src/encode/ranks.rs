//! The ranks of starts and ends among all times of a history, and statistics derived from them.
//!
//! A page that shows the order of events instead of the time between them draws an event at its *rank*: the index of
//! its time among all distinct times. An unfinished operation ends at one past the last rank.
//!
//! Starts are sorted already, and ends are sorted once. An operation seldom spans many events, so the rank of an end is
//! found by galloping search from that of its start.

use omnilink_report::Timeline;

use super::PIECE;

/// Maximum number of buckets of an overview.
const MOST_BUCKETS: usize = 2048;

/// An operation that spans more ranks than this is listed separately, so that a page need not search all chunks before
/// the visible one for it.
const LONG: u32 = PIECE as u32;

/// At most this many finished operations are listed; the others extend the range of their chunk.
const MOST_LONG: usize = 4096;

/// The ranks of all starts and ends.
#[derive(Debug)]
pub(super) struct Ranks {
    count: u32,
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Unfinished operations and those that span the most ranks, in increasing order.
    long: Vec<usize>,
    /// For each chunk, the last end of the operations not in `long`: a rank and a time.
    lasts: Vec<(u32, u64)>,
}

impl Ranks {
    pub(super) fn new(timeline: &Timeline) -> Ranks {
        let operations = &timeline.operations;
        assert!(operations.is_sorted_by_key(|entry| entry.start), "a timeline is sorted by start");
        let mut times: Vec<u64> = operations.iter().filter_map(|entry| entry.end).collect();
        times.extend(operations.iter().map(|entry| entry.start));
        times.sort_unstable();
        times.dedup();
        let count =
            u32::try_from(times.len()).expect("operations are numbered with 32 bits, and half of them are enough");
        let (mut starts, mut ends) = (Vec::with_capacity(operations.len()), Vec::with_capacity(operations.len()));
        let mut rank = 0;
        for entry in operations {
            rank = place(&times, rank, entry.start);
            starts.push(rank as u32);
            ends.push(entry.end.map_or(count, |end| place(&times, rank, end) as u32));
        }
        let mut ranks = Ranks { count, starts, ends, long: Vec::new(), lasts: Vec::new() };
        ranks.long = ranks.find_long(timeline);
        ranks.lasts = ranks.find_lasts(timeline);
        ranks
    }

    /// The number of distinct times.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn start(&self, op: usize) -> u32 {
        self.starts[op]
    }

    pub(super) fn end(&self, op: usize) -> u32 {
        self.ends[op]
    }

    /// Unfinished operations and those that span the most ranks, in increasing order.
    pub(super) fn long(&self) -> &[usize] {
        &self.long
    }

    /// The last end in a chunk of the operations not in `long`: a rank and a time.
    pub(super) fn last(&self, chunk: usize) -> (u32, u64) {
        self.lasts[chunk]
    }

    /// Maximum number of operations in flight, per bucket.
    pub(super) fn flights(&self) -> Vec<u32> {
        // The change in operations in flight from the previous rank. Both ends belong to an operation.
        let mut changes = vec![0_i64; self.count as usize + 2];
        for (&start, &end) in self.starts.iter().zip(&self.ends) {
            changes[start as usize] += 1;
            changes[end as usize + 1] -= 1;
        }
        let mut buckets = vec![0; self.buckets()];
        let mut flying = 0;
        for (rank, change) in (0..self.count).zip(changes) {
            flying += change;
            let most = &mut buckets[self.bucket(rank)];
            *most = flying.max(*most);
        }
        buckets.into_iter().map(|most| most as u32).collect()
    }

    /// Maximum number of simultaneous configurations, per bucket; empty if unknown.
    pub(super) fn widths(&self, widths: &[u32]) -> Vec<u32> {
        if widths.is_empty() {
            return Vec::new();
        }
        let mut buckets = vec![0; self.buckets()];
        for (&end, &width) in self.ends.iter().zip(widths).filter(|(end, _)| **end < self.count) {
            let most = &mut buckets[self.bucket(end)];
            *most = width.max(*most);
        }
        buckets
    }

    fn buckets(&self) -> usize {
        MOST_BUCKETS.min(self.count as usize)
    }

    fn bucket(&self, rank: u32) -> usize {
        (u64::from(rank) * self.buckets() as u64 / u64::from(self.count)) as usize
    }

    fn find_long(&self, timeline: &Timeline) -> Vec<usize> {
        let span = |op: usize| self.ends[op] - self.starts[op];
        let is_finished = |op: usize| timeline.operations[op].end.is_some();
        let mut longest: Vec<usize> = (0..self.starts.len()).filter(|&op| is_finished(op) && span(op) > LONG).collect();
        longest.sort_by_key(|&op| std::cmp::Reverse(span(op)));
        longest.truncate(MOST_LONG);
        longest.extend((0..self.starts.len()).filter(|&op| !is_finished(op)));
        longest.sort_unstable();
        longest
    }

    fn find_lasts(&self, timeline: &Timeline) -> Vec<(u32, u64)> {
        let mut long = self.long.iter().peekable();
        let mut lasts = Vec::new();
        for (op, entry) in timeline.operations.iter().enumerate() {
            if op % PIECE == 0 {
                lasts.push((self.starts[op], entry.start));
            }
            let is_long = long.next_if(|&&long| long == op).is_some();
            let end = match entry.end {
                Some(end) if !is_long => (self.ends[op], end),
                // Nothing is drawn before it starts.
                _ => (self.starts[op], entry.start),
            };
            let last = lasts.last_mut().expect("a chunk was begun");
            *last = end.max(*last);
        }
        lasts
    }
}

/// The index of `time`, which must be in `times` at or after `from`.
fn place(times: &[u64], from: usize, time: u64) -> usize {
    let mut step = 1;
    while times.get(from + step).is_some_and(|&next| next <= time) {
        step *= 2;
    }
    let (low, high) = (from + step / 2, times.len().min(from + step));
    low + times[low..high].partition_point(|&before| before < time)
}

#[cfg(test)]
mod tests {
    use omnilink_report::Entry;

    use super::*;

    fn check(intervals: &[(u64, Option<u64>)]) -> Ranks {
        let entry = |&(start, end)| Entry { process: 0, index: 0, shape: 0, values: 0, start, end };
        Ranks::new(&Timeline { operations: intervals.iter().map(entry).collect(), ..Timeline::default() })
    }

    #[test]
    fn times_are_counted_once() {
        let ranks = check(&[(5, Some(9)), (5, Some(7)), (7, None), (u64::MAX, Some(u64::MAX))]);
        assert_eq!((ranks.count(), ranks.starts, ranks.ends), (4, vec![0, 0, 1, 3], vec![2, 1, 4, 3]));
        assert_eq!(ranks.long, [2]);
    }

    #[test]
    fn flights_include_both_ends() {
        assert_eq!(check(&[(1, Some(2)), (2, Some(3)), (5, None)]).flights(), [1, 2, 1, 1]);
        assert!(check(&[]).flights().is_empty());
    }

    #[test]
    fn overviews_are_short() {
        let intervals: Vec<_> = (0..5000).map(|time| (2 * time, Some(2 * time + 1))).collect();
        let ranks = check(&intervals);
        assert_eq!(ranks.flights(), [1; MOST_BUCKETS]);
        let widths: Vec<u32> = (0..5000).collect();
        let widths = ranks.widths(&widths);
        assert_eq!((widths.len(), widths[MOST_BUCKETS - 1]), (MOST_BUCKETS, 4999));
        assert!(ranks.widths(&[]).is_empty());
    }

    #[test]
    fn operations_that_span_many_ranks_are_listed() {
        let mut intervals: Vec<_> = (0..40_000).map(|time| (10 * time, Some(10 * time + 1))).collect();
        intervals[7].1 = Some(300_000);
        let ranks = check(&intervals);
        assert_eq!(ranks.long, [7]);
        assert_eq!(ranks.lasts.len(), 3);
        assert_eq!(ranks.last(0), (ranks.end(PIECE - 1), 10 * (PIECE as u64 - 1) + 1));
    }
}
