//! Which orders explain a history, and which reductions that permits.
//!
//! A criterion defines which orders count, not how to find one: the search picks a walk that the criterion permits.
//! Each [`Reduction`] is justified for the criteria that [`Criterion::permits`] names, and code that relies on one
//! asks there first.

use omnilink_history::{OpId, Precedence};

/// Which orders of operations explain a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Criterion {
    /// The order between operations. The edges of a history always count.
    pub precedence: Precedence,
}

impl Criterion {
    /// Operations take effect between their start and their end.
    pub const LINEARIZABLE: Criterion = Criterion { precedence: Precedence::RealTime };
    /// Operations take effect in the order of each process; real time does not count.
    pub const SEQUENTIAL: Criterion = Criterion { precedence: Precedence::Program };
    /// Operations are transactions, and take effect in any order.
    pub const SERIALIZABLE: Criterion = Criterion { precedence: Precedence::None };

    /// True if a reduction loses no verdict under this criterion, on a history with these edges.
    pub fn permits(self, reduction: Reduction, edges: &[(OpId, OpId)]) -> bool {
        let is_in_time = self.precedence == Precedence::RealTime;
        match reduction {
            Reduction::ObserversFirst => true,
            Reduction::JustInTime | Reduction::Parts | Reduction::Procedures => is_in_time && edges.is_empty(),
        }
    }
}

impl Default for Criterion {
    fn default() -> Criterion {
        Criterion::LINEARIZABLE
    }
}

/// A reduction of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// An operation that changes nothing is placed as soon as it can be. Any operation that could follow the prefix
    /// can still follow it with the observer added, and no operation that the observer waits for is later than
    /// before: this holds for every order of operations.
    ObserversFirst,
    /// Operations are placed when a return forces it. This walk also lets one of several equal operations go first,
    /// tries independent operations in one order, absorbs overwritten ones, and lets a configuration cover others
    /// that have placed less. The arguments at the top of `stream.rs` exchange operations that are in flight
    /// together, which preserves real-time order; it need not preserve an edge, and without real time no operation is
    /// in flight.
    JustInTime,
    /// Parts of an object are checked separately. Linearizability is local (Herlihy and Wing 1990); orders of parts
    /// that keep only process order, or edges between parts, need not fit together.
    Parts,
    /// A procedure specific to one data type decides. These procedures are justified for intervals of time alone.
    Procedures,
}
