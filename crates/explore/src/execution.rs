//! One execution under control: the order for it, and its outcome.

use omnilink_schedule::channel::{ExecutionOutcome, Pending, Policy, Standing};
use omnilink_schedule::{Decision, Kind, MemoryOrder, Schedule, Step};
use serde::{Deserialize, Serialize};

use crate::program::{Blocked, Ended};

/// The default step limit of an execution.
pub const STEP_LIMIT: u64 = 1_000_000;

/// The order for one execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionOrder {
    /// Policy used after the prefix to follow is exhausted.
    pub policy: Policy,
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of priority changes plus one, for [`Policy::Pct`].
    pub depth: u32,
    /// The expected number of steps, for [`Policy::Pct`].
    pub expected: u64,
    /// The prefix of decisions to follow.
    pub follow: Vec<Decision>,
    /// The threads that sleep after it, as bits, for [`Policy::Steady`].
    pub sleep: u64,
    /// Whether a decision that cannot be followed ends the execution; otherwise the policy decides instead.
    pub strict: bool,
    /// Whether loads may read stores other than the last one, as C11 allows.
    pub weak: bool,
    /// Whether no load then reads a store older than one that another thread has read, or than those of recorded operations
    /// that have returned.
    pub fresh: bool,
    /// Whether unsynchronized accesses are steps too.
    pub plain: bool,
    /// Whether then only the first [`omnilink_schedule::channel::FIRST_PLAIN`] of them are.
    pub only_first_plain: bool,
    /// Whether to look for data races. Reports are reliable only if all synchronizing code is instrumented.
    pub races: bool,
    /// Data races that are known, as return addresses: their accesses are steps even if `plain` is not set, and they are
    /// not reported. At most [`omnilink_schedule::channel::RACING`] of them count.
    pub racing: Vec<[u64; 2]>,
    /// The numbers of the two accesses of a race whose stacks are recorded.
    pub watch: [u64; 2],
    /// Whether the next execution may run in the same process, if the program supports it: faster, but state left
    /// behind by one execution can affect the next.
    pub batch: bool,
    /// The step limit, at most [`crate::MOST_STEPS`].
    pub limit: u64,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
}

impl Default for ExecutionOrder {
    fn default() -> ExecutionOrder {
        ExecutionOrder {
            policy: Policy::Random,
            seed: 0,
            depth: 3,
            expected: 100,
            follow: Vec::new(),
            sleep: 0,
            strict: false,
            weak: false,
            fresh: false,
            plain: false,
            only_first_plain: false,
            races: false,
            racing: Vec::new(),
            watch: [0; 2],
            batch: false,
            limit: STEP_LIMIT,
            environment: Vec::new(),
        }
    }
}

/// The outcome of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// How it ended.
    pub ended: Ending,
    /// The steps.
    pub steps: Vec<Step>,
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// The next step of each thread, by thread number.
    pub pending: Vec<Pending>,
    /// A fingerprint of all steps, with their addresses, and with their values but for those of unsynchronized reads.
    pub digest: u64,
    /// The load address of the program.
    pub base: u64,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Normally.
    Finished,
    /// With a nonzero exit code, or by a signal.
    Crashed {
        /// The exit code or signal.
        how: String,
        /// The last output.
        said: String,
    },
    /// No thread was enabled.
    Deadlock,
    /// Threads ran, but nothing changed.
    Livelock,
    /// Every enabled thread was asleep: another execution covers this one.
    Asleep,
    /// A decision could not be followed.
    Diverged,
    /// It exceeded the time limit: a thread waits where the runtime does not see it, or computes.
    TimedOut,
}

/// Why a replay may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// A thread waited for an event from outside the process.
    WaitedOutside,
    /// A signal came from outside the process.
    Signalled,
    /// A thread started before `main`.
    EarlyThreads,
}

impl Note {
    /// The notes about an execution.
    pub fn of(outcome: &ExecutionOutcome) -> Vec<Note> {
        let notes = [
            (ExecutionOutcome::WAITED_OUTSIDE, Note::WaitedOutside),
            (ExecutionOutcome::SIGNALLED, Note::Signalled),
            (ExecutionOutcome::EARLY_THREADS, Note::EarlyThreads),
        ];
        notes.into_iter().filter(|(flag, _)| outcome.flags & flag != 0).map(|(_, note)| note).collect()
    }

    /// The note as text.
    pub fn text(self) -> &'static str {
        match self {
            Note::WaitedOutside => {
                "a thread waited for an event from outside the process, which may differ between runs"
            }
            Note::Signalled => "a signal came from outside the process, which may arrive at another step next time",
            Note::EarlyThreads => "a thread was started before `main`; its steps before `main` are not controlled",
        }
    }
}

/// How the schedule of a run was controlled. The decisions are in a separate file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controlled {
    /// The strategy that chose the schedule.
    pub strategy: String,
    /// Whether loads could read stores other than the last one, as C11 allows.
    pub weak: bool,
    /// Whether no load then read a store older than one that another thread had read, or than those of recorded operations
    /// that had returned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// The number of loads that read another store than the last one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outdated_reads: usize,
    /// Whether unsynchronized accesses were steps too.
    pub plain: bool,
    /// Whether only the first of them were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_first_plain: bool,
    /// The data races known before, as return addresses: their accesses were steps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub racing: Vec<[u64; 2]>,
    /// Whether data races were looked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub races: bool,
    /// The seed of the runtime's random numbers.
    pub seed: u64,
    /// The number of steps.
    pub steps: u64,
    /// The step limit.
    #[serde(default = "step_limit")]
    pub limit: u64,
    /// How often the next step was taken by another thread than the one before.
    pub switches: usize,
    /// A fingerprint of all steps, addresses and values included.
    pub digest: String,
    /// Whether it was replayed in a fresh process, step by step.
    pub repeats: bool,
    /// A fingerprint of the program's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The run that this one was shrunk from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smaller_than: Option<String>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn step_limit() -> u64 {
    STEP_LIMIT
}

impl Execution {
    /// Whether it loads with an order that is weaker than sequentially consistent.
    pub fn has_weak_loads(&self) -> bool {
        let is_weak = |step: &Step| {
            step.kind() == Some(Kind::Load)
                && MemoryOrder::from_number(step.order) != MemoryOrder::SequentiallyConsistent
        };
        self.steps.iter().any(is_weak)
    }

    /// The number of loads that read another store than the last one.
    pub fn outdated_reads(&self) -> usize {
        self.decisions.iter().filter(|decision| decision.is_outdated_read()).count()
    }

    /// The stored description of how this execution was controlled.
    pub fn controlled(&self, strategy: &str, order: &ExecutionOrder) -> Controlled {
        Controlled {
            strategy: strategy.to_owned(),
            weak: order.weak,
            fresh: order.fresh,
            outdated_reads: self.outdated_reads(),
            plain: order.plain,
            only_first_plain: order.only_first_plain,
            racing: order.racing.clone(),
            races: order.races,
            seed: order.seed,
            steps: self.steps.len() as u64,
            limit: order.limit,
            switches: self.schedule().switches(),
            digest: self.fingerprint(),
            repeats: false,
            program: None,
            smaller_than: None,
        }
    }

    /// The digest as stored and printed.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.digest)
    }

    /// All decisions.
    pub fn schedule(&self) -> Schedule {
        Schedule(self.decisions.clone())
    }

    /// Whether this is the same execution again: equal decisions and the same number of steps. If memory was laid out
    /// alike, as in two fresh processes, addresses and values are equal too.
    pub fn repeats(&self, earlier: &Execution, is_laid_out_alike: bool) -> bool {
        !matches!(self.ended, Ending::Diverged | Ending::Asleep)
            && self.steps.len() == earlier.steps.len()
            && self.decisions == earlier.decisions
            && (!is_laid_out_alike || self.digest == earlier.digest)
    }

    /// Whether it made a step or ended. The machine or the program's start was too slow otherwise, which says nothing
    /// about its threads.
    pub fn has_started(&self) -> bool {
        self.ended != Ending::TimedOut || !self.steps.is_empty()
    }

    /// Whether it was stopped at the step limit, so that its outcome is unknown.
    fn is_too_long(&self, limit: u64) -> bool {
        self.ended == Ending::Livelock && self.steps.len() as u64 >= limit
    }

    /// How the execution of this order ended, for the user. `symbolize` maps code addresses to source lines, innermost
    /// first.
    pub fn ended_under(&self, order: &ExecutionOrder, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Ended {
        match self.is_too_long(order.limit) {
            true => Ended::TooLong { steps: order.limit },
            false => self.ended(symbolize),
        }
    }

    /// How it ended, for the user, if it stayed below the step limit. `symbolize` maps code addresses to source lines,
    /// innermost first.
    pub fn ended(&self, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Ended {
        match &self.ended {
            Ending::Finished => Ended::Finished,
            Ending::Asleep => Ended::BrokenOff { why: "another execution covers this one".to_owned() },
            Ending::Diverged => Ended::BrokenOff { why: "a decision could not be followed".to_owned() },
            Ending::TimedOut if !self.has_started() => {
                Ended::BrokenOff { why: "not started: no step before the time limit".to_owned() }
            }
            Ending::TimedOut => Ended::TimedOut { threads: self.blocked(symbolize) },
            Ending::Crashed { how, said } => {
                let stacks = self.pending.iter().filter(|pending| pending.depth > 0);
                let stack = stacks.flat_map(|pending| symbolize(stack(pending))).collect();
                Ended::Crashed { how: how.clone(), said: said.clone(), stack }
            }
            Ending::Deadlock => self.stuck("no thread is enabled", symbolize),
            Ending::Livelock => self.stuck("threads run, but nothing changes", symbolize),
        }
    }

    fn stuck(&self, how: &str, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Ended {
        Ended::Stuck { how: how.to_owned(), threads: self.blocked(symbolize) }
    }

    /// The number of threads that had not ended.
    pub fn alive(&self) -> usize {
        self.pending.iter().filter(|pending| is_alive(pending)).count()
    }

    /// The threads that had not ended, with each one's next step and stack.
    fn blocked(&self, symbolize: &dyn Fn(&[u64]) -> Vec<String>) -> Vec<Blocked> {
        let alive = self.pending.iter().enumerate().filter(|(_, pending)| is_alive(pending));
        let blocked = alive.map(|(thread, pending)| Blocked {
            thread,
            // A thread that runs without taking a step: only its last step is known.
            doing: if self.runs(thread) { "runs".to_owned() } else { doing(&pending.step) },
            stack: symbolize(stack(pending)),
        });
        blocked.collect()
    }

    /// Whether a thread was running at the time limit, instead of waiting to take a step.
    fn runs(&self, thread: usize) -> bool {
        self.ended == Ending::TimedOut && self.steps.last().is_some_and(|step| usize::from(step.thread) == thread)
    }
}

fn is_alive(pending: &Pending) -> bool {
    matches!(Standing::from_number(pending.standing), Some(Standing::Alive | Standing::Spinning))
}

fn stack(pending: &Pending) -> &[u64] {
    &pending.stack[..(pending.depth as usize).min(pending.stack.len())]
}

/// A thread's next step as text.
fn doing(step: &Step) -> String {
    let word = step.kind().map_or("takes an unknown step", Kind::word);
    match (step.kind(), step.address) {
        (Some(Kind::Join), _) => format!("{word} thread {}", (step.address & 0xffff) / 8),
        (Some(Kind::Woken), address) => format!("waits for a wake at {address:#x}"),
        (_, 0) => word.to_owned(),
        (_, address) => format!("{word} {address:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(ended: Ending, chosen: &[u8], digest: u64) -> Execution {
        let steps = vec![Step::default(); chosen.len()];
        let decisions = chosen.iter().map(|&thread| Decision::thread(thread)).collect();
        Execution { ended, steps, decisions, pending: Vec::new(), digest, base: 0 }
    }

    #[test]
    fn an_aborted_execution_has_not_finished() {
        for ended in [Ending::Diverged, Ending::Asleep] {
            let shown = execution(ended, &[0], 1).ended(&|_| Vec::new());
            assert!(matches!(shown, Ended::BrokenOff { .. }), "{shown:?}");
        }
    }

    #[test]
    fn an_execution_without_a_step_is_not_stuck() {
        let check = |chosen: &[u8]| execution(Ending::TimedOut, chosen, 1).ended(&|_| Vec::new());
        assert!(matches!(check(&[]), Ended::BrokenOff { .. }));
        assert!(matches!(check(&[0]), Ended::TimedOut { .. }));
        assert!(execution(Ending::Finished, &[], 1).has_started());
    }

    #[test]
    fn a_step_limit_is_not_a_livelock() {
        let spun = execution(Ending::Livelock, &[0, 0], 1);
        let check = |limit| spun.ended_under(&ExecutionOrder { limit, ..ExecutionOrder::default() }, &|_| Vec::new());
        assert_eq!(check(2), Ended::TooLong { steps: 2 });
        assert!(matches!(check(3), Ended::Stuck { .. }));
    }

    #[test]
    fn causes_of_nondeterminism_are_noted() {
        let flags = ExecutionOutcome::BATCH | ExecutionOutcome::SIGNALLED | ExecutionOutcome::WAITED_OUTSIDE;
        assert_eq!(
            Note::of(&ExecutionOutcome { flags, ..ExecutionOutcome::default() }),
            [Note::WaitedOutside, Note::Signalled]
        );
    }

    #[test]
    fn only_equal_steps_are_a_repetition() {
        let earlier = execution(Ending::Finished, &[0, 1], 7);
        let check = |ended, chosen: &[u8], digest, is_laid_out_alike| {
            execution(ended, chosen, digest).repeats(&earlier, is_laid_out_alike)
        };
        assert!(check(Ending::Finished, &[0, 1], 7, true));
        assert!(check(Ending::Finished, &[0, 1], 8, false));
        assert!(!check(Ending::Finished, &[0, 1], 8, true));
        assert!(!check(Ending::Finished, &[1, 0], 7, false));
        assert!(!check(Ending::Finished, &[0], 7, false));
        assert!(!check(Ending::Diverged, &[0, 1], 7, false));
    }
}
