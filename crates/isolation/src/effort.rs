//! Bounds of a check, and the ways in which it finds version orders.

/// Bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The largest number of conflicts in a search for version orders.
    pub conflicts: u64,
    /// The largest number of pairs of writes whose order is open.
    pub pairs: usize,
    /// The largest number of ways in which ambiguous reads are resolved.
    pub choices: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { conflicts: 200_000, pairs: 4_000_000, choices: 4_096 }
    }
}

/// How version orders are found: tests compare the ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ways {
    pub(crate) guesses: bool,
    pub(crate) prunes: bool,
}

pub(crate) const ALL_WAYS: Ways = Ways { guesses: true, prunes: true };
