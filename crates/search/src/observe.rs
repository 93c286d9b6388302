//! Progress of a running search, and how to stop it.
//!
//! The search reads no clock and queries no allocator. Its caller polls the counts and its own limits through
//! [`Watch`], and may stop the search; this can only make a verdict inconclusive.

use omnilink_history::{OpId, Stop};

/// Counts of work. They depend only on the spec, the history and the options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Operations that have returned, or, walking by level, that some configuration has placed.
    pub operations: u64,
    /// Calls of [`Spec::step`](crate::Spec::step).
    pub steps: u64,
    /// Configurations that steps led to, and initial states.
    pub generated: u64,
    /// Configurations that were kept, because none kept before covers them.
    pub distinct: u64,
    /// Current number of configurations.
    pub width: usize,
    /// The point with the most configurations at once.
    pub widest: Option<Widest>,
}

impl Stats {
    /// Adds the counts of another search. The widest point is that of the wider one.
    pub fn add(&mut self, other: &Stats) {
        self.operations += other.operations;
        self.steps += other.steps;
        self.generated += other.generated;
        self.distinct += other.distinct;
        self.width += other.width;
        let width = |stats: &Stats| stats.widest.as_ref().map_or(0, |widest| widest.width);
        if width(other) > width(self) {
            self.widest = other.widest.clone();
        }
    }
}

/// The point of the search with the most configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widest {
    /// The number of configurations.
    pub width: usize,
    /// The operation to be placed at that point; `None` for a walk by level.
    pub goal: Option<OpId>,
    /// The operations in flight at that point.
    pub in_flight: Vec<OpId>,
}

/// Observes a running search and may stop it. Searches of several threads share one that is `Sync`.
pub trait Watch {
    /// Called every few dozen steps. Returns a reason to stop, if there is one.
    fn poll(&self, stats: &Stats) -> Option<Stop>;

    /// Called when an operation has returned and been placed; `width` is the number of configurations at that point.
    fn returned(&self, _op: OpId, _width: usize) {}
}

impl<F: Fn(&Stats) -> Option<Stop>> Watch for F {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self(stats)
    }
}

/// Never stops a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(scale: u64, width: usize) -> Stats {
        Stats {
            operations: scale,
            steps: 2 * scale,
            generated: 3 * scale,
            distinct: 4 * scale,
            width,
            widest: Some(Widest { width, goal: Some(OpId(width as u32)), in_flight: Vec::new() }),
        }
    }

    #[test]
    fn counts_add_up_and_the_wider_place_stays() {
        let add = |mut a: Stats, b: &Stats| {
            a.add(b);
            a
        };
        let widest = |width| stats(0, width).widest;
        assert_eq!(add(stats(1, 7), &stats(5, 3)), Stats { width: 10, widest: widest(7), ..stats(6, 0) });
        assert_eq!(add(stats(1, 3), &stats(5, 7)), Stats { width: 10, widest: widest(7), ..stats(6, 0) });
        let earlier = Stats { widest: Some(Widest { goal: None, ..widest(3).unwrap() }), ..stats(1, 3) };
        assert_eq!(add(earlier.clone(), &stats(1, 3)).widest, earlier.widest);
    }
}
