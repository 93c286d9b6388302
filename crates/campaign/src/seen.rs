//! A run that failed, and the reason.

/// How a run failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No order of its operations is legal.
    Rejected,
    /// A limit was reached before there was a verdict.
    Inconclusive,
    /// It is accepted, or its verdict is unknown, and it has a data race.
    Raced,
    /// The harness crashed.
    Crashed,
    /// The harness did not end.
    Stuck,
    /// Its trace cannot be checked.
    Unchecked,
}

impl Kind {
    /// The kind in one or two words.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Rejected => "rejected",
            Kind::Inconclusive => "inconclusive",
            Kind::Raced => "data race",
            Kind::Crashed => "crashed",
            Kind::Stuck => "stuck",
            Kind::Unchecked => "not checked",
        }
    }
}

/// A run that failed.
#[derive(Debug)]
pub struct Seen {
    /// How.
    pub kind: Kind,
    /// The cause, equal for runs that fail for the same reason.
    pub cause: String,
    /// The message of this run, if the cause is that message without its numbers.
    pub(crate) message: Option<String>,
    /// The place of the conflicting accesses, if it is known.
    pub(crate) meets: Option<String>,
    /// Whether no earlier run failed for this reason.
    pub is_first: bool,
    /// Whether the settings accept it.
    pub is_accepted: bool,
}

impl Seen {
    /// The cause for display, with the numbers of this run.
    pub fn shown(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.cause)
    }
}
