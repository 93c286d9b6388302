//! Data races: two conflicting accesses, at most one of them atomic, that nothing orders. Memory that is freed twice, or
//! accessed when it may be freed, is one too.
//!
//! The runtime reports the first race of an execution with the code addresses and the numbers of its accesses. Their
//! stacks come from a replay, in which the runtime watches for accesses with these numbers.

use omnilink_schedule::channel::{ExecutionOutcome, RacingAccess};
use serde::{Deserialize, Serialize};

/// The first race of an execution, as the runtime reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Race {
    /// The accesses, the earlier one first.
    pub accesses: [RacingAccess; 2],
}

impl Race {
    /// The first race of an execution.
    pub fn of(outcome: &ExecutionOutcome) -> Option<Race> {
        (outcome.flags & ExecutionOutcome::RACED != 0).then_some(Race { accesses: outcome.race })
    }

    /// The return addresses of the accesses.
    pub fn places(&self) -> [u64; 2] {
        self.accesses.map(|access| access.place)
    }

    /// The numbers of the accesses.
    pub fn numbers(&self) -> [u64; 2] {
        self.accesses.map(|access| access.number)
    }
}

/// A race of a stored run, for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataRace {
    /// The accesses, the earlier one first.
    pub accesses: [RacedAccess; 2],
}

impl DataRace {
    /// The race in a line: `data race: reads in f at queue.cpp:3, writes in g at queue.cpp:9`.
    pub fn words(&self) -> String {
        let access = |access: &RacedAccess| match access.stack.first() {
            Some(place) => format!("{} in {place}", access.does),
            None => access.does.clone(),
        };
        format!("{}: {}, {}", self.kind(), access(&self.accesses[0]), access(&self.accesses[1]))
    }

    /// Which kind of failure it is, in two or three words.
    pub fn kind(&self) -> &'static str {
        match self.accesses.iter().filter(|access| access.does == FREES).count() {
            0 => "data race",
            1 => "use after free",
            _ => "double free",
        }
    }

    /// Why these two accesses are a failure.
    pub fn reason(&self) -> &'static str {
        match self.accesses.each_ref().map(|access| access.does == FREES) {
            [false, false] => "no lock, atomic access or join orders these two accesses",
            [false, true] => "no lock, atomic access or join orders these two: the memory may be freed first",
            [true, false] => "the memory had been freed",
            [true, true] => "the memory is freed twice",
        }
    }
}

/// One of the accesses of a race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RacedAccess {
    /// The thread, in order of creation; 0 is the main thread.
    pub thread: usize,
    /// The operation it is part of, as reports show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The verb: `writes`, `reads`, the same atomically, or `frees`.
    pub does: String,
    /// The number of steps before it.
    pub after_step: u64,
    /// The function and line of the access, and its callers.
    pub stack: Vec<String>,
}

const FREES: &str = "frees";

/// What an access does, as a verb.
pub fn verb(access: &RacingAccess) -> &'static str {
    match (access.is_atomic != 0, access.writes != 0) {
        _ if access.writes == RacingAccess::FREES => FREES,
        (false, false) => "reads",
        (false, true) => "writes",
        (true, false) => "atomically reads",
        (true, true) => "atomically writes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_race_is_read_from_the_outcome() {
        let access = |place, number| RacingAccess { place, number, ..RacingAccess::default() };
        let outcome = ExecutionOutcome { race: [access(1, 7), access(2, 9)], ..ExecutionOutcome::default() };
        assert_eq!(Race::of(&outcome), None);
        let race = Race::of(&ExecutionOutcome { flags: ExecutionOutcome::RACED, ..outcome });
        assert_eq!(race.map(|race| (race.places(), race.numbers())), Some(([1, 2], [7, 9])));
    }
}
