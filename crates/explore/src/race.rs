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
    /// The race in a line: ``data race: T1 reads in `f` (queue.cpp:3), T2 writes in `g` (queue.cpp:9), nothing orders
    /// them``.
    pub fn words(&self) -> String {
        let [first, second] = self.accesses.each_ref().map(RacedAccess::words);
        let claim = if self.kind() == "data race" { ", nothing orders them" } else { "" };
        format!("{}: {first}, {second}{claim}", self.kind())
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

impl RacedAccess {
    /// The access in a few words: the process or the thread, the verb, the function without its signature, and the line.
    fn words(&self) -> String {
        let process = self.operation.as_ref().and_then(|operation| operation.split_once(':'));
        let subject = process.map_or_else(|| format!("thread {}", self.thread), |(process, _)| process.to_owned());
        let place = self.stack.first().map(|frame| match frame.rsplit_once(" at ") {
            Some((function, place)) => {
                format!(" in `{}` ({})", bare(function), place.rsplit('/').next().unwrap_or(place))
            }
            None => format!(" in {frame}"),
        });
        format!("{subject} {}{}", self.does, place.unwrap_or_default())
    }
}

/// The name of a function without its path, its signature and its type arguments.
fn bare(function: &str) -> String {
    let mut depth = 0_usize;
    let is_outside = |c: &char| {
        depth += usize::from(*c == '<');
        let is_outside = depth == 0;
        depth -= usize::from(*c == '>' && depth > 0);
        is_outside
    };
    let signature = function.split('(').next().unwrap_or(function);
    let path: String = signature.chars().filter(is_outside).collect();
    path.rsplit("::").next().filter(|name| !name.is_empty()).unwrap_or(function).to_owned()
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
    fn a_race_is_a_line() {
        let access = |operation: Option<&str>, does: &str, frame: &str| RacedAccess {
            thread: 2,
            operation: operation.map(str::to_owned),
            does: does.to_owned(),
            after_step: 7,
            stack: vec![frame.to_owned()],
        };
        let put = access(Some("T1:0 Enqueue(1)"), "writes", "Queue<int>::push(int const&) at /src/queue.hpp:31");
        let get = access(None, "reads", "queue::take at src/lib.rs:9");
        insta::assert_snapshot!(
            DataRace { accesses: [put.clone(), get] }.words(),
            @"data race: T1 writes in `push` (queue.hpp:31), thread 2 reads in `take` (lib.rs:9), nothing orders them"
        );
        let free = access(None, FREES, "free");
        insta::assert_snapshot!(
            DataRace { accesses: [free, put] }.words(),
            @"use after free: thread 2 frees in free, T1 writes in `push` (queue.hpp:31)"
        );
    }

    #[test]
    fn a_race_is_read_from_the_outcome() {
        let access = |place, number| RacingAccess { place, number, ..RacingAccess::default() };
        let outcome = ExecutionOutcome { race: [access(1, 7), access(2, 9)], ..ExecutionOutcome::default() };
        assert_eq!(Race::of(&outcome), None);
        let race = Race::of(&ExecutionOutcome { flags: ExecutionOutcome::RACED, ..outcome });
        assert_eq!(race.map(|race| (race.places(), race.numbers())), Some(([1, 2], [7, 9])));
    }
}
