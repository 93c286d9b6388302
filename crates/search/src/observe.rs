//! What the search tells while it runs, and how it is told to stop.
//!
//! The search reads no clock and knows no allocator. Whoever runs it looks at its numbers from time to time, and at the
//! world, and may say stop; this can only make a verdict inconclusive.

use history::{OpId, Stop};

/// Counts of work. They depend on the spec, the history and the options alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Operations that have returned, or, walking by level, that some configuration has placed.
    pub operations: u64,
    /// How often the spec was asked for a step.
    pub steps: u64,
    /// Configurations that steps led to, and initial states.
    pub generated: u64,
    /// Those that were kept, because nothing kept before covers them.
    pub distinct: u64,
    /// Configurations at hand now.
    pub width: usize,
    /// The place with the most configurations at once.
    pub widest: Option<Widest>,
}

impl Stats {
    /// Adds the counts of another search. The widest place is that of the wider one.
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

/// The place where the most configurations were possible at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widest {
    /// How many there were.
    pub width: usize,
    /// The operation that was to be placed there; none if the walk is by level.
    pub goal: Option<OpId>,
    /// The operations in flight there.
    pub in_flight: Vec<OpId>,
}

/// Looks at the search now and then.
pub trait Watch {
    /// Called every few dozen steps. Answers with a reason to stop, if there is one.
    fn look(&mut self, stats: &Stats) -> Option<Stop>;

    /// Called when an operation has returned and been placed. So many configurations were possible for it.
    fn returned(&mut self, _op: OpId, _width: usize) {}
}

impl<F: FnMut(&Stats) -> Option<Stop>> Watch for F {
    fn look(&mut self, stats: &Stats) -> Option<Stop> {
        self(stats)
    }
}

/// Never stops a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn look(&mut self, _: &Stats) -> Option<Stop> {
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
