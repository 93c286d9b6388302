//! The operations that an operation has to see.

use std::fmt::{self, Display, Formatter};

/// The operations before an operation in `lin` that it has to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Visibility {
    /// Everything before it.
    Complete,
    /// Everything that the order puts before it: in real time, it may miss the operations that overlap it.
    Overlap,
    /// All operations before one that it sees: a prefix.
    Prefix,
    /// The operations of its own process, and everything that an operation it sees has seen.
    Causal,
    /// The operations of its own process and those that these saw; and of any other process, with each operation, those
    /// before it.
    Peer,
    /// The operations of its own process, and those that these saw.
    Monotonic,
    /// The operations of its own process.
    Session,
    /// Nothing: it may miss any operation.
    Weak,
}

impl Visibility {
    /// All of them.
    pub const ALL: [Visibility; 8] = [
        Visibility::Complete,
        Visibility::Overlap,
        Visibility::Prefix,
        Visibility::Causal,
        Visibility::Peer,
        Visibility::Monotonic,
        Visibility::Session,
        Visibility::Weak,
    ];

    /// Its name on the command line and in settings.
    pub fn name(self) -> &'static str {
        match self {
            Visibility::Complete => "complete",
            Visibility::Overlap => "overlap",
            Visibility::Prefix => "prefix",
            Visibility::Causal => "causal",
            Visibility::Peer => "peer",
            Visibility::Monotonic => "monotonic",
            Visibility::Session => "session",
            Visibility::Weak => "weak",
        }
    }

    /// Describes the meaning for an operation, in words that follow its name.
    pub fn meaning(self) -> &'static str {
        match self {
            Visibility::Complete => "sees everything before it",
            Visibility::Overlap => "may miss operations that overlap it",
            Visibility::Prefix => "sees everything up to some operation before it",
            Visibility::Causal => "sees its own process's operations, and what the operations that it sees have seen",
            Visibility::Peer => "sees its own process's operations, what these saw, and prefixes of other processes",
            Visibility::Monotonic => "sees its own process's operations, and what these saw",
            Visibility::Session => "sees at least its own process's operations",
            Visibility::Weak => "may miss anything",
        }
    }

    /// True if everything that this one permits is permitted by `weaker`, if the order contains session order.
    pub fn implies(self, weaker: Visibility) -> bool {
        use Visibility::{Causal, Complete, Monotonic, Overlap, Peer, Prefix, Session, Weak};
        match (self, weaker) {
            (Complete, _) | (_, Weak) => true,
            (a, b) if a == b => true,
            (Overlap, Session) => true,
            (Causal, Peer | Monotonic | Session) | (Peer, Monotonic | Session) | (Monotonic, Session) => true,
            (Prefix, _) | (Overlap, _) | (Causal, _) | (Peer, _) | (Monotonic, _) | (Session, _) | (Weak, _) => false,
        }
    }

    /// True if the operations that it has to see depend on the visible operations of others.
    pub(crate) fn depends_on_others(self) -> bool {
        matches!(self, Visibility::Prefix | Visibility::Causal | Visibility::Peer | Visibility::Monotonic)
    }
}

impl Display for Visibility {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
