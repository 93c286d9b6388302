//! Which execution comes next.
//!
//! A [`Strategy`] and the driver alternate: the strategy orders an execution, and learns its outcome.
//!
//! ```text
//!  Strategy::next ──► ExecutionOrder ── the program under control ──► Execution ──► Strategy::learn
//! ```
//!
//! [`Sampling`] draws schedules at random and never ends. [`Dfs`] visits every schedule with few preemptions once, and
//! [`Dpor`] at least one schedule of every class of schedules that differ only in the order of independent steps. Both
//! end. A [`Tally`] counts executions. A strategy claims to be complete only if nothing was left out for any reason: no
//! bound was reached, and no execution was stopped or diverged.

mod dfs;
mod dpor;
mod fingerprint;

use omnilink_schedule::channel::{Pending, Policy, Standing};
use omnilink_schedule::{Decision, Step};

use crate::{Ending, Execution, ExecutionOrder};

pub use dfs::Dfs;
pub use dpor::Dpor;
pub use fingerprint::fingerprint;

/// Chooses executions.
pub trait Strategy {
    /// The next order; `None` if everything has been explored. An exploring strategy returns the same order until it
    /// has learnt the outcome.
    fn next(&mut self) -> Option<ExecutionOrder>;

    /// Learns the outcome of the last order.
    fn learn(&mut self, execution: &Execution);

    /// The executions so far.
    fn tally(&self) -> &Tally;

    /// Whether an enabled thread was not offered, for fairness: then an exploration cannot be complete.
    fn held_back(&self) -> bool {
        false
    }

    /// Whether an execution took other steps than an earlier one after the same decisions, so that nothing could be learnt
    /// from it.
    fn has_diverged(&self) -> bool {
        false
    }

    /// Whether every possible execution has been run, up to the strategy's equivalence.
    fn is_complete(&self) -> bool;
}

/// The number of executions by ending. The first number is the sum of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// All executions.
    pub executions: u64,
    /// Those that ended normally.
    pub finished: u64,
    /// Those aborted because another execution covers them.
    pub asleep: u64,
    /// Deadlocks and livelocks.
    pub stuck: u64,
    /// Those that ended with a nonzero exit code, or by a signal.
    pub crashed: u64,
    /// Those that show nothing: a decision could not be followed, or the time was up.
    pub lost: u64,
}

impl Tally {
    /// Counts an execution.
    pub fn count(&mut self, ended: &Ending) {
        self.executions += 1;
        *match ended {
            Ending::Finished => &mut self.finished,
            Ending::Asleep => &mut self.asleep,
            Ending::Deadlock | Ending::Livelock => &mut self.stuck,
            Ending::Crashed { .. } => &mut self.crashed,
            Ending::Diverged | Ending::TimedOut => &mut self.lost,
        } += 1;
    }
}

/// Draws schedules at random, each from its own seed, without end.
#[derive(Debug, Clone)]
pub struct Sampling {
    order: ExecutionOrder,
    /// Policies, used in turns.
    policies: Vec<Policy>,
    /// Whether memory is weak in every second turn of each policy.
    is_weak_in_turns: bool,
    /// Whether the first plain accesses are steps in every fourth turn of each policy.
    is_plain_in_turns: bool,
    /// The most steps of an execution so far, without and with plain accesses. PCT spreads its priority changes over that
    /// many.
    longest: [u64; 2],
    /// Whether plain accesses were steps in the last execution.
    was_plain: bool,
    tally: Tally,
}

impl Sampling {
    /// Samples with the policy and depth of this order, from its seed upwards.
    pub fn new(order: ExecutionOrder) -> Sampling {
        let policies = vec![order.policy];
        Sampling {
            policies,
            is_weak_in_turns: false,
            is_plain_in_turns: false,
            order,
            longest: [0; 2],
            was_plain: false,
            tally: Tally::default(),
        }
    }

    /// Samples with these policies in turns.
    pub fn mixed(order: ExecutionOrder, policies: &[Policy]) -> Sampling {
        Sampling { policies: policies.to_vec(), ..Sampling::new(order) }
    }

    /// The same, with weak memory in every second turn of each policy, unless the order has it in all.
    pub fn weak_in_turns(self) -> Sampling {
        Sampling { is_weak_in_turns: !self.order.weak, ..self }
    }

    /// The same, with the first plain accesses as steps in every fourth turn of each policy, unless the order has all.
    pub fn plain_in_turns(self) -> Sampling {
        Sampling { is_plain_in_turns: !self.order.plain, ..self }
    }
}

impl Strategy for Sampling {
    fn next(&mut self) -> Option<ExecutionOrder> {
        let turns = self.policies.len().max(1);
        let (round, turn) = (self.tally.executions as usize / turns, self.tally.executions as usize % turns);
        let policy = self.policies.get(turn).copied().unwrap_or(self.order.policy);
        let mut order = ExecutionOrder { policy, ..self.order.clone() };
        if self.is_weak_in_turns && round % 2 == 1 {
            (order.weak, order.fresh) = (true, true);
        }
        if self.is_plain_in_turns && round % 4 == 2 {
            (order.plain, order.only_first_plain) = (true, true);
        }
        self.was_plain = order.plain;
        let longest = self.longest[usize::from(order.plain)];
        if longest > 0 {
            order.expected = longest;
        }
        self.order.seed = self.order.seed.wrapping_add(1);
        Some(order)
    }

    fn learn(&mut self, execution: &Execution) {
        self.tally.count(&execution.ended);
        let longest = &mut self.longest[usize::from(self.was_plain)];
        *longest = (*longest).max(execution.steps.len() as u64);
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }

    fn is_complete(&self) -> bool {
        false
    }
}

/// The settings of exploring strategies, besides the decisions to follow.
fn exploring(order: ExecutionOrder) -> ExecutionOrder {
    ExecutionOrder { policy: Policy::Steady, strict: true, follow: Vec::new(), sleep: 0, ..order }
}

/// Whether an execution shows all that follows from its decisions: it was neither lost nor stopped at the limit.
fn is_whole(execution: &Execution, limit: u64) -> bool {
    match execution.ended {
        Ending::Diverged | Ending::TimedOut => false,
        Ending::Livelock => (execution.steps.len() as u64) < limit,
        _ => true,
    }
}

/// Whether an enabled thread was not offered.
fn is_held_back(execution: &Execution) -> bool {
    execution.steps.iter().any(|step| step.has(Step::HELD_BACK))
}

/// Whether these decisions begin with the requested prefix.
fn follows(follow: &[Decision], decisions: &[Decision]) -> bool {
    let same = |(a, b): (&Decision, &Decision)| (a.choice, a.chosen) == (b.choice, b.chosen);
    decisions.len() >= follow.len() && follow.iter().zip(decisions).all(same)
}

/// For each of these steps, the next step of every thread before it.
fn upcoming(steps: &[Step], pending: &[Pending]) -> Vec<Vec<Option<Step>>> {
    let mut upcoming: Vec<Option<Step>> =
        pending.iter().enumerate().map(|(thread, pending)| step_of(thread, pending)).collect();
    let mut all: Vec<Vec<Option<Step>>> = Vec::with_capacity(steps.len());
    for step in steps.iter().rev() {
        let thread = usize::from(step.thread);
        if upcoming.len() <= thread {
            upcoming.resize(thread + 1, None);
        }
        upcoming[thread] = Some(*step);
        all.push(upcoming.clone());
    }
    all.reverse();
    all
}

/// The next step of a live thread.
fn step_of(thread: usize, pending: &Pending) -> Option<Step> {
    let standing = Standing::from_number(pending.standing)?;
    let is_alive = matches!(standing, Standing::Alive | Standing::Spinning);
    is_alive.then_some(Step { thread: thread as u8, ..pending.step })
}

#[cfg(test)]
mod tests {

    use super::*;

    /// An execution of one thread with this ending and number of steps.
    fn execution(ended: Ending, steps: usize) -> Execution {
        let steps = vec![Step { enabled: 1, ..Step::default() }; steps];
        let decisions = vec![Decision::thread(0); steps.len()];
        Execution { ended, steps, decisions, pending: Vec::new(), digest: 0, base: 0 }
    }

    #[test]
    fn samples_have_seeds_of_their_own() {
        let mut sampling =
            Sampling::new(ExecutionOrder { policy: Policy::Pct, seed: u64::MAX, ..ExecutionOrder::default() });
        let mut check = |steps| {
            let order = sampling.next().expect("there is always another one");
            sampling.learn(&execution(Ending::Finished, steps));
            (order.policy, order.seed, order.expected)
        };
        assert_eq!(check(7), (Policy::Pct, u64::MAX, 100));
        assert_eq!(check(5), (Policy::Pct, 0, 7));
        assert_eq!(check(5), (Policy::Pct, 1, 7));
        assert_eq!(sampling.tally().finished, 3);
    }

    #[test]
    fn mixed_policies_take_turns() {
        let policies = [Policy::Random, Policy::Pct, Policy::Pos];
        let mut sampling = Sampling::mixed(ExecutionOrder::default(), &policies);
        let mut next = || {
            let order = sampling.next().expect("there is always another one");
            sampling.learn(&execution(Ending::Finished, 1));
            order.policy
        };
        assert_eq!([next(), next(), next(), next()], [Policy::Random, Policy::Pct, Policy::Pos, Policy::Random]);
    }

    #[test]
    fn memory_is_weak_in_turns() {
        let are_weak = |order: ExecutionOrder| {
            let mut sampling = Sampling::mixed(order, &[Policy::Random, Policy::Pos]).weak_in_turns();
            [(); 6].map(|()| {
                let order = sampling.next().expect("there is always another one");
                sampling.learn(&execution(Ending::Finished, 1));
                (order.weak, order.fresh)
            })
        };
        let [no, yes] = [(false, false), (true, true)];
        assert_eq!(are_weak(ExecutionOrder::default()), [no, no, yes, yes, no, no]);
        assert_eq!(are_weak(ExecutionOrder { weak: true, ..ExecutionOrder::default() }), [(true, false); 6]);
    }

    #[test]
    fn plain_accesses_are_steps_in_turns() {
        let are_plain = |order: ExecutionOrder| {
            let mut sampling = Sampling::mixed(order, &[Policy::Random, Policy::Pos]).plain_in_turns();
            [(); 10].map(|()| {
                let order = sampling.next().expect("there is always another one");
                sampling.learn(&execution(Ending::Finished, 1));
                (order.plain, order.only_first_plain)
            })
        };
        let [no, yes] = [(false, false), (true, true)];
        assert_eq!(are_plain(ExecutionOrder::default()), [no, no, no, no, yes, yes, no, no, no, no]);
        assert_eq!(are_plain(ExecutionOrder { plain: true, ..ExecutionOrder::default() }), [(true, false); 10]);
    }

    #[test]
    fn stopped_executions_are_not_complete() {
        let strategies = || -> [Box<dyn Strategy>; 2] {
            let order = ExecutionOrder { limit: 9, ..ExecutionOrder::default() };
            [Box::new(Dfs::new(order.clone(), None)), Box::new(Dpor::new(order))]
        };
        let check = |ended: Ending, steps| {
            let is_complete = strategies().map(|mut strategy| {
                assert!(!strategy.is_complete() && strategy.next().is_some());
                strategy.learn(&execution(ended.clone(), steps));
                assert_eq!(strategy.next(), None);
                strategy.is_complete()
            });
            assert_eq!(is_complete[0], is_complete[1]);
            is_complete[0]
        };
        assert!(check(Ending::Finished, 5));
        assert!(check(Ending::Finished, 0));
        assert!(check(Ending::Livelock, 5));
        assert!(!check(Ending::Livelock, 9));
        assert!(!check(Ending::TimedOut, 5));
        assert!(!check(Ending::Diverged, 5));
    }
}
