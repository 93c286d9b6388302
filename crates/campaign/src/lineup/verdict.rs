//! The verdict about one test of an object.

use omnilink_explore::{Controlled, DataRace, Ended, Plan};
use omnilink_lineup::{Failure, Nondeterminism, Observed};

use crate::Executed;

/// The reason why executions cannot share a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolated {
    /// After the same decisions an execution took other steps. The object or its parts are allocated at other addresses,
    /// for example.
    OtherSteps,
    /// An execution failed, and none does in a process of its own, or as the first one of a process.
    OtherVerdict,
}

impl Isolated {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Isolated::OtherSteps => {
                "after the same decisions the next execution took other steps, for example because the object allocates \
                 memory at other addresses"
            }
            Isolated::OtherVerdict => "one execution changes what the next one sees",
        }
    }
}

/// The verdict about one test.
#[derive(Debug)]
pub enum LineupVerdict {
    /// Serial runs explain all executions.
    Passed,
    /// Two serial runs answer the same calls differently.
    Nondeterministic(Box<Nondeterminism>),
    /// No serial run explains an execution.
    Unexplained(Box<Unexplained>),
    /// Serial runs explain all executions, and one has a data race.
    Raced(Box<Raced>),
    /// A serial execution crashed or did not end.
    Broken(Ended),
    /// A concurrent execution crashed or did not end.
    Crashed(Box<Crashed>),
    /// Time or executions ran out before all schedules were explored. Nothing failed until then.
    OutOfTime,
    /// Executions did not end, did not start or did not follow their decisions. Nothing failed otherwise.
    Unfinished,
    /// The user asked to stop.
    Interrupted,
}

impl LineupVerdict {
    /// Whether the test failed, for any reason.
    pub fn has_failed(&self) -> bool {
        matches!(
            self,
            LineupVerdict::Nondeterministic(_)
                | LineupVerdict::Unexplained(_)
                | LineupVerdict::Raced(_)
                | LineupVerdict::Broken(_)
                | LineupVerdict::Crashed(_)
        )
    }

    /// The verdict of two explorations of one test, none of which failed in the second.
    pub(super) fn and(self, later: LineupVerdict) -> LineupVerdict {
        let rank = |verdict: &LineupVerdict| match verdict {
            LineupVerdict::Passed => 0,
            LineupVerdict::OutOfTime => 1,
            LineupVerdict::Unfinished => 2,
            LineupVerdict::Interrupted => 3,
            _ => 4,
        };
        if rank(&later) > rank(&self) { later } else { self }
    }

    /// Whether two verdicts are failures of one kind: a smaller test must fail like the larger one.
    pub(super) fn is_like(&self, other: &LineupVerdict) -> bool {
        self.has_failed() && std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// The execution to store, and how it was controlled.
    pub(super) fn execution(&mut self) -> Option<(&mut Executed<Plan>, &mut Option<Controlled>)> {
        match self {
            LineupVerdict::Unexplained(unexplained) => Some((&mut unexplained.run, &mut unexplained.controlled)),
            LineupVerdict::Raced(raced) => Some((&mut raced.run, &mut raced.controlled)),
            LineupVerdict::Crashed(crashed) => Some((&mut crashed.run, &mut crashed.controlled)),
            _ => None,
        }
    }
}

/// An execution that crashed or did not end.
#[derive(Debug)]
pub struct Crashed {
    /// The execution.
    pub run: Executed<Plan>,
    /// How it was controlled, after a replay in a fresh process.
    pub controlled: Option<Controlled>,
}

/// An execution that no serial run explains.
#[derive(Debug)]
pub struct Unexplained {
    /// A sentence about the failure.
    pub observed: Observed,
    /// The reason why no serial run explains it.
    pub failure: Failure,
    /// The execution.
    pub run: Executed<Plan>,
    /// How it was controlled, after a replay in a fresh process.
    pub controlled: Option<Controlled>,
}

/// An execution with a data race.
#[derive(Debug)]
pub struct Raced {
    /// Both accesses, in a line.
    pub cause: String,
    /// Both accesses with their stacks, after a replay in a fresh process.
    pub race: Option<DataRace>,
    /// The execution.
    pub run: Executed<Plan>,
    /// How it was controlled, after a replay in a fresh process.
    pub controlled: Option<Controlled>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_exploration_takes_nothing_back() {
        use LineupVerdict::{Interrupted, OutOfTime, Passed, Unfinished};
        let check = |first: LineupVerdict, second| format!("{:?}", first.and(second));
        assert_eq!(check(Passed, Passed), "Passed");
        // Drawn schedules that end do not make up for an exploration that did not, and the other way around.
        assert_eq!(check(OutOfTime, Passed), "OutOfTime");
        assert_eq!(check(Unfinished, Passed), "Unfinished");
        assert_eq!(check(Passed, Unfinished), "Unfinished");
        // Executions that do not end count for more than time.
        assert_eq!(check(OutOfTime, Unfinished), "Unfinished");
        assert_eq!(check(Unfinished, OutOfTime), "Unfinished");
        assert_eq!(check(Unfinished, Interrupted), "Interrupted");
    }
}
