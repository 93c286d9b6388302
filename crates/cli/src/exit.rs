//! Exit codes, which scripts rely on.

use std::process::ExitCode;

/// How a run of the command ended. The order decides which of several outcomes wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// There was no history.
    Nothing,
    Accepted,
    /// A history has no operation.
    Empty,
    /// Everything is accepted, but exercises too little of the specification.
    Vacuous,
    Inconclusive,
    /// The user stopped it.
    Interrupted,
    /// A run has a data race, and no other failure.
    Raced,
    /// The harness crashed or did not end.
    Crashed,
    Rejected,
    Wrong,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Accepted => 0,
            Exit::Rejected => 1,
            Exit::Wrong => 2,
            Exit::Inconclusive => 3,
            Exit::Nothing | Exit::Empty => 4,
            Exit::Crashed => 5,
            Exit::Vacuous => 6,
            Exit::Raced => 7,
            Exit::Interrupted => 130,
        })
    }
}
