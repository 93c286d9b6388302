//! What counts as an explanation of a history, and what the search may leave out because of it.
//!
//! A criterion says which orders count. It says nothing about how one is found: the search picks a walk that the
//! criterion permits. Each [`Reduction`] is argued for the criteria that [`Criterion::permits`] names, and code that
//! relies on one asks there first.

use history::{History, Precedence};

/// Which orders of operations explain a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Criterion {
    /// What orders operations of different processes. The order within each process and the edges of a history always
    /// count.
    pub precedence: Precedence,
}

impl Criterion {
    /// Operations take effect between their start and their end.
    pub const LINEARIZABLE: Criterion = Criterion { precedence: Precedence::RealTime };
    /// Operations take effect in the order of each process; time does not count.
    pub const SEQUENTIAL: Criterion = Criterion { precedence: Precedence::Program };

    /// True if a reduction loses no verdict on a history under this criterion.
    pub fn permits<T>(self, reduction: Reduction, history: &History<T>) -> bool {
        let is_in_time = self.precedence == Precedence::RealTime;
        match reduction {
            Reduction::ObserversFirst => true,
            Reduction::JustInTime | Reduction::Parts | Reduction::Procedures => {
                is_in_time && history.edges().is_empty()
            }
        }
    }
}

impl Default for Criterion {
    fn default() -> Criterion {
        Criterion::LINEARIZABLE
    }
}

/// What the search may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// An operation that changes nothing is placed as soon as it can be. Whatever comes after it could come after it
    /// before, and nothing that it waits for is later than it was: this holds for every order of operations.
    ObserversFirst,
    /// Operations are placed when a return forces it, and with that walk: one of several equal operations goes first,
    /// independent operations are tried in one order, overwritten ones are absorbed, and a configuration covers others
    /// that have placed less. The arguments at the top of `stream.rs` exchange operations that are in flight together,
    /// which keeps the order in time; it need not keep an edge, and without time nothing is in flight.
    JustInTime,
    /// Parts of an object are decided each by itself. Linearizability is local (Herlihy and Wing 1990); orders of parts
    /// that keep only the order of processes, or edges between parts, need not fit together.
    Parts,
    /// A procedure made for one data type decides. They are argued for intervals of time alone.
    Procedures,
}
